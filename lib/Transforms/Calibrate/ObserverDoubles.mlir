// What compiled observers call, where a processor doesn't multiply integers of
// 52 bits: tiles are added up in vectors of double. Where it does, it is
// ObserverIntegers.mlir, with functions of the same names and the same sums.
//
// Accumulators take 256 rows. They start at 1.5 * 2^k, so that what was added to
// them is the difference of their bits, an integer, and waits as such: of sums
// for each channel, of squares for all.

// How many neighbours are looked at together where all are of one channel.
func.func private @onnxq_lane_count() -> index attributes {onnxq.inline} {
  %c8 = arith.constant 8 : index
  return %c8 : index
}

// Rows are taken as they are.
func.func private @onnxq_wide_rows(%rows: index, %channels: index) -> (index, index) attributes {onnxq.inline} {
  return %rows, %channels : index, index
}
// How many times eight columns have room in scratch memory.
func.func private @onnxq_waiting_groups(%channels: index) -> index attributes {onnxq.inline} {
  %groups = func.call @onnxq_groups(%channels) : (index) -> index
  return %groups : index
}

// How many rows may wait: the squares of eight channels in 256 rows have less
// than 52 bits.
func.func private @onnxq_most_rows(%groups: index) -> i32 attributes {onnxq.inline} {
  %c1 = arith.constant 1 : index
  %all = arith.constant 524288 : index
  %some = arith.maxui %groups, %c1 : index
  %most = arith.divui %all, %some : index
  %most32 = arith.index_cast %most : index to i32
  return %most32 : i32
}

// Adds a sum that waited to the record's: a multiple of 2^(e - 169).
func.func private @onnxq_settle_sum(%state: memref<?xi64>, %at: index, %sum: i64, %e: i32) attributes {onnxq.inline} {
  %l55 = arith.constant 55 : i64
  %e64 = arith.extui %e : i32 to i64
  %p = arith.addi %e64, %l55 : i64
  func.call @onnxq_add_integer(%state, %at, %sum, %p) : (memref<?xi64>, index, i64, i64) -> ()
  return
}

// Where the accumulator of a band's sums starts.
func.func private @onnxq_sum_start(%e: i32) -> vector<8xf64> attributes {onnxq.inline} {
  %l52 = arith.constant 52 : i64
  %l906 = arith.constant 906 : i64
  %half = arith.constant 2251799813685248 : i64
  %e64 = arith.extui %e : i32 to i64
  %exponent = arith.addi %e64, %l906 : i64
  %shifted = arith.shli %exponent, %l52 : i64
  %bits = arith.ori %shifted, %half : i64
  %start = arith.bitcast %bits : i64 to f64
  %starts = vector.broadcast %start : f64 to vector<8xf64>
  return %starts : vector<8xf64>
}

// The powers of two that integers waiting are multiples of, above 2^-352: they
// are 2^(2e - 295) and 2^(2e - 339).
func.func private @onnxq_square_steps(%e: i32) -> (i64, i64) attributes {onnxq.inline} {
  %l13 = arith.constant 13 : i64
  %l57 = arith.constant 57 : i64
  %e64 = arith.extui %e : i32 to i64
  %e2 = arith.addi %e64, %e64 : i64
  %high = arith.addi %e2, %l57 : i64
  %low = arith.addi %e2, %l13 : i64
  return %high, %low : i64, i64
}

