// What compiled observers call, first part: extremes, exact sums and histograms
// of contiguous numbers. The others are ObserverTiles.mlir and Observers.mlir.
//
// How a sum is exact in vectors of double: take the numbers of a magnitude from
// 2^(e-20) to below 2^e. They are multiples of 2^(e-43), so up to 1024 of them
// add up to at most 2^53 such steps. Their squares are multiples of 2^(2e-86),
// too fine to be added at once. An accumulator that starts at 1.5 * 2^(2e+9)
// takes each square's part above 2^(2e-43), and what is left, at most
// 2^(2e-44), has an accumulator of its own: again no more than 53 bits. Smaller
// numbers wait for another pass with their own e; few tensors need a second.

// Extremes of at least one element, and the largest magnitude by its bits.
// The extremes mean nothing where that is beyond the limit.
func.func private @onnxq_extent(%x: memref<?xf32>, %begin: index, %n: index) -> (f32, f32, i32) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %inf = arith.constant dense<0x7F800000> : vector<16xf32>
  %ninf = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0> : vector<16xi32>
  %magnitude = arith.constant dense<2147483647> : vector<16xi32>
  %rest = arith.remui %n, %c16 : index
  %main = arith.subi %n, %rest : index
  %v:3 = scf.for %i = %c0 to %main step %c16 iter_args(%mn = %inf, %mx = %ninf, %top = %zero)
      -> (vector<16xf32>, vector<16xf32>, vector<16xi32>) {
    %at = arith.addi %begin, %i : index
    %e = vector.load %x[%at] : memref<?xf32>, vector<16xf32>
    %less = arith.cmpf olt, %e, %mn : vector<16xf32>
    %mn2 = arith.select %less, %e, %mn : vector<16xi1>, vector<16xf32>
    %more = arith.cmpf ogt, %e, %mx : vector<16xf32>
    %mx2 = arith.select %more, %e, %mx : vector<16xi1>, vector<16xf32>
    %bits = arith.bitcast %e : vector<16xf32> to vector<16xi32>
    %a = arith.andi %bits, %magnitude : vector<16xi32>
    %top2 = arith.maxui %top, %a : vector<16xi32>
    scf.yield %mn2, %mx2, %top2 : vector<16xf32>, vector<16xf32>, vector<16xi32>
  }
  // What is left, filled up with the first element.
  %one = memref.load %x[%begin] : memref<?xf32>
  %fill = vector.broadcast %one : f32 to vector<16xf32>
  %mask = vector.create_mask %rest : vector<16xi1>
  %last = arith.addi %begin, %main : index
  %e = vector.maskedload %x[%last], %mask, %fill : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  %less = arith.cmpf olt, %e, %v#0 : vector<16xf32>
  %mn = arith.select %less, %e, %v#0 : vector<16xi1>, vector<16xf32>
  %more = arith.cmpf ogt, %e, %v#1 : vector<16xf32>
  %mx = arith.select %more, %e, %v#1 : vector<16xi1>, vector<16xf32>
  %bits = arith.bitcast %e : vector<16xf32> to vector<16xi32>
  %a = arith.andi %bits, %magnitude : vector<16xi32>
  %top = arith.maxui %v#2, %a : vector<16xi32>
  %r0 = vector.reduction <minnumf>, %mn : vector<16xf32> into f32
  %r1 = vector.reduction <maxnumf>, %mx : vector<16xf32> into f32
  %r2 = vector.reduction <maxui>, %top : vector<16xi32> into i32
  return %r0, %r1, %r2 : f32, f32, i32
}

// The same of the elements below the limit; infinity, -infinity and 0 if there
// are none.
func.func private @onnxq_valid_extent(%x: memref<?xf32>, %begin: index, %n: index, %step: index) -> (f32, f32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i0 = arith.constant 0 : i32
  %limit = arith.constant 2123789977 : i32
  %magnitude = arith.constant 2147483647 : i32
  %inf = arith.constant 0x7F800000 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%mn = %inf, %mx = %ninf, %top = %i0) -> (f32, f32, i32) {
    %o = arith.muli %i, %step : index
    %at = arith.addi %begin, %o : index
    %e = memref.load %x[%at] : memref<?xf32>
    %bits = arith.bitcast %e : f32 to i32
    %a = arith.andi %bits, %magnitude : i32
    %ok = arith.cmpi ult, %a, %limit : i32
    %lo = arith.select %ok, %e, %inf : f32
    %hi = arith.select %ok, %e, %ninf : f32
    %in = arith.select %ok, %a, %i0 : i32
    %less = arith.cmpf olt, %lo, %mn : f32
    %mn2 = arith.select %less, %lo, %mn : f32
    %more = arith.cmpf ogt, %hi, %mx : f32
    %mx2 = arith.select %more, %hi, %mx : f32
    %top2 = arith.maxui %top, %in : i32
    scf.yield %mn2, %mx2, %top2 : f32, f32, i32
  }
  return %r#0, %r#1, %r#2 : f32, f32, i32
}

