// What compiled observers call with ObserverIntegers.mlir: histograms of tiles.
//
// A tile is binned while it is added up: counting takes other units of the
// processor than adding. That its numbers fit the histogram's range is known
// only afterwards; a tile that doesn't fit is taken out again, and goes the way
// of ObserverSums.mlir.

// The bins of sixteen elements. Those beyond the range, and what isn't a
// number, go to the bin behind the last.
func.func private @onnxq_bins_of(%e: vector<16xf32>, %scale: vector<16xf32>, %half: vector<16xi32>) -> vector<16xi32> attributes {onnxq.inline} {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %none = arith.constant dense<0> : vector<16xi32>
  %all = arith.constant -1 : i16
  %mode = arith.constant 4 : i32
  %scaled = arith.mulf %e, %scale : vector<16xf32>
  %toward = llvm.call_intrinsic "llvm.x86.avx512.mask.cvttps2dq.512"(%scaled, %none, %all, %mode) : (vector<16xf32>, vector<16xi32>, i16, i32) -> vector<16xi32>
  %neg = arith.cmpf olt, %e, %zero : vector<16xf32>
  %one = arith.extsi %neg : vector<16xi1> to vector<16xi32>
  %place0 = arith.addi %toward, %half : vector<16xi32>
  %place = arith.addi %place0, %one : vector<16xi32>
  %bins = arith.addi %half, %half : vector<16xi32>
  %bin = arith.minui %place, %bins : vector<16xi32>
  return %bin : vector<16xi32>
}

// Adds `by` to the bins of sixteen elements, from places[at] on; or of the
// first eight of them.
func.func private @onnxq_count_sixteen(%places: memref<32xi32>, %at: index, %scratch: memref<?xi32>, %stride: index, %by: i32) attributes {onnxq.inline} {
  %c8 = arith.constant 8 : index
  %next = arith.addi %at, %c8 : index
  func.call @onnxq_count_eight(%places, %at, %scratch, %stride, %by) : (memref<32xi32>, index, memref<?xi32>, index, i32) -> ()
  func.call @onnxq_count_eight(%places, %next, %scratch, %stride, %by) : (memref<32xi32>, index, memref<?xi32>, index, i32) -> ()
  return
}
func.func private @onnxq_count_eight(%places: memref<32xi32>, %at: index, %scratch: memref<?xi32>, %stride: index, %by: i32) attributes {onnxq.inline} {
  %c4 = arith.constant 4 : index
  %next = arith.addi %at, %c4 : index
  func.call @onnxq_count_four(%places, %at, %scratch, %stride, %by) : (memref<32xi32>, index, memref<?xi32>, index, i32) -> ()
  func.call @onnxq_count_four(%places, %next, %scratch, %stride, %by) : (memref<32xi32>, index, memref<?xi32>, index, i32) -> ()
  return
}
func.func private @onnxq_count_four(%places: memref<32xi32>, %at: index, %scratch: memref<?xi32>, %stride: index, %by: i32) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %stride2 = arith.muli %stride, %c2 : index
  %stride3 = arith.muli %stride, %c3 : index
  %a1 = arith.addi %at, %c1 : index
  %a2 = arith.addi %at, %c2 : index
  %a3 = arith.addi %at, %c3 : index
  %p0 = memref.load %places[%at] : memref<32xi32>
  %p1 = memref.load %places[%a1] : memref<32xi32>
  %p2 = memref.load %places[%a2] : memref<32xi32>
  %p3 = memref.load %places[%a3] : memref<32xi32>
  func.call @onnxq_bump_by(%scratch, %c0, %p0, %by) : (memref<?xi32>, index, i32, i32) -> ()
  func.call @onnxq_bump_by(%scratch, %stride, %p1, %by) : (memref<?xi32>, index, i32, i32) -> ()
  func.call @onnxq_bump_by(%scratch, %stride2, %p2, %by) : (memref<?xi32>, index, i32, i32) -> ()
  func.call @onnxq_bump_by(%scratch, %stride3, %p3, %by) : (memref<?xi32>, index, i32, i32) -> ()
  return
}
func.func private @onnxq_bump_by(%scratch: memref<?xi32>, %base: index, %bin: i32, %by: i32) attributes {onnxq.inline} {
  %i = arith.index_castui %bin : i32 to index
  %at = arith.addi %base, %i : index
  %old = memref.load %scratch[%at] : memref<?xi32>
  %new = arith.addi %old, %by : i32
  memref.store %new, %scratch[%at] : memref<?xi32>
  return
}

