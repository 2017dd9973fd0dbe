// What compiled observers call, fourth part: histograms of a tensor x and of up
// to two more that are made of it, counted together. The second is x * a1 + b1,
// kept within bounds l1 and u1, the third the same of the second with a2, b2, l2
// and u2; most of these do nothing.
//
// All three rise or fall with x, rounded as they are. So do the numbers of their
// bins, if those of a tensor that falls are turned around; and elements with the
// same sum of the three numbers have the same three numbers. That sum is a cell:
// one count for each element is enough, of which all histograms follow. For a
// bin of a tensor they are the counts of the cells from that of the smallest x
// in the bin to that of the smallest x in the next one.
//
// Scratch memory begins with what a histogram takes by itself
// (ObserverTiles.mlir). Behind it are sixteen words for the family: where the
// three histograms and their exponents are in the state, in turns; a1, b1, l1,
// u1, a2, b2, l2, u2; and for the second and third whether elements that don't
// count before may count there, as they have observers of their own. Then the
// cells follow, four times. Without a third tensor its places are 0; its numbers
// rise and fall with the second's.

// Where the family and its cells are in scratch memory, and how many cells.
func.func private @onnxq_family_places(%bins: index) -> (index, index, index) attributes {onnxq.inline} {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c96 = arith.constant 96 : index
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %histograms = arith.muli %stride, %c4 : index
  %family = arith.addi %histograms, %c96 : index
  %cells = arith.addi %family, %c16 : index
  %count = arith.muli %bins, %c3 : index
  return %family, %cells, %count : index, index, index
}

// Members of the family by their number: where the histogram and its exponent
// are, and all numbers from x to the member.
func.func private @onnxq_member(%scratch: memref<?xi32>, %bins: index, %number: index) -> (index, index, f32, f32, f32, f32, f32, f32, f32, f32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f32
  %none = arith.constant -0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %most = arith.constant 0x7F800000 : f32
  %p:3 = func.call @onnxq_family_places(%bins) : (index) -> (index, index, index)
  %skip = arith.muli %number, %c2 : index
  %own = arith.addi %p#0, %skip : index
  %own1 = arith.addi %own, %c1 : index
  %h32 = memref.load %scratch[%own] : memref<?xi32>
  %e32 = memref.load %scratch[%own1] : memref<?xi32>
  %h = arith.index_cast %h32 : i32 to index
  %e = arith.index_cast %e32 : i32 to index
  %second = arith.cmpi uge, %number, %c1 : index
  %third = arith.cmpi uge, %number, %c2 : index
  %k0 = arith.constant 6 : index
  %pa1 = arith.addi %p#0, %k0 : index
  %wa1 = memref.load %scratch[%pa1] : memref<?xi32>
  %fa1 = arith.bitcast %wa1 : i32 to f32
  %a1 = arith.select %second, %fa1, %one : f32
  %k1 = arith.constant 7 : index
  %pb1 = arith.addi %p#0, %k1 : index
  %wb1 = memref.load %scratch[%pb1] : memref<?xi32>
  %fb1 = arith.bitcast %wb1 : i32 to f32
  %b1 = arith.select %second, %fb1, %none : f32
  %k2 = arith.constant 8 : index
  %pl1 = arith.addi %p#0, %k2 : index
  %wl1 = memref.load %scratch[%pl1] : memref<?xi32>
  %fl1 = arith.bitcast %wl1 : i32 to f32
  %l1 = arith.select %second, %fl1, %least : f32
  %k3 = arith.constant 9 : index
  %pu1 = arith.addi %p#0, %k3 : index
  %wu1 = memref.load %scratch[%pu1] : memref<?xi32>
  %fu1 = arith.bitcast %wu1 : i32 to f32
  %u1 = arith.select %second, %fu1, %most : f32
  %k4 = arith.constant 10 : index
  %pa2 = arith.addi %p#0, %k4 : index
  %wa2 = memref.load %scratch[%pa2] : memref<?xi32>
  %fa2 = arith.bitcast %wa2 : i32 to f32
  %a2 = arith.select %third, %fa2, %one : f32
  %k5 = arith.constant 11 : index
  %pb2 = arith.addi %p#0, %k5 : index
  %wb2 = memref.load %scratch[%pb2] : memref<?xi32>
  %fb2 = arith.bitcast %wb2 : i32 to f32
  %b2 = arith.select %third, %fb2, %none : f32
  %k6 = arith.constant 12 : index
  %pl2 = arith.addi %p#0, %k6 : index
  %wl2 = memref.load %scratch[%pl2] : memref<?xi32>
  %fl2 = arith.bitcast %wl2 : i32 to f32
  %l2 = arith.select %third, %fl2, %least : f32
  %k7 = arith.constant 13 : index
  %pu2 = arith.addi %p#0, %k7 : index
  %wu2 = memref.load %scratch[%pu2] : memref<?xi32>
  %fu2 = arith.bitcast %wu2 : i32 to f32
  %u2 = arith.select %third, %fu2, %most : f32
  return %h, %e, %a1, %b1, %l1, %u1, %a2, %b2, %l2, %u2 : index, index, f32, f32, f32, f32, f32, f32, f32, f32
}

