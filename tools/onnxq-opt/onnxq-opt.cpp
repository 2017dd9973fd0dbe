// onnxq-opt: an mlir-opt that reads and writes ONNX models as well.
//
// Where neither end is a model file, MLIR's own driver does the work, so that
// all its flags mean what they mean there. Otherwise the model is imported, the
// passes run, and the result is written by its extension.

#include "OnnxQuant/Pipelines/Artifact.h"
#include "OnnxQuant/Pipelines/InitAll.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/Crash.h"
#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/Interrupt.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Support/Nesting.h"
#include "OnnxQuant/Support/Version.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "Usage.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Debug/Counter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ManagedStatic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace onnxquant;

namespace {

/// Exit codes that users and scripts rely on.
enum ExitCode { Done = 0, BadInput = 1, BadUsage = 2 };

struct Options {
  llvm::cl::opt<std::string> input{llvm::cl::Positional, llvm::cl::init("-"),
                                   llvm::cl::desc("<input file>")};
  llvm::cl::opt<std::string> output{"o", llvm::cl::init("-"),
                                    llvm::cl::value_desc("filename"),
                                    llvm::cl::desc("Output filename")};
  llvm::cl::OptionCategory category{"Model files"};
  llvm::cl::opt<bool> externalData{
      "external-data", llvm::cl::cat(category),
      llvm::cl::desc("Write weights to a file beside the model")};
  llvm::cl::opt<int64_t> threshold{
      "external-data-size-threshold", llvm::cl::cat(category),
      llvm::cl::init(1024), llvm::cl::value_desc("bytes"),
      llvm::cl::desc("Smallest tensor that goes to that file")};
  llvm::cl::opt<std::string> location{
      "external-data-location", llvm::cl::cat(category),
      llvm::cl::value_desc("file name"),
      llvm::cl::desc("Name of that file (default: MODEL.data)")};
  llvm::cl::list<std::string> dims{
      "dim", llvm::cl::cat(category), llvm::cl::value_desc("NAME=VALUE"),
      llvm::cl::desc("Give a named dimension a value before all passes")};
  llvm::cl::list<std::string> inputShapes{
      "input-shape", llvm::cl::cat(category),
      llvm::cl::value_desc("NAME=1x3x224x224"),
      llvm::cl::desc("Give an input a shape before all passes")};
  llvm::cl::opt<std::string> dynamicBatch{
      "dynamic-batch", llvm::cl::cat(category), llvm::cl::value_desc("NAME"),
      llvm::cl::desc("Make the first dimension of all inputs dynamic")};
  llvm::cl::opt<bool> showWeights{
      "show-weights", llvm::cl::cat(category),
      llvm::cl::desc("Print weights to a terminal, too")};

  bool specializes() const {
    return !dims.empty() || !inputShapes.empty() || !dynamicBatch.empty();
  }
};

} // namespace

static bool isModelFile(StringRef path) {
  return llvm::sys::path::extension(path) == ".onnx";
}

/// Whether the extension tells how to write a file.
static bool isOutput(StringRef path) {
  return isArtifact(path) || isModelOutput(path);
}

/// The passes of the command line, after specialization if asked for.
static LogicalResult buildPipeline(PassManager &pm,
                                   const MlirOptMainConfig &config,
                                   const Options &options) {
  if (options.specializes()) {
    ShapeInferenceOptions shapes;
    shapes.dims.assign(options.dims.begin(), options.dims.end());
    shapes.inputShapes.assign(options.inputShapes.begin(),
                              options.inputShapes.end());
    shapes.dynamicBatch = options.dynamicBatch;
    pm.addPass(createShapeInference(shapes));
  }
  return config.setupPassPipeline(pm);
}

/// Writes what the passes left, by the output's extension.
static LogicalResult write(ModuleOp module, StringRef output,
                           const Options &options) {
  if (isArtifact(output)) {
    CompileOptions compile;
    auto target = parseTarget("native");
    if (!target)
      return module.emitError(llvm::toString(target.takeError()));
    compile.target = *target;
    return writeArtifact(module, output, compile);
  }
  ExportOptions exportOptions;
  exportOptions.externalData = options.externalData;
  exportOptions.externalDataThreshold = options.threshold;
  exportOptions.externalDataLocation = options.location;
  return writeModel(module, output, exportOptions);
}

