// What compiled observers call, where a processor multiplies integers of 52
// bits (AVX-512 IFMA): tiles are added up as integers. Elsewhere it is
// ObserverDoubles.mlir, with functions of the same names and the same sums.
//
// Bands reach down to 2^(e-22) here. An element is a multiple of u = 2^(e-45)
// and smaller than 2^45 u, so that a sum of 256 is exact in double. And there 1.5 * 2^52 u + x has m = 2^51 + x / u as
// its lower 52 bits, which is all that the multiplication sees. So squares are
// added up as the lower and upper 52 bits of m^2, and
//
//   sum of x^2 = (sum of m^2 - 2^52 * sum of x - rows * 2^102) u^2.
//
// Both parts of that wait in scratch memory, the lower one below 2^52, the upper
// one below 2^38 for each element; so do the sums, all as integers.

// Two rows of an odd number of eights as one, so that all of it is sixteens.
func.func private @onnxq_wide_rows(%rows: index, %channels: index) -> (index, index) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %even = arith.andi %rows, %c1 : index
  %whole = arith.cmpi eq, %even, %c0 : index
  %groups = func.call @onnxq_groups(%channels) : (index) -> index
  %waiting = func.call @onnxq_waiting_groups(%channels) : (index) -> index
  %twice = arith.cmpi ne, %groups, %waiting : index
  %both = arith.andi %whole, %twice : i1
  %half = arith.shrui %rows, %c1 : index
  %double = arith.addi %channels, %channels : index
  %r = arith.select %both, %half, %rows : index
  %c = arith.select %both, %double, %channels : index
  return %r, %c : index, index
}
// How many times eight columns have room in scratch memory.
func.func private @onnxq_waiting_groups(%channels: index) -> index attributes {onnxq.inline} {
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %groups = func.call @onnxq_groups(%channels) : (index) -> index
  %rest = arith.remui %channels, %c16 : index
  %odd = arith.cmpi eq, %rest, %c8 : index
  %double = arith.addi %groups, %groups : index
  %waiting = arith.select %odd, %double, %groups : index
  return %waiting : index
}

// How many rows may wait: of 4096 channels, eight lanes have 2^23 elements then.
func.func private @onnxq_most_rows(%groups: index) -> i32 attributes {onnxq.inline} {
  %most = arith.constant 16384 : i32
  return %most : i32
}

// How many neighbours are looked at together where all are of one channel.
func.func private @onnxq_lane_count() -> index attributes {onnxq.inline} {
  %c16 = arith.constant 16 : index
  return %c16 : index
}

// The powers of two that integers waiting are multiples of, above 2^-352.
func.func private @onnxq_square_steps(%e: i32) -> (i64, i64) attributes {onnxq.inline} {
  %l10 = arith.constant 10 : i64
  %l62 = arith.constant 62 : i64
  %e64 = arith.extui %e : i32 to i64
  %e2 = arith.addi %e64, %e64 : i64
  %high = arith.addi %e2, %l62 : i64
  %low = arith.addi %e2, %l10 : i64
  return %high, %low : i64, i64
}

// Adds a sum that waited to the record's.
func.func private @onnxq_settle_sum(%state: memref<?xi64>, %at: index, %sum: i64, %e: i32) attributes {onnxq.inline} {
  %l53 = arith.constant 53 : i64
  %e64 = arith.extui %e : i32 to i64
  %p = arith.addi %e64, %l53 : i64
  func.call @onnxq_add_integer(%state, %at, %sum, %p) : (memref<?xi64>, index, i64, i64) -> ()
  return
}

// 1 / u of a band.
func.func private @onnxq_per_unit(%e: i32) -> vector<8xf64> attributes {onnxq.inline} {
  %i1194 = arith.constant 1194 : i64
  %i52 = arith.constant 52 : i64
  %e64 = arith.extui %e : i32 to i64
  %exponent = arith.subi %i1194, %e64 : i64
  %bits = arith.shli %exponent, %i52 : i64
  %f = arith.bitcast %bits : i64 to f64
  %v = vector.broadcast %f : f64 to vector<8xf64>
  return %v : vector<8xf64>
}

// 1.5 * 2^52 u of a band.
func.func private @onnxq_shift(%e: i32) -> vector<8xf64> attributes {onnxq.inline} {
  %i904 = arith.constant 904 : i64
  %i52 = arith.constant 52 : i64
  %half = arith.constant 2251799813685248 : i64
  %e64 = arith.extui %e : i32 to i64
  %exponent = arith.addi %e64, %i904 : i64
  %shifted = arith.shli %exponent, %i52 : i64
  %bits = arith.ori %shifted, %half : i64
  %f = arith.bitcast %bits : i64 to f64
  %v = vector.broadcast %f : f64 to vector<8xf64>
  return %v : vector<8xf64>
}

