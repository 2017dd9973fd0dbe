// What compiled observers call with ObserverDoubles.mlir: histograms of tiles.
//
// A tile is binned while it is added up: counting takes other units of the
// processor than adding.
//
// That the numbers fit the histogram's range is known only afterwards: those
// beyond go to the outermost bins. A tile that doesn't fit is taken out again,
// and goes the way of ObserverSums.mlir.

// The largest float below 2^e, by its bits.
func.func private @onnxq_last_below(%e: i64) -> i32 attributes {onnxq.inline} {
  %i1 = arith.constant 1 : i64
  %i23 = arith.constant 23 : i64
  %i127 = arith.constant 127 : i64
  %b0 = arith.addi %e, %i127 : i64
  %b1 = arith.shli %b0, %i23 : i64
  %b2 = arith.subi %b1, %i1 : i64
  %bits = arith.trunci %b2 : i64 to i32
  return %bits : i32
}

// The places of eight elements, which are those of onnxq_bin where they are
// within the range.
func.func private @onnxq_places_of(%e: vector<8xf32>, %scale: vector<8xf32>, %last: vector<8xi32>, %half: vector<8xi32>) -> vector<8xi32> attributes {onnxq.inline} {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %magnitude = arith.constant dense<2147483647> : vector<8xi32>
  %bits = arith.bitcast %e : vector<8xf32> to vector<8xi32>
  %a0 = arith.andi %bits, %magnitude : vector<8xi32>
  %a1 = arith.minui %a0, %last : vector<8xi32>
  %a = arith.bitcast %a1 : vector<8xi32> to vector<8xf32>
  %scaled = arith.mulf %a, %scale : vector<8xf32>
  %k = arith.fptosi %scaled : vector<8xf32> to vector<8xi32>
  %neg = arith.cmpf olt, %e, %zero : vector<8xf32>
  // k ^ -1 is -1 - k.
  %flip = arith.extsi %neg : vector<8xi1> to vector<8xi32>
  %side = arith.xori %k, %flip : vector<8xi32>
  %place = arith.addi %side, %half : vector<8xi32>
  return %place : vector<8xi32>
}