// Adds rows of sixteen lanes to sums, as onnxq_look, and to the histogram: the
// bins of a row are counted while the next is added up.
func.func private @onnxq_look_and_bin(%x: memref<?xf32>, %begin: index, %rows: index, %step: index, %shift: vector<8xf64>, %s0: vector<8xf64>, %s1: vector<8xf64>, %mn0: vector<16xf32>, %mx0: vector<16xf32>, %scratch: memref<?xi32>, %half: index, %scale: f32, %places: memref<32xi32>)
    -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0> : vector<8xi64>
  %most = arith.constant dense<0x7F800000> : vector<16xf32>
  %bins = arith.muli %half, %c2 : index
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %half32 = arith.index_cast %half : index to i32
  %bins32 = arith.index_cast %bins : index to i32
  %halfv = vector.broadcast %half32 : i32 to vector<16xi32>
  %scalev = vector.broadcast %scale : f32 to vector<16xf32>
  %nowhere = vector.broadcast %bins32 : i32 to vector<16xi32>
  vector.store %nowhere, %places[%c16] : memref<32xi32>, vector<16xi32>
  %tile = arith.muli %rows, %step : index
  %by = arith.constant 1 : i32
  %r:9 = scf.for %i = %c0 to %rows step %c1 iter_args(%t0 = %s0, %t1 = %s1, %q0 = %zero, %q1 = %zero, %l0 = %zero, %l1 = %zero, %mn = %mn0, %mx = %mx0, %nz = %most)
      -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
    %o = arith.muli %i, %step : index
    %at = arith.addi %begin, %o : index
    %e = vector.load %x[%at] : memref<?xf32>, vector<16xf32>
    %ahead = arith.addi %at, %tile : index
    memref.prefetch %x[%ahead], read, locality<2>, data : memref<?xf32>
    %b = func.call @onnxq_bins_of(%e, %scalev, %halfv) : (vector<16xf32>, vector<16xf32>, vector<16xi32>) -> vector<16xi32>
    %odd = arith.andi %i, %c1 : index
    %even = arith.subi %c1, %odd : index
    %now = arith.muli %odd, %c16 : index
    %before = arith.muli %even, %c16 : index
    vector.store %b, %places[%now] : memref<32xi32>, vector<16xi32>
    func.call @onnxq_count_sixteen(%places, %before, %scratch, %stride, %by) : (memref<32xi32>, index, memref<?xi32>, index, i32) -> ()
    %w:9 = func.call @onnxq_add_sixteen(%e, %shift, %t0, %t1, %q0, %q1, %l0, %l1, %mn, %mx, %nz)
        : (vector<16xf32>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
    scf.yield %w#0, %w#1, %w#2, %w#3, %w#4, %w#5, %w#6, %w#7, %w#8 : vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>
  }
  %odd = arith.andi %rows, %c1 : index
  %even = arith.subi %c1, %odd : index
  %last = arith.muli %even, %c16 : index
  func.call @onnxq_count_sixteen(%places, %last, %scratch, %stride, %by) : (memref<32xi32>, index, memref<?xi32>, index, i32) -> ()
  %q = arith.addi %r#2, %r#3 : vector<8xi64>
  %l = arith.addi %r#4, %r#5 : vector<8xi64>
  return %r#0, %r#1, %q, %l, %r#6, %r#7, %r#8 : vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>
}