// Adds eight elements: to sums, to the squares' upper and lower parts, to
// extremes, and to the smallest magnitude but zero, as twice its bits less one.
func.func private @onnxq_add_eight(%e: vector<8xf32>, %s: vector<8xf64>, %q: vector<8xf64>, %l: vector<8xf64>, %mn: vector<8xf32>, %mx: vector<8xf32>, %nz: vector<8xi32>)
    -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) attributes {onnxq.inline} {
  %one = arith.constant dense<1> : vector<8xi32>
  %less = arith.cmpf olt, %e, %mn : vector<8xf32>
  %mn2 = arith.select %less, %e, %mn : vector<8xi1>, vector<8xf32>
  %more = arith.cmpf ogt, %e, %mx : vector<8xf32>
  %mx2 = arith.select %more, %e, %mx : vector<8xi1>, vector<8xf32>
  %bits = arith.bitcast %e : vector<8xf32> to vector<8xi32>
  %twice = arith.addi %bits, %bits : vector<8xi32>
  %below = arith.subi %twice, %one : vector<8xi32>
  %nz2 = arith.minui %nz, %below : vector<8xi32>
  %d = arith.extf %e : vector<8xf32> to vector<8xf64>
  %s2 = arith.addf %s, %d : vector<8xf64>
  // A square has 48 bits: both multiply-adds are what two steps would be.
  %q2 = math.fma %d, %d, %q : vector<8xf64>
  %taken = arith.subf %q, %q2 : vector<8xf64>
  %left = math.fma %d, %d, %taken : vector<8xf64>
  %l2 = arith.addf %l, %left : vector<8xf64>
  return %s2, %q2, %l2, %mn2, %mx2, %nz2 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
}

// Adds rows of eight lanes, `step` elements apart.
func.func private @onnxq_look(%x: memref<?xf32>, %begin: index, %rows: index, %step: index, %s0: vector<8xf64>, %q0: vector<8xf64>, %l0: vector<8xf64>, %mn0: vector<8xf32>, %mx0: vector<8xf32>)
    -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %most = arith.constant dense<-1> : vector<8xi32>
  %r:6 = scf.for %i = %c0 to %rows step %c1 iter_args(%s = %s0, %q = %q0, %l = %l0, %mn = %mn0, %mx = %mx0, %nz = %most)
      -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) {
    %o = arith.muli %i, %step : index
    %at = arith.addi %begin, %o : index
    %e = vector.load %x[%at] : memref<?xf32>, vector<8xf32>
    %v:6 = func.call @onnxq_add_eight(%e, %s, %q, %l, %mn, %mx, %nz)
        : (vector<8xf32>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>)
    scf.yield %v#0, %v#1, %v#2, %v#3, %v#4, %v#5 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
}

// The same of `width` lanes; the others are taken for zeros.
func.func private @onnxq_look_some(%x: memref<?xf32>, %begin: index, %rows: index, %step: index, %width: index, %s0: vector<8xf64>, %q0: vector<8xf64>, %l0: vector<8xf64>, %mn0: vector<8xf32>, %mx0: vector<8xf32>)
    -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant dense<0.0> : vector<8xf32>
  %mask = vector.create_mask %width : vector<8xi1>
  %most = arith.constant dense<-1> : vector<8xi32>
  %r:6 = scf.for %i = %c0 to %rows step %c1 iter_args(%s = %s0, %q = %q0, %l = %l0, %mn = %mn0, %mx = %mx0, %nz = %most)
      -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) {
    %o = arith.muli %i, %step : index
    %at = arith.addi %begin, %o : index
    %e = vector.maskedload %x[%at], %mask, %none : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %v:6 = func.call @onnxq_add_eight(%e, %s, %q, %l, %mn, %mx, %nz)
        : (vector<8xf32>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>)
    scf.yield %v#0, %v#1, %v#2, %v#3, %v#4, %v#5 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
}

// Adds the squares of up to 256 rows to the record.
func.func private @onnxq_keep_squares(%state: memref<?xi64>, %base: index, %q: vector<8xf64>, %l: vector<8xf64>, %start: vector<8xf64>) attributes {passthrough = ["noinline"]} {
  %c9 = arith.constant 9 : index
  %bias = arith.constant 352 : i64
  %psquares = arith.addi %base, %c9 : index
  %taken = arith.subf %q, %start : vector<8xf64>
  func.call @onnxq_add_halves(%state, %psquares, %taken, %bias) : (memref<?xi64>, index, vector<8xf64>, i64) -> ()
  func.call @onnxq_add_halves(%state, %psquares, %l, %bias) : (memref<?xi64>, index, vector<8xf64>, i64) -> ()
  return
}

