// What compiled observers call, second part: tiles of rows by channels, each
// element of which is looked at once.
//
// The sums of ObserverSums.mlir need to know the largest magnitude first. Here
// it is guessed: from what the tensor held before, and a power of two more. The
// tile is added up, and whether the guess holds for it is found meanwhile: then
// sums are exact and are kept, otherwise the tile goes the slower way. Either
// way it is the same sum. How a tile is added up depends on the processor:
// ObserverDoubles.mlir, ObserverIntegers.mlir.
//
// Scratch memory holds four histograms, and behind them: rows that wait; the
// exponent of the band; the part that the rows belong to; from the 16th word on
// the squares' upper and lower parts as integers; from the 48th word on, for
// each eight channels, up to 4096 in all, 40 words: sums, minima, maxima and the
// number of rows. Where two rows are taken as one (onnxq_wide_rows), there are
// twice as many: the channels begin anew behind the last.

// Whether what was added up lies within the band of an exponent; and the
// largest magnitude by its bits.
func.func private @onnxq_holds(%e: i32, %s: vector<8xf64>, %mn: vector<8xf32>, %mx: vector<8xf32>, %nz: vector<8xi32>) -> (i1, i32) attributes {onnxq.inline} {
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i23 = arith.constant 23 : i32
  %limit = arith.constant 2123789977 : i32
  %magnitude = arith.constant dense<2147483647> : vector<8xi32>
  %b0 = arith.bitcast %mn : vector<8xf32> to vector<8xi32>
  %b1 = arith.bitcast %mx : vector<8xf32> to vector<8xi32>
  %a0 = arith.andi %b0, %magnitude : vector<8xi32>
  %a1 = arith.andi %b1, %magnitude : vector<8xi32>
  %a = arith.maxui %a0, %a1 : vector<8xi32>
  %top = vector.reduction <maxui>, %a : vector<8xi32> into i32
  %smallest = vector.reduction <minui>, %nz : vector<8xi32> into i32
  %nan = arith.cmpf uno, %s, %s : vector<8xf64>
  %anynan = vector.reduction <or>, %nan : vector<8xi1> into i1
  %e1 = arith.addi %e, %i1 : i32
  %end0 = arith.shli %e1, %i23 : i32
  %end = arith.minui %end0, %limit : i32
  %bits = arith.shli %e, %i23 : i32
  %band:2 = func.call @onnxq_band(%bits) : (i32) -> (i32, f64)
  %lower2 = arith.addi %band#0, %band#0 : i32
  %lower = arith.subi %lower2, %i1 : i32
  %ok0 = arith.cmpi ult, %top, %end : i32
  %ok1 = arith.cmpi uge, %smallest, %lower : i32
  %true = arith.constant true
  %ok2 = arith.xori %anynan, %true : i1
  %some = arith.cmpi ne, %e, %i0 : i32
  %ok3 = arith.andi %ok0, %ok1 : i1
  %ok4 = arith.andi %ok2, %ok3 : i1
  %ok = arith.andi %ok4, %some : i1
  return %ok, %top : i1, i32
}

// The exponent to guess after a largest magnitude; 0 if there was none.
func.func private @onnxq_guess(%top: i32) -> i32 attributes {onnxq.inline} {
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i23 = arith.constant 23 : i32
  %i253 = arith.constant 253 : i32
  %limit = arith.constant 2123789977 : i32
  %e0 = arith.shrui %top, %i23 : i32
  %e1 = arith.addi %e0, %i1 : i32
  %e2 = arith.minui %e1, %i253 : i32
  %fine = arith.cmpi ult, %top, %limit : i32
  %some = arith.cmpi ne, %top, %i0 : i32
  %ok = arith.andi %fine, %some : i1
  %e = arith.select %ok, %e2, %i0 : i32
  return %e : i32
}

