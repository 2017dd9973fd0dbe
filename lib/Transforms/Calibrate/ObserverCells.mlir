// What compiled observers call with ObserverFamilies.mlir: histograms that follow
// from the counts of cells.

// Floats in their order as integers, and back.
func.func private @onnxq_from_order(%o: vector<16xi32>) -> vector<16xf32> attributes {onnxq.inline} {
  %c31 = arith.constant dense<31> : vector<16xi32>
  %magnitude = arith.constant dense<2147483647> : vector<16xi32>
  %sign = arith.shrsi %o, %c31 : vector<16xi32>
  %turned = arith.andi %sign, %magnitude : vector<16xi32>
  %bits = arith.xori %o, %turned : vector<16xi32>
  %x = arith.bitcast %bits : vector<16xi32> to vector<16xf32>
  return %x : vector<16xf32>
}
func.func private @onnxq_to_order(%x: vector<16xf32>) -> vector<16xi32> attributes {onnxq.inline} {
  %c31 = arith.constant dense<31> : vector<16xi32>
  %magnitude = arith.constant dense<2147483647> : vector<16xi32>
  %bits = arith.bitcast %x : vector<16xf32> to vector<16xi32>
  %sign = arith.shrsi %bits, %c31 : vector<16xi32>
  %turned = arith.andi %sign, %magnitude : vector<16xi32>
  %o = arith.xori %bits, %turned : vector<16xi32>
  return %o : vector<16xi32>
}

// Bounds of a search, as onnxq_search: those within `near` of a guess where the
// member's number is below what is wanted on the one side and not on the other,
// `first` and `end` elsewhere. Tells whether it is so everywhere.
func.func private @onnxq_bracket(%guess0: vector<16xi32>, %near: vector<16xi32>, %first: vector<16xi32>, %end: vector<16xi32>, %wanted: vector<16xi32>, %ma1: vector<16xf32>, %mb1: vector<16xf32>, %ml1: vector<16xf32>, %mu1: vector<16xf32>, %ma2: vector<16xf32>, %mb2: vector<16xf32>, %ml2: vector<16xf32>, %mu2: vector<16xf32>, %scale: vector<16xf32>, %half: vector<16xi32>, %turn: vector<16xi32>) -> (vector<16xi32>, vector<16xi32>, i1) attributes {onnxq.inline} {
  %least = arith.constant dense<-2123789979> : vector<16xi32>
  %most = arith.constant dense<2123789978> : vector<16xi32>
  %first1 = arith.addi %least, %near : vector<16xi32>
  %end1 = arith.subi %most, %near : vector<16xi32>
  %guess1 = arith.maxsi %guess0, %first1 : vector<16xi32>
  %guess = arith.minsi %guess1, %end1 : vector<16xi32>
  %below = arith.subi %guess, %near : vector<16xi32>
  %above = arith.addi %guess, %near : vector<16xi32>
  %xb = func.call @onnxq_from_order(%below) : (vector<16xi32>) -> vector<16xf32>
  %xa = func.call @onnxq_from_order(%above) : (vector<16xi32>) -> vector<16xf32>
  %yb = func.call @onnxq_make_member(%xb, %ma1, %mb1, %ml1, %mu1, %ma2, %mb2, %ml2, %mu2) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  %ya = func.call @onnxq_make_member(%xa, %ma1, %mb1, %ml1, %mu1, %ma2, %mb2, %ml2, %mu2) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  %kb = func.call @onnxq_any_numbers(%yb, %scale, %half, %turn) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %ka = func.call @onnxq_any_numbers(%ya, %scale, %half, %turn) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %okb = arith.cmpi slt, %kb, %wanted : vector<16xi32>
  %oka = arith.cmpi sge, %ka, %wanted : vector<16xi32>
  // A lane that has been bracketed before stays so.
  %lower0 = arith.maxsi %below, %first : vector<16xi32>
  %upper0 = arith.minsi %above, %end : vector<16xi32>
  %lower = arith.select %okb, %lower0, %first : vector<16xi1>, vector<16xi32>
  %upper = arith.select %oka, %upper0, %end : vector<16xi1>, vector<16xi32>
  %ok = arith.andi %okb, %oka : vector<16xi1>
  %all = vector.reduction <and>, %ok : vector<16xi1> into i1
  return %lower, %upper, %all : vector<16xi32>, vector<16xi32>, i1
}

