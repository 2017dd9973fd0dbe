// The input of ESP-DL's convert tool: coefficients as .npy and a config.json.

#include "OnnxQuant/ESP/Layout.h"
#include "OnnxQuant/ESP/Legacy.h"
#include "OnnxQuant/ESP/Quantize.h"
#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/Json.h"
#include "OnnxQuant/Support/NumPy.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::StringRef;

namespace {

class Converter {
public:
  Converter(StringRef folder, const Chip &chip, bool perChannel)
      : folder(folder), chip(chip), perChannel(perChannel) {}
  llvm::Expected<LegacyLayer> layer(StringRef name,
                                    const llvm::json::Object &config);

private:
  llvm::Expected<HostTensor> load(StringRef name, StringRef part);
  llvm::Error filter(const llvm::json::Object &config, LegacyLayer &layer);
  llvm::Error bias(const llvm::json::Object &config, LegacyLayer &layer);
  llvm::Error activation(const llvm::json::Object &config, LegacyLayer &layer);

  StringRef folder;
  const Chip &chip;
  bool perChannel;
};

int64_t rounded(double value, int64_t exponent, int bits) {
  double limit = std::ldexp(1.0, bits - 1);
  return static_cast<int64_t>(std::clamp(
      std::nearbyint(std::ldexp(value, -exponent)), -limit, limit - 1));
}

double magnitude(const HostTensor &tensor) {
  double most = 0;
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    most = std::max(most, std::abs(tensor.at(i)));
  return most;
}

llvm::Expected<HostTensor> Converter::load(StringRef name, StringRef part) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name + "_" + part + ".npy");
  auto tensor = readNpy(path);
  if (!tensor)
    return tensor.takeError();
  for (int64_t i = 0; i < tensor->numElements(); ++i)
    if (!std::isfinite(tensor->at(i)))
      return llvm::createStringError(path + ": element " + llvm::Twine(i) +
                                     " is no finite number");
  return tensor;
}

/// Exponents that are given must be ones that the device can have.
llvm::Error checkExponents(StringRef layer, const llvm::json::Object &config) {
  for (StringRef field :
       {"filter_exponent", "input_exponent", "output_exponent", "exponent"})
    if (auto exponent = config.getInteger(field);
        exponent && !isExponent(*exponent))
      return llvm::createStringError("layer '" + layer + "': " + field + " " +
                                     llvm::Twine(*exponent) +
                                     " is not within -128 to 127");
  if (const llvm::json::Object *activation = config.getObject("activation"))
    return checkExponents(layer, *activation);
  return llvm::Error::success();
}

llvm::Error Converter::filter(const llvm::json::Object &config,
                              LegacyLayer &layer) {
  auto tensor = load(layer.name, "filter");
  if (!tensor)
    return tensor.takeError();
  auto operation = config.getString("operation");
  bool isDepthwise = operation == "depthwise_conv2d";
  layer.isGemm = operation == "fully_connected";
  if (!isDepthwise && !layer.isGemm && operation != "conv2d")
    return llvm::createStringError(
        "layer '" + layer.name +
        "': operation is none of conv2d, depthwise_conv2d, fully_connected");
  std::vector<int64_t> dims = tensor->dims;
  while (dims.size() < 4)
    dims.insert(dims.begin(), 1);
  if (dims.size() != 4)
    return llvm::createStringError("layer '" + layer.name +
                                   "': its filter isn't [H, W, in, out]");
  FilterShape shape;
  shape.isDepthwise = isDepthwise;
  shape.places = dims[0] * dims[1];
  shape.outputs = isDepthwise ? dims[2] * dims[3] : dims[3];
  shape.inputs = isDepthwise ? 1 : dims[2];
  layer.shape = isDepthwise
                    ? std::vector<int64_t>{dims[0], dims[1], shape.outputs, 1}
                    : dims;
  // The file has [place][in][out].
  auto fileIndex = [&](int64_t plain) {
    int64_t place = plain % shape.places, rest = plain / shape.places;
    int64_t i = rest % shape.inputs, o = rest / shape.inputs;
    return (place * shape.inputs + i) * shape.outputs + o;
  };
  int64_t given = config.getInteger("filter_exponent").value_or(INT64_MIN);
  std::vector<double> most(perChannel ? shape.outputs : 1);
  for (int64_t i = 0; i < shape.size(); ++i) {
    double &own = most[perChannel ? i / (shape.inputs * shape.places) : 0];
    own = std::max(own, std::abs(tensor->at(fileIndex(i))));
  }
  for (double own : most) {
    int64_t exponent = legacyExponent(own, layer.bits);
    if (perChannel)
      exponent = std::max<int64_t>(exponent, -15);
    layer.filterExponents.push_back(given != INT64_MIN ? given : exponent);
  }
  layer.isPerChannel = perChannel;
  int64_t block = chip.isPacked ? packedChannels(layer.bits) : 0;
  for (int64_t plain : filterOrder(shape, block)) {
    int64_t channel = perChannel ? plain / (shape.inputs * shape.places) : 0;
    layer.filter.push_back(rounded(tensor->at(fileIndex(plain)),
                                   layer.filterExponents[channel], layer.bits));
  }
  return llvm::Error::success();
}

