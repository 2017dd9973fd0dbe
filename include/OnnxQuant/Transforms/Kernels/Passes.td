// Passes on kernels: epilogues, packed weights, loops over vectors.

#ifndef ONNXQUANT_TRANSFORMS_KERNELS_PASSES_TD
#define ONNXQUANT_TRANSFORMS_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def FuseEpilogue : Pass<"onnxq-fuse-epilogue", "::mlir::ModuleOp"> {
  let summary = "compute what follows a kernel on its accumulators";
  let description = [{
    A `linalg.generic` that computes element by element, and is the only reader
    of a kernel's result, goes into the kernel's epilogue; the other tensors that
    it reads become epilogue operands.

    ```mlir
    %c = onnxq.contract ... { ^bb0(%acc: f32): onnxq.yield %acc : f32 } -> tensor<1x9x9x16xf32>
    %y = linalg.generic {...} ins(%c, %r) outs(%e) { ... arith.addf ... }
    // becomes
    %y = onnxq.contract ... epilogue(%r : tensor<1x9x9x16xf32>) ... {
    ^bb0(%acc: f32, %x: f32):
      %s = arith.addf %acc, %x : f32
      onnxq.yield %s : f32
    } -> tensor<1x9x9x16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::onnxquant::onnxq::ONNXQDialect"];
  let statistics = [
    Statistic<"numFused", "fused", "Ops that went into an epilogue">,
  ];
}

def FoldRequantize : Pass<"onnxq-fold-requantize", "::mlir::ModuleOp"> {
  let summary = "shorten computations between requantizations";
  let description = [{
    Works on the bodies of elementwise `linalg.generic` ops and the epilogues of
    kernels, and changes no result.

    - What is dequantized right after it was requantized stays a float: an
      `onnxq.requantize` to `f32`.
    - Where it is requantized with the same scale again, there is one
      requantization with bounds in common.
    - A maximum or minimum with a constant before a requantization is a bound of
      it (Relu, Clip).
    - `round(x / s)` is `round(fma(x, high, x * low))`, `high + low` about
      `1 / s`, if trying all floats near a rounding boundary shows that no
      result changes (targets with fused multiply-adds only).
    - Maxima and minima of what is proved to be a finite number are comparisons.
    - Operands whose elements are all the same are constants.
    - What is proved to fit 32 bits before it is clamped is marked (`fits_i32`).

    ```mlir
    %b = onnxq.requantize %acc scale %m zero_point %z in [0, 255] : i32 -> i8
    %r = ... arith.sitofp, arith.mulf %scale      // dequantized
    %c = arith.maximumf %r, %zero : f32           // Relu
    %v = arith.divf %c, %scale
    %y = onnxq.requantize %v zero_point %z in [0, 255] : f32 -> i8
    onnxq.yield %y : i8
    // becomes
    %y = onnxq.requantize %acc scale %m zero_point %z in [3, 255] {fits_i32} : i32 -> i8
    onnxq.yield %y : i8
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numKept", "kept as floats", "Requantized numbers that aren't narrowed and widened again">,
    Statistic<"numMerged", "merged", "Requantizations that became one with the one before">,
    Statistic<"numBounds", "bounds", "Maxima and minima that became bounds">,
    Statistic<"numMultiplied", "multiplied", "Divisions that became multiplications">,
    Statistic<"numConstants", "constants", "Operands that became constants">,
  ];
}

