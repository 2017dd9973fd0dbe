// The options of a pass by name. Their tables are made of Passes.td; command
// lines, configuration files, Python keywords, help and refusals go by them.

#ifndef ONNXQUANT_SUPPORT_OPTIONTABLE_H
#define ONNXQUANT_SUPPORT_OPTIONTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace onnxquant {

enum class OptionKind { Flag, Integer, Number, Text, List };

struct OptionGroup {
  llvm::StringLiteral name, title;
  /// See Options.td.
  bool isRefusedInQat, isOfPassOnly;
};

/// What Passes.td says of an option.
struct OptionInfo {
  llvm::StringLiteral name;
  const OptionGroup *group;
  OptionKind kind;
  /// What stands for a value in help, and the default as text.
  llvm::StringLiteral shown, standard;
  llvm::StringLiteral help;
  /// Between the parts of a value that is given as a list.
  llvm::StringLiteral separator;
  /// What a flag can be beside true and false.
  llvm::StringLiteral third;
  /// All that text can be, as a message lists it; empty for anything.
  llvm::StringLiteral words;

  bool isFlag() const { return kind == OptionKind::Flag; }
  /// Words to choose from, where help lists them: `a|b`.
  std::vector<std::string> choices() const;
  /// What values look like: `an integer`.
  llvm::StringRef kindText() const;
};

template <typename Options> struct OptionEntry : OptionInfo {
  /// Sets the option; false says that the text is none of its values. Lists
  /// grow.
  bool (*read)(Options &options, llvm::StringRef value);
  std::string (*print)(const Options &options);

  bool isSet(const Options &options) const {
    return print(options) != print(Options());
  }
};

template <typename Options>
using OptionTable = llvm::ArrayRef<OptionEntry<Options>>;

template <typename Options>
const OptionEntry<Options> *findOption(OptionTable<Options> table,
                                       llvm::StringRef name) {
  for (const OptionEntry<Options> &entry : table)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

/// `name expects an integer, but got 'x'`.
llvm::Error wrongValue(const OptionInfo &option, llvm::StringRef value);
/// `there is no option 'x'`, with the nearest that there is.
llvm::Error unknownOption(llvm::StringRef name,
                          const std::vector<std::string> &known);

/// Sets an option by its name; the error says what was expected.
template <typename Options>
llvm::Error setOption(OptionTable<Options> table, Options &options,
                      llvm::StringRef name, llvm::StringRef value) {
  if (const OptionEntry<Options> *entry = findOption(table, name))
    return entry->read(options, value) ? llvm::Error::success()
                                       : wrongValue(*entry, value);
  std::vector<std::string> known;
  for (const OptionEntry<Options> &entry : table)
    known.push_back(entry.name.str());
  return unknownOption(name, known);
}

/// Refuses texts that are none of an option's words.
template <typename Options>
llvm::Error checkWords(OptionTable<Options> table, const Options &options) {
  for (const OptionEntry<Options> &entry : table)
    if (!entry.words.empty() && entry.isSet(options))
      if (std::string text = entry.print(options);
          !llvm::is_contained(entry.choices(), text))
        return wrongValue(entry, text);
  return llvm::Error::success();
}

// What the tables are made of: values from text, as text, and from the pass.

bool readOption(bool &target, llvm::StringRef value, bool splits);
bool readOption(int64_t &target, llvm::StringRef value, bool splits);
bool readOption(double &target, llvm::StringRef value, bool splits);
bool readOption(std::string &target, llvm::StringRef value, bool splits);
bool readOption(llvm::SmallVectorImpl<std::string> &target,
                llvm::StringRef value, bool splits);

std::string printOption(bool value);
std::string printOption(int64_t value);
std::string printOption(double value);
std::string printOption(const std::string &value);
std::string printOption(const llvm::SmallVectorImpl<std::string> &value);

template <typename From, typename To>
void copyOption(const From &from, To &to) {
  if constexpr (std::is_convertible_v<From, To>)
    to = from;
  else
    to.assign(from.begin(), from.end());
}

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_OPTIONTABLE_H
