// From a float model to a .espdl model: parameters, ranges, exponents, and the
// device's layout. The rules are those of ESP-DL's own quantizer, so that equal
// exponents give equal weights, biases and tables.

#ifndef ONNXQUANT_ESP_QUANTIZE_H
#define ONNXQUANT_ESP_QUANTIZE_H

#include "OnnxQuant/ESP/Chip.h"
#include "OnnxQuant/ESP/Model.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <map>

namespace onnxquant::esp {

struct QuantizeOptions {
  const Chip *chip = nullptr;
  /// 8 or 16.
  int bits = 8;
  /// Nodes with other bits than that.
  std::map<std::string, int> nodeBits;
  bool perChannel = false;
  /// The rules of the toolkit before .espdl: exponents by the largest
  /// magnitude, biases added after the shift.
  bool legacy = false;
  /// Distance of the inputs of int16 tables.
  int64_t tableStep = 256;
};

/// A float model of the `onnx` dialect, in ONNX's layout. Sizes must be known.
llvm::Expected<Model> importFloat(mlir::ModuleOp module);

/// Why a model can't be run by ESP-DL: a line per node. Empty if it can.
std::vector<std::string> checkModel(const Model &model);

/// Fuses Relu into what computes its input; LeakyRelu and PRelu too for the
/// old toolkit.
void prepareFloat(Model &model, bool legacy = false);

/// The old toolkit's exponent: the least with which a magnitude fits.
int64_t legacyExponent(double magnitude, int bits);
/// The same of a model's input, rounded to the nearest instead.
int64_t legacyInputExponent(double magnitude, int bits);

/// The exponent of constants by ESP-DL's rule: the 99.99th percentile on both
/// sides of a tensor, the extremes of a channel.
int64_t constantExponent(llvm::ArrayRef<float> values, int bits,
                         bool usesPercentile);

/// The float model in protobuf's form, with weights that are quantized, and
/// every tensor an output: what is calibrated.
std::string writeCalibrationModel(const Model &model,
                                  const QuantizeOptions &options,
                                  std::vector<std::string> &tensors);

/// Finds the exponent of one tensor from values that it takes.
class Observer {
public:
  enum class Method { KL, MinMax, Percentile };
  explicit Observer(Method method) : method(method) {}

  /// First all samples for the range, then all again for the histogram.
  void observeRange(llvm::ArrayRef<float> values);
  void observeHistogram(llvm::ArrayRef<float> values, int bits);
  bool needsHistogram() const { return method == Method::KL; }
  int64_t exponent(int bits) const;
  /// The largest magnitude.
  double magnitude() const;

private:
  int64_t klExponent(int bits) const;

  Method method;
  float low = 0, high = 0;
  double percentileSum = 0;
  int64_t batches = 0;
  /// Bins over the magnitudes, for 8 and 16 bits.
  std::vector<int64_t> bins8, bins16;
};

/// Names and exponents of tensors that are computed or given.
using Exponents = std::map<std::string, int64_t>;

/// The model for the device. `exponents` has every tensor that an op measures;
/// others follow. Errors name the node.
llvm::Expected<Model> quantizeModel(const Model &model, Exponents exponents,
                                    const QuantizeOptions &options);

/// The text of `.info` and `.json` beside a .espdl file.
std::string writeInfo(const Model &model);
std::string writeTableJson(const Model &model, const QuantizeOptions &options);

} // namespace onnxquant::esp

#endif // ONNXQUANT_ESP_QUANTIZE_H
