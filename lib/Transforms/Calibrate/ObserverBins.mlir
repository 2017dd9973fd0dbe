// What compiled observers call with ObserverIntegers.mlir: histograms of tiles.
//
// A tile is binned while it is added up: counting takes other units of the
// processor than adding. That its numbers fit the histogram's range is known
// only afterwards; a tile that doesn't fit is taken out again, and goes the way
// of ObserverSums.mlir.

// The numbers of sixteen elements' bins, with %half for zero and %below = %half
// - 1 for what is just below it. Of those beyond all ranges, and of what isn't a
// number, 2^31 more.
func.func private @onnxq_number_of(%e: vector<16xf32>, %scale: vector<16xf32>, %half: vector<16xi32>, %below: vector<16xi32>) -> vector<16xi32> attributes {onnxq.inline} {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %none = arith.constant dense<0> : vector<16xi32>
  %all = arith.constant -1 : i16
  %mode = arith.constant 4 : i32
  %scaled = arith.mulf %e, %scale : vector<16xf32>
  %toward = llvm.call_intrinsic "llvm.x86.avx512.mask.cvttps2dq.512"(%scaled, %none, %all, %mode) : (vector<16xf32>, vector<16xi32>, i16, i32) -> vector<16xi32>
  %neg = arith.cmpf olt, %e, %zero : vector<16xf32>
  %middle = arith.select %neg, %below, %half : vector<16xi1>, vector<16xi32>
  %number = arith.addi %toward, %middle : vector<16xi32>
  return %number : vector<16xi32>
}
// %half and %below of so many bins, as two numbers that nothing shows to be
// neighbours: then choosing takes one operation instead of two.
func.func private @onnxq_middles(%bins: index) -> (vector<16xi32>, vector<16xi32>) attributes {onnxq.inline} {
  %one = arith.constant 1 : i32
  %bins32 = arith.index_cast %bins : index to i32
  %last = arith.subi %bins32, %one : i32
  %half0 = arith.shrui %bins32, %one : i32
  %below0 = arith.shrui %last, %one : i32
  %half = vector.broadcast %half0 : i32 to vector<16xi32>
  %below = vector.broadcast %below0 : i32 to vector<16xi32>
  return %half, %below : vector<16xi32>, vector<16xi32>
}

// The places of rows of sixteen elements wait in a ring of four rows: a row's
// are counted when the fourth after it comes, so that no count waits for a
// place. They wait as addresses: a count at an address without an index is two
// operations of the processor instead of four.

