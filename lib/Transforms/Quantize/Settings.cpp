// Reads the options and refuses those that don't go together, with the reason.

#include "Settings.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::quantize;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static Mode modeOf(llvm::StringRef name) {
  return llvm::StringSwitch<Mode>(name)
      .Case("qlinear", Mode::QLinear)
      .Case("integer", Mode::Integer)
      .Case("qat", Mode::QAT)
      .Default(Mode::QDQ);
}

static llvm::Error readMode(Settings &settings) {
  settings.mode = modeOf(settings.modeName);
  const std::string &other = settings.quantizationMode;
  if (!other.empty()) {
    auto [form, when] = llvm::StringRef(other).split('_');
    auto named = llvm::StringSwitch<std::optional<Mode>>(form)
                     .Case("IntegerOps", Mode::Integer)
                     .Case("QLinearOps", Mode::QLinear)
                     .Default(std::nullopt);
    if (!named || (!when.empty() && when != "Static" && when != "Dynamic"))
      return fail("quantization-mode expects IntegerOps_Static, "
                  "IntegerOps_Dynamic, QLinearOps_Static or "
                  "QLinearOps_Dynamic, but got '" +
                  other + "'");
    if (settings.mode != Mode::QDQ && settings.mode != *named)
      return fail("quantization-mode=" + other +
                  " contradicts mode=" + settings.modeName);
    settings.mode = *named;
    if (when == "Static" && settings.dynamic)
      return fail("quantization-mode=" + other + " contradicts dynamic");
    settings.dynamic |= when == "Dynamic";
  }
  bool isQat = settings.mode == Mode::QAT;
  if (!isQat && settings.qatForm != "qdq")
    return fail("qat-form is for mode=qat only");
  settings.form = isQat ? modeOf(settings.qatForm) : settings.mode;
  if (settings.placementName == "every-op")
    settings.placement = Placement::EveryOp;
  settings.correctBias = settings.biasCorrection == "local";
  return llvm::Error::success();
}

/// Channels are scaled where activations have one static scale and weights one
/// for each channel.
static llvm::Error readChannelScaling(Settings &settings) {
  llvm::StringRef obstacle;
  if (settings.mode == Mode::QAT)
    obstacle = "mode=qat: the model has its parameters";
  else if (settings.dynamic)
    obstacle = "dynamic: ranges of channels are needed";
  else if (settings.placement == Placement::EveryOp)
    obstacle = "placement=every-op, which leaves the graph as it is";
  else if (!settings.perChannel || settings.blockSize > 0)
    obstacle = "weights without a scale for each channel";
  llvm::StringRef choice = settings.channelScaling;
  bool isChosen = choice == "depthwise" || choice == "products";
  if (isChosen && !obstacle.empty())
    return fail("channel-scaling=" + choice + " contradicts " + obstacle);
  if (choice == "products" && settings.smoothQuant)
    return fail("channel-scaling=products contradicts smooth-quant, which "
                "chooses factors for the same channels");
  if (!obstacle.empty())
    return llvm::Error::success();
  settings.scaleChannels = choice == "depthwise" || choice == "auto";
  settings.scaleProducts =
      choice == "products" || (choice == "auto" && !settings.smoothQuant);
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

static llvm::Error readTypes(Settings &settings) {
  if (settings.nbits != 8 && settings.nbits != 16 && settings.nbits != 4)
    return fail("nbits expects 4, 8 or 16, but got " +
                llvm::Twine(settings.nbits));
  if (settings.nbits == 16)
    settings.activation = {16, false};
  settings.weight = {static_cast<unsigned>(settings.nbits), true};
  std::optional<bool> asymmetric;
  if (llvm::Error error =
          readTriple("asymmetric-input-types", settings.asymmetricInputTypes,
                     "", asymmetric))
    return error;
  // Modes by those names are unsigned, as they were where they come from.
  bool named =
      llvm::StringRef(settings.quantizationMode).starts_with("IntegerOps") &&
      settings.weightType.empty() && settings.activationType.empty();
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
      return fail(name + " expects u8, s8, u16, s16" +
                  (weights ? ", u4, s4" : "") + " or f8e4m3fn, but got '" +
                  text + "'");
    if (settings.nbits != 8 && parsed->bits != settings.nbits &&
        (weights || settings.nbits == 16))
      return fail(name + "=" + text +
                  " contradicts nbits=" + llvm::Twine(settings.nbits));
    if (asymmetric && parsed->isSigned != (weights && *asymmetric))
      return fail(name + "=" + text + " contradicts asymmetric-input-types=" +
                  settings.asymmetricInputTypes);
    type = *parsed;
    return llvm::Error::success();
  };
  if (llvm::Error error = read("activation-type", settings.activationType,
                               settings.activation, false))
    return error;
  settings.weightGiven |= !settings.weightType.empty();
  if (llvm::Error error =
          read("weight-type", settings.weightType, settings.weight, true))
    return error;
  // Products of float8 are added to a float bias.
  settings.quantizeBias &= !settings.weight.isFloat;
  return llvm::Error::success();
}

