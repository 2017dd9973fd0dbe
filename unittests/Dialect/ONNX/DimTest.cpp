// Symbolic integers. Random expressions are compared with plain arithmetic: a
// small evaluator of the texts, written for this test, and 128-bit integers.

#include "OnnxQuant/Dialect/ONNX/Dim.h"
#include "gtest/gtest.h"
#include <chrono>
#include <random>

using namespace onnxquant::onnx;

namespace {

using Wide = __int128;
using Values = std::map<std::string, Wide>;

Wide floorOf(Wide a, Wide b) {
  Wide quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// Evaluates the text of an expression. Throws on what it can't read.
class Evaluator {
public:
  Evaluator(llvm::StringRef text, const Values &values)
      : rest(text), values(values) {}

  Wide run() {
    Wide value = sum();
    if (!rest.empty())
      throw std::runtime_error("unread: " + rest.str());
    return value;
  }

private:
  bool take(llvm::StringRef text) { return rest.consume_front(text); }
  void expect(llvm::StringRef text) {
    if (!take(text))
      throw std::runtime_error("expects " + text.str() + " before " +
                               rest.str());
  }
  Wide sum() {
    Wide value = take("-") ? -product() : product();
    while (true) {
      if (take("+"))
        value += product();
      else if (take("-"))
        value -= product();
      else
        return value;
    }
  }
  Wide product() {
    Wide value = factor();
    while (take("*"))
      value *= factor();
    return value;
  }
  Wide factor() {
    if (take("-"))
      return -factor();
    if (take("(")) {
      Wide value = sum();
      expect(")");
      return value;
    }
    if (take("floor(")) {
      Wide value = sum();
      expect("/");
      Wide divisor = factor();
      expect(")");
      if (divisor == 0)
        throw std::domain_error("division by zero");
      return floorOf(value, divisor);
    }
    bool max = rest.starts_with("max(");
    if (take("max(") || take("min(")) {
      Wide left = sum();
      expect(",");
      Wide right = sum();
      expect(")");
      return max ? std::max(left, right) : std::min(left, right);
    }
    llvm::StringRef word = rest.take_while(llvm::isAlnum);
    rest = rest.drop_front(word.size());
    int64_t number;
    if (!word.getAsInteger(10, number))
      return number;
    return values.at(word.str());
  }

  llvm::StringRef rest;
  const Values &values;
};

/// An expression and its value for one choice of its symbols.
struct Sample {
  Dim dim;
  Wide value;
};

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {
    for (const char *name : {"a", "b", "n"})
      values[name] = static_cast<Wide>(pick(15)) - 4;
  }

  unsigned pick(unsigned limit) { return random() % limit; }

  /// A random expression; none if it divides by zero.
  std::optional<Sample> make(unsigned depth) {
    if (depth == 0 || pick(5) == 0) {
      if (pick(2)) {
        auto constant = static_cast<int64_t>(pick(13)) - 4;
        return Sample{Dim(constant), constant};
      }
      auto it = std::next(values.begin(), pick(values.size()));
      return Sample{Dim::symbol(it->first), it->second};
    }
    std::optional<Sample> left = make(depth - 1), right = make(depth - 1);
    if (!left || !right)
      return std::nullopt;
    Wide x = left->value, y = right->value;
    switch (pick(8)) {
    case 0:
    case 1:
      return Sample{left->dim + right->dim, x + y};
    case 2:
      return Sample{left->dim - right->dim, x - y};
    case 3:
      return Sample{left->dim * right->dim, x * y};
    case 4:
      return Sample{Dim::max(left->dim, right->dim), std::max(x, y)};
    case 5:
      return Sample{Dim::min(left->dim, right->dim), std::min(x, y)};
    default:
      if (y == 0)
        return std::nullopt;
      if (pick(2))
        return Sample{left->dim.floorDiv(right->dim), floorOf(x, y)};
      return Sample{left->dim.mod(right->dim), x - floorOf(x, y) * y};
    }
  }

  Values values;

private:
  std::minstd_rand random;
};

Dim sym(const char *name) { return Dim::symbol(name); }

} // namespace

TEST(DimTest, RandomExpressionsKeepTheirValue) {
  unsigned compared = 0;
  for (unsigned seed = 1; seed <= 20000; ++seed) {
    Generator generator(seed);
    std::optional<Sample> sample = generator.make(1 + seed % 4);
    if (!sample || !sample->dim.isValid())
      continue;
    std::string text = sample->dim.str();
    try {
      ASSERT_EQ(static_cast<int64_t>(Evaluator(text, generator.values).run()),
                static_cast<int64_t>(sample->value))
          << "seed " << seed << ": " << text;
      ++compared;
    } catch (const std::domain_error &) {
      // A factor that is zero took the other one, with its quotient, away.
    } catch (const std::exception &error) {
      FAIL() << "seed " << seed << ": " << text << ": " << error.what();
    }
  }
  EXPECT_GT(compared, 10000u);
}