// Adds what was added to an accumulator to the integers at scratch[at].
func.func private @onnxq_let_wait(%scratch: memref<?xi32>, %at: index, %v: vector<8xf64>, %start: vector<8xf64>) attributes {onnxq.inline} {
  %b = arith.bitcast %v : vector<8xf64> to vector<8xi64>
  %b0 = arith.bitcast %start : vector<8xf64> to vector<8xi64>
  %added = arith.subi %b, %b0 : vector<8xi64>
  %words = vector.load %scratch[%at] : memref<?xi32>, vector<16xi32>
  %old = vector.bitcast %words : vector<16xi32> to vector<8xi64>
  %new = arith.addi %old, %added : vector<8xi64>
  %out = vector.bitcast %new : vector<8xi64> to vector<16xi32>
  vector.store %out, %scratch[%at] : memref<?xi32>, vector<16xi32>
  return
}

// The bounds of the magnitudes that are within the band of an exponent: the
// smallest but zero, as twice its bits less one, and the end by its bits.
func.func private @onnxq_bounds(%e: i32) -> (vector<8xi32>, vector<8xi32>) attributes {onnxq.inline} {
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i23 = arith.constant 23 : i32
  %limit = arith.constant 2123789977 : i32
  %bits = arith.shli %e, %i23 : i32
  %band:2 = func.call @onnxq_band(%bits) : (i32) -> (i32, f64)
  %lower0 = arith.addi %band#0, %band#0 : i32
  %lower1 = arith.subi %lower0, %i1 : i32
  %e1 = arith.addi %e, %i1 : i32
  %end0 = arith.shli %e1, %i23 : i32
  %end1 = arith.minui %end0, %limit : i32
  // Without an exponent nothing is.
  %some = arith.cmpi ne, %e, %i0 : i32
  %end2 = arith.select %some, %end1, %i0 : i32
  %lower = vector.broadcast %lower1 : i32 to vector<8xi32>
  %end = vector.broadcast %end2 : i32 to vector<8xi32>
  return %lower, %end : vector<8xi32>, vector<8xi32>
}

// The larger magnitudes of extremes, by their bits.
func.func private @onnxq_tops(%mn: vector<8xf32>, %mx: vector<8xf32>) -> vector<8xi32> attributes {onnxq.inline} {
  %magnitude = arith.constant dense<2147483647> : vector<8xi32>
  %b0 = arith.bitcast %mn : vector<8xf32> to vector<8xi32>
  %b1 = arith.bitcast %mx : vector<8xf32> to vector<8xi32>
  %a0 = arith.andi %b0, %magnitude : vector<8xi32>
  %a1 = arith.andi %b1, %magnitude : vector<8xi32>
  %a = arith.maxui %a0, %a1 : vector<8xi32>
  return %a : vector<8xi32>
}

// Whether what was added up lies within the bounds; and whether it does but for
// magnitudes that are too small.
func.func private @onnxq_all_hold(%lower: vector<8xi32>, %end: vector<8xi32>, %s: vector<8xf64>, %tops: vector<8xi32>, %nz: vector<8xi32>) -> (i1, i1) attributes {onnxq.inline} {
  %s0 = vector.extract_strided_slice %s {offsets = [0], sizes = [4], strides = [1]} : vector<8xf64> to vector<4xf64>
  %s1 = vector.extract_strided_slice %s {offsets = [4], sizes = [4], strides = [1]} : vector<8xf64> to vector<4xf64>
  %numbers = arith.cmpf ord, %s0, %s1 : vector<4xf64>
  %ok0 = vector.reduction <and>, %numbers : vector<4xi1> into i1
  %large = arith.cmpi uge, %nz, %lower : vector<8xi32>
  %ok1 = vector.reduction <and>, %large : vector<8xi1> into i1
  // Magnitudes and their end have no sign.
  %small = arith.cmpi slt, %tops, %end : vector<8xi32>
  %ok2 = vector.reduction <and>, %small : vector<8xi1> into i1
  %most = arith.andi %ok0, %ok2 : i1
  %all = arith.andi %most, %ok1 : i1
  return %all, %most : i1, i1
}

