// The equation of an Einsum: read from text, then resolved against the
// operands' ranks into loops, which is what shape inference and lowering work
// on.

#ifndef ONNXQUANT_DIALECT_ONNX_EINSUMEQUATION_H
#define ONNXQUANT_DIALECT_ONNX_EINSUMEQUATION_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace onnxquant::onnx {

/// The letters of one operand or of the output, in the order of its axes. An
/// ellipsis stands between `before` and `after`, and is in neither.
struct EinsumTerm {
  std::string before;
  std::string after;
  bool ellipsis = false;

  /// The axes that have a letter.
  size_t size() const { return before.size() + after.size(); }
};

/// An equation over loops 0, 1, ...: the axes of the ellipsis come first, then
/// the letters in the order in which they appear. `operands[i][a]` is the loop
/// that axis `a` of operand `i` runs with; an axis may have size 1 where the
/// loop is longer. Loops that the output lacks are summed over.
struct EinsumLoops {
  unsigned numLoops = 0;
  llvm::SmallVector<llvm::SmallVector<unsigned>> operands;
  llvm::SmallVector<unsigned> output;
};

struct EinsumEquation {
  llvm::SmallVector<EinsumTerm> operands;
  /// As the equation says it, or what follows from the operands' terms.
  EinsumTerm output;

  /// Reads an equation; on failure `error` says what was expected and found.
  static llvm::FailureOr<EinsumEquation> parse(llvm::StringRef text,
                                               std::string &error);

  /// Failure if there isn't one rank per term, or a rank is not its term's.
  llvm::FailureOr<EinsumLoops> resolve(llvm::ArrayRef<int64_t> ranks) const;
};

} // namespace onnxquant::onnx

#endif // ONNXQUANT_DIALECT_ONNX_EINSUMEQUATION_H
