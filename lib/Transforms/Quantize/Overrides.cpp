// Parameters of single tensors, as JSON in an option or in a file.

#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/Json.h"
#include "Settings.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::quantize;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static llvm::Expected<llvm::json::Object> readObject(llvm::StringRef option,
                                                     llvm::StringRef text) {
  std::string contents = text.trim().str();
  if (!llvm::StringRef(contents).starts_with("{") &&
      llvm::sys::fs::exists(contents)) {
    auto file = openInput(contents, FileLimits::config, /*isText=*/true);
    if (!file)
      return fail(option + ": '" + contents + "' " +
                  llvm::toString(file.takeError()));
    contents = (*file)->getBuffer().str();
  } else if (!llvm::StringRef(contents).starts_with("{")) {
    // The syntax of pass options takes the outer braces away.
    if (!llvm::StringRef(contents).contains(':'))
      return fail(option + ": expects JSON or a file of it, but got '" + text +
                  "'");
    contents = "{" + contents + "}";
  }
  auto value = parseJson(contents);
  if (!value)
    return fail(option + ": expects JSON, but " +
                llvm::toString(value.takeError()));
  if (auto *object = value->getAsObject())
    return std::move(*object);
  return fail(option + ": expects a JSON object of tensors");
}

static llvm::Error checkScale(llvm::StringRef option, llvm::StringRef tensor,
                              double scale) {
  if (std::isfinite(scale) && scale > 0 && static_cast<float>(scale) > 0 &&
      std::isfinite(static_cast<float>(scale)))
    return llvm::Error::success();
  return fail(option + ": tensor '" + tensor +
              "' expects a finite scale greater than zero, but got " +
              llvm::formatv("{0}", scale).str());
}

/// `[zero point, scale]`, or a third element for the zero point's type.
static llvm::Error readPair(llvm::StringRef option, llvm::StringRef tensor,
                            const llvm::json::Value &value,
                            QuantType activation, TensorOverride &result) {
  auto *list = value.getAsArray();
  bool typed = list && list->size() == 3;
  bool isPair = list && (list->size() == 2 || typed);
  auto zeroPoint = isPair ? (*list)[0].getAsInteger() : std::nullopt;
  auto scale = isPair ? (*list)[1].getAsNumber() : std::nullopt;
  if (!zeroPoint || !scale)
    return fail(option + ": tensor '" + tensor +
                "' expects [zero point, scale]");
  if (llvm::Error error = checkScale(option, tensor, *scale))
    return error;
  QuantType type = activation;
  if (typed) {
    auto text = (*list)[2].getAsString();
    auto parsed = text ? QuantType::parse(*text) : std::nullopt;
    if (!parsed || parsed->bits != activation.bits)
      return fail(option + ": tensor '" + tensor +
                  "' expects the type of its zero point to be of " +
                  llvm::Twine(activation.bits) + " bits, such as s8");
    type = *parsed;
  } else if (*zeroPoint < 0) {
    type.isSigned = true;
  }
  // Signed and unsigned numbers that differ by half the range are the same real
  // ones. All activations have one type, since kernels take no two.
  int64_t shift = activation.min() - type.min();
  result.scales = {*scale};
  result.zeroPoints = {*zeroPoint + shift};
  return llvm::Error::success();
}

llvm::Error quantize::readParams(llvm::StringRef option, llvm::StringRef text,
                                 QuantType activation,
                                 llvm::StringMap<TensorOverride> &overrides) {
  auto object = readObject(option, text);
  if (!object)
    return object.takeError();
  for (const auto &[key, value] : *object) {
    llvm::StringRef tensor = key;
    TensorOverride own;
    if (llvm::Error error = readPair(option, tensor, value, activation, own))
      return error;
    TensorOverride &target = overrides[tensor];
    // A tensor leaves one node and enters others: both lists may have it.
    if (!target.scales.empty() &&
        (target.scales != own.scales || target.zeroPoints != own.zeroPoints))
      return fail(option + ": tensor '" + tensor +
                  "' has been given other parameters before");
    target.scales = own.scales;
    target.zeroPoints = own.zeroPoints;
  }
  return llvm::Error::success();
}

/// A number, or a list of them.
template <typename T>
static bool readNumbers(const llvm::json::Value &value,
                        llvm::SmallVectorImpl<T> &numbers) {
  auto add = [&](const llvm::json::Value &element) {
    if constexpr (std::is_same_v<T, double>) {
      auto number = element.getAsNumber();
      if (number)
        numbers.push_back(*number);
      return number.has_value();
    } else {
      auto number = element.getAsInteger();
      if (number)
        numbers.push_back(*number);
      return number.has_value();
    }
  };
  if (auto *list = value.getAsArray())
    return !list->empty() && llvm::all_of(*list, add);
  return add(value);
}

/// Finite numbers; null in a list is none.
static bool readBounds(const llvm::json::Value &value,
                       llvm::SmallVectorImpl<double> &bounds) {
  auto add = [&](const llvm::json::Value &element, bool isListed) {
    auto number = element.getAsNumber();
    if (!number && !(isListed && element.getAsNull()))
      return false;
    bounds.push_back(number.value_or(std::nan("")));
    return !number || std::isfinite(*number);
  };
  auto *list = value.getAsArray();
  if (!list)
    return add(value, false);
  return !list->empty() && llvm::all_of(*list, [&](const auto &element) {
    return add(element, true);
  });
}