def PackWeights : Pass<"onnxq-pack-weights", "::mlir::ModuleOp"> {
  let summary = "choose register tiles and bring weights into their order";
  let description = [{
    For every contraction of floats the target's registers, the number of rows
    and of columns decide on the tile; its constant weights are brought into the
    order in which the tile reads them. Weights that aren't constant are read where
    they are; those of integers are packed at run time. An input with padding
    but few channels is staged: so a whole row of the window is one run.

    Convolutions of 3x3 with a stride of 1 and enough channels get weights
    transformed after Winograd, unless `winograd` is off: fewer products, other
    roundings (see docs/Kernels.md). Those of integers are transformed exactly,
    where that is modelled to be faster (see docs/Kernels.md).

    ```mlir
    %c = onnxq.contract ins(%x, %w : tensor<64x32xf32>, tensor<1x32x16xf32>) ...
    // becomes
    %c = onnxq.contract ins(%x, %p : tensor<64x32xf32>, tensor<512xf32>) ... {packing = #onnxq.packing<groups = 1, k = 32, n = 16, mr = 6, nr = 16, step = 1, kind = fma>} ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::onnxquant::onnxq::ONNXQDialect"];
  let options = [
    Option<"winograd", "winograd", "bool", "true",
           "transform the weights of 3x3 convolutions where that is faster">,
  ];
  let statistics = [
    Statistic<"numPacked", "packed", "Contractions with packed weights">,
    Statistic<"numStaged", "staged", "Inputs that are staged">,
  ];
}

def LowerKernels : Pass<"onnxq-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "turn kernels on buffers into loops over register tiles";
  let description = [{
    A contraction becomes a grid of tiles (`scf.parallel`: blocks of rows, panels
    of columns, tiles of rows), each of which sums its products in vectors and
    applies the epilogue to them. The last tile of rows begins earlier and
    computes some rows again; the last panel of columns has a tile of its own.
    Places around the input are read from a row of zeros. `threads` decides on
    the size of some blocks, never on a result. With `check-bounds`, what is read
    and written by pointers (AMX tiles, loads ahead on RISC-V) is checked by
    `cf.assert`; `onnxq-check-bounds` sees the rest.

    ```mlir
    onnxq.contract ins(%x, %w : memref<64x32xf32>, memref<512xf32>) outs(%y : memref<64x16xf32>) ...
    // becomes
    scf.parallel (%p, %t) = (%c0, %c0) to (%c1, %c11) step (%c1, %c1) {
      ...
      %sums:12 = scf.for %k = %c0 to %c32 step %c1 iter_args(...) {
        ... vector.fma ...
      }
      ... vector.store ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let options = [
    Option<"threads", "threads", "int64_t", "1",
           "threads that share a kernel: its blocks are cut for so many">,
    Option<"checkBounds", "check-bounds", "bool", "false",
           "check accesses by pointers">,
  ];
  let statistics = [
    Statistic<"numLowered", "lowered", "Kernels that became loops">,
  ];
}

def LowerRequantize : Pass<"onnxq-lower-requantize", "::mlir::ModuleOp"> {
  let summary = "turn requantizations into arithmetic";
  let description = [{
    Kernels that end in a requantization to 8 bits have its instructions;
    `onnxq.requantize` that is left becomes plain arithmetic, on scalars and on
    vectors.

    ```mlir
    %y = onnxq.requantize %x zero_point %z in [0, 255] : f32 -> i8
    // becomes
    %r = math.roundeven %x : f32
    %s = arith.addf %r, %point : f32
    %0 = arith.cmpf ogt, %s, %lower : f32
    %l = arith.select %0, %s, %lower : f32
    %1 = arith.cmpf olt, %l, %upper : f32
    %u = arith.select %1, %l, %upper : f32
    %i = arith.fptosi %u : f32 to i32
    %y = arith.trunci %i : i32 to i8
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numLowered", "lowered", "Requantizations that became arithmetic">,
  ];
}

def LowerTables : Pass<"onnxq-lower-tables", "::mlir::ModuleOp"> {
  let summary = "turn entries of tables into shuffles of bytes, or loads";
  let description = [{
    `onnxq.entry` of a vector becomes what the target has for it: selections
    from registers that hold the table (AVX-512 VBMI, AArch64), shuffles of 16
    bytes at a time (x86), or a load per lane; that of a byte a load.

    ```mlir
    %y = onnxq.entry %x of dense<7> : tensor<256xi8> : i8
    // becomes
    %table = memref.get_global @onnxq_table_0 : memref<256xi8>
    %i = arith.index_castui %x : i8 to index
    %y = memref.load %table[%i] : memref<256xi8>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numLowered", "lowered", "Entries that became instructions">,
  ];
}

#endif // ONNXQUANT_TRANSFORMS_KERNELS_PASSES_TD
