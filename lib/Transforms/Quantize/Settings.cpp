// Reads the options and refuses those that don't go together, with the reason.

#include "Settings.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::quantize;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static llvm::Error readMode(const QuantizeOptions &options,
                            Settings &settings) {
  auto mode = llvm::StringSwitch<std::optional<Mode>>(options.mode)
                  .Cases({"", "qdq"}, Mode::QDQ)
                  .Case("qlinear", Mode::QLinear)
                  .Case("integer", Mode::Integer)
                  .Case("qat", Mode::QAT)
                  .Default(std::nullopt);
  if (!mode)
    return fail("mode expects qdq, qlinear, integer or qat, but got '" +
                options.mode + "'");
  settings.mode = *mode;
  settings.dynamic = options.dynamic;
  if (!options.quantizationMode.empty()) {
    auto [form, when] = llvm::StringRef(options.quantizationMode).split('_');
    auto named = llvm::StringSwitch<std::optional<Mode>>(form)
                     .Case("IntegerOps", Mode::Integer)
                     .Case("QLinearOps", Mode::QLinear)
                     .Default(std::nullopt);
    if (!named || (!when.empty() && when != "Static" && when != "Dynamic"))
      return fail("quantization-mode expects IntegerOps_Static, "
                  "IntegerOps_Dynamic, QLinearOps_Static or "
                  "QLinearOps_Dynamic, but got '" +
                  options.quantizationMode + "'");
    if (settings.mode != Mode::QDQ && settings.mode != *named)
      return fail("quantization-mode=" + options.quantizationMode +
                  " contradicts mode=" + options.mode);
    settings.mode = *named;
    if (when == "Static" && options.dynamic)
      return fail("quantization-mode=" + options.quantizationMode +
                  " contradicts dynamic");
    settings.dynamic |= when == "Dynamic";
  }
  settings.form = settings.mode;
  if (settings.mode == Mode::QAT) {
    auto form = llvm::StringSwitch<std::optional<Mode>>(options.qatForm)
                    .Case("qdq", Mode::QDQ)
                    .Case("qlinear", Mode::QLinear)
                    .Case("integer", Mode::Integer)
                    .Default(std::nullopt);
    if (!form)
      return fail("qat-form expects qdq, qlinear or integer, but got '" +
                  options.qatForm + "'");
    settings.form = *form;
  } else if (options.qatForm != "qdq") {
    return fail("qat-form is for mode=qat only");
  }
  if (options.placement == "every-op")
    settings.placement = Placement::EveryOp;
  else if (options.placement != "fused")
    return fail("placement expects fused or every-op, but got '" +
                options.placement + "'");
  if (options.biasCorrection == "none")
    settings.correctBias = false;
  else if (options.biasCorrection != "local")
    return fail("bias-correction expects local or none, but got '" +
                options.biasCorrection + "'");
  const std::string &rounding = options.weightRounding;
  if (rounding != "sums" && rounding != "nearest" && rounding != "auto")
    return fail("weight-rounding expects nearest, sums or auto, but got '" +
                rounding + "'");
  return llvm::Error::success();
}

/// Channels are scaled where activations have one static scale and weights one
/// for each channel.
static llvm::Error readChannelScaling(const QuantizeOptions &options,
                                      Settings &settings) {
  const std::string &text = options.channelScaling;
  if (text != "auto" && text != "depthwise" && text != "none")
    return fail("channel-scaling expects depthwise, none or auto, but got '" +
                text + "'");
  llvm::StringRef obstacle;
  if (settings.mode == Mode::QAT)
    obstacle = "mode=qat: the model has its parameters";
  else if (settings.dynamic)
    obstacle = "dynamic: ranges of channels are needed";
  else if (settings.placement == Placement::EveryOp)
    obstacle = "placement=every-op, which leaves the graph as it is";
  else if (!settings.perChannel || settings.blockSize > 0)
    obstacle = "weights without a scale for each channel";
  if (text == "depthwise" && !obstacle.empty())
    return fail("channel-scaling=depthwise contradicts " + obstacle);
  settings.scaleChannels = text != "none" && obstacle.empty();
  return llvm::Error::success();
}

