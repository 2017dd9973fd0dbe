// Completions for shells: verbs, the options that they declare, and the choices
// that Passes.td or their help lists.

#include "Arguments.h"
#include "OnnxQuant/Target/Target.h"
#include "Pages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::cli;

namespace {
struct CompletedOption {
  std::string name;
  bool isFlag = false, repeats = false;
  /// Empty: a file, or anything.
  std::vector<std::string> choices;

  std::string dashed() const { return (name.size() == 1 ? "-" : "--") + name; }
};
} // namespace

/// The values that a help lists after an option: `--mode qdq|qlinear`.
static std::vector<std::string> choicesOf(const Verb &verb,
                                          const DeclaredOption &option) {
  if (option.name == "target")
    return getTargetNames();
  if (option.info)
    return option.isFlag ? std::vector<std::string>() : option.info->choices();
  Regex pattern("--" + Regex::escape(option.name) + "[ =]([a-z0-9_.+|-]+)");
  SmallVector<StringRef> matches;
  std::vector<std::string> choices;
  if (!pattern.match(verb.help, &matches) || !matches[1].contains('|'))
    return choices;
  SmallVector<StringRef> parts;
  matches[1].split(parts, '|', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts)
    choices.push_back(part.str());
  return choices;
}

static std::vector<CompletedOption> optionsOf(const Verb &verb) {
  std::vector<CompletedOption> options;
  for (const DeclaredOption &declared : declarationOf(verb).options)
    options.push_back({declared.name, declared.isFlag, declared.repeats,
                       choicesOf(verb, declared)});
  options.push_back({"config", false, false, {}});
  options.push_back({"help", true, false, {}});
  options.push_back({"help-all", true, false, {}});
  return options;
}

static std::string verbNames() {
  std::string names;
  for (const Verb *verb : allVerbs())
    names += verb->name.str() + " ";
  return names + "help version completion man";
}

static void printBash(raw_ostream &os) {
  os << "# Completion of onnxq for bash.\n"
        "_onnxq() {\n"
        "  local current=${COMP_WORDS[COMP_CWORD]} options=\n"
        "  local before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}\n"
        "  COMPREPLY=()\n"
        "  # --name=value comes in three words.\n"
        "  if [[ $current == = ]]; then current=; else\n"
        "    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
        "  fi\n"
        "  if [[ $COMP_CWORD -eq 1 || ( $COMP_CWORD -eq 2 && ( $verb == help "
        "|| "
        "$verb == man ) ) ]]; then\n"
        "    COMPREPLY=($(compgen -W '"
     << verbNames()
     << "' -- \"$current\"))\n    return\n  fi\n"
        "  case \"$verb $before\" in\n"
        "    'completion completion') options='bash zsh fish' ;;\n";
  for (const Verb *verb : allVerbs())
    for (const CompletedOption &option : optionsOf(*verb))
      if (!option.choices.empty())
        os << "    '" << verb->name << " " << option.dashed() << "') options='"
           << join(option.choices, " ") << "' ;;\n";
  os << "  esac\n"
        "  if [[ -z $options && $current == -* ]]; then\n"
        "    case $verb in\n";
  for (const Verb *verb : allVerbs()) {
    os << "      " << verb->name << ") options='";
    ListSeparator space(" ");
    for (const CompletedOption &option : optionsOf(*verb))
      os << space << option.dashed();
    os << "' ;;\n";
  }
  os << "    esac\n  fi\n"
        "  [[ -n $options ]] && COMPREPLY=($(compgen -W \"$options\" -- "
        "\"$current\"))\n"
        "  return 0\n}\n"
        "complete -o bashdefault -o default -F _onnxq onnxq\n";
}

static void printZsh(raw_ostream &os) {
  os << "#compdef onnxq\n# Completion of onnxq for zsh.\n_onnxq() {\n"
        "  local -a verbs=(\n";
  auto quoted = [](StringRef text) {
    std::string result;
    for (char c : text)
      result += c == '\'' ? "'\\''" : std::string(1, c);
    return result;
  };
  for (const Verb *verb : allVerbs())
    os << "    '" << verb->name << ":" << quoted(verb->summary) << "'\n";
  os << "  )\n  if (( CURRENT == 2 )); then\n"
        "    _describe verb verbs\n    return\n  fi\n"
        "  case $words[2] in\n"
        "    help|man) _describe verb verbs ;;\n"
        "    completion) compadd bash zsh fish ;;\n";
  for (const Verb *verb : allVerbs()) {
    os << "    " << verb->name << ") shift words; (( CURRENT-- )); _arguments";
    for (const CompletedOption &option : optionsOf(*verb)) {
      os << " \\\n      '" << (option.repeats ? "*" : "") << option.dashed();
      if (option.isFlag)
        os << "'";
      else
        os << (option.name.size() == 1 ? "" : "=") << ":value:"
           << (option.choices.empty() ? "_files"
                                      : "(" + join(option.choices, " ") + ")")
           << "'";
    }
    os << " \\\n      '*:file:_files' ;;\n";
  }
  os << "  esac\n}\n_onnxq \"$@\"\n";
}

static void printFish(raw_ostream &os) {
  os << "# Completion of onnxq for fish.\n";
  for (const Verb *verb : allVerbs())
    os << "complete -c onnxq -n __fish_use_subcommand -f -a " << verb->name
       << " -d \"" << verb->summary << "\"\n";
  os << "complete -c onnxq -n __fish_use_subcommand -f -a 'help version "
        "completion man'\n"
        "complete -c onnxq -n '__fish_seen_subcommand_from help man' -f -a '"
     << verbNames()
     << "'\ncomplete -c onnxq -n '__fish_seen_subcommand_from completion' -f "
        "-a 'bash zsh fish'\n";
  for (const Verb *verb : allVerbs())
    for (const CompletedOption &option : optionsOf(*verb)) {
      os << "complete -c onnxq -n '__fish_seen_subcommand_from " << verb->name
         << "' " << (option.name.size() == 1 ? "-s " : "-l ") << option.name;
      if (!option.choices.empty())
        os << " -x -a '" << join(option.choices, " ") << "'";
      else if (!option.isFlag)
        os << " -r";
      os << "\n";
    }
}

int onnxquant::cli::printCompletion(ArrayRef<const char *> arguments) {
  StringRef shell = arguments.size() == 1 ? arguments[0] : "";
  if (shell == "bash")
    printBash(outs());
  else if (shell == "zsh")
    printZsh(outs());
  else if (shell == "fish")
    printFish(outs());
  else {
    errs() << "error: onnxq completion expects bash, zsh or fish\n";
    return BadUsage;
  }
  return Done;
}
