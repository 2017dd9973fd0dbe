// Coefficients as C++ for ESP-DL v1.x, to the byte as its toolkit wrote them.

#include "OnnxQuant/ESP/Legacy.h"
#include "Quantizer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::ArrayRef;
using llvm::StringRef;

/// A node's name as C++ has it.
static std::string identifier(StringRef name, llvm::StringSet<> &taken) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? llvm::toLower(c) : '_';
  if (text.empty() || llvm::isDigit(text[0]))
    text = "_" + text;
  std::string unique = text;
  for (int number = 2; !taken.insert(unique).second; ++number)
    unique = text + "_" + std::to_string(number);
  return unique;
}

static std::vector<int64_t> numbersOf(const Tensor &tensor) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    numbers.push_back(tensor.intAt(i));
  return numbers;
}

static void setActivation(const Model &device, const Node &node,
                          LegacyLayer &layer) {
  layer.activation =
      llvm::StringSwitch<std::string>(node.getString("activation", "Linear"))
          .Case("Relu", "ReLU")
          .Case("LeakyRelu", "LeakyReLU")
          .Case("PRelu", "PReLU")
          .Default("");
  const Tensor *slopes =
      device.findInitializer(node.getString("activation_slopes"));
  if (!slopes)
    return;
  layer.slopes = numbersOf(*slopes);
  layer.slopesExponent = slopes->exponent();
}

std::vector<LegacyLayer> esp::legacyLayers(const Model &device) {
  std::vector<LegacyLayer> layers;
  llvm::StringSet<> taken;
  for (const Node &node : device.nodes) {
    bool isGemm = node.opType == "Gemm";
    std::string kind = node.getString("activation", "Linear");
    bool isProduct = isGemm || node.opType == "Conv";
    if (!isProduct && kind == "Linear")
      continue;
    LegacyLayer &layer = layers.emplace_back();
    layer.name = identifier(node.name, taken);
    layer.node = node.name;
    layer.bits = node.getString("quant_type") == "S16" ? 16 : 8;
    setActivation(device, node, layer);
    layer.hasFilter = isProduct;
    if (!isProduct)
      continue;
    const Tensor &filter = *device.findInitializer(node.inputs[1]);
    layer.filter = numbersOf(filter);
    layer.filterExponents = filter.exponents;
    layer.isPerChannel = filter.exponents.size() > 1;
    layer.isGemm = isGemm;
    layer.shape = filter.dims;
    if (layer.shape.size() == 3)
      layer.shape.insert(layer.shape.begin(), 1);
    Dims dilations = node.getInts("dilations");
    if (dilations.size() == 1)
      dilations.insert(dilations.begin(), 1);
    if (!isGemm)
      layer.dilations = dilations;
    if (node.inputs.size() > 2) {
      const Tensor &bias = *device.findInitializer(node.inputs[2]);
      layer.bias = numbersOf(bias);
      layer.biasExponent = layer.isPerChannel ? -128 : bias.exponent();
    }
  }
  return layers;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void writeElements(llvm::raw_ostream &os, StringRef name, int bits,
                          ArrayRef<int64_t> values) {
  os << "    const static __attribute__((aligned(16))) int" << bits << "_t "
     << name << "_element[] = {\n";
  for (size_t begin = 0; begin < values.size(); begin += 512) {
    os << (begin ? ",\n" : "") << "        ";
    ArrayRef<int64_t> row =
        values.slice(begin, std::min<size_t>(512, values.size() - begin));
    for (auto [i, value] : llvm::enumerate(row))
      os << (i ? ", " : "")
         << llvm::format("%6lld", static_cast<long long>(value));
  }
  os << "};\n\n";
}

static std::string joined(ArrayRef<int64_t> values) {
  return llvm::join(
      llvm::map_range(values, [](int64_t v) { return std::to_string(v); }),
      ", ");
}

static void writeObject(llvm::raw_ostream &os, StringRef kind, int bits,
                        const std::string &name, const std::string &args) {
  std::string type = (kind + "<int" + llvm::Twine(bits) + "_t>").str();
  os << "    const static " << type << " " << name << "(" << args << ");\n"
     << "    const " << type << " *get_" << name << "()\n    {\n    \treturn &"
     << name << ";\n    }\n\n";
}

static void writeFilter(llvm::raw_ostream &os, const LegacyLayer &layer) {
  std::string name = layer.name + "_filter";
  std::vector<int64_t> elements = layer.filter;
  size_t unit = packedChannels(layer.bits);
  // Kernels of convolutions may read beyond the end.
  if (!layer.isGemm && elements.size() % unit)
    elements.resize(llvm::alignTo(elements.size(), unit) + unit);
  writeElements(os, name, layer.bits, elements);
  std::string place =
      "{" + joined(layer.shape) + "}, {" + joined(layer.dilations) + "}";
  std::string exponent = std::to_string(layer.filterExponents[0]);
  if (layer.isPerChannel) {
    os << "    const static int8_t " << name << "_exponent[] = {"
       << joined(layer.filterExponents) << "};\n";
    exponent =
        name + "_exponent, " + std::to_string(layer.filterExponents.size());
  }
  writeObject(os, "Filter", layer.bits, name,
              name + "_element, " + exponent + ", " + place);
}

static int biasBits(const LegacyLayer &layer) {
  return layer.isPerChannel ? 16 : layer.bits;
}

LegacyFiles esp::writeLegacy(ArrayRef<LegacyLayer> layers, StringRef name) {
  LegacyFiles files;
  llvm::raw_string_ostream source(files.source), header(files.header);
  source << "#include \"" << name << ".hpp\"\nusing namespace dl;\n\nnamespace "
         << name << "\n{\n";
  header << "#pragma once\n\n#include <stdint.h>\n#include "
            "\"dl_constant.hpp\"\n\nnamespace "
         << name << "\n{\n";
  auto declare = [&](StringRef kind, int bits, const std::string &object) {
    header << "    const dl::" << kind << "<int" << bits << "_t> *get_"
           << object << "();\n";
  };
  for (const LegacyLayer &layer : layers) {
    if (layer.hasFilter) {
      writeFilter(source, layer);
      declare("Filter", layer.bits, layer.name + "_filter");
    }
    if (!layer.bias.empty()) {
      std::string bias = layer.name + "_bias";
      writeElements(source, bias, biasBits(layer), layer.bias);
      writeObject(source, "Bias", biasBits(layer), bias,
                  bias + "_element, " + std::to_string(layer.biasExponent) +
                      ", {" + std::to_string(layer.bias.size()) + ",}");
      declare("Bias", biasBits(layer), bias);
    }
    if (layer.activation.empty())
      continue;
    std::string activation = layer.name + "_activation";
    std::string args = layer.activation;
    if (!layer.slopes.empty()) {
      writeElements(source, activation, layer.bits, layer.slopes);
      args += ", " + activation + "_element, " +
              std::to_string(layer.slopesExponent) + ", {" +
              std::to_string(layer.slopes.size()) + ",}";
    }
    writeObject(source, "Activation", layer.bits, activation, args);
    declare("Activation", layer.bits, activation);
  }
  source << "}\n";
  header << "}\n";
  return files;
}
