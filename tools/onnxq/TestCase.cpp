// One ONNX backend test case: compiled, run on its data, compared.

#include "TestCase.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Import/TensorFile.h"
#include "OnnxQuant/Pipelines/Artifact.h"
#include "OnnxQuant/Pipelines/InitAll.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Pipelines/RunInputs.h"
#include "OnnxQuant/Pipelines/Session.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "Runner.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

/// The tensors `input_0.pb`, `input_1.pb`, ... of a data set.
static llvm::Expected<std::vector<HostTensor>> readData(StringRef folder,
                                                        StringRef kind) {
  std::vector<HostTensor> tensors;
  for (unsigned i = 0;; ++i) {
    std::string path = (folder + "/" + kind + "_" + Twine(i) + ".pb").str();
    if (!llvm::sys::fs::exists(path))
      return tensors;
    auto tensor = readTensorProto(path);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
}

/// Where a result differs from what is expected; empty if it doesn't.
static std::string compare(const HostTensor &result, const HostTensor &expected,
                           const CaseOptions &options) {
  if (result.type != expected.type)
    return "output '" + result.name + "' has elements of " +
           typeName(result.type) + ", expected " + typeName(expected.type);
  if (result.dims != expected.dims)
    return "output '" + result.name + "' has another shape than expected";
  bool isFloat = result.type == 1 || result.type == 10 || result.type == 11 ||
                 (result.type >= 16 && result.type <= 20);
  for (int64_t i = 0, e = result.numElements(); i < e; ++i) {
    double a = result.at(i), b = expected.at(i);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    // One step of the type where it is coarser than the tolerance.
    double tolerance = options.atol + options.rtol * std::abs(b);
    if (result.type == 16)
      tolerance = std::max(tolerance, std::abs(b) / 128);
    if (isFloat && std::abs(a - b) <= tolerance)
      continue;
    return "output '" + result.name + "' differs at element " +
           std::to_string(i) + ": " + std::to_string(a) + ", expected " +
           std::to_string(b);
  }
  return "";
}

/// Why a model's results can't be compared; empty if they can.
static std::string outOfScope(ModuleOp module) {
  std::string reason;
  module.walk([&](Operation *op) {
    if (auto custom = dyn_cast<onnx::CustomOp>(op))
      if (custom.getDomainName().contains("training"))
        reason = "trains [category: training]";
    if (isa<onnx::BernoulliOp, onnx::MultinomialOp, onnx::RandomNormalOp,
            onnx::RandomNormalLikeOp, onnx::RandomUniformOp,
            onnx::RandomUniformLikeOp>(op))
      reason = "draws random numbers [category: random]";
    // Whether a Dropout draws may be an input.
    if (isa<onnx::DropoutOp>(op) && !isMemoryEffectFree(op))
      reason = "draws random numbers [category: random]";
  });
  return reason;
}

/// The test data has no bfloat16: such tensors come as their bits.
static void takeBits(HostTensor &tensor, int32_t type) {
  if (type == 16 && tensor.type == 4)
    tensor.type = type;
}

/// Whether a data set has other sizes than the model states for an input.
static bool contradicts(const std::vector<InputSpec> &specs,
                        const std::vector<HostTensor> &inputs) {
  for (auto [spec, input] : llvm::zip(specs, inputs)) {
    if (!spec.dims)
      continue;
    if (spec.dims->size() != input.dims.size())
      return true;
    for (auto [stated, size] : llvm::zip(*spec.dims, input.dims))
      if (stated >= 0 && stated != size)
        return true;
  }
  return false;
}

namespace {

/// The compiled model of a case, in this process or under a runner.
class CaseProgram {
public:
  CaseProgram(const CaseOptions &options, const std::string &scratch)
      : options(options), scratch(scratch) {}

  LogicalResult compile(ModuleOp module);
  llvm::Expected<std::vector<HostTensor>>
  run(const std::vector<HostTensor> &inputs) const;

private:
  const CaseOptions &options;
  std::string scratch;
  std::unique_ptr<LoadedObject> object;
};

} // namespace

LogicalResult CaseProgram::compile(ModuleOp module) {
  CompileOptions compile;
  compile.target = options.target;
  compile.checkBounds = options.checkBounds;
  if (!options.runner.empty())
    return writeArtifact(module, scratch + "/model.so", compile);
  auto loaded = compileAndLoad(module, compile);
  if (succeeded(loaded))
    object = std::move(*loaded);
  return loaded;
}

llvm::Expected<std::vector<HostTensor>>
CaseProgram::run(const std::vector<HostTensor> &inputs) const {
  if (object)
    return runModel(object->model(), inputs);
  if (llvm::Error error = writeBundle(inputs, scratch + "/inputs"))
    return error;
  std::vector<std::string> command = options.runner;
  for (const char *word : {"/model.so", "/inputs", "/outputs"})
    command.push_back(scratch + word);
  command.insert(command.end() - 3, "run");
  auto said = startRunner(command, scratch, options.timeout);
  if (!said)
    return said.takeError();
  auto outputs = readBundle(scratch + "/outputs");
  if (outputs)
    for (auto [index, tensor] : llvm::enumerate(*outputs))
      tensor.name = std::to_string(index);
  return outputs;
}

/// Runs one data set; what is wrong with the results.
static Outcome runSet(const std::string &data, const CaseProgram &program,
                      const std::vector<InputSpec> &specs,
                      const CaseOptions &options) {
  auto failed = [](std::string message) {
    return Outcome{Outcome::Failed, std::move(message)};
  };
  auto inputs = readData(data, "input");
  if (!inputs)
    return failed(llvm::toString(inputs.takeError()));
  auto expected = readData(data, "output");
  if (!expected)
    return failed(llvm::toString(expected.takeError()));
  for (HostTensor &input : *inputs)
    input.name.clear();
  for (auto [spec, input] : llvm::zip(specs, *inputs))
    takeBits(input, spec.type);
  if (contradicts(specs, *inputs))
    return {Outcome::Skipped, "its data has other shapes than the model "
                              "states [category: data]"};
  auto ordered = matchInputs(specs, std::move(*inputs), std::nullopt);
  if (!ordered)
    return failed(llvm::toString(ordered.takeError()));
  auto outputs = program.run(*ordered);
  if (!outputs)
    return failed(llvm::toString(outputs.takeError()));
  if (outputs->size() < expected->size())
    return failed("the model has fewer outputs than the data set");
  for (auto [result, want] : llvm::zip(*outputs, *expected)) {
    takeBits(want, result.type);
    std::string difference = compare(result, want, options);
    if (!difference.empty())
      return failed(difference);
  }
  return {Outcome::Passed, ""};
}

Outcome onnxquant::cli::runCase(const std::string &folder,
                                const CaseOptions &options,
                                const std::string &scratch) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string diagnostics;
  llvm::raw_string_ostream os(diagnostics);
  ModelDiagnosticHandler handler(&context, os);
  auto refused = [&]() {
    StringRef text = StringRef(diagnostics).split('\n').first;
    bool documented = text.contains("[category: ");
    return Outcome{documented ? Outcome::Skipped : Outcome::Failed, text.str()};
  };
  OwningOpRef<ModuleOp> module = readModel(folder + "/model.onnx", &context);
  if (!module)
    return refused();
  if (std::string reason = outOfScope(*module); !reason.empty())
    return {Outcome::Skipped, reason};
  std::vector<InputSpec> specs = describeInputs(*module);
  CaseProgram program(options, scratch);
  if (failed(program.compile(*module)))
    return refused();
  for (unsigned sets = 0;; ++sets) {
    std::string data = folder + "/test_data_set_" + std::to_string(sets);
    if (!llvm::sys::fs::is_directory(data))
      return sets > 0 ? Outcome{Outcome::Passed, ""}
                      : Outcome{Outcome::Failed, "has no data"};
    Outcome outcome = runSet(data, program, specs, options);
    if (outcome.kind != Outcome::Passed)
      return outcome;
  }
}