// Adds rows of eight lanes to sums, as onnxq_look, and their places to the
// ring.
func.func private @onnxq_look_and_bin(%x: memref<?xf32>, %begin: index, %rows: index, %step: index, %s0: vector<8xf64>, %q0: vector<8xf64>, %l0: vector<8xf64>, %mn0: vector<8xf32>, %mx0: vector<8xf32>, %scratch: memref<?xi32>, %bins: index, %range: i64, %ring: memref<16xi64>)
    -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %most = arith.constant dense<-1> : vector<8xi32>
  %half = arith.divui %bins, %c2 : index
  %half32 = arith.index_cast %half : index to i32
  %halfv = vector.broadcast %half32 : i32 to vector<8xi32>
  %scale = func.call @onnxq_scale(%half, %range) : (index, i64) -> f32
  %scalev = vector.broadcast %scale : f32 to vector<8xf32>
  %last = func.call @onnxq_last_below(%range) : (i64) -> i32
  %lastv = vector.broadcast %last : i32 to vector<8xi32>
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %r:6 = scf.for %i = %c0 to %rows step %c1 iter_args(%s = %s0, %q = %q0, %l = %l0, %mn = %mn0, %mx = %mx0, %nz = %most)
      -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) {
    %o = arith.muli %i, %step : index
    %at = arith.addi %begin, %o : index
    %e = vector.load %x[%at] : memref<?xf32>, vector<8xf32>
    %turn = arith.andi %i, %c3 : index
    %slot = arith.muli %turn, %c4 : index
    %w:4 = func.call @onnxq_ring_row(%ring, %slot) : (memref<16xi64>, index) -> (i64, i64, i64, i64)
    %p = func.call @onnxq_places_of(%e, %scalev, %lastv, %halfv) : (vector<8xf32>, vector<8xf32>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
    %words = vector.bitcast %p : vector<8xi32> to vector<4xi64>
    vector.store %words, %ring[%slot] : memref<16xi64>, vector<4xi64>
    %v:6 = func.call @onnxq_add_eight(%e, %s, %q, %l, %mn, %mx, %nz)
        : (vector<8xf32>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>)
    func.call @onnxq_count_row(%w#0, %w#1, %w#2, %w#3, %scratch, %stride) : (i64, i64, i64, i64, memref<?xi32>, index) -> ()
    scf.yield %v#0, %v#1, %v#2, %v#3, %v#4, %v#5 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf32>, vector<8xf32>, vector<8xi32>
}

// Adds `by` to the bins of rows of up to eight lanes, `step` elements apart.
func.func private @onnxq_bin_lanes(%x: memref<?xf32>, %begin: index, %rows: index, %step: index, %width: index, %scratch: memref<?xi32>, %bins: index, %range: i64, %by: i32) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant dense<0.0> : vector<8xf32>
  %mask = vector.create_mask %width : vector<8xi1>
  %places = memref.alloca() {alignment = 64 : i64} : memref<8xi32>
  %half = arith.divui %bins, %c2 : index
  %half32 = arith.index_cast %half : index to i32
  %halfv = vector.broadcast %half32 : i32 to vector<8xi32>
  %scale = func.call @onnxq_scale(%half, %range) : (index, i64) -> f32
  %scalev = vector.broadcast %scale : f32 to vector<8xf32>
  %last = func.call @onnxq_last_below(%range) : (i64) -> i32
  %lastv = vector.broadcast %last : i32 to vector<8xi32>
  scf.for %i = %c0 to %rows step %c1 {
    %o = arith.muli %i, %step : index
    %at = arith.addi %begin, %o : index
    %e = vector.maskedload %x[%at], %mask, %none : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %p = func.call @onnxq_places_of(%e, %scalev, %lastv, %halfv) : (vector<8xf32>, vector<8xf32>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
    vector.store %p, %places[%c0] : memref<8xi32>, vector<8xi32>
    scf.for %c = %c0 to %width step %c1 {
      %place = memref.load %places[%c] : memref<8xi32>
      %bin = arith.index_castui %place : i32 to index
      %old = memref.load %scratch[%bin] : memref<?xi32>
      %new = arith.addi %old, %by : i32
      memref.store %new, %scratch[%bin] : memref<?xi32>
    }
  }
  return
}

// Ends to add a tile to the histogram: it was counted by onnxq_add_groups, in
// the range that the record had, unless its channels are too few or have no
// room in scratch memory.
func.func private @onnxq_bin_tile(%x: memref<?xf32>, %begin: index, %n: index, %channels: index, %groups: index, %top: i32, %clean: i1, %state: memref<?xi64>, %exponent: index, %hist: index, %half: index, %scratch: memref<?xi32>) attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %i23 = arith.constant 23 : i32
  %less = arith.constant -1 : i32
  %i126 = arith.constant 126 : i64
  %true = arith.constant true
  %range = memref.load %state[%exponent] : memref<?xi64>
  %e0 = arith.shrui %top, %i23 : i32
  %e1 = arith.extui %e0 : i32 to i64
  %e = arith.subi %e1, %i126 : i64
  %fits = arith.cmpi sle, %e, %range : i64
  %room = arith.cmpi ne, %groups, %c0 : index
  %several = arith.cmpi uge, %channels, %c8 : index
  %counted = arith.andi %room, %several : i1
  %good = arith.andi %fits, %clean : i1
  %done = arith.andi %good, %counted : i1
  %again = arith.xori %done, %true : i1
  scf.if %again {
    scf.if %counted {
      %bins = arith.addi %half, %half : index
      %rest = arith.remui %n, %c8 : index
      %rows = arith.divui %n, %c8 : index
      %main = arith.subi %n, %rest : index
      %last = arith.addi %begin, %main : index
      func.call @onnxq_bin_lanes(%x, %begin, %rows, %c8, %c8, %scratch, %bins, %range, %less) : (memref<?xf32>, index, index, index, index, memref<?xi32>, index, i64, i32) -> ()
      func.call @onnxq_bin_lanes(%x, %last, %c1, %c8, %rest, %scratch, %bins, %range, %less) : (memref<?xf32>, index, index, index, index, memref<?xi32>, index, i64, i32) -> ()
    }
    func.call @onnxq_distribute(%x, %begin, %n, %top, %clean, %state, %exponent, %hist, %half, %scratch) : (memref<?xf32>, index, index, i32, i1, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
  }
  return
}

// The places of rows of sixteen elements wait in a ring of four rows, two to a
// word; with ObserverIntegers.mlir they wait as addresses.
func.func private @onnxq_ring_bases(%scratch: memref<?xi32>, %at: index, %stride: index) -> vector<8xi64> attributes {onnxq.inline} {
  %none = arith.constant dense<0> : vector<8xi64>
  return %none : vector<8xi64>
}
// Puts sixteen places at ring[slot].
func.func private @onnxq_put_places(%ring: memref<64xi64>, %slot: index, %places: vector<16xi32>, %bases: vector<8xi64>) attributes {onnxq.inline} {
  %words = vector.bitcast %places : vector<16xi32> to vector<8xi64>
  vector.store %words, %ring[%slot] : memref<64xi64>, vector<8xi64>
  return
}
// Adds `by` to the counts of the sixteen places at ring[slot], in histograms `stride` elements apart
// from scratch[at] on.
func.func private @onnxq_count_places(%ring: memref<64xi64>, %slot: index, %scratch: memref<?xi32>, %at: index, %stride: index, %by: i32) attributes {onnxq.inline} {
  %at1 = arith.addi %at, %stride : index
  %at2 = arith.addi %at1, %stride : index
  %at3 = arith.addi %at2, %stride : index
  %c0 = arith.constant 0 : index
  %p0 = arith.addi %slot, %c0 : index
  %w0 = memref.load %ring[%p0] : memref<64xi64>
  %c1 = arith.constant 1 : index
  %p1 = arith.addi %slot, %c1 : index
  %w1 = memref.load %ring[%p1] : memref<64xi64>
  %c2 = arith.constant 2 : index
  %p2 = arith.addi %slot, %c2 : index
  %w2 = memref.load %ring[%p2] : memref<64xi64>
  %c3 = arith.constant 3 : index
  %p3 = arith.addi %slot, %c3 : index
  %w3 = memref.load %ring[%p3] : memref<64xi64>
  %c4 = arith.constant 4 : index
  %p4 = arith.addi %slot, %c4 : index
  %w4 = memref.load %ring[%p4] : memref<64xi64>
  %c5 = arith.constant 5 : index
  %p5 = arith.addi %slot, %c5 : index
  %w5 = memref.load %ring[%p5] : memref<64xi64>
  %c6 = arith.constant 6 : index
  %p6 = arith.addi %slot, %c6 : index
  %w6 = memref.load %ring[%p6] : memref<64xi64>
  %c7 = arith.constant 7 : index
  %p7 = arith.addi %slot, %c7 : index
  %w7 = memref.load %ring[%p7] : memref<64xi64>
  func.call @onnxq_bump_two(%scratch, %at, %at1, %w0, %by) : (memref<?xi32>, index, index, i64, i32) -> ()
  func.call @onnxq_bump_two(%scratch, %at2, %at3, %w1, %by) : (memref<?xi32>, index, index, i64, i32) -> ()
  func.call @onnxq_bump_two(%scratch, %at, %at1, %w2, %by) : (memref<?xi32>, index, index, i64, i32) -> ()
  func.call @onnxq_bump_two(%scratch, %at2, %at3, %w3, %by) : (memref<?xi32>, index, index, i64, i32) -> ()
  func.call @onnxq_bump_two(%scratch, %at, %at1, %w4, %by) : (memref<?xi32>, index, index, i64, i32) -> ()
  func.call @onnxq_bump_two(%scratch, %at2, %at3, %w5, %by) : (memref<?xi32>, index, index, i64, i32) -> ()
  func.call @onnxq_bump_two(%scratch, %at, %at1, %w6, %by) : (memref<?xi32>, index, index, i64, i32) -> ()
  func.call @onnxq_bump_two(%scratch, %at2, %at3, %w7, %by) : (memref<?xi32>, index, index, i64, i32) -> ()
  return
}

// The extremes of the `n` elements from x[begin] on, as onnxq_extent gives them.
// Cells are counted by onnxq_count_family: they have not been tried.
func.func private @onnxq_try_family(%x: memref<?xf32>, %begin: index, %n: index, %state: memref<?xi64>, %bins: index, %scratch: memref<?xi32>, %by: i32) -> (f32, f32, i32, i1) attributes {onnxq.inline} {
  %false = arith.constant false
  %s:3 = func.call @onnxq_extent(%x, %begin, %n) : (memref<?xf32>, index, index) -> (f32, f32, i32)
  return %s#0, %s#1, %s#2, %false : f32, f32, i32, i1
}
