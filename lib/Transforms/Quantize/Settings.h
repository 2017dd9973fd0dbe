// The options of quantization, read and found free of contradictions.

#ifndef ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_SETTINGS_H
#define ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_SETTINGS_H

#include "OnnxQuant/Support/Quantization.h"
#include "OnnxQuant/Transforms/Quantize/Passes.h"
#include "llvm/ADT/StringMap.h"

namespace onnxquant::quantize {

enum class Mode { QDQ, QLinear, Integer, QAT };
enum class Placement { Fused, EveryOp };

/// What a user says of one tensor; what isn't said follows from the rest.
struct TensorOverride {
  std::optional<QuantType> type;
  llvm::SmallVector<double> scales;
  llvm::SmallVector<int64_t> zeroPoints;
  std::optional<double> min, max;
  std::optional<int64_t> axis;
  std::optional<bool> symmetric, reduceRange;
};

/// How weights become codes where nothing else is quantized.
enum class Algorithm { Nearest, HalfQuadratic, Weighted, SecondOrder, Aware };

struct WeightOnly {
  unsigned bits = 4;
  int64_t blockSize = 32;
  bool symmetric = false;
  Algorithm algorithm = Algorithm::Nearest;
  double damping = 0.01;
  int64_t accuracyLevel = 0;
  /// Dequantizers in place of com.microsoft's ops.
  bool asPairs = false;

  bool needsSamples() const {
    return algorithm == Algorithm::SecondOrder || algorithm == Algorithm::Aware;
  }
};

struct Settings {
  /// None: activations are quantized as well.
  std::optional<WeightOnly> weightOnly;
  Mode mode = Mode::QDQ;
  /// The form of a quantized product: that of the mode, or what `qat` leaves.
  Mode form = Mode::QDQ;
  bool dynamic = false;
  Placement placement = Placement::Fused;
  bool correctBias = true;
  /// Kernels are rounded so that their sums are kept.
  bool keepSums = false;
  /// Channels before depthwise convolutions are brought to similar ranges.
  bool scaleChannels = false;
  /// Small products read float activations where integers save no time.
  bool keepCheap = true;

  QuantType activation{8, false};
  QuantType weight{8, true};
  /// Unsigned weights are signed ones plus 128.
  bool shiftedWeights = false;
  /// The user chose the weights' type.
  bool weightGiven = false;
  bool perChannel = true;
  int64_t blockSize = 0;
  bool symmetricActivations = false;
  std::optional<bool> symmetricWeights;
  bool reduceRange = false;
  double minimumRealRange = 0;

  std::vector<std::string> opTypes, nodes, excluded, int16Tensors;
  int64_t int16First = 0;
  bool constantProductsOnly = false;
  llvm::StringMap<TensorOverride> overrides;

  bool dedicatedPair = false, weightPair = false, quantizeBias = true;
  bool keepActivations = false, excludeOutputs = false;
  bool forceNoInputCheck = false, enableSubgraph = true;
  bool contribOps = false, contribQdq = false;
  /// As ONNX Runtime's tool does it.
  bool compatible = false;
  /// Operators whose results stay float, and the axes of operators' channels.
  std::vector<std::string> outputOpsExcluded;
  llvm::StringMap<int64_t> channelAxes;
  bool restrictedAsymmetric = false, adjustWeights = true;
  /// Quantizers of float16 are com.microsoft's, which need no opset 19.
  bool contribHalf = false;

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
llvm::Error readWeightOnly(const QuantizeOptions &options, Settings &settings);

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