// The bounds, by their bits, of the magnitudes that are summed together with
// the largest, and where the accumulator of their squares starts.
func.func private @onnxq_band(%top: i32) -> (i32, f64) attributes {onnxq.inline} {
  %i1 = arith.constant 1 : i32
  %i19 = arith.constant 19 : i32
  %i20 = arith.constant 20 : i32
  %i23 = arith.constant 23 : i32
  %e = arith.shrui %top, %i23 : i32
  // Below the normal numbers all are multiples of one step.
  %far = arith.cmpi uge, %e, %i20 : i32
  %f = arith.subi %e, %i19 : i32
  %g = arith.shli %f, %i23 : i32
  %lower = arith.select %far, %g, %i1 : i32
  %e64 = arith.extui %e : i32 to i64
  %i64_1 = arith.constant 1 : i64
  %i64_52 = arith.constant 52 : i64
  %i780 = arith.constant 780 : i64
  %half = arith.constant 2251799813685248 : i64
  %twice = arith.shli %e64, %i64_1 : i64
  %exponent = arith.addi %twice, %i780 : i64
  %shifted = arith.shli %exponent, %i64_52 : i64
  %bits = arith.ori %shifted, %half : i64
  %start = arith.bitcast %bits : i64 to f64
  return %lower, %start : i32, f64
}

// Adds eight elements to the sums of a band: those within its bounds to the
// sum, the squares' upper and lower parts; the largest below is kept.
func.func private @onnxq_band_step(%e: vector<8xf32>, %lower: vector<8xi32>, %upper: vector<8xi32>, %s: vector<8xf64>, %q: vector<8xf64>, %l: vector<8xf64>, %below: vector<8xi32>)
    -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi32>) attributes {onnxq.inline} {
  %magnitude = arith.constant dense<2147483647> : vector<8xi32>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %izero = arith.constant dense<0> : vector<8xi32>
  %bits = arith.bitcast %e : vector<8xf32> to vector<8xi32>
  %a = arith.andi %bits, %magnitude : vector<8xi32>
  %small = arith.cmpi slt, %a, %lower : vector<8xi32>
  %large = arith.cmpi sgt, %a, %upper : vector<8xi32>
  %out = arith.ori %small, %large : vector<8xi1>
  %v = arith.select %out, %zero, %e : vector<8xi1>, vector<8xf32>
  %rest = arith.select %small, %a, %izero : vector<8xi1>, vector<8xi32>
  %below2 = arith.maxui %below, %rest : vector<8xi32>
  %d = arith.extf %v : vector<8xf32> to vector<8xf64>
  %s2 = arith.addf %s, %d : vector<8xf64>
  %dd = arith.mulf %d, %d : vector<8xf64>
  %q2 = arith.addf %q, %dd : vector<8xf64>
  %taken = arith.subf %q2, %q : vector<8xf64>
  %left = arith.subf %dd, %taken : vector<8xf64>
  %l2 = arith.addf %l, %left : vector<8xf64>
  return %s2, %q2, %l2, %below2 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi32>
}

// Adds the squares of a band to those of the record.
func.func private @onnxq_add_squares(%state: memref<?xi64>, %squares: index, %q: vector<8xf64>, %l: vector<8xf64>, %start: f64) {
  %bias = arith.constant 352 : i64
  %zero = arith.constant 0.0 : f64
  %starts = vector.broadcast %start : f64 to vector<8xf64>
  %taken = arith.subf %q, %starts : vector<8xf64>
  %high = vector.reduction <add>, %taken, %zero : vector<8xf64> into f64
  %low = vector.reduction <add>, %l, %zero : vector<8xf64> into f64
  func.call @onnxq_add(%state, %squares, %high, %bias) : (memref<?xi64>, index, f64, i64) -> ()
  func.call @onnxq_add(%state, %squares, %low, %bias) : (memref<?xi64>, index, f64, i64) -> ()
  return
}