// The scale of a member's bins, and what turns their numbers around where it
// falls: the last bin's number, or 0. A member that isn't there has scale 0.
func.func private @onnxq_member_bins(%scratch: memref<?xi32>, %state: memref<?xi64>, %bins: index, %number: index) -> (f32, i32) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %m:10 = func.call @onnxq_member(%scratch, %bins, %number) : (memref<?xi32>, index, index) -> (index, index, f32, f32, f32, f32, f32, f32, f32, f32)
  %half = arith.divui %bins, %c2 : index
  %exponent = memref.load %state[%m#1] : memref<?xi64>
  %scale0 = func.call @onnxq_scale(%half, %exponent) : (index, i64) -> f32
  %there = arith.cmpi ne, %m#0, %c0 : index
  %scale = arith.select %there, %scale0, %zero : f32
  %neg1 = arith.cmpf olt, %m#2, %zero : f32
  %neg2 = arith.cmpf olt, %m#6, %zero : f32
  %falls = arith.xori %neg1, %neg2 : i1
  %bins32 = arith.index_cast %bins : index to i32
  %last = arith.subi %bins32, %i1 : i32
  %turn = arith.select %falls, %last, %i0 : i32
  return %scale, %turn : f32, i32
}

// What a member is of the one before.
func.func private @onnxq_make_next(%x: vector<16xf32>, %a: vector<16xf32>, %b: vector<16xf32>, %l: vector<16xf32>, %u: vector<16xf32>) -> vector<16xf32> attributes {onnxq.inline} {
  %product = arith.mulf %x, %a : vector<16xf32>
  %sum = arith.addf %product, %b : vector<16xf32>
  %low = arith.cmpf olt, %sum, %l : vector<16xf32>
  %lifted = arith.select %low, %l, %sum : vector<16xi1>, vector<16xf32>
  %high = arith.cmpf ogt, %lifted, %u : vector<16xf32>
  %y = arith.select %high, %u, %lifted : vector<16xi1>, vector<16xf32>
  return %y : vector<16xf32>
}
func.func private @onnxq_make_one(%x: f32, %a: f32, %b: f32, %l: f32, %u: f32) -> f32 attributes {onnxq.inline} {
  %product = arith.mulf %x, %a : f32
  %sum = arith.addf %product, %b : f32
  %low = arith.cmpf olt, %sum, %l : f32
  %lifted = arith.select %low, %l, %sum : f32
  %high = arith.cmpf ogt, %lifted, %u : f32
  %y = arith.select %high, %u, %lifted : f32
  return %y : f32
}
// What a member is of x.
func.func private @onnxq_make_member(%x: vector<16xf32>, %a1: vector<16xf32>, %b1: vector<16xf32>, %l1: vector<16xf32>, %u1: vector<16xf32>, %a2: vector<16xf32>, %b2: vector<16xf32>, %l2: vector<16xf32>, %u2: vector<16xf32>) -> vector<16xf32> attributes {onnxq.inline} {
  %y = func.call @onnxq_make_next(%x, %a1, %b1, %l1, %u1) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  %z = func.call @onnxq_make_next(%y, %a2, %b2, %l2, %u2) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  return %z : vector<16xf32>
}

// The numbers of bins, given in steps of a bin, of elements within the range.
func.func private @onnxq_numbers_of(%e: vector<16xf32>, %scaled: vector<16xf32>, %half: vector<16xi32>, %turn: vector<16xi32>) -> vector<16xi32> attributes {onnxq.inline} {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %toward = arith.fptosi %scaled : vector<16xf32> to vector<16xi32>
  %neg = arith.cmpf olt, %e, %zero : vector<16xf32>
  %less = arith.constant dense<-1> : vector<16xi32>
  %place0 = arith.addi %toward, %half : vector<16xi32>
  %place1 = arith.addi %place0, %less : vector<16xi32>
  %place = arith.select %neg, %place1, %place0 : vector<16xi1>, vector<16xi32>
  %number = arith.xori %place, %turn : vector<16xi32>
  return %number : vector<16xi32>
}

