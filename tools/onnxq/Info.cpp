// onnxq info: what a model contains.

#include "Arguments.h"
#include "Memory.h"
#include "OnnxQuant/Analysis/ModelInfo.h"
#include "OnnxQuant/Pipelines/InitAll.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "onnxquant-c/runtime.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

static std::string shapeText(const TensorInfo &tensor) {
  if (!tensor.shape)
    return "any shape";
  return "[" + llvm::join(*tensor.shape, ", ") + "]";
}

/// A count as people read it: 25.6 M.
static std::string shortCount(double count) {
  for (StringRef unit : {"", " K", " M", " G", " T"}) {
    if (count < 1000 || unit == " T") {
      std::string text;
      llvm::raw_string_ostream os(text);
      os << llvm::format(unit.empty() ? "%.0f" : "%.2f", count) << unit;
      return text;
    }
    count /= 1000;
  }
  return "";
}

static llvm::json::Array toJson(const std::vector<TensorInfo> &tensors) {
  llvm::json::Array list;
  for (const TensorInfo &tensor : tensors) {
    llvm::json::Object object{{"name", tensor.name},
                              {"type", tensor.elementType}};
    if (tensor.shape) {
      llvm::json::Array shape;
      for (StringRef dim : *tensor.shape) {
        int64_t size;
        if (dim.getAsInteger(10, size))
          shape.push_back(dim.str());
        else
          shape.push_back(size);
      }
      object["shape"] = std::move(shape);
    }
    list.push_back(std::move(object));
  }
  return list;
}

static void printJson(const ModelInfo &info,
                      const std::optional<MemoryPlan> &memory) {
  llvm::json::Object opsets, ops;
  for (const auto &[domain, version] : info.opsets)
    opsets[domain] = version;
  for (const auto &[name, count] : info.opCounts)
    ops[name] = count;
  llvm::json::Object root{{"graph", info.graphName},
                          {"producer", info.producer},
                          {"ir_version", info.irVersion},
                          {"opsets", std::move(opsets)},
                          {"inputs", toJson(info.inputs)},
                          {"outputs", toJson(info.outputs)},
                          {"nodes", info.numNodes},
                          {"ops", std::move(ops)},
                          {"parameters", info.parameters},
                          {"parameter_bytes", info.parameterBytes},
                          {"macs", info.macs},
                          {"contractions_of_unknown_shape", info.numUncounted}};
  if (memory)
    root["memory"] = toJson(*memory);
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(root)))
               << "\n";
}

