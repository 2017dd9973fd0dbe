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
  /// Weights that are all zero get an exponent with which their bias fits;
  /// ESP-DL's own quantizer gives them 2^-26, and clips the bias.
  bool fitsBiases = false;
  /// Gets what a user should know of the result, if it is there.
  std::vector<std::string> *notes = nullptr;
};

/// A float model of the `onnx` dialect, in ONNX's layout. Sizes must be known.
llvm::Expected<Model> importFloat(mlir::ModuleOp module);

/// BatchNormalization that no product took in becomes a product of its own.
void replaceBatchNorms(Model &model);

/// Why a model can't be run by ESP-DL: a line per node. Empty if it can.
std::vector<std::string> checkModel(const Model &model);
/// The same of a prepared model: what can't be quantized or simulated.
std::vector<std::string> checkPrepared(const Model &model,
                                       const QuantizeOptions &options);

/// Fuses Relu into what computes its input; LeakyRelu and PRelu too for the
/// old toolkit. Factors of a Gemm become part of its weights.
void prepareFloat(Model &model, bool legacy = false);

/// How channels between two products are made alike.
struct EqualizeOptions {
  int64_t iterations = 10;
  /// Pairs of channels with less weight than this stay.
  double threshold = 0.5;
  /// The largest factor.
  double most = 256;
  /// How much of a bias counts as a weight of its channel.
  double biasShare = 0;
  /// Factors that no float is rounded by.
  bool powersOfTwo = false;
};
/// Multiplies weights, so that the model computes the same with channels that
/// are alike; the number of pairs of products that it looked at.
int64_t equalizeChannels(Model &model, const EqualizeOptions &options);

/// Adds to biases what rounding of weights takes from the mean of each output.
/// `means` has the mean of each channel of tensors.
void correctBiases(Model &model, const QuantizeOptions &options,
                   const std::map<std::string, std::vector<double>> &means);

/// The old toolkit's exponent: the least with which a magnitude fits.
int64_t legacyExponent(double magnitude, int bits);
/// The same of a model's input, rounded to the nearest instead.
int64_t legacyInputExponent(double magnitude, int bits);
/// The same of a threshold by entropy, which may be exceeded a little.
int64_t legacyEntropyExponent(double threshold, int bits);

/// The least exponent with which a magnitude fits, by ESP-DL's rule.
int64_t fittingExponent(double magnitude, int bits);
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
  /// Those of ESP-DL's quantizer, then those of the toolkit before .espdl.
  enum class Method { KL, MinMax, Percentile, OldMinMax, OldEntropy };
  explicit Observer(Method method) : method(method) {}

  /// First all samples for the range, then all again for the histogram.
  void observeRange(llvm::ArrayRef<float> values);
  void observeHistogram(llvm::ArrayRef<float> values, int bits);
  bool needsHistogram() const {
    return method == Method::KL || method == Method::OldEntropy;
  }
  int64_t exponent(int bits) const;
  /// The largest magnitude.
  double magnitude() const;

private:
  int64_t numBins(int bits) const;
  int64_t klExponent(int bits) const;
  double entropyThreshold() const;

  Method method;
  float low = 0, high = 0;
  double percentileSum = 0;
  int64_t batches = 0;
  /// Bins over the magnitudes, for 8 and 16 bits.
  std::vector<int64_t> bins8, bins16;
};

/// Names and exponents of tensors that are computed or given.
using Exponents = std::map<std::string, int64_t>;

/// Reads exponents: our .json, the .json of ESP-DL's quantizer, the .pickle of
/// the old calibrator, or the tensors of a .espdl file. Errors name the file.
llvm::Expected<Exponents> readExponents(llvm::StringRef path);

/// The model for the device. `exponents` has every tensor that an op measures;
/// others follow. Errors name the node.
llvm::Expected<Model> quantizeModel(const Model &model, Exponents exponents,
                                    const QuantizeOptions &options);

/// The text of `.info` and `.json` beside a .espdl file.
std::string writeInfo(const Model &model);
std::string writeTableJson(const Model &model, const QuantizeOptions &options);

} // namespace onnxquant::esp

#endif // ONNXQUANT_ESP_QUANTIZE_H
