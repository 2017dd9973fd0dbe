// Symbolic integers in canonical polynomial form, their text and its parser.

#include "OnnxQuant/Dialect/ONNX/Dim.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace onnxquant::onnx;

/// More terms than this are of no use to anybody and cost time.
static constexpr size_t maxTerms = 24;
static constexpr size_t maxAtomLength = 160;
static constexpr unsigned maxParseDepth = 64;

Dim::Dim(int64_t constant) {
  if (constant != 0)
    terms[{}] = constant;
}

Dim Dim::symbol(llvm::StringRef name) { return atom(name.str()); }

Dim Dim::atom(std::string text) {
  if (text.size() > maxAtomLength)
    return invalid(/*overflow=*/false);
  Dim dim;
  dim.terms[{std::move(text)}] = 1;
  return dim;
}

Dim Dim::invalid(bool overflow) {
  Dim dim;
  dim.valid = false;
  dim.overflowed = overflow;
  return dim;
}

std::optional<int64_t> Dim::getConstant() const {
  if (!isConstant())
    return std::nullopt;
  return terms.empty() ? 0 : terms.begin()->second;
}

bool Dim::isAnonymous() const {
  if (!valid)
    return true;
  for (const auto &[monomial, coefficient] : terms)
    for (const std::string &atom : monomial)
      if (atom.find('?') != std::string::npos)
        return true;
  return false;
}

bool Dim::operator==(const Dim &other) const {
  return valid && other.valid && terms == other.terms;
}

void Dim::addTerm(const Monomial &monomial, int64_t coefficient) {
  auto [it, inserted] = terms.try_emplace(monomial, coefficient);
  if (!inserted && llvm::AddOverflow(it->second, coefficient, it->second)) {
    *this = invalid(/*overflow=*/true);
    return;
  }
  if (it->second == 0)
    terms.erase(it);
}

static Dim invalidOf(const Dim &a, const Dim &b) {
  return Dim::invalid(a.hasOverflowed() || b.hasOverflowed());
}

Dim Dim::operator+(const Dim &other) const {
  if (!valid || !other.valid)
    return invalidOf(*this, other);
  Dim sum = *this;
  for (const auto &[monomial, coefficient] : other.terms) {
    sum.addTerm(monomial, coefficient);
    if (!sum.valid)
      return sum;
  }
  return sum.terms.size() > maxTerms ? invalid(/*overflow=*/false) : sum;
}

Dim Dim::operator-(const Dim &other) const { return *this + other * Dim(-1); }

Dim Dim::operator*(const Dim &other) const {
  if (!valid || !other.valid)
    return invalidOf(*this, other);
  Dim product;
  for (const auto &[leftAtoms, left] : terms) {
    for (const auto &[rightAtoms, right] : other.terms) {
      int64_t coefficient;
      if (llvm::MulOverflow(left, right, coefficient))
        return invalid(/*overflow=*/true);
      Monomial atoms;
      std::merge(leftAtoms.begin(), leftAtoms.end(), rightAtoms.begin(),
                 rightAtoms.end(), std::back_inserter(atoms));
      if (atoms.size() > maxTerms)
        return invalid(/*overflow=*/false);
      product.addTerm(atoms, coefficient);
      if (!product.valid)
        return product;
    }
  }
  return product.terms.size() > maxTerms ? invalid(/*overflow=*/false)
                                         : product;
}

static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? quotient - 1 : quotient;
}

/// A text that can stand as an operand of a quotient; only the dividend may
/// begin with a sign.
static std::string operandText(const Dim &dim, bool isDivisor = false) {
  std::string text = dim.str();
  for (size_t i = isDivisor ? 0 : 1; i < text.size(); ++i)
    if (text[i] == '+' || text[i] == '-' || text[i] == '*')
      return "(" + text + ")";
  return text;
}

/// E and n of the text `floor(E/n)`, n a positive number; none of other texts.
static std::optional<std::pair<Dim, int64_t>>
splitQuotient(llvm::StringRef text);

