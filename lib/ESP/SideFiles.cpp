// The files beside a .espdl: `.info` for people, `.json` with exponents.

#include "OnnxQuant/ESP/Quantize.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;

static std::string listText(llvm::ArrayRef<int64_t> numbers) {
  return "[" +
         llvm::join(llvm::map_range(
                        numbers, [](int64_t n) { return std::to_string(n); }),
                    ", ") +
         "]";
}

static void printTensor(llvm::raw_ostream &os, const Tensor &tensor) {
  os << "  " << tensor.name << ", shape " << listText(tensor.dims) << ", "
     << nameOf(tensor.type) << ", exponents " << listText(tensor.exponents);
  if (!tensor.layout().empty())
    os << ", layout " << tensor.layout();
  os << "\n    [";
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    os << (i ? ", " : "");
    if (tensor.type == Float)
      os << llvm::formatv("{0}", tensor.at(i));
    else
      os << tensor.intAt(i);
  }
  os << "]\n";
}

std::string esp::writeInfo(const Model &model) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const auto &[key, value] : model.metadata)
    os << key << ": " << value << "\n";
  os << "graph " << model.graphName << "\n";
  for (const Node &node : model.nodes) {
    os << "  " << llvm::join(node.outputs, ", ") << " = " << node.opType << " ("
       << llvm::join(node.inputs, ", ") << ") '" << node.name << "'";
    for (const Attribute &attribute : node.attributes) {
      os << ", " << attribute.name << " = ";
      if (attribute.kind == Attribute::IntKind)
        os << attribute.i;
      else if (attribute.kind == Attribute::FloatKind)
        os << llvm::formatv("{0}", attribute.f);
      else if (attribute.kind == Attribute::StringKind)
        os << attribute.s;
      else
        os << listText(attribute.ints);
    }
    os << "\n";
  }
  os << "\ninitializers value:\n";
  for (const Tensor &tensor : model.initializers)
    printTensor(os, tensor);
  os << "\nvalues info:\n";
  for (const Value &value : model.values)
    os << "  " << value.name << ", shape " << listText(value.dims) << ", "
       << nameOf(value.type) << ", exponents " << listText(value.exponents)
       << "\n";
  os << "\ntest inputs value:\n";
  for (const Tensor &tensor : model.testInputs)
    printTensor(os, tensor);
  os << "\ntest outputs value:\n";
  for (const Tensor &tensor : model.testOutputs)
    printTensor(os, tensor);
  return text;
}

/// A name that JSON keys refer to a tensor's scale by.
static std::string keyOf(llvm::StringRef name) {
  return llvm::utohexstr(llvm::xxh3_64bits(name));
}

std::string esp::writeTableJson(const Model &model,
                                const QuantizeOptions &options) {
  llvm::json::Object configs, dispatchings, values;
  for (const Node &node : model.nodes) {
    std::string kind = node.getString("quant_type");
    llvm::json::Object tensors;
    std::vector<std::string> names = node.inputs;
    names.insert(names.end(), node.outputs.begin(), node.outputs.end());
    for (const std::string &name : names) {
      const Tensor *constant = model.findInitializer(name);
      const Value *value = model.findValue(name);
      int32_t type = constant ? constant->type : value ? value->type : 0;
      if (type != Int8 && type != Int16 && type != Int32)
        continue;
      const std::vector<int64_t> &exponents =
          constant ? constant->exponents : value->exponents;
      int bits = 8 * bytesOf(type);
      std::string key = keyOf(name);
      bool perChannel = exponents.size() > 1;
      tensors[name] = llvm::json::Object{
          {"bit_width", bits},
          {"policy", llvm::json::Object{{"PER_TENSOR", !perChannel},
                                        {"PER_CHANNEL", perChannel},
                                        {"LINEAR", true},
                                        {"FLOATING", false},
                                        {"SYMMETRICAL", true},
                                        {"ASYMMETRICAL", false},
                                        {"POWER_OF_2", true},
                                        {"DYNAMIC", false}}},
          {"state", "ACTIVATED"},
          {"quant_min", -(int64_t(1) << (bits - 1))},
          {"quant_max", (int64_t(1) << (bits - 1)) - 1},
          {"hash", key},
          {"dominator", key}};
      llvm::json::Array scales;
      for (int64_t exponent : exponents)
        scales.push_back(std::ldexp(1.0, exponent));
      if (perChannel)
        values[key] =
            llvm::json::Object{{"scale", std::move(scales)}, {"zero_point", 0}};
      else
        values[key] = llvm::json::Object{
            {"scale", std::ldexp(1.0, exponents.empty() ? 0 : exponents[0])},
            {"zero_point", 0}};
    }
    configs[node.name] = std::move(tensors);
    std::string family = options.chip->laneBits == 20 ? "ESPDL_S3_"
                         : options.chip->isPacked     ? "ESPDL_"
                                                      : "ESPDL_C_";
    dispatchings[node.name] = kind == "S8"    ? family + "INT8"
                              : kind == "S16" ? family + "INT16"
                                              : "FP32";
  }
  llvm::json::Object root{{"configs", std::move(configs)},
                          {"dispatchings", std::move(dispatchings)},
                          {"values", std::move(values)}};
  return llvm::formatv("{0:2}", llvm::json::Value(std::move(root))).str() +
         "\n";
}