TEST(DimTest, RandomExpressionsAreReadBack) {
  unsigned compared = 0;
  for (unsigned seed = 1; seed <= 20000; ++seed) {
    std::optional<Sample> sample = Generator(seed).make(1 + seed % 4);
    if (!sample || !sample->dim.isValid())
      continue;
    std::string text = sample->dim.str();
    Dim again = Dim::parse(text);
    ASSERT_EQ(again, sample->dim)
        << "seed " << seed << ": " << text << " became " << again.str();
    ASSERT_EQ(again.isConstant(), sample->dim.isConstant()) << text;
    ++compared;
  }
  EXPECT_GT(compared, 10000u);
}

TEST(DimTest, CanonicalForm) {
  Dim a = sym("a"), b = sym("b");
  EXPECT_EQ(a + b, b + a);
  EXPECT_EQ(a * b, b * a);
  EXPECT_EQ((a + b) * (a - b), a * a - b * b);
  EXPECT_EQ((a + Dim(1)) * Dim(2), Dim(2) * a + Dim(2));
  EXPECT_EQ(a - a, Dim(0));
  EXPECT_TRUE((a * b - b * a).isConstant(0));
  EXPECT_EQ(Dim::max(a, b), Dim::max(b, a));
  EXPECT_EQ(Dim::min(a, b), Dim::min(b, a));
  EXPECT_NE(a, b);
  EXPECT_NE(a, Dim(1));
}

TEST(DimTest, Texts) {
  Dim h = sym("h"), width = sym("width");
  EXPECT_EQ(Dim(0).str(), "0");
  EXPECT_EQ(Dim(-7).str(), "-7");
  EXPECT_EQ((Dim(2) * width + Dim(1)).str(), "2*width+1");
  EXPECT_EQ((Dim(0) - width).str(), "-width");
  EXPECT_EQ(((h - Dim(1)).floorDiv(Dim(2)) + Dim(1)).str(),
            Dim::parse("floor((h-1)/2)+1").str());
  EXPECT_EQ(Dim::max(h, width).str(), "max(h,width)");
}

TEST(DimTest, Constants) {
  EXPECT_EQ(Dim(7).floorDiv(Dim(2)).getConstant(), 3);
  EXPECT_EQ(Dim(-7).floorDiv(Dim(2)).getConstant(), -4);
  EXPECT_EQ(Dim(7).floorDiv(Dim(-2)).getConstant(), -4);
  EXPECT_EQ(Dim(-7).floorDiv(Dim(-2)).getConstant(), 3);
  EXPECT_EQ(Dim(7).ceilDiv(Dim(2)).getConstant(), 4);
  EXPECT_EQ(Dim(-7).mod(Dim(3)).getConstant(), 2);
  EXPECT_EQ(Dim::max(Dim(3), Dim(-3)).getConstant(), 3);
  EXPECT_EQ(Dim::min(Dim(3), Dim(-3)).getConstant(), -3);
  EXPECT_FALSE(sym("a").getConstant());
}

TEST(DimTest, ExactQuotients) {
  Dim a = sym("a"), b = sym("b");
  EXPECT_EQ((Dim(6) * a).floorDiv(Dim(3)), Dim(2) * a);
  EXPECT_EQ((a * b).floorDiv(a), b);
  EXPECT_EQ((a * a * b + a).floorDiv(a), a * b + Dim(1));
  EXPECT_EQ((Dim(4) * a + Dim(7)).floorDiv(Dim(4)), a + Dim(1));
  EXPECT_EQ((Dim(4) * a - Dim(1)).floorDiv(Dim(4)), a - Dim(1));
  EXPECT_EQ((Dim(4) * a).mod(Dim(4)), Dim(0));
  EXPECT_EQ(((a + Dim(1)) * Dim(8)).floorDiv(Dim(8)) - a, Dim(1));
  EXPECT_FALSE(a.floorDiv(Dim(2)).isConstant());
  // A quotient of a quotient is one quotient.
  Dim half = (a + Dim(1)).floorDiv(Dim(2));
  EXPECT_EQ((half + Dim(1)).floorDiv(Dim(2)).str(), "floor((a+3)/4)");
  EXPECT_EQ((half - Dim(3)).floorDiv(Dim(2)).str(), "floor((a+3)/4)-2");
  EXPECT_EQ((Dim(3) * half).floorDiv(Dim(2)).str(),
            "floor((3*floor((a+1)/2))/2)");
  // Extremes of expressions that differ by a number are known.
  EXPECT_EQ(Dim::max(a, a + Dim(2)), a + Dim(2));
  EXPECT_EQ(Dim::min(a, a + Dim(2)), a);
}

TEST(DimTest, DivisionByZero) {
  EXPECT_FALSE(Dim(5).floorDiv(Dim(0)).isValid());
  EXPECT_FALSE(sym("a").floorDiv(Dim(0)).isValid());
  EXPECT_FALSE(Dim(0).floorDiv(Dim(0)).isValid());
  EXPECT_FALSE(Dim(5).mod(Dim(0)).isValid());
}