/// `true`, `false` or `otherwise`.
static llvm::Error readTriple(llvm::StringRef name, llvm::StringRef text,
                              llvm::StringRef otherwise,
                              std::optional<bool> &value) {
  std::string lower = text.lower();
  if (lower == otherwise)
    value = std::nullopt;
  else if (lower == "true" || lower == "1")
    value = true;
  else if (lower == "false" || lower == "0")
    value = false;
  else
    return fail(name + " expects true or false, but got '" + text + "'");
  return llvm::Error::success();
}

static llvm::Error readTypes(const QuantizeOptions &options,
                             Settings &settings) {
  if (options.nbits != 8 && options.nbits != 16 && options.nbits != 4)
    return fail("nbits expects 4, 8 or 16, but got " +
                llvm::Twine(options.nbits));
  if (options.nbits == 16)
    settings.activation = {16, false};
  settings.weight = {static_cast<unsigned>(options.nbits), true};
  std::optional<bool> asymmetric;
  if (llvm::Error error =
          readTriple("asymmetric-input-types", options.asymmetricInputTypes, "",
                     asymmetric))
    return error;
  // Modes by those names are unsigned, as they were where they come from.
  bool named =
      llvm::StringRef(options.quantizationMode).starts_with("IntegerOps") &&
      options.weightType.empty() && options.activationType.empty();
  if (asymmetric || named) {
    settings.weight.isSigned = asymmetric.value_or(false);
    settings.weightGiven = true;
  }
  auto read = [&](llvm::StringRef name, llvm::StringRef text, QuantType &type,
                  bool weights) -> llvm::Error {
    if (text.empty())
      return llvm::Error::success();
    auto parsed = QuantType::parse(text);
    if (!parsed || (!weights && parsed->bits == 4))
      return fail(name + " expects u8, s8, u16" +
                  (weights ? ", s16, u4 or s4" : " or s16") + ", but got '" +
                  text + "'");
    if (options.nbits != 8 && parsed->bits != options.nbits &&
        (weights || options.nbits == 16))
      return fail(name + "=" + text +
                  " contradicts nbits=" + llvm::Twine(options.nbits));
    if (asymmetric && parsed->isSigned != (weights && *asymmetric))
      return fail(name + "=" + text + " contradicts asymmetric-input-types=" +
                  options.asymmetricInputTypes);
    type = *parsed;
    return llvm::Error::success();
  };
  if (llvm::Error error = read("activation-type", options.activationType,
                               settings.activation, false))
    return error;
  settings.weightGiven |= !options.weightType.empty();
  return read("weight-type", options.weightType, settings.weight, true);
}

/// What a runtime is best given, where the user doesn't say otherwise.
static llvm::Error readRuntime(const QuantizeOptions &options,
                               Settings &settings) {
  const std::string &runtime = options.runtime;
  if (runtime.empty() || runtime == "onnxruntime-vnni")
    return llvm::Error::success();
  if (runtime != "onnxruntime")
    return fail("for expects onnxruntime or onnxruntime-vnni, but got '" +
                runtime + "'");
  // Reduced signed weights can't saturate either; who asks for them knows.
  if (settings.weightGiven || settings.reduceRange ||
      settings.weight.bits != 8 || settings.activation.isSigned)
    return llvm::Error::success();
  settings.weight.isSigned = false;
  settings.shiftedWeights = true;
  return llvm::Error::success();
}

/// Chooses forms that the highest opset has.
static llvm::Error readMaxOpset(const QuantizeOptions &options,
                                Settings &settings) {
  int64_t most = options.maxOpset;
  if (most == 0)
    return llvm::Error::success();
  constexpr int64_t quantizers = 10, dynamic = 11, axes = 13, halves = 19,
                    wideTypes = 21;
  if (most < quantizers || (settings.dynamic && most < dynamic))
    return fail("max-opset expects " +
                llvm::Twine(settings.dynamic ? dynamic : quantizers) +
                " or more here, but got " + llvm::Twine(most) +
                ": older opsets have no quantizers");
  if (settings.form == Mode::QDQ && most < axes)
    settings.perChannel = false;
  settings.contribHalf = most < halves;
  settings.contribQdq |= settings.form == Mode::QDQ && most < wideTypes;
  return llvm::Error::success();
}