// Adds up to 1024 elements to a sum and to the squares; `largest` is the
// largest magnitude that counts.
func.func private @onnxq_sums(%x: memref<?xf32>, %begin: index, %n: index, %largest: i32, %state: memref<?xi64>, %sum: index, %squares: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %i0 = arith.constant 0 : i32
  %bias = arith.constant 224 : i64
  %zerod = arith.constant 0.0 : f64
  %zero = arith.constant dense<0.0> : vector<8xf64>
  %fzero = arith.constant dense<0.0> : vector<8xf32>
  %izero = arith.constant dense<0> : vector<8xi32>
  %rest = arith.remui %n, %c8 : index
  %main = arith.subi %n, %rest : index
  %last = arith.addi %begin, %main : index
  %mask = vector.create_mask %rest : vector<8xi1>
  %done = scf.while (%top = %largest) : (i32) -> i32 {
    %some = arith.cmpi ne, %top, %i0 : i32
    scf.condition(%some) %top : i32
  } do {
  ^bb0(%top: i32):
    %band:2 = func.call @onnxq_band(%top) : (i32) -> (i32, f64)
    %lower = vector.broadcast %band#0 : i32 to vector<8xi32>
    %upper = vector.broadcast %top : i32 to vector<8xi32>
    %start = vector.broadcast %band#1 : f64 to vector<8xf64>
    %v:4 = scf.for %i = %c0 to %main step %c8 iter_args(%s = %zero, %q = %start, %l = %zero, %b = %izero)
        -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi32>) {
      %at = arith.addi %begin, %i : index
      %e = vector.load %x[%at] : memref<?xf32>, vector<8xf32>
      %r:4 = func.call @onnxq_band_step(%e, %lower, %upper, %s, %q, %l, %b)
          : (vector<8xf32>, vector<8xi32>, vector<8xi32>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi32>) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi32>)
      scf.yield %r#0, %r#1, %r#2, %r#3 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi32>
    }
    %e = vector.maskedload %x[%last], %mask, %fzero : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %w:4 = func.call @onnxq_band_step(%e, %lower, %upper, %v#0, %v#1, %v#2, %v#3)
        : (vector<8xf32>, vector<8xi32>, vector<8xi32>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi32>) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi32>)
    %total = vector.reduction <add>, %w#0, %zerod : vector<8xf64> into f64
    func.call @onnxq_add(%state, %sum, %total, %bias) : (memref<?xi64>, index, f64, i64) -> ()
    func.call @onnxq_add_squares(%state, %squares, %w#1, %w#2, %band#1) : (memref<?xi64>, index, vector<8xf64>, vector<8xf64>, f64) -> ()
    %below = vector.reduction <maxui>, %w#3 : vector<8xi32> into i32
    scf.yield %below : i32
  }
  return
}

// state[base + 32-bit limb] += value, exactly. A value is a multiple of
// 2^(52 - bias).
func.func private @onnxq_add(%state: memref<?xi64>, %base: index, %value: f64, %bias: i64) {
  %zero = arith.constant 0.0 : f64
  %nonzero = arith.cmpf une, %value, %zero : f64
  scf.if %nonzero {
    %bits = arith.bitcast %value : f64 to i64
    %i52 = arith.constant 52 : i64
    %i63 = arith.constant 63 : i64
    %expmask = arith.constant 2047 : i64
    %fracmask = arith.constant 4503599627370495 : i64
    %hidden = arith.constant 4503599627370496 : i64
    %i1075 = arith.constant 1075 : i64
    %e0 = arith.shrui %bits, %i52 : i64
    %e = arith.andi %e0, %expmask : i64
    %f = arith.andi %bits, %fracmask : i64
    %m = arith.ori %f, %hidden : i64
    %p0 = arith.subi %e, %i1075 : i64
    %p = arith.addi %p0, %bias : i64
    %sign = arith.shrsi %bits, %i63 : i64
    func.call @onnxq_add_shifted(%state, %base, %m, %sign, %p) : (memref<?xi64>, index, i64, i64, i64) -> ()
  }
  return
}

