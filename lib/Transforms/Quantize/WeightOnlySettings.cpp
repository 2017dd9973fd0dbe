// The options of `weight-only`, and those that mean nothing beside it.

#include "Settings.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::quantize;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Options that are about activations, or choose what weight-only chooses: the
/// first that was set.
static llvm::Error refuseOthers(const QuantizeOptions &options) {
  const QuantizeOptions defaults;
  const std::pair<llvm::StringRef, bool> choices[] = {
      {"dynamic", options.dynamic},
      {"quantization-mode", !options.quantizationMode.empty()},
      {"for", !options.runtime.empty()},
      {"compatible", !options.preset.empty()},
      {"placement", options.placementName != defaults.placementName},
      {"bias-correction", options.biasCorrection != defaults.biasCorrection},
      {"weight-rounding", options.weightRounding != defaults.weightRounding},
      {"channel-scaling", options.channelScaling != defaults.channelScaling},
      {"keep-cheap-in-float", options.keepCheap != defaults.keepCheap},
      {"per-channel", options.perChannel != defaults.perChannel},
      {"nbits", options.nbits != defaults.nbits},
      {"activation-type", !options.activationType.empty()},
      {"weight-type", !options.weightType.empty()},
      {"asymmetric-input-types", !options.asymmetricInputTypes.empty()},
      {"symmetric-activations", options.symmetricActivations},
      {"reduce-range", options.reduceRange},
      {"smooth-quant", options.smoothQuant},
      {"input-quantization-params", !options.inputParams.empty()},
      {"output-quantization-params", !options.outputParams.empty()},
      {"tensor-overrides", !options.tensorOverrides.empty()},
      {"matmul-const-b-only", options.matmulConstBOnly != "auto"},
      {"dedicated-qdq-pair", options.dedicatedPair},
      {"add-qdq-pair-to-weight", options.weightPair},
      {"quantize-bias", options.quantizeBias != defaults.quantizeBias},
      {"op-types-to-exclude-output", !options.outputOpsExcluded.empty()},
      {"channel-axes", !options.channelAxisList.empty()},
      {"restricted-asymmetric", options.restrictedAsymmetric},
      {"adjust-weights-for-bias",
       options.adjustWeights != defaults.adjustWeights},
      {"minimum-real-range", options.minimumRealRange != 0},
      {"keep-removable-activations", options.keepActivations},
      {"exclude-output-quantization", options.excludeOutputs},
      {"force-quantize-no-input-check", options.forceNoInputCheck},
      {"contrib-ops", options.contribOps},
      {"int16-first", options.int16First != 0},
      {"int16-tensors", !options.int16Tensors.empty()}};
  for (auto [name, isSet] : choices)
    if (isSet)
      return fail(name + " is no option of weight-only, which leaves "
                         "activations float and chooses types by its bits");
  return llvm::Error::success();
}

static llvm::Error readAlgorithm(const QuantizeOptions &options,
                                 WeightOnly &result) {
  auto algorithm = llvm::StringSwitch<Algorithm>(options.algorithmName)
                       .Case("rtn", Algorithm::Nearest)
                       .Case("hqq", Algorithm::HalfQuadratic)
                       .Case("k-quant", Algorithm::Weighted)
                       .Case("gptq", Algorithm::SecondOrder)
                       .Case("awq", Algorithm::Aware)
                       .Default(Algorithm::Nearest);
  result.algorithm = algorithm;
  bool fitsZeros =
      algorithm == Algorithm::HalfQuadratic || algorithm == Algorithm::Weighted;
  if (fitsZeros && result.symmetric)
    return fail("algorithm=" + options.algorithmName +
                " contradicts symmetric-weights: it chooses zero points");
  if (algorithm == Algorithm::HalfQuadratic && result.asPairs)
    return fail("algorithm=hqq contradicts mode=qdq: its zero points are real "
                "numbers, which DequantizeLinear doesn't have");
  if (algorithm == Algorithm::HalfQuadratic && result.bits == 8)
    return fail("algorithm=hqq contradicts weight-only=8: ONNX Runtime runs "
                "zero points that are real numbers with 2 and 4 bits only");
  if (!(options.damping > 0 && options.damping <= 1))
    return fail("damping expects a number above 0 and up to 1");
  if (options.damping != QuantizeOptions().damping &&
      algorithm != Algorithm::SecondOrder)
    return fail("damping is for algorithm=gptq");
  if (algorithm != Algorithm::SecondOrder &&
      (!options.sortsChannels || !options.searchesScales))
    return fail((options.sortsChannels ? llvm::StringRef("search-scales")
                                       : llvm::StringRef("act-order")) +
                " is for algorithm=gptq");
  result.secondOrder = {options.damping, options.sortsChannels,
                        options.searchesScales};
  return llvm::Error::success();
}

llvm::Error quantize::readWeightOnly(Settings &settings) {
  const QuantizeOptions &options = settings;
  const QuantizeOptions defaults;
  if (options.weightOnlyBits == 0) {
    if (options.algorithmName != defaults.algorithmName)
      return fail("algorithm is for weight-only");
    if (options.damping != defaults.damping)
      return fail("damping is for weight-only with algorithm=gptq");
    if (!options.sortsChannels || !options.searchesScales)
      return fail("act-order and search-scales are for weight-only with "
                  "algorithm=gptq");
    if (options.accuracyLevel != 0)
      return fail("accuracy-level is for weight-only");
    return llvm::Error::success();
  }
  WeightOnly result;
  if (options.weightOnlyBits != 2 && options.weightOnlyBits != 4 &&
      options.weightOnlyBits != 8)
    return fail("weight-only expects 2, 4 or 8, but got " +
                llvm::Twine(options.weightOnlyBits));
  result.bits = static_cast<unsigned>(options.weightOnlyBits);
  if (!options.modeName.empty() && options.modeName != "qdq")
    return fail("weight-only contradicts mode=" + options.modeName +
                ": it has com.microsoft's ops, or mode=qdq");
  result.asPairs = options.modeName == "qdq";
  if (result.asPairs && result.bits == 2)
    return fail("weight-only=2 contradicts mode=qdq: DequantizeLinear has no "
                "codes of 2 bits");
  if (llvm::Error error = refuseOthers(options))
    return error;
  if (options.blockSize != 0)
    result.blockSize = options.blockSize;
  constexpr int64_t most = 1 << 16;
  if (result.blockSize < 16 || result.blockSize > most ||
      (result.blockSize & (result.blockSize - 1)) != 0)
    return fail("block-size expects a power of two from 16 to 65536 with "
                "weight-only, but got " +
                llvm::Twine(result.blockSize));
  result.symmetric = settings.symmetricWeights.value_or(false);
  if (llvm::Error error = readAlgorithm(options, result))
    return error;
  if (options.accuracyLevel < 0 || options.accuracyLevel > 4)
    return fail("accuracy-level expects 0 to 4, but got " +
                llvm::Twine(options.accuracyLevel));
  if (options.accuracyLevel != 0 && result.asPairs)
    return fail("accuracy-level contradicts mode=qdq: it is an attribute of "
                "MatMulNBits");
  result.accuracyLevel = options.accuracyLevel;
  settings.weightOnly = result;
  return llvm::Error::success();
}
