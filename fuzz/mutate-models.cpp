// Imports, infers and exports mutants of given models, and counts what happens.
//
//   mutate-models --seed N --first N --count N --state FILE FOLDER...
//   mutate-models --seed N --case N [--save FILE] FOLDER...
//
// --verbose prints how each case ended. Case N of a seed is always the same
// mutant of the same folders. The state file holds the number of the case that
// runs, for whoever watches this process: a crash, a sanitizer's report or a
// case of more than ten seconds ends it. Leaks are looked for every few cases,
// so that a report is near its case.

#include "ModelCase.h"
#include "ModelMutator.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>
#include <unistd.h>
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define ONNXQUANT_CHECKS_LEAKS 1
#endif
#endif

using namespace onnxquant::fuzz;

static constexpr unsigned secondsPerCase = 10;
static constexpr uint64_t casesPerLeakCheck = 125;
/// Larger models make the same faults more slowly.
static constexpr uint64_t maxSeedBytes = 64 << 10;

namespace {
struct Options {
  uint64_t seed = 1;
  uint64_t first = 0;
  uint64_t count = 0;
  std::optional<uint64_t> single;
  std::string state;
  std::string save;
  /// Whether each case's end is printed.
  bool verbose = false;
  std::vector<std::string> folders;
};
} // namespace

[[noreturn]] static void fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  std::exit(2);
}

static Options parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef flag = argv[i];
    if (flag == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (!flag.starts_with("--")) {
      options.folders.push_back(flag.str());
      continue;
    }
    if (i + 1 == argc)
      fail("expects a value after " + flag);
    llvm::StringRef value = argv[++i];
    auto number = [&] {
      uint64_t parsed;
      if (value.getAsInteger(10, parsed))
        fail("expects a number after " + flag + ", but got '" + value + "'");
      return parsed;
    };
    if (flag == "--seed")
      options.seed = number();
    else if (flag == "--first")
      options.first = number();
    else if (flag == "--count")
      options.count = number();
    else if (flag == "--case")
      options.single = number();
    else if (flag == "--state")
      options.state = value.str();
    else if (flag == "--save")
      options.save = value.str();
    else
      fail("expects --seed, --first, --count, --case, --state, --save or "
           "--verbose, but got " +
           flag);
  }
  return options;
}

/// All small models below the folders, in the order of their paths.
static std::vector<std::string>
readSeeds(const std::vector<std::string> &folders) {
  std::vector<std::string> paths;
  for (const std::string &folder : folders) {
    std::error_code code;
    for (llvm::sys::fs::recursive_directory_iterator it(folder, code), end;
         it != end && !code; it.increment(code))
      if (llvm::sys::path::extension(it->path()) == ".onnx")
        paths.push_back(it->path());
    if (code)
      fail(folder + ": " + code.message());
  }
  llvm::sort(paths);
  std::vector<std::string> seeds;
  for (const std::string &path : paths) {
    auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
    if (!file)
      fail(path + ": " + file.getError().message());
    if ((*file)->getBufferSize() <= maxSeedBytes)
      seeds.push_back((*file)->getBuffer().str());
  }
  if (seeds.empty())
    fail("expects folders with models, but found none");
  return seeds;
}

static std::string makeCase(const std::vector<std::string> &seeds,
                            uint64_t seed, uint64_t number) {
  // One stream per case, so that a case needs none of those before it.
  Random start(seed);
  Random random(start.next() ^ (number * 0xd1342543de82ef95));
  const std::string &bytes = random.pick(seeds);
  const std::string &other = random.pick(seeds);
  return mutate(bytes, other, random);
}

static void onAlarm(int) {
  static const char message[] = "error: the case runs for too long\n";
  (void)!write(STDERR_FILENO, message, sizeof(message) - 1);
  std::abort();
}

static void note(const std::string &state, uint64_t number) {
  if (state.empty())
    return;
  std::error_code code;
  llvm::raw_fd_ostream os(state, code);
  os << number;
}

static bool leaks() {
#ifdef ONNXQUANT_CHECKS_LEAKS
  return __lsan_do_recoverable_leak_check() != 0;
#else
  return false;
#endif
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv);
  std::vector<std::string> seeds = readSeeds(options.folders);
  llvm::SmallString<128> scratch;
  if (llvm::sys::fs::createTemporaryFile("mutate-models", "onnx", scratch))
    fail("cannot create a temporary file");
  if (options.single) {
    options.first = *options.single;
    options.count = 1;
    options.verbose = true;
  }
  std::signal(SIGALRM, onAlarm);

  std::map<Outcome, uint64_t> counts;
  uint64_t problems = 0;
  for (uint64_t i = 0; i < options.count; ++i) {
    uint64_t number = options.first + i;
    note(options.state, number);
    std::string mutant = makeCase(seeds, options.seed, number);
    if (!options.save.empty()) {
      std::error_code code;
      llvm::raw_fd_ostream(options.save, code) << mutant;
      if (code)
        fail(options.save + ": " + code.message());
    }
    alarm(secondsPerCase);
    CaseResult result = runModel(mutant, scratch);
    alarm(0);
    ++counts[result.outcome];
    if (!result.problem.empty()) {
      ++problems;
      llvm::outs() << "problem: case " << number << ": " << result.problem
                   << "\n";
    }
    if (options.verbose)
      llvm::outs() << "case " << number << ": " << mutant.size() << " bytes, "
                   << (result.error.empty() ? "no error" : result.error)
                   << "\n";
    if ((i + 1) % casesPerLeakCheck == 0 && leaks()) {
      llvm::outs() << "problem: leak in cases up to " << number << "\n";
      return 1;
    }
  }
  llvm::sys::fs::remove(scratch);
  llvm::outs() << "refused " << counts[Outcome::Refused] << ", imported "
               << counts[Outcome::Imported] << ", inferred "
               << counts[Outcome::Inferred] << ", exported "
               << counts[Outcome::Exported] << ", problems " << problems
               << "\n";
  return problems ? 1 : 0;
}
