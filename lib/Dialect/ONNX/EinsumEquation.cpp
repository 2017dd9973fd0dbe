// Einsum equations: see EinsumEquation.h.

#include "OnnxQuant/Dialect/ONNX/EinsumEquation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <array>
#include <optional>

using namespace onnxquant::onnx;

/// Longer terms than this have more axes than any tensor here.
static constexpr size_t maxTermSize = 64;

static llvm::FailureOr<EinsumTerm> parseTerm(llvm::StringRef text,
                                             std::string &error) {
  EinsumTerm term;
  while (!text.empty()) {
    if (text.consume_front(" "))
      continue;
    if (text.starts_with("...") && !term.ellipsis) {
      term.ellipsis = true;
      text = text.drop_front(3);
      continue;
    }
    if (!llvm::isAlpha(text.front())) {
      error = "expects letters and at most one ellipsis in a term, but got '" +
              text.substr(0, 3).str() + "'";
      return llvm::failure();
    }
    (term.ellipsis ? term.after : term.before) += text.front();
    text = text.drop_front();
    if (term.size() > maxTermSize) {
      error = "expects terms of at most " + std::to_string(maxTermSize) +
              " letters, but got a longer one";
      return llvm::failure();
    }
  }
  return term;
}

using LetterCounts = std::array<unsigned, 128>;

static void count(const EinsumTerm &term, LetterCounts &counts) {
  for (char letter : term.before)
    ++counts[static_cast<unsigned char>(letter)];
  for (char letter : term.after)
    ++counts[static_cast<unsigned char>(letter)];
}

/// The output of an equation without `->`.
static EinsumTerm deduceOutput(const LetterCounts &counts, bool ellipsis) {
  EinsumTerm output;
  output.ellipsis = ellipsis;
  for (auto [letter, times] : llvm::enumerate(counts))
    if (times == 1)
      output.after += static_cast<char>(letter);
  return output;
}

static llvm::LogicalResult checkOutput(const EinsumTerm &output,
                                       const LetterCounts &counts,
                                       bool ellipsis, std::string &error) {
  LetterCounts used = {};
  count(output, used);
  for (size_t letter = 0; letter < used.size(); ++letter) {
    std::string name = std::string("'") + static_cast<char>(letter) + "'";
    if (used[letter] > 1)
      error =
          "expects distinct letters in the output, but got " + name + " again";
    else if (used[letter] && !counts[letter])
      error = "expects letters of the operands in the output, but got " + name;
  }
  if (error.empty() && ellipsis && !output.ellipsis)
    error = "expects an ellipsis in the output as in the operands, but got "
            "none";
  return llvm::success(error.empty());
}

llvm::FailureOr<EinsumEquation> EinsumEquation::parse(llvm::StringRef text,
                                                      std::string &error) {
  EinsumEquation equation;
  error.clear();
  auto [left, right] = text.split("->");
  bool isExplicit = left.size() != text.size();
  llvm::SmallVector<llvm::StringRef> texts;
  left.split(texts, ',');
  LetterCounts counts = {};
  bool ellipsis = false;
  for (llvm::StringRef part : texts) {
    llvm::FailureOr<EinsumTerm> term = parseTerm(part, error);
    if (failed(term))
      return llvm::failure();
    count(*term, counts);
    ellipsis |= term->ellipsis;
    equation.operands.push_back(std::move(*term));
  }
  if (!isExplicit) {
    equation.output = deduceOutput(counts, ellipsis);
    return equation;
  }
  llvm::FailureOr<EinsumTerm> output = parseTerm(right, error);
  if (failed(output) || failed(checkOutput(*output, counts, ellipsis, error)))
    return llvm::failure();
  equation.output = std::move(*output);
  return equation;
}

llvm::FailureOr<EinsumLoops>
EinsumEquation::resolve(llvm::ArrayRef<int64_t> ranks) const {
  if (ranks.size() != operands.size())
    return llvm::failure();
  int64_t hidden = 0;
  for (auto [term, rank] : llvm::zip(operands, ranks)) {
    int64_t more = rank - static_cast<int64_t>(term.size());
    if (more < 0 || (more > 0 && !term.ellipsis))
      return llvm::failure();
    hidden = std::max(hidden, more);
  }

  EinsumLoops loops;
  loops.numLoops = hidden;
  std::array<std::optional<unsigned>, 128> loopOf;
  auto append = [&](llvm::StringRef letters,
                    llvm::SmallVectorImpl<unsigned> &axes) {
    for (char letter : letters) {
      std::optional<unsigned> &loop =
          loopOf[static_cast<unsigned char>(letter)];
      if (!loop)
        loop = loops.numLoops++;
      axes.push_back(*loop);
    }
  };
  // The ellipsis of fewer axes is aligned to the right.
  auto resolveTerm = [&](const EinsumTerm &term, int64_t more) {
    llvm::SmallVector<unsigned> axes;
    append(term.before, axes);
    for (int64_t i = hidden - more; i < hidden; ++i)
      axes.push_back(i);
    append(term.after, axes);
    return axes;
  };
  for (auto [term, rank] : llvm::zip(operands, ranks))
    loops.operands.push_back(
        resolveTerm(term, rank - static_cast<int64_t>(term.size())));
  loops.output = resolveTerm(output, output.ellipsis ? hidden : 0);
  return loops;
}
