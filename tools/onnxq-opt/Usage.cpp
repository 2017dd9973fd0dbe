// The command line of onnxq-opt for people.

#include "Usage.h"
#include "OnnxQuant/Support/NearestName.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Regex.h"
#include <cstdio>
#include <set>
#include <unistd.h>

using namespace llvm;
using namespace onnxquant;

StringSet<> onnxquant::registeredOptions() {
  StringSet<> names;
  for (const auto &entry : cl::getRegisteredOptions())
    names.insert(entry.first);
  return names;
}

static const mlir::PassRegistryEntry *findPass(StringRef name) {
  if (const mlir::PassInfo *pass = mlir::PassInfo::lookup(name))
    return pass;
  return mlir::PassPipelineInfo::lookup(name);
}

static bool isOurs(StringRef name) {
  return name.starts_with("onnx-") || name.starts_with("onnxq-");
}

//===----------------------------------------------------------------------===//
// Help
//===----------------------------------------------------------------------===//

static void printEntry(StringRef name, StringRef text) {
  outs() << "  --" << left_justify(name, 30) << " " << text << "\n";
}

/// Names side by side, in lines that fit a screen.
static void printNames(const std::set<std::string> &names) {
  size_t column = 0;
  for (const std::string &name : names) {
    if (column == 0 || column + name.size() + 3 > 80) {
      outs() << (column == 0 ? " " : "\n ");
      column = 1;
    }
    outs() << " --" << name;
    column += name.size() + 3;
  }
  outs() << "\n";
}

static void printAll(const StringSet<> &ofLLVM) {
  std::set<std::string> pipelines, passes, otherPasses, files, flags;
  const auto &options = cl::getRegisteredOptions();
  for (const auto &[name, option] : options) {
    if (findPass(name))
      (mlir::PassPipelineInfo::lookup(name) ? pipelines
       : isOurs(name)                       ? passes
                                            : otherPasses)
          .insert(name.str());
    else if (is_contained(map_range(option->Categories,
                                    [](const cl::OptionCategory *category) {
                                      return category->getName();
                                    }),
                          "Model files"))
      files.insert(name.str());
    else if (!ofLLVM.contains(name) && name.size() > 1)
      flags.insert(name.str());
  }
  outs() << "onnxq-opt: passes over ONNX models\n\n"
            "usage: onnxq-opt INPUT [passes] [-o OUTPUT] [options]\n\n"
            "INPUT is .onnx, .mlir, .mlirbc or - (standard input); OUTPUT is "
            "one of these, or\n.ll, .s, .o, .so. Without -o, MLIR text goes to "
            "standard output.\n\nPipelines:\n";
  for (const std::string &name : pipelines)
    printEntry(name, findPass(name)->getPassDescription());
  outs() << "\nPasses:\n";
  for (const std::string &name : passes)
    printEntry(name, findPass(name)->getPassDescription());
  outs() << "\nPasses of MLIR:\n";
  printNames(otherPasses);
  outs() << "\nModel files:\n";
  for (const std::string &name : files)
    printEntry(name, options.lookup(name)->HelpStr);
  outs() << "\nOptions of MLIR's driver:\n";
  printNames(flags);
  outs() << "\nA pass takes options: --onnx-quantize=\"mode=qdq "
            "per-channel=true\".\n"
            "'onnxq-opt --help PASS' lists those of a pass, '--list-passes' of "
            "all;\n'--help-hidden' shows every option, LLVM's own included.\n\n"
            "example: onnxq-opt model.onnx --onnx-preprocess -o model.mlir\n";
}

static std::vector<std::string> passNames() {
  std::vector<std::string> names;
  for (const auto &entry : cl::getRegisteredOptions())
    if (findPass(entry.first))
      names.push_back(entry.first.str());
  sort(names);
  return names;
}

/// A pass with its options. Descriptions stand behind the longest option: in a
/// narrower column MLIR would print spaces without end.
static void printPass(const mlir::PassRegistryEntry &pass) {
  constexpr size_t indent = 2, least = 34;
  pass.printHelpStr(indent, std::max(least, pass.getOptionWidth() + 8));
}

std::optional<int> onnxquant::printUsage(ArrayRef<const char *> arguments,
                                         const StringSet<> &ofLLVM) {
  for (auto [index, text] : enumerate(arguments)) {
    auto [name, subject] = StringRef(text).split('=');
    if (name != "--help" && name != "-help" && name != "-h")
      continue;
    if (subject.empty() && index + 1 < arguments.size())
      subject = arguments[index + 1];
    // What else stands there may be a file, or another option.
    bool isName = !subject.contains('.') && !subject.contains('/');
    subject = subject.ltrim('-').split('=').first;
    if (const mlir::PassRegistryEntry *pass = findPass(subject)) {
      printPass(*pass);
    } else if (subject.empty() || !isName ||
               cl::getRegisteredOptions().count(subject)) {
      printAll(ofLLVM);
    } else {
      errs() << "error: onnxq-opt: there is no pass '" << subject << "'"
             << suggestName(subject, passNames())
             << "; see 'onnxq-opt --help'\n";
      return 2;
    }
    return 0;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// What is printed to standard output meanwhile: MLIR tells a pass's options
/// there and nowhere else.
static std::string capture(function_ref<void()> print) {
  outs().flush();
  std::FILE *file = std::tmpfile();
  int before = ::dup(STDOUT_FILENO);
  if (!file || before < 0)
    return "";
  ::dup2(::fileno(file), STDOUT_FILENO);
  print();
  outs().flush();
  ::dup2(before, STDOUT_FILENO);
  ::close(before);
  std::string text;
  char buffer[4096];
  std::rewind(file);
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), file))
    text.append(buffer, count);
  std::fclose(file);
  return text;
}