// Adds `by` to the bins of rows of up to sixteen lanes, `step` elements apart.
func.func private @onnxq_bin_lanes(%x: memref<?xf32>, %begin: index, %rows: index, %step: index, %width: index, %scratch: memref<?xi32>, %half: index, %scale: f32, %by: i32) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %wide = arith.cmpi ugt, %width, %c8 : index
  %none = arith.constant dense<0.0> : vector<16xf32>
  %mask = vector.create_mask %width : vector<16xi1>
  %places = memref.alloca() {alignment = 64 : i64} : memref<32xi32>
  %bins = arith.muli %half, %c2 : index
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %half32 = arith.index_cast %half : index to i32
  %bins32 = arith.index_cast %bins : index to i32
  %halfv = vector.broadcast %half32 : i32 to vector<16xi32>
  %scalev = vector.broadcast %scale : f32 to vector<16xf32>
  %nowhere = vector.broadcast %bins32 : i32 to vector<16xi32>
  vector.store %nowhere, %places[%c16] : memref<32xi32>, vector<16xi32>
  scf.for %i = %c0 to %rows step %c1 {
    %o = arith.muli %i, %step : index
    %at = arith.addi %begin, %o : index
    %e = vector.maskedload %x[%at], %mask, %none : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    %b0 = func.call @onnxq_bins_of(%e, %scalev, %halfv) : (vector<16xf32>, vector<16xf32>, vector<16xi32>) -> vector<16xi32>
    %b = arith.select %mask, %b0, %nowhere : vector<16xi1>, vector<16xi32>
    %odd = arith.andi %i, %c1 : index
    %even = arith.subi %c1, %odd : index
    %now = arith.muli %odd, %c16 : index
    %before = arith.muli %even, %c16 : index
    vector.store %b, %places[%now] : memref<32xi32>, vector<16xi32>
    func.call @onnxq_count_eight(%places, %before, %scratch, %stride, %by) : (memref<32xi32>, index, memref<?xi32>, index, i32) -> ()
    scf.if %wide {
      %next = arith.addi %before, %c8 : index
      func.call @onnxq_count_eight(%places, %next, %scratch, %stride, %by) : (memref<32xi32>, index, memref<?xi32>, index, i32) -> ()
    }
  }
  %odd = arith.andi %rows, %c1 : index
  %even = arith.subi %c1, %odd : index
  %last = arith.muli %even, %c16 : index
  func.call @onnxq_count_sixteen(%places, %last, %scratch, %stride, %by) : (memref<32xi32>, index, memref<?xi32>, index, i32) -> ()
  return
}

// Ends to add a tile to the histogram: all but what has no room in scratch
// memory was counted by onnxq_add_groups, in the range that the record had.
func.func private @onnxq_bin_tile(%x: memref<?xf32>, %begin: index, %n: index, %channels: index, %groups: index, %top: i32, %clean: i1, %state: memref<?xi64>, %exponent: index, %hist: index, %half: index, %scratch: memref<?xi32>) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %i23 = arith.constant 23 : i32
  %less = arith.constant -1 : i32
  %i126 = arith.constant 126 : i64
  %true = arith.constant true
  %range = memref.load %state[%exponent] : memref<?xi64>
  %e0 = arith.shrui %top, %i23 : i32
  %e1 = arith.extui %e0 : i32 to i64
  %e = arith.subi %e1, %i126 : i64
  %fits = arith.cmpi sle, %e, %range : i64
  %counted = arith.cmpi ne, %groups, %c0 : index
  %good = arith.andi %fits, %clean : i1
  %done = arith.andi %good, %counted : i1
  %again = arith.xori %done, %true : i1
  scf.if %again {
    scf.if %counted {
      %scale = func.call @onnxq_scale(%half, %range) : (index, i64) -> f32
      %rest = arith.remui %n, %c16 : index
      %rows = arith.divui %n, %c16 : index
      %main = arith.subi %n, %rest : index
      %last = arith.addi %begin, %main : index
      func.call @onnxq_bin_lanes(%x, %begin, %rows, %c16, %c16, %scratch, %half, %scale, %less) : (memref<?xf32>, index, index, index, index, memref<?xi32>, index, f32, i32) -> ()
      func.call @onnxq_bin_lanes(%x, %last, %c1, %c16, %rest, %scratch, %half, %scale, %less) : (memref<?xf32>, index, index, index, index, memref<?xi32>, index, f32, i32) -> ()
    }
    func.call @onnxq_distribute(%x, %begin, %n, %top, %clean, %state, %exponent, %hist, %half, %scratch) : (memref<?xf32>, index, index, i32, i1, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
  }
  return
}
