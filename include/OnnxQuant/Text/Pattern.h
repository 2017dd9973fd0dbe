// Regular expressions of tokenizers: what `tokenizer.json` files split text by.

#ifndef ONNXQUANT_TEXT_PATTERN_H
#define ONNXQUANT_TEXT_PATTERN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <vector>

namespace onnxquant {

/// A regular expression over code points: alternatives, groups, `(?i:...)`,
/// classes with ranges and `\p{...}`, `\s \d \w` and their opposites, greedy
/// and possessive repetition, lookahead, `^` and `$`. Anything else is an
/// error, by its position. The first alternative that matches is taken.
class Pattern {
public:
  /// A part of a text: the first position and the one behind the last.
  struct Span {
    size_t begin, end;
  };
  struct Node;

  static llvm::Expected<Pattern> parse(llvm::StringRef text);
  /// A pattern that is the text itself.
  static Pattern literal(llvm::StringRef text);
  Pattern(Pattern &&);
  Pattern &operator=(Pattern &&);
  ~Pattern();

  /// All matches from left to right; none is empty. Fails if the pattern takes
  /// too many steps on this text.
  llvm::Expected<std::vector<Span>>
  findAll(llvm::ArrayRef<char32_t> codes) const;

private:
  explicit Pattern(std::unique_ptr<Node> root);
  std::unique_ptr<Node> root;
};

} // namespace onnxquant

#endif // ONNXQUANT_TEXT_PATTERN_H