Dim Dim::floorDiv(const Dim &divisor) const {
  if (!valid || !divisor.valid)
    return invalidOf(*this, divisor);
  if (divisor.isConstant(0))
    return invalid(/*overflow=*/false);
  if (divisor.isConstant(1) || terms.empty())
    return *this;
  if (divisor.isConstant(-1))
    return Dim(0) - *this;
  std::optional<int64_t> a = getConstant(), b = divisor.getConstant();
  if (a && b)
    return Dim(floorDivide(*a, *b));
  // Exact quotients: every term divides by the one term of the divisor.
  if (divisor.terms.size() == 1) {
    const auto &[atoms, factor] = *divisor.terms.begin();
    Dim quotient, remainder;
    for (const auto &[monomial, coefficient] : terms) {
      bool overflows = coefficient == INT64_MIN && factor == -1;
      bool divides = !overflows && coefficient % factor == 0 &&
                     std::includes(monomial.begin(), monomial.end(),
                                   atoms.begin(), atoms.end());
      if (!divides) {
        remainder.terms[monomial] = coefficient;
        continue;
      }
      Monomial rest;
      std::set_difference(monomial.begin(), monomial.end(), atoms.begin(),
                          atoms.end(), std::back_inserter(rest));
      quotient.addTerm(rest, coefficient / factor);
    }
    if (remainder.terms.empty())
      return quotient;
    // Whole multiples leave the quotient, if the divisor is a number.
    if (b && *b > 0) {
      int64_t constant = 0;
      if (auto it = remainder.terms.find({}); it != remainder.terms.end()) {
        constant = it->second;
        remainder.terms.erase(it);
      }
      quotient = quotient + Dim(floorDivide(constant, *b));
      remainder = remainder + Dim(constant - floorDivide(constant, *b) * *b);
      if (std::optional<int64_t> c = remainder.getConstant())
        return quotient + Dim(floorDivide(*c, *b));
      // floor((floor(E/n) + c)/b) = floor((E + c*n)/(n*b)).
      Dim whole = remainder - Dim(constant - floorDivide(constant, *b) * *b);
      if (whole.terms.size() == 1 && whole.terms.begin()->second == 1 &&
          whole.terms.begin()->first.size() == 1) {
        auto inner = splitQuotient(whole.terms.begin()->first.front());
        int64_t product;
        if (inner && !llvm::MulOverflow(inner->second, *b, product)) {
          Dim sum = inner->first + (remainder - whole) * Dim(inner->second);
          if (sum.valid)
            return quotient + sum.floorDiv(Dim(product));
        }
      }
      return quotient + atom("floor(" + operandText(remainder) + "/" +
                             operandText(divisor, /*isDivisor=*/true) + ")");
    }
  }
  return atom("floor(" + operandText(*this) + "/" +
              operandText(divisor, /*isDivisor=*/true) + ")");
}

Dim Dim::ceilDiv(const Dim &divisor) const {
  return (*this + divisor - Dim(1)).floorDiv(divisor);
}

Dim Dim::mod(const Dim &divisor) const {
  return *this - floorDiv(divisor) * divisor;
}

Dim Dim::max(const Dim &a, const Dim &b) {
  if (!a.valid || !b.valid)
    return invalidOf(a, b);
  if (std::optional<int64_t> gap = (a - b).getConstant())
    return *gap >= 0 ? a : b;
  std::string left = a.str(), right = b.str();
  if (right < left)
    std::swap(left, right);
  return atom("max(" + left + "," + right + ")");
}

Dim Dim::min(const Dim &a, const Dim &b) {
  if (!a.valid || !b.valid)
    return invalidOf(a, b);
  if (std::optional<int64_t> gap = (a - b).getConstant())
    return *gap <= 0 ? a : b;
  std::string left = a.str(), right = b.str();
  if (right < left)
    std::swap(left, right);
  return atom("min(" + left + "," + right + ")");
}

std::string Dim::str() const {
  if (!valid)
    return "?";
  if (terms.empty())
    return "0";
  // Named terms first, the constant last: `2*width+1`.
  std::string text;
  auto append = [&](const Monomial &monomial, int64_t coefficient) {
    if (coefficient > 0 && !text.empty())
      text += '+';
    if (monomial.empty()) {
      text += std::to_string(coefficient);
      return;
    }
    if (coefficient == -1)
      text += '-';
    else if (coefficient != 1)
      text += std::to_string(coefficient) + "*";
    text += llvm::join(monomial, "*");
  };
  for (const auto &[monomial, coefficient] : terms)
    if (!monomial.empty())
      append(monomial, coefficient);
  if (isFlat())
    append({}, terms.begin()->second);
  return text;
}