static std::vector<std::string> optionsOf(const mlir::PassRegistryEntry &pass) {
  std::string text = capture([&] { printPass(pass); });
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  std::vector<std::string> names;
  // The first line is of the pass itself.
  for (StringRef line : ArrayRef(lines).drop_front()) {
    line = line.ltrim();
    if (line.consume_front("--"))
      names.push_back(
          line.take_until([](char c) { return c == '=' || c == ' '; }).str());
  }
  return names;
}

/// The names in `a=1 b={c d} e='f g'`.
static std::vector<std::string> namesIn(StringRef text) {
  std::vector<std::string> names;
  int depth = 0;
  char quote = 0;
  std::string name;
  bool isName = true;
  auto finish = [&] {
    if (!name.empty())
      names.push_back(name);
    name.clear();
    isName = true;
  };
  for (char c : text) {
    if (quote) {
      quote = c == quote ? 0 : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (StringRef("{[(").contains(c)) {
      ++depth;
    } else if (StringRef("}])").contains(c)) {
      --depth;
    } else if (c == ' ' && depth == 0) {
      finish();
    } else if (c == '=') {
      isName = false;
    } else if (isName && depth == 0) {
      name += c;
    }
  }
  finish();
  return names;
}

static std::optional<std::string> checkPassOptions(StringRef pass,
                                                   StringRef text) {
  const mlir::PassRegistryEntry *entry = findPass(pass);
  std::vector<std::string> given = namesIn(text);
  if (!entry || given.empty())
    return std::nullopt;
  std::vector<std::string> known = optionsOf(*entry);
  for (const std::string &name : given) {
    if (is_contained(known, name))
      continue;
    std::string message =
        ("pass " + pass + " has no option '" + name + "'").str();
    if (known.empty())
      return message + ", nor any other";
    return message + suggestName(name, known) +
           (suggestName(name, known).empty() ? ";" : "") + " it has " +
           join(known, ", ");
  }
  return std::nullopt;
}

/// A pipeline in text: what doesn't exist in it.
static std::optional<std::string> checkPipeline(StringRef text) {
  Regex name("[A-Za-z][A-Za-z0-9_.-]*");
  std::vector<std::string> known = passNames();
  StringRef rest = text;
  SmallVector<StringRef> found;
  while (name.match(rest, &found)) {
    StringRef pass = found[0];
    rest = rest.drop_front(pass.data() + pass.size() - rest.data());
    StringRef behind = rest.ltrim();
    // What operations a pipeline is for.
    if (behind.consume_front("(") || pass == "any")
      continue;
    if (!is_contained(known, pass.str()))
      return ("there is no pass '" + pass + "'").str() +
             suggestName(pass, known);
    if (!behind.consume_front("{"))
      continue;
    size_t end = 0;
    for (int depth = 1; end < behind.size() && depth > 0; ++end)
      depth += behind[end] == '{' ? 1 : behind[end] == '}' ? -1 : 0;
    if (auto wrong = checkPassOptions(pass, behind.take_front(end - 1)))
      return wrong;
    rest = behind.drop_front(end);
  }
  return std::nullopt;
}

static bool isPrefixOption(StringRef name) {
  for (const auto &[known, option] : cl::getRegisteredOptions())
    if (name.starts_with(known) &&
        (option->getFormattingFlag() == cl::Prefix ||
         option->getFormattingFlag() == cl::AlwaysPrefix))
      return true;
  return false;
}

std::optional<std::string>
onnxquant::findWrongName(ArrayRef<const char *> arguments) {
  const auto &options = cl::getRegisteredOptions();
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (!argument.starts_with("-") || argument.ltrim('-').empty())
      continue;
    auto [name, value] = argument.ltrim('-').split('=');
    bool hasValue = argument.contains('=');
    auto option = options.find(name);
    if (option == options.end()) {
      // One letter may begin a group of them, or have its value behind it.
      if (isPrefixOption(name) || name.size() == 1)
        continue;
      std::vector<std::string> names = passNames();
      if (!isOurs(name))
        for (const auto &entry : options)
          names.push_back(entry.first.str());
      std::string nearest = nearestName(name, names, /*farthest=*/3);
      return ("there is no option or pass '" + argument.split('=').first + "'")
                 .str() +
             (nearest.empty() ? "" : "; did you mean '--" + nearest + "'?");
    }
    if (findPass(name)) {
      if (auto wrong = checkPassOptions(name, value))
        return wrong;
    } else if (name == "pass-pipeline" || name == "p") {
      if (!hasValue && i + 1 < arguments.size())
        value = arguments[++i];
      if (auto wrong = checkPipeline(value))
        return wrong;
    } else if (!hasValue &&
               option->second->getValueExpectedFlag() == cl::ValueRequired) {
      if (++i == arguments.size())
        return ("option '" + argument + "' needs a value").str();
    }
  }
  return std::nullopt;
}

void onnxquant::elideWeights() {
  const auto &options = cl::getRegisteredOptions();
  for (StringRef name : {"mlir-elide-elementsattrs-if-larger",
                         "mlir-elide-resource-strings-if-larger"}) {
    auto option = options.find(name);
    if (option != options.end() && option->second->getNumOccurrences() == 0)
      option->second->addOccurrence(0, name, "64");
  }
}
