// Passes from the `onnx` dialect down to LLVM.

#ifndef ONNXQUANT_CONVERSION_PASSES_TD
#define ONNXQUANT_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"
include "OnnxQuant/Conversion/CodegenPasses.td"

def ResolveBranches : Pass<"onnx-resolve-branches", "::mlir::ModuleOp"> {
  let summary = "make ranks known that depend on the branch of an If";
  let description = [{
    An If of a known condition is replaced by its branch. Where the branches of
    any other If give a value of different ranks, what follows is moved into
    both branches: there the rank is known, and questions that the model asks
    about it are answered. A branch that cannot be run for the shapes at hand
    ends in a check that fails with the reason.

    ```mlir
    %r = "onnx.If"(%c) ({
      %s = "onnx.Squeeze"(%x, %axes) : (tensor<?x8x?xf32>, tensor<1xi64>) -> tensor<?x8xf32>
      onnx.Yield %s : tensor<?x8xf32>
    }, {
      onnx.Yield %x : tensor<?x8x?xf32>
    }) : (tensor<i1>) -> tensor<*xf32>
    %y = "onnx.Relu"(%r) : (tensor<*xf32>) -> tensor<*xf32>
    // becomes
    %y = "onnx.If"(%c) ({
      %s = "onnx.Squeeze"(%x, %axes) : (tensor<?x8x?xf32>, tensor<1xi64>) -> tensor<?x8xf32>
      %t = "onnx.Relu"(%s) : (tensor<?x8xf32>) -> tensor<?x8xf32>
      onnx.Yield %t : tensor<?x8xf32>
    }, {
      %t = "onnx.Relu"(%x) : (tensor<?x8x?xf32>) -> tensor<?x8x?xf32>
      onnx.Yield %t : tensor<?x8x?xf32>
    }) : (tensor<i1>) -> tensor<*xf32>
    ```
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect",
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::ub::UBDialect"];
  let statistics = [
    Statistic<"numTaken", "taken", "Branches that are always taken">,
    Statistic<"numSunk", "sunk", "Branches that what follows was moved into">,
    Statistic<"numCut", "cut", "Branches that can't be run">,
  ];
}

def ConvertONNXToLinalg : Pass<"onnx-to-linalg", "::mlir::ModuleOp"> {
  let summary = "lower graphs to linalg, tensor, scf, arith and math";
  let description = [{
    Every op becomes loops over elements. Tensors are stored without signs and
    without small floats: `ui8` as `i8`, `f16` as `i16`, booleans as `i8`.
    What can only be known at run time is checked by `cf.assert` with a message
    that names the node. Ranks must be known; sizes may be dynamic. A Loop may
    run on without end; with `max-iterations` it fails after so many.

    ```mlir
    %y = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.generic {...} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %zero : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect",
    "::onnxquant::onnxq::ONNXQDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"maxIterations", "max-iterations", "int64_t", "0",
      "iterations after which a Loop fails; 0 lets it run on">,
    Option<"bare", "bare", "bool", "false",
      "for microcontrollers: sums stay in registers, nothing is copied to be "
      "padded or to have its axes in order">,
  ];
}

def ConvertONNXToKernels : Pass<"onnx-to-kernels", "::mlir::ModuleOp"> {
  let summary = "turn convolutions and products of matrices into kernels";
  let description = [{
    Convolutions whose weights are constant, and products, become
    `onnxq.contract` with channels last; transposes stand around them. A
    transposed convolution is a plain one per phase of its strides. Small floats
    are computed as `f32` between casts. Convolutions with weights, and windows
    with pads, that are only known at run time stay for `onnx-to-linalg`, which
    makes plain loops of them; `report` tells which nodes these are, and why.
    The module's attribute `onnxq.without_kernel` lists their ops.

    ```mlir
    %y = "onnx.Conv"(%x, %w, %b) {pads = [1, 1, 1, 1], ...} : (tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>) -> tensor<1x16x9x9xf32>
    // becomes
    %t = "onnx.Transpose"(%x) {perm = [0, 2, 3, 1]} : (tensor<1x8x9x9xf32>) -> tensor<1x9x9x8xf32>
    %e = tensor.empty() : tensor<1x9x9x16xf32>
    %c = onnxq.contract ins(%t, %v : tensor<1x9x9x8xf32>, tensor<1x72x16xf32>) extras(%b : tensor<16xf32>) outs(%e : tensor<1x9x9x16xf32>) attributes {...} {
    ^bb0(%acc: f32, %bias: f32):
      %s = arith.addf %acc, %bias : f32
      onnxq.yield %s : f32
    } -> tensor<1x9x9x16xf32>
    %y = "onnx.Transpose"(%c) {perm = [0, 3, 1, 2]} : (tensor<1x9x9x16xf32>) -> tensor<1x16x9x9xf32>
    ```
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect",
    "::onnxquant::onnxq::ONNXQDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"report", "report", "bool", "false",
           "tell which nodes have no kernel, and why">,
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels in the graph">,
    Statistic<"numLeft", "left", "Ops that plain loops compute">,
  ];
}

def ConvertQuantizedToKernels
    : Pass<"onnx-quantized-to-kernels", "::mlir::ModuleOp"> {
  let summary = "turn quantized convolutions and products into kernels";
  let description = [{
    QLinearConv, QLinearMatMul, ConvInteger, MatMulInteger, their relatives of
    com.microsoft, and float convolutions and products between dequantizers
    become `onnxq.contract` of integers with channels last, if the weights of
    convolutions are constant. Zero points of constant weights are taken away
    from them; that of the activations is the border's value, and is corrected
    for in the epilogue, together with the bias. A quantizer is the epilogue's
    `onnxq.requantize`, and a Relu or Clip before it are its bounds; real
    numbers are made by ops that the epilogue takes in later. Results are those
    of docs/QuantizationSemantics.md, bit by bit. Products of two activations are contractions as well, whose weights are
    packed at run time; small groups become larger ones with weights of zero.
    What has no kernel of integers is listed in the module's attribute
    `onnxq.without_kernel`, and told with the reason by `report`.

    ```mlir
    %y = "onnx.QLinearMatMul"(%a, %as, %az, %b, %bs, %bz, %ys, %yz) : (tensor<4x32xui8>, ...) -> tensor<4x16xui8>
    // becomes
    %e = tensor.empty() : tensor<4x16xui8>
    %y = onnxq.contract ins(%a, %w : tensor<4x32xui8>, tensor<1x32x16xi8>) extras(%c : tensor<16xi32>) outs(%e : tensor<4x16xui8>) attributes {extra_maps = [affine_map<(d0, d1) -> (d1)>], input_unsigned} {
    ^bb0(%acc: i32, %correction: i32):
      %t = arith.addi %acc, %correction : i32
      %q = onnxq.requantize %t scale %factor zero_point %yz in [0, 255] : i32 -> i8
      onnxq.yield %q : i8
    } -> tensor<4x16xui8>
    ```
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect",
    "::onnxquant::onnxq::ONNXQDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"report", "report", "bool", "false",
           "tell which nodes have no kernel of integers, and why">,
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels of integers in the graph">,
    Statistic<"numLeft", "left", "Ops of integers without such a kernel">,
  ];
}

def FuseEpilogue : Pass<"onnxq-fuse-epilogue", "::mlir::ModuleOp"> {
  let summary = "compute what follows a kernel on its accumulators";
  let description = [{
    A `linalg.generic` that computes element by element, and is the only reader
    of a kernel's result, goes into the kernel's epilogue; the other tensors that
    it reads become extras.

    ```mlir
    %c = onnxq.contract ... { ^bb0(%acc: f32): onnxq.yield %acc : f32 } -> tensor<1x9x9x16xf32>
    %y = linalg.generic {...} ins(%c, %r) outs(%e) { ... arith.addf ... }
    // becomes
    %y = onnxq.contract ... extras(%r : tensor<1x9x9x16xf32>) ... {
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
    %c = onnxq.contract ins(%x, %p : tensor<64x32xf32>, tensor<512xf32>) ... {packing = #onnxq.packing<groups = 1, depth = 32, columns = 16, mr = 6, nr = 16, step = 1, kind = fma>} ...
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
    and written by pointers (x86's tiles, loads ahead on RISC-V) is checked by
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

def PrintLowerings : Pass<"onnx-print-lowerings", "::mlir::ModuleOp"> {
  let summary = "print which ops of the onnx dialect have a lowering";
  let description = [{
    A line per op with `yes` or `no`, sorted by name: `onnx.Abs yes`. The module
    doesn't matter and stays as it is.
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect"];
}

#endif // ONNXQUANT_CONVERSION_PASSES_TD
