// What compiled observers call, third part: how a tensor goes to its record.
// All parts are text in the library: the pass onnxq-lower-observers parses them
// into each module that observes.
//
// All sums are exact, so that a record depends on the set of numbers only: not
// on the order of samples, rows or channels, nor on how they are batched. The
// places of words are those of ObserverLayout.h.

// How many bins a number is from zero, for each 1: half / 2^e.
func.func private @onnxq_scale(%half: index, %e: i64) -> f32 attributes {onnxq.inline} {
  %halfi = arith.index_cast %half : index to i64
  %log = math.cttz %halfi : i64
  %i127 = arith.constant 127 : i64
  %i23 = arith.constant 23 : i64
  %f0 = arith.addi %log, %i127 : i64
  %f1 = arith.subi %f0, %e : i64
  %f2 = arith.shli %f1, %i23 : i64
  %f3 = arith.trunci %f2 : i64 to i32
  %scale = arith.bitcast %f3 : i32 to f32
  return %scale : f32
}

// Adds contiguous elements to the histogram. `top` is no smaller than their
// largest magnitude that counts, by its bits, and one that the tensor holds; if
// `clean`, all of them count.
func.func private @onnxq_distribute(%x: memref<?xf32>, %begin: index, %n: index, %top: i32, %clean: i1, %state: memref<?xi64>, %exponent: index, %hist: index, %half: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
  %e = func.call @onnxq_grow(%state, %exponent, %hist, %half, %scratch, %top) : (memref<?xi64>, index, index, index, memref<?xi32>, i32) -> i64
  %scale = func.call @onnxq_scale(%half, %e) : (index, i64) -> f32
  scf.if %clean {
    func.call @onnxq_bin_clean(%x, %begin, %n, %scratch, %half, %scale) : (memref<?xf32>, index, index, memref<?xi32>, index, f32) -> ()
  } else {
    func.call @onnxq_bin(%x, %begin, %n, %scratch, %half, %scale) : (memref<?xf32>, index, index, memref<?xi32>, index, f32) -> ()
  }
  return
}

// Where the lists of a record begin: extremes by channel, sums by channel,
// counts by channel, the histogram.
func.func private @onnxq_places(%base: index, %parts: index, %channels: index) -> (index, index, index, index) attributes {onnxq.inline} {
  %c2 = arith.constant 2 : index
  %c14 = arith.constant 14 : index
  %c31 = arith.constant 31 : index
  %pparts = arith.addi %base, %c31 : index
  %parts2 = arith.muli %parts, %c2 : index
  %pchannel = arith.addi %pparts, %parts2 : index
  %channels2 = arith.muli %channels, %c2 : index
  %psums = arith.addi %pchannel, %channels2 : index
  %channels14 = arith.muli %channels, %c14 : index
  %pcounts = arith.addi %psums, %channels14 : index
  %phist = arith.addi %pcounts, %channels : index
  return %pchannel, %psums, %pcounts, %phist : index, index, index, index
}

// Widens the extremes of the tensor and of the sample that row `o` of `outer`
// belongs to, and counts elements.
func.func private @onnxq_note(%state: memref<?xi64>, %base: index, %o: index, %outer: index, %mn: f32, %mx: f32, %valid: i64) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %c31 = arith.constant 31 : index
  %i0 = arith.constant 0 : i64
  %pcount = arith.addi %base, %c1 : index
  %pmin = arith.addi %base, %c5 : index
  %pused = arith.addi %base, %c8 : index
  %pparts = arith.addi %base, %c31 : index
  %count = memref.load %state[%pcount] : memref<?xi64>
  %count1 = arith.addi %count, %valid : i64
  memref.store %count1, %state[%pcount] : memref<?xi64>
  func.call @onnxq_widen(%state, %pmin, %mn, %mx) : (memref<?xi64>, index, f32, f32) -> ()
  %used = memref.load %state[%pused] : memref<?xi64>
  %split = arith.cmpi ne, %used, %i0 : i64
  scf.if %split {
    %samples = arith.index_cast %used : i64 to index
    %scaledo = arith.muli %o, %samples : index
    %part = arith.divui %scaledo, %outer : index
    %part2 = arith.muli %part, %c2 : index
    %ppart = arith.addi %pparts, %part2 : index
    func.call @onnxq_widen(%state, %ppart, %mn, %mx) : (memref<?xi64>, index, f32, f32) -> ()
  }
  return
}

