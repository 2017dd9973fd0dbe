// Quantizes only what integers make faster.

#ifndef ONNXQUANT_BUDGET_FASTER_H
#define ONNXQUANT_BUDGET_FASTER_H

#include "OnnxQuant/Pipelines/Quantize.h"

namespace onnxquant::budget {

/// A convolution or product that takes longer in 8 bits: milliseconds where
/// they are measured here, else thousands of cycles.
struct SlowLayer {
  std::string node;
  double time8 = 0, timeFloat = 0;
};

struct SlowLayers {
  std::vector<SlowLayer> layers;
  /// How many are quantized without this, and how many of them have no time of
  /// their own in both forms.
  int64_t considered = 0, unknown = 0;
  bool isMeasured = true;
  /// Of the whole with all in 8 bits, with these in float, and in float; where
  /// it was measured.
  std::optional<double> all8, chosen, allFloat;
};

/// Calibrates a prepared float model with the samples of `options`, and
/// quantizes it, but for the layers that 8 bits make slower on its target. The
/// report tells of these, for the sink and for its file. Errors are
/// diagnostics.
llvm::LogicalResult quantizeWhereFaster(mlir::ModuleOp module,
                                        const QuantizePipelineOptions &options);

} // namespace onnxquant::budget

#endif // ONNXQUANT_BUDGET_FASTER_H
