// Reads a verb's arguments: flags, options with values, and positionals.

#ifndef ONNXQUANT_TOOLS_ONNXQ_ARGUMENTS_H
#define ONNXQUANT_TOOLS_ONNXQ_ARGUMENTS_H

#include "Verb.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace onnxquant::cli {

/// Declares what a verb takes, then reads it. `--name=value` and `--name value`
/// mean the same. What isn't declared is wrong usage.
class Arguments {
public:
  explicit Arguments(const Verb &verb) : verb(verb) {}

  Arguments &flag(llvm::StringRef name, bool &target);
  Arguments &option(llvm::StringRef name, std::string &target);
  Arguments &option(llvm::StringRef name, int64_t &target);
  Arguments &option(llvm::StringRef name, double &target);
  Arguments &list(llvm::StringRef name, std::vector<std::string> &target);
  /// A positional; `name` is how an error calls it.
  Arguments &positional(llvm::StringRef name, std::string &target);
  /// The same, that may be left out; such ones come last.
  Arguments &optional(llvm::StringRef name, std::string &target);
  /// All further positionals, at least one.
  Arguments &rest(llvm::StringRef name, std::vector<std::string> &target);

  /// Options that something else takes out of the arguments first: only to be
  /// suggested for names that are unknown.
  Arguments &elsewhere(llvm::ArrayRef<llvm::StringRef> names);

  /// Reads the arguments. An exit code says that the verb is over: help was
  /// asked for, or the usage was wrong and has been reported.
  std::optional<int> parse(llvm::ArrayRef<const char *> arguments);

  /// Whether an option was among the arguments.
  bool isGiven(llvm::StringRef name) const;

  /// Reports wrong usage; the exit code for it.
  int wrong(const std::string &message) const;

private:
  struct Entry {
    std::string name;
    bool takesValue;
    std::function<bool(llvm::StringRef)> set;
    bool given = false;
  };

  std::string nearestOption(llvm::StringRef name) const;

  const Verb &verb;
  std::vector<std::string> readElsewhere;
  std::vector<Entry> options, positionals;
  size_t numRequired = 0;
  std::optional<Entry> remainder;
};

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_ARGUMENTS_H