namespace {
/// Recursive descent over `sum := product (('+'|'-') product)*`.
class DimParser {
public:
  explicit DimParser(llvm::StringRef text) : rest(text) {}

  std::optional<Dim> parse() {
    std::optional<Dim> result = parseSum(0);
    if (!rest.empty() || (result && !result->isValid()))
      return std::nullopt;
    return result;
  }

private:
  bool consume(char c) {
    rest = rest.ltrim();
    if (!rest.starts_with(llvm::StringRef(&c, 1)))
      return false;
    rest = rest.drop_front();
    return true;
  }

  std::optional<Dim> parseSum(unsigned depth) {
    if (depth > maxParseDepth)
      return std::nullopt;
    bool negative = consume('-');
    std::optional<Dim> sum = parseProduct(depth);
    if (sum && negative)
      sum = Dim(0) - *sum;
    while (sum) {
      bool add = consume('+');
      if (!add && !consume('-'))
        return sum;
      std::optional<Dim> next = parseProduct(depth);
      if (!next)
        return std::nullopt;
      sum = add ? *sum + *next : *sum - *next;
      if (!sum->isValid())
        return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<Dim> parseProduct(unsigned depth) {
    std::optional<Dim> product = parseAtom(depth);
    while (product) {
      bool multiply = consume('*');
      if (!multiply)
        return product;
      std::optional<Dim> next = parseAtom(depth);
      if (!next)
        return std::nullopt;
      product = *product * *next;
      if (!product->isValid())
        return std::nullopt;
    }
    return std::nullopt;
  }

  /// `floor(a/b)`, `max(a,b)` or `min(a,b)` after the opening parenthesis.
  std::optional<Dim> parseCall(llvm::StringRef name, unsigned depth) {
    std::optional<Dim> a = parseSum(depth + 1);
    if (!a || !consume(name == "floor" ? '/' : ','))
      return std::nullopt;
    std::optional<Dim> b =
        name == "floor" ? parseAtom(depth + 1) : parseSum(depth + 1);
    if (!b || !consume(')'))
      return std::nullopt;
    if (name == "floor")
      return a->floorDiv(*b);
    return name == "max" ? Dim::max(*a, *b) : Dim::min(*a, *b);
  }

  std::optional<Dim> parseAtom(unsigned depth) {
    if (depth > maxParseDepth)
      return std::nullopt;
    if (consume('(')) {
      std::optional<Dim> inner = parseSum(depth + 1);
      if (!inner || !consume(')'))
        return std::nullopt;
      return inner;
    }
    rest = rest.ltrim();
    llvm::StringRef word = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    if (word.empty())
      return std::nullopt;
    rest = rest.drop_front(word.size());
    if (llvm::isDigit(word.front())) {
      int64_t value;
      if (word.getAsInteger(10, value))
        return std::nullopt;
      return Dim(value);
    }
    if ((word == "floor" || word == "max" || word == "min") && consume('('))
      return parseCall(word, depth);
    return Dim::symbol(word);
  }

  llvm::StringRef rest;
};
} // namespace

static std::optional<std::pair<Dim, int64_t>>
splitQuotient(llvm::StringRef text) {
  if (!text.consume_front("floor(") || !text.consume_back(")"))
    return std::nullopt;
  auto [dividend, divisor] = text.rsplit('/');
  int64_t number;
  if (divisor.getAsInteger(10, number) || number <= 0)
    return std::nullopt;
  std::optional<Dim> parsed = DimParser(dividend).parse();
  if (!parsed)
    return std::nullopt;
  return std::make_pair(*parsed, number);
}

Dim Dim::parse(llvm::StringRef text) {
  if (std::optional<Dim> dim = DimParser(text.trim()).parse())
    return *dim;
  // Anything else is a name; the characters that mean something are replaced
  // so that it can be part of an expression.
  std::string name = text.str();
  for (char &c : name)
    if (c == '?' || c == ',' || c == ':')
      c = '_';
  return Dim::symbol(name);
}
