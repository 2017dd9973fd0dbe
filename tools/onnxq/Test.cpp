// onnxq test: runs ONNX backend test cases, each in a process of its own.

#include "Arguments.h"
#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/Progress.h"
#include "OnnxQuant/Support/Temporaries.h"
#include "Runner.h"
#include "TestCase.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/StringSaver.h"
#include <atomic>
#include <csignal>
#include <fstream>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::cli;

namespace {
struct TestOptions {
  std::string root, filter, list, runner, target = "native", cpu, features;
  bool verbose = false, quiet = false, json = false;
  int64_t jobs = 0, optLevel = 1;
  CaseOptions each;
};
} // namespace

/// All folders below `root` that hold a model and data, in order.
static std::vector<std::string> findCases(StringRef root) {
  std::vector<std::string> cases;
  for (const std::string &file : filesBelow(root))
    if (sys::path::filename(file) == "model.onnx")
      cases.push_back(sys::path::parent_path(file).str());
  if (sys::fs::exists(root + "/model.onnx"))
    cases.push_back(root.str());
  sort(cases);
  cases.erase(unique(cases), cases.end());
  return cases;
}

/// The cases that a file lists, one below `root` in each line.
static Expected<std::vector<std::string>> readList(StringRef path,
                                                   StringRef root) {
  auto file = openInput(path, FileLimits::table);
  if (!file)
    return createStringError(path + ": " + toString(file.takeError()));
  std::vector<std::string> cases;
  SmallVector<StringRef> lines;
  (*file)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    cases.push_back((root.rtrim('/') + "/" + line.trim()).str());
    if (!sys::fs::exists(cases.back() + "/model.onnx"))
      return createStringError(path + ": lists '" + line.trim() +
                               "', which is no test case");
  }
  return cases;
}

/// Runs a case in a child, so that a crash or a hang is only its own failure.
/// The child tells through a file: children of other threads would keep the
/// ends of a pipe open.
static Outcome runIsolated(const std::string &folder,
                           const CaseOptions &options) {
  auto temporary = TemporaryFolder::create("onnxq-test");
  if (!temporary)
    return {Outcome::Failed, toString(temporary.takeError())};
  StringRef scratch = temporary->path();
  std::string result = (scratch + "/result").str();
  std::optional<int> status = runInChild([&] {
    alarm(options.timeout);
    Outcome outcome = runCase(folder, options, scratch.str());
    std::ofstream(result) << static_cast<char>(outcome.kind) << outcome.message;
  });
  if (!status)
    return {Outcome::Failed, "no process could be started"};
  if (WIFSIGNALED(*status))
    return {Outcome::Failed,
            WTERMSIG(*status) == SIGALRM
                ? "took longer than the time allowed"
                : "crashed with signal " + std::to_string(WTERMSIG(*status))};
  auto text = MemoryBuffer::getFile(result);
  if (!text || (*text)->getBufferSize() == 0)
    return {Outcome::Failed, "ended without a result"};
  StringRef said = (*text)->getBuffer();
  return {static_cast<Outcome::Kind>(said[0]), said.drop_front().str()};
}

/// Runs all cases, as many at a time as asked for; results are in their order.
static std::vector<Outcome> runAll(const std::vector<std::string> &cases,
                                   const TestOptions &options) {
  std::vector<Outcome> outcomes(cases.size());
  size_t jobs = options.jobs > 0
                    ? options.jobs
                    : std::max(1u, std::thread::hardware_concurrency());
  std::atomic<size_t> next{0};
  Progress progress("test", "cases", cases.size(), options.quiet);
  std::mutex mutex;
  size_t done = 0;
  std::vector<std::thread> workers;
  for (size_t i = 0; i < std::min(jobs, cases.size()); ++i)
    workers.emplace_back([&]() {
      for (size_t at; (at = next++) < cases.size();) {
        outcomes[at] = runIsolated(cases[at], options.each);
        std::lock_guard<std::mutex> lock(mutex);
        progress.update(++done);
      }
    });
  for (std::thread &worker : workers)
    worker.join();
  progress.clear();
  return outcomes;
}