// The same of value * 2^p.
func.func private @onnxq_add_integer(%state: memref<?xi64>, %base: index, %value: i64, %p: i64) {
  %i63 = arith.constant 63 : i64
  %sign = arith.shrsi %value, %i63 : i64
  %x = arith.xori %value, %sign : i64
  %m = arith.subi %x, %sign : i64
  func.call @onnxq_add_shifted(%state, %base, %m, %sign, %p) : (memref<?xi64>, index, i64, i64, i64) -> ()
  return
}

// The same of m * 2^p, negated if `sign` is all ones.
func.func private @onnxq_add_shifted(%state: memref<?xi64>, %base: index, %m: i64, %sign: i64, %p: i64) attributes {onnxq.inline} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i5 = arith.constant 5 : i64
  %i31 = arith.constant 31 : i64
  %i32 = arith.constant 32 : i64
  %low = arith.constant 4294967295 : i64
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
  // (l ^ sign) - sign negates.
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
  return
}

// state[at] and state[at + 1] are a minimum and a maximum; widens them.
func.func private @onnxq_widen(%state: memref<?xi64>, %at: index, %mn: f32, %mx: f32) attributes {onnxq.inline} {
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

// How far apart four histograms are: a bin for what is none, and some more, so
// that bins of the same number aren't mistaken for each other by their
// addresses' last bits.
func.func private @onnxq_stride(%bins: index) -> index attributes {onnxq.inline} {
  %c64 = arith.constant 64 : index
  %stride = arith.addi %bins, %c64 : index
  return %stride : index
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
  %stride1 = func.call @onnxq_stride(%wide) : (index) -> index
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
    func.call @onnxq_bump(%scratch, %c0, %e0, %one) : (memref<?xi32>, index, i32, i32) -> ()
    func.call @onnxq_bump(%scratch, %stride1, %e1, %one) : (memref<?xi32>, index, i32, i32) -> ()
    func.call @onnxq_bump(%scratch, %stride2, %e2, %one) : (memref<?xi32>, index, i32, i32) -> ()
    func.call @onnxq_bump(%scratch, %stride3, %e3, %one) : (memref<?xi32>, index, i32, i32) -> ()
    func.call @onnxq_bump(%scratch, %c0, %e4, %one) : (memref<?xi32>, index, i32, i32) -> ()
    func.call @onnxq_bump(%scratch, %stride1, %e5, %one) : (memref<?xi32>, index, i32, i32) -> ()
    func.call @onnxq_bump(%scratch, %stride2, %e6, %one) : (memref<?xi32>, index, i32, i32) -> ()
    func.call @onnxq_bump(%scratch, %stride3, %e7, %one) : (memref<?xi32>, index, i32, i32) -> ()
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
    func.call @onnxq_bump(%scratch, %c0, %b, %one) : (memref<?xi32>, index, i32, i32) -> ()
  }
  return
}

// The same of elements that all count. The numbers are smaller than half /
// scale.
func.func private @onnxq_bin_clean(%x: memref<?xf32>, %begin: index, %n: index, %scratch: memref<?xi32>, %half: index, %scale: f32) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %less = arith.constant dense<-1> : vector<16xi32>
  %room = memref.alloca() {alignment = 64 : i64} : memref<4608xi8>
  %ring = func.call @onnxq_ring_in(%room, %scratch, %half) : (memref<4608xi8>, memref<?xi32>, index) -> memref<64xi64>
  %halfi = arith.index_cast %half : index to i32
  %bins = arith.muli %half, %c2 : index
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %bases = func.call @onnxq_ring_bases(%scratch, %c0, %stride) : (memref<?xi32>, index, index) -> vector<8xi64>
  %scalev = vector.broadcast %scale : f32 to vector<16xf32>
  %halfv = vector.broadcast %halfi : i32 to vector<16xi32>
  %rest = arith.remui %n, %c16 : index
  %main = arith.subi %n, %rest : index
  %c1 = arith.constant 1 : index
  %one = arith.minui %n, %c1 : index
  %by = arith.index_cast %one : index to i32
  func.call @onnxq_open_places(%ring, %scratch, %c0, %bins) : (memref<64xi64>, memref<?xi32>, index, index) -> ()
  scf.for %i = %c0 to %main step %c16 {
    %slot = arith.andi %i, %c48 : index
    %at = arith.addi %begin, %i : index
    %e = vector.load %x[%at] : memref<?xf32>, vector<16xf32>
    func.call @onnxq_count_places(%ring, %slot, %scratch, %c0, %stride, %by) : (memref<64xi64>, index, memref<?xi32>, index, index, i32) -> ()
    %scaled = arith.mulf %e, %scalev : vector<16xf32>
    %toward = arith.fptosi %scaled : vector<16xf32> to vector<16xi32>
    %neg = arith.cmpf olt, %e, %zero : vector<16xf32>
    %place0 = arith.addi %toward, %halfv : vector<16xi32>
    %place1 = arith.addi %place0, %less : vector<16xi32>
    %place = arith.select %neg, %place1, %place0 : vector<16xi1>, vector<16xi32>
    func.call @onnxq_put_places(%ring, %slot, %place, %bases) : (memref<64xi64>, index, vector<16xi32>, vector<8xi64>) -> ()
  }
  func.call @onnxq_close_places(%ring, %scratch, %c0, %bins, %by) : (memref<64xi64>, memref<?xi32>, index, index, i32) -> ()
  %last = arith.addi %begin, %main : index
  func.call @onnxq_bin(%x, %last, %rest, %scratch, %half, %scale) : (memref<?xf32>, index, index, memref<?xi32>, index, f32) -> ()
  return
}