/// An option that was set although it means nothing where it is.
static llvm::Error refuse(const QuantizeOptions &options,
                          const Settings &settings) {
  bool integerForm = settings.form != Mode::QDQ;
  bool qat = settings.mode == Mode::QAT;
  struct Rule {
    bool broken;
    llvm::StringRef message;
  };
  const Rule rules[] = {
      {settings.dynamic && qat,
       "dynamic contradicts mode=qat: the model has its parameters"},
      {settings.dynamic && settings.activation != QuantType{8, false},
       "dynamic expects activation-type=u8: DynamicQuantizeLinear gives "
       "nothing else"},
      {settings.dynamic && settings.symmetricActivations,
       "symmetric-activations contradicts dynamic: DynamicQuantizeLinear is "
       "asymmetric"},
      {integerForm && !qat && settings.activation.bits != 8,
       "activations of 16 bits are for mode=qdq: the integer ops take 8 bits"},
      {integerForm && !qat && settings.weight.bits != 8,
       "weights of other than 8 bits are for mode=qdq: the integer ops take 8 "
       "bits"},
      {integerForm && !qat && settings.activation.isSigned &&
           !settings.weight.isSigned,
       "activation-type=s8 expects weight-type=s8 in this mode"},
      {(integerForm || settings.dynamic) &&
           (settings.int16First > 0 || !settings.int16Tensors.empty()),
       "int16-first and int16-tensors are for static mode=qdq"},
      {settings.int16First < 0, "int16-first expects no negative number"},
      {settings.blockSize < 0, "block-size expects no negative number"},
      {settings.blockSize > 0 && integerForm,
       "block-size is for mode=qdq: the integer ops have no blocks"},
      {!settings.keepCheap && settings.blockSize > 0,
       "keep-cheap-in-float=false contradicts block-size: products with "
       "weights in blocks read float activations"},
      {settings.weightPair && integerForm,
       "add-qdq-pair-to-weight is for mode=qdq: the integer ops take integer "
       "weights"},
      {settings.weightPair && options.weightRounding == "sums",
       "weight-rounding=sums contradicts add-qdq-pair-to-weight: a quantizer "
       "rounds to the nearest"},
      {qat && options.weightRounding == "sums",
       "weight-rounding=sums contradicts mode=qat: weights were trained with "
       "the nearest"},
      {settings.dedicatedPair && (integerForm || settings.dynamic),
       "dedicated-qdq-pair is for static mode=qdq"},
      {settings.contribQdq && integerForm,
       "contrib-qdq is for mode=qdq: the integer ops need no wide types"},
      {settings.contribOps && settings.form != Mode::QLinear &&
           !settings.dynamic,
       "contrib-ops is for mode=qlinear and dynamic modes; for quantizers of "
       "com.microsoft see contrib-qdq"},
      {!settings.quantizeBias && settings.form == Mode::QLinear,
       "quantize-bias=false contradicts mode=qlinear: QLinearConv takes an "
       "integer bias"},
      {settings.keepActivations &&
           (settings.form == Mode::Integer || settings.dynamic),
       "keep-removable-activations is for static mode=qdq and mode=qlinear"},
      {settings.excludeOutputs && settings.placement == Placement::Fused &&
           !settings.quantizesResults(),
       "exclude-output-quantization is for placement=every-op and "
       "mode=qlinear: nothing else quantizes outputs"},
      {!settings.outputOpsExcluded.empty() &&
           settings.placement == Placement::Fused,
       "op-types-to-exclude-output is for placement=every-op"},
      {settings.restrictedAsymmetric &&
           (settings.symmetricActivations || settings.activation.isSigned ||
            settings.dynamic),
       "restricted-asymmetric is for static unsigned activations"},
      {settings.forceNoInputCheck && settings.placement == Placement::Fused,
       "force-quantize-no-input-check is for placement=every-op"},
      {settings.placement == Placement::EveryOp &&
           (settings.form == Mode::Integer || settings.dynamic),
       "placement=every-op is for static mode=qdq and mode=qlinear: integer "
       "and dynamic modes quantize contractions only"},
      {settings.form == Mode::Integer && !qat && settings.perChannel &&
           settings.symmetricWeights == false,
       "symmetric-weights=false expects per-channel=false in mode=integer: "
       "ConvInteger runs with one zero point for all channels"},
      {!(std::isfinite(settings.minimumRealRange) &&
         settings.minimumRealRange >= 0),
       "minimum-real-range expects a finite number not below zero"},
  };
  for (const Rule &rule : rules)
    if (rule.broken)
      return fail(rule.message);
  return llvm::Error::success();
}