// The smallest element x that counts, in the order of floats, whose member has
// at least the number `wanted`; or one behind the last, if there is none. The
// edge is that of the member's bin: what it is made of is likely to be near.
func.func private @onnxq_search(%edge: vector<16xf32>, %wanted: vector<16xi32>, %ma1: vector<16xf32>, %mb1: vector<16xf32>, %ml1: vector<16xf32>, %mu1: vector<16xf32>, %ma2: vector<16xf32>, %mb2: vector<16xf32>, %ml2: vector<16xf32>, %mu2: vector<16xf32>, %scale: vector<16xf32>, %half: vector<16xi32>, %turn: vector<16xi32>) -> vector<16xi32> attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant dense<1> : vector<16xi32>
  // The elements that count have one on either side here.
  %first = arith.constant dense<-2123789979> : vector<16xi32>
  %end = arith.constant dense<2123789978> : vector<16xi32>
  %near = arith.constant dense<7> : vector<16xi32>
  %far = arith.constant dense<2048> : vector<16xi32>
  %c13 = arith.constant 13 : index
  %r0 = arith.subf %edge, %mb2 : vector<16xf32>
  %r1 = arith.divf %r0, %ma2 : vector<16xf32>
  %r2 = arith.subf %r1, %mb1 : vector<16xf32>
  %r3 = arith.divf %r2, %ma1 : vector<16xf32>
  %guess0 = func.call @onnxq_to_order(%r3) : (vector<16xf32>) -> vector<16xi32>
  %t0:3 = func.call @onnxq_bracket(%guess0, %near, %first, %end, %wanted, %ma1, %mb1, %ml1, %mu1, %ma2, %mb2, %ml2, %mu2, %scale, %half, %turn) : (vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> (vector<16xi32>, vector<16xi32>, i1)
  // Where a number far larger than x is added, guesses are that much worse.
  %t1:3 = scf.if %t0#2 -> (vector<16xi32>, vector<16xi32>, index) {
    scf.yield %t0#0, %t0#1, %c4 : vector<16xi32>, vector<16xi32>, index
  } else {
    %u:3 = func.call @onnxq_bracket(%guess0, %far, %t0#0, %t0#1, %wanted, %ma1, %mb1, %ml1, %mu1, %ma2, %mb2, %ml2, %mu2, %scale, %half, %turn) : (vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> (vector<16xi32>, vector<16xi32>, i1)
    %some = arith.select %u#2, %c13, %c32 : index
    scf.yield %u#0, %u#1, %some : vector<16xi32>, vector<16xi32>, index
  }
  %b:2 = scf.for %i = %c0 to %t1#2 step %c1 iter_args(%lower = %t1#0, %upper = %t1#1) -> (vector<16xi32>, vector<16xi32>) {
    %both = arith.andi %lower, %upper : vector<16xi32>
    %either = arith.xori %lower, %upper : vector<16xi32>
    %rest = arith.shrsi %either, %one : vector<16xi32>
    %middle = arith.addi %both, %rest : vector<16xi32>
    %x = func.call @onnxq_from_order(%middle) : (vector<16xi32>) -> vector<16xf32>
    %y = func.call @onnxq_make_member(%x, %ma1, %mb1, %ml1, %mu1, %ma2, %mb2, %ml2, %mu2) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
    %k = func.call @onnxq_any_numbers(%y, %scale, %half, %turn) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
    %reached = arith.cmpi sge, %k, %wanted : vector<16xi32>
    %lower2 = arith.select %reached, %lower, %middle : vector<16xi1>, vector<16xi32>
    %upper2 = arith.select %reached, %middle, %upper : vector<16xi1>, vector<16xi32>
    scf.yield %lower2, %upper2 : vector<16xi32>, vector<16xi32>
  }
  return %b#1 : vector<16xi32>
}