// Adds eight elements.
func.func private @onnxq_add_eight(%e: vector<8xf32>, %shift: vector<8xf64>, %s: vector<8xf64>, %q: vector<8xi64>, %l: vector<8xi64>)
    -> (vector<8xf64>, vector<8xi64>, vector<8xi64>) attributes {onnxq.inline} {
  %d = arith.extf %e : vector<8xf32> to vector<8xf64>
  %s2 = arith.addf %s, %d : vector<8xf64>
  %m0 = arith.addf %d, %shift : vector<8xf64>
  %m = arith.bitcast %m0 : vector<8xf64> to vector<8xi64>
  %l2 = llvm.call_intrinsic "llvm.x86.avx512.vpmadd52l.uq.512"(%l, %m, %m) : (vector<8xi64>, vector<8xi64>, vector<8xi64>) -> vector<8xi64>
  %q2 = llvm.call_intrinsic "llvm.x86.avx512.vpmadd52h.uq.512"(%q, %m, %m) : (vector<8xi64>, vector<8xi64>, vector<8xi64>) -> vector<8xi64>
  return %s2, %q2, %l2 : vector<8xf64>, vector<8xi64>, vector<8xi64>
}

// Adds sixteen elements to sums, extremes and the smallest magnitude but zero.
func.func private @onnxq_add_sixteen(%e: vector<16xf32>, %shift: vector<8xf64>, %s0: vector<8xf64>, %s1: vector<8xf64>, %q0: vector<8xi64>, %q1: vector<8xi64>, %l0: vector<8xi64>, %l1: vector<8xi64>, %mn: vector<16xf32>, %mx: vector<16xf32>, %nz: vector<16xf32>)
    -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>) attributes {onnxq.inline} {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %less = arith.cmpf olt, %e, %mn : vector<16xf32>
  %mn2 = arith.select %less, %e, %mn : vector<16xi1>, vector<16xf32>
  %more = arith.cmpf ogt, %e, %mx : vector<16xf32>
  %mx2 = arith.select %more, %e, %mx : vector<16xi1>, vector<16xf32>
  %nonzero = arith.cmpf une, %e, %zero : vector<16xf32>
  %mask1 = vector.bitcast %nonzero : vector<16xi1> to vector<1xi16>
  %mask = vector.extract %mask1[0] : i16 from vector<1xi16>
  // Of two magnitudes the smaller.
  %smaller = arith.constant 10 : i32
  %mode = arith.constant 4 : i32
  %nz2 = llvm.call_intrinsic "llvm.x86.avx512.mask.range.ps.512"(%nz, %e, %smaller, %nz, %mask, %mode) : (vector<16xf32>, vector<16xf32>, i32, vector<16xf32>, i16, i32) -> vector<16xf32>
  %e0 = vector.extract_strided_slice %e {offsets = [0], sizes = [8], strides = [1]} : vector<16xf32> to vector<8xf32>
  %e1 = vector.extract_strided_slice %e {offsets = [8], sizes = [8], strides = [1]} : vector<16xf32> to vector<8xf32>
  %a:3 = func.call @onnxq_add_eight(%e0, %shift, %s0, %q0, %l0) : (vector<8xf32>, vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>) -> (vector<8xf64>, vector<8xi64>, vector<8xi64>)
  %b:3 = func.call @onnxq_add_eight(%e1, %shift, %s1, %q1, %l1) : (vector<8xf32>, vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>) -> (vector<8xf64>, vector<8xi64>, vector<8xi64>)
  return %a#0, %b#0, %a#1, %b#1, %a#2, %b#2, %mn2, %mx2, %nz2 : vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>
}