// Where four histograms begin, `stride` elements apart from scratch[at] on, for
// each of eight places.
func.func private @onnxq_ring_bases(%scratch: memref<?xi32>, %at: index, %stride: index) -> vector<8xi64> attributes {onnxq.inline} {
  %c4 = arith.constant 4 : index
  %turns = arith.constant dense<[0, 1, 2, 3, 0, 1, 2, 3]> : vector<8xi64>
  %start = memref.extract_aligned_pointer_as_index %scratch : memref<?xi32> -> index
  %skip = arith.muli %at, %c4 : index
  %first = arith.addi %start, %skip : index
  %bytes = arith.muli %stride, %c4 : index
  %first64 = arith.index_cast %first : index to i64
  %bytes64 = arith.index_cast %bytes : index to i64
  %firsts = vector.broadcast %first64 : i64 to vector<8xi64>
  %apart = vector.broadcast %bytes64 : i64 to vector<8xi64>
  %offsets = arith.muli %turns, %apart : vector<8xi64>
  %bases = arith.addi %firsts, %offsets : vector<8xi64>
  return %bases : vector<8xi64>
}
// Puts sixteen places at ring[slot], those at even numbers first. A place times
// four is one operation either way: a shift leaves nothing of its neighbour, and
// a product by what nothing shows to be four takes the lower half.
func.func private @onnxq_put_places(%ring: memref<64xi64>, %slot: index, %places: vector<16xi32>, %bases: vector<8xi64>) attributes {onnxq.inline} {
  %c8 = arith.constant 8 : index
  %i4 = arith.constant dense<4> : vector<8xi64>
  %i30 = arith.constant dense<30> : vector<8xi64>
  %i62 = arith.constant dense<62> : vector<8xi64>
  %low = arith.constant dense<4294967295> : vector<8xi64>
  // No address has bits that high.
  %none = arith.shrui %bases, %i62 : vector<8xi64>
  %four = arith.addi %none, %i4 : vector<8xi64>
  %both = vector.bitcast %places : vector<16xi32> to vector<8xi64>
  %even = arith.andi %both, %low : vector<8xi64>
  %b0 = arith.muli %even, %four : vector<8xi64>
  %b1 = arith.shrui %both, %i30 : vector<8xi64>
  %a0 = arith.addi %b0, %bases : vector<8xi64>
  %a1 = arith.addi %b1, %bases : vector<8xi64>
  %next = arith.addi %slot, %c8 : index
  vector.store %a0, %ring[%slot] : memref<64xi64>, vector<8xi64>
  vector.store %a1, %ring[%next] : memref<64xi64>, vector<8xi64>
  return
}
// Adds `by` to the counts of the sixteen places at ring[slot]. An addition of a
// register takes two operations, that of a constant 1 three.
func.func private @onnxq_count_places(%ring: memref<64xi64>, %slot: index, %scratch: memref<?xi32>, %at: index, %stride: index, %by: i32) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %p0 = arith.addi %slot, %c0 : index
  func.call @onnxq_count_place(%ring, %p0, %by) : (memref<64xi64>, index, i32) -> ()
  %c1 = arith.constant 1 : index
  %p1 = arith.addi %slot, %c1 : index
  func.call @onnxq_count_place(%ring, %p1, %by) : (memref<64xi64>, index, i32) -> ()
  %c2 = arith.constant 2 : index
  %p2 = arith.addi %slot, %c2 : index
  func.call @onnxq_count_place(%ring, %p2, %by) : (memref<64xi64>, index, i32) -> ()
  %c3 = arith.constant 3 : index
  %p3 = arith.addi %slot, %c3 : index
  func.call @onnxq_count_place(%ring, %p3, %by) : (memref<64xi64>, index, i32) -> ()
  %c4 = arith.constant 4 : index
  %p4 = arith.addi %slot, %c4 : index
  func.call @onnxq_count_place(%ring, %p4, %by) : (memref<64xi64>, index, i32) -> ()
  %c5 = arith.constant 5 : index
  %p5 = arith.addi %slot, %c5 : index
  func.call @onnxq_count_place(%ring, %p5, %by) : (memref<64xi64>, index, i32) -> ()
  %c6 = arith.constant 6 : index
  %p6 = arith.addi %slot, %c6 : index
  func.call @onnxq_count_place(%ring, %p6, %by) : (memref<64xi64>, index, i32) -> ()
  %c7 = arith.constant 7 : index
  %p7 = arith.addi %slot, %c7 : index
  func.call @onnxq_count_place(%ring, %p7, %by) : (memref<64xi64>, index, i32) -> ()
  %c8 = arith.constant 8 : index
  %p8 = arith.addi %slot, %c8 : index
  func.call @onnxq_count_place(%ring, %p8, %by) : (memref<64xi64>, index, i32) -> ()
  %c9 = arith.constant 9 : index
  %p9 = arith.addi %slot, %c9 : index
  func.call @onnxq_count_place(%ring, %p9, %by) : (memref<64xi64>, index, i32) -> ()
  %c10 = arith.constant 10 : index
  %p10 = arith.addi %slot, %c10 : index
  func.call @onnxq_count_place(%ring, %p10, %by) : (memref<64xi64>, index, i32) -> ()
  %c11 = arith.constant 11 : index
  %p11 = arith.addi %slot, %c11 : index
  func.call @onnxq_count_place(%ring, %p11, %by) : (memref<64xi64>, index, i32) -> ()
  %c12 = arith.constant 12 : index
  %p12 = arith.addi %slot, %c12 : index
  func.call @onnxq_count_place(%ring, %p12, %by) : (memref<64xi64>, index, i32) -> ()
  %c13 = arith.constant 13 : index
  %p13 = arith.addi %slot, %c13 : index
  func.call @onnxq_count_place(%ring, %p13, %by) : (memref<64xi64>, index, i32) -> ()
  %c14 = arith.constant 14 : index
  %p14 = arith.addi %slot, %c14 : index
  func.call @onnxq_count_place(%ring, %p14, %by) : (memref<64xi64>, index, i32) -> ()
  %c15 = arith.constant 15 : index
  %p15 = arith.addi %slot, %c15 : index
  func.call @onnxq_count_place(%ring, %p15, %by) : (memref<64xi64>, index, i32) -> ()
  return
}
func.func private @onnxq_count_place(%ring: memref<64xi64>, %at: index, %by: i32) attributes {onnxq.inline} {
  %address = memref.load %ring[%at] : memref<64xi64>
  %place = llvm.inttoptr %address : i64 to !llvm.ptr
  %old = llvm.load %place : !llvm.ptr -> i32
  %new = arith.addi %old, %by : i32
  llvm.store %new, %place : i32, !llvm.ptr
  return
}