// How many elements lie before the bins of a member that are `wanted`, by their
// numbers in the order of x.
func.func private @onnxq_before_bins(%wanted: vector<16xi32>, %isfirst: i1, %over: vector<16xi32>, %step: vector<16xf32>, %ma1: vector<16xf32>, %mb1: vector<16xf32>, %ml1: vector<16xf32>, %mu1: vector<16xf32>, %ma2: vector<16xf32>, %mb2: vector<16xf32>, %ml2: vector<16xf32>, %mu2: vector<16xf32>, %a1: vector<16xf32>, %b1: vector<16xf32>, %l1: vector<16xf32>, %u1: vector<16xf32>, %a2: vector<16xf32>, %b2: vector<16xf32>, %l2: vector<16xf32>, %u2: vector<16xf32>, %scale: vector<16xf32>, %scale0: vector<16xf32>, %scale1: vector<16xf32>, %scale2: vector<16xf32>, %turn: vector<16xi32>, %turn0: vector<16xi32>, %turn1: vector<16xi32>, %turn2: vector<16xi32>, %half: vector<16xi32>, %all: vector<16xi32>, %scratch: memref<?xi32>, %cells: index) -> vector<16xi32> attributes {onnxq.inline} {
  %zero = arith.constant dense<0> : vector<16xi32>
  %end = arith.constant dense<2123789978> : vector<16xi32>
  %everywhere = arith.constant dense<true> : vector<16xi1>
  // The smallest x of each bin, in the order of floats. Of the first member that
  // is the bin's edge, or behind it where numbers are negative.
  %bin = arith.xori %wanted, %turn : vector<16xi32>
  %from0 = arith.subi %bin, %half : vector<16xi32>
  %from1 = arith.addi %from0, %over : vector<16xi32>
  %from2 = arith.sitofp %from1 : vector<16xi32> to vector<16xf32>
  %edge = arith.mulf %from2, %step : vector<16xf32>
  %b = scf.if %isfirst -> (vector<16xi32>) {
    %o = func.call @onnxq_to_order(%edge) : (vector<16xf32>) -> vector<16xi32>
    %negative = arith.cmpi slt, %from0, %zero : vector<16xi32>
    %behind = arith.extui %negative : vector<16xi1> to vector<16xi32>
    %first_of = arith.addi %o, %behind : vector<16xi32>
    scf.yield %first_of : vector<16xi32>
  } else {
    %first_of = func.call @onnxq_search(%edge, %wanted, %ma1, %mb1, %ml1, %mu1, %ma2, %mb2, %ml2, %mu2, %scale, %half, %turn) : (vector<16xf32>, vector<16xi32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
    scf.yield %first_of : vector<16xi32>
  }
  // The cell of that x; all elements lie before a bin that none reaches.
  %x = func.call @onnxq_from_order(%b) : (vector<16xi32>) -> vector<16xf32>
  %y = func.call @onnxq_make_next(%x, %a1, %b1, %l1, %u1) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  %z = func.call @onnxq_make_next(%y, %a2, %b2, %l2, %u2) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  %n0 = func.call @onnxq_any_numbers(%x, %scale0, %half, %turn0) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %n1 = func.call @onnxq_any_numbers(%y, %scale1, %half, %turn1) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %n2 = func.call @onnxq_any_numbers(%z, %scale2, %half, %turn2) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %n01 = arith.addi %n0, %n1 : vector<16xi32>
  %cell = arith.addi %n01, %n2 : vector<16xi32>
  %counts = vector.gather %scratch[%cells] [%cell], %everywhere, %zero : memref<?xi32>, vector<16xi32>, vector<16xi1>, vector<16xi32> into vector<16xi32>
  %none = arith.cmpi eq, %b, %end : vector<16xi32>
  %known = arith.select %none, %all, %counts : vector<16xi1>, vector<16xi32>
  return %known : vector<16xi32>
}

// Adds the histogram of a member, which is there, to the record's. The cells
// hold how many elements lie before them, `total` in all.
func.func private @onnxq_settle_member(%number: index, %total: i32, %state: memref<?xi64>, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0> : vector<16xi32>
  %isfirst = arith.cmpi eq, %number, %c0 : index
  %ones = arith.constant dense<1.0> : vector<16xf32>
  %steps = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi32>
  %p:3 = func.call @onnxq_family_places(%bins) : (index) -> (index, index, index)
  %m:10 = func.call @onnxq_member(%scratch, %bins, %number) : (memref<?xi32>, index, index) -> (index, index, f32, f32, f32, f32, f32, f32, f32, f32)
  %f:10 = func.call @onnxq_member(%scratch, %bins, %c2) : (memref<?xi32>, index, index) -> (index, index, f32, f32, f32, f32, f32, f32, f32, f32)
  %s:2 = func.call @onnxq_member_bins(%scratch, %state, %bins, %number) : (memref<?xi32>, memref<?xi64>, index, index) -> (f32, i32)
  %s0:2 = func.call @onnxq_member_bins(%scratch, %state, %bins, %c0) : (memref<?xi32>, memref<?xi64>, index, index) -> (f32, i32)
  %s1:2 = func.call @onnxq_member_bins(%scratch, %state, %bins, %c1) : (memref<?xi32>, memref<?xi64>, index, index) -> (f32, i32)
  %s2:2 = func.call @onnxq_member_bins(%scratch, %state, %bins, %c2) : (memref<?xi32>, memref<?xi64>, index, index) -> (f32, i32)
  %ma1 = vector.broadcast %m#2 : f32 to vector<16xf32>
  %mb1 = vector.broadcast %m#3 : f32 to vector<16xf32>
  %ml1 = vector.broadcast %m#4 : f32 to vector<16xf32>
  %mu1 = vector.broadcast %m#5 : f32 to vector<16xf32>
  %ma2 = vector.broadcast %m#6 : f32 to vector<16xf32>
  %mb2 = vector.broadcast %m#7 : f32 to vector<16xf32>
  %ml2 = vector.broadcast %m#8 : f32 to vector<16xf32>
  %mu2 = vector.broadcast %m#9 : f32 to vector<16xf32>
  %a1 = vector.broadcast %f#2 : f32 to vector<16xf32>
  %b1 = vector.broadcast %f#3 : f32 to vector<16xf32>
  %l1 = vector.broadcast %f#4 : f32 to vector<16xf32>
  %u1 = vector.broadcast %f#5 : f32 to vector<16xf32>
  %a2 = vector.broadcast %f#6 : f32 to vector<16xf32>
  %b2 = vector.broadcast %f#7 : f32 to vector<16xf32>
  %l2 = vector.broadcast %f#8 : f32 to vector<16xf32>
  %u2 = vector.broadcast %f#9 : f32 to vector<16xf32>
  %scale = vector.broadcast %s#0 : f32 to vector<16xf32>
  %turn = vector.broadcast %s#1 : i32 to vector<16xi32>
  %scale0 = vector.broadcast %s0#0 : f32 to vector<16xf32>
  %scale1 = vector.broadcast %s1#0 : f32 to vector<16xf32>
  %scale2 = vector.broadcast %s2#0 : f32 to vector<16xf32>
  %turn0 = vector.broadcast %s0#1 : i32 to vector<16xi32>
  %turn1 = vector.broadcast %s1#1 : i32 to vector<16xi32>
  %turn2 = vector.broadcast %s2#1 : i32 to vector<16xi32>
  %half0 = arith.divui %bins, %c2 : index
  %half32 = arith.index_cast %half0 : index to i32
  %half = vector.broadcast %half32 : i32 to vector<16xi32>
  %all = vector.broadcast %total : i32 to vector<16xi32>
  %step = arith.divf %ones, %scale : vector<16xf32>
  %falls = arith.cmpi ne, %turn, %zero : vector<16xi32>
  %over = arith.extui %falls : vector<16xi1> to vector<16xi32>
  // How many elements lie before each sixteenth bin, in the order of x; then
  // before those between two that have elements between them.
  %four = arith.constant dense<4> : vector<16xi32>
  %groups = arith.divui %bins, %c16 : index
  %more = arith.addi %groups, %c16 : index
  %coarse = memref.alloca(%more) {alignment = 64 : i64} : memref<?xi32>
  scf.for %g = %c0 to %groups step %c16 {
    %g32 = arith.index_cast %g : index to i32
    %gv = vector.broadcast %g32 : i32 to vector<16xi32>
    %group = arith.addi %gv, %steps : vector<16xi32>
    %first_bin = arith.shli %group, %four : vector<16xi32>
    %known = func.call @onnxq_before_bins(%first_bin, %isfirst, %over, %step, %ma1, %mb1, %ml1, %mu1, %ma2, %mb2, %ml2, %mu2, %a1, %b1, %l1, %u1, %a2, %b2, %l2, %u2, %scale, %scale0, %scale1, %scale2, %turn, %turn0, %turn1, %turn2, %half, %all, %scratch, %p#1) : (vector<16xi32>, i1, vector<16xi32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, memref<?xi32>, index) -> vector<16xi32>
    vector.store %known, %coarse[%g] : memref<?xi32>, vector<16xi32>
  }
  memref.store %total, %coarse[%groups] : memref<?xi32>
  %before = memref.alloca() {alignment = 64 : i64} : memref<32xi32>
  %turn1st = arith.index_cast %s#1 : i32 to index
  scf.for %g = %c0 to %groups step %c1 {
    %next = arith.addi %g, %c1 : index
    %lo = memref.load %coarse[%g] : memref<?xi32>
    %hi = memref.load %coarse[%next] : memref<?xi32>
    %some = arith.cmpi ne, %lo, %hi : i32
    scf.if %some {
      %j = arith.muli %g, %c16 : index
      %j32 = arith.index_cast %j : index to i32
      %jv = vector.broadcast %j32 : i32 to vector<16xi32>
      %wanted = arith.addi %jv, %steps : vector<16xi32>
      %known = func.call @onnxq_before_bins(%wanted, %isfirst, %over, %step, %ma1, %mb1, %ml1, %mu1, %ma2, %mb2, %ml2, %mu2, %a1, %b1, %l1, %u1, %a2, %b2, %l2, %u2, %scale, %scale0, %scale1, %scale2, %turn, %turn0, %turn1, %turn2, %half, %all, %scratch, %p#1) : (vector<16xi32>, i1, vector<16xi32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, memref<?xi32>, index) -> vector<16xi32>
      vector.store %known, %before[%c0] : memref<32xi32>, vector<16xi32>
      memref.store %hi, %before[%c16] : memref<32xi32>
      scf.for %k = %c0 to %c16 step %c1 {
        %k1 = arith.addi %k, %c1 : index
        %from = memref.load %before[%k] : memref<32xi32>
        %to = memref.load %before[%k1] : memref<32xi32>
        %between = arith.subi %to, %from : i32
        %between64 = arith.extui %between : i32 to i64
        %place = arith.addi %j, %k : index
        %bin = arith.xori %place, %turn1st : index
        %at = arith.addi %m#0, %bin : index
        func.call @onnxq_increase(%state, %at, %between64) : (memref<?xi64>, index, i64) -> ()
      }
    }
  }
  return
}

// Adds what is counted to the records' histograms, and clears the cells.
func.func private @onnxq_settle_family(%state: memref<?xi64>, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %i0 = arith.constant 0 : i32
  %zero = arith.constant dense<0> : vector<8xi32>
  %p:3 = func.call @onnxq_family_places(%bins) : (index) -> (index, index, index)
  %stride = func.call @onnxq_stride(%p#2) : (index) -> index
  %end = arith.addi %p#1, %p#2 : index
  // How many elements lie before each cell: of eight neighbours first.
  %total = scf.for %i = %p#1 to %end step %c8 iter_args(%sum = %i0) -> (i32) {
    %p1 = arith.addi %i, %stride : index
    %p2 = arith.addi %p1, %stride : index
    %p3 = arith.addi %p2, %stride : index
    %v0 = vector.load %scratch[%i] : memref<?xi32>, vector<8xi32>
    %v1 = vector.load %scratch[%p1] : memref<?xi32>, vector<8xi32>
    %v2 = vector.load %scratch[%p2] : memref<?xi32>, vector<8xi32>
    %v3 = vector.load %scratch[%p3] : memref<?xi32>, vector<8xi32>
    vector.store %zero, %scratch[%p1] : memref<?xi32>, vector<8xi32>
    vector.store %zero, %scratch[%p2] : memref<?xi32>, vector<8xi32>
    vector.store %zero, %scratch[%p3] : memref<?xi32>, vector<8xi32>
    %s01 = arith.addi %v0, %v1 : vector<8xi32>
    %s23 = arith.addi %v2, %v3 : vector<8xi32>
    %s = arith.addi %s01, %s23 : vector<8xi32>
    %t1 = vector.shuffle %zero, %s [0, 8, 9, 10, 11, 12, 13, 14] : vector<8xi32>, vector<8xi32>
    %u1 = arith.addi %s, %t1 : vector<8xi32>
    %t2 = vector.shuffle %zero, %u1 [0, 0, 8, 9, 10, 11, 12, 13] : vector<8xi32>, vector<8xi32>
    %u2 = arith.addi %u1, %t2 : vector<8xi32>
    %t4 = vector.shuffle %zero, %u2 [0, 0, 0, 0, 8, 9, 10, 11] : vector<8xi32>, vector<8xi32>
    %u4 = arith.addi %u2, %t4 : vector<8xi32>
    %start = vector.broadcast %sum : i32 to vector<8xi32>
    %through = arith.addi %u4, %start : vector<8xi32>
    %ahead = arith.subi %through, %s : vector<8xi32>
    vector.store %ahead, %scratch[%i] : memref<?xi32>, vector<8xi32>
    %next = vector.extract %through[7] : i32 from vector<8xi32>
    scf.yield %next : i32
  }
  %some = arith.cmpi ne, %total, %i0 : i32
  scf.if %some {
    scf.for %number = %c0 to %c3 step %c1 {
      %m:10 = func.call @onnxq_member(%scratch, %bins, %number) : (memref<?xi32>, index, index) -> (index, index, f32, f32, f32, f32, f32, f32, f32, f32)
      %there = arith.cmpi ne, %m#0, %c0 : index
      scf.if %there {
        func.call @onnxq_settle_member(%number, %total, %state, %bins, %scratch) : (index, i32, memref<?xi64>, index, memref<?xi32>) -> ()
      }
    }
    scf.for %i = %p#1 to %end step %c8 {
      vector.store %zero, %scratch[%i] : memref<?xi32>, vector<8xi32>
    }
  }
  return
}