/// Import, passes, export.
static ExitCode runOnModel(StringRef input, StringRef output,
                           DialectRegistry &registry,
                           const MlirOptMainConfig &config,
                           const Options &options) {
  MLIRContext context(registry);
  context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
  ModelDiagnosticHandler handler(&context);
  DefaultTimingManager timingManager;
  applyDefaultTimingManagerCLOptions(timingManager);
  TimingScope timing = timingManager.getRootScope();
  TimingScope reading = timing.nest("Read");
  OwningOpRef<ModuleOp> module = readModel(input, &context, Bytecode::Trusted);
  reading.stop();
  if (!module)
    return BadInput;
  PassManager pm(&context);
  pm.enableVerifier(config.shouldVerifyPasses());
  if (failed(applyPassManagerCLOptions(pm)) ||
      failed(buildPipeline(pm, config, options)))
    return BadUsage;
  pm.enableTiming(timing);
  if (failed(pm.run(*module)))
    return BadInput;
  TimingScope writing = timing.nest("Write");
  return failed(write(*module, output, options)) ? BadInput : Done;
}

/// MLIR's own driver, with an output that appears whole or not at all.
static ExitCode runOnText(StringRef input, StringRef output,
                          DialectRegistry &registry,
                          MlirOptMainConfig &config) {
  auto fail = [](const Twine &message) {
    llvm::errs() << "error: " << message << "\n";
    return BadInput;
  };
  auto file = openInputOrStdin(input, FileLimits::text);
  if (!file)
    return fail(input + ": " + llvm::toString(file.takeError()));
  if (!isBytecode((*file)->getMemBufferRef()) &&
      mlirNestsDeeper((*file)->getBuffer(), mostMlirDepth))
    return fail(input + ": is nested deeper than " + Twine(mostMlirDepth) +
                " levels");
  auto out = AtomicFile::create(output);
  if (!out)
    return fail(llvm::toString(out.takeError()));
  if (failed(MlirOptMain((*out)->os(), std::move(*file), registry, config)))
    return BadInput;
  if (llvm::Error error = (*out)->commit())
    return fail(llvm::toString(std::move(error)));
  return Done;
}

/// MLIR's own function that does this and reads the command line ends the
/// process with another exit code.
static void registerOptions(DialectRegistry &registry) {
  MlirOptMainConfig::registerCLOptions(registry);
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  tracing::DebugCounter::registerCLOptions();
  llvm::cl::SetVersionPrinter(
      [](llvm::raw_ostream &os) { os << versionText("onnxq-opt"); });
}

/// Reads the command line, after a look whether it asks for help or has names
/// that don't exist. An exit code says that it is over.
static std::optional<ExitCode> parseOptions(int argc, char **argv,
                                            const llvm::StringSet<> &ofLLVM) {
  ArrayRef<const char *> arguments(argv + 1, argc - 1);
  if (std::optional<int> status = printUsage(arguments, ofLLVM))
    return static_cast<ExitCode>(*status);
  if (std::optional<std::string> wrong = findWrongName(arguments)) {
    llvm::errs() << "error: onnxq-opt: " << *wrong
                 << "; see 'onnxq-opt --help'\n";
    return BadUsage;
  }
  bool parsed = llvm::cl::ParseCommandLineOptions(
      argc, argv, "OnnxQuant's optimizer driver: passes over ONNX models\n",
      &llvm::errs());
  if (!parsed)
    return BadUsage;
  return std::nullopt;
}

int main(int argc, char **argv) {
  llvm::llvm_shutdown_obj shutDown;
  installCrashHandler(argc, argv, shortVersion());
  installInterrupts();
  llvm::StringSet<> ofLLVM = registeredOptions();
  DialectRegistry registry;
  onnxquant::registerAllDialects(registry);
  onnxquant::registerAllPasses();
  mlir::registerTransformsPasses();
  Options options;
  registerOptions(registry);
  if (std::optional<ExitCode> code = parseOptions(argc, argv, ofLLVM))
    return *code;
  std::string input = options.input, output = options.output;
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects()) {
    llvm::outs() << "Available Dialects: ";
    llvm::interleaveComma(registry.getDialectNames(), llvm::outs());
    llvm::outs() << "\n";
    return Done;
  }
  if (config.shouldListPasses()) {
    mlir::printRegisteredPasses();
    return Done;
  }
  if (!isOutput(output)) {
    llvm::errs() << "error: " << output
                 << ": cannot be written: expects the extension .onnx, .mlir, "
                    ".mlirbc, .ll, .s, .o or .so\n";
    return BadUsage;
  }
  if (llvm::Error error = checkWritable(output)) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return BadInput;
  }
  // Weights are no reading matter.
  if (output == "-" && !options.showWeights &&
      llvm::sys::Process::StandardOutIsDisplayed())
    elideWeights();
  bool model = isModelFile(input) || isModelFile(output) ||
               isArtifact(output) || options.specializes() ||
               llvm::sys::path::extension(output) == ".mlirbc";
  return model ? runOnModel(input, output, registry, config, options)
               : runOnText(input, output, registry, config);
}
