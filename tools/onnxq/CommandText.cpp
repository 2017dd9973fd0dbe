// Words of commands.

#include "CommandText.h"
#include "Arguments.h"
#include "OnnxQuant/Support/Numbers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::cli;

std::string onnxquant::cli::quoteForShell(StringRef word) {
  bool isPlain = !word.empty() && all_of(word, [](char c) {
    return isAlnum(c) || StringRef("_-./=:,@%+").contains(c);
  });
  if (isPlain)
    return word.str();
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Whether it is a flag of the verbs whose options go into commands.
static bool isFlag(StringRef name) {
  for (const Verb *verb : {&quantizeVerb, &debugVerb, &sensitivityVerb})
    for (const DeclaredOption &option : declarationOf(*verb).options)
      if (option.name == name)
        return option.isFlag;
  return name == "profile";
}

NamedOptions onnxquant::cli::optionsBut(ArrayRef<const char *> arguments,
                                        ArrayRef<StringRef> left) {
  NamedOptions options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (!argument.consume_front("--"))
      continue;
    auto [spelled, value] = argument.split('=');
    std::string name = spelled.str();
    llvm::replace(name, '_', '-');
    std::string given = value.str();
    bool isNegated = StringRef(name).starts_with("no-") &&
                     isFlag(StringRef(name).drop_front(3));
    if (isNegated)
      name.erase(0, 3);
    if (!argument.contains('=')) {
      StringRef next = i + 1 < arguments.size() ? arguments[i + 1] : "";
      bool isWord = parseTruth(next) || next == "auto";
      if (!isFlag(name) || isWord) {
        given = next.str();
        ++i;
      } else {
        given = "true";
      }
    }
    if (std::optional<bool> truth = parseTruth(given); truth && isFlag(name))
      given = *truth != isNegated ? "true" : "false";
    if (!is_contained(left, StringRef(name)))
      options.emplace_back(std::move(name), std::move(given));
  }
  return options;
}

void onnxquant::cli::setOption(NamedOptions &options, StringRef name,
                               StringRef value) {
  bool isList = name == "nodes-to-exclude" || name == "int16-tensors";
  for (auto &[known, current] : options)
    if (known == name) {
      current = isList ? current + "," + value.str() : value.str();
      return;
    }
  options.emplace_back(name.str(), value.str());
}

std::vector<std::string>
onnxquant::cli::quantizeCommand(StringRef model, const NamedOptions &options,
                                StringRef output) {
  std::vector<std::string> words{"onnxq", "quantize", model.str()};
  for (const auto &[name, value] : options) {
    if (isFlag(name)) {
      words.push_back("--" + name + (value == "true" ? "" : "=" + value));
      continue;
    }
    words.push_back("--" + name);
    words.push_back(value);
  }
  words.push_back("-o");
  words.push_back(output.str());
  return words;
}

std::string onnxquant::cli::asLine(ArrayRef<std::string> words) {
  std::vector<std::string> quoted;
  for (const std::string &word : words)
    quoted.push_back(quoteForShell(word));
  return join(quoted, " ");
}

std::string onnxquant::cli::besides(StringRef path, StringRef suffix) {
  StringRef extension = sys::path::extension(path);
  StringRef stem = path.drop_back(extension.size());
  return (stem + suffix + ".onnx").str();
}