// Adds to state[at].
func.func private @onnxq_increase(%state: memref<?xi64>, %at: index, %by: i64) attributes {onnxq.inline} {
  %old = memref.load %state[%at] : memref<?xi64>
  %new = arith.addi %old, %by : i64
  memref.store %new, %state[%at] : memref<?xi64>
  return
}

// Begins to add a tensor to its record: first of all runs, the record is made
// empty. `first` is the tensor's first dimension, which samples lie along.
func.func private @onnxq_begin(%first: index, %channels: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c31 = arith.constant 31 : index
  %i0 = arith.constant 0 : i64
  %i1 = arith.constant 1 : i64
  %pmin = arith.addi %base, %c5 : index
  %pexp = arith.addi %base, %c7 : index
  %pused = arith.addi %base, %c8 : index
  %pparts = arith.addi %base, %c31 : index
  %parts2 = arith.muli %parts, %c2 : index
  %pchannel = arith.addi %pparts, %parts2 : index
  %runs = memref.load %state[%base] : memref<?xi64>
  %isfirst = arith.cmpi eq, %runs, %i0 : i64
  %has = arith.cmpi ugt, %bins, %c0 : index
  scf.if %isfirst {
    func.call @onnxq_clear_extremes(%state, %pmin, %c1) : (memref<?xi64>, index, index) -> ()
    func.call @onnxq_clear_extremes(%state, %pparts, %parts) : (memref<?xi64>, index, index) -> ()
    func.call @onnxq_clear_extremes(%state, %pchannel, %channels) : (memref<?xi64>, index, index) -> ()
    // The range of a histogram that others make, too, is theirs.
    scf.if %has {
      %emin = arith.constant -100 : i64
      memref.store %emin, %state[%pexp] : memref<?xi64>
    }
  }
  %runs1 = arith.addi %runs, %i1 : i64
  memref.store %runs1, %state[%base] : memref<?xi64>
  scf.if %has {
    %stride = func.call @onnxq_stride(%bins) : (index) -> index
    %room = arith.muli %stride, %c4 : index
    %zero = arith.constant 0 : i32
    scf.for %i = %c0 to %room step %c1 {
      memref.store %zero, %scratch[%i] : memref<?xi32>
    }
  }
  func.call @onnxq_clear_waiting(%channels, %bins, %scratch) : (index, index, memref<?xi32>) -> ()
  // Samples have extremes of their own where the first dimension divides.
  %samples0 = memref.load %state[%c0] : memref<?xi64>
  %samples1 = arith.maxsi %samples0, %i1 : i64
  %samples = arith.index_cast %samples1 : i64 to index
  %over = arith.remui %first, %samples : index
  %divides = arith.cmpi eq, %over, %c0 : index
  %room2 = arith.cmpi ule, %samples, %parts : index
  %split = arith.andi %divides, %room2 : i1
  %used = arith.select %split, %samples1, %i0 : i64
  memref.store %used, %state[%pused] : memref<?xi64>
  return
}

