// What compiled observers call. The text is part of the library: the pass
// onnxq-lower-observers parses it into each module that observes.
//
// A tensor comes as rows of contiguous elements. A row's sum is made of sixteen
// running sums in double, added up in order, so it depends on the row alone;
// rows are added exactly. So the order of rows, and how samples are batched,
// cannot change a record. The places of words are those of ObserverLayout.h.

module {
  // Extremes, sum and sum of squares of the elements below 1e38 in magnitude,
  // and whether all are.
  func.func private @onnxq_row(%x: memref<?xf32>, %begin: index, %n: index) -> (f32, f32, f64, f64, i1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %limit = arith.constant dense<1.0e38> : vector<16xf32>
    %limit1 = arith.constant 1.0e38 : f32
    %inf = arith.constant dense<0x7F800000> : vector<16xf32>
    %ninf = arith.constant dense<0xFF800000> : vector<16xf32>
    %inf1 = arith.constant 0x7F800000 : f32
    %ninf1 = arith.constant 0xFF800000 : f32
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %zero1 = arith.constant 0.0 : f32
    %zerod = arith.constant dense<0.0> : vector<16xf64>
    %zerod1 = arith.constant 0.0 : f64
    %all = arith.constant dense<-1> : vector<16xi32>
    %true = arith.constant true
    %rest = arith.remui %n, %c16 : index
    %main = arith.subi %n, %rest : index
    %v:5 = scf.for %i = %c0 to %main step %c16
        iter_args(%mn = %inf, %mx = %ninf, %s = %zerod, %q = %zerod, %fine = %all)
        -> (vector<16xf32>, vector<16xf32>, vector<16xf64>, vector<16xf64>, vector<16xi32>) {
      %at = arith.addi %begin, %i : index
      %e = vector.load %x[%at] : memref<?xf32>, vector<16xf32>
      %a = math.absf %e : vector<16xf32>
      %ok = arith.cmpf olt, %a, %limit : vector<16xf32>
      %lo = arith.select %ok, %e, %inf : vector<16xi1>, vector<16xf32>
      %hi = arith.select %ok, %e, %ninf : vector<16xi1>, vector<16xf32>
      %in = arith.select %ok, %e, %zero : vector<16xi1>, vector<16xf32>
      %less = arith.cmpf olt, %lo, %mn : vector<16xf32>
      %mn2 = arith.select %less, %lo, %mn : vector<16xi1>, vector<16xf32>
      %more = arith.cmpf ogt, %hi, %mx : vector<16xf32>
      %mx2 = arith.select %more, %hi, %mx : vector<16xi1>, vector<16xf32>
      %d = arith.extf %in : vector<16xf32> to vector<16xf64>
      %s2 = arith.addf %s, %d : vector<16xf64>
      %dd = arith.mulf %d, %d : vector<16xf64>
      %q2 = arith.addf %q, %dd : vector<16xf64>
      %okw = arith.extsi %ok : vector<16xi1> to vector<16xi32>
      %fine2 = arith.andi %fine, %okw : vector<16xi32>
      scf.yield %mn2, %mx2, %s2, %q2, %fine2 : vector<16xf32>, vector<16xf32>, vector<16xf64>, vector<16xf64>, vector<16xi32>
    }
    %mn0 = vector.reduction <minnumf>, %v#0 : vector<16xf32> into f32
    %mx0 = vector.reduction <maxnumf>, %v#1 : vector<16xf32> into f32
    %s0 = vector.reduction <add>, %v#2, %zerod1 : vector<16xf64> into f64
    %q0 = vector.reduction <add>, %v#3, %zerod1 : vector<16xf64> into f64
    %f0 = vector.reduction <and>, %v#4 : vector<16xi32> into i32
    %m1 = arith.constant -1 : i32
    %fine0 = arith.cmpi eq, %f0, %m1 : i32
    %t:5 = scf.for %i = %main to %n step %c1
        iter_args(%mn = %mn0, %mx = %mx0, %s = %s0, %q = %q0, %fine = %fine0)
        -> (f32, f32, f64, f64, i1) {
      %at = arith.addi %begin, %i : index
      %e = memref.load %x[%at] : memref<?xf32>
      %a = math.absf %e : f32
      %ok = arith.cmpf olt, %a, %limit1 : f32
      %lo = arith.select %ok, %e, %inf1 : f32
      %hi = arith.select %ok, %e, %ninf1 : f32
      %in = arith.select %ok, %e, %zero1 : f32
      %less = arith.cmpf olt, %lo, %mn : f32
      %mn2 = arith.select %less, %lo, %mn : f32
      %more = arith.cmpf ogt, %hi, %mx : f32
      %mx2 = arith.select %more, %hi, %mx : f32
      %d = arith.extf %in : f32 to f64
      %s2 = arith.addf %s, %d : f64
      %dd = arith.mulf %d, %d : f64
      %q2 = arith.addf %q, %dd : f64
      %fine2 = arith.andi %fine, %ok : i1
      scf.yield %mn2, %mx2, %s2, %q2, %fine2 : f32, f32, f64, f64, i1
    }
    return %t#0, %t#1, %t#2, %t#3, %t#4 : f32, f32, f64, f64, i1
  }

  // state[base + 32-bit limb] += value, exactly. A value is a multiple of
  // 2^(52 - bias).
  func.func private @onnxq_add(%state: memref<?xi64>, %base: index, %value: f64, %bias: i64) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %zero = arith.constant 0.0 : f64
    %nonzero = arith.cmpf une, %value, %zero : f64
    scf.if %nonzero {
      %bits = arith.bitcast %value : f64 to i64
      %i52 = arith.constant 52 : i64
      %i32 = arith.constant 32 : i64
      %i5 = arith.constant 5 : i64
      %i31 = arith.constant 31 : i64
      %i63 = arith.constant 63 : i64
      %expmask = arith.constant 2047 : i64
      %fracmask = arith.constant 4503599627370495 : i64
      %hidden = arith.constant 4503599627370496 : i64
      %low = arith.constant 4294967295 : i64
      %i1075 = arith.constant 1075 : i64
      %e0 = arith.shrui %bits, %i52 : i64
      %e = arith.andi %e0, %expmask : i64
      %f = arith.andi %bits, %fracmask : i64
      %m = arith.ori %f, %hidden : i64
      %p0 = arith.subi %e, %i1075 : i64
      %p = arith.addi %p0, %bias : i64
      %limb = arith.shrui %p, %i5 : i64
      %shift = arith.andi %p, %i31 : i64
      %mlo = arith.andi %m, %low : i64
      %mhi = arith.shrui %m, %i32 : i64
      %a = arith.shli %mlo, %shift : i64
      %b = arith.shli %mhi, %shift : i64
      %l0 = arith.andi %a, %low : i64
      %a1 = arith.shrui %a, %i32 : i64
      %b0 = arith.andi %b, %low : i64
      %l1 = arith.addi %a1, %b0 : i64
      %l2 = arith.shrui %b, %i32 : i64
      // All ones if negative: (l ^ sign) - sign negates.
      %sign = arith.shrsi %bits, %i63 : i64
      %index = arith.index_cast %limb : i64 to index
      %at0 = arith.addi %base, %index : index
      %at1 = arith.addi %at0, %c1 : index
      %at2 = arith.addi %at0, %c2 : index
      %x0 = arith.xori %l0, %sign : i64
      %n0 = arith.subi %x0, %sign : i64
      %x1 = arith.xori %l1, %sign : i64
      %n1 = arith.subi %x1, %sign : i64
      %x2 = arith.xori %l2, %sign : i64
      %n2 = arith.subi %x2, %sign : i64
      %o0 = memref.load %state[%at0] : memref<?xi64>
      %o1 = memref.load %state[%at1] : memref<?xi64>
      %o2 = memref.load %state[%at2] : memref<?xi64>
      %r0 = arith.addi %o0, %n0 : i64
      %r1 = arith.addi %o1, %n1 : i64
      %r2 = arith.addi %o2, %n2 : i64
      memref.store %r0, %state[%at0] : memref<?xi64>
      memref.store %r1, %state[%at1] : memref<?xi64>
      memref.store %r2, %state[%at2] : memref<?xi64>
    }
    return
  }

  // state[at] and state[at + 1] are a minimum and a maximum; widens them.
  func.func private @onnxq_widen(%state: memref<?xi64>, %at: index, %mn: f32, %mx: f32) {
    %c1 = arith.constant 1 : index
    %at1 = arith.addi %at, %c1 : index
    %w0 = memref.load %state[%at] : memref<?xi64>
    %w1 = memref.load %state[%at1] : memref<?xi64>
    %b0 = arith.trunci %w0 : i64 to i32
    %b1 = arith.trunci %w1 : i64 to i32
    %o0 = arith.bitcast %b0 : i32 to f32
    %o1 = arith.bitcast %b1 : i32 to f32
    %less = arith.cmpf olt, %mn, %o0 : f32
    %more = arith.cmpf ogt, %mx, %o1 : f32
    %n0 = arith.select %less, %mn, %o0 : f32
    %n1 = arith.select %more, %mx, %o1 : f32
    %c0 = arith.bitcast %n0 : f32 to i32
    %d0 = arith.bitcast %n1 : f32 to i32
    %r0 = arith.extui %c0 : i32 to i64
    %r1 = arith.extui %d0 : i32 to i64
    memref.store %r0, %state[%at] : memref<?xi64>
    memref.store %r1, %state[%at1] : memref<?xi64>
    return
  }

  // Makes `count` pairs of extremes empty: infinity, -infinity.
  func.func private @onnxq_clear_extremes(%state: memref<?xi64>, %at: index, %count: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %inf = arith.constant 2139095040 : i64
    %ninf = arith.constant 4286578688 : i64
    scf.for %i = %c0 to %count step %c1 {
      %two = arith.muli %i, %c2 : index
      %p = arith.addi %at, %two : index
      %p1 = arith.addi %p, %c1 : index
      memref.store %inf, %state[%p] : memref<?xi64>
      memref.store %ninf, %state[%p1] : memref<?xi64>
    }
    return
  }

  // Counts NaN, infinities and sentinels of a row at state[at], [at+1], [at+2];
  // returns how many elements are none of them.
  func.func private @onnxq_count(%x: memref<?xf32>, %begin: index, %n: index, %state: memref<?xi64>, %at: index) -> i64 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %i0 = arith.constant 0 : i64
    %limit = arith.constant 1.0e38 : f32
    %inf = arith.constant 0x7F800000 : f32
    %r:4 = scf.for %i = %c0 to %n step %c1
        iter_args(%nan = %i0, %infs = %i0, %sent = %i0, %fine = %i0) -> (i64, i64, i64, i64) {
      %p = arith.addi %begin, %i : index
      %e = memref.load %x[%p] : memref<?xf32>
      %a = math.absf %e : f32
      %isnan = arith.cmpf uno, %e, %e : f32
      %isinf = arith.cmpf oeq, %a, %inf : f32
      %isok = arith.cmpf olt, %a, %limit : f32
      %n0 = arith.extui %isnan : i1 to i64
      %n1 = arith.extui %isinf : i1 to i64
      %n3 = arith.extui %isok : i1 to i64
      %i1 = arith.constant 1 : i64
      %n2a = arith.subi %i1, %n0 : i64
      %n2b = arith.subi %n2a, %n1 : i64
      %n2 = arith.subi %n2b, %n3 : i64
      %s0 = arith.addi %nan, %n0 : i64
      %s1 = arith.addi %infs, %n1 : i64
      %s2 = arith.addi %sent, %n2 : i64
      %s3 = arith.addi %fine, %n3 : i64
      scf.yield %s0, %s1, %s2, %s3 : i64, i64, i64, i64
    }
    %at1 = arith.addi %at, %c1 : index
    %at2 = arith.addi %at, %c2 : index
    %o0 = memref.load %state[%at] : memref<?xi64>
    %o1 = memref.load %state[%at1] : memref<?xi64>
    %o2 = memref.load %state[%at2] : memref<?xi64>
    %w0 = arith.addi %o0, %r#0 : i64
    %w1 = arith.addi %o1, %r#1 : i64
    %w2 = arith.addi %o2, %r#2 : i64
    memref.store %w0, %state[%at] : memref<?xi64>
    memref.store %w1, %state[%at1] : memref<?xi64>
    memref.store %w2, %state[%at2] : memref<?xi64>
    return %r#3 : i64
  }

  // Adds a row's elements to four histograms of `2 * half` bins each, and a bin
  // for what is none. Bin half + k holds [k, k+1) / scale, bin half - 1 - k the
  // same of negative elements.
  func.func private @onnxq_bin(%x: memref<?xf32>, %begin: index, %n: index, %scratch: memref<?xi32>, %half: index, %scale: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %one = arith.constant 1 : i32
    %limit = arith.constant dense<1.0e38> : vector<8xf32>
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %zero1 = arith.constant 0.0 : f32
    %limit1 = arith.constant 1.0e38 : f32
    %halfi = arith.index_cast %half : index to i32
    %last = arith.subi %halfi, %one : i32
    %bins = arith.addi %halfi, %halfi : i32
    %wide = arith.muli %half, %c2 : index
    %stride1 = arith.addi %wide, %c1 : index
    %stride2 = arith.muli %stride1, %c2 : index
    %stride3 = arith.muli %stride1, %c3 : index
    %scalev = vector.broadcast %scale : f32 to vector<8xf32>
    %halfv = vector.broadcast %halfi : i32 to vector<8xi32>
    %lastv = vector.broadcast %last : i32 to vector<8xi32>
    %binsv = vector.broadcast %bins : i32 to vector<8xi32>
    %rest = arith.remui %n, %c8 : index
    %main = arith.subi %n, %rest : index
    scf.for %i = %c0 to %main step %c8 {
      %at = arith.addi %begin, %i : index
      %e = vector.load %x[%at] : memref<?xf32>, vector<8xf32>
      %a = math.absf %e : vector<8xf32>
      %ok = arith.cmpf olt, %a, %limit : vector<8xf32>
      %in = arith.select %ok, %a, %zero : vector<8xi1>, vector<8xf32>
      %scaled = arith.mulf %in, %scalev : vector<8xf32>
      %k0 = arith.fptosi %scaled : vector<8xf32> to vector<8xi32>
      %k = arith.minsi %k0, %lastv : vector<8xi32>
      %neg = arith.cmpf olt, %e, %zero : vector<8xf32>
      %down = arith.subi %lastv, %k : vector<8xi32>
      %up = arith.addi %halfv, %k : vector<8xi32>
      %b0 = arith.select %neg, %down, %up : vector<8xi1>, vector<8xi32>
      %b = arith.select %ok, %b0, %binsv : vector<8xi1>, vector<8xi32>
      %e0 = vector.extract %b[0] : i32 from vector<8xi32>
      %e1 = vector.extract %b[1] : i32 from vector<8xi32>
      %e2 = vector.extract %b[2] : i32 from vector<8xi32>
      %e3 = vector.extract %b[3] : i32 from vector<8xi32>
      %e4 = vector.extract %b[4] : i32 from vector<8xi32>
      %e5 = vector.extract %b[5] : i32 from vector<8xi32>
      %e6 = vector.extract %b[6] : i32 from vector<8xi32>
      %e7 = vector.extract %b[7] : i32 from vector<8xi32>
      func.call @onnxq_bump(%scratch, %c0, %e0) : (memref<?xi32>, index, i32) -> ()
      func.call @onnxq_bump(%scratch, %stride1, %e1) : (memref<?xi32>, index, i32) -> ()
      func.call @onnxq_bump(%scratch, %stride2, %e2) : (memref<?xi32>, index, i32) -> ()
      func.call @onnxq_bump(%scratch, %stride3, %e3) : (memref<?xi32>, index, i32) -> ()
      func.call @onnxq_bump(%scratch, %c0, %e4) : (memref<?xi32>, index, i32) -> ()
      func.call @onnxq_bump(%scratch, %stride1, %e5) : (memref<?xi32>, index, i32) -> ()
      func.call @onnxq_bump(%scratch, %stride2, %e6) : (memref<?xi32>, index, i32) -> ()
      func.call @onnxq_bump(%scratch, %stride3, %e7) : (memref<?xi32>, index, i32) -> ()
    }
    scf.for %i = %main to %n step %c1 {
      %at = arith.addi %begin, %i : index
      %e = memref.load %x[%at] : memref<?xf32>
      %a = math.absf %e : f32
      %ok = arith.cmpf olt, %a, %limit1 : f32
      %in = arith.select %ok, %a, %zero1 : f32
      %scaled = arith.mulf %in, %scale : f32
      %k0 = arith.fptosi %scaled : f32 to i32
      %k = arith.minsi %k0, %last : i32
      %neg = arith.cmpf olt, %e, %zero1 : f32
      %down = arith.subi %last, %k : i32
      %up = arith.addi %halfi, %k : i32
      %b0 = arith.select %neg, %down, %up : i32
      %b = arith.select %ok, %b0, %bins : i32
      func.call @onnxq_bump(%scratch, %c0, %b) : (memref<?xi32>, index, i32) -> ()
    }
    return
  }

  func.func private @onnxq_bump(%scratch: memref<?xi32>, %base: index, %bin: i32) attributes {passthrough = ["alwaysinline"]} {
    %one = arith.constant 1 : i32
    %i = arith.index_castui %bin : i32 to index
    %at = arith.addi %base, %i : index
    %old = memref.load %scratch[%at] : memref<?xi32>
    %new = arith.addi %old, %one : i32
    memref.store %new, %scratch[%at] : memref<?xi32>
    return
  }

  // Moves the four histograms to the record's and clears them.
  func.func private @onnxq_flush(%scratch: memref<?xi32>, %half: index, %state: memref<?xi64>, %hist: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0 : i32
    %i0 = arith.constant 0 : i64
    %bins = arith.muli %half, %c2 : index
    %stride = arith.addi %bins, %c1 : index
    scf.for %i = %c0 to %bins step %c1 {
      %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%s = %i0) -> (i64) {
        %o = arith.muli %j, %stride : index
        %p = arith.addi %o, %i : index
        %v = memref.load %scratch[%p] : memref<?xi32>
        memref.store %zero, %scratch[%p] : memref<?xi32>
        %w = arith.extui %v : i32 to i64
        %s2 = arith.addi %s, %w : i64
        scf.yield %s2 : i64
      }
      %at = arith.addi %hist, %i : index
      %old = memref.load %state[%at] : memref<?xi64>
      %new = arith.addi %old, %sum : i64
      memref.store %new, %state[%at] : memref<?xi64>
    }
    return
  }

  // Doubles the range of a record's histogram `levels` times: pairs of bins
  // become one, outward from zero.
  func.func private @onnxq_fold(%state: memref<?xi64>, %hist: index, %half: index, %levels: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %i0 = arith.constant 0 : i64
    %quarter = arith.divui %half, %c2 : index
    %mid = arith.addi %hist, %half : index
    %mid1 = arith.subi %mid, %c1 : index
    scf.for %l = %c0 to %levels step %c1 {
      scf.for %k = %c0 to %quarter step %c1 {
        %t0 = arith.muli %k, %c2 : index
        %t1 = arith.addi %t0, %c1 : index
        %u0 = arith.addi %mid, %t0 : index
        %u1 = arith.addi %mid, %t1 : index
        %uk = arith.addi %mid, %k : index
        %a0 = memref.load %state[%u0] : memref<?xi64>
        %a1 = memref.load %state[%u1] : memref<?xi64>
        %as = arith.addi %a0, %a1 : i64
        memref.store %as, %state[%uk] : memref<?xi64>
        %d0 = arith.subi %mid1, %t0 : index
        %d1 = arith.subi %mid1, %t1 : index
        %dk = arith.subi %mid1, %k : index
        %b0 = memref.load %state[%d0] : memref<?xi64>
        %b1 = memref.load %state[%d1] : memref<?xi64>
        %bs = arith.addi %b0, %b1 : i64
        memref.store %bs, %state[%dk] : memref<?xi64>
      }
      scf.for %k = %quarter to %half step %c1 {
        %uk = arith.addi %mid, %k : index
        %dk = arith.subi %mid1, %k : index
        memref.store %i0, %state[%uk] : memref<?xi64>
        memref.store %i0, %state[%dk] : memref<?xi64>
      }
    }
    return
  }

  // Moves all of a record's histogram to the two bins next to zero.
  func.func private @onnxq_collapse(%state: memref<?xi64>, %hist: index, %half: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %i0 = arith.constant 0 : i64
    %mid = arith.addi %hist, %half : index
    %mid1 = arith.subi %mid, %c1 : index
    %sums:2 = scf.for %k = %c0 to %half step %c1 iter_args(%up = %i0, %down = %i0) -> (i64, i64) {
      %u = arith.addi %mid, %k : index
      %d = arith.subi %mid1, %k : index
      %a = memref.load %state[%u] : memref<?xi64>
      %b = memref.load %state[%d] : memref<?xi64>
      memref.store %i0, %state[%u] : memref<?xi64>
      memref.store %i0, %state[%d] : memref<?xi64>
      %a2 = arith.addi %up, %a : i64
      %b2 = arith.addi %down, %b : i64
      scf.yield %a2, %b2 : i64, i64
    }
    memref.store %sums#0, %state[%mid] : memref<?xi64>
    memref.store %sums#1, %state[%mid1] : memref<?xi64>
    return
  }

  // Widens a record's histogram until a row with these extremes fits. Returns
  // the exponent of its range.
  func.func private @onnxq_grow(%state: memref<?xi64>, %at: index, %hist: index, %half: index, %scratch: memref<?xi32>, %mn: f32, %mx: f32) -> i64 {
    %old = memref.load %state[%at] : memref<?xi64>
    %some = arith.cmpf ole, %mn, %mx : f32
    %new = scf.if %some -> (i64) {
      %a = math.absf %mn : f32
      %b = math.absf %mx : f32
      %less = arith.cmpf olt, %a, %b : f32
      %top = arith.select %less, %b, %a : f32
      %bits = arith.bitcast %top : f32 to i32
      %i23 = arith.constant 23 : i32
      %e0 = arith.shrui %bits, %i23 : i32
      %e1 = arith.extui %e0 : i32 to i64
      %i126 = arith.constant 126 : i64
      %e = arith.subi %e1, %i126 : i64
      %grows = arith.cmpi sgt, %e, %old : i64
      %r = scf.if %grows -> (i64) {
        func.call @onnxq_flush(%scratch, %half, %state, %hist) : (memref<?xi32>, index, memref<?xi64>, index) -> ()
        %d = arith.subi %e, %old : i64
        // After so many levels everything is next to zero.
        %i17 = arith.constant 17 : i64
        %far = arith.cmpi sge, %d, %i17 : i64
        scf.if %far {
          func.call @onnxq_collapse(%state, %hist, %half) : (memref<?xi64>, index, index) -> ()
        } else {
          %levels = arith.index_cast %d : i64 to index
          func.call @onnxq_fold(%state, %hist, %half, %levels) : (memref<?xi64>, index, index, index) -> ()
        }
        memref.store %e, %state[%at] : memref<?xi64>
        scf.yield %e : i64
      } else {
        scf.yield %old : i64
      }
      scf.yield %r : i64
    } else {
      scf.yield %old : i64
    }
    return %new : i64
  }

  // Adds the elements of a row to the sums and extremes of the channels that
  // they belong to, one each.
  func.func private @onnxq_channels(%x: memref<?xf32>, %begin: index, %n: index, %state: memref<?xi64>, %extremes: index, %sums: index, %counts: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c14 = arith.constant 14 : index
    %i1 = arith.constant 1 : i64
    %bias = arith.constant 224 : i64
    %limit = arith.constant 1.0e38 : f32
    scf.for %i = %c0 to %n step %c1 {
      %p = arith.addi %begin, %i : index
      %e = memref.load %x[%p] : memref<?xf32>
      %a = math.absf %e : f32
      %ok = arith.cmpf olt, %a, %limit : f32
      scf.if %ok {
        %two = arith.muli %i, %c2 : index
        %ex = arith.addi %extremes, %two : index
        func.call @onnxq_widen(%state, %ex, %e, %e) : (memref<?xi64>, index, f32, f32) -> ()
        %o = arith.muli %i, %c14 : index
        %su = arith.addi %sums, %o : index
        %d = arith.extf %e : f32 to f64
        func.call @onnxq_add(%state, %su, %d, %bias) : (memref<?xi64>, index, f64, i64) -> ()
        %cp = arith.addi %counts, %i : index
        %old = memref.load %state[%cp] : memref<?xi64>
        %new = arith.addi %old, %i1 : i64
        memref.store %new, %state[%cp] : memref<?xi64>
      }
    }
    return
  }

  // Begins to add a tensor to its record: first of all runs, the record is made
  // empty. `first` is the tensor's first dimension, which samples lie along.
  func.func private @onnxq_begin(%first: index, %channels: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c31 = arith.constant 31 : index
    %i0 = arith.constant 0 : i64
    %i1 = arith.constant 1 : i64
    %pmin = arith.addi %base, %c5 : index
    %pexp = arith.addi %base, %c7 : index
    %pused = arith.addi %base, %c8 : index
    %pparts = arith.addi %base, %c31 : index
    %parts2 = arith.muli %parts, %c2 : index
    %pchannel = arith.addi %pparts, %parts2 : index
    %runs = memref.load %state[%base] : memref<?xi64>
    %isfirst = arith.cmpi eq, %runs, %i0 : i64
    scf.if %isfirst {
      %emin = arith.constant -100 : i64
      func.call @onnxq_clear_extremes(%state, %pmin, %c1) : (memref<?xi64>, index, index) -> ()
      func.call @onnxq_clear_extremes(%state, %pparts, %parts) : (memref<?xi64>, index, index) -> ()
      func.call @onnxq_clear_extremes(%state, %pchannel, %channels) : (memref<?xi64>, index, index) -> ()
      memref.store %emin, %state[%pexp] : memref<?xi64>
    }
    %runs1 = arith.addi %runs, %i1 : i64
    memref.store %runs1, %state[%base] : memref<?xi64>
    %has = arith.cmpi ugt, %bins, %c0 : index
    scf.if %has {
      %bins1 = arith.addi %bins, %c1 : index
      %room = arith.muli %bins1, %c4 : index
      %zero = arith.constant 0 : i32
      scf.for %i = %c0 to %room step %c1 {
        memref.store %zero, %scratch[%i] : memref<?xi32>
      }
    }
    // Samples have extremes of their own where the first dimension divides.
    %samples0 = memref.load %state[%c0] : memref<?xi64>
    %samples1 = arith.maxsi %samples0, %i1 : i64
    %samples = arith.index_cast %samples1 : i64 to index
    %over = arith.remui %first, %samples : index
    %divides = arith.cmpi eq, %over, %c0 : index
    %room2 = arith.cmpi ule, %samples, %parts : index
    %split = arith.andi %divides, %room2 : i1
    %used = arith.select %split, %samples1, %i0 : i64
    memref.store %used, %state[%pused] : memref<?xi64>
    return
  }

  // Adds the row at x[begin], of `length` elements, to the record: row `o` of
  // `outer`, all of channel `r`, or one element for each channel if `across`.
  func.func private @onnxq_slice(%x: memref<?xf32>, %begin: index, %length: index, %o: index, %outer: index, %r: index, %across: i1, %channels: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %c14 = arith.constant 14 : index
    %c22 = arith.constant 22 : index
    %i0 = arith.constant 0 : i64
    %sumbias = arith.constant 224 : i64
    %squarebias = arith.constant 352 : i64
    %half = arith.divui %bins, %c2 : index
    %has = arith.cmpi ugt, %bins, %c0 : index
    // The places of the record's lists.
    %pcount = arith.addi %base, %c1 : index
    %pnan = arith.addi %base, %c2 : index
    %pmin = arith.addi %base, %c5 : index
    %pexp = arith.addi %base, %c7 : index
    %pused = arith.addi %base, %c8 : index
    %psquares = arith.addi %base, %c9 : index
    %pparts = arith.addi %psquares, %c22 : index
    %parts2 = arith.muli %parts, %c2 : index
    %pchannel = arith.addi %pparts, %parts2 : index
    %channels2 = arith.muli %channels, %c2 : index
    %psums = arith.addi %pchannel, %channels2 : index
    %channels14 = arith.muli %channels, %c14 : index
    %pcounts = arith.addi %psums, %channels14 : index
    %phist = arith.addi %pcounts, %channels : index
    %lengthi = arith.index_cast %length : index to i64
    %s:5 = func.call @onnxq_row(%x, %begin, %length) : (memref<?xf32>, index, index) -> (f32, f32, f64, f64, i1)
    %valid = scf.if %s#4 -> (i64) {
      scf.yield %lengthi : i64
    } else {
      %v = func.call @onnxq_count(%x, %begin, %length, %state, %pnan) : (memref<?xf32>, index, index, memref<?xi64>, index) -> i64
      scf.yield %v : i64
    }
    %count = memref.load %state[%pcount] : memref<?xi64>
    %count1 = arith.addi %count, %valid : i64
    memref.store %count1, %state[%pcount] : memref<?xi64>
    func.call @onnxq_widen(%state, %pmin, %s#0, %s#1) : (memref<?xi64>, index, f32, f32) -> ()
    %used = memref.load %state[%pused] : memref<?xi64>
    %split = arith.cmpi ne, %used, %i0 : i64
    scf.if %split {
      %samples = arith.index_cast %used : i64 to index
      %scaledo = arith.muli %o, %samples : index
      %part = arith.divui %scaledo, %outer : index
      %part2 = arith.muli %part, %c2 : index
      %ppart = arith.addi %pparts, %part2 : index
      func.call @onnxq_widen(%state, %ppart, %s#0, %s#1) : (memref<?xi64>, index, f32, f32) -> ()
    }
    func.call @onnxq_add(%state, %psquares, %s#3, %squarebias) : (memref<?xi64>, index, f64, i64) -> ()
    scf.if %across {
      func.call @onnxq_channels(%x, %begin, %length, %state, %pchannel, %psums, %pcounts) : (memref<?xf32>, index, index, memref<?xi64>, index, index, index) -> ()
    } else {
      %r2 = arith.muli %r, %c2 : index
      %pex = arith.addi %pchannel, %r2 : index
      func.call @onnxq_widen(%state, %pex, %s#0, %s#1) : (memref<?xi64>, index, f32, f32) -> ()
      %r14 = arith.muli %r, %c14 : index
      %psum = arith.addi %psums, %r14 : index
      func.call @onnxq_add(%state, %psum, %s#2, %sumbias) : (memref<?xi64>, index, f64, i64) -> ()
      %pc = arith.addi %pcounts, %r : index
      %old = memref.load %state[%pc] : memref<?xi64>
      %new = arith.addi %old, %valid : i64
      memref.store %new, %state[%pc] : memref<?xi64>
    }
    scf.if %has {
      %e = func.call @onnxq_grow(%state, %pexp, %phist, %half, %scratch, %s#0, %s#1) : (memref<?xi64>, index, index, index, memref<?xi32>, f32, f32) -> i64
      // half / 2^e, by its bits.
      %halfi = arith.index_cast %half : index to i64
      %log = math.cttz %halfi : i64
      %i127 = arith.constant 127 : i64
      %i23 = arith.constant 23 : i64
      %f0 = arith.addi %log, %i127 : i64
      %f1 = arith.subi %f0, %e : i64
      %f2 = arith.shli %f1, %i23 : i64
      %f3 = arith.trunci %f2 : i64 to i32
      %scale = arith.bitcast %f3 : i32 to f32
      func.call @onnxq_bin(%x, %begin, %length, %scratch, %half, %scale) : (memref<?xf32>, index, index, memref<?xi32>, index, f32) -> ()
    }
    return
  }

  // Ends to add a tensor to its record.
  func.func private @onnxq_end(%channels: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c17 = arith.constant 17 : index
    %c31 = arith.constant 31 : index
    %has = arith.cmpi ugt, %bins, %c0 : index
    scf.if %has {
      %half = arith.divui %bins, %c2 : index
      // Behind extremes of parts, and 17 words for each channel.
      %pparts = arith.addi %base, %c31 : index
      %parts2 = arith.muli %parts, %c2 : index
      %pchannel = arith.addi %pparts, %parts2 : index
      %channels17 = arith.muli %channels, %c17 : index
      %phist = arith.addi %pchannel, %channels17 : index
      func.call @onnxq_flush(%scratch, %half, %state, %phist) : (memref<?xi32>, index, memref<?xi64>, index) -> ()
    }
    return
  }

  // Adds a tensor of [outer, channels, inner] to its record.
  func.func private @onnxq_observe(%x: memref<?xf32>, %first: index, %outer: index, %channels: index, %inner: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %bins1 = arith.addi %bins, %c1 : index
    %room = arith.muli %bins1, %c4 : index
    %scratch = memref.alloca(%room) {alignment = 64 : i64} : memref<?xi32>
    func.call @onnxq_begin(%first, %channels, %state, %base, %parts, %bins, %scratch) : (index, index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
    // One element for each channel in a row, or rows within a channel.
    %flat = arith.cmpi eq, %inner, %c1 : index
    %several = arith.cmpi ugt, %channels, %c1 : index
    %across = arith.andi %flat, %several : i1
    %rowsof = arith.select %across, %c1, %channels : index
    %length = arith.select %across, %channels, %inner : index
    scf.for %o = %c0 to %outer step %c1 {
      scf.for %r = %c0 to %rowsof step %c1 {
        %row0 = arith.muli %o, %rowsof : index
        %row = arith.addi %row0, %r : index
        %begin = arith.muli %row, %length : index
        func.call @onnxq_slice(%x, %begin, %length, %o, %outer, %r, %across, %channels, %state, %base, %parts, %bins, %scratch) : (memref<?xf32>, index, index, index, index, index, i1, index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
      }
    }
    func.call @onnxq_end(%channels, %state, %base, %parts, %bins, %scratch) : (index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
    return
  }
}
