// The syntax tree of a pattern.

#ifndef ONNXQUANT_LIB_TEXT_PATTERNNODE_H
#define ONNXQUANT_LIB_TEXT_PATTERNNODE_H

#include "OnnxQuant/Text/Pattern.h"
#include "OnnxQuant/Text/Unicode.h"
#include <limits>

namespace onnxquant {

/// A set of code points: ranges, categories and other sets.
struct CodeSet {
  std::vector<std::pair<char32_t, char32_t>> ranges;
  /// A bit for each category.
  uint32_t categories = 0;
  bool hasWhiteSpace = false, isNegated = false, ignoresCase = false;
  std::vector<CodeSet> parts;

  bool contains(char32_t code) const;
};

struct Pattern::Node {
  enum class Kind { Set, Sequence, Choice, Repeat, Lookahead, Begin, End };
  static constexpr size_t unbounded = std::numeric_limits<size_t>::max();

  Kind kind = Kind::Sequence;
  CodeSet set;
  std::vector<std::unique_ptr<Node>> children;
  /// Of a Repeat; a possessive one gives nothing back.
  size_t least = 0, most = unbounded;
  bool isPossessive = false;
  /// Of a Lookahead.
  bool isNegated = false;
};

} // namespace onnxquant

#endif // ONNXQUANT_LIB_TEXT_PATTERNNODE_H