/// A line for each case that didn't pass, then the counts.
static int report(const std::vector<std::string> &cases,
                  const std::vector<Outcome> &outcomes,
                  const TestOptions &options) {
  int64_t passed = 0, failed = 0, skipped = 0;
  json::Array list;
  for (auto [path, outcome] : zip(cases, outcomes)) {
    StringRef name = path;
    name.consume_front(options.root);
    name = name.ltrim('/');
    if (options.json) {
      bool isFailed = outcome.kind == Outcome::Failed;
      bool isSkipped = outcome.kind == Outcome::Skipped;
      ++(isFailed ? failed : isSkipped ? skipped : passed);
      list.push_back(json::Object{{"name", name},
                                  {"result", isFailed    ? "failed"
                                             : isSkipped ? "skipped"
                                                         : "passed"},
                                  {"reason", outcome.message}});
      continue;
    }
    if (outcome.kind == Outcome::Failed) {
      ++failed;
      outs() << "FAIL " << name << ": " << outcome.message << "\n";
    } else if (outcome.kind == Outcome::Skipped) {
      ++skipped;
      outs() << "SKIP " << name << ": " << outcome.message << "\n";
    } else {
      ++passed;
      if (options.verbose)
        outs() << "PASS " << name << "\n";
    }
  }
  if (options.json)
    outs() << formatv("{0:2}\n",
                      json::Value(json::Object{{"passed", passed},
                                               {"failed", failed},
                                               {"skipped", skipped},
                                               {"cases", std::move(list)}}));
  else
    outs() << passed << " passed, " << failed << " failed, " << skipped
           << " skipped\n";
  return failed == 0 ? Done : BadInput;
}

/// Fills what every case needs; an exit code says that an option is wrong.
static std::optional<int> readOptions(const Arguments &parser,
                                      TestOptions &options) {
  auto target = parseTarget(options.target, options.cpu, options.features);
  if (!target)
    return parser.wrong(toString(target.takeError()));
  if (options.optLevel < 0 || options.optLevel > 3)
    return parser.wrong("option '--opt-level' expects 0 to 3");
  if (options.each.timeout < 1 || options.each.timeout > 86400)
    return parser.wrong("option '--timeout' expects 1 to 86400");
  options.each.target = *target;
  options.each.target.optLevel = options.optLevel;
  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  SmallVector<const char *> words;
  cl::TokenizeGNUCommandLine(options.runner, saver, words);
  options.each.runner.assign(words.begin(), words.end());
  if (options.each.runner.empty() && !isHostTarget(*target))
    return parser.wrong("code for " + target->triple +
                        " needs a '--runner' on this machine");
  return std::nullopt;
}

static int run(ArrayRef<const char *> arguments) {
  TestOptions options;
  Arguments parser(testVerb);
  parser.positional("ROOT", options.root)
      .option("filter", options.filter)
      .option("list", options.list)
      .option("jobs", options.jobs)
      .option("timeout", options.each.timeout)
      .option("rtol", options.each.rtol)
      .option("atol", options.each.atol)
      .option("target", options.target)
      .option("cpu", options.cpu)
      .option("features", options.features)
      .option("opt-level", options.optLevel)
      .option("runner", options.runner)
      .flag("check-bounds", options.each.checkBounds)
      .flag("verbose", options.verbose)
      .flag("json", options.json)
      .flag("quiet", options.quiet);
  if (std::optional<int> code = parser.parse(arguments))
    return *code;
  if (std::optional<int> code = readOptions(parser, options))
    return *code;
  Regex filter(options.filter.empty() ? "." : options.filter);
  std::string message;
  if (!filter.isValid(message))
    return parser.wrong("option '--filter': " + message);
  if (!sys::fs::is_directory(options.root)) {
    errs() << "error: " << options.root << ": is no folder\n";
    return BadInput;
  }
  std::vector<std::string> cases;
  if (options.list.empty()) {
    cases = findCases(options.root);
  } else {
    auto listed = readList(options.list, options.root);
    if (!listed) {
      errs() << "error: " << toString(listed.takeError()) << "\n";
      return BadInput;
    }
    cases = std::move(*listed);
  }
  erase_if(cases, [&](const std::string &path) { return !filter.match(path); });
  if (cases.empty()) {
    errs() << "error: " << options.root << ": has no test case\n";
    return BadInput;
  }
  return report(cases, runAll(cases, options), options);
}

const Verb onnxquant::cli::testVerb = {
    "test", "run ONNX backend test cases and compare the results",
    R"(usage: onnxq test ROOT [options]

Compiles and runs every case below ROOT (model.onnx with test_data_set_*) and
compares the outputs. Prints a line for each failure with the reason; the last
line is 'N passed, N failed, N skipped'. Skipped are models that need what is
documented as out of scope.

  --filter REGEX   only cases whose path matches
  --list FILE      only the cases in FILE, one path below ROOT a line
  --check-bounds   check every access to a buffer
  --rtol, --atol   tolerance of floats (1e-3, 1e-7)
  --jobs N         cases at a time (default: cores)
  --timeout N      seconds that a case may take (120)
  --target, --cpu, --features   as of 'onnxq compile'
  --runner COMMAND how 'onnxq-runner' of the target is started, such as
                   'qemu-aarch64 -L /usr/aarch64-linux-gnu onnxq-runner-aarch64'
  --opt-level N    0 to 3; plain loops are vectorized from 2 on (1)
  --verbose        also list what passes
  --json           all results as JSON
  --quiet          no progress bar

example: onnxq test /usr/share/libonnx-testdata/data/node --filter test_conv
)",
    run};
