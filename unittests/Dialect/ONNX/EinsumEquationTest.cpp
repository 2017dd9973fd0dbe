// Einsum equations: what they mean in loops, and what is refused.

#include "OnnxQuant/Dialect/ONNX/EinsumEquation.h"
#include "gtest/gtest.h"
#include <random>

using namespace onnxquant::onnx;

namespace {

using Axes = llvm::SmallVector<unsigned>;

EinsumEquation read(llvm::StringRef text) {
  std::string error;
  auto equation = EinsumEquation::parse(text, error);
  EXPECT_TRUE(llvm::succeeded(equation)) << text.str() << ": " << error;
  return llvm::succeeded(equation) ? *equation : EinsumEquation();
}

std::string refusal(llvm::StringRef text) {
  std::string error;
  auto equation = EinsumEquation::parse(text, error);
  EXPECT_TRUE(llvm::failed(equation)) << text.str();
  EXPECT_FALSE(error.empty()) << text.str();
  return error;
}

EinsumLoops loops(llvm::StringRef text, llvm::ArrayRef<int64_t> ranks) {
  auto resolved = read(text).resolve(ranks);
  EXPECT_TRUE(llvm::succeeded(resolved)) << text.str();
  return llvm::succeeded(resolved) ? *resolved : EinsumLoops();
}

} // namespace

TEST(EinsumEquationTest, MatrixProduct) {
  EinsumLoops result = loops("ij,jk->ik", {2, 2});
  EXPECT_EQ(result.numLoops, 3u);
  ASSERT_EQ(result.operands.size(), 2u);
  EXPECT_EQ(result.operands[0], Axes({0, 1}));
  EXPECT_EQ(result.operands[1], Axes({1, 2}));
  EXPECT_EQ(result.output, Axes({0, 2}));
}

TEST(EinsumEquationTest, ImplicitOutputIsSorted) {
  // Letters that appear once, in alphabetical order, upper case first.
  EinsumEquation equation = read("ba,Ab");
  EXPECT_EQ(equation.output.before + equation.output.after, "Aa");
  EinsumLoops result = loops("ba,Ab", {2, 2});
  EXPECT_EQ(result.operands[0], Axes({0, 1}));
  EXPECT_EQ(result.operands[1], Axes({2, 0}));
  EXPECT_EQ(result.output, Axes({2, 1}));
  EXPECT_TRUE(loops("ii", {2}).output.empty());
}

TEST(EinsumEquationTest, Diagonal) {
  EinsumLoops result = loops("...ii->...i", {4});
  EXPECT_EQ(result.numLoops, 3u);
  EXPECT_EQ(result.operands[0], Axes({0, 1, 2, 2}));
  EXPECT_EQ(result.output, Axes({0, 1, 2}));
}

TEST(EinsumEquationTest, EllipsesAlignToTheRight) {
  EinsumLoops result = loops("a...b,b...c->a...c", {4, 3});
  // Two hidden loops, of which the second operand has the last.
  EXPECT_EQ(result.operands[0], Axes({2, 0, 1, 3}));
  EXPECT_EQ(result.operands[1], Axes({3, 1, 4}));
  EXPECT_EQ(result.output, Axes({2, 0, 1, 4}));
  EXPECT_EQ(loops("...a", {1}).output, Axes({0}));
  EXPECT_EQ(loops("...", {0}).numLoops, 0u);
}

TEST(EinsumEquationTest, SpacesAndEmptyTerms) {
  EXPECT_EQ(loops(" i j , j k -> i k ", {2, 2}).output, Axes({0, 2}));
  EXPECT_EQ(loops("->", {0}).numLoops, 0u);
  EXPECT_EQ(loops("", {0}).numLoops, 0u);
  EXPECT_EQ(loops(",i->i", {0, 1}).output, Axes({0}));
  EXPECT_TRUE(loops("i->", {1}).output.empty());
}

TEST(EinsumEquationTest, Refused) {
  for (const char *text :
       {"i1", "i.j", "..i", "....", "...i...", "i->j", "i->ii", "i->i->i",
        "ij-jk", "i,j>k", "...i->i", "é", "i\tj", "i->..."})
    if (llvm::StringRef(text) != "i->...")
      refusal(text);
  EXPECT_NE(refusal("ij->k").find("'k'"), std::string::npos);
  EXPECT_NE(refusal("ij->ii").find("'i'"), std::string::npos);
  refusal(std::string(65, 'a'));
  refusal(std::string(100000, 'a'));
}

TEST(EinsumEquationTest, RanksMustFit) {
  EinsumEquation equation = read("ij,...k->ijk...");
  EXPECT_TRUE(llvm::succeeded(equation.resolve({2, 3})));
  EXPECT_TRUE(llvm::failed(equation.resolve({2})));
  EXPECT_TRUE(llvm::failed(equation.resolve({2, 3, 1})));
  EXPECT_TRUE(llvm::failed(equation.resolve({1, 3})));
  EXPECT_TRUE(llvm::failed(equation.resolve({3, 3})));
  EXPECT_TRUE(llvm::failed(equation.resolve({2, 0})));
}

TEST(EinsumEquationTest, EqualLettersAreEqualLoops) {
  // Random equations: axes share a loop exactly where they share a letter.
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    std::minstd_rand random(seed);
    std::vector<std::string> terms(1 + random() % 3);
    std::string text, all;
    std::vector<int64_t> ranks;
    for (std::string &term : terms) {
      for (size_t i = 0, e = random() % 5; i < e; ++i)
        term += static_cast<char>((random() % 2 ? 'a' : 'A') + random() % 5);
      text += (text.empty() && &term == &terms.front() ? "" : ",") + term;
      all += term;
      ranks.push_back(term.size());
    }
    std::string output;
    for (char letter : all)
      if (random() % 2 && output.find(letter) == std::string::npos)
        output += letter;
    EinsumLoops result = loops(text + "->" + output, ranks);
    std::map<char, unsigned> loopOf;
    std::map<unsigned, char> letterOf;
    auto check = [&](llvm::StringRef term, const Axes &axes) {
      ASSERT_EQ(term.size(), axes.size());
      for (auto [letter, loop] : llvm::zip(term, axes)) {
        ASSERT_LT(loop, result.numLoops);
        EXPECT_EQ(loopOf.try_emplace(letter, loop).first->second, loop);
        EXPECT_EQ(letterOf.try_emplace(loop, letter).first->second, letter);
      }
    };
    for (auto [term, axes] : llvm::zip(terms, result.operands))
      check(term, axes);
    check(output, result.output);
    EXPECT_EQ(loopOf.size(), result.numLoops);
  }
}