llvm::Error Converter::bias(const llvm::json::Object &config,
                            LegacyLayer &layer) {
  auto wanted = config.getString("bias");
  if (wanted != "True" && !config.getBoolean("bias").value_or(false))
    return llvm::Error::success();
  auto tensor = load(layer.name, "bias");
  if (!tensor)
    return tensor.takeError();
  StringRef field = perChannel ? "input_exponent" : "output_exponent";
  auto exponent = config.getInteger(field);
  if (!exponent)
    return llvm::createStringError("layer '" + layer.name +
                                   "': its bias needs " + field.str());
  layer.biasExponent = perChannel ? -128 : *exponent;
  for (int64_t i = 0; i < tensor->numElements(); ++i) {
    int64_t own = *exponent;
    if (perChannel) {
      if (i >= int64_t(layer.filterExponents.size()))
        return llvm::createStringError("layer '" + layer.name +
                                       "': its bias has too many elements");
      own += layer.filterExponents[i] + 4;
    }
    layer.bias.push_back(
        rounded(tensor->at(i), own, perChannel ? 16 : layer.bits));
  }
  return llvm::Error::success();
}

llvm::Error Converter::activation(const llvm::json::Object &config,
                                  LegacyLayer &layer) {
  const llvm::json::Object *settings = config.getObject("activation");
  if (!settings)
    return llvm::Error::success();
  layer.activation = settings->getString("type").value_or("").str();
  if (layer.activation == "ReLU")
    return llvm::Error::success();
  if (layer.activation != "LeakyReLU" && layer.activation != "PReLU")
    return llvm::createStringError(
        "layer '" + layer.name +
        "': its activation is none of ReLU, LeakyReLU, PReLU");
  auto tensor = load(layer.name, "activation");
  if (!tensor)
    return tensor.takeError();
  layer.slopesExponent =
      settings->getInteger("exponent")
          .value_or(legacyExponent(magnitude(*tensor), layer.bits));
  for (int64_t i = 0; i < tensor->numElements(); ++i)
    layer.slopes.push_back(
        rounded(tensor->at(i), layer.slopesExponent, layer.bits));
  return llvm::Error::success();
}

llvm::Expected<LegacyLayer> Converter::layer(StringRef name,
                                             const llvm::json::Object &config) {
  LegacyLayer layer;
  layer.name = name.str();
  auto type = config.getString("feature_type");
  if (type != "s8" && type != "s16")
    return llvm::createStringError("layer '" + layer.name +
                                   "': feature_type is neither s8 nor s16");
  layer.bits = type == "s8" ? 8 : 16;
  if (perChannel && layer.bits == 16)
    return llvm::createStringError("layer '" + layer.name +
                                   "': per-channel is for s8");
  if (llvm::Error error = checkExponents(name, config))
    return std::move(error);
  if (llvm::Error error = filter(config, layer))
    return std::move(error);
  if (llvm::Error error = bias(config, layer))
    return std::move(error);
  if (llvm::Error error = activation(config, layer))
    return std::move(error);
  return layer;
}

} // namespace

llvm::Expected<std::vector<LegacyLayer>>
esp::readConvertFolder(StringRef folder, StringRef config, const Chip &chip,
                       bool perChannel) {
  auto file = openInput(config, FileLimits::config);
  if (!file)
    return llvm::createStringError(config + ": " +
                                   llvm::toString(file.takeError()));
  auto json = parseForeignJson((*file)->getBuffer());
  if (!json)
    return llvm::createStringError(config.str() + ": " +
                                   llvm::toString(json.takeError()));
  llvm::json::Object *root = json->getAsObject();
  if (!root)
    return llvm::createStringError(config.str() + ": is no list of layers");
  // An object has no order here; the file's own counts.
  std::vector<std::pair<size_t, StringRef>> order;
  for (const auto &[name, value] : *root)
    order.push_back(
        {(*file)->getBuffer().find("\"" + name.str() + "\""), name});
  llvm::sort(order);
  Converter converter(folder, chip, perChannel);
  std::vector<LegacyLayer> layers;
  for (const auto &[place, name] : order) {
    const llvm::json::Object *settings = root->getObject(name);
    if (!settings)
      return llvm::createStringError(config.str() + ": layer '" + name.str() +
                                     "' has no settings");
    auto layer = converter.layer(name, *settings);
    if (!layer)
      return layer.takeError();
    layers.push_back(std::move(*layer));
  }
  return layers;
}
