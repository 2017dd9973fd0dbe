// From a float model of the `onnx` dialect to a model of ESP-DL: preparation,
// measured exponents, test values. Errors are diagnostics.

#ifndef ONNXQUANT_PIPELINES_ESP_H
#define ONNXQUANT_PIPELINES_ESP_H

#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/ESP/Quantize.h"
#include "OnnxQuant/Support/HostTensor.h"
#include "mlir/IR/BuiltinOps.h"

namespace onnxquant::esp {

/// The old toolkit's optimizer: named steps of preprocessing, and a batch of
/// that name if there is one. Products that a fusion makes get names.
llvm::LogicalResult optimizeModule(mlir::ModuleOp module,
                                   const std::vector<std::string> &passes,
                                   llvm::StringRef batch);

/// A float model that is ready, or why it can't be: a line per node.
struct Prepared {
  Model model;
  std::vector<std::string> reasons;
};

/// Gives open batches the size 1, folds and fuses what ESP-DL's own tools do,
/// and looks for what the runtime lacks. The module changes.
llvm::FailureOr<Prepared> prepareModule(mlir::ModuleOp module,
                                        const QuantizeOptions &options);

/// What samples measure, and how.
struct MeasureOptions {
  Observer::Method method = Observer::Method::KL;
  DataOptions data;
  /// The exponent of all inputs, in place of the one that is measured.
  std::optional<int64_t> inputExponent;
  /// Asked after each sample; may be empty.
  std::function<bool()> interrupted;
};

/// What samples tell of a model's tensors.
struct Measured {
  Exponents exponents;
  /// Exponents of tensors if they have 16 bits, by the largest magnitude.
  Exponents wide;
  /// The mean of each channel (axis 1).
  std::map<std::string, std::vector<double>> means;
};

/// Runs samples and finds the exponent of each tensor.
llvm::FailureOr<Measured> measure(const Model &model,
                                  const QuantizeOptions &options,
                                  const MeasureOptions &measure,
                                  mlir::MLIRContext *context);

/// How far nodes of 16 bits may go.
struct MixedOptions {
  /// What the outputs' ratio of signal to noise has to be, in dB.
  double minSqnr = 0;
  /// The largest share of multiplications that nodes of 16 bits may have.
  double maxShare = 1;
};
/// What a choice of nodes came to.
struct Mixed {
  /// The nodes with 16 bits, in the order in which they were chosen.
  std::vector<std::string> nodes;
  double sqnrBefore = 0, sqnr = 0, share = 0;
};
/// Gives nodes 16 bits until the outputs, run as the chip does on samples, are
/// near enough to the float model's: those first that add most noise. Adds them
/// to `options`, and their tensors' exponents to those of `measured`.
llvm::FailureOr<Mixed>
chooseWideNodes(const Model &model, QuantizeOptions &options,
                Measured &measured, const MeasureOptions &measure,
                const MixedOptions &mixed, mlir::MLIRContext *context);

/// Elements as the device has them: quantized, rounded as a chip does. Tensors
/// of other types stay as they are.
HostTensor toDevice(const HostTensor &real, const Value &value,
                    Rounding rounding);
/// A tensor in the device's layout: its channels last if `isLast`, the declared
/// shape.
HostTensor toDeviceLayout(const HostTensor &sample, const Value &value,
                          bool isLast);
/// Quantized elements as real numbers.
HostTensor toReal(const HostTensor &tensor, int64_t exponent);

/// Adds the first sample of `data`, and what the chip makes of it.
llvm::LogicalResult addTestValues(const Model &floats, const DataOptions &data,
                                  const Chip &chip, mlir::MLIRContext *context,
                                  Model &device);

} // namespace onnxquant::esp

#endif // ONNXQUANT_PIPELINES_ESP_H
