// How deep texts nest, without parsing them.

#include "OnnxQuant/Support/Nesting.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>

using namespace llvm;

/// The place behind a string that begins at `begin` with a quote; the text's
/// end if it doesn't end.
static size_t skipString(StringRef text, size_t begin) {
  char quote = text[begin];
  size_t i = begin + 1;
  while (i < text.size() && text[i] != quote)
    i += text[i] == '\\' && quote == '"' ? 2 : 1;
  return std::min(i + 1, text.size());
}

bool onnxquant::jsonNestsDeeper(StringRef text, unsigned most) {
  unsigned depth = 0;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '"') {
      i = skipString(text, i);
      continue;
    }
    if ((c == '{' || c == '[') && ++depth > most)
      return true;
    if ((c == '}' || c == ']') && depth > 0)
      --depth;
    ++i;
  }
  return false;
}

bool onnxquant::yamlNestsDeeper(StringRef text, unsigned most) {
  // Columns at which blocks are open, and brackets inside the last.
  SmallVector<size_t> columns;
  unsigned brackets = 0;
  size_t line = 0;
  bool atStart = true;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '\n') {
      line = ++i;
      atStart = true;
      continue;
    }
    if (c == ' ' || c == '\t' || c == '\r') {
      ++i;
      continue;
    }
    if (c == '#' && (i == line || isSpace(text[i - 1]))) {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (atStart && brackets == 0) {
      while (!columns.empty() && columns.back() >= i - line)
        columns.pop_back();
      columns.push_back(i - line);
      // Entries may begin others on the same line.
      bool isIndicator = StringRef("-?:").contains(c) &&
                         (i + 1 == text.size() || isSpace(text[i + 1]));
      atStart = isIndicator;
    }
    if (columns.size() + brackets > most)
      return true;
    if (c == '"' || (c == '\'' && (i == line || !isAlnum(text[i - 1])))) {
      i = skipString(text, i);
      continue;
    }
    if (c == '{' || c == '[')
      ++brackets;
    if ((c == '}' || c == ']') && brackets > 0)
      --brackets;
    // Tags and anchors before a value nest as well.
    ++i;
  }
  return columns.size() + brackets > most;
}

namespace {

/// Goes through MLIR's text once.
class MlirScanner {
public:
  MlirScanner(StringRef text, unsigned most) : text(text), most(most) {}

  bool run() {
    while (at < text.size())
      if (!step())
        return true;
    return false;
  }

private:
  /// Takes one token; whether the depth is still in bound.
  bool step();
  /// Takes the name of an alias; one that is defined here at depth zero begins
  /// anew.
  bool takeAlias();

  StringRef text;
  unsigned most;
  size_t at = 0;
  unsigned depth = 0, signs = 0;
  /// The alias that is being defined, and how deep it is.
  StringRef defined;
  unsigned definedDepth = 0;
  StringMap<unsigned> aliases;
};

} // namespace

bool MlirScanner::takeAlias() {
  size_t end = at + 1;
  while (end < text.size() &&
         (isAlnum(text[end]) || StringRef("_$-").contains(text[end])))
    ++end;
  StringRef name = text.slice(at, end);
  at = end;
  StringRef rest = text.substr(end).ltrim(" \t\r\n");
  if (depth == 0 && rest.starts_with("=") && !rest.starts_with("==")) {
    defined = name;
    aliases[name] = definedDepth = 0;
    return true;
  }
  auto found = aliases.find(name);
  unsigned total = depth + (found == aliases.end() ? 0 : found->second + 1);
  if (!defined.empty() && total > definedDepth)
    aliases[defined] = definedDepth = total;
  return total <= most;
}

bool MlirScanner::step() {
  char c = text[at];
  if (c == '"') {
    at = skipString(text, at);
    return true;
  }
  if (c == '/' && text.substr(at).starts_with("//")) {
    at = std::min(text.find('\n', at), text.size());
    return true;
  }
  if (c == '#' || c == '!')
    return takeAlias();
  // Operations follow: no alias is open any more.
  if (c == '%' || c == '@')
    defined = StringRef();
  if (c == '-' && !text.substr(at).starts_with("->")) {
    // Each sign of an expression is a level.
    ++at;
    return ++signs + depth <= most;
  }
  bool isArrow = c == '>' && at > 0 && text[at - 1] == '-';
  bool isCompared =
      (c == '<' || c == '>') && at + 1 < text.size() && text[at + 1] == '=';
  if (!isSpace(c) && c != '(')
    signs = 0;
  ++at;
  if (isArrow || isCompared)
    return true;
  if (StringRef("([{<").contains(c)) {
    ++depth;
    if (!defined.empty() && depth > definedDepth)
      aliases[defined] = definedDepth = depth;
  } else if (StringRef(")]}>").contains(c) && depth > 0) {
    --depth;
  }
  return depth + signs <= most;
}

bool onnxquant::mlirNestsDeeper(StringRef text, unsigned most) {
  return MlirScanner(text, most).run();
}
