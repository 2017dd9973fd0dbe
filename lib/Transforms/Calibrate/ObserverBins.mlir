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
  %less = arith.constant dense<-1> : vector<16xi32>
  %place0 = arith.addi %toward, %half : vector<16xi32>
  %place1 = arith.addi %place0, %less : vector<16xi32>
  %place = arith.select %neg, %place1, %place0 : vector<16xi1>, vector<16xi32>
  %bins = arith.addi %half, %half : vector<16xi32>
  %bin = arith.minui %place, %bins : vector<16xi32>
  return %bin : vector<16xi32>
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
// Puts sixteen places at ring[slot].
func.func private @onnxq_put_places(%ring: memref<64xi64>, %slot: index, %places: vector<16xi32>, %bases: vector<8xi64>) attributes {onnxq.inline} {
  %c8 = arith.constant 8 : index
  %two = arith.constant dense<2> : vector<16xi32>
  %bytes = arith.shli %places, %two : vector<16xi32>
  %b0 = vector.extract_strided_slice %bytes {offsets = [0], sizes = [8], strides = [1]} : vector<16xi32> to vector<8xi32>
  %b1 = vector.extract_strided_slice %bytes {offsets = [8], sizes = [8], strides = [1]} : vector<16xi32> to vector<8xi32>
  %w0 = arith.extui %b0 : vector<8xi32> to vector<8xi64>
  %w1 = arith.extui %b1 : vector<8xi32> to vector<8xi64>
  %a0 = arith.addi %w0, %bases : vector<8xi64>
  %a1 = arith.addi %w1, %bases : vector<8xi64>
  %next = arith.addi %slot, %c8 : index
  vector.store %a0, %ring[%slot] : memref<64xi64>, vector<8xi64>
  vector.store %a1, %ring[%next] : memref<64xi64>, vector<8xi64>
  return
}
// Counts the sixteen places at ring[slot].
func.func private @onnxq_count_places(%ring: memref<64xi64>, %slot: index, %scratch: memref<?xi32>, %at: index, %stride: index) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %p0 = arith.addi %slot, %c0 : index
  func.call @onnxq_count_place(%ring, %p0) : (memref<64xi64>, index) -> ()
  %c1 = arith.constant 1 : index
  %p1 = arith.addi %slot, %c1 : index
  func.call @onnxq_count_place(%ring, %p1) : (memref<64xi64>, index) -> ()
  %c2 = arith.constant 2 : index
  %p2 = arith.addi %slot, %c2 : index
  func.call @onnxq_count_place(%ring, %p2) : (memref<64xi64>, index) -> ()
  %c3 = arith.constant 3 : index
  %p3 = arith.addi %slot, %c3 : index
  func.call @onnxq_count_place(%ring, %p3) : (memref<64xi64>, index) -> ()
  %c4 = arith.constant 4 : index
  %p4 = arith.addi %slot, %c4 : index
  func.call @onnxq_count_place(%ring, %p4) : (memref<64xi64>, index) -> ()
  %c5 = arith.constant 5 : index
  %p5 = arith.addi %slot, %c5 : index
  func.call @onnxq_count_place(%ring, %p5) : (memref<64xi64>, index) -> ()
  %c6 = arith.constant 6 : index
  %p6 = arith.addi %slot, %c6 : index
  func.call @onnxq_count_place(%ring, %p6) : (memref<64xi64>, index) -> ()
  %c7 = arith.constant 7 : index
  %p7 = arith.addi %slot, %c7 : index
  func.call @onnxq_count_place(%ring, %p7) : (memref<64xi64>, index) -> ()
  %c8 = arith.constant 8 : index
  %p8 = arith.addi %slot, %c8 : index
  func.call @onnxq_count_place(%ring, %p8) : (memref<64xi64>, index) -> ()
  %c9 = arith.constant 9 : index
  %p9 = arith.addi %slot, %c9 : index
  func.call @onnxq_count_place(%ring, %p9) : (memref<64xi64>, index) -> ()
  %c10 = arith.constant 10 : index
  %p10 = arith.addi %slot, %c10 : index
  func.call @onnxq_count_place(%ring, %p10) : (memref<64xi64>, index) -> ()
  %c11 = arith.constant 11 : index
  %p11 = arith.addi %slot, %c11 : index
  func.call @onnxq_count_place(%ring, %p11) : (memref<64xi64>, index) -> ()
  %c12 = arith.constant 12 : index
  %p12 = arith.addi %slot, %c12 : index
  func.call @onnxq_count_place(%ring, %p12) : (memref<64xi64>, index) -> ()
  %c13 = arith.constant 13 : index
  %p13 = arith.addi %slot, %c13 : index
  func.call @onnxq_count_place(%ring, %p13) : (memref<64xi64>, index) -> ()
  %c14 = arith.constant 14 : index
  %p14 = arith.addi %slot, %c14 : index
  func.call @onnxq_count_place(%ring, %p14) : (memref<64xi64>, index) -> ()
  %c15 = arith.constant 15 : index
  %p15 = arith.addi %slot, %c15 : index
  func.call @onnxq_count_place(%ring, %p15) : (memref<64xi64>, index) -> ()
  return
}
func.func private @onnxq_count_place(%ring: memref<64xi64>, %at: index) attributes {onnxq.inline} {
  %one = arith.constant 1 : i32
  %address = memref.load %ring[%at] : memref<64xi64>
  %place = llvm.inttoptr %address : i64 to !llvm.ptr
  %old = llvm.load %place : !llvm.ptr -> i32
  %new = arith.addi %old, %one : i32
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
  %half32 = arith.index_cast %half : index to i32
  %halfv = vector.broadcast %half32 : i32 to vector<16xi32>
  %scalev = vector.broadcast %scale : f32 to vector<16xf32>
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
    func.call @onnxq_count_places(%ring, %slot, %scratch, %c0, %stride) : (memref<64xi64>, index, memref<?xi32>, index, index) -> ()
    %b = func.call @onnxq_bins_of(%e, %scalev, %halfv) : (vector<16xf32>, vector<16xf32>, vector<16xi32>) -> vector<16xi32>
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
  %half32 = arith.index_cast %half : index to i32
  %halfv = vector.broadcast %half32 : i32 to vector<16xi32>
  %scalev = vector.broadcast %scale : f32 to vector<16xf32>
  scf.for %i = %c0 to %n step %c16 {
    %left = arith.subi %n, %i : index
    %width = arith.minui %left, %c16 : index
    %mask = vector.create_mask %width : vector<16xi1>
    %at = arith.addi %begin, %i : index
    %e = vector.maskedload %x[%at], %mask, %none : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    %b = func.call @onnxq_bins_of(%e, %scalev, %halfv) : (vector<16xf32>, vector<16xf32>, vector<16xi32>) -> vector<16xi32>
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