/// What a runtime is best given, where the user doesn't say otherwise.
static void readRuntime(Settings &settings) {
  // Reduced signed weights can't saturate either; who asks for them knows.
  if (settings.runtime != "onnxruntime" || settings.weightGiven ||
      settings.reduceRange || settings.weight.bits != 8 ||
      settings.activation.isSigned)
    return;
  settings.weight.isSigned = false;
  settings.shiftedWeights = true;
}

/// Chooses forms that the highest opset has.
static llvm::Error readMaxOpset(Settings &settings) {
  int64_t most = settings.maxOpset;
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

namespace {
/// What may not be, and the message if it is.
struct Rule {
  bool broken;
  llvm::StringRef message;
};
} // namespace

static llvm::Error refuseFirst(llvm::ArrayRef<Rule> rules) {
  for (const Rule &rule : rules)
    if (rule.broken)
      return fail(rule.message);
  return llvm::Error::success();
}

/// Types that contradict each other, or the mode.
static llvm::Error refuseTypes(const Settings &settings) {
  bool integerForm = settings.form != Mode::QDQ;
  bool qat = settings.mode == Mode::QAT;
  bool floats = settings.activation.isFloat || settings.weight.isFloat;
  return refuseFirst({
      {settings.activation.isFloat != settings.weight.isFloat,
       "activation-type=f8e4m3fn and weight-type=f8e4m3fn go together: no "
       "runtime multiplies float8 by integers"},
      {floats && (integerForm || settings.dynamic || qat),
       "activation-type=f8e4m3fn is for static mode=qdq: the integer ops take "
       "integers"},
      {floats && (settings.reduceRange || settings.symmetricWeights == false ||
                  settings.restrictedAsymmetric || settings.blockSize > 0 ||
                  settings.int16First > 0 || !settings.int16Tensors.empty() ||
                  settings.contribQdq),
       "float8 goes with none of reduce-range, symmetric-weights=false, "
       "restricted-asymmetric, block-size, int16-first, int16-tensors and "
       "contrib-qdq"},
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
  });
}

/// Options of how quantizers are written that the mode has no use for.
static llvm::Error refuseForms(const Settings &settings) {
  bool integerForm = settings.form != Mode::QDQ;
  bool qat = settings.mode == Mode::QAT;
  return refuseFirst({
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
      {settings.weightPair && settings.weightRounding == "sums",
       "weight-rounding=sums contradicts add-qdq-pair-to-weight: a quantizer "
       "rounds to the nearest"},
      {qat && settings.weightRounding == "sums",
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
  });
}

/// Options of where quantizers stand that the mode or placement has no use for.
static llvm::Error refusePlacement(const Settings &settings) {
  bool qat = settings.mode == Mode::QAT;
  return refuseFirst({
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
      {settings.smoothQuant && (settings.dynamic || qat),
       "smooth-quant is for static modes: it takes ranges of channels"},
      {!(settings.smoothAlpha >= 0 && settings.smoothAlpha <= 1),
       "smooth-quant-alpha expects a number from 0 to 1"},
      {!settings.smoothQuant &&
           (settings.smoothAlpha != QuantizeOptions().smoothAlpha ||
            !settings.smoothFolding),
       "smooth-quant-alpha and smooth-quant-folding are for smooth-quant"},
      {!(std::isfinite(settings.minimumRealRange) &&
         settings.minimumRealRange >= 0),
       "minimum-real-range expects a finite number not below zero"},
  });
}

/// An option that was set although it means nothing where it is.
static llvm::Error refuse(const Settings &settings) {
  for (auto check : {refuseTypes, refuseForms, refusePlacement})
    if (llvm::Error error = check(settings))
      return error;
  return llvm::Error::success();
}

/// Options that choose what `mode=qat` finds in the model: the first that was
/// set.
static llvm::Error refuseInQat(const QuantizeOptions &options) {
  for (const auto &option : quantizeOptionTable())
    if (option.group->isRefusedInQat && option.isSet(options))
      return fail(option.name +
                  " is no option of mode=qat, which takes over the quantizers "
                  "of the model, and chooses neither nodes nor parameters");
  return llvm::Error::success();
}

/// Parameters of tensors, which may be in files.
static llvm::Error readParameters(Settings &settings) {
  if (!settings.tensorOverrides.empty())
    if (llvm::Error error = readOverrides(
            "tensor-overrides", settings.tensorOverrides, settings.overrides))
      return error;
  if (!settings.inputParams.empty())
    if (llvm::Error error =
            readParams("input-quantization-params", settings.inputParams,
                       settings.activation, settings.overrides))
      return error;
  if (!settings.outputParams.empty())
    return readParams("output-quantization-params", settings.outputParams,
                      settings.activation, settings.overrides);
  return llvm::Error::success();
}

/// Sets the options that a preset stands for.
static void applyPreset(QuantizeOptions &options) {
  if (options.preset.empty())
    return;
  llvm::StringRef other = options.quantizationMode;
  bool isInteger = options.dynamic || options.modeName == "integer" ||
                   other.starts_with("Integer") || other.ends_with("Dynamic");
  if (!isInteger)
    options.placementName = "every-op";
  options.biasCorrection = "none";
  options.weightRounding = "nearest";
  options.channelScaling = "none";
  options.keepCheap = options.blockSize > 0;
  options.contribOps |= options.modeName == "qlinear" || options.dynamic;
}

static llvm::Error readChannelAxes(Settings &settings) {
  for (llvm::StringRef text : settings.channelAxisList) {
    auto [op, number] = text.split(':');
    int64_t axis;
    if (op.empty() || number.getAsInteger(10, axis))
      return fail("channel-axes expects OP:AXIS, but got '" + text + "'");
    settings.channelAxes[op] = axis;
  }
  return llvm::Error::success();
}

/// Whether kernels are rounded so that their sums are kept.
static bool keepsSums(const Settings &settings) {
  if (settings.weightRounding != "auto")
    return settings.weightRounding == "sums";
  return settings.mode != Mode::QAT && !settings.dynamic &&
         !settings.weight.isFloat && settings.placement == Placement::Fused &&
         !settings.weightPair;
}

/// Completes settings but for what files hold.
static llvm::Error complete(Settings &settings) {
  if (llvm::Error error =
          checkWords<QuantizeOptions>(quantizeOptionTable(), settings))
    return error;
  if (settings.modeName == "qat")
    if (llvm::Error error = refuseInQat(settings))
      return error;
  applyPreset(settings);
  for (auto read : {readChannelAxes, readMode, readTypes})
    if (llvm::Error error = read(settings))
      return error;
  if (llvm::Error error =
          readTriple("symmetric-weights", settings.weightSymmetry, "auto",
                     settings.symmetricWeights))
    return error;
  std::optional<bool> constantOnly;
  if (llvm::Error error =
          readTriple("matmul-const-b-only", settings.matmulConstBOnly, "auto",
                     constantOnly))
    return error;
  settings.constantProductsOnly = constantOnly.value_or(settings.dynamic);
  readRuntime(settings);
  if (llvm::Error error = readMaxOpset(settings))
    return error;
  if (llvm::Error error = readChannelScaling(settings))
    return error;
  settings.keepSums = keepsSums(settings);
  if (llvm::Error error = readWeightOnly(settings))
    return error;
  return refuse(settings);
}

llvm::Expected<Settings>
quantize::readSettings(const QuantizeOptions &options) {
  Settings settings(options);
  if (llvm::Error error = complete(settings))
    return error;
  if (llvm::Error error = readParameters(settings))
    return error;
  return settings;
}

llvm::Error onnxquant::checkQuantizeOptions(const QuantizeOptions &options) {
  Settings settings(options);
  return complete(settings);
}

bool onnxquant::needsCalibration(const QuantizeOptions &options) {
  Settings settings(options);
  if (llvm::Error error = complete(settings)) {
    llvm::consumeError(std::move(error));
    return true;
  }
  return settings.mode != Mode::QAT && !settings.weightOnly &&
         (!settings.dynamic || settings.quantizesResults());
}

bool onnxquant::needsCovariances(const QuantizeOptions &options) {
  Settings settings(options);
  if (llvm::Error error = complete(settings)) {
    llvm::consumeError(std::move(error));
    return false;
  }
  return settings.weightOnly && settings.weightOnly->needsSamples();
}

bool onnxquant::keepsFused(const QuantizeOptions &options) {
  Settings settings(options);
  if (llvm::Error error = complete(settings)) {
    llvm::consumeError(std::move(error));
    return false;
  }
  return settings.dynamic && settings.contribOps;
}