/// Options that choose what `mode=qat` finds in the model: the first that was
/// set.
static llvm::Error refuseInQat(const QuantizeOptions &options) {
  const QuantizeOptions defaults;
  const std::pair<llvm::StringRef, bool> choices[] = {
      {"for", !options.runtime.empty()},
      {"placement", options.placement != defaults.placement},
      {"keep-cheap-in-float", options.keepCheap != defaults.keepCheap},
      {"per-channel", options.perChannel != defaults.perChannel},
      {"nbits", options.nbits != defaults.nbits},
      {"activation-type", !options.activationType.empty()},
      {"weight-type", !options.weightType.empty()},
      {"asymmetric-input-types", !options.asymmetricInputTypes.empty()},
      {"symmetric-activations", options.symmetricActivations},
      {"symmetric-weights", options.symmetricWeights != "auto"},
      {"reduce-range", options.reduceRange},
      {"block-size", options.blockSize != 0},
      {"op-types-to-quantize", !options.opTypes.empty()},
      {"nodes-to-quantize", !options.nodes.empty()},
      {"nodes-to-exclude", !options.excluded.empty()},
      {"input-quantization-params", !options.inputParams.empty()},
      {"output-quantization-params", !options.outputParams.empty()},
      {"tensor-overrides", !options.tensorOverrides.empty()},
      {"matmul-const-b-only", options.matmulConstBOnly != "auto"},
      {"dedicated-qdq-pair", options.dedicatedPair},
      {"add-qdq-pair-to-weight", options.weightPair},
      {"op-types-to-exclude-output", !options.outputOpsExcluded.empty()},
      {"channel-axes", !options.channelAxes.empty()},
      {"restricted-asymmetric", options.restrictedAsymmetric},
      {"adjust-weights-for-bias", !options.adjustWeights},
      {"minimum-real-range", options.minimumRealRange != 0},
      {"keep-removable-activations", options.keepActivations},
      {"exclude-output-quantization", options.excludeOutputs},
      {"force-quantize-no-input-check", options.forceNoInputCheck},
      {"contrib-qdq", options.contribQdq},
      {"enable-subgraph", !options.enableSubgraph},
      {"int16-first", options.int16First != 0},
      {"int16-tensors", !options.int16Tensors.empty()}};
  for (auto [name, isSet] : choices)
    if (isSet)
      return fail(name + " is no option of mode=qat, which takes over the "
                         "quantizers of the model, and chooses neither nodes "
                         "nor parameters");
  return llvm::Error::success();
}

/// Parameters of tensors, which may be in files.
static llvm::Error readParameters(const QuantizeOptions &options,
                                  Settings &settings) {
  if (!options.tensorOverrides.empty())
    if (llvm::Error error = readOverrides(
            "tensor-overrides", options.tensorOverrides, settings.overrides))
      return error;
  if (!options.inputParams.empty())
    if (llvm::Error error =
            readParams("input-quantization-params", options.inputParams,
                       settings.activation, settings.overrides))
      return error;
  if (!options.outputParams.empty())
    return readParams("output-quantization-params", options.outputParams,
                      settings.activation, settings.overrides);
  return llvm::Error::success();
}

/// The options that a preset stands for.
static llvm::Expected<QuantizeOptions> withPreset(QuantizeOptions options) {
  if (options.compatible.empty())
    return options;
  if (options.compatible != "onnxruntime")
    return fail("compatible expects onnxruntime, but got '" +
                options.compatible + "'");
  if (options.weightOnly != 0)
    return fail("compatible is no option of weight-only, whose names are ONNX "
                "Runtime's in any case");
  if (options.mode == "qat")
    return fail("compatible is no option of mode=qat, which takes over the "
                "quantizers of the model");
  bool isInteger =
      options.dynamic || options.mode == "integer" ||
      options.quantizationMode.find("Integer") == 0 ||
      llvm::StringRef(options.quantizationMode).ends_with("Dynamic");
  if (!isInteger)
    options.placement = "every-op";
  options.biasCorrection = "none";
  options.weightRounding = "nearest";
  options.channelScaling = "none";
  options.keepCheap = options.blockSize > 0;
  options.contribOps |= options.mode == "qlinear" || options.dynamic;
  return options;
}