// A ring of places (ObserverBins.mlir, ObserverPlaces.mlir) of histograms.

// The ring in a room for it. Of addresses a processor first compares what they
// have below 4096: a place that waits there where a bin is counted often keeps
// the next ones waiting, four times as long in all. Most numbers are near zero:
// the ring lies farthest from the bins of scratch[hot] in four histograms.
func.func private @onnxq_ring_in(%room: memref<4608xi8>, %scratch: memref<?xi32>, %hot: index) -> memref<64xi64> attributes {onnxq.inline} {
  %c4 = arith.constant 4 : index
  %away = arith.constant 2176 : index
  %line = arith.constant 4032 : index
  %start = memref.extract_aligned_pointer_as_index %scratch : memref<?xi32> -> index
  %here = memref.extract_aligned_pointer_as_index %room : memref<4608xi8> -> index
  %skip = arith.muli %hot, %c4 : index
  %bin = arith.addi %start, %skip : index
  %far = arith.addi %bin, %away : index
  %shift0 = arith.subi %far, %here : index
  %shift = arith.andi %shift0, %line : index
  %ring = memref.view %room[%shift][] : memref<4608xi8> to memref<64xi64>
  return %ring : memref<64xi64>
}

// Of histograms from scratch[at] on: makes the ring hold places that are no
// bins; counts what it holds.
func.func private @onnxq_open_places(%ring: memref<64xi64>, %scratch: memref<?xi32>, %at: index, %bins: index) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %bases = func.call @onnxq_ring_bases(%scratch, %at, %stride) : (memref<?xi32>, index, index) -> vector<8xi64>
  %bins32 = arith.index_cast %bins : index to i32
  %nowhere = vector.broadcast %bins32 : i32 to vector<16xi32>
  scf.for %slot = %c0 to %c64 step %c16 {
    func.call @onnxq_put_places(%ring, %slot, %nowhere, %bases) : (memref<64xi64>, index, vector<16xi32>, vector<8xi64>) -> ()
  }
  return
}
func.func private @onnxq_close_places(%ring: memref<64xi64>, %scratch: memref<?xi32>, %at: index, %bins: index, %by: i32) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  scf.for %slot = %c0 to %c64 step %c16 {
    func.call @onnxq_count_places(%ring, %slot, %scratch, %at, %stride, %by) : (memref<64xi64>, index, memref<?xi32>, index, index, i32) -> ()
  }
  return
}

// The places of rows of eight elements wait in a ring of four rows: a row's are
// counted when the fourth after it comes, so that no count waits for a place.

