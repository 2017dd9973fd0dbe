// Tables of exponents: ours, that of ESP-DL's quantizer, the old toolkit's
// pickle, or any .espdl file.

#include "OnnxQuant/ESP/Espdl.h"
#include "OnnxQuant/ESP/Legacy.h"
#include "OnnxQuant/ESP/Quantize.h"
#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/Json.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::StringRef;

static int64_t exponentOf(double scale) {
  return static_cast<int64_t>(std::lround(std::log2(scale)));
}

static llvm::Expected<Exponents> fromPickle(StringRef text) {
  auto scales = readPickle({text.data(), text.size()});
  if (!scales)
    return scales.takeError();
  Exponents exponents;
  for (const auto &[name, list] : *scales)
    if (!list.values.empty() && list.values[0] > 0)
      exponents[name] = exponentOf(list.values[0]);
  return exponents;
}

/// `configs` has tensors by node; a tensor's scale is the value of its
/// dominator.
static Exponents fromConfigs(const llvm::json::Object &configs,
                             const llvm::json::Object &values) {
  Exponents exponents;
  for (const auto &[node, tensors] : configs) {
    const llvm::json::Object *list = tensors.getAsObject();
    if (!list)
      continue;
    for (const auto &[name, entry] : *list) {
      const llvm::json::Object *fields = entry.getAsObject();
      const llvm::json::Value *dominator =
          fields ? fields->get("dominator") : nullptr;
      if (!dominator)
        continue;
      std::string key = dominator->getAsString()
                            ? dominator->getAsString()->str()
                            : llvm::formatv("{0}", *dominator).str();
      const llvm::json::Object *value = values.getObject(key);
      auto scale = value ? value->getNumber("scale") : std::nullopt;
      if (scale && *scale > 0)
        exponents[name.str()] = exponentOf(*scale);
    }
  }
  return exponents;
}

static llvm::Expected<Exponents> fromJson(StringRef text) {
  auto json = parseForeignJson(text);
  if (!json)
    return json.takeError();
  const llvm::json::Object *root = json->getAsObject();
  if (const llvm::json::Object *own =
          root ? root->getObject("exponents") : nullptr) {
    Exponents exponents;
    for (const auto &[name, value] : *own) {
      auto number = value.getAsInteger();
      if (!number)
        return llvm::createStringError("'" + name.str() + "' has no exponent");
      exponents[name.str()] = *number;
    }
    return exponents;
  }
  const llvm::json::Object *configs =
                               root ? root->getObject("configs") : nullptr,
                           *values = root ? root->getObject("values") : nullptr;
  if (!configs || !values)
    return llvm::createStringError("is no table of exponents");
  return fromConfigs(*configs, *values);
}

static llvm::Expected<Exponents> readAny(StringRef path) {
  StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".espdl") {
    auto package = readPackageFile(path);
    if (!package)
      return package.takeError();
    Exponents exponents;
    for (const Entry &entry : package->entries)
      for (const Value &value : entry.model.values)
        exponents[value.name] = value.exponent();
    return exponents;
  }
  auto file = openInput(path, FileLimits::table);
  if (!file)
    return llvm::createStringError(path + ": " +
                                   llvm::toString(file.takeError()));
  StringRef text = (*file)->getBuffer();
  auto exponents = extension == ".pickle" || extension == ".pkl"
                       ? fromPickle(text)
                       : fromJson(text);
  if (!exponents)
    return llvm::createStringError(path.str() + ": " +
                                   llvm::toString(exponents.takeError()));
  return exponents;
}

llvm::Expected<Exponents> esp::readExponents(StringRef path) {
  auto exponents = readAny(path);
  if (!exponents)
    return exponents.takeError();
  for (const auto &[name, exponent] : *exponents)
    if (!isExponent(exponent))
      return llvm::createStringError(
          path + ": '" + name + "' has the exponent " + llvm::Twine(exponent) +
          ", which is not within -128 to 127");
  return exponents;
}

ScaleTable esp::legacyTable(const Model &device) {
  ScaleTable table;
  auto add = [&](const std::string &name, llvm::ArrayRef<int64_t> exponents,
                 bool isArray) {
    Scales &scales = table[name];
    scales.isArray = isArray;
    for (int64_t exponent : exponents)
      scales.values.push_back(std::ldexp(1.0, exponent));
  };
  for (const Value &value : device.values)
    add(value.name, value.exponents, false);
  for (const Node &node : device.nodes) {
    bool isProduct = node.opType == "Conv" || node.opType == "Gemm";
    for (size_t i = 1; isProduct && i < node.inputs.size(); ++i)
      if (const Tensor *tensor = device.findInitializer(node.inputs[i]))
        add(tensor->name, tensor->exponents,
            i == 1 || tensor->exponents.size() > 1);
    std::string slopes = node.getString("activation_slopes");
    if (const Tensor *tensor = device.findInitializer(slopes))
      add(node.getString("activation_table", slopes), tensor->exponents, false);
  }
  return table;
}