static void printText(const ModelInfo &info) {
  llvm::raw_ostream &os = llvm::outs();
  os << "graph       " << info.graphName;
  if (!info.producer.empty())
    os << " (by " << info.producer << ")";
  os << "\nopset       ";
  bool first = true;
  for (const auto &[domain, version] : info.opsets) {
    os << (first ? "" : ", ") << domain << " " << version;
    first = false;
  }
  os << ", IR version " << info.irVersion << "\n";
  for (const TensorInfo &tensor : info.inputs)
    os << "input       " << tensor.name << ": " << tensor.elementType << " "
       << shapeText(tensor) << "\n";
  for (const TensorInfo &tensor : info.outputs)
    os << "output      " << tensor.name << ": " << tensor.elementType << " "
       << shapeText(tensor) << "\n";
  os << "parameters  " << shortCount(info.parameters) << " ("
     << shortCount(info.parameterBytes) << "B)\n";
  os << "MACs        " << shortCount(info.macs);
  if (info.numUncounted > 0)
    os << " (and " << info.numUncounted
       << " convolutions or products of unknown shape; give it by --dim or "
       << "--input-shape"
       << (info.inputs.empty() ? "" : " " + info.inputs.front().name + "=SHAPE")
       << ")";
  os << "\nnodes       " << info.numNodes << "\n";
  std::vector<std::pair<std::string, int64_t>> ops(info.opCounts.begin(),
                                                   info.opCounts.end());
  llvm::sort(ops, [](const auto &a, const auto &b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  for (const auto &[name, count] : ops)
    os << llvm::format("  %8lld  ", static_cast<long long>(count)) << name
       << "\n";
}

/// What a library was compiled for, without loading it.
static int tellTargets(const std::string &path, bool json) {
  char text[4096];
  if (onnxq_read_targets(path.c_str(), text, sizeof(text)) != ONNXQ_OK) {
    llvm::errs()
        << "error: " << path
        << ": doesn't say which processors it is for: it is no library "
           "of a compiled model, or any processor will do\n";
    return BadInput;
  }
  llvm::SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  llvm::json::Array list;
  for (StringRef line : lines) {
    auto [name, features] = line.split('\t');
    llvm::SmallVector<StringRef> needed;
    features.split(needed, ' ', -1, /*KeepEmpty=*/false);
    bool runs = onnxq_missing_features(features.str().c_str(), nullptr, 0) == 0;
    list.push_back(llvm::json::Object{{"name", name},
                                      {"features", llvm::json::Array(needed)},
                                      {"runs_here", runs}});
    if (!json)
      llvm::outs() << "target      " << name << ": " << features
                   << (runs ? "" : " (not on this processor)") << "\n";
  }
  if (json)
    llvm::outs() << llvm::formatv(
        "{0:2}\n",
        llvm::json::Value(llvm::json::Object{{"targets", std::move(list)}}));
  return Done;
}

static int run(llvm::ArrayRef<const char *> arguments) {
  std::string path;
  bool json = false, memory = false, trustBytecode = false;
  ShapeInferenceOptions shapes;
  std::vector<std::string> dims, inputShapes;
  if (std::optional<int> code = Arguments(infoVerb)
                                    .positional("MODEL", path)
                                    .flag("json", json)
                                    .flag("memory", memory)
                                    .flag("trust-bytecode", trustBytecode)
                                    .list("dim", dims)
                                    .list("input-shape", inputShapes)
                                    .parse(arguments))
    return *code;
  if (llvm::sys::path::extension(path) == ".so")
    return tellTargets(path, json);
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  ModelDiagnosticHandler handler(&context);
  OwningOpRef<ModuleOp> module = readModel(
      path, &context, trustBytecode ? Bytecode::Trusted : Bytecode::Checked);
  if (!module)
    return BadInput;
  shapes.dims.assign(dims.begin(), dims.end());
  shapes.inputShapes.assign(inputShapes.begin(), inputShapes.end());
  if (!dims.empty() || !inputShapes.empty()) {
    PassManager pm(&context);
    pm.addPass(createShapeInference(shapes));
    if (failed(pm.run(*module)))
      return BadInput;
  }
  ModelInfo info = getModelInfo(*module);
  std::optional<MemoryPlan> plan;
  if (memory) {
    FailureOr<MemoryPlan> planned = planMemory(*module);
    if (failed(planned))
      return BadInput;
    plan = *planned;
  }
  if (json)
    printJson(info, plan);
  else
    printText(info);
  if (plan && !json)
    printMemory(*plan);
  return Done;
}

const Verb onnxquant::cli::infoVerb = {
    "info", "inputs, outputs, opset, op counts, parameters, MACs",
    R"(usage: onnxq info MODEL [options]

Tells what a model (.onnx, .mlir or .mlirbc) contains. Weights are not read,
unless the memory of its runs is planned. Of a library (.so): the processors
that it is for.

  --memory                  the memory that a run needs: its workspace, and the
                            largest buffers with the nodes that write them
  --json                    as JSON
  --dim NAME=VALUE          give a named dimension a value
  --input-shape NAME=SHAPE  give an input a shape, such as x=1x3x224x224
  --trust-bytecode          read .mlirbc that has no checksum of ours

example: onnxq info model.onnx --dim batch=1
)",
    run};