// Adds up to 1024 elements of channel `r` to the record, whatever they hold.
func.func private @onnxq_any_piece(%x: memref<?xf32>, %at: index, %n: index, %o: index, %outer: index, %r: index, %channels: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c9 = arith.constant 9 : index
  %c14 = arith.constant 14 : index
  %limit = arith.constant 2123789977 : i32
  %has = arith.cmpi ugt, %bins, %c0 : index
  %pnan = arith.addi %base, %c2 : index
  %psquares = arith.addi %base, %c9 : index
  %p:4 = func.call @onnxq_places(%base, %parts, %channels) : (index, index, index) -> (index, index, index, index)
  %r2 = arith.muli %r, %c2 : index
  %pex = arith.addi %p#0, %r2 : index
  %r14 = arith.muli %r, %c14 : index
  %psum = arith.addi %p#1, %r14 : index
  %pcount = arith.addi %p#2, %r : index
  %s:3 = func.call @onnxq_extent(%x, %at, %n) : (memref<?xf32>, index, index) -> (f32, f32, i32)
  %fine = arith.cmpi ult, %s#2, %limit : i32
  %v:4 = scf.if %fine -> (f32, f32, i32, i64) {
    %ni = arith.index_cast %n : index to i64
    scf.yield %s#0, %s#1, %s#2, %ni : f32, f32, i32, i64
  } else {
    %t:3 = func.call @onnxq_valid_extent(%x, %at, %n, %c1) : (memref<?xf32>, index, index, index) -> (f32, f32, i32)
    %valid = func.call @onnxq_count(%x, %at, %n, %state, %pnan) : (memref<?xf32>, index, index, memref<?xi64>, index) -> i64
    scf.yield %t#0, %t#1, %t#2, %valid : f32, f32, i32, i64
  }
  func.call @onnxq_note(%state, %base, %o, %outer, %v#0, %v#1, %v#3) : (memref<?xi64>, index, index, index, f32, f32, i64) -> ()
  func.call @onnxq_widen(%state, %pex, %v#0, %v#1) : (memref<?xi64>, index, f32, f32) -> ()
  func.call @onnxq_increase(%state, %pcount, %v#3) : (memref<?xi64>, index, i64) -> ()
  func.call @onnxq_sums(%x, %at, %n, %v#2, %state, %psum, %psquares) : (memref<?xf32>, index, index, i32, memref<?xi64>, index, index) -> ()
  scf.if %has {
    %half = arith.divui %bins, %c2 : index
    %pexp = arith.addi %base, %c7 : index
    func.call @onnxq_distribute(%x, %at, %n, %v#2, %fine, %state, %pexp, %p#3, %half, %scratch) : (memref<?xf32>, index, index, i32, i1, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
  }
  return
}

// Adds `rows` times as many elements of channel `r` as are looked at together,
// at most 2048, to the record, if they lie within the band that the tensor's
// extremes make likely. Tells whether.
func.func private @onnxq_likely_piece(%x: memref<?xf32>, %at: index, %rows: index, %o: index, %outer: index, %r: index, %channels: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index, %scratch: memref<?xi32>) -> i1 attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c14 = arith.constant 14 : index
  %true = arith.constant true
  %has = arith.cmpi ugt, %bins, %c0 : index
  %pmin = arith.addi %base, %c5 : index
  %pmax = arith.addi %base, %c6 : index
  %w0 = memref.load %state[%pmin] : memref<?xi64>
  %w1 = memref.load %state[%pmax] : memref<?xi64>
  %b0 = arith.trunci %w0 : i64 to i32
  %b1 = arith.trunci %w1 : i64 to i32
  %low = arith.bitcast %b0 : i32 to f32
  %high = arith.bitcast %b1 : i32 to f32
  %before = func.call @onnxq_top(%low, %high) : (f32, f32) -> i32
  %e = func.call @onnxq_guess(%before) : (i32) -> i32
  %p:4 = func.call @onnxq_places(%base, %parts, %channels) : (index, index, index) -> (index, index, index, index)
  %r2 = arith.muli %r, %c2 : index
  %pex = arith.addi %p#0, %r2 : index
  %r14 = arith.muli %r, %c14 : index
  %psum = arith.addi %p#1, %r14 : index
  %pcount = arith.addi %p#2, %r : index
  %h:4 = func.call @onnxq_add_likely(%x, %at, %rows, %e, %state, %base, %psum) : (memref<?xf32>, index, index, i32, memref<?xi64>, index, index) -> (i1, i32, f32, f32)
  scf.if %h#0 {
    %lanes = func.call @onnxq_lane_count() : () -> index
    %n = arith.muli %rows, %lanes : index
    %ni = arith.index_cast %n : index to i64
    func.call @onnxq_note(%state, %base, %o, %outer, %h#2, %h#3, %ni) : (memref<?xi64>, index, index, index, f32, f32, i64) -> ()
    func.call @onnxq_widen(%state, %pex, %h#2, %h#3) : (memref<?xi64>, index, f32, f32) -> ()
    func.call @onnxq_increase(%state, %pcount, %ni) : (memref<?xi64>, index, i64) -> ()
    scf.if %has {
      %half = arith.divui %bins, %c2 : index
      %pexp = arith.addi %base, %c7 : index
      func.call @onnxq_distribute(%x, %at, %n, %h#1, %true, %state, %pexp, %p#3, %half, %scratch) : (memref<?xf32>, index, index, i32, i1, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
    }
  }
  return %h#0 : i1
}

// Adds the row at x[begin], of `length` elements, to the record: row `o` of
// `outer`, all of channel `r`.
func.func private @onnxq_slice(%x: memref<?xf32>, %begin: index, %length: index, %o: index, %outer: index, %r: index, %channels: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %lanes = func.call @onnxq_lane_count() : () -> index
  %c1024 = arith.constant 1024 : index
  %c2048 = arith.constant 2048 : index
  // Pieces that stay in the cache from one function to the next.
  scf.for %i = %c0 to %length step %c2048 {
    %left = arith.subi %length, %i : index
    %n = arith.minui %left, %c2048 : index
    %at = arith.addi %begin, %i : index
    %rows = arith.divui %n, %lanes : index
    %several = arith.cmpi ne, %rows, %c0 : index
    %done = scf.if %several -> (index) {
      %ok = func.call @onnxq_likely_piece(%x, %at, %rows, %o, %outer, %r, %channels, %state, %base, %parts, %bins, %scratch)
          : (memref<?xf32>, index, index, index, index, index, index, memref<?xi64>, index, index, index, memref<?xi32>) -> i1
      %all = arith.muli %rows, %lanes : index
      %d = arith.select %ok, %all, %c0 : index
      scf.yield %d : index
    } else {
      scf.yield %c0 : index
    }
    scf.for %k = %done to %n step %c1024 {
      %rest = arith.subi %n, %k : index
      %m = arith.minui %rest, %c1024 : index
      %from = arith.addi %at, %k : index
      func.call @onnxq_any_piece(%x, %from, %m, %o, %outer, %r, %channels, %state, %base, %parts, %bins, %scratch)
          : (memref<?xf32>, index, index, index, index, index, index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
    }
  }
  return
}

// Eight neighbours, of which only the masked ones are there.
func.func private @onnxq_lanes(%x: memref<?xf32>, %at: index, %full: i1, %mask: vector<8xi1>) -> vector<8xf32> attributes {onnxq.inline} {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %e = scf.if %full -> (vector<8xf32>) {
    %all = vector.load %x[%at] : memref<?xf32>, vector<8xf32>
    scf.yield %all : vector<8xf32>
  } else {
    %some = vector.maskedload %x[%at], %mask, %zero : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    scf.yield %some : vector<8xf32>
  }
  return %e : vector<8xf32>
}

// Adds one column of a tile by itself, leaving out what doesn't count.
func.func private @onnxq_column(%x: memref<?xf32>, %begin: index, %rows: index, %step: index, %state: memref<?xi64>, %base: index, %pex: index, %psum: index, %pcount: index) -> (f32, f32, i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %i0 = arith.constant 0 : i64
  %sumbias = arith.constant 224 : i64
  %squarebias = arith.constant 352 : i64
  %pnan = arith.addi %base, %c2 : index
  %psquares = arith.addi %base, %c9 : index
  %t:3 = func.call @onnxq_valid_extent(%x, %begin, %rows, %step) : (memref<?xf32>, index, index, index) -> (f32, f32, i32)
  func.call @onnxq_widen(%state, %pex, %t#0, %t#1) : (memref<?xi64>, index, f32, f32) -> ()
  %valid = scf.for %i = %c0 to %rows step %c1 iter_args(%v = %i0) -> (i64) {
    %o = arith.muli %i, %step : index
    %at = arith.addi %begin, %o : index
    %ok = func.call @onnxq_count(%x, %at, %c1, %state, %pnan) : (memref<?xf32>, index, index, memref<?xi64>, index) -> i64
    %isok = arith.cmpi ne, %ok, %i0 : i64
    scf.if %isok {
      %e = memref.load %x[%at] : memref<?xf32>
      %d = arith.extf %e : f32 to f64
      %dd = arith.mulf %d, %d : f64
      func.call @onnxq_add(%state, %psum, %d, %sumbias) : (memref<?xi64>, index, f64, i64) -> ()
      func.call @onnxq_add(%state, %psquares, %dd, %squarebias) : (memref<?xi64>, index, f64, i64) -> ()
    }
    %v2 = arith.addi %v, %ok : i64
    scf.yield %v2 : i64
  }
  func.call @onnxq_increase(%state, %pcount, %valid) : (memref<?xi64>, index, i64) -> ()
  return %t#0, %t#1, %valid : f32, f32, i64
}

// Adds up to 128 rows of up to eight neighbouring channels to the record,
// channels being `step` elements in a row. Gives the extremes and the number
// of elements that count.
func.func private @onnxq_columns(%x: memref<?xf32>, %begin: index, %rows: index, %width: index, %step: index, %state: memref<?xi64>, %base: index, %pex: index, %psum: index, %pcount: index) -> (f32, f32, i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c14 = arith.constant 14 : index
  %i0 = arith.constant 0 : i32
  %l0 = arith.constant 0 : i64
  %bias = arith.constant 224 : i64
  %limit = arith.constant 2123789977 : i32
  %inf1 = arith.constant 0x7F800000 : f32
  %ninf1 = arith.constant 0xFF800000 : f32
  %inf = arith.constant dense<0x7F800000> : vector<8xf32>
  %ninf = arith.constant dense<0xFF800000> : vector<8xf32>
  %zero = arith.constant dense<0.0> : vector<8xf64>
  %izero = arith.constant dense<0> : vector<8xi32>
  %magnitude = arith.constant dense<2147483647> : vector<8xi32>
  %psquares = arith.addi %base, %c9 : index
  %full = arith.cmpi eq, %width, %c8 : index
  %mask = vector.create_mask %width : vector<8xi1>
  %v:3 = scf.for %i = %c0 to %rows step %c1 iter_args(%mn = %inf, %mx = %ninf, %top = %izero)
      -> (vector<8xf32>, vector<8xf32>, vector<8xi32>) {
    %o = arith.muli %i, %step : index
    %at = arith.addi %begin, %o : index
    %e = func.call @onnxq_lanes(%x, %at, %full, %mask) : (memref<?xf32>, index, i1, vector<8xi1>) -> vector<8xf32>
    %less = arith.cmpf olt, %e, %mn : vector<8xf32>
    %mn2 = arith.select %less, %e, %mn : vector<8xi1>, vector<8xf32>
    %more = arith.cmpf ogt, %e, %mx : vector<8xf32>
    %mx2 = arith.select %more, %e, %mx : vector<8xi1>, vector<8xf32>
    %bits = arith.bitcast %e : vector<8xf32> to vector<8xi32>
    %a = arith.andi %bits, %magnitude : vector<8xi32>
    %top2 = arith.maxui %top, %a : vector<8xi32>
    scf.yield %mn2, %mx2, %top2 : vector<8xf32>, vector<8xf32>, vector<8xi32>
  }
  %largest = vector.reduction <maxui>, %v#2 : vector<8xi32> into i32
  %fine = arith.cmpi ult, %largest, %limit : i32
  %result:3 = scf.if %fine -> (f32, f32, i64) {
    %done = scf.while (%top = %largest) : (i32) -> i32 {
      %some = arith.cmpi ne, %top, %i0 : i32
      scf.condition(%some) %top : i32
    } do {
    ^bb0(%top: i32):
      %band:2 = func.call @onnxq_band(%top) : (i32) -> (i32, f64)
      %lower = vector.broadcast %band#0 : i32 to vector<8xi32>
      %upper = vector.broadcast %top : i32 to vector<8xi32>
      %start = vector.broadcast %band#1 : f64 to vector<8xf64>
      %w:4 = scf.for %i = %c0 to %rows step %c1 iter_args(%s = %zero, %q = %start, %l = %zero, %b = %izero)
          -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi32>) {
        %o = arith.muli %i, %step : index
        %at = arith.addi %begin, %o : index
        %e = func.call @onnxq_lanes(%x, %at, %full, %mask) : (memref<?xf32>, index, i1, vector<8xi1>) -> vector<8xf32>
        %r:4 = func.call @onnxq_band_step(%e, %lower, %upper, %s, %q, %l, %b)
            : (vector<8xf32>, vector<8xi32>, vector<8xi32>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi32>) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi32>)
        scf.yield %r#0, %r#1, %r#2, %r#3 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xi32>
      }
      scf.for %c = %c0 to %width step %c1 {
        %sum = vector.extract %w#0[%c] : f64 from vector<8xf64>
        %c14th = arith.muli %c, %c14 : index
        %at = arith.addi %psum, %c14th : index
        func.call @onnxq_add(%state, %at, %sum, %bias) : (memref<?xi64>, index, f64, i64) -> ()
      }
      func.call @onnxq_add_squares(%state, %psquares, %w#1, %w#2, %band#1) : (memref<?xi64>, index, vector<8xf64>, vector<8xf64>, f64) -> ()
      %below = vector.reduction <maxui>, %w#3 : vector<8xi32> into i32
      scf.yield %below : i32
    }
    %rowsi = arith.index_cast %rows : index to i64
    %widthi = arith.index_cast %width : index to i64
    %number = arith.muli %rowsi, %widthi : i64
    %all:2 = scf.for %c = %c0 to %width step %c1 iter_args(%mn = %inf1, %mx = %ninf1) -> (f32, f32) {
      %lo = vector.extract %v#0[%c] : f32 from vector<8xf32>
      %hi = vector.extract %v#1[%c] : f32 from vector<8xf32>
      %c2nd = arith.muli %c, %c2 : index
      %at = arith.addi %pex, %c2nd : index
      func.call @onnxq_widen(%state, %at, %lo, %hi) : (memref<?xi64>, index, f32, f32) -> ()
      %pc = arith.addi %pcount, %c : index
      func.call @onnxq_increase(%state, %pc, %rowsi) : (memref<?xi64>, index, i64) -> ()
      %less = arith.cmpf olt, %lo, %mn : f32
      %mn2 = arith.select %less, %lo, %mn : f32
      %more = arith.cmpf ogt, %hi, %mx : f32
      %mx2 = arith.select %more, %hi, %mx : f32
      scf.yield %mn2, %mx2 : f32, f32
    }
    scf.yield %all#0, %all#1, %number : f32, f32, i64
  } else {
    %all:3 = scf.for %c = %c0 to %width step %c1 iter_args(%mn = %inf1, %mx = %ninf1, %number = %l0) -> (f32, f32, i64) {
      %at = arith.addi %begin, %c : index
      %c2nd = arith.muli %c, %c2 : index
      %pe = arith.addi %pex, %c2nd : index
      %c14th = arith.muli %c, %c14 : index
      %ps = arith.addi %psum, %c14th : index
      %pc = arith.addi %pcount, %c : index
      %r:3 = func.call @onnxq_column(%x, %at, %rows, %step, %state, %base, %pe, %ps, %pc) : (memref<?xf32>, index, index, index, memref<?xi64>, index, index, index, index) -> (f32, f32, i64)
      %less = arith.cmpf olt, %r#0, %mn : f32
      %mn2 = arith.select %less, %r#0, %mn : f32
      %more = arith.cmpf ogt, %r#1, %mx : f32
      %mx2 = arith.select %more, %r#1, %mx : f32
      %number2 = arith.addi %number, %r#2 : i64
      scf.yield %mn2, %mx2, %number2 : f32, f32, i64
    }
    scf.yield %all#0, %all#1, %all#2 : f32, f32, i64
  }
  return %result#0, %result#1, %result#2 : f32, f32, i64
}

// Ends to add a tensor to its record.
func.func private @onnxq_end(%channels: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %has = arith.cmpi ugt, %bins, %c0 : index
  func.call @onnxq_settle(%channels, %state, %base, %parts, %bins, %scratch) : (index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
  scf.if %has {
    %half = arith.divui %bins, %c2 : index
    %p:4 = func.call @onnxq_places(%base, %parts, %channels) : (index, index, index) -> (index, index, index, index)
    func.call @onnxq_flush(%scratch, %half, %state, %p#3) : (memref<?xi32>, index, memref<?xi64>, index) -> ()
  }
  return
}

// Adds a tensor of [outer, channels, inner] to its record.
func.func private @onnxq_observe(%x: memref<?xf32>, %first: index, %outer: index, %channels: index, %inner: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c40 = arith.constant 40 : index
  %c48 = arith.constant 48 : index
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %histograms = arith.muli %stride, %c4 : index
  %groups = func.call @onnxq_waiting_groups(%channels) : (index) -> index
  %waiting0 = arith.muli %groups, %c40 : index
  %waiting = arith.addi %waiting0, %c48 : index
  %room = arith.addi %histograms, %waiting : index
  %scratch = memref.alloca(%room) {alignment = 64 : i64} : memref<?xi32>
  func.call @onnxq_begin(%first, %channels, %state, %base, %parts, %bins, %scratch) : (index, index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
  // One element for each channel in a row, or rows within a channel.
  %flat = arith.cmpi eq, %inner, %c1 : index
  %several = arith.cmpi ugt, %channels, %c1 : index
  %across = arith.andi %flat, %several : i1
  scf.if %across {
    func.call @onnxq_across(%x, %outer, %channels, %state, %base, %parts, %bins, %scratch) : (memref<?xf32>, index, index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
  } else {
    scf.for %o = %c0 to %outer step %c1 {
      scf.for %r = %c0 to %channels step %c1 {
        %row0 = arith.muli %o, %channels : index
        %row = arith.addi %row0, %r : index
        %begin = arith.muli %row, %inner : index
        func.call @onnxq_slice(%x, %begin, %inner, %o, %outer, %r, %channels, %state, %base, %parts, %bins, %scratch) : (memref<?xf32>, index, index, index, index, index, index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
      }
    }
  }
  func.call @onnxq_end(%channels, %state, %base, %parts, %bins, %scratch) : (index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
  return
}

// Adds the `n` elements from x[begin] on to the histogram at `hist` only, whose
// range is at `exponent`.
func.func private @onnxq_bins(%x: memref<?xf32>, %begin: index, %n: index, %state: memref<?xi64>, %exponent: index, %hist: index, %bins: index, %scratch: memref<?xi32>) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c2048 = arith.constant 2048 : index
  %limit = arith.constant 2123789977 : i32
  %half = arith.divui %bins, %c2 : index
  // Pieces that stay in the cache from one function to the next.
  scf.for %i = %c0 to %n step %c2048 {
    %left = arith.subi %n, %i : index
    %m = arith.minui %left, %c2048 : index
    %at = arith.addi %begin, %i : index
    %s:3 = func.call @onnxq_extent(%x, %at, %m) : (memref<?xf32>, index, index) -> (f32, f32, i32)
    %fine = arith.cmpi ult, %s#2, %limit : i32
    %top = scf.if %fine -> (i32) {
      scf.yield %s#2 : i32
    } else {
      %t:3 = func.call @onnxq_valid_extent(%x, %at, %m, %c1) : (memref<?xf32>, index, index, index) -> (f32, f32, i32)
      scf.yield %t#2 : i32
    }
    func.call @onnxq_distribute(%x, %at, %m, %top, %fine, %state, %exponent, %hist, %half, %scratch) : (memref<?xf32>, index, index, i32, i1, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
  }
  return
}

// The same of a whole tensor of `n` elements, `first` being its first dimension.
func.func private @onnxq_observe_bins(%x: memref<?xf32>, %first: index, %n: index, %state: memref<?xi64>, %base: index, %parts: index, %bins: index) attributes {passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c88 = arith.constant 88 : index
  %stride = func.call @onnxq_stride(%bins) : (index) -> index
  %histograms = arith.muli %stride, %c4 : index
  %room = arith.addi %histograms, %c88 : index
  %scratch = memref.alloca(%room) {alignment = 64 : i64} : memref<?xi32>
  func.call @onnxq_begin(%first, %c1, %state, %base, %parts, %bins, %scratch) : (index, index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
  %c7 = arith.constant 7 : index
  %pexp = arith.addi %base, %c7 : index
  %p:4 = func.call @onnxq_places(%base, %parts, %c1) : (index, index, index) -> (index, index, index, index)
  func.call @onnxq_bins(%x, %c0, %n, %state, %pexp, %p#3, %bins, %scratch) : (memref<?xf32>, index, index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
  func.call @onnxq_end(%c1, %state, %base, %parts, %bins, %scratch) : (index, memref<?xi64>, index, index, index, memref<?xi32>) -> ()
  return
}
