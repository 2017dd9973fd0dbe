// onnxq esp info: what a .espdl file holds.

#include "Esp.h"
#include "OnnxQuant/Support/HostTensor.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <map>

using namespace onnxquant;
using namespace onnxquant::cli;

static std::map<std::string, int> countOps(const esp::Model &model) {
  std::map<std::string, int> counts;
  for (const esp::Node &node : model.nodes)
    ++counts[node.opType + "/" + node.getString("quant_type", "?")];
  return counts;
}

static uint64_t parameterBytes(const esp::Model &model) {
  uint64_t bytes = 0;
  for (const esp::Tensor &tensor : model.initializers)
    bytes += tensor.data.size();
  return bytes;
}

static std::string exponentText(llvm::ArrayRef<int64_t> exponents) {
  if (exponents.empty())
    return "none";
  auto [low, high] = std::minmax_element(exponents.begin(), exponents.end());
  if (exponents.size() == 1)
    return std::to_string(*low);
  return llvm::formatv("{0} to {1} ({2} channels)", *low, *high,
                       exponents.size());
}

static llvm::json::Object toJson(const esp::Value &value) {
  llvm::json::Array dims, exponents(value.exponents);
  for (int64_t dim : value.dims)
    dims.push_back(dim < 0 ? llvm::json::Value(nullptr)
                           : llvm::json::Value(dim));
  return llvm::json::Object{{"name", value.name},
                            {"type", esp::nameOf(value.type)},
                            {"shape", std::move(dims)},
                            {"exponents", std::move(exponents)}};
}

static llvm::json::Object toJson(const esp::Tensor &tensor) {
  return llvm::json::Object{
      {"name", tensor.name},
      {"type", esp::nameOf(tensor.type)},
      {"shape", llvm::json::Array(tensor.dims)},
      {"exponents", llvm::json::Array(tensor.exponents)},
      {"layout", tensor.layout().str()},
      {"hash", llvm::utohexstr(llvm::xxh3_64bits(
                   {reinterpret_cast<const uint8_t *>(tensor.data.data()),
                    tensor.data.size()}))}};
}

template <typename T>
static llvm::json::Array listJson(const std::vector<T> &items) {
  llvm::json::Array list;
  for (const T &item : items)
    list.push_back(toJson(item));
  return list;
}

static llvm::json::Object toJson(const esp::Entry &entry) {
  const esp::Model &model = entry.model;
  llvm::json::Object ops, metadata;
  for (const auto &[op, count] : countOps(model))
    ops[op] = count;
  for (const auto &[key, value] : model.metadata)
    metadata[key] = value;
  llvm::json::Array nodes;
  for (const esp::Node &node : model.nodes)
    nodes.push_back(
        llvm::json::Object{{"name", node.name},
                           {"op", node.opType},
                           {"quant_type", node.getString("quant_type")},
                           {"inputs", llvm::json::Array(node.inputs)},
                           {"outputs", llvm::json::Array(node.outputs)}});
  return llvm::json::Object{{"name", entry.name},
                            {"container", entry.magic},
                            {"encrypted", entry.isEncrypted},
                            {"graph", model.graphName},
                            {"inputs", listJson(model.inputs)},
                            {"outputs", listJson(model.outputs)},
                            {"ops", std::move(ops)},
                            {"nodes", std::move(nodes)},
                            {"constants", listJson(model.initializers)},
                            {"parameter_bytes", int64_t(parameterBytes(model))},
                            {"test_inputs", listJson(model.testInputs)},
                            {"test_outputs", listJson(model.testOutputs)},
                            {"metadata", std::move(metadata)}};
}

static void printValues(llvm::StringRef title,
                        const std::vector<esp::Value> &values) {
  for (const esp::Value &value : values)
    llvm::outs() << title << " " << value.name << ": "
                 << esp::nameOf(value.type) << " " << shapeText(value.dims)
                 << ", exponent " << exponentText(value.exponents) << "\n";
}

static void printText(const esp::Entry &entry) {
  const esp::Model &model = entry.model;
  if (!entry.name.empty())
    llvm::outs() << "model " << entry.name << "\n";
  llvm::outs() << "container: " << entry.magic
               << (entry.isEncrypted ? ", encrypted" : "") << ", "
               << entry.bytes << " bytes\n";
  printValues("input", model.inputs);
  printValues("output", model.outputs);
  llvm::outs() << "nodes: " << model.nodes.size() << "\n";
  for (const auto &[op, count] : countOps(model))
    llvm::outs() << "  " << op << ": " << count << "\n";
  llvm::outs() << "constants: " << model.initializers.size() << ", "
               << parameterBytes(model) << " bytes\n";
  llvm::outs() << "test values: ";
  if (model.testInputs.empty())
    llvm::outs() << "none\n";
  else
    llvm::outs() << model.testInputs.size() << " inputs, "
                 << model.testOutputs.size() << " outputs\n";
  for (const auto &[key, value] : model.metadata)
    llvm::outs() << "metadata " << key << ": " << value << "\n";
}

static int run(llvm::ArrayRef<const char *> arguments) {
  EspFileOptions file;
  bool json = false;
  Arguments parser(espInfoVerb);
  parser.positional("FILE", file.path).flag("json", json);
  parser.option("key", file.keyText);
  if (std::optional<int> code = parser.parse(arguments))
    return *code;
  esp::Package package;
  if (int code = file.read(package))
    return code;
  if (json) {
    llvm::json::Array models;
    for (const esp::Entry &entry : package.entries)
      models.push_back(toJson(entry));
    llvm::json::Object root{{"file", file.path},
                            {"magic", package.magic},
                            {"models", std::move(models)}};
    if (!package.version.empty())
      root["version"] = package.version;
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(root)))
                 << "\n";
    return Done;
  }
  if (package.magic[0] == 'P')
    llvm::outs() << "package: " << package.magic << ", "
                 << package.entries.size() << " models"
                 << (package.version.empty() ? "" : ", version ")
                 << package.version << "\n";
  for (const esp::Entry &entry : package.entries)
    printText(entry);
  return Done;
}

const Verb onnxquant::cli::espInfoVerb = {
    "esp info", "what a .espdl file holds",
    R"(usage: onnxq esp info FILE [options]

Tells what a .espdl model (EDL1, EDL2) or a package of models (PDL1, PDL2, PDL3)
holds: inputs and outputs with their exponents (a real number is the integer
times 2^exponent), operators, constants, test values.

  --key HEX  the key of an encrypted file: 32 hexadecimal digits
  --json     as JSON, with every node and constant

example: onnxq esp info model.espdl
)",
    run};
