// Parses regular expressions into a syntax tree.

#include "PatternNode.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

using namespace onnxquant;
using Node = Pattern::Node;
using Kind = Node::Kind;

static CodeSet setOf(char32_t code) {
  CodeSet set;
  set.ranges.push_back({code, code});
  return set;
}

namespace {

class Parser {
public:
  explicit Parser(llvm::StringRef text) : codes(decodeUtf8(text)) {}

  llvm::Expected<std::unique_ptr<Node>> parse() {
    std::unique_ptr<Node> root = parseChoice();
    if (at < codes.size())
      fail("')' without '('");
    if (!problem.empty())
      return llvm::createStringError("pattern, position " +
                                     llvm::Twine(problemAt) + ": " + problem);
    return root;
  }

private:
  bool isAtEnd() const { return at >= codes.size() || !problem.empty(); }
  char32_t peek(size_t ahead = 0) const {
    return at + ahead < codes.size() ? codes[at + ahead] : 0;
  }
  bool take(char32_t code) {
    if (isAtEnd() || codes[at] != code)
      return false;
    ++at;
    return true;
  }
  bool take(llvm::StringRef text) {
    for (size_t i = 0; i < text.size(); ++i)
      if (at + i >= codes.size() || codes[at + i] != char32_t(text[i]))
        return false;
    at += text.size();
    return true;
  }
  void fail(const llvm::Twine &why) {
    if (!problem.empty())
      return;
    problem = why.str();
    problemAt = at;
  }

  std::unique_ptr<Node> parseChoice();
  std::unique_ptr<Node> parseSequence();
  std::unique_ptr<Node> parseAtom();
  std::unique_ptr<Node> parseGroup();
  std::unique_ptr<Node> parseRepeats(std::unique_ptr<Node> atom);
  bool parseBounds(size_t &least, size_t &most);
  CodeSet parseClass();
  CodeSet parseEscape();
  CodeSet parseMember() {
    return take('\\') ? parseEscape() : setOf(codes[at++]);
  }
  CodeSet parseProperty(bool isNegated);
  std::optional<size_t> parseNumber();

  std::vector<char32_t> codes;
  size_t at = 0, problemAt = 0;
  unsigned depth = 0;
  bool ignoresCase = false;
  std::string problem;
};

} // namespace

/// Groups within groups that a pattern may have.
static constexpr unsigned mostDepth = 64;
/// The largest number in `{m,n}`.
static constexpr size_t mostRepeats = 1000;

static std::unique_ptr<Node> makeNode(Kind kind) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  return node;
}

static std::unique_ptr<Node> makeSet(CodeSet set) {
  std::unique_ptr<Node> node = makeNode(Kind::Set);
  node->set = std::move(set);
  return node;
}

static uint32_t bitOf(Category category) { return 1u << unsigned(category); }

std::unique_ptr<Node> Parser::parseChoice() {
  std::unique_ptr<Node> first = parseSequence();
  if (peek() != '|' || isAtEnd())
    return first;
  std::unique_ptr<Node> choice = makeNode(Kind::Choice);
  choice->children.push_back(std::move(first));
  while (take('|'))
    choice->children.push_back(parseSequence());
  return choice;
}

std::unique_ptr<Node> Parser::parseSequence() {
  std::unique_ptr<Node> sequence = makeNode(Kind::Sequence);
  while (!isAtEnd() && peek() != '|' && peek() != ')')
    sequence->children.push_back(parseRepeats(parseAtom()));
  return sequence;
}

std::unique_ptr<Node> Parser::parseAtom() {
  if (take('('))
    return parseGroup();
  if (take('['))
    return makeSet(parseClass());
  if (take('\\'))
    return makeSet(parseEscape());
  if (take('^'))
    return makeNode(Kind::Begin);
  if (take('$'))
    return makeNode(Kind::End);
  if (take('.')) {
    CodeSet set = setOf('\n');
    set.isNegated = true;
    return makeSet(std::move(set));
  }
  if (peek() == '*' || peek() == '+' || peek() == '?')
    fail("nothing to repeat");
  CodeSet set = setOf(peek());
  set.ignoresCase = ignoresCase;
  ++at;
  return makeSet(std::move(set));
}

std::unique_ptr<Node> Parser::parseGroup() {
  if (++depth > mostDepth)
    fail("groups are nested more than " + llvm::Twine(mostDepth) + " deep");
  bool outerCase = ignoresCase;
  std::unique_ptr<Node> node;
  if (take("?=") || take("?!")) {
    node = makeNode(Kind::Lookahead);
    node->isNegated = codes[at - 1] == '!';
  } else if (take("?i:")) {
    ignoresCase = true;
  } else if (!take("?:") && peek() == '?') {
    fail("expects (?:, (?i:, (?= or (?!");
  }
  std::unique_ptr<Node> inner = parseChoice();
  if (!take(')'))
    fail("'(' without ')'");
  ignoresCase = outerCase;
  --depth;
  if (!node)
    return inner;
  node->children.push_back(std::move(inner));
  return node;
}

std::optional<size_t> Parser::parseNumber() {
  if (peek() < '0' || peek() > '9')
    return std::nullopt;
  size_t number = 0;
  while (peek() >= '0' && peek() <= '9' && number <= mostRepeats)
    number = number * 10 + (codes[at++] - '0');
  if (number > mostRepeats)
    fail("repeats more than " + llvm::Twine(mostRepeats) + " times");
  return number;
}

/// `{m}`, `{m,}` or `{m,n}` behind the brace.
bool Parser::parseBounds(size_t &least, size_t &most) {
  std::optional<size_t> first = parseNumber();
  if (!first)
    return false;
  least = most = *first;
  if (take(',')) {
    std::optional<size_t> last = parseNumber();
    most = last ? *last : Node::unbounded;
  }
  return take('}') && least <= most;
}