// Adds rows of sixteen lanes to sums, as onnxq_look, and to the histogram, whose
// places are in a ring that is open.
func.func private @onnxq_look_and_bin(%x: memref<?xf32>, %begin: index, %rows: index, %step: index, %shift: vector<8xf64>, %s0: vector<8xf64>, %s1: vector<8xf64>, %mn0: vector<16xf32>, %mx0: vector<16xf32>, %scratch: memref<?xi32>, %half: index, %scale: f32, %ring: memref<64xi64>)
    -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %zero = arith.constant dense<0> : vector<8xi64>
  %most = arith.constant dense<0x7F800000> : vector<16xf32>
  %bins = arith.muli %half, %c2 : index
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %bases = func.call @onnxq_ring_bases(%scratch, %c0, %stride) : (memref<?xi32>, index, index) -> vector<8xi64>
  %bins32 = arith.index_cast %bins : index to i32
  %nowhere = vector.broadcast %bins32 : i32 to vector<16xi32>
  %middle:2 = func.call @onnxq_middles(%bins) : (index) -> (vector<16xi32>, vector<16xi32>)
  %scalev = vector.broadcast %scale : f32 to vector<16xf32>
  %one = arith.minui %rows, %c1 : index
  %by = arith.index_cast %one : index to i32
  %tile = arith.muli %rows, %step : index
  %r:9 = scf.for %i = %c0 to %rows step %c1 iter_args(%t0 = %s0, %t1 = %s1, %q0 = %zero, %q1 = %zero, %l0 = %zero, %l1 = %zero, %mn = %mn0, %mx = %mx0, %nz = %most)
      -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
    %o = arith.muli %i, %step : index
    %at = arith.addi %begin, %o : index
    %e = vector.load %x[%at] : memref<?xf32>, vector<16xf32>
    %ahead = arith.addi %at, %tile : index
    memref.prefetch %x[%ahead], read, locality<2>, data : memref<?xf32>
    %i16 = arith.muli %i, %c16 : index
    %slot = arith.andi %i16, %c48 : index
    func.call @onnxq_count_places(%ring, %slot, %scratch, %c0, %stride, %by) : (memref<64xi64>, index, memref<?xi32>, index, index, i32) -> ()
    %number = func.call @onnxq_number_of(%e, %scalev, %middle#0, %middle#1) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
    // What doesn't fit goes to the bin behind the last.
    %b = arith.minui %number, %nowhere : vector<16xi32>
    func.call @onnxq_put_places(%ring, %slot, %b, %bases) : (memref<64xi64>, index, vector<16xi32>, vector<8xi64>) -> ()
    %w:9 = func.call @onnxq_add_sixteen(%e, %shift, %t0, %t1, %q0, %q1, %l0, %l1, %mn, %mx, %nz)
        : (vector<16xf32>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> (vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
    scf.yield %w#0, %w#1, %w#2, %w#3, %w#4, %w#5, %w#6, %w#7, %w#8 : vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>
  }
  %q = arith.addi %r#2, %r#3 : vector<8xi64>
  %l = arith.addi %r#4, %r#5 : vector<8xi64>
  return %r#0, %r#1, %q, %l, %r#6, %r#7, %r#8 : vector<8xf64>, vector<8xf64>, vector<8xi64>, vector<8xi64>, vector<16xf32>, vector<16xf32>, vector<16xf32>
}

// Takes the `n` elements from x[begin] on out of the histogram.
func.func private @onnxq_unbin(%x: memref<?xf32>, %begin: index, %n: index, %scratch: memref<?xi32>, %half: index, %scale: f32) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : vector<16xf32>
  %places = memref.alloca() {alignment = 64 : i64} : memref<16xi32>
  %bins = arith.addi %half, %half : index
  %bins32 = arith.index_cast %bins : index to i32
  %nowhere = vector.broadcast %bins32 : i32 to vector<16xi32>
  %middle:2 = func.call @onnxq_middles(%bins) : (index) -> (vector<16xi32>, vector<16xi32>)
  %scalev = vector.broadcast %scale : f32 to vector<16xf32>
  scf.for %i = %c0 to %n step %c16 {
    %left = arith.subi %n, %i : index
    %width = arith.minui %left, %c16 : index
    %mask = vector.create_mask %width : vector<16xi1>
    %at = arith.addi %begin, %i : index
    %e = vector.maskedload %x[%at], %mask, %none : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    %number = func.call @onnxq_number_of(%e, %scalev, %middle#0, %middle#1) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
    %b = arith.minui %number, %nowhere : vector<16xi32>
    vector.store %b, %places[%c0] : memref<16xi32>, vector<16xi32>
    scf.for %c = %c0 to %width step %c1 {
      %place = memref.load %places[%c] : memref<16xi32>
      %bin = arith.index_castui %place : i32 to index
      %old = memref.load %scratch[%bin] : memref<?xi32>
      %new = arith.subi %old, %one : i32
      memref.store %new, %scratch[%bin] : memref<?xi32>
    }
  }
  return
}

// Whether the third member's bounds do nothing and no member falls.
func.func private @onnxq_is_straight(%l2: f32, %u2: f32, %turn1: i32, %turn2: i32) -> i1 attributes {onnxq.inline} {
  %i0 = arith.constant 0 : i32
  %least = arith.constant 0xFF7FFFFF : f32
  %most = arith.constant 0x7F7FFFFF : f32
  %turns = arith.ori %turn1, %turn2 : i32
  %ok0 = arith.cmpf ole, %l2, %least : f32
  %ok1 = arith.cmpf oge, %u2, %most : f32
  %ok2 = arith.cmpi eq, %turns, %i0 : i32
  %ok3 = arith.andi %ok0, %ok1 : i1
  %ok = arith.andi %ok2, %ok3 : i1
  return %ok : i1
}

// The cells of sixteen elements of a family whose third member has no bounds and
// none of which falls.
func.func private @onnxq_straight_cells(%e: vector<16xf32>, %a1: vector<16xf32>, %b1: vector<16xf32>, %l1: vector<16xf32>, %u1: vector<16xf32>, %a2: vector<16xf32>, %b2: vector<16xf32>, %scale0: vector<16xf32>, %scale1: vector<16xf32>, %scale2: vector<16xf32>, %half: vector<16xi32>, %below: vector<16xi32>, %nowhere: vector<16xi32>) -> vector<16xi32> attributes {onnxq.inline} {
  %y = func.call @onnxq_make_next(%e, %a1, %b1, %l1, %u1) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  %z0 = arith.mulf %y, %a2 : vector<16xf32>
  %z = arith.addf %z0, %b2 : vector<16xf32>
  %n0 = func.call @onnxq_number_of(%e, %scale0, %half, %below) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %n1 = func.call @onnxq_number_of(%y, %scale1, %half, %below) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %n2 = func.call @onnxq_number_of(%z, %scale2, %half, %below) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %n01 = arith.addi %n0, %n1 : vector<16xi32>
  %sum = arith.addi %n01, %n2 : vector<16xi32>
  %cell = arith.minui %sum, %nowhere : vector<16xi32>
  return %cell : vector<16xi32>
}

// Adds `by` to the cells of the `n` elements from x[begin] on, if the family is
// such a one: then it has been tried, whatever they are. Gives their extremes and
// the largest magnitude, as onnxq_extent does.
func.func private @onnxq_try_family(%x: memref<?xf32>, %begin: index, %n: index, %state: memref<?xi64>, %bins: index, %scratch: memref<?xi32>, %by: i32) -> (f32, f32, i32, i1) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %true = arith.constant true
  %infinity = arith.constant 2139095040 : i32
  %no = arith.constant dense<false> : vector<16xi1>
  %inf = arith.constant dense<0x7F800000> : vector<16xf32>
  %ninf = arith.constant dense<0xFF800000> : vector<16xf32>
  %p:3 = func.call @onnxq_family_places(%bins) : (index) -> (index, index, index)
  %m:10 = func.call @onnxq_member(%scratch, %bins, %c2) : (memref<?xi32>, index, index) -> (index, index, f32, f32, f32, f32, f32, f32, f32, f32)
  %s0:2 = func.call @onnxq_member_bins(%scratch, %state, %bins, %c0) : (memref<?xi32>, memref<?xi64>, index, index) -> (f32, i32)
  %s1:2 = func.call @onnxq_member_bins(%scratch, %state, %bins, %c1) : (memref<?xi32>, memref<?xi64>, index, index) -> (f32, i32)
  %s2:2 = func.call @onnxq_member_bins(%scratch, %state, %bins, %c2) : (memref<?xi32>, memref<?xi64>, index, index) -> (f32, i32)
  %straight = func.call @onnxq_is_straight(%m#8, %m#9, %s1#1, %s2#1) : (f32, f32, i32, i32) -> i1
  %r:4 = scf.if %straight -> (f32, f32, i32, i1) {
    %stride = func.call @onnxq_stride(%p#2) : (index) -> index
    %bases = func.call @onnxq_ring_bases(%scratch, %p#1, %stride) : (memref<?xi32>, index, index) -> vector<8xi64>
    %a1 = vector.broadcast %m#2 : f32 to vector<16xf32>
    %b1 = vector.broadcast %m#3 : f32 to vector<16xf32>
    %l1 = vector.broadcast %m#4 : f32 to vector<16xf32>
    %u1 = vector.broadcast %m#5 : f32 to vector<16xf32>
    %a2 = vector.broadcast %m#6 : f32 to vector<16xf32>
    %b2 = vector.broadcast %m#7 : f32 to vector<16xf32>
    %scale0 = vector.broadcast %s0#0 : f32 to vector<16xf32>
    %scale1 = vector.broadcast %s1#0 : f32 to vector<16xf32>
    %scale2 = vector.broadcast %s2#0 : f32 to vector<16xf32>
    %middle:2 = func.call @onnxq_middles(%bins) : (index) -> (vector<16xi32>, vector<16xi32>)
    %count32 = arith.index_cast %p#2 : index to i32
    %nowhere = vector.broadcast %count32 : i32 to vector<16xi32>
    %zeros = func.call @onnxq_straight_cells(%zero, %a1, %b1, %l1, %u1, %a2, %b2, %scale0, %scale1, %scale2, %middle#0, %middle#1, %nowhere) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
    %zeros32 = vector.extract %zeros[0] : i32 from vector<16xi32>
    %zeros1 = arith.index_cast %zeros32 : i32 to index
    %hot = arith.addi %p#1, %zeros1 : index
    %room = memref.alloca() {alignment = 64 : i64} : memref<4608xi8>
    %ring = func.call @onnxq_ring_in(%room, %scratch, %hot) : (memref<4608xi8>, memref<?xi32>, index) -> memref<64xi64>
    func.call @onnxq_open_places(%ring, %scratch, %p#1, %p#2) : (memref<64xi64>, memref<?xi32>, index, index) -> ()
    %rest = arith.remui %n, %c16 : index
    %main = arith.subi %n, %rest : index
    %v:3 = scf.for %i = %c0 to %main step %c16 iter_args(%mn = %inf, %mx = %ninf, %odd = %no) -> (vector<16xf32>, vector<16xf32>, vector<16xi1>) {
      %slot = arith.andi %i, %c48 : index
      %at = arith.addi %begin, %i : index
      %e = vector.load %x[%at] : memref<?xf32>, vector<16xf32>
      func.call @onnxq_count_places(%ring, %slot, %scratch, %p#1, %stride, %by) : (memref<64xi64>, index, memref<?xi32>, index, index, i32) -> ()
      %cell = func.call @onnxq_straight_cells(%e, %a1, %b1, %l1, %u1, %a2, %b2, %scale0, %scale1, %scale2, %middle#0, %middle#1, %nowhere) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
      func.call @onnxq_put_places(%ring, %slot, %cell, %bases) : (memref<64xi64>, index, vector<16xi32>, vector<8xi64>) -> ()
      %less = arith.cmpf olt, %e, %mn : vector<16xf32>
      %mn2 = arith.select %less, %e, %mn : vector<16xi1>, vector<16xf32>
      %more = arith.cmpf ogt, %e, %mx : vector<16xf32>
      %mx2 = arith.select %more, %e, %mx : vector<16xi1>, vector<16xf32>
      %nan = arith.cmpf uno, %e, %e : vector<16xf32>
      %odd2 = arith.ori %odd, %nan : vector<16xi1>
      scf.yield %mn2, %mx2, %odd2 : vector<16xf32>, vector<16xf32>, vector<16xi1>
    }
    func.call @onnxq_close_places(%ring, %scratch, %p#1, %p#2, %by) : (memref<64xi64>, memref<?xi32>, index, index, i32) -> ()
    // What is left, filled up with the first element, which has no cell there.
    %one = memref.load %x[%begin] : memref<?xf32>
    %fill = vector.broadcast %one : f32 to vector<16xf32>
    %mask = vector.create_mask %rest : vector<16xi1>
    %last = arith.addi %begin, %main : index
    %e = vector.maskedload %x[%last], %mask, %fill : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    %some = func.call @onnxq_straight_cells(%e, %a1, %b1, %l1, %u1, %a2, %b2, %scale0, %scale1, %scale2, %middle#0, %middle#1, %nowhere) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
    %cell = arith.select %mask, %some, %nowhere : vector<16xi1>, vector<16xi32>
    func.call @onnxq_put_places(%ring, %c0, %cell, %bases) : (memref<64xi64>, index, vector<16xi32>, vector<8xi64>) -> ()
    func.call @onnxq_count_places(%ring, %c0, %scratch, %p#1, %stride, %by) : (memref<64xi64>, index, memref<?xi32>, index, index, i32) -> ()
    %less = arith.cmpf olt, %e, %v#0 : vector<16xf32>
    %mn = arith.select %less, %e, %v#0 : vector<16xi1>, vector<16xf32>
    %more = arith.cmpf ogt, %e, %v#1 : vector<16xf32>
    %mx = arith.select %more, %e, %v#1 : vector<16xi1>, vector<16xf32>
    %nan = arith.cmpf uno, %e, %e : vector<16xf32>
    %odd = arith.ori %v#2, %nan : vector<16xi1>
    %isodd = vector.reduction <or>, %odd : vector<16xi1> into i1
    %tops = func.call @onnxq_tops(%mn, %mx) : (vector<16xf32>, vector<16xf32>) -> vector<16xi32>
    %top0 = vector.reduction <maxui>, %tops : vector<16xi32> into i32
    %top = arith.select %isodd, %infinity, %top0 : i32
    %lo = vector.reduction <minnumf>, %mn : vector<16xf32> into f32
    %hi = vector.reduction <maxnumf>, %mx : vector<16xf32> into f32
    scf.yield %lo, %hi, %top, %true : f32, f32, i32, i1
  } else {
    %false = arith.constant false
    %s:3 = func.call @onnxq_extent(%x, %begin, %n) : (memref<?xf32>, index, index) -> (f32, f32, i32)
    scf.yield %s#0, %s#1, %s#2, %false : f32, f32, i32, i1
  }
  return %r#0, %r#1, %r#2, %r#3 : f32, f32, i32, i1
}

// Whether onnxq_add_groups counts a tile: channels are rows of sixteen lanes,
// and have room in scratch memory.
func.func private @onnxq_counts_tile(%channels: index, %groups: index) -> i1 attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %rest = arith.remui %channels, %c16 : index
  %whole = arith.cmpi eq, %rest, %c0 : index
  %room = arith.cmpi ne, %groups, %c0 : index
  %counts = arith.andi %whole, %room : i1
  return %counts : i1
}

// Ends to add a tile to the histogram, which may have been counted by
// onnxq_add_groups in the range that the record had.
func.func private @onnxq_bin_tile(%x: memref<?xf32>, %begin: index, %n: index, %channels: index, %groups: index, %top: i32, %clean: i1, %state: memref<?xi64>, %exponent: index, %hist: index, %half: index, %scratch: memref<?xi32>) attributes {onnxq.inline} {
  %i23 = arith.constant 23 : i32
  %i126 = arith.constant 126 : i64
  %true = arith.constant true
  %range = memref.load %state[%exponent] : memref<?xi64>
  %e0 = arith.shrui %top, %i23 : i32
  %e1 = arith.extui %e0 : i32 to i64
  %e = arith.subi %e1, %i126 : i64
  %fits = arith.cmpi sle, %e, %range : i64
  %counted = func.call @onnxq_counts_tile(%channels, %groups) : (index, index) -> i1
  %good = arith.andi %fits, %clean : i1
  %done = arith.andi %good, %counted : i1
  %again = arith.xori %done, %true : i1
  scf.if %again {
    scf.if %counted {
      %scale = func.call @onnxq_scale(%half, %range) : (index, i64) -> f32
      func.call @onnxq_unbin(%x, %begin, %n, %scratch, %half, %scale) : (memref<?xf32>, index, index, memref<?xi32>, index, f32) -> ()
    }
    func.call @onnxq_distribute(%x, %begin, %n, %top, %clean, %state, %exponent, %hist, %half, %scratch) : (memref<?xf32>, index, index, i32, i1, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
  }
  return
}