TEST(DimTest, OverflowIsInvalid) {
  const Dim most(INT64_MAX), least(INT64_MIN), a = sym("a");
  for (const Dim &dim :
       {most + Dim(1), least - Dim(1), least + least, most * Dim(2),
        least * Dim(-1), Dim(0) - least, least.floorDiv(Dim(-1)), most * a + a,
        (Dim(1LL << 32) * a) * Dim(1LL << 32), (most * a) * most}) {
    EXPECT_FALSE(dim.isValid());
    EXPECT_TRUE(dim.hasOverflowed());
    EXPECT_FALSE(dim.getConstant());
  }
  // It stays, and equals nothing.
  Dim bad = most + Dim(1);
  EXPECT_TRUE((bad + a).hasOverflowed());
  EXPECT_TRUE((a * bad).hasOverflowed());
  EXPECT_TRUE(Dim::max(a, bad).hasOverflowed());
  EXPECT_TRUE(bad.floorDiv(a).hasOverflowed());
  EXPECT_NE(bad, bad);
  EXPECT_EQ((most - Dim(1)) + Dim(1), most);
  // Near the limits, nothing may be undefined.
  const int64_t values[] = {0,         1,         -1,        2,
                            INT64_MAX, INT64_MIN, 1LL << 62, INT64_MAX - 1};
  for (int64_t x : values)
    for (int64_t y : values)
      for (const Dim &left : {Dim(x), Dim(x) * a, Dim(x) * a + Dim(y)})
        for (const Dim &right : {Dim(y), Dim(y) * a, Dim(y) * a + Dim(x)}) {
          (left + right).str();
          (left - right).str();
          (left * right).str();
          left.floorDiv(right).str();
          left.ceilDiv(right).str();
          left.mod(right).str();
          Dim::max(left, right).str();
          Dim::min(left, right).str();
        }
}

TEST(DimTest, LongExpressionsAreInvalid) {
  Dim sum(0), product(1);
  for (int i = 0; i < 100; ++i) {
    sum = sum + Dim::symbol("s" + std::to_string(i));
    product = product * Dim::symbol("s" + std::to_string(i));
  }
  EXPECT_FALSE(sum.isValid());
  EXPECT_FALSE(sum.hasOverflowed());
  EXPECT_FALSE(product.isValid());
  EXPECT_FALSE(Dim::symbol(std::string(1000, 'x')).isValid());
}

TEST(DimTest, Anonymous) {
  EXPECT_TRUE(Dim::symbol("?3").isAnonymous());
  EXPECT_TRUE((Dim::symbol("?3") * Dim(2) + sym("a")).isAnonymous());
  EXPECT_TRUE(Dim::invalid(false).isAnonymous());
  EXPECT_FALSE((sym("a") + Dim(1)).isAnonymous());
  // A name of the model is never taken for one.
  EXPECT_FALSE(Dim::parse("?").isAnonymous());
  EXPECT_FALSE(Dim::parse("batch?").isAnonymous());
}

TEST(DimTest, NamesThatAreNoExpressions) {
  for (const char *text : {"",           " ",
                           "batch size", "unk__12",
                           "a b",        "N/2",
                           "a+",         "*",
                           "()",         "1e5",
                           "0x10",       "floor(a)",
                           "max(a)",     "min(,)",
                           "a:b",        "floor(a/0)",
                           "ünïcode",    "9223372036854775808",
                           "a&b",        "(a",
                           "a)",         "floor(a/b/c)"}) {
    Dim dim = Dim::parse(text);
    EXPECT_TRUE(dim.isValid()) << text;
    EXPECT_FALSE(dim.isConstant()) << text;
    EXPECT_FALSE(dim.isAnonymous()) << text;
    EXPECT_EQ(dim, Dim::parse(text)) << text;
  }
  EXPECT_EQ(Dim::parse(" a + 1 "), sym("a") + Dim(1));
  EXPECT_EQ(Dim::parse("9223372036854775807"), Dim(INT64_MAX));
}

TEST(DimTest, HostileTextsEndQuickly) {
  std::vector<std::string> texts;
  for (const char *part :
       {"(", ")", "-", "floor(", "max(", "a*", "(a+b)*", "a+", "1", "?", ",",
        "floor(a/", "max(a,", "(a+b+c+d+e)*", "9223372036854775807*"})
    for (size_t count : {10, 60, 70, 1000, 100000}) {
      std::string text;
      for (size_t i = 0; i < count; ++i)
        text += part;
      texts.push_back(text);
      texts.push_back(text + "a");
      texts.push_back(text + "a" + std::string(count, ')'));
    }
  auto start = std::chrono::steady_clock::now();
  for (const std::string &text : texts) {
    Dim dim = Dim::parse(text);
    EXPECT_LE(dim.str().size(), 8192u);
  }
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 20);
}