// Adds one to the bins of eight places, two in each word.
func.func private @onnxq_count_row(%w0: i64, %w1: i64, %w2: i64, %w3: i64, %scratch: memref<?xi32>, %stride: index) attributes {onnxq.inline} {
  %one = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %stride2 = arith.muli %stride, %c2 : index
  %stride3 = arith.muli %stride, %c3 : index
  func.call @onnxq_bump_two(%scratch, %c0, %stride, %w0, %one) : (memref<?xi32>, index, index, i64, i32) -> ()
  func.call @onnxq_bump_two(%scratch, %stride2, %stride3, %w1, %one) : (memref<?xi32>, index, index, i64, i32) -> ()
  func.call @onnxq_bump_two(%scratch, %c0, %stride, %w2, %one) : (memref<?xi32>, index, index, i64, i32) -> ()
  func.call @onnxq_bump_two(%scratch, %stride2, %stride3, %w3, %one) : (memref<?xi32>, index, index, i64, i32) -> ()
  return
}

// Makes the ring hold places that are no bins; counts what it holds.
func.func private @onnxq_open_ring(%ring: memref<16xi64>, %bins: index) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %bins32 = arith.index_cast %bins : index to i32
  %nowhere = vector.broadcast %bins32 : i32 to vector<8xi32>
  %words = vector.bitcast %nowhere : vector<8xi32> to vector<4xi64>
  scf.for %i = %c0 to %c16 step %c4 {
    vector.store %words, %ring[%i] : memref<16xi64>, vector<4xi64>
  }
  return
}
func.func private @onnxq_close_ring(%ring: memref<16xi64>, %scratch: memref<?xi32>, %bins: index) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  scf.for %i = %c0 to %c16 step %c4 {
    %w:4 = func.call @onnxq_ring_row(%ring, %i) : (memref<16xi64>, index) -> (i64, i64, i64, i64)
    func.call @onnxq_count_row(%w#0, %w#1, %w#2, %w#3, %scratch, %stride) : (i64, i64, i64, i64, memref<?xi32>, index) -> ()
  }
  return
}
func.func private @onnxq_ring_row(%ring: memref<16xi64>, %at: index) -> (i64, i64, i64, i64) attributes {onnxq.inline} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %a1 = arith.addi %at, %c1 : index
  %a2 = arith.addi %at, %c2 : index
  %a3 = arith.addi %at, %c3 : index
  %w0 = memref.load %ring[%at] : memref<16xi64>
  %w1 = memref.load %ring[%a1] : memref<16xi64>
  %w2 = memref.load %ring[%a2] : memref<16xi64>
  %w3 = memref.load %ring[%a3] : memref<16xi64>
  return %w0, %w1, %w2, %w3 : i64, i64, i64, i64
}

// Adds `by` to the bins of two places that a word holds.
func.func private @onnxq_bump_two(%scratch: memref<?xi32>, %base0: index, %base1: index, %places: i64, %by: i32) attributes {onnxq.inline} {
  %i32 = arith.constant 32 : i64
  %p0 = arith.trunci %places : i64 to i32
  %high = arith.shrui %places, %i32 : i64
  %p1 = arith.trunci %high : i64 to i32
  func.call @onnxq_bump(%scratch, %base0, %p0, %by) : (memref<?xi32>, index, i32, i32) -> ()
  func.call @onnxq_bump(%scratch, %base1, %p1, %by) : (memref<?xi32>, index, i32, i32) -> ()
  return
}
func.func private @onnxq_bump(%scratch: memref<?xi32>, %base: index, %bin: i32, %by: i32) attributes {onnxq.inline} {
  %i = arith.index_castui %bin : i32 to index
  %at = arith.addi %base, %i : index
  %old = memref.load %scratch[%at] : memref<?xi32>
  %new = arith.addi %old, %by : i32
  memref.store %new, %scratch[%at] : memref<?xi32>
  return
}