// Adds rows of sixteen lanes, `step` elements apart, of which the first `width`
// are there; the others are taken for zeros. `q` and `l` are what m^2 adds up
// to; the rows' sums are what is added to s.
func.func private @onnxq_look(%x: memref<?xf32>, %begin: index, %rows: index, %step: index, %width: index, %shift: vector<8xf64>, %s0: vector<8xf64>, %s1: vector<8xf64>, %mn0: vector<16xf32>, %mx0: vector<16xf32>)
    -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0> : vector<8xi64>
  %none = arith.constant dense<0.0> : vector<16xf32>
  %most = arith.constant dense<0x7F800000> : vector<16xf32>
  %mask = vector.create_mask %width : vector<16xi1>
  %whole = arith.cmpi eq, %width, %c16 : index
  // The next tile is fetched meanwhile: it lies behind this one.
  %whole_tile = arith.muli %rows, %step : index
  %r:9 = scf.if %whole -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
    %y:9 = scf.for %i = %c0 to %rows step %c1 iter_args(%t0 = %s0, %t1 = %s1, %q0 = %zero, %q1 = %zero, %l0 = %zero, %l1 = %zero, %mn = %mn0, %mx = %mx0, %nz = %most)
        -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
      %o = arith.muli %i, %step : index
      %at = arith.addi %begin, %o : index
      %e = vector.load %x[%at] : memref<?xf32>, vector<16xf32>
      %ahead = arith.addi %at, %whole_tile : index
      memref.prefetch %x[%ahead], read, locality<2>, data : memref<?xf32>
      %w:9 = func.call @onnxq_add_sixteen(%e, %shift, %t0, %t1, %q0, %q1, %l0, %l1, %mn, %mx, %nz)
          : (vector<16xf32>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
      scf.yield %w#0, %w#1, %w#2, %w#3, %w#4, %w#5, %w#6, %w#7, %w#8 : vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>
    }
    scf.yield %y#0, %y#1, %y#2, %y#3, %y#4, %y#5, %y#6, %y#7, %y#8 : vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>
  } else {
    %y:9 = scf.for %i = %c0 to %rows step %c1 iter_args(%t0 = %s0, %t1 = %s1, %q0 = %zero, %q1 = %zero, %l0 = %zero, %l1 = %zero, %mn = %mn0, %mx = %mx0, %nz = %most)
        -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
      %o = arith.muli %i, %step : index
      %at = arith.addi %begin, %o : index
      %e = vector.maskedload %x[%at], %mask, %none : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
      %w:9 = func.call @onnxq_add_sixteen(%e, %shift, %t0, %t1, %q0, %q1, %l0, %l1, %mn, %mx, %nz)
          : (vector<16xf32>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
      scf.yield %w#0, %w#1, %w#2, %w#3, %w#4, %w#5, %w#6, %w#7, %w#8 : vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>
    }
    scf.yield %y#0, %y#1, %y#2, %y#3, %y#4, %y#5, %y#6, %y#7, %y#8 : vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>
  }
  %q = arith.addi %r#2, %r#3 : vector<8xi64>
  %l = arith.addi %r#4, %r#5 : vector<8xi64>
  return %r#0, %r#1, %q, %l, %r#6, %r#7, %r#8 : vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>
}