// The same of any finite elements: those beyond the range are in its last bins.
func.func private @onnxq_any_numbers(%e: vector<16xf32>, %scale: vector<16xf32>, %half: vector<16xi32>, %turn: vector<16xi32>) -> vector<16xi32> attributes {onnxq.inline} {
  %some = arith.constant dense<0.5> : vector<16xf32>
  %scaled = arith.mulf %e, %scale : vector<16xf32>
  %end0 = arith.sitofp %half : vector<16xi32> to vector<16xf32>
  %end = arith.subf %end0, %some : vector<16xf32>
  %start = arith.negf %end : vector<16xf32>
  %low = arith.cmpf olt, %scaled, %start : vector<16xf32>
  %up = arith.select %low, %start, %scaled : vector<16xi1>, vector<16xf32>
  %high = arith.cmpf ogt, %up, %end : vector<16xf32>
  %within = arith.select %high, %end, %up : vector<16xi1>, vector<16xf32>
  %numbers = func.call @onnxq_numbers_of(%e, %within, %half, %turn) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  return %numbers : vector<16xi32>
}

// Counts `n` elements from x[begin] on, all of which are within the members'
// ranges.
func.func private @onnxq_count_family(%x: memref<?xf32>, %begin: index, %n: index, %state: memref<?xi64>, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %none = arith.constant dense<0.0> : vector<16xf32>
  %p:3 = func.call @onnxq_family_places(%bins) : (index) -> (index, index, index)
  %stride = func.call @onnxq_stride(%p#2) : (index) -> index
  %bases = func.call @onnxq_ring_bases(%scratch, %p#1, %stride) : (memref<?xi32>, index, index) -> vector<8xi64>
  %m:10 = func.call @onnxq_member(%scratch, %bins, %c2) : (memref<?xi32>, index, index) -> (index, index, f32, f32, f32, f32, f32, f32, f32, f32)
  %s0:2 = func.call @onnxq_member_bins(%scratch, %state, %bins, %c0) : (memref<?xi32>, memref<?xi64>, index, index) -> (f32, i32)
  %s1:2 = func.call @onnxq_member_bins(%scratch, %state, %bins, %c1) : (memref<?xi32>, memref<?xi64>, index, index) -> (f32, i32)
  %s2:2 = func.call @onnxq_member_bins(%scratch, %state, %bins, %c2) : (memref<?xi32>, memref<?xi64>, index, index) -> (f32, i32)
  %a1 = vector.broadcast %m#2 : f32 to vector<16xf32>
  %b1 = vector.broadcast %m#3 : f32 to vector<16xf32>
  %l1 = vector.broadcast %m#4 : f32 to vector<16xf32>
  %u1 = vector.broadcast %m#5 : f32 to vector<16xf32>
  %a2 = vector.broadcast %m#6 : f32 to vector<16xf32>
  %b2 = vector.broadcast %m#7 : f32 to vector<16xf32>
  %l2 = vector.broadcast %m#8 : f32 to vector<16xf32>
  %u2 = vector.broadcast %m#9 : f32 to vector<16xf32>
  %scale0 = vector.broadcast %s0#0 : f32 to vector<16xf32>
  %scale1 = vector.broadcast %s1#0 : f32 to vector<16xf32>
  %scale2 = vector.broadcast %s2#0 : f32 to vector<16xf32>
  %turn0 = arith.constant dense<0> : vector<16xi32>
  %turn1 = vector.broadcast %s1#1 : i32 to vector<16xi32>
  %turn2 = vector.broadcast %s2#1 : i32 to vector<16xi32>
  %half0 = arith.divui %bins, %c2 : index
  %half32 = arith.index_cast %half0 : index to i32
  %half = vector.broadcast %half32 : i32 to vector<16xi32>
  %count32 = arith.index_cast %p#2 : index to i32
  %nowhere = vector.broadcast %count32 : i32 to vector<16xi32>
  %cells0 = func.call @onnxq_cells_of(%none, %a1, %b1, %l1, %u1, %a2, %b2, %l2, %u2, %scale0, %scale1, %scale2, %half, %turn0, %turn1, %turn2) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %cell0 = vector.extract %cells0[0] : i32 from vector<16xi32>
  %zeros = arith.minui %cell0, %count32 : i32
  %zeros1 = arith.index_cast %zeros : i32 to index
  %hot = arith.addi %p#1, %zeros1 : index
  %room = memref.alloca() {alignment = 64 : i64} : memref<4608xi8>
  %ring = func.call @onnxq_ring_in(%room, %scratch, %hot) : (memref<4608xi8>, memref<?xi32>, index) -> memref<64xi64>
  func.call @onnxq_open_places(%ring, %scratch, %p#1, %p#2) : (memref<64xi64>, memref<?xi32>, index, index) -> ()
  %rest = arith.remui %n, %c16 : index
  %main = arith.subi %n, %rest : index
  %one = arith.minui %n, %c1 : index
  %by = arith.index_cast %one : index to i32
  scf.for %i = %c0 to %main step %c16 {
    %slot = arith.andi %i, %c48 : index
    %at = arith.addi %begin, %i : index
    %e = vector.load %x[%at] : memref<?xf32>, vector<16xf32>
    func.call @onnxq_count_places(%ring, %slot, %scratch, %p#1, %stride, %by) : (memref<64xi64>, index, memref<?xi32>, index, index, i32) -> ()
    %cell = func.call @onnxq_cells_of(%e, %a1, %b1, %l1, %u1, %a2, %b2, %l2, %u2, %scale0, %scale1, %scale2, %half, %turn0, %turn1, %turn2) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
    func.call @onnxq_put_places(%ring, %slot, %cell, %bases) : (memref<64xi64>, index, vector<16xi32>, vector<8xi64>) -> ()
  }
  func.call @onnxq_close_places(%ring, %scratch, %p#1, %p#2, %by) : (memref<64xi64>, memref<?xi32>, index, index, i32) -> ()
  // What is left: lanes that are no elements have no cell.
  %mask = vector.create_mask %rest : vector<16xi1>
  %last = arith.addi %begin, %main : index
  %e = vector.maskedload %x[%last], %mask, %none : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  %some = func.call @onnxq_cells_of(%e, %a1, %b1, %l1, %u1, %a2, %b2, %l2, %u2, %scale0, %scale1, %scale2, %half, %turn0, %turn1, %turn2) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %cell = arith.select %mask, %some, %nowhere : vector<16xi1>, vector<16xi32>
  func.call @onnxq_put_places(%ring, %c0, %cell, %bases) : (memref<64xi64>, index, vector<16xi32>, vector<8xi64>) -> ()
  func.call @onnxq_count_places(%ring, %c0, %scratch, %p#1, %stride, %by) : (memref<64xi64>, index, memref<?xi32>, index, index, i32) -> ()
  return
}

// The cells of elements that are within the members' ranges.
func.func private @onnxq_cells_of(%e: vector<16xf32>, %a1: vector<16xf32>, %b1: vector<16xf32>, %l1: vector<16xf32>, %u1: vector<16xf32>, %a2: vector<16xf32>, %b2: vector<16xf32>, %l2: vector<16xf32>, %u2: vector<16xf32>, %scale0: vector<16xf32>, %scale1: vector<16xf32>, %scale2: vector<16xf32>, %half: vector<16xi32>, %turn0: vector<16xi32>, %turn1: vector<16xi32>, %turn2: vector<16xi32>) -> vector<16xi32> attributes {onnxq.inline} {
  %y = func.call @onnxq_make_next(%e, %a1, %b1, %l1, %u1) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  %z = func.call @onnxq_make_next(%y, %a2, %b2, %l2, %u2) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  %v0 = arith.mulf %e, %scale0 : vector<16xf32>
  %v1 = arith.mulf %y, %scale1 : vector<16xf32>
  %v2 = arith.mulf %z, %scale2 : vector<16xf32>
  %n0 = func.call @onnxq_numbers_of(%e, %v0, %half, %turn0) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %n1 = func.call @onnxq_numbers_of(%y, %v1, %half, %turn1) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %n2 = func.call @onnxq_numbers_of(%z, %v2, %half, %turn2) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %n01 = arith.addi %n0, %n1 : vector<16xi32>
  %sum = arith.addi %n01, %n2 : vector<16xi32>
  return %sum : vector<16xi32>
}

// Adds a piece whose elements don't all count to the histograms, one by one.
// What doesn't count among a member's is no number in the next one's, unless
// that has an observer of its own.
func.func private @onnxq_any_family(%x: memref<?xf32>, %begin: index, %n: index, %state: memref<?xi64>, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c14 = arith.constant 14 : index
  %y = memref.alloca(%n) {alignment = 64 : i64} : memref<?xf32>
  %counted = memref.alloca(%n) {alignment = 64 : i64} : memref<?xf32>
  func.call @onnxq_settle_family(%state, %bins, %scratch) : (memref<?xi64>, index, memref<?xi32>) -> ()
  scf.for %i = %c0 to %n step %c1 {
    %at = arith.addi %begin, %i : index
    %e = memref.load %x[%at] : memref<?xf32>
    memref.store %e, %y[%i] : memref<?xf32>
    memref.store %e, %counted[%i] : memref<?xf32>
  }
  %p:3 = func.call @onnxq_family_places(%bins) : (index) -> (index, index, index)
  %f:10 = func.call @onnxq_member(%scratch, %bins, %c2) : (memref<?xi32>, index, index) -> (index, index, f32, f32, f32, f32, f32, f32, f32, f32)
  func.call @onnxq_bin_member(%c0, %counted, %n, %state, %bins, %scratch) : (index, memref<?xf32>, index, memref<?xi64>, index, memref<?xi32>) -> ()
  func.call @onnxq_make_some(%y, %counted, %n, %f#2, %f#3, %f#4, %f#5, %scratch, %p#0, %c14) : (memref<?xf32>, memref<?xf32>, index, f32, f32, f32, f32, memref<?xi32>, index, index) -> ()
  func.call @onnxq_bin_member(%c1, %counted, %n, %state, %bins, %scratch) : (index, memref<?xf32>, index, memref<?xi64>, index, memref<?xi32>) -> ()
  %c15 = arith.constant 15 : index
  func.call @onnxq_make_some(%y, %counted, %n, %f#6, %f#7, %f#8, %f#9, %scratch, %p#0, %c15) : (memref<?xf32>, memref<?xf32>, index, f32, f32, f32, f32, memref<?xi32>, index, index) -> ()
  func.call @onnxq_bin_member(%c2, %counted, %n, %state, %bins, %scratch) : (index, memref<?xf32>, index, memref<?xi64>, index, memref<?xi32>) -> ()
  return
}

// Makes the next member of the `n` elements in y, which are overwritten, and
// what is counted of it of what was counted. The family's word `own` tells
// whether it has an observer of its own.
func.func private @onnxq_make_some(%y: memref<?xf32>, %counted: memref<?xf32>, %n: index, %a: f32, %b: f32, %l: f32, %u: f32, %scratch: memref<?xi32>, %family: index, %own: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i0 = arith.constant 0 : i32
  %limit = arith.constant 1.0e38 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %at = arith.addi %family, %own : index
  %word = memref.load %scratch[%at] : memref<?xi32>
  %always = arith.cmpi ne, %word, %i0 : i32
  scf.for %i = %c0 to %n step %c1 {
    %e = memref.load %y[%i] : memref<?xf32>
    %before = memref.load %counted[%i] : memref<?xf32>
    %size = math.absf %before : f32
    %small = arith.cmpf olt, %size, %limit : f32
    %counts = arith.ori %small, %always : i1
    %next = func.call @onnxq_make_one(%e, %a, %b, %l, %u) : (f32, f32, f32, f32, f32) -> f32
    %z = arith.select %counts, %next, %nan : f32
    memref.store %next, %y[%i] : memref<?xf32>
    memref.store %z, %counted[%i] : memref<?xf32>
  }
  return
}

// Adds `n` elements of a member, if it is there, to its histogram.
func.func private @onnxq_bin_member(%number: index, %y: memref<?xf32>, %n: index, %state: memref<?xi64>, %bins: index, %scratch: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %half = arith.divui %bins, %c2 : index
  %m:10 = func.call @onnxq_member(%scratch, %bins, %number) : (memref<?xi32>, index, index) -> (index, index, f32, f32, f32, f32, f32, f32, f32, f32)
  %there = arith.cmpi ne, %m#0, %c0 : index
  scf.if %there {
    func.call @onnxq_bins(%y, %c0, %n, %state, %m#1, %m#0, %bins, %scratch) : (memref<?xf32>, index, index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
    func.call @onnxq_flush(%scratch, %half, %state, %m#0) : (memref<?xi32>, index, memref<?xi64>, index) -> ()
  }
  return
}

// The largest magnitude of a member, by its bits, whose x has these extremes;
// and whether the range of its histogram holds it.
func.func private @onnxq_member_top(%lo: f32, %hi: f32, %number: index, %state: memref<?xi64>, %bins: index, %scratch: memref<?xi32>) -> (i32, i1) {
  %magnitude = arith.constant 2147483647 : i32
  %i23 = arith.constant 23 : i32
  %i126 = arith.constant 126 : i64
  %m:10 = func.call @onnxq_member(%scratch, %bins, %number) : (memref<?xi32>, index, index) -> (index, index, f32, f32, f32, f32, f32, f32, f32, f32)
  %l1 = func.call @onnxq_make_one(%lo, %m#2, %m#3, %m#4, %m#5) : (f32, f32, f32, f32, f32) -> f32
  %l3 = func.call @onnxq_make_one(%l1, %m#6, %m#7, %m#8, %m#9) : (f32, f32, f32, f32, f32) -> f32
  %h1 = func.call @onnxq_make_one(%hi, %m#2, %m#3, %m#4, %m#5) : (f32, f32, f32, f32, f32) -> f32
  %h3 = func.call @onnxq_make_one(%h1, %m#6, %m#7, %m#8, %m#9) : (f32, f32, f32, f32, f32) -> f32
  %lb = arith.bitcast %l3 : f32 to i32
  %hb = arith.bitcast %h3 : f32 to i32
  %la = arith.andi %lb, %magnitude : i32
  %ha = arith.andi %hb, %magnitude : i32
  %top = arith.maxui %la, %ha : i32
  %range = memref.load %state[%m#1] : memref<?xi64>
  %e0 = arith.shrui %top, %i23 : i32
  %e1 = arith.extui %e0 : i32 to i64
  %e = arith.subi %e1, %i126 : i64
  %fits = arith.cmpi sle, %e, %range : i64
  return %top, %fits : i32, i1
}

// Adds the `n` elements from x[begin] on to the histograms of a family.
func.func private @onnxq_family(%x: memref<?xf32>, %begin: index, %n: index, %state: memref<?xi64>, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4096 = arith.constant 4096 : index
  %true = arith.constant true
  %limit = arith.constant 2123789977 : i32
  %once = arith.constant 1 : i32
  %less = arith.constant -1 : i32
  %half = arith.divui %bins, %c2 : index
  // Pieces that stay in the cache from one function to the next.
  scf.for %i = %c0 to %n step %c4096 {
    %left = arith.subi %n, %i : index
    %m = arith.minui %left, %c4096 : index
    %at = arith.addi %begin, %i : index
    %s:4 = func.call @onnxq_try_family(%x, %at, %m, %state, %bins, %scratch, %once) : (memref<?xf32>, index, index, memref<?xi64>, index, memref<?xi32>, i32) -> (f32, f32, i32, i1)
    %fine0 = arith.cmpi ult, %s#2, %limit : i32
    %r:2 = scf.for %number = %c0 to %c3 step %c1 iter_args(%fine = %fine0, %fit = %true) -> (i1, i1) {
      %t:2 = func.call @onnxq_member_top(%s#0, %s#1, %number, %state, %bins, %scratch) : (f32, f32, index, memref<?xi64>, index, memref<?xi32>) -> (i32, i1)
      %p:10 = func.call @onnxq_member(%scratch, %bins, %number) : (memref<?xi32>, index, index) -> (index, index, f32, f32, f32, f32, f32, f32, f32, f32)
      %absent = arith.cmpi eq, %p#0, %c0 : index
      %small = arith.cmpi ult, %t#0, %limit : i32
      %small2 = arith.ori %small, %absent : i1
      %fits2 = arith.ori %t#1, %absent : i1
      %fine2 = arith.andi %fine, %small2 : i1
      %fit2 = arith.andi %fit, %fits2 : i1
      scf.yield %fine2, %fit2 : i1, i1
    }
    %good = arith.andi %r#0, %r#1 : i1
    %done = arith.andi %good, %s#3 : i1
    %bad = arith.xori %good, %true : i1
    %undo = arith.andi %bad, %s#3 : i1
    scf.if %undo {
      %u:4 = func.call @onnxq_try_family(%x, %at, %m, %state, %bins, %scratch, %less) : (memref<?xf32>, index, index, memref<?xi64>, index, memref<?xi32>, i32) -> (f32, f32, i32, i1)
    }
    %still = arith.xori %done, %true : i1
    scf.if %still {
      scf.if %r#0 {
        %grows = arith.xori %r#1, %true : i1
        scf.if %grows {
          func.call @onnxq_settle_family(%state, %bins, %scratch) : (memref<?xi64>, index, memref<?xi32>) -> ()
          scf.for %number = %c0 to %c3 step %c1 {
            %t:2 = func.call @onnxq_member_top(%s#0, %s#1, %number, %state, %bins, %scratch) : (f32, f32, index, memref<?xi64>, index, memref<?xi32>) -> (i32, i1)
            %p:10 = func.call @onnxq_member(%scratch, %bins, %number) : (memref<?xi32>, index, index) -> (index, index, f32, f32, f32, f32, f32, f32, f32, f32)
            %there = arith.cmpi ne, %p#0, %c0 : index
            scf.if %there {
              %range = func.call @onnxq_grow(%state, %p#1, %p#0, %half, %scratch, %t#0) : (memref<?xi64>, index, index, index, memref<?xi32>, i32) -> i64
            }
          }
        }
        func.call @onnxq_count_family(%x, %at, %m, %state, %bins, %scratch) : (memref<?xf32>, index, index, memref<?xi64>, index, memref<?xi32>) -> ()
      } else {
        func.call @onnxq_any_family(%x, %at, %m, %state, %bins, %scratch) : (memref<?xf32>, index, index, memref<?xi64>, index, memref<?xi32>) -> ()
      }
    }
  }
  return
}

// Begins to count a family. The first member's record is begun by another
// observer, right before, which makes all of it but the histogram. So are those
// of the others with `own` channels, but behind; what has none has a record of
// bins only, which begins here. `base2` is 0 if there is no third.
func.func private @onnxq_begin_family(%first: index, %base0: index, %hist0: index, %base1: index, %hist1: index, %own1: index, %a1: f32, %b1: f32, %l1: f32, %u1: f32, %base2: index, %hist2: index, %own2: index, %a2: f32, %b2: f32, %l2: f32, %u2: f32, %state: memref<?xi64>, %parts: index, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %i0 = arith.constant 0 : i32
  %l1st = arith.constant 1 : i64
  %p:3 = func.call @onnxq_family_places(%bins) : (index) -> (index, index, index)
  %stride = func.call @onnxq_stride(%p#2) : (index) -> index
  %copies = arith.muli %stride, %c4 : index
  %end = arith.addi %p#1, %copies : index
  scf.for %i = %c0 to %end step %c1 {
    memref.store %i0, %scratch[%i] : memref<?xi32>
  }
  %runs = memref.load %state[%base0] : memref<?xi64>
  %isfirst = arith.cmpi eq, %runs, %l1st : i64
  %exp0 = arith.addi %base0, %c7 : index
  func.call @onnxq_begin_range(%isfirst, %exp0, %state) : (i1, index, memref<?xi64>) -> ()
  %exp1 = func.call @onnxq_begin_member(%first, %base1, %own1, %isfirst, %state, %parts, %bins, %scratch) : (index, index, index, i1, memref<?xi64>, index, index, memref<?xi32>) -> index
  %exp2 = func.call @onnxq_begin_member(%first, %base2, %own2, %isfirst, %state, %parts, %bins, %scratch) : (index, index, index, i1, memref<?xi64>, index, index, memref<?xi32>) -> index
  %k0 = arith.index_cast %hist0 : index to i32
  %k1 = arith.index_cast %exp0 : index to i32
  %k2 = arith.index_cast %hist1 : index to i32
  %k3 = arith.index_cast %exp1 : index to i32
  %k4 = arith.index_cast %hist2 : index to i32
  %k5 = arith.index_cast %exp2 : index to i32
  %k6 = arith.bitcast %a1 : f32 to i32
  %k7 = arith.bitcast %b1 : f32 to i32
  %k8 = arith.bitcast %l1 : f32 to i32
  %k9 = arith.bitcast %u1 : f32 to i32
  %k10 = arith.bitcast %a2 : f32 to i32
  %k11 = arith.bitcast %b2 : f32 to i32
  %k12 = arith.bitcast %l2 : f32 to i32
  %k13 = arith.bitcast %u2 : f32 to i32
  %k14 = arith.index_cast %own1 : index to i32
  %k15 = arith.index_cast %own2 : index to i32
  %d0 = arith.constant 0 : index
  %at0 = arith.addi %p#0, %d0 : index
  memref.store %k0, %scratch[%at0] : memref<?xi32>
  %d1 = arith.constant 1 : index
  %at1 = arith.addi %p#0, %d1 : index
  memref.store %k1, %scratch[%at1] : memref<?xi32>
  %d2 = arith.constant 2 : index
  %at2 = arith.addi %p#0, %d2 : index
  memref.store %k2, %scratch[%at2] : memref<?xi32>
  %d3 = arith.constant 3 : index
  %at3 = arith.addi %p#0, %d3 : index
  memref.store %k3, %scratch[%at3] : memref<?xi32>
  %d4 = arith.constant 4 : index
  %at4 = arith.addi %p#0, %d4 : index
  memref.store %k4, %scratch[%at4] : memref<?xi32>
  %d5 = arith.constant 5 : index
  %at5 = arith.addi %p#0, %d5 : index
  memref.store %k5, %scratch[%at5] : memref<?xi32>
  %d6 = arith.constant 6 : index
  %at6 = arith.addi %p#0, %d6 : index
  memref.store %k6, %scratch[%at6] : memref<?xi32>
  %d7 = arith.constant 7 : index
  %at7 = arith.addi %p#0, %d7 : index
  memref.store %k7, %scratch[%at7] : memref<?xi32>
  %d8 = arith.constant 8 : index
  %at8 = arith.addi %p#0, %d8 : index
  memref.store %k8, %scratch[%at8] : memref<?xi32>
  %d9 = arith.constant 9 : index
  %at9 = arith.addi %p#0, %d9 : index
  memref.store %k9, %scratch[%at9] : memref<?xi32>
  %d10 = arith.constant 10 : index
  %at10 = arith.addi %p#0, %d10 : index
  memref.store %k10, %scratch[%at10] : memref<?xi32>
  %d11 = arith.constant 11 : index
  %at11 = arith.addi %p#0, %d11 : index
  memref.store %k11, %scratch[%at11] : memref<?xi32>
  %d12 = arith.constant 12 : index
  %at12 = arith.addi %p#0, %d12 : index
  memref.store %k12, %scratch[%at12] : memref<?xi32>
  %d13 = arith.constant 13 : index
  %at13 = arith.addi %p#0, %d13 : index
  memref.store %k13, %scratch[%at13] : memref<?xi32>
  %d14 = arith.constant 14 : index
  %at14 = arith.addi %p#0, %d14 : index
  memref.store %k14, %scratch[%at14] : memref<?xi32>
  %d15 = arith.constant 15 : index
  %at15 = arith.addi %p#0, %d15 : index
  memref.store %k15, %scratch[%at15] : memref<?xi32>
  return
}
func.func private @onnxq_begin_range(%isfirst: i1, %exponent: index, %state: memref<?xi64>) attributes {onnxq.inline} {
  %least = arith.constant -100 : i64
  scf.if %isfirst {
    memref.store %least, %state[%exponent] : memref<?xi64>
  }
  return
}
// Gives the place of the range's exponent; 0 if there is no such member.
func.func private @onnxq_begin_member(%first: index, %base: index, %own: index, %isfirst: i1, %state: memref<?xi64>, %parts: index, %bins: index, %scratch: memref<?xi32>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %there = arith.cmpi ne, %base, %c0 : index
  %place = scf.if %there -> (index) {
    %exponent = arith.addi %base, %c7 : index
    %alone = arith.cmpi eq, %own, %c0 : index
    scf.if %alone {
      func.call @onnxq_begin(%first, %c1, %state, %base, %parts, %bins, %scratch) : (index, index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
    } else {
      func.call @onnxq_begin_range(%isfirst, %exponent, %state) : (i1, index, memref<?xi64>) -> ()
    }
    scf.yield %exponent : index
  } else {
    scf.yield %c0 : index
  }
  return %place : index
}

// All that of a whole tensor of `n` elements, `first` being its first dimension.
func.func private @onnxq_observe_family(%x: memref<?xf32>, %first: index, %n: index, %base0: index, %hist0: index, %base1: index, %hist1: index, %own1: index, %a1: f32, %b1: f32, %l1: f32, %u1: f32, %base2: index, %hist2: index, %own2: index, %a2: f32, %b2: f32, %l2: f32, %u2: f32, %state: memref<?xi64>, %parts: index, %bins: index) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %p:3 = func.call @onnxq_family_places(%bins) : (index) -> (index, index, index)
  %stride = func.call @onnxq_stride(%p#2) : (index) -> index
  %copies = arith.muli %stride, %c4 : index
  %room = arith.addi %p#1, %copies : index
  %scratch = memref.alloca(%room) {alignment = 64 : i64} : memref<?xi32>
  func.call @onnxq_begin_family(%first, %base0, %hist0, %base1, %hist1, %own1, %a1, %b1, %l1, %u1, %base2, %hist2, %own2, %a2, %b2, %l2, %u2, %state, %parts, %bins, %scratch)
      : (index, index, index, index, index, index, f32, f32, f32, f32, index, index, index, f32, f32, f32, f32, memref<?xi64>, index, index, memref<?xi32>) -> ()
  func.call @onnxq_family(%x, %c0, %n, %state, %bins, %scratch) : (memref<?xf32>, index, index, memref<?xi64>, index, memref<?xi32>) -> ()
  func.call @onnxq_settle_family(%state, %bins, %scratch) : (memref<?xi64>, index, memref<?xi32>) -> ()
  return
}