// Moves the four histograms to the record's and clears them. Bins are a
// multiple of eight.
func.func private @onnxq_flush(%scratch: memref<?xi32>, %half: index, %state: memref<?xi64>, %hist: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0> : vector<8xi32>
  %bins = arith.muli %half, %c2 : index
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %stride2 = arith.addi %stride, %stride : index
  %stride3 = arith.addi %stride2, %stride : index
  scf.for %i = %c0 to %bins step %c8 {
    %p1 = arith.addi %i, %stride : index
    %p2 = arith.addi %i, %stride2 : index
    %p3 = arith.addi %i, %stride3 : index
    %v0 = vector.load %scratch[%i] : memref<?xi32>, vector<8xi32>
    %v1 = vector.load %scratch[%p1] : memref<?xi32>, vector<8xi32>
    %v2 = vector.load %scratch[%p2] : memref<?xi32>, vector<8xi32>
    %v3 = vector.load %scratch[%p3] : memref<?xi32>, vector<8xi32>
    vector.store %zero, %scratch[%i] : memref<?xi32>, vector<8xi32>
    vector.store %zero, %scratch[%p1] : memref<?xi32>, vector<8xi32>
    vector.store %zero, %scratch[%p2] : memref<?xi32>, vector<8xi32>
    vector.store %zero, %scratch[%p3] : memref<?xi32>, vector<8xi32>
    %s01 = arith.addi %v0, %v1 : vector<8xi32>
    %s23 = arith.addi %v2, %v3 : vector<8xi32>
    %s = arith.addi %s01, %s23 : vector<8xi32>
    %w = arith.extui %s : vector<8xi32> to vector<8xi64>
    %at = arith.addi %hist, %i : index
    %old = vector.load %state[%at] : memref<?xi64>, vector<8xi64>
    %new = arith.addi %old, %w : vector<8xi64>
    vector.store %new, %state[%at] : memref<?xi64>, vector<8xi64>
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

// Whether anything is counted, in the four histograms or the record's.
func.func private @onnxq_has_counts(%scratch: memref<?xi32>, %half: index, %state: memref<?xi64>, %hist: index) -> i1 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0> : vector<8xi64>
  %l0 = arith.constant 0 : i64
  %bins = arith.muli %half, %c2 : index
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %stride2 = arith.addi %stride, %stride : index
  %stride3 = arith.addi %stride2, %stride : index
  %all = scf.for %i = %c0 to %bins step %c8 iter_args(%bits = %zero) -> (vector<8xi64>) {
    %p1 = arith.addi %i, %stride : index
    %p2 = arith.addi %i, %stride2 : index
    %p3 = arith.addi %i, %stride3 : index
    %ph = arith.addi %i, %hist : index
    %v0 = vector.load %scratch[%i] : memref<?xi32>, vector<8xi32>
    %v1 = vector.load %scratch[%p1] : memref<?xi32>, vector<8xi32>
    %v2 = vector.load %scratch[%p2] : memref<?xi32>, vector<8xi32>
    %v3 = vector.load %scratch[%p3] : memref<?xi32>, vector<8xi32>
    %h = vector.load %state[%ph] : memref<?xi64>, vector<8xi64>
    %v01 = arith.ori %v0, %v1 : vector<8xi32>
    %v23 = arith.ori %v2, %v3 : vector<8xi32>
    %v = arith.ori %v01, %v23 : vector<8xi32>
    %wide = arith.extui %v : vector<8xi32> to vector<8xi64>
    %here = arith.ori %wide, %h : vector<8xi64>
    %bits2 = arith.ori %bits, %here : vector<8xi64>
    scf.yield %bits2 : vector<8xi64>
  }
  %any = vector.reduction <or>, %all : vector<8xi64> into i64
  %has = arith.cmpi ne, %any, %l0 : i64
  return %has : i1
}

// Widens a record's histogram until a magnitude, by its bits, fits. Returns the
// exponent of its range.
func.func private @onnxq_grow(%state: memref<?xi64>, %at: index, %hist: index, %half: index, %scratch: memref<?xi32>, %top: i32) -> i64 {
  %old = memref.load %state[%at] : memref<?xi64>
  %i23 = arith.constant 23 : i32
  %e0 = arith.shrui %top, %i23 : i32
  %e1 = arith.extui %e0 : i32 to i64
  %i126 = arith.constant 126 : i64
  %e = arith.subi %e1, %i126 : i64
  %grows = arith.cmpi sgt, %e, %old : i64
  %new = scf.if %grows -> (i64) {
    // The range that records begin with: mostly nothing has been counted yet.
    %least = arith.constant -100 : i64
    %first = arith.cmpi eq, %old, %least : i64
    %used = scf.if %first -> (i1) {
      %some = func.call @onnxq_has_counts(%scratch, %half, %state, %hist) : (memref<?xi32>, index, memref<?xi64>, index) -> i1
      scf.yield %some : i1
    } else {
      %true = arith.constant true
      scf.yield %true : i1
    }
    scf.if %used {
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
    }
    memref.store %e, %state[%at] : memref<?xi64>
    scf.yield %e : i64
  } else {
    scf.yield %old : i64
  }
  return %new : i64
}