static llvm::Error readChannelAxes(const QuantizeOptions &options,
                                   Settings &settings) {
  for (llvm::StringRef text : options.channelAxes) {
    auto [op, number] = text.split(':');
    int64_t axis;
    if (op.empty() || number.getAsInteger(10, axis))
      return fail("channel-axes expects OP:AXIS, but got '" + text + "'");
    settings.channelAxes[op] = axis;
  }
  return llvm::Error::success();
}

/// All but what files hold.
static llvm::Expected<Settings> readOptions(const QuantizeOptions &given) {
  Settings settings;
  llvm::Expected<QuantizeOptions> preset = withPreset(given);
  if (!preset)
    return preset.takeError();
  const QuantizeOptions &options = *preset;
  settings.compatible = !options.compatible.empty();
  settings.outputOpsExcluded.assign(options.outputOpsExcluded.begin(),
                                    options.outputOpsExcluded.end());
  settings.restrictedAsymmetric = options.restrictedAsymmetric;
  settings.adjustWeights = options.adjustWeights;
  if (llvm::Error error = readChannelAxes(options, settings))
    return error;
  if (llvm::Error error = readMode(options, settings))
    return error;
  if (settings.mode == Mode::QAT)
    if (llvm::Error error = refuseInQat(options))
      return error;
  if (llvm::Error error = readTypes(options, settings))
    return error;
  if (llvm::Error error =
          readTriple("symmetric-weights", options.symmetricWeights, "auto",
                     settings.symmetricWeights))
    return error;
  std::optional<bool> constantOnly;
  if (llvm::Error error =
          readTriple("matmul-const-b-only", options.matmulConstBOnly, "auto",
                     constantOnly))
    return error;
  settings.constantProductsOnly = constantOnly.value_or(settings.dynamic);
  settings.keepCheap = options.keepCheap;
  settings.perChannel = options.perChannel;
  settings.blockSize = options.blockSize;
  settings.reduceRange = options.reduceRange;
  settings.contribQdq = options.contribQdq;
  if (llvm::Error error = readRuntime(options, settings))
    return error;
  if (llvm::Error error = readMaxOpset(options, settings))
    return error;
  if (llvm::Error error = readChannelScaling(options, settings))
    return error;
  settings.symmetricActivations = options.symmetricActivations;
  settings.minimumRealRange = options.minimumRealRange;
  auto copy = [](auto &from, std::vector<std::string> &to) {
    to.assign(from.begin(), from.end());
  };
  copy(options.opTypes, settings.opTypes);
  copy(options.nodes, settings.nodes);
  copy(options.excluded, settings.excluded);
  copy(options.int16Tensors, settings.int16Tensors);
  settings.int16First = options.int16First;
  settings.keepSums =
      options.weightRounding == "sums" ||
      (options.weightRounding == "auto" && settings.mode != Mode::QAT &&
       !settings.dynamic && settings.placement == Placement::Fused &&
       !options.weightPair);
  settings.dedicatedPair = options.dedicatedPair;
  settings.weightPair = options.weightPair;
  settings.quantizeBias = options.quantizeBias;
  settings.keepActivations = options.keepActivations;
  settings.excludeOutputs = options.excludeOutputs;
  settings.forceNoInputCheck = options.forceNoInputCheck;
  settings.enableSubgraph = options.enableSubgraph;
  settings.contribOps = options.contribOps;
  if (llvm::Error error = readWeightOnly(options, settings))
    return error;
  if (llvm::Error error = refuse(options, settings))
    return error;
  return settings;
}

llvm::Expected<Settings>
quantize::readSettings(const QuantizeOptions &options) {
  llvm::Expected<Settings> settings = readOptions(options);
  if (settings)
    if (llvm::Error error = readParameters(options, *settings))
      return error;
  return settings;
}

llvm::Error onnxquant::checkQuantizeOptions(const QuantizeOptions &options) {
  return readOptions(options).takeError();
}

bool onnxquant::needsCalibration(const QuantizeOptions &options) {
  llvm::Expected<Settings> settings = readOptions(options);
  if (!settings) {
    llvm::consumeError(settings.takeError());
    return true;
  }
  return settings->mode != Mode::QAT && !settings->weightOnly &&
         (!settings->dynamic || settings->quantizesResults());
}

bool onnxquant::needsCovariances(const QuantizeOptions &options) {
  llvm::Expected<Settings> settings = readOptions(options);
  if (settings)
    return settings->weightOnly && settings->weightOnly->needsSamples();
  llvm::consumeError(settings.takeError());
  return false;
}