// The same, eight lanes.
func.func private @onnxq_look_eight(%x: memref<?xf32>, %begin: index, %rows: index, %step: index, %width: index, %shift: vector<8xf64>, %s0: vector<8xf64>, %mn0: vector<8xf32>, %mx0: vector<8xf32>)
    -> (vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0> : vector<8xi64>
  %none = arith.constant dense<0.0> : vector<8xf32>
  %one = arith.constant dense<1> : vector<8xi32>
  %most = arith.constant dense<-1> : vector<8xi32>
  %mask = vector.create_mask %width : vector<8xi1>
  %r:6 = scf.for %i = %c0 to %rows step %c1 iter_args(%s = %s0, %q = %zero, %l = %zero, %mn = %mn0, %mx = %mx0, %nz = %most)
      -> (vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) {
    %o = arith.muli %i, %step : index
    %at = arith.addi %begin, %o : index
    %e = vector.maskedload %x[%at], %mask, %none : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %less = arith.cmpf olt, %e, %mn : vector<8xf32>
    %mn2 = arith.select %less, %e, %mn : vector<8xi1>, vector<8xf32>
    %more = arith.cmpf ogt, %e, %mx : vector<8xf32>
    %mx2 = arith.select %more, %e, %mx : vector<8xi1>, vector<8xf32>
    %bits = arith.bitcast %e : vector<8xf32> to vector<8xi32>
    %twice = arith.addi %bits, %bits : vector<8xi32>
    %below = arith.subi %twice, %one : vector<8xi32>
    %nz2 = arith.minui %nz, %below : vector<8xi32>
    %a:3 = func.call @onnxq_add_eight(%e, %shift, %s, %q, %l) : (vector<8xf32>, vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>) -> (vector<8xf64>, vector<8xi64>, vector<8xi64>)
    scf.yield %a#0, %a#1, %a#2, %mn2, %mx2, %nz2 : vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
}

// Twice of eight lanes as sixteen.
func.func private @onnxq_join(%a: vector<8xf32>, %b: vector<8xf32>) -> vector<16xf32> attributes {onnxq.inline} {
  %v = vector.shuffle %a, %b [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : vector<8xf32>, vector<8xf32>
  return %v : vector<16xf32>
}
func.func private @onnxq_lower_half(%v: vector<16xf32>) -> vector<8xf32> attributes {onnxq.inline} {
  %h = vector.extract_strided_slice %v {offsets = [0], sizes = [8], strides = [1]} : vector<16xf32> to vector<8xf32>
  return %h : vector<8xf32>
}
func.func private @onnxq_upper_half(%v: vector<16xf32>) -> vector<8xf32> attributes {onnxq.inline} {
  %h = vector.extract_strided_slice %v {offsets = [8], sizes = [8], strides = [1]} : vector<16xf32> to vector<8xf32>
  return %h : vector<8xf32>
}

// The bounds, by their bits, of the magnitudes that are within the band of an
// exponent: the smallest but zero, and the end.
func.func private @onnxq_bounds(%e: i32) -> (vector<16xi32>, vector<16xi32>) attributes {onnxq.inline} {
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i21 = arith.constant 21 : i32
  %i22 = arith.constant 22 : i32
  %i23 = arith.constant 23 : i32
  %limit = arith.constant 2123789977 : i32
  // Below the normal numbers all are multiples of one step.
  %far = arith.cmpi uge, %e, %i22 : i32
  %f = arith.subi %e, %i21 : i32
  %g = arith.shli %f, %i23 : i32
  %least = arith.select %far, %g, %i1 : i32
  %e1 = arith.addi %e, %i1 : i32
  %end0 = arith.shli %e1, %i23 : i32
  %end1 = arith.minui %end0, %limit : i32
  // Without an exponent nothing is.
  %some = arith.cmpi ne, %e, %i0 : i32
  %end2 = arith.select %some, %end1, %i0 : i32
  %lower = vector.broadcast %least : i32 to vector<16xi32>
  %end = vector.broadcast %end2 : i32 to vector<16xi32>
  return %lower, %end : vector<16xi32>, vector<16xi32>
}

// The larger magnitudes of extremes, by their bits.
func.func private @onnxq_tops(%mn: vector<16xf32>, %mx: vector<16xf32>) -> vector<16xi32> attributes {onnxq.inline} {
  %magnitude = arith.constant dense<2147483647> : vector<16xi32>
  %b0 = arith.bitcast %mn : vector<16xf32> to vector<16xi32>
  %b1 = arith.bitcast %mx : vector<16xf32> to vector<16xi32>
  %a0 = arith.andi %b0, %magnitude : vector<16xi32>
  %a1 = arith.andi %b1, %magnitude : vector<16xi32>
  %a = arith.maxui %a0, %a1 : vector<16xi32>
  return %a : vector<16xi32>
}

// Whether what was added up lies within the bounds; onnxq_holds of sixteen.
func.func private @onnxq_all_hold(%lower: vector<16xi32>, %end: vector<16xi32>, %s0: vector<8xf64>, %s1: vector<8xf64>, %tops: vector<16xi32>, %nz: vector<16xf32>) -> i1 attributes {onnxq.inline} {
  // A sum that is no number, of either half.
  %s = arith.addf %s0, %s1 : vector<8xf64>
  %numbers = arith.cmpf ord, %s, %s : vector<8xf64>
  %ok0 = vector.reduction <and>, %numbers : vector<8xi1> into i1
  %smallest = arith.bitcast %nz : vector<16xf32> to vector<16xi32>
  %large = arith.cmpi uge, %smallest, %lower : vector<16xi32>
  %small = arith.cmpi ult, %tops, %end : vector<16xi32>
  %fine = arith.andi %large, %small : vector<16xi1>
  %ok1 = vector.reduction <and>, %fine : vector<16xi1> into i1
  %ok = arith.andi %ok0, %ok1 : i1
  return %ok : i1
}

// A sum in units u.
func.func private @onnxq_in_units(%s: vector<8xf64>, %per: vector<8xf64>) -> vector<8xi64> attributes {onnxq.inline} {
  %scaled = arith.mulf %s, %per : vector<8xf64>
  %n = arith.fptosi %scaled : vector<8xf64> to vector<8xi64>
  return %n : vector<8xi64>
}

// Sums of m^2 to sums of x^2: `sums` is what x adds up to, of `rows` each.
// The lower part becomes less than 2^52.
func.func private @onnxq_squares_of(%q: vector<8xi64>, %l: vector<8xi64>, %sums: vector<8xi64>, %rows: index) -> (vector<8xi64>, vector<8xi64>) attributes {onnxq.inline} {
  %i50 = arith.constant 50 : i64
  %c52 = arith.constant dense<52> : vector<8xi64>
  %low = arith.constant dense<4503599627370495> : vector<8xi64>
  %rows64 = arith.index_cast %rows : index to i64
  %offset0 = arith.shli %rows64, %i50 : i64
  %offset = vector.broadcast %offset0 : i64 to vector<8xi64>
  %q1 = arith.subi %q, %offset : vector<8xi64>
  %q2 = arith.subi %q1, %sums : vector<8xi64>
  %carry = arith.shrui %l, %c52 : vector<8xi64>
  %q3 = arith.addi %q2, %carry : vector<8xi64>
  %l1 = arith.andi %l, %low : vector<8xi64>
  return %q3, %l1 : vector<8xi64>, vector<8xi64>
}

// Adds the squares of a tile to those that wait at scratch[upper], [lower].
func.func private @onnxq_let_wait(%scratch: memref<?xi32>, %upper: index, %lower: index, %q: vector<8xi64>, %l: vector<8xi64>) attributes {onnxq.inline} {
  %c52 = arith.constant dense<52> : vector<8xi64>
  %low = arith.constant dense<4503599627370495> : vector<8xi64>
  %w0 = vector.load %scratch[%upper] : memref<?xi32>, vector<16xi32>
  %w1 = vector.load %scratch[%lower] : memref<?xi32>, vector<16xi32>
  %q0 = vector.bitcast %w0 : vector<16xi32> to vector<8xi64>
  %l0 = vector.bitcast %w1 : vector<16xi32> to vector<8xi64>
  %l1 = arith.addi %l0, %l : vector<8xi64>
  %carry = arith.shrui %l1, %c52 : vector<8xi64>
  %l2 = arith.andi %l1, %low : vector<8xi64>
  %q1 = arith.addi %q0, %q : vector<8xi64>
  %q2 = arith.addi %q1, %carry : vector<8xi64>
  %o0 = vector.bitcast %q2 : vector<8xi64> to vector<16xi32>
  %o1 = vector.bitcast %l2 : vector<8xi64> to vector<16xi32>
  vector.store %o0, %scratch[%upper] : memref<?xi32>, vector<16xi32>
  vector.store %o1, %scratch[%lower] : memref<?xi32>, vector<16xi32>
  return
}

// Loads and stores what waits for eight channels: sums, minima, maxima; the
// latter also counts rows. Lanes beyond `width` have no extremes.
func.func private @onnxq_load_group(%scratch: memref<?xi32>, %at: index) -> (vector<8xi64>, vector<8xf32>, vector<8xf32>) attributes {onnxq.inline} {
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  %pmn = arith.addi %at, %c16 : index
  %pmx = arith.addi %at, %c24 : index
  %sb = vector.load %scratch[%at] : memref<?xi32>, vector<16xi32>
  %s = vector.bitcast %sb : vector<16xi32> to vector<8xi64>
  %mnb = vector.load %scratch[%pmn] : memref<?xi32>, vector<8xi32>
  %mxb = vector.load %scratch[%pmx] : memref<?xi32>, vector<8xi32>
  %mn = arith.bitcast %mnb : vector<8xi32> to vector<8xf32>
  %mx = arith.bitcast %mxb : vector<8xi32> to vector<8xf32>
  return %s, %mn, %mx : vector<8xi64>, vector<8xf32>, vector<8xf32>
}
func.func private @onnxq_store_group(%scratch: memref<?xi32>, %at: index, %width: index, %s: vector<8xi64>, %mn: vector<8xf32>, %mx: vector<8xf32>, %rows: i32) attributes {onnxq.inline} {
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  %c32 = arith.constant 32 : index
  %inf = arith.constant dense<0x7F800000> : vector<8xf32>
  %ninf = arith.constant dense<0xFF800000> : vector<8xf32>
  %pmn = arith.addi %at, %c16 : index
  %pmx = arith.addi %at, %c24 : index
  %pn = arith.addi %at, %c32 : index
  %mask = vector.create_mask %width : vector<8xi1>
  %mnm = arith.select %mask, %mn, %inf : vector<8xi1>, vector<8xf32>
  %mxm = arith.select %mask, %mx, %ninf : vector<8xi1>, vector<8xf32>
  %sb = vector.bitcast %s : vector<8xi64> to vector<16xi32>
  %mnb = arith.bitcast %mnm : vector<8xf32> to vector<8xi32>
  %mxb = arith.bitcast %mxm : vector<8xf32> to vector<8xi32>
  vector.store %sb, %scratch[%at] : memref<?xi32>, vector<16xi32>
  vector.store %mnb, %scratch[%pmn] : memref<?xi32>, vector<8xi32>
  vector.store %mxb, %scratch[%pmx] : memref<?xi32>, vector<8xi32>
  %n0 = memref.load %scratch[%pn] : memref<?xi32>
  %n1 = arith.addi %n0, %rows : i32
  memref.store %n1, %scratch[%pn] : memref<?xi32>
  return
}

// Adds up to 256 rows to what waits in scratch memory, eight or sixteen
// channels at a time; those beyond the band of `e` go to the record. Gives the
// largest magnitude, and whether all elements count.
func.func private @onnxq_add_groups(%x: memref<?xf32>, %begin: index, %rows: index, %o: index, %outer: index, %columns: index, %channels: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index, %scratch: memref<?xi32>, %e: i32) -> (i32, i1) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c40 = arith.constant 40 : index
  %c48 = arith.constant 48 : index
  %none = arith.constant dense<0> : vector<16xi32>
  %true = arith.constant true
  %zero = arith.constant dense<0> : vector<8xi64>
  %nothing = arith.constant dense<0.0> : vector<8xf64>
  %rows32 = arith.index_cast %rows : index to i32
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %acc = arith.muli %stride, %c4 : index
  %has = arith.cmpi ugt, %bins, %c0 : index
  %half = arith.divui %bins, %c2 : index
  %room = memref.alloca() {alignment = 64 : i64} : memref<4608xi8>
  %ring = func.call @onnxq_ring_in(%room, %scratch, %half) : (memref<4608xi8>, memref<?xi32>, index) -> memref<64xi64>
  %pexp = arith.addi %base, %c7 : index
  %range = memref.load %state[%pexp] : memref<?xi64>
  %scale = func.call @onnxq_scale(%half, %range) : (index, i64) -> f32
  %shift = func.call @onnxq_shift(%e) : (i32) -> vector<8xf64>
  %per = func.call @onnxq_per_unit(%e) : (i32) -> vector<8xf64>
  %bounds:2 = func.call @onnxq_bounds(%e) : (i32) -> (vector<16xi32>, vector<16xi32>)
  %upper = arith.addi %acc, %c16 : index
  %lower = arith.addi %acc, %c32 : index
  %groups = func.call @onnxq_groups(%columns) : (index) -> index
  %counts = func.call @onnxq_counts_tile(%columns, %groups) : (index, index) -> i1
  %binned = arith.andi %counts, %has : i1
  scf.if %binned {
    func.call @onnxq_open_places(%ring, %scratch, %c0, %bins) : (memref<64xi64>, memref<?xi32>, index, index) -> ()
  }
  %r:4 = scf.for %g = %c0 to %groups step %c2 iter_args(%q0 = %zero, %l0 = %zero, %top = %none, %clean = %true) -> (vector<8xi64>, vector<8xi64>, vector<16xi32>, i1) {
    %o40 = arith.muli %g, %c40 : index
    %o48 = arith.addi %o40, %c48 : index
    %at = arith.addi %acc, %o48 : index
    %next = arith.addi %at, %c40 : index
    %first = arith.muli %g, %c8 : index
    %from = arith.addi %begin, %first : index
    %left = arith.subi %columns, %first : index
    %width = arith.minui %left, %c16 : index
    %wide = arith.cmpi ugt, %width, %c8 : index
    %a:3 = func.call @onnxq_load_group(%scratch, %at) : (memref<?xi32>, index) -> (vector<8xi64>, vector<8xf32>, vector<8xf32>)
    %w:4 = scf.if %wide -> (vector<8xi64>, vector<8xi64>, i1, vector<16xi32>) {
      %b:3 = func.call @onnxq_load_group(%scratch, %next) : (memref<?xi32>, index) -> (vector<8xi64>, vector<8xf32>, vector<8xf32>)
      %mn = func.call @onnxq_join(%a#1, %b#1) : (vector<8xf32>, vector<8xf32>) -> vector<16xf32>
      %mx = func.call @onnxq_join(%a#2, %b#2) : (vector<8xf32>, vector<8xf32>) -> vector<16xf32>
      %v:7 = scf.if %binned -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
        %y:7 = func.call @onnxq_look_and_bin(%x, %from, %rows, %columns, %shift, %nothing, %nothing, %mn, %mx, %scratch, %half, %scale, %ring)
            : (memref<?xf32>, index, index, index, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<16xf32>, vector<16xf32>, memref<?xi32>, index, f32, memref<64xi64>) -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
        scf.yield %y#0, %y#1, %y#2, %y#3, %y#4, %y#5, %y#6 : vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>
      } else {
        %y:7 = func.call @onnxq_look(%x, %from, %rows, %columns, %width, %shift, %nothing, %nothing, %mn, %mx)
            : (memref<?xf32>, index, index, index, index, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<16xf32>, vector<16xf32>) -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
        scf.yield %y#0, %y#1, %y#2, %y#3, %y#4, %y#5, %y#6 : vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>
      }
      %d0 = func.call @onnxq_in_units(%v#0, %per) : (vector<8xf64>, vector<8xf64>) -> vector<8xi64>
      %d1 = func.call @onnxq_in_units(%v#1, %per) : (vector<8xf64>, vector<8xf64>) -> vector<8xi64>
      %d = arith.addi %d0, %d1 : vector<8xi64>
      %twice = arith.addi %rows, %rows : index
      %sq:2 = func.call @onnxq_squares_of(%v#2, %v#3, %d, %twice) : (vector<8xi64>, vector<8xi64>, vector<8xi64>, index) -> (vector<8xi64>, vector<8xi64>)
      %mn0 = func.call @onnxq_lower_half(%v#4) : (vector<16xf32>) -> vector<8xf32>
      %mn1 = func.call @onnxq_upper_half(%v#4) : (vector<16xf32>) -> vector<8xf32>
      %mx0 = func.call @onnxq_lower_half(%v#5) : (vector<16xf32>) -> vector<8xf32>
      %mx1 = func.call @onnxq_upper_half(%v#5) : (vector<16xf32>) -> vector<8xf32>
      %t = func.call @onnxq_tops(%v#4, %v#5) : (vector<16xf32>, vector<16xf32>) -> vector<16xi32>
      %holds = func.call @onnxq_all_hold(%bounds#0, %bounds#1, %v#0, %v#1, %t, %v#6) : (vector<16xi32>, vector<16xi32>, vector<8xf64>, vector<8xf64>, vector<16xi32>, vector<16xf32>) -> i1
      scf.if %holds {
        %rest = arith.subi %width, %c8 : index
        %sum0 = arith.addi %a#0, %d0 : vector<8xi64>
        %sum1 = arith.addi %b#0, %d1 : vector<8xi64>
        func.call @onnxq_store_group(%scratch, %at, %c8, %sum0, %mn0, %mx0, %rows32) : (memref<?xi32>, index, index, vector<8xi64>, vector<8xf32>, vector<8xf32>, i32) -> ()
        func.call @onnxq_store_group(%scratch, %next, %rest, %sum1, %mn1, %mx1, %rows32) : (memref<?xi32>, index, index, vector<8xi64>, vector<8xf32>, vector<8xf32>, i32) -> ()
      }
      scf.yield %sq#0, %sq#1, %holds, %t : vector<8xi64>, vector<8xi64>, i1, vector<16xi32>
    } else {
      %v:6 = func.call @onnxq_look_eight(%x, %from, %rows, %columns, %width, %shift, %nothing, %a#1, %a#2)
          : (memref<?xf32>, index, index, index, index, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>) -> (vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xf32>, vector<8xf32>, vector<8xi32>)
      %d = func.call @onnxq_in_units(%v#0, %per) : (vector<8xf64>, vector<8xf64>) -> vector<8xi64>
      %sq:2 = func.call @onnxq_squares_of(%v#1, %v#2, %d, %rows) : (vector<8xi64>, vector<8xi64>, vector<8xi64>, index) -> (vector<8xi64>, vector<8xi64>)
      %h:2 = func.call @onnxq_holds(%e, %v#0, %v#3, %v#4, %v#5) : (i32, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) -> (i1, i32)
      scf.if %h#0 {
        %sum = arith.addi %a#0, %d : vector<8xi64>
        func.call @onnxq_store_group(%scratch, %at, %width, %sum, %v#3, %v#4, %rows32) : (memref<?xi32>, index, index, vector<8xi64>, vector<8xf32>, vector<8xf32>, i32) -> ()
      }
      %t = vector.broadcast %h#1 : i32 to vector<16xi32>
      scf.yield %sq#0, %sq#1, %h#0, %t : vector<8xi64>, vector<8xi64>, i1, vector<16xi32>
    }
    %z:4 = scf.if %w#2 -> (vector<8xi64>, vector<8xi64>, vector<16xi32>, i1) {
      %q = arith.addi %q0, %w#0 : vector<8xi64>
      %l = arith.addi %l0, %w#1 : vector<8xi64>
      %t = arith.maxui %top, %w#3 : vector<16xi32>
      scf.yield %q, %l, %t, %clean : vector<8xi64>, vector<8xi64>, vector<16xi32>, i1
    } else {
      %t0:2 = func.call @onnxq_any_channels(%x, %from, %rows, %width, %columns, %channels, %first, %o, %outer, %state, %base, %parts)
          : (memref<?xf32>, index, index, index, index, index, index, index, index, memref<?xi64>, index, index) -> (i32, i1)
      %t1 = vector.broadcast %t0#0 : i32 to vector<16xi32>
      %t = arith.maxui %top, %t1 : vector<16xi32>
      %still = arith.andi %clean, %t0#1 : i1
      scf.yield %q0, %l0, %t, %still : vector<8xi64>, vector<8xi64>, vector<16xi32>, i1
    }
    scf.yield %z#0, %z#1, %z#2, %z#3 : vector<8xi64>, vector<8xi64>, vector<16xi32>, i1
  }
  scf.if %binned {
    %once = arith.constant 1 : i32
    func.call @onnxq_close_places(%ring, %scratch, %c0, %bins, %once) : (memref<64xi64>, memref<?xi32>, index, index, i32) -> ()
  }
  func.call @onnxq_let_wait(%scratch, %upper, %lower, %r#0, %r#1) : (memref<?xi32>, index, index, vector<8xi64>, vector<8xi64>) -> ()
  %largest = vector.reduction <maxui>, %r#2 : vector<16xi32> into i32
  return %largest, %r#3 : i32, i1
}

// Adds `rows` times sixteen neighbours of one channel, at most 2048, to a sum
// and the squares of the record, if they lie within the band of `e`. Tells
// whether, the largest magnitude and the extremes.
func.func private @onnxq_add_likely(%x: memref<?xf32>, %at: index, %rows: index, %e: i32, %state: memref<?xi64>, %base: index, %psum: index) -> (i1, i32, f32, f32) attributes {onnxq.inline} {
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8xf64>
  %inf = arith.constant dense<0x7F800000> : vector<16xf32>
  %ninf = arith.constant dense<0xFF800000> : vector<16xf32>
  %shift = func.call @onnxq_shift(%e) : (i32) -> vector<8xf64>
  %v:7 = func.call @onnxq_look(%x, %at, %rows, %c16, %c16, %shift, %zero, %zero, %inf, %ninf)
      : (memref<?xf32>, index, index, index, index, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<16xf32>, vector<16xf32>) -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
  %bounds:2 = func.call @onnxq_bounds(%e) : (i32) -> (vector<16xi32>, vector<16xi32>)
  %tops = func.call @onnxq_tops(%v#4, %v#5) : (vector<16xf32>, vector<16xf32>) -> vector<16xi32>
  %holds = func.call @onnxq_all_hold(%bounds#0, %bounds#1, %v#0, %v#1, %tops, %v#6) : (vector<16xi32>, vector<16xi32>, vector<8xf64>, vector<8xf64>, vector<16xi32>, vector<16xf32>) -> i1
  %top = vector.reduction <maxui>, %tops : vector<16xi32> into i32
  scf.if %holds {
    %psquares = arith.addi %base, %c9 : index
    %per = func.call @onnxq_per_unit(%e) : (i32) -> vector<8xf64>
    %d0 = func.call @onnxq_in_units(%v#0, %per) : (vector<8xf64>, vector<8xf64>) -> vector<8xi64>
    %d1 = func.call @onnxq_in_units(%v#1, %per) : (vector<8xf64>, vector<8xf64>) -> vector<8xi64>
    %d = arith.addi %d0, %d1 : vector<8xi64>
    %twice = arith.addi %rows, %rows : index
    %sq:2 = func.call @onnxq_squares_of(%v#2, %v#3, %d, %twice) : (vector<8xi64>, vector<8xi64>, vector<8xi64>, index) -> (vector<8xi64>, vector<8xi64>)
    %q = vector.reduction <add>, %sq#0 : vector<8xi64> into i64
    %l = vector.reduction <add>, %sq#1 : vector<8xi64> into i64
    %p:2 = func.call @onnxq_square_steps(%e) : (i32) -> (i64, i64)
    %sum = vector.reduction <add>, %d : vector<8xi64> into i64
    func.call @onnxq_settle_sum(%state, %psum, %sum, %e) : (memref<?xi64>, index, i64, i32) -> ()
    func.call @onnxq_add_integer(%state, %psquares, %q, %p#0) : (memref<?xi64>, index, i64, i64) -> ()
    func.call @onnxq_add_integer(%state, %psquares, %l, %p#1) : (memref<?xi64>, index, i64, i64) -> ()
  }
  %lo = vector.reduction <minnumf>, %v#4 : vector<16xf32> into f32
  %hi = vector.reduction <maxnumf>, %v#5 : vector<16xf32> into f32
  return %holds, %top, %lo, %hi : i1, i32, f32, f32
}