static llvm::Error readOverride(llvm::StringRef option, llvm::StringRef tensor,
                                const llvm::json::Object &object,
                                TensorOverride &target);

/// A second set of parameters, with the nodes that read it.
static llvm::Error readConvert(llvm::StringRef option, llvm::StringRef tensor,
                               const llvm::json::Value &value,
                               TensorOverride &target) {
  auto *object = value.getAsObject();
  if (!object)
    return fail(option + ": tensor '" + tensor +
                "': convert expects an object of settings");
  llvm::json::Object settings = *object;
  if (const llvm::json::Value *nodes = settings.get("recv_nodes")) {
    auto *list = nodes->getAsArray();
    std::vector<std::string> names;
    for (const llvm::json::Value &node : list ? *list : llvm::json::Array())
      if (auto name = node.getAsString())
        names.push_back(name->str());
    if (!list || names.size() != list->size() || names.empty())
      return fail(option + ": tensor '" + tensor +
                  "': recv_nodes expects a list of nodes");
    target.receivers = names;
    settings.erase("recv_nodes");
  }
  target.convert = std::make_shared<TensorOverride>();
  if (llvm::Error error =
          readOverride(option, tensor, settings, *target.convert))
    return error;
  if (!target.convert->type || target.convert->convert)
    return fail(option + ": tensor '" + tensor +
                "': convert expects a quant_type, and no other convert");
  return llvm::Error::success();
}

static llvm::Error readOverride(llvm::StringRef option, llvm::StringRef tensor,
                                const llvm::json::Object &object,
                                TensorOverride &target) {
  for (const auto &[key, value] : object) {
    llvm::StringRef name = key;
    auto wrong = [&](llvm::StringRef expected) {
      return fail(option + ": tensor '" + tensor + "': " + name + " expects " +
                  expected);
    };
    if (name == "type" || name == "quant_type") {
      auto text = value.getAsString();
      target.type = text ? QuantType::parse(*text) : std::nullopt;
      if (!target.type)
        return wrong("u8, s8, u16, s16, u4 or s4");
    } else if (name == "scale") {
      if (!readNumbers(value, target.scales))
        return wrong("a number or a list of numbers");
      for (double scale : target.scales)
        if (llvm::Error error = checkScale(option, tensor, scale))
          return error;
    } else if (name == "zero_point") {
      if (!readNumbers(value, target.zeroPoints))
        return wrong("an integer or a list of integers");
    } else if (name == "min" || name == "rmin" || name == "max" ||
               name == "rmax") {
      if (!readBounds(value, name.ends_with("min") ? target.mins : target.maxs))
        return wrong("a finite number, or a list of them and null");
    } else if (name == "axis") {
      target.axis = value.getAsInteger();
      if (!target.axis)
        return wrong("an integer");
    } else if (name == "symmetric" || name == "reduce_range") {
      auto flag = value.getAsBoolean();
      if (!flag)
        return wrong("true or false");
      (name == "symmetric" ? target.symmetric : target.reduceRange) = *flag;
    } else if (name == "convert") {
      if (llvm::Error error = readConvert(option, tensor, value, target))
        return error;
    } else {
      return fail(option + ": tensor '" + tensor + "' has no setting '" + name +
                  "'; there are type, scale, zero_point, min, max, axis, "
                  "symmetric, reduce_range and convert");
    }
  }
  if (target.mins.size() != target.maxs.size())
    return fail(option + ": tensor '" + tensor +
                "' expects min and max together");
  for (auto [min, max] : llvm::zip(target.mins, target.maxs))
    if (min > max || std::isnan(min) != std::isnan(max))
      return fail(option + ": tensor '" + tensor +
                  "' expects min not above max");
  if (!target.mins.empty() && !target.scales.empty())
    return fail(option + ": tensor '" + tensor +
                "' expects a range or a scale, but got both");
  if (target.scales.empty() && !target.zeroPoints.empty())
    return fail(option + ": tensor '" + tensor +
                "' has a zero point without a scale");
  if (target.zeroPoints.size() > 1 &&
      target.zeroPoints.size() != target.scales.size())
    return fail(option + ": tensor '" + tensor +
                "' expects as many zero points as scales");
  return llvm::Error::success();
}

llvm::Error
quantize::readOverrides(llvm::StringRef option, llvm::StringRef text,
                        llvm::StringMap<TensorOverride> &overrides) {
  auto object = readObject(option, text);
  if (!object)
    return object.takeError();
  for (const auto &[key, value] : *object) {
    llvm::StringRef tensor = key;
    const llvm::json::Value *entry = &value;
    // Other tools write a list with one entry per channel; one is common.
    if (auto *list = value.getAsArray(); list && list->size() == 1)
      entry = &(*list)[0];
    auto *settings = entry->getAsObject();
    if (!settings)
      return fail(option + ": tensor '" + tensor +
                  "' expects an object of settings");
    if (overrides.count(tensor))
      return fail(option + ": tensor '" + tensor +
                  "' has been given parameters twice");
    if (llvm::Error error =
            readOverride(option, tensor, *settings, overrides[tensor]))
      return error;
  }
  return llvm::Error::success();
}
