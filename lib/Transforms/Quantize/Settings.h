// The options of quantization, read and found free of contradictions.

#ifndef ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_SETTINGS_H
#define ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_SETTINGS_H

#include "OnnxQuant/Support/Quantization.h"
#include "OnnxQuant/Transforms/Quantize/BlockCodes.h"
#include "OnnxQuant/Transforms/Quantize/Passes.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace onnxquant::quantize {

enum class Mode { QDQ, QLinear, Integer, QAT };
enum class Placement { Fused, EveryOp };

/// What a user says of one tensor; what isn't said follows from the rest.
struct TensorOverride {
  std::optional<QuantType> type;
  llvm::SmallVector<double> scales;
  llvm::SmallVector<int64_t> zeroPoints;
  /// The range: one, or one per channel. NaN leaves a channel its own.
  llvm::SmallVector<double> mins, maxs;
  std::optional<int64_t> axis;
  std::optional<bool> symmetric, reduceRange;
  /// A second quantizer behind the first, for these nodes or for all.
  std::shared_ptr<TensorOverride> convert;
  std::optional<std::vector<std::string>> receivers;
};

/// How weights become codes where nothing else is quantized.
enum class Algorithm { Nearest, HalfQuadratic, Weighted, SecondOrder, Aware };

struct WeightOnly {
  unsigned bits = 4;
  int64_t blockSize = 32;
  bool symmetric = false;
  Algorithm algorithm = Algorithm::Nearest;
  SecondOrderSpec secondOrder;
  int64_t accuracyLevel = 0;
  /// Dequantizers in place of com.microsoft's ops.
  bool asPairs = false;

  bool needsSamples() const {
    return algorithm == Algorithm::SecondOrder || algorithm == Algorithm::Aware;
  }
};

/// The options of the pass, with what follows from them.
struct Settings : QuantizeOptions {
  explicit Settings(const QuantizeOptions &options)
      : QuantizeOptions(options) {}

  /// None: activations are quantized as well.
  std::optional<WeightOnly> weightOnly;
  Mode mode = Mode::QDQ;
  /// The form of a quantized product: that of the mode, or what `qat` leaves.
  Mode form = Mode::QDQ;
  Placement placement = Placement::Fused;
  bool correctBias = true;
  /// Kernels are rounded so that their sums are kept.
  bool keepSums = false;
  /// Channels before depthwise convolutions are brought to similar ranges.
  bool scaleChannels = false;
  /// So are those before products of matrices, as far as weights allow.
  bool scaleProducts = false;

  QuantType activation{8, false};
  QuantType weight{8, true};
  /// Unsigned weights are signed ones plus 128.
  bool shiftedWeights = false;
  /// The user chose the weights' type.
  bool weightGiven = false;
  /// None: by the type, and where channels have scales of their own.
  std::optional<bool> symmetricWeights;
  bool constantProductsOnly = false;
  llvm::StringMap<TensorOverride> overrides;
  /// The axes of operators' channels.
  llvm::StringMap<int64_t> channelAxes;
  /// Quantizers of float16 are com.microsoft's, which need no opset 19.
  bool contribHalf = false;

  /// Whether all is done as ONNX Runtime's tool does it.
  bool isCompatible() const { return !preset.empty(); }
  /// Products keep integers in and out, so that results need parameters too.
  bool quantizesResults() const { return form == Mode::QLinear; }
  /// Whether weights of this type are symmetric.
  bool isSymmetric(QuantType type, bool channels) const {
    return symmetricWeights.value_or(type.isSigned || channels);
  }
};

/// Reads the options; the error names the option.
llvm::Expected<Settings> readSettings(const QuantizeOptions &options);

/// Reads what belongs to `weight-only`, and refuses what doesn't go with it.
llvm::Error readWeightOnly(Settings &settings);

/// Reads `{"tensor": [zero point, scale]}`, from a file if there is one of that
/// name, and adds it to `overrides`. Zero points of the other sign are brought
/// to that of activations.
llvm::Error readParams(llvm::StringRef option, llvm::StringRef text,
                       QuantType activation,
                       llvm::StringMap<TensorOverride> &overrides);
/// Reads `{"tensor": {...}}` likewise.
llvm::Error readOverrides(llvm::StringRef option, llvm::StringRef text,
                          llvm::StringMap<TensorOverride> &overrides);

} // namespace onnxquant::quantize

#endif // ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_SETTINGS_H
