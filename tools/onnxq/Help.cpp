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

/// The names of a group's options.
static std::string nameOptions(ArrayRef<const OptionInfo *> options) {
  std::vector<std::string> words;
  for (const OptionInfo *option : options)
    words.push_back(signature(*option) + (option == options.back() ? "" : ","));
  return "  " + wrap(words, /*indent=*/2, /*at=*/2);
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

static std::string describeGroups(const Declaration &declared, bool all) {
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
    text += group->title.str() + ":\n" +
            (all ? explainOptions(members) : nameOptions(members));
  }
  return text;
}

std::string onnxquant::cli::helpText(const Verb &verb,
                                     const Declaration &declared, bool all) {
  StringRef help = verb.help;
  StringRef marker = "{options}\n", fullMarker = "{all options}\n";
  size_t at = help.find(marker), full = help.find(fullMarker);
  if (full != StringRef::npos)
    return help.take_front(full).str() + describeGroups(declared, true) +
           help.drop_front(full + fullMarker.size()).str();
  if (at != StringRef::npos) {
    std::string rest = help.drop_front(at + marker.size()).str();
    return help.take_front(at).str() + describeGroups(declared, all) +
           (all ? ""
                : "'onnxq " + verb.name.str() +
                      " --help-all' explains each of them.\n") +
           rest;
  }
  std::string groups = all ? describeGroups(declared, true) : "";
  size_t example = help.rfind("\nexample:");
  if (groups.empty() || example == StringRef::npos)
    return help.str() + groups;
  return help.take_front(example).str() + groups +
         help.drop_front(example).str();
}
