// Passes that find the ranges of a model's tensors.

#ifndef ONNXQUANT_TRANSFORMS_CALIBRATE_PASSES_TD
#define ONNXQUANT_TRANSFORMS_CALIBRATE_PASSES_TD

include "OnnxQuant/Support/Options.td"

def Instrument : Pass<"onnx-instrument", "::mlir::ModuleOp"> {
  let summary = "put observers on the tensors that quantization asks for";
  let description = [{
    Observes the float operands and results of ops that can be quantized; with
    `all`, every float tensor. Constants are not observed. The graph gets one
    more input, the number of samples in a run, and one more output, the
    observers' words.

    ```mlir
    func.func @main_graph(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
      %y = "onnx.Conv"(%x, %w, %b) {onnx_result_names = ["y"]} : ...
      onnx.Return %y : tensor<1x4x8x8xf32>
    }
    // becomes
    func.func @main_graph(%x: tensor<1x3x8x8xf32>, %n: tensor<1xi64>) -> (tensor<1x4x8x8xf32>, tensor<131xi64>) {
      %state = onnxq.state %n : tensor<1xi64> -> memref<131xi64>
      onnxq.observe "x" %x into %state {bins = 0 : i64, channel_axis = 1 : i64, channels = 3 : i64, offset = 1 : i64, parts = 1 : i64} : tensor<1x3x8x8xf32>, memref<131xi64>
      %y = "onnx.Conv"(%x, %w, %b) {onnx_result_names = ["y"]} : ...
      onnxq.observe "y" %y into %state {...} : tensor<1x4x8x8xf32>, memref<131xi64>
      %words = onnxq.statistics %state : memref<131xi64> -> tensor<131xi64>
      onnx.Return %y, %words : tensor<1x4x8x8xf32>, tensor<131xi64>
    }
    ```

    With `form=onnx` the observers are nodes of ONNX, so that the result can be
    exported and run anywhere: each tensor T has a ReduceMin and a ReduceMax,
    and the graph two more outputs of one element, T_ReduceMin and T_ReduceMax.
    Tensors of subgraphs have none.

    ```mlir
    %0 = "onnx.ReduceMin"(%y, %none) {onnx_node_name = "y_ReduceMin", onnx_result_names = ["y_ReduceMin_Reshape"]} : ...
    %1 = "onnx.Reshape"(%0, %all) {onnx_node_name = "y_ReduceMin_Reshape", onnx_result_names = ["y_ReduceMin"]} : ...
    ```
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect",
    "::onnxquant::onnxq::ONNXQDialect"];
  let options = [
    Option<"all", "all", "bool", "false", "observe every float tensor">,
    Option<"form", "form", "std::string", "\"observers\"",
      "observers, or onnx for ReduceMin and ReduceMax">,
    ListOption<"opTypes", "op-types", "std::string",
      "observe operands and results of these operators only, such as Conv">,
    ListOption<"nodes", "nodes", "std::string",
      "observe operands and results of these nodes only">,
    Option<"bins", "bins", "int64_t", "0",
      "bins of the histograms, a power of two; 0 for none">,
    Option<"batch", "batch", "int64_t", "1",
      "samples that a run can hold at most">,
  ];
  let statistics = [
    Statistic<"numObserved", "observed", "Tensors that are observed">,
    Statistic<"numUnnamed", "unnamed", "Tensors left out for lack of a name">,
  ];
}

def FuseObservers : Pass<"onnxq-fuse-observers", "::mlir::ModuleOp"> {
  let summary = "compute and observe chains of elementwise ops slice by slice";
  let description = [{
    Puts neighbouring elementwise ops and observers of large buffers of one
    shape into loops, so that a part of a buffer is observed while it is in the
    cache: over the first two dimensions where channels are along the second,
    over blocks of rows where they are along the last. Buffers that nothing else
    reads become as small as a block.

    ```mlir
    linalg.generic {...} ins(%a : memref<1x8x96x96xf32>) outs(%b : memref<1x8x96x96xf32>) {...}
    onnxq.observe "b" %b into %state {...} : memref<1x8x96x96xf32>, memref<999xi64>
    // becomes
    onnxq.observe_begin %scratch into %state {...} : memref<256xi64>, memref<999xi64>
    scf.for %n = %c0 to %c1 step %c1 {
      scf.for %c = %c0 to %c8 step %c1 {
        linalg.generic {...} ins(%sliceOfA : ...) outs(%sliceOfB : ...) {...}
        onnxq.observe_slice %b[%n, %c] with %scratch : ...
      }
    }
    onnxq.observe_end %scratch : memref<256xi64>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::onnxquant::onnxq::ONNXQDialect"];
  let statistics = [
    Statistic<"numFused", "fused", "Observers that share a loop">,
    Statistic<"numSmall", "small", "Buffers that are as small as a block">,
  ];
}

def LowerObservers : Pass<"onnxq-lower-observers", "::mlir::ModuleOp"> {
  let summary = "turn observers of buffers into calls of functions";
  let description = [{
    Each observer of a buffer becomes a call of a function of Observers.h, which
    code that is loaded into this process finds.

    ```mlir
    onnxq.observe "x" %buffer into %state {...} : memref<1x3x8x8xf32>, memref<131xi64>
    // becomes
    call @onnxq_observe(%x, %c1, %c1, %c3, %c64, %words, %c1, %c0, %c1) : (!llvm.ptr, i64, ...) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"];
}

def Calibrate : PassWithGroups<"onnx-calibrate", "::mlir::ModuleOp"> {
  let summary = "run data through a model and note the ranges of its tensors";
  let description = [{
    Instruments a copy of the model, compiles it, runs the samples below `data`
    and writes the ranges to the module as `onnxq.calibration`. The result
    depends on the set of samples, not on their order or how they are batched
    (`moving-average` follows the order by its nature).

    ```mlir
    module { ... }
    // becomes
    module attributes {onnxq.calibration = {x = {max = 1.0 : f64, min = -1.0 : f64}, ...}} { ... }
    ```
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect",
    "::onnxquant::onnxq::ONNXQDialect"];
  let groups = [
    Group<"data", "Samples", [
      Paths<"data", "data", "PATH",
        "where samples are: a folder of images, of test_data_set_* or of "
        "tensors; .npy, .npz (arrays by the inputs' names), .pb or an idx "
        "file; a pattern such as 'photos/*.jpg'; a list of files (.txt); "
        "INPUT=PATH for each of several inputs">,
      Option<"limit", "limit", "int64_t", "0", "use at most so many samples">,
      Option<"start", "start", "int64_t", "0",
        "leave out so many samples first">,
      Option<"stride", "stride", "int64_t", "1", "use every n-th sample">,
      Option<"batch", "batch", "int64_t", "1", "samples in a run">,
      Text<"shard", "shard", "I/N",
        "of those, the I-th of N parts; auto: as the cluster says">,
      Option<"skipBad", "skip-bad", "bool", "false",
        "leave out samples that can't be read, and count them">,
    ]>,
    Group<"images", "Images (JPEG, PNG, WebP, BMP), as (pixel - mean) * scale", [
      Text<"size", "size", "HxW", "what images are resized to", "x">,
      Text<"crop", "crop", "HxW", "what is cut out of the middle then", "x">,
      Choice<"filter", "filter", "",
        ["nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"],
        "how images are resized (bilinear)">,
      Choice<"layout", "layout", "", ["nchw", "nhwc"],
        "where channels are; default by the shape of the input">,
      Choice<"channels", "channels", "", ["rgb", "bgr", "gray"],
        "order of channels; default gray for inputs of one channel, else rgb">,
      Text<"mean", "mean", "A:B:C",
        "subtracted from pixels, one or one for each channel: 123.7:116.8:103.9",
        ":">,
      Text<"scale", "scale", "A:B:C",
        "multiplied with pixels then, one or one for each channel: 1/255", ":">,
      Option<"letterbox", "letterbox", "bool", "false",
        "keep the ratio of an image's sides, and pad it to its size">,
      Option<"multipleOf", "multiple-of", "int64_t", "0",
        "pad images at the right and below to multiples of this size">,
      Text<"padColor", "pad-color", "R:G:B",
        "of padded pixels, one number or one for each channel (114)", ":">,
      Choice<"padAt", "pad-at", "", ["center", "corner"],
        "where an image is in its letterbox (center)">,
      Text<"preprocess", "preprocess", "NAME",
        "what turns an image into a tensor instead: preprocess_method1, "
        "preprocess_method2, or one of a plug-in's">,
      Text<"preprocessPlugin", "preprocess-plugin", "LIB",
        "a shared library that registers preprocessings">,
    ]>,
    Group<"method", "Ranges", [
      Choice<"method", "method", "minmax",
        ["minmax", "average", "moving-average", "entropy", "percentile", "mse",
         "distribution"],
        "how ranges are chosen; distribution: as wide as float8 numbers that "
        "deviate as much">,
      Option<"bins", "bins", "int64_t", "2048",
        "bins of the histograms, a power of two">,
      Option<"quantizedBins", "quantized-bins", "int64_t", "128",
        "levels that the entropy method compares with">,
      Option<"percentile", "percentile", "double", "99.999",
        "percentage of values that the percentile method keeps">,
      Option<"constant", "constant", "double", "0.01",
        "weight of the newest sample in a moving average">,
      Option<"symmetric", "symmetric", "bool", "false",
        "make ranges symmetric around zero">,
      Option<"threads", "threads", "int64_t", "0",
        "samples that run at once (0: as many as there are processors, up to "
        "8); the result is the same">,
    ]>,
    Group<"observed", "What is observed (what quantization asks for)", [
      Option<"all", "all", "bool", "false", "every float tensor">,
      Texts<"opTypes", "op-types", "A,B",
        "operands and results of these operators only">,
      Texts<"nodes", "nodes", "A,B",
        "operands and results of these nodes only">,
      Option<"histogram", "histogram", "bool", "false",
        "keep histograms for any method, for other methods later">,
      Text<"checkpoint", "checkpoint", "FILE",
        "continue from this file, and write it while running">,
    ]>,
    PassGroup<[
      Option<"perChannel", "per-channel", "bool", "true",
        "note the extremes and means of channels too">,
      Text<"table", "table", "FILE", "also write the statistics to this file">,
    ]>,
  ];
  let statistics = [
    Statistic<"numSamples", "samples", "Samples that were run">,
    Statistic<"numRanges", "ranges", "Tensors with a range">,
    Statistic<"numSilent", "silent", "Observed tensors without any value">,
  ];
}

def LoadCalibration : PassWithGroups<"onnx-load-calibration", "::mlir::ModuleOp"> {
  let summary = "note the ranges of a saved calibration";
  let description = [{
    Reads a table that `onnx-calibrate` or `onnxq calibrate` wrote: `.json` with
    statistics or of the form {name: [min, max]}, `.cache`, or `.flatbuffers`.
    From statistics, ranges are computed by `method`. A table that has no range
    for a tensor that quantization asks for doesn't fit: the error tells which
    (`partial` lets it pass). Tensors that only the table has are left out.

    ```mlir
    module { ... }
    // becomes
    module attributes {onnxq.calibration = {x = {max = 1.0 : f64, min = -1.0 : f64}, ...}} { ... }
    ```
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect"];
  let groups = [
    Group<"table", "Ranges of an earlier calibration", [
      Text<"table", "table", "FILE", "the file to read">,
      Choice<"method", "method", "",
        ["minmax", "average", "moving-average", "entropy", "percentile", "mse",
         "distribution"],
        "default: the method that the table was made with">,
      Option<"quantizedBins", "quantized-bins", "int64_t", "128",
        "as of onnx-calibrate">,
      Option<"percentile", "percentile", "double", "99.999",
        "as of onnx-calibrate">,
      Option<"symmetric", "symmetric", "bool", "false",
        "make ranges symmetric around zero">,
      Option<"partial", "partial", "bool", "false",
        "accept a table that doesn't fit the model, with a warning">,
    ]>,
    PassGroup<[
      Option<"perChannel", "per-channel", "bool", "true",
        "note the extremes and means of channels too">,
    ]>,
  ];
  let statistics = [
    Statistic<"numRanges", "ranges", "Tensors with a range">,
  ];
}

#endif // ONNXQUANT_TRANSFORMS_CALIBRATE_PASSES_TD