// The larger magnitude of two extremes by its bits; 0 if there are none.
func.func private @onnxq_top(%mn: f32, %mx: f32) -> i32 attributes {onnxq.inline} {
  %i0 = arith.constant 0 : i32
  %magnitude = arith.constant 2147483647 : i32
  %b0 = arith.bitcast %mn : f32 to i32
  %b1 = arith.bitcast %mx : f32 to i32
  %a0 = arith.andi %b0, %magnitude : i32
  %a1 = arith.andi %b1, %magnitude : i32
  %a = arith.maxui %a0, %a1 : i32
  %some = arith.cmpf ole, %mn, %mx : f32
  %top = arith.select %some, %a, %i0 : i32
  return %top : i32
}

// Adds a vector's sum to a record's in two halves, each of which is exact.
func.func private @onnxq_add_halves(%state: memref<?xi64>, %at: index, %v: vector<8xf64>, %bias: i64) attributes {onnxq.inline} {
  %zero = arith.constant 0.0 : f64
  %low = vector.extract_strided_slice %v {offsets = [0], sizes = [4], strides = [1]} : vector<8xf64> to vector<4xf64>
  %high = vector.extract_strided_slice %v {offsets = [4], sizes = [4], strides = [1]} : vector<8xf64> to vector<4xf64>
  %s0 = vector.reduction <add>, %low, %zero : vector<4xf64> into f64
  %s1 = vector.reduction <add>, %high, %zero : vector<4xf64> into f64
  func.call @onnxq_add(%state, %at, %s0, %bias) : (memref<?xi64>, index, f64, i64) -> ()
  func.call @onnxq_add(%state, %at, %s1, %bias) : (memref<?xi64>, index, f64, i64) -> ()
  return
}

// Adds the integers at scratch[at] to the record's squares, times 2^p of their
// steps, and clears them.
func.func private @onnxq_settle_squares(%scratch: memref<?xi32>, %at: index, %state: memref<?xi64>, %base: index, %p: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0> : vector<16xi32>
  %psquares = arith.addi %base, %c9 : index
  %words = vector.load %scratch[%at] : memref<?xi32>, vector<16xi32>
  vector.store %zero, %scratch[%at] : memref<?xi32>, vector<16xi32>
  %v = vector.bitcast %words : vector<16xi32> to vector<8xi64>
  scf.for %i = %c0 to %c8 step %c1 {
    %n = vector.extract %v[%i] : i64 from vector<8xi64>
    func.call @onnxq_add_integer(%state, %psquares, %n, %p) : (memref<?xi64>, index, i64, i64) -> ()
  }
  return
}

// Makes what waits for eight channels nothing.
func.func private @onnxq_clear_group(%scratch: memref<?xi32>, %at: index) attributes {onnxq.inline} {
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  %c32 = arith.constant 32 : index
  %i0 = arith.constant 0 : i32
  %zero = arith.constant dense<0> : vector<16xi32>
  %inf = arith.constant dense<2139095040> : vector<8xi32>
  %ninf = arith.constant dense<-8388608> : vector<8xi32>
  %pmn = arith.addi %at, %c16 : index
  %pmx = arith.addi %at, %c24 : index
  %pn = arith.addi %at, %c32 : index
  vector.store %zero, %scratch[%at] : memref<?xi32>, vector<16xi32>
  vector.store %inf, %scratch[%pmn] : memref<?xi32>, vector<8xi32>
  vector.store %ninf, %scratch[%pmx] : memref<?xi32>, vector<8xi32>
  memref.store %i0, %scratch[%pn] : memref<?xi32>
  return
}

// Makes all that waits nothing.
func.func private @onnxq_clear_waiting(%channels: index, %bins: index, %scratch: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c40 = arith.constant 40 : index
  %c48 = arith.constant 48 : index
  %zero = arith.constant dense<0> : vector<16xi32>
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %acc = arith.muli %stride, %c4 : index
  %upper = arith.addi %acc, %c16 : index
  %lower = arith.addi %acc, %c32 : index
  vector.store %zero, %scratch[%acc] : memref<?xi32>, vector<16xi32>
  vector.store %zero, %scratch[%upper] : memref<?xi32>, vector<16xi32>
  vector.store %zero, %scratch[%lower] : memref<?xi32>, vector<16xi32>
  %groups = func.call @onnxq_waiting_groups(%channels) : (index) -> index
  scf.for %g = %c0 to %groups step %c1 {
    %o = arith.muli %g, %c40 : index
    %o48 = arith.addi %o, %c48 : index
    %at = arith.addi %acc, %o48 : index
    func.call @onnxq_clear_group(%scratch, %at) : (memref<?xi32>, index) -> ()
  }
  return
}

