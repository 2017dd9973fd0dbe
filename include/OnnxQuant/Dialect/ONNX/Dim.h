// Integers known as expressions: constants, named symbols, and sums, products,
// quotients and extremes of them. Shapes are inferred over these, so that one
// rule per op serves static and symbolic shapes.

#ifndef ONNXQUANT_DIALECT_ONNX_DIM_H
#define ONNXQUANT_DIALECT_ONNX_DIM_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace onnxquant::onnx {

/// A polynomial with integer coefficients in canonical form, so that equality
/// is equality of representation. Its atoms are symbols, and quotients,
/// remainders and extremes that don't simplify. Arithmetic that overflows 64
/// bits gives the invalid expression, and so does one that grows too long.
class Dim {
public:
  Dim(int64_t constant = 0);
  static Dim symbol(llvm::StringRef name);
  static Dim invalid(bool overflow);

  /// Reads what `str` writes; a text that isn't an expression is one symbol.
  static Dim parse(llvm::StringRef text);

  bool isConstant() const { return valid && terms.size() <= 1 && isFlat(); }
  std::optional<int64_t> getConstant() const;
  bool isConstant(int64_t value) const { return getConstant() == value; }
  bool isValid() const { return valid; }
  bool hasOverflowed() const { return overflowed; }

  /// Whether the expression uses names that only this run of inference knows.
  bool isAnonymous() const;

  Dim operator+(const Dim &other) const;
  Dim operator-(const Dim &other) const;
  Dim operator*(const Dim &other) const;
  Dim floorDiv(const Dim &divisor) const;
  Dim ceilDiv(const Dim &divisor) const;
  Dim mod(const Dim &divisor) const;
  static Dim max(const Dim &a, const Dim &b);
  static Dim min(const Dim &a, const Dim &b);

  bool operator==(const Dim &other) const;
  bool operator!=(const Dim &other) const { return !(*this == other); }

  /// The expression's text, such as `2*width+1` or `floor((h-1)/2)+1`.
  std::string str() const;

private:
  /// Atoms of one product, sorted; empty for the constant term.
  using Monomial = std::vector<std::string>;

  bool isFlat() const { return terms.empty() || terms.begin()->first.empty(); }
  static Dim atom(std::string text);
  void addTerm(const Monomial &monomial, int64_t coefficient);

  std::map<Monomial, int64_t> terms;
  bool valid = true;
  bool overflowed = false;
};

using Dims = llvm::SmallVector<Dim, 4>;

} // namespace onnxquant::onnx

#endif // ONNXQUANT_DIALECT_ONNX_DIM_H
