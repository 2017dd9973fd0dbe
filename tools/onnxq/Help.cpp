// What a verb's help says of the options of passes.

#include "Arguments.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::cli;

static constexpr size_t width = 80, column = 22;

/// Words in lines from `indent` on, the first of which begins at `at`.
static std::string wrap(ArrayRef<std::string> words, size_t indent, size_t at) {
  std::string text;
  bool isFirst = true;
  for (const std::string &word : words) {
    if (!isFirst && at + 1 + word.size() > width) {
      text += "\n" + std::string(indent, ' ');
      at = indent;
      isFirst = true;
    }
    text += (isFirst ? "" : " ") + word;
    at += word.size() + !isFirst;
    isFirst = false;
  }
  return text + "\n";
}

static std::string signature(const OptionInfo &option) {
  std::string text = "--" + option.name.str();
  return option.isFlag() ? text : text + " " + option.shown.str();
}

/// Each option in a paragraph.
static std::string explainOptions(ArrayRef<const OptionInfo *> options) {
  std::string text;
  for (const OptionInfo *option : options) {
    std::string name = "  " + signature(*option);
    SmallVector<StringRef> parts;
    option->help.split(parts, ' ');
    std::vector<std::string> words(parts.begin(), parts.end());
    bool isPlain = is_contained({"", "0", "0.0", "false"}, option->standard);
    if (!isPlain)
      words.push_back("(" + option->standard.str() + ")");
    text += name;
    if (name.size() + 2 > column)
      text += "\n" + std::string(column, ' ');
    else
      text += std::string(column - name.size(), ' ');
    text += wrap(words, column, column);
  }
  return text;
}

static std::string describeGroups(const Declaration &declared) {
  std::string text;
  std::vector<const OptionGroup *> groups;
  for (const DeclaredOption &option : declared.options)
    if (option.info && !is_contained(groups, option.info->group))
      groups.push_back(option.info->group);
  for (const OptionGroup *group : groups) {
    SmallVector<const OptionInfo *> members;
    for (const DeclaredOption &option : declared.options)
      if (option.info && option.info->group == group)
        members.push_back(option.info);
    text += group->title.str() + ":\n" + explainOptions(members);
  }
  return text;
}

/// What follows "{more}" up to the example is for `--help-all`, with what
/// Passes.td declares; so is the latter of verbs whose help has no such line.
std::string onnxquant::cli::helpText(const Verb &verb,
                                     const Declaration &declared, bool all) {
  auto [shown, more] = verb.help.split("{more}\n");
  bool isCut = shown.size() != verb.help.size();
  StringRef rest = isCut ? more : shown;
  size_t at = std::min(rest.rfind("\nexample:"), rest.size());
  StringRef details = rest.take_front(at), example = rest.drop_front(at);
  std::string text = isCut ? shown.str() : details.str();
  if (all)
    text += (isCut ? details.str() : "") + describeGroups(declared);
  else if (isCut)
    text += "'onnxq " + verb.name.str() + " --help-all' tells the rest.\n";
  return text + example.str();
}