std::unique_ptr<Node> Parser::parseRepeats(std::unique_ptr<Node> atom) {
  for (unsigned level = 0; !isAtEnd(); ++level) {
    size_t least = 0, most = Node::unbounded;
    if (take('+'))
      least = 1;
    else if (take('?'))
      most = 1;
    else if (take('{')) {
      if (!parseBounds(least, most))
        fail("expects {m}, {m,} or {m,n}");
    } else if (!take('*'))
      break;
    if (level == mostDepth)
      fail("repetitions are nested more than " + llvm::Twine(mostDepth) +
           " deep");
    std::unique_ptr<Node> repeat = makeNode(Kind::Repeat);
    repeat->least = least;
    repeat->most = most;
    repeat->isPossessive = take('+');
    if (!repeat->isPossessive && peek() == '?')
      fail("repetition of as few as possible isn't supported");
    repeat->children.push_back(std::move(atom));
    atom = std::move(repeat);
  }
  return atom;
}

/// `\p{NAME}` behind the p; also `\pL`.
CodeSet Parser::parseProperty(bool isNegated) {
  std::string name;
  if (take('{')) {
    isNegated ^= take('^');
    while (!isAtEnd() && peek() != '}')
      appendUtf8(name, codes[at++]);
    if (!take('}'))
      fail("'{' without '}'");
  } else if (!isAtEnd()) {
    appendUtf8(name, codes[at++]);
  }
  constexpr auto upper = Category::UpperLetter, lower = Category::LowerLetter,
                 title = Category::TitleLetter,
                 modifier = Category::ModifierLetter,
                 letter = Category::OtherLetter;
  CodeSet set;
  set.isNegated = isNegated;
  set.categories =
      llvm::StringSwitch<uint32_t>(name)
          .Cases({"L", "Letter"}, bitOf(upper) | bitOf(lower) | bitOf(title) |
                                      bitOf(modifier) | bitOf(letter))
          .Case("Lu", bitOf(upper))
          .Case("Ll", bitOf(lower))
          .Case("Lt", bitOf(title))
          .Case("Lm", bitOf(modifier))
          .Case("Lo", bitOf(letter))
          .Cases({"M", "Mark"}, bitOf(Category::Mark))
          .Cases({"N", "Number"}, bitOf(Category::Number))
          .Cases({"P", "Punctuation"}, bitOf(Category::Punctuation))
          .Cases({"S", "Symbol"}, bitOf(Category::Symbol))
          .Cases({"Z", "Separator"}, bitOf(Category::Separator))
          .Cases({"C", "Other"}, bitOf(Category::Other))
          .Default(0);
  if (!set.categories)
    fail("unknown property '" + name + "'");
  return set;
}

/// What follows a backslash.
CodeSet Parser::parseEscape() {
  if (isAtEnd()) {
    fail("nothing behind '\\'");
    return {};
  }
  char32_t code = codes[at++];
  CodeSet set;
  switch (code) {
  case 'p':
  case 'P':
    return parseProperty(code == 'P');
  case 's':
  case 'S':
    set.hasWhiteSpace = true;
    set.isNegated = code == 'S';
    return set;
  case 'd':
  case 'D':
    set.ranges.push_back({'0', '9'});
    set.isNegated = code == 'D';
    return set;
  case 'w':
  case 'W':
    set.categories =
        bitOf(Category::UpperLetter) | bitOf(Category::LowerLetter) |
        bitOf(Category::TitleLetter) | bitOf(Category::ModifierLetter) |
        bitOf(Category::OtherLetter) | bitOf(Category::Mark) |
        bitOf(Category::Number);
    set.ranges.push_back({'_', '_'});
    set.isNegated = code == 'W';
    return set;
  case 'n':
    return setOf('\n');
  case 'r':
    return setOf('\r');
  case 't':
    return setOf('\t');
  case 'f':
    return setOf('\f');
  case 'v':
    return setOf('\v');
  default:
    if ((code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') ||
        (code >= '0' && code <= '9'))
      fail("unknown escape '\\" + llvm::Twine(char(code)) + "'");
    return setOf(code);
  }
}

/// A class behind its bracket.
CodeSet Parser::parseClass() {
  CodeSet set;
  set.ignoresCase = ignoresCase;
  set.isNegated = take('^');
  auto isSingle = [](const CodeSet &part) {
    return !part.isNegated && part.ranges.size() == 1 && !part.categories &&
           part.ranges[0].first == part.ranges[0].second;
  };
  bool isFirst = true;
  while (!isAtEnd() && (peek() != ']' || isFirst)) {
    isFirst = false;
    if (peek() == '[' || (peek() == '&' && peek(1) == '&')) {
      fail("classes within classes aren't supported");
      break;
    }
    CodeSet part = parseMember();
    if (isSingle(part) && peek() == '-' && peek(1) != ']' && peek(1) != 0) {
      ++at;
      CodeSet last = parseMember();
      if (!isSingle(last) || last.ranges[0].first < part.ranges[0].first)
        fail("a range ends before it begins");
      else
        part.ranges[0].second = last.ranges[0].second;
    }
    set.parts.push_back(std::move(part));
  }
  if (!take(']'))
    fail("'[' without ']'");
  return set;
}

llvm::Expected<Pattern> Pattern::parse(llvm::StringRef text) {
  auto root = Parser(text).parse();
  if (!root)
    return root.takeError();
  return Pattern(std::move(*root));
}

Pattern Pattern::literal(llvm::StringRef text) {
  std::unique_ptr<Node> root = makeNode(Kind::Sequence);
  for (char32_t code : decodeUtf8(text))
    root->children.push_back(makeSet(setOf(code)));
  return Pattern(std::move(root));
}