// Adds rows of up to eight lanes, from channel `first` on, whose magnitudes are
// within a band or below it: the latter go to the record one by one.
func.func private @onnxq_look_apart(%x: memref<?xf32>, %begin: index, %rows: index, %step: index, %width: index, %first: index, %lower: i32, %s0: vector<8xf64>, %q0: vector<8xf64>, %l0: vector<8xf64>, %state: memref<?xi64>, %base: index, %parts: index)
    -> (vector<8xf64>, vector<8xf64>, vector<8xf64>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c14 = arith.constant 14 : index
  %sumbias = arith.constant 224 : i64
  %squarebias = arith.constant 352 : i64
  %none = arith.constant dense<0.0> : vector<8xf32>
  %most = arith.constant dense<-1> : vector<8xi32>
  %one = arith.constant dense<1> : vector<8xi32>
  %zero = arith.constant 0.0 : f32
  %mask = vector.create_mask %width : vector<8xi1>
  %lowerv = vector.broadcast %lower : i32 to vector<8xi32>
  %psquares = arith.addi %base, %c9 : index
  %p:4 = func.call @onnxq_places(%base, %parts, %step) : (index, index, index) -> (index, index, index, index)
  %r:3 = scf.for %i = %c0 to %rows step %c1 iter_args(%s = %s0, %q = %q0, %l = %l0) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>) {
    %o = arith.muli %i, %step : index
    %at = arith.addi %begin, %o : index
    %e = vector.maskedload %x[%at], %mask, %none : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %bits = arith.bitcast %e : vector<8xf32> to vector<8xi32>
    %twice = arith.addi %bits, %bits : vector<8xi32>
    %below = arith.subi %twice, %one : vector<8xi32>
    %small = arith.cmpi ult, %below, %lowerv : vector<8xi32>
    %in = arith.select %small, %none, %e : vector<8xi1>, vector<8xf32>
    %some = vector.reduction <or>, %small : vector<8xi1> into i1
    scf.if %some {
      %out = arith.select %small, %e, %none : vector<8xi1>, vector<8xf32>
      scf.for %c = %c0 to %width step %c1 {
        %f = vector.extract %out[%c] : f32 from vector<8xf32>
        %isout = arith.cmpf une, %f, %zero : f32
        scf.if %isout {
          %d = arith.extf %f : f32 to f64
          %dd = arith.mulf %d, %d : f64
          %channel = arith.addi %first, %c : index
          %c14th = arith.muli %channel, %c14 : index
          %psum = arith.addi %p#1, %c14th : index
          func.call @onnxq_add(%state, %psum, %d, %sumbias) : (memref<?xi64>, index, f64, i64) -> ()
          func.call @onnxq_add(%state, %psquares, %dd, %squarebias) : (memref<?xi64>, index, f64, i64) -> ()
        }
      }
    }
    %v:6 = func.call @onnxq_add_eight(%in, %s, %q, %l, %none, %none, %most)
        : (vector<8xf32>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>)
    scf.yield %v#0, %v#1, %v#2 : vector<8xf64>, vector<8xf64>, vector<8xf64>
  }
  return %r#0, %r#1, %r#2 : vector<8xf64>, vector<8xf64>, vector<8xf64>
}

