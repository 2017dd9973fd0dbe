// onnxq compile: a model as a library, an object, assembly or LLVM IR.

#include "Arguments.h"
#include "CompileBare.h"
#include "Models.h"
#include "OnnxQuant/Pipelines/Artifact.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Target/Header.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

/// What was written and which processors it is for.
static int report(StringRef output, const CompileOptions &options,
                  double seconds, bool json) {
  std::vector<TargetOptions> targets = {options.target};
  targets.insert(targets.end(), options.otherTargets.begin(),
                 options.otherTargets.end());
  uint64_t bytes = 0;
  llvm::sys::fs::file_size(output, bytes);
  std::string header;
  StringRef extension = llvm::sys::path::extension(output);
  if (extension == ".o" || extension == ".a")
    header = (output.drop_back(1) + "h").str();
  BareReport memory;
  if (isBare(options.target) && !header.empty()) {
    auto measured = reportBare(output);
    if (!measured)
      return espFail(measured.takeError());
    memory = std::move(*measured);
  }
  if (!json) {
    llvm::outs() << "wrote " << output << " (" << sizeText(bytes) << ", for ";
    llvm::interleave(
        targets, llvm::outs(),
        [](const TargetOptions &target) {
          llvm::outs() << describeTarget(target);
        },
        "; ");
    llvm::outs() << ")" << (header.empty() ? "" : " and " + header) << "\n"
                 << memory.text;
    return Done;
  }
  llvm::json::Array list;
  for (const TargetOptions &target : targets)
    list.push_back(llvm::json::Object{
        {"name", target.name},
        {"triple", target.triple},
        {"cpu", target.cpu},
        {"features", llvm::json::Array(neededFeatures(target))}});
  llvm::json::Object root{{"output", output},
                          {"bytes", static_cast<int64_t>(bytes)},
                          {"seconds", seconds},
                          {"threads", options.threads},
                          {"targets", std::move(list)}};
  if (!header.empty())
    root["header"] = header;
  for (auto &[key, value] : memory.json)
    root[key] = value;
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(root)))
               << "\n";
  return Done;
}

static int run(llvm::ArrayRef<const char *> arguments) {
  std::string path, output, name, chip;
  ModelOptions model;
  EspFileOptions file;
  CodeOptions code;
  bool quiet = false, json = false;
  Arguments parser(compileVerb);
  parser.positional("MODEL", path).option("o", output).option("name", name);
  parser.option("chip", chip);
  parser.flag("quiet", quiet).flag("json", json);
  model.declare(parser);
  file.declare(parser);
  code.declare(parser);
  if (std::optional<int> ended = parser.parse(arguments))
    return *ended;
  if (output.empty())
    return parser.wrong("expects -o OUT");
  if (!isArtifact(output))
    return parser.wrong(
        "expects OUT to end with .so, .o, .a, .s or .ll, but got "
        "'" +
        output + "'");
  if (std::optional<int> code = checkOutput(output))
    return *code;
  if (name.empty())
    name = makeIdentifier(llvm::sys::path::stem(path));
  if (!isIdentifier(name))
    return parser.wrong("option '--name' expects a name that C can use, but "
                        "got '" +
                        name + "'");
  CompileOptions options;
  if (std::optional<int> ended = code.read(parser, options))
    return *ended;
  options.name = name;
  if (isBare(options.target) && StringRef(code.target).contains(','))
    return parser.wrong("--target " + options.target.name + " stands alone");
  if (std::optional<int> ended =
          checkBareOptions(parser, options, path, output))
    return *ended;
  StringRef extension = llvm::sys::path::extension(output);
  if (!options.otherTargets.empty() && extension != ".so" && extension != ".o")
    return parser.wrong("several targets need an OUT that ends with .so or .o");
  if (quiet && code.verbose)
    return parser.wrong("options '--quiet' and '--verbose' exclude each other");
  if (!quiet && !code.verbose)
    options.kernelReport = KernelReport::Count;
  auto start = std::chrono::steady_clock::now();
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  file.path = path;
  if (isBare(options.target))
    chip = options.target.name;
  OwningOpRef<ModuleOp> module = isEspdl(path)
                                     ? readForChip(file, chip, context.get())
                                     : model.read(path, context.get());
  if (!module || failed(writeArtifact(*module, output, options)))
    return BadInput;
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  if (json || !quiet)
    return report(output, options, seconds.count(), json);
  return Done;
}

const Verb onnxquant::cli::compileVerb = {
    "compile", "a model as a library, an object, assembly or LLVM IR",
    R"(usage: onnxq compile MODEL -o OUT [options]

Compiles a model (.onnx, .mlir, .mlirbc) ahead of time into a shared library
(.so), an object with a C header (.o), assembly (.s) or LLVM IR (.ll); a .espdl
model for its chip into an object or a static library (.a) without a C library.

  --target NAME[,NAME]...   native (default), x86-64-v2, x86-64-v3, x86-64-v4,
                            aarch64, aarch64+dotprod, aarch64+i8mm, riscv64,
                            riscv64+v (of several, the best there is runs);
                            .espdl: esp32c3, esp32p4, esp32s3
  --cpu NAME                processor, as LLVM calls it
  --features LIST           such as +avx512vnni,-fma
  --threads N               threads of a run (1); more need libomp
  --dim NAME=VALUE          give a named dimension a value
  --input-shape NAME=SHAPE  give an input a shape (x=1x3x8x8); --trust-bytecode
  --key HEX, --model NAME, --chip NAME   of .espdl files that need it
  --name NAME               prefix of the C symbols (default: from MODEL)
  --max-iterations N        let a Loop fail after N iterations
  --cache DIR               keeps compiled models; or ONNXQUANT_CODE_CACHE
  --check-bounds            check every access to a buffer
  --no-winograd             3x3 convolutions by plain sums, untransformed
  --verbose, --quiet, --json   why nodes have no vectorized kernel; nothing; JSON
example: onnxq compile model.onnx -o model.o --target aarch64 --dim batch=1
)",
    run};
