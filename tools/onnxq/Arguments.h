// Reads a verb's arguments: flags, options with values, and positionals.

#ifndef ONNXQUANT_TOOLS_ONNXQ_ARGUMENTS_H
#define ONNXQUANT_TOOLS_ONNXQ_ARGUMENTS_H

#include "OnnxQuant/Support/OptionTable.h"
#include "Verb.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace onnxquant::cli {

struct DeclaredOption {
  std::string name;
  bool isFlag = false;
  /// Whether each value is one more.
  bool repeats = false;
  /// What Passes.td says of it, if it is an option of a pass.
  const OptionInfo *info = nullptr;
};

/// What a verb takes, for completions and files of settings.
struct Declaration {
  std::vector<DeclaredOption> options;
  /// As the help calls them.
  std::vector<std::string> positionals;
};

class Arguments;
Declaration declarationOf(const Verb &verb);
Declaration
declarationOf(llvm::function_ref<void(Arguments &arguments)> declare);

/// What `--help` prints, or `--help-all`: the verb's own text, with the options
/// of passes that it declares. They stand at a line {options}, which names them
/// unless `all` are to be explained, or {all options}, which explains them;
/// without either, before the example if `all` are asked for.
std::string helpText(const Verb &verb, const Declaration &declared, bool all);

/// Declares what a verb takes, then reads it. All verbs have one grammar:
/// `--name=value` and `--name value` mean the same, and so do `_` and `-` in
/// names. A flag stands alone or has a value (`--name`, `--name=false`,
/// `--name false`), and `--no-name` is its opposite. Numbers may be fractions
/// (`1/255`). What isn't declared is wrong usage.
class Arguments {
public:
  /// Takes a value; false says that it can't be.
  using Setter = std::function<bool(llvm::StringRef)>;

  explicit Arguments(const Verb &verb) : verb(verb) {}

  Arguments &flag(llvm::StringRef name, bool &target);
  /// The same with `true` or `false` for the setter. A flag may have a `third`
  /// value, such as `auto`.
  Arguments &flag(llvm::StringRef name, Setter set, llvm::StringRef third = "");
  Arguments &option(llvm::StringRef name, Setter set);
  Arguments &option(llvm::StringRef name, std::string &target);
  Arguments &option(llvm::StringRef name, int64_t &target);
  Arguments &option(llvm::StringRef name, double &target);
  Arguments &list(llvm::StringRef name, std::vector<std::string> &target);
  /// The options of a pass, of these groups or of all that are not for the pass
  /// only. One of a name that is declared already is set beside that.
  template <typename Options>
  Arguments &options(OptionTable<Options> table, Options &target,
                     llvm::ArrayRef<llvm::StringRef> groups = {}) {
    for (const OptionEntry<Options> &entry : table)
      if (groups.empty() ? !entry.group->isOfPassOnly
                         : llvm::is_contained(groups, entry.group->name))
        described(entry, [&entry, &target](llvm::StringRef value) {
          return entry.read(target, value);
        });
    return *this;
  }
  /// A positional; `name` is how an error calls it.
  Arguments &positional(llvm::StringRef name, std::string &target);
  /// The same, that may be left out; such ones come last.
  Arguments &optional(llvm::StringRef name, std::string &target);
  /// All further positionals, at least one.
  Arguments &rest(llvm::StringRef name, std::vector<std::string> &target);

  /// Reads the arguments. An exit code says that the verb is over: help was
  /// asked for, or the usage was wrong and has been reported.
  std::optional<int> parse(llvm::ArrayRef<const char *> arguments);

  /// What has been declared so far.
  Declaration declared() const;

  /// Whether an option was among the arguments.
  bool isGiven(llvm::StringRef name) const;
  /// Those of these options that were given, as they can be typed again.
  std::string repeat(llvm::ArrayRef<llvm::StringRef> names) const;

  /// Reports wrong usage; the exit code for it.
  int wrong(const std::string &message) const;

private:
  struct Entry {
    std::string name;
    bool isFlag;
    Setter set;
    /// What a flag can be beside true and false.
    std::string third = {};
    /// As they were given.
    std::vector<std::string> values = {};
    bool repeats = false;
    const OptionInfo *info = nullptr;
  };

  void described(const OptionInfo &info, Setter set);

  Entry *find(llvm::StringRef name);
  std::string nearestOption(llvm::StringRef name) const;
  /// Reads the option at `at`, and its value behind it.
  std::optional<int> parseOption(llvm::ArrayRef<const char *> arguments,
                                 size_t &at);
  std::optional<int> setFlag(Entry &entry, std::optional<llvm::StringRef> value,
                             bool isNegated,
                             llvm::ArrayRef<const char *> arguments,
                             size_t &at);

  const Verb &verb;
  std::vector<Entry> entries, positionals;
  size_t numRequired = 0;
  std::optional<Entry> remainder;
};

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_ARGUMENTS_H
