// Finds the matches of a pattern: the syntax tree is walked, and each node is
// told what must match behind it.

#include "OnnxQuant/Text/Pattern.h"
#include "PatternNode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

using namespace onnxquant;
using Node = Pattern::Node;
using Kind = Node::Kind;

/// Steps for each code point of a text, and some for short ones. The patterns
/// of known tokenizers need about ten.
static constexpr size_t stepsPerCode = 1000, stepsAtLeast = 1000000;
/// Nodes that wait for what is behind them: each takes stack.
static constexpr unsigned mostDepth = 4000;

static char32_t foldAscii(char32_t code) {
  return code >= 'A' && code <= 'Z' ? code + ('a' - 'A') : code;
}

static bool isUpperAscii(char32_t code) { return code >= 'A' && code <= 'Z'; }
static bool isLowerAscii(char32_t code) { return code >= 'a' && code <= 'z'; }

bool CodeSet::contains(char32_t code) const {
  auto isIn = [&](char32_t code) {
    return llvm::any_of(ranges,
                        [&](auto range) {
                          return code >= range.first && code <= range.second;
                        }) ||
           (categories >> unsigned(categoryOf(code)) & 1) ||
           (hasWhiteSpace && isWhiteSpace(code)) ||
           llvm::any_of(
               parts, [&](const CodeSet &part) { return part.contains(code); });
  };
  bool found = isIn(code);
  if (!found && ignoresCase && isUpperAscii(code))
    found = isIn(foldAscii(code));
  if (!found && ignoresCase && isLowerAscii(code))
    found = isIn(code - ('a' - 'A'));
  return found != isNegated;
}

namespace {

using End = std::optional<size_t>;
/// What must match behind a node: the position where it all ends.
using Rest = llvm::function_ref<End(size_t)>;

class Matcher {
public:
  explicit Matcher(llvm::ArrayRef<char32_t> codes)
      : codes(codes),
        steps(std::max(stepsAtLeast, codes.size() * stepsPerCode)) {}

  End match(const Node &node, size_t at, Rest rest);
  /// Whether there is no answer: it took too many steps or too much stack.
  bool isExhausted() const { return steps == 0; }

private:
  End matchNode(const Node &node, size_t at, Rest rest);
  End matchChildren(const Node &node, size_t child, size_t at, Rest rest);
  End matchSets(const Node &node, size_t at, Rest rest);
  End matchGroups(const Node &node, size_t count, size_t at, Rest rest);

  llvm::ArrayRef<char32_t> codes;
  size_t steps;
  unsigned depth = 0;
};

} // namespace

static End stay(size_t at) { return at; }

End Matcher::match(const Node &node, size_t at, Rest rest) {
  if (depth == mostDepth)
    steps = 0;
  if (steps == 0 || --steps == 0)
    return std::nullopt;
  ++depth;
  End end = matchNode(node, at, rest);
  --depth;
  return end;
}

End Matcher::matchNode(const Node &node, size_t at, Rest rest) {
  switch (node.kind) {
  case Kind::Set:
    if (at >= codes.size() || !node.set.contains(codes[at]))
      return std::nullopt;
    return rest(at + 1);
  case Kind::Sequence:
    return matchChildren(node, 0, at, rest);
  case Kind::Choice:
    for (const std::unique_ptr<Node> &child : node.children)
      if (End end = match(*child, at, rest))
        return end;
    return std::nullopt;
  case Kind::Repeat: {
    auto repeat = [&](Rest behind) {
      return node.children[0]->kind == Kind::Set
                 ? matchSets(node, at, behind)
                 : matchGroups(node, 0, at, behind);
    };
    if (!node.isPossessive)
      return repeat(rest);
    End end = repeat(stay);
    return end ? rest(*end) : std::nullopt;
  }
  case Kind::Lookahead:
    if (match(*node.children[0], at, stay).has_value() == node.isNegated)
      return std::nullopt;
    return rest(at);
  case Kind::Begin:
    return at == 0 ? rest(at) : std::nullopt;
  case Kind::End:
    return at == codes.size() ? rest(at) : std::nullopt;
  }
  return std::nullopt;
}

End Matcher::matchChildren(const Node &node, size_t child, size_t at,
                           Rest rest) {
  if (child == node.children.size())
    return rest(at);
  return match(*node.children[child], at, [&](size_t behind) {
    return matchChildren(node, child + 1, behind, rest);
  });
}

/// Repeats a set without recursion: as many as there are, then one less at a
/// time.
End Matcher::matchSets(const Node &node, size_t at, Rest rest) {
  const CodeSet &set = node.children[0]->set;
  size_t count = 0;
  while (count < node.most && at + count < codes.size() &&
         set.contains(codes[at + count]) && steps > 0) {
    ++count;
    --steps;
  }
  for (; count >= node.least; --count) {
    if (End end = rest(at + count))
      return end;
    if (count == 0 || steps == 0)
      break;
  }
  return std::nullopt;
}

End Matcher::matchGroups(const Node &node, size_t count, size_t at, Rest rest) {
  if (count < node.most) {
    End end = match(*node.children[0], at, [&](size_t behind) -> End {
      // A repetition of nothing would go on for ever.
      if (behind == at)
        return std::nullopt;
      return matchGroups(node, count + 1, behind, rest);
    });
    if (end)
      return end;
  }
  return count >= node.least ? rest(at) : std::nullopt;
}

Pattern::Pattern(std::unique_ptr<Node> root) : root(std::move(root)) {}
Pattern::Pattern(Pattern &&) = default;
Pattern &Pattern::operator=(Pattern &&) = default;
Pattern::~Pattern() = default;

llvm::Expected<std::vector<Pattern::Span>>
Pattern::findAll(llvm::ArrayRef<char32_t> codes) const {
  std::vector<Span> found;
  Matcher matcher(codes);
  for (size_t at = 0; at < codes.size();) {
    End end = matcher.match(*root, at, stay);
    if (matcher.isExhausted())
      return llvm::createStringError(
          "the pattern that splits text takes too many steps");
    if (end && *end > at)
      found.push_back({at, *end});
    at = end && *end > at ? *end : at + 1;
  }
  return found;
}