// How many times eight channels have room in scratch memory.
func.func private @onnxq_groups(%channels: index) -> index attributes {onnxq.inline} {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c4096 = arith.constant 4096 : index
  %few = arith.cmpi ule, %channels, %c4096 : index
  %more = arith.addi %channels, %c7 : index
  %all = arith.divui %more, %c8 : index
  %groups = arith.select %few, %all, %c0 : index
  return %groups : index
}

// Adds what waits to the record.
func.func private @onnxq_settle(%channels: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  %c32 = arith.constant 32 : index
  %c40 = arith.constant 40 : index
  %c48 = arith.constant 48 : index
  %i0 = arith.constant 0 : i32
  %l0 = arith.constant 0 : i64
  %l1 = arith.constant 1 : i64
  %inf = arith.constant dense<0x7F800000> : vector<8xf32>
  %ninf = arith.constant dense<0xFF800000> : vector<8xf32>
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %acc = arith.muli %stride, %c4 : index
  %used = memref.load %scratch[%acc] : memref<?xi32>
  %some = arith.cmpi ne, %used, %i0 : i32
  scf.if %some {
    %pband = arith.addi %acc, %c1 : index
    %e = memref.load %scratch[%pband] : memref<?xi32>
    %p:4 = func.call @onnxq_places(%base, %parts, %channels) : (index, index, index) -> (index, index, index, index)
    %groups = func.call @onnxq_waiting_groups(%channels) : (index) -> index
    %r:3 = scf.for %g = %c0 to %groups step %c1 iter_args(%mn = %inf, %mx = %ninf, %number = %l0) -> (vector<8xf32>, vector<8xf32>, i64) {
      %o = arith.muli %g, %c40 : index
      %o48 = arith.addi %o, %c48 : index
      %at = arith.addi %acc, %o48 : index
      %pmn = arith.addi %at, %c16 : index
      %pmx = arith.addi %at, %c24 : index
      %pn = arith.addi %at, %c32 : index
      %sb = vector.load %scratch[%at] : memref<?xi32>, vector<16xi32>
      %s = vector.bitcast %sb : vector<16xi32> to vector<8xi64>
      %mnb = vector.load %scratch[%pmn] : memref<?xi32>, vector<8xi32>
      %mxb = vector.load %scratch[%pmx] : memref<?xi32>, vector<8xi32>
      %n32 = memref.load %scratch[%pn] : memref<?xi32>
      %n = arith.extui %n32 : i32 to i64
      %place = arith.muli %g, %c8 : index
      %first = arith.remui %place, %channels : index
      %left = arith.subi %channels, %first : index
      %width = arith.minui %left, %c8 : index
      // Lanes that are no channels have no extremes.
      %mask = vector.create_mask %width : vector<8xi1>
      %gmn0 = arith.bitcast %mnb : vector<8xi32> to vector<8xf32>
      %gmx0 = arith.bitcast %mxb : vector<8xi32> to vector<8xf32>
      %gmn = arith.select %mask, %gmn0, %inf : vector<8xi1>, vector<8xf32>
      %gmx = arith.select %mask, %gmx0, %ninf : vector<8xi1>, vector<8xf32>
      scf.for %c = %c0 to %width step %c1 {
        %channel = arith.addi %first, %c : index
        %c14th = arith.muli %channel, %c14 : index
        %ps = arith.addi %p#1, %c14th : index
        %c2nd = arith.muli %channel, %c2 : index
        %pe = arith.addi %p#0, %c2nd : index
        %pc = arith.addi %p#2, %channel : index
        %sum = vector.extract %s[%c] : i64 from vector<8xi64>
        %lo = vector.extract %gmn[%c] : f32 from vector<8xf32>
        %hi = vector.extract %gmx[%c] : f32 from vector<8xf32>
        func.call @onnxq_settle_sum(%state, %ps, %sum, %e) : (memref<?xi64>, index, i64, i32) -> ()
        func.call @onnxq_widen(%state, %pe, %lo, %hi) : (memref<?xi64>, index, f32, f32) -> ()
        func.call @onnxq_increase(%state, %pc, %n) : (memref<?xi64>, index, i64) -> ()
      }
      func.call @onnxq_clear_group(%scratch, %at) : (memref<?xi32>, index) -> ()
      %less = arith.cmpf olt, %gmn, %mn : vector<8xf32>
      %mn2 = arith.select %less, %gmn, %mn : vector<8xi1>, vector<8xf32>
      %more = arith.cmpf ogt, %gmx, %mx : vector<8xf32>
      %mx2 = arith.select %more, %gmx, %mx : vector<8xi1>, vector<8xf32>
      %width64 = arith.index_cast %width : index to i64
      %n8 = arith.muli %n, %width64 : i64
      %number2 = arith.addi %number, %n8 : i64
      scf.yield %mn2, %mx2, %number2 : vector<8xf32>, vector<8xf32>, i64
    }
    %lo = vector.reduction <minnumf>, %r#0 : vector<8xf32> into f32
    %hi = vector.reduction <maxnumf>, %r#1 : vector<8xf32> into f32
    // The part is that of row `part` of as many rows as there are samples.
    %ppart = arith.addi %acc, %c2 : index
    %part32 = memref.load %scratch[%ppart] : memref<?xi32>
    %part = arith.index_castui %part32 : i32 to index
    %pused = arith.addi %base, %c8 : index
    %samples0 = memref.load %state[%pused] : memref<?xi64>
    %samples1 = arith.maxsi %samples0, %l1 : i64
    %samples = arith.index_cast %samples1 : i64 to index
    func.call @onnxq_note(%state, %base, %part, %samples, %lo, %hi, %r#2) : (memref<?xi64>, index, index, index, f32, f32, i64) -> ()
    memref.store %i0, %scratch[%acc] : memref<?xi32>
    %steps:2 = func.call @onnxq_square_steps(%e) : (i32) -> (i64, i64)
    %upper = arith.addi %acc, %c16 : index
    %lower = arith.addi %acc, %c32 : index
    func.call @onnxq_settle_squares(%scratch, %upper, %state, %base, %steps#0) : (memref<?xi32>, index, memref<?xi64>, index, i64) -> ()
    func.call @onnxq_settle_squares(%scratch, %lower, %state, %base, %steps#1) : (memref<?xi32>, index, memref<?xi64>, index, i64) -> ()
  }
  return
}

// Adds rows of `width` columns, from column `first` on, to the record, whatever
// they hold. Columns are channels, which may begin anew behind the last. Gives
// the largest magnitude that counts, and whether all elements do.
func.func private @onnxq_any_channels(%x: memref<?xf32>, %begin: index, %rows: index, %width: index, %step: index, %channels: index, %first: index, %o: index, %outer: index, %state: memref<?xi64>, %base: index, %parts: index) -> (i32, i1) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c14 = arith.constant 14 : index
  %c128 = arith.constant 128 : index
  %i0 = arith.constant 0 : i32
  %l0 = arith.constant 0 : i64
  %p:4 = func.call @onnxq_places(%base, %parts, %channels) : (index, index, index) -> (index, index, index, index)
  %r:2 = scf.for %c = %c0 to %width step %c8 iter_args(%top = %i0, %valid = %l0) -> (i32, i64) {
    %over = arith.subi %width, %c : index
    %lanes = arith.minui %over, %c8 : index
    %column = arith.addi %first, %c : index
    %channel = arith.remui %column, %channels : index
    %c2nd = arith.muli %channel, %c2 : index
    %pe = arith.addi %p#0, %c2nd : index
    %c14th = arith.muli %channel, %c14 : index
    %ps = arith.addi %p#1, %c14th : index
    %pc = arith.addi %p#2, %channel : index
    %v:2 = scf.for %i = %c0 to %rows step %c128 iter_args(%t = %top, %n = %valid) -> (i32, i64) {
      %left = arith.subi %rows, %i : index
      %some = arith.minui %left, %c128 : index
      %d0 = arith.muli %i, %step : index
      %d = arith.addi %d0, %c : index
      %at = arith.addi %begin, %d : index
      %s:3 = func.call @onnxq_columns(%x, %at, %some, %lanes, %step, %state, %base, %pe, %ps, %pc) : (memref<?xf32>, index, index, index, index, memref<?xi64>, index, index, index, index) -> (f32, f32, i64)
      func.call @onnxq_note(%state, %base, %o, %outer, %s#0, %s#1, %s#2) : (memref<?xi64>, index, index, index, f32, f32, i64) -> ()
      %t1 = func.call @onnxq_top(%s#0, %s#1) : (f32, f32) -> i32
      %t2 = arith.maxui %t, %t1 : i32
      %n2 = arith.addi %n, %s#2 : i64
      scf.yield %t2, %n2 : i32, i64
    }
    scf.yield %v#0, %v#1 : i32, i64
  }
  %all = arith.muli %rows, %width : index
  %all64 = arith.index_cast %all : index to i64
  %clean = arith.cmpi eq, %r#1, %all64 : i64
  return %r#0, %clean : i32, i1
}

// Adds up to 256 rows, from row `o` of `outer` on, each with one element for
// every channel, to the record. They begin at x[begin] and belong to one
// sample.
func.func private @onnxq_tile(%x: memref<?xf32>, %begin: index, %rows: index, %o: index, %outer: index, %channels: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %i0 = arith.constant 0 : i32
  %groups = func.call @onnxq_groups(%channels) : (index) -> index
  %most = func.call @onnxq_most_rows(%groups) : (index) -> i32
  %l1 = arith.constant 1 : i64
  %has = arith.cmpi ugt, %bins, %c0 : index
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %acc = arith.muli %stride, %c4 : index
  %pband = arith.addi %acc, %c1 : index
  %ppart = arith.addi %acc, %c2 : index
  %rows32 = arith.index_cast %rows : index to i32
  // What waits must be of the same sample, and leave room.
  %pused = arith.addi %base, %c8 : index
  %samples0 = memref.load %state[%pused] : memref<?xi64>
  %samples1 = arith.maxsi %samples0, %l1 : i64
  %samples = arith.index_cast %samples1 : i64 to index
  %scaled = arith.muli %o, %samples : index
  %part = arith.divui %scaled, %outer : index
  %part32 = arith.index_cast %part : index to i32
  %oldpart = memref.load %scratch[%ppart] : memref<?xi32>
  %waiting = memref.load %scratch[%acc] : memref<?xi32>
  %sum32 = arith.addi %waiting, %rows32 : i32
  %full = arith.cmpi ugt, %sum32, %most : i32
  %other = arith.cmpi ne, %part32, %oldpart : i32
  %settles = arith.ori %full, %other : i1
  scf.if %settles {
    func.call @onnxq_settle(%channels, %state, %base, %parts, %bins, %scratch) : (index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
  }
  memref.store %part32, %scratch[%ppart] : memref<?xi32>
  %p:4 = func.call @onnxq_places(%base, %parts, %channels) : (index, index, index) -> (index, index, index, index)
  %half = arith.divui %bins, %c2 : index
  %pexp = arith.addi %base, %c7 : index
  // The band, if it was not known yet, and the histogram's range.
  %n = arith.muli %rows, %channels : index
  %e0 = memref.load %scratch[%pband] : memref<?xi32>
  %unknown = arith.cmpi eq, %e0, %i0 : i32
  %e = scf.if %unknown -> (i32) {
    %s:3 = func.call @onnxq_extent(%x, %begin, %n) : (memref<?xf32>, index, index) -> (f32, f32, i32)
    %g = func.call @onnxq_guess(%s#2) : (i32) -> i32
    memref.store %g, %scratch[%pband] : memref<?xi32>
    %fine = arith.cmpi ne, %g, %i0 : i32
    %grows = arith.andi %fine, %has : i1
    scf.if %grows {
      %range = func.call @onnxq_grow(%state, %pexp, %p#3, %half, %scratch, %s#2) : (memref<?xi64>, index, index, index, memref<?xi32>, i32) -> i64
    }
    scf.yield %g : i32
  } else {
    scf.yield %e0 : i32
  }
  %w:2 = func.call @onnxq_wide_rows(%rows, %channels) : (index, index) -> (index, index)
  %r:2 = func.call @onnxq_add_groups(%x, %begin, %w#0, %o, %outer, %w#1, %channels, %state, %base, %parts, %bins, %scratch, %e)
      : (memref<?xf32>, index, index, index, index, index, index, memref<?xi64>, index, index, index, memref<?xi32>, i32) -> (i32, i1)
  // Channels that have no room there.
  %done = arith.muli %groups, %c8 : index
  %room = arith.minui %done, %channels : index
  %without = arith.subi %channels, %room : index
  %from = arith.addi %begin, %room : index
  %y:2 = func.call @onnxq_any_channels(%x, %from, %rows, %without, %channels, %channels, %room, %o, %outer, %state, %base, %parts)
      : (memref<?xf32>, index, index, index, index, index, index, index, index, memref<?xi64>, index, index) -> (i32, i1)
  %top = arith.maxui %r#0, %y#0 : i32
  %clean = arith.andi %r#1, %y#1 : i1
  %now = memref.load %scratch[%acc] : memref<?xi32>
  %now2 = arith.addi %now, %rows32 : i32
  memref.store %now2, %scratch[%acc] : memref<?xi32>
  // Beyond the band: the next tile has another.
  %better = func.call @onnxq_guess(%top) : (i32) -> i32
  %e1 = arith.constant 1 : i32
  %needed = arith.subi %better, %e1 : i32
  %beyond = arith.cmpi sgt, %needed, %e : i32
  scf.if %beyond {
    func.call @onnxq_settle(%channels, %state, %base, %parts, %bins, %scratch) : (index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
    memref.store %better, %scratch[%pband] : memref<?xi32>
  }
  scf.if %has {
    func.call @onnxq_bin_tile(%x, %begin, %n, %w#1, %groups, %top, %clean, %state, %pexp, %p#3, %half, %scratch) : (memref<?xf32>, index, index, index, index, i32, i1, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
  }
  return
}

// Adds a tensor of rows with one element for every channel.
func.func private @onnxq_across(%x: memref<?xf32>, %outer: index, %channels: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index, %scratch: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %c4096 = arith.constant 4096 : index
  %i1 = arith.constant 1 : i64
  %pused = arith.addi %base, %c8 : index
  %used0 = memref.load %state[%pused] : memref<?xi64>
  %used = arith.maxsi %used0, %i1 : i64
  %samples = arith.index_cast %used : i64 to index
  %each = arith.divui %outer, %samples : index
  // Tiles that stay in the cache, but not too low ones.
  %fit = arith.divui %c4096, %channels : index
  %tall = arith.maxui %fit, %c64 : index
  %height = arith.minui %tall, %c256 : index
  scf.for %s = %c0 to %samples step %c1 {
    %from = arith.muli %s, %each : index
    %end = arith.addi %from, %each : index
    scf.for %o = %from to %end step %height {
      %left = arith.subi %end, %o : index
      %rows = arith.minui %left, %height : index
      %begin = arith.muli %o, %channels : index
      func.call @onnxq_tile(%x, %begin, %rows, %o, %outer, %channels, %state, %base, %parts, %bins, %scratch) : (memref<?xf32>, index, index, index, index, index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
    }
  }
  return
}