// Adds up to 256 rows to what waits in scratch memory, eight channels at a
// time; those beyond the band of `e` go to the record. Gives the largest
// magnitude, and whether all elements count.
func.func private @onnxq_add_groups(%x: memref<?xf32>, %begin: index, %rows: index, %o: index, %outer: index, %columns: index, %channels: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index, %scratch: memref<?xi32>, %e: i32) -> (i32, i1) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  %c32 = arith.constant 32 : index
  %c40 = arith.constant 40 : index
  %c48 = arith.constant 48 : index
  %c256 = arith.constant 256 : index
  %c2048 = arith.constant 2048 : index
  %i1 = arith.constant 1 : i32
  %i23 = arith.constant 23 : i32
  %true = arith.constant true
  %l44 = arith.constant 198158383604301824 : i64
  %none = arith.constant dense<0> : vector<8xi32>
  %rows32 = arith.index_cast %rows : index to i32
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %acc = arith.muli %stride, %c4 : index
  %ebits = arith.shli %e, %i23 : i32
  %band:2 = func.call @onnxq_band(%ebits) : (i32) -> (i32, f64)
  %bounds:2 = func.call @onnxq_bounds(%e) : (i32) -> (vector<8xi32>, vector<8xi32>)
  %start = vector.broadcast %band#1 : f64 to vector<8xf64>
  // That of the lower parts is 2^44 times smaller.
  %startbits = arith.bitcast %band#1 : f64 to i64
  %lowbits = arith.subi %startbits, %l44 : i64
  %low = arith.bitcast %lowbits : i64 to f64
  %zero = vector.broadcast %low : f64 to vector<8xf64>
  %s = func.call @onnxq_sum_start(%e) : (i32) -> vector<8xf64>
  %upper = arith.addi %acc, %c16 : index
  %lower = arith.addi %acc, %c32 : index
  %has = arith.cmpi ugt, %bins, %c0 : index
  %pexp = arith.addi %base, %c7 : index
  %range = memref.load %state[%pexp] : memref<?xi64>
  %usual = arith.cmpi eq, %bins, %c2048 : index
  %several = arith.cmpi uge, %columns, %c8 : index
  %ring = memref.alloca() {alignment = 64 : i64} : memref<16xi64>
  scf.if %has {
    func.call @onnxq_open_ring(%ring, %bins) : (memref<16xi64>, index) -> ()
  }
  %groups = func.call @onnxq_groups(%columns) : (index) -> index
  %r:5 = scf.for %g = %c0 to %groups step %c1 iter_args(%q0 = %start, %l = %zero, %added0 = %c0, %top = %none, %clean = %true) -> (vector<8xf64>, vector<8xf64>, index, vector<8xi32>, i1) {
    %more = arith.addi %added0, %rows : index
    %over = arith.cmpi ugt, %more, %c256 : index
    %k:3 = scf.if %over -> (vector<8xf64>, vector<8xf64>, index) {
      func.call @onnxq_let_wait(%scratch, %upper, %q0, %start) : (memref<?xi32>, index, vector<8xf64>, vector<8xf64>) -> ()
      func.call @onnxq_let_wait(%scratch, %lower, %l, %zero) : (memref<?xi32>, index, vector<8xf64>, vector<8xf64>) -> ()
      scf.yield %start, %zero, %rows : vector<8xf64>, vector<8xf64>, index
    } else {
      scf.yield %q0, %l, %more : vector<8xf64>, vector<8xf64>, index
    }
    %o40 = arith.muli %g, %c40 : index
    %o48 = arith.addi %o40, %c48 : index
    %at = arith.addi %acc, %o48 : index
    %pmn = arith.addi %at, %c16 : index
    %pmx = arith.addi %at, %c24 : index
    %pn = arith.addi %at, %c32 : index
    %mnb = vector.load %scratch[%pmn] : memref<?xi32>, vector<8xi32>
    %mxb = vector.load %scratch[%pmx] : memref<?xi32>, vector<8xi32>
    %mn = arith.bitcast %mnb : vector<8xi32> to vector<8xf32>
    %mx = arith.bitcast %mxb : vector<8xi32> to vector<8xf32>
    %first = arith.muli %g, %c8 : index
    %from = arith.addi %begin, %first : index
    %left = arith.subi %columns, %first : index
    %width = arith.minui %left, %c8 : index
    %whole = arith.cmpi eq, %width, %c8 : index
    %rest = arith.andi %has, %several : i1
    %v:6 = scf.if %whole -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) {
      %z:6 = scf.if %has -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) {
        // Places of the usual histograms are known: they take fewer registers.
        %y:6 = scf.if %usual -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) {
          %u:6 = func.call @onnxq_look_and_bin(%x, %from, %rows, %columns, %s, %k#0, %k#1, %mn, %mx, %scratch, %c2048, %range, %ring)
              : (memref<?xf32>, index, index, index, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, memref<?xi32>, index, i64, memref<16xi64>) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>)
          scf.yield %u#0, %u#1, %u#2, %u#3, %u#4, %u#5 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
        } else {
          %u:6 = func.call @onnxq_look_and_bin(%x, %from, %rows, %columns, %s, %k#0, %k#1, %mn, %mx, %scratch, %bins, %range, %ring)
              : (memref<?xf32>, index, index, index, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, memref<?xi32>, index, i64, memref<16xi64>) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>)
          scf.yield %u#0, %u#1, %u#2, %u#3, %u#4, %u#5 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
        }
        scf.yield %y#0, %y#1, %y#2, %y#3, %y#4, %y#5 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
      } else {
        %y:6 = func.call @onnxq_look(%x, %from, %rows, %columns, %s, %k#0, %k#1, %mn, %mx)
            : (memref<?xf32>, index, index, index, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>)
        scf.yield %y#0, %y#1, %y#2, %y#3, %y#4, %y#5 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
      }
      scf.yield %z#0, %z#1, %z#2, %z#3, %z#4, %z#5 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
    } else {
      scf.if %rest {
        func.call @onnxq_bin_lanes(%x, %from, %rows, %columns, %width, %scratch, %bins, %range, %i1) : (memref<?xf32>, index, index, index, index, memref<?xi32>, index, i64, i32) -> ()
      }
      %y:6 = func.call @onnxq_look_some(%x, %from, %rows, %columns, %width, %s, %k#0, %k#1, %mn, %mx)
          : (memref<?xf32>, index, index, index, index, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>)
      scf.yield %y#0, %y#1, %y#2, %y#3, %y#4, %y#5 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
    }
    %tops = func.call @onnxq_tops(%v#3, %v#4) : (vector<8xf32>, vector<8xf32>) -> vector<8xi32>
    %h:2 = func.call @onnxq_all_hold(%bounds#0, %bounds#1, %v#0, %tops, %v#5) : (vector<8xi32>, vector<8xi32>, vector<8xf64>, vector<8xi32>, vector<8xi32>) -> (i1, i1)
    %added:3 = scf.if %h#0 -> (vector<8xf64>, vector<8xf64>, vector<8xf64>) {
      scf.yield %v#0, %v#1, %v#2 : vector<8xf64>, vector<8xf64>, vector<8xf64>
    } else {
      %a:3 = scf.if %h#1 -> (vector<8xf64>, vector<8xf64>, vector<8xf64>) {
        %least = vector.extract %bounds#0[0] : i32 from vector<8xi32>
        %y:3 = func.call @onnxq_look_apart(%x, %from, %rows, %columns, %width, %first, %least, %s, %k#0, %k#1, %state, %base, %parts)
            : (memref<?xf32>, index, index, index, index, index, i32, vector<8xf64>, vector<8xf64>, vector<8xf64>, memref<?xi64>, index, index) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>)
        scf.yield %y#0, %y#1, %y#2 : vector<8xf64>, vector<8xf64>, vector<8xf64>
      } else {
        scf.yield %v#0, %v#1, %v#2 : vector<8xf64>, vector<8xf64>, vector<8xf64>
      }
      scf.yield %a#0, %a#1, %a#2 : vector<8xf64>, vector<8xf64>, vector<8xf64>
    }
    %w:4 = scf.if %h#1 -> (vector<8xf64>, vector<8xf64>, vector<8xi32>, i1) {
      %mn2 = arith.bitcast %v#3 : vector<8xf32> to vector<8xi32>
      %mx2 = arith.bitcast %v#4 : vector<8xf32> to vector<8xi32>
      func.call @onnxq_let_wait(%scratch, %at, %added#0, %s) : (memref<?xi32>, index, vector<8xf64>, vector<8xf64>) -> ()
      vector.store %mn2, %scratch[%pmn] : memref<?xi32>, vector<8xi32>
      vector.store %mx2, %scratch[%pmx] : memref<?xi32>, vector<8xi32>
      %n0 = memref.load %scratch[%pn] : memref<?xi32>
      %n1 = arith.addi %n0, %rows32 : i32
      memref.store %n1, %scratch[%pn] : memref<?xi32>
      %t = arith.maxui %top, %tops : vector<8xi32>
      scf.yield %added#1, %added#2, %t, %clean : vector<8xf64>, vector<8xf64>, vector<8xi32>, i1
    } else {
      %t0:2 = func.call @onnxq_any_channels(%x, %from, %rows, %width, %columns, %channels, %first, %o, %outer, %state, %base, %parts)
          : (memref<?xf32>, index, index, index, index, index, index, index, index, memref<?xi64>, index, index) -> (i32, i1)
      %t1 = vector.broadcast %t0#0 : i32 to vector<8xi32>
      %t = arith.maxui %top, %t1 : vector<8xi32>
      %still = arith.andi %clean, %t0#1 : i1
      scf.yield %k#0, %k#1, %t, %still : vector<8xf64>, vector<8xf64>, vector<8xi32>, i1
    }
    scf.yield %w#0, %w#1, %k#2, %w#2, %w#3 : vector<8xf64>, vector<8xf64>, index, vector<8xi32>, i1
  }
  scf.if %has {
    func.call @onnxq_close_ring(%ring, %scratch, %bins) : (memref<16xi64>, memref<?xi32>, index) -> ()
  }
  func.call @onnxq_let_wait(%scratch, %upper, %r#0, %start) : (memref<?xi32>, index, vector<8xf64>, vector<8xf64>) -> ()
  func.call @onnxq_let_wait(%scratch, %lower, %r#1, %zero) : (memref<?xi32>, index, vector<8xf64>, vector<8xf64>) -> ()
  %largest = vector.reduction <maxui>, %r#3 : vector<8xi32> into i32
  return %largest, %r#4 : i32, i1
}

// Adds `rows` times eight neighbours of one channel, at most 2048, to a sum and
// the squares of the record, if they lie within the band of `e`. Tells whether,
// the largest magnitude and the extremes.
func.func private @onnxq_add_likely(%x: memref<?xf32>, %at: index, %rows: index, %e: i32, %state: memref<?xi64>, %base: index, %psum: index) -> (i1, i32, f32, f32) attributes {onnxq.inline} {
  %c8 = arith.constant 8 : index
  %i23 = arith.constant 23 : i32
  %bias = arith.constant 224 : i64
  %zero = arith.constant dense<0.0> : vector<8xf64>
  %inf = arith.constant dense<0x7F800000> : vector<8xf32>
  %ninf = arith.constant dense<0xFF800000> : vector<8xf32>
  %ebits = arith.shli %e, %i23 : i32
  %band:2 = func.call @onnxq_band(%ebits) : (i32) -> (i32, f64)
  %start = vector.broadcast %band#1 : f64 to vector<8xf64>
  %v:6 = func.call @onnxq_look(%x, %at, %rows, %c8, %zero, %start, %zero, %inf, %ninf)
      : (memref<?xf32>, index, index, index, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>)
  %h:2 = func.call @onnxq_holds(%e, %v#0, %v#3, %v#4, %v#5) : (i32, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) -> (i1, i32)
  scf.if %h#0 {
    func.call @onnxq_add_halves(%state, %psum, %v#0, %bias) : (memref<?xi64>, index, vector<8xf64>, i64) -> ()
    func.call @onnxq_keep_squares(%state, %base, %v#1, %v#2, %start) : (memref<?xi64>, index, vector<8xf64>, vector<8xf64>, vector<8xf64>) -> ()
  }
  %mn = vector.reduction <minnumf>, %v#3 : vector<8xf32> into f32
  %mx = vector.reduction <maxnumf>, %v#4 : vector<8xf32> into f32
  return %h#0, %h#1, %mn, %mx : i1, i32, f32, f32
}
