// What the preprocessing passes share: constants read and made, names handed
// on, patterns applied, and counts reported.

#ifndef ONNXQUANT_TRANSFORMS_UTILS_REWRITING_H
#define ONNXQUANT_TRANSFORMS_UTILS_REWRITING_H

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace onnxquant::rewriting {

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// A constant float tensor, its elements widened.
struct Weights {
  mlir::RankedTensorType type;
  std::vector<double> values;

  double &operator[](size_t index) { return values[index]; }
  double operator[](size_t index) const { return values[index]; }
};

/// The elements of a float constant; none if `value` is something else.
std::optional<Weights> readWeights(mlir::Value value);
/// The same for a constant of one element.
std::optional<double> readScalar(mlir::Value value);
/// The elements of an integer constant of up to 1024 of them.
std::optional<llvm::SmallVector<int64_t>> readSmallInts(mlir::Value value);

/// Elements of `type` from their raw form. Large ones become a resource.
mlir::ElementsAttr makeElements(mlir::RankedTensorType type,
                                llvm::ArrayRef<char> bytes,
                                llvm::StringRef name);
/// Rounds to the element type; null if that makes a number infinite or not a
/// number.
mlir::ElementsAttr makeElements(const Weights &weights, llvm::StringRef name);
mlir::ElementsAttr makeInts(llvm::ArrayRef<int64_t> values,
                            mlir::MLIRContext *context);

/// A constant under a tensor's name.
mlir::Value makeConstant(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::ElementsAttr elements, llvm::StringRef name);
mlir::Value makeNoValue(mlir::OpBuilder &builder, mlir::Location loc);
/// The name for what takes the place of a constant: its own if `user` is the
/// only one that uses it, else one that says whose it is.
std::string nameForNew(mlir::Value constant, mlir::Operation *user,
                       llvm::StringRef suffix);

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The name that the model gives a tensor or a node; empty if none is known.
llvm::StringRef getTensorName(mlir::Value value);
llvm::StringRef getNodeName(mlir::Operation *op);
void setTensorName(mlir::OpResult result, llvm::StringRef name);

/// Gives `op`'s results the names, dimensions and notes of the results of
/// `last`, whose place it takes.
void inheritResults(mlir::Operation *op, mlir::Operation *last);

/// Makes a node of one result that takes the place of `last`: its names, its
/// result's type, names and dimensions.
mlir::Operation *createInPlaceOf(mlir::PatternRewriter &rewriter,
                                 llvm::StringRef opName, mlir::Operation *last,
                                 mlir::ValueRange operands,
                                 llvm::ArrayRef<mlir::NamedAttribute> attrs);

/// Whether a tensor is an output of the graph that it belongs to.
bool isOutput(mlir::Value value);

/// Whether `replacement` can take the place of `result`: no output loses its
/// name by it and no type becomes wrong.
bool canReplace(mlir::OpResult result, mlir::Value replacement);
/// Replaces a result of an op; an output's name goes to the replacement.
void replaceResult(mlir::RewriterBase &rewriter, mlir::OpResult result,
                   mlir::Value replacement);

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The op of type `OpTy` that makes `value`, if nothing else reads it.
template <typename OpTy> OpTy getOnlyProducer(mlir::Value value) {
  auto op = value.getDefiningOp<OpTy>();
  return op && value.hasOneUse() ? op : OpTy();
}

/// The product that a value is: a number and the other factors, through
/// multiplications, divisions by a number and small powers that nothing else
/// reads. Numbers are constants of one element.
struct Product {
  double scale = 1;
  llvm::SmallVector<mlir::Value> factors;

  /// Whether the factors are `values`, in any order.
  bool isOf(llvm::ArrayRef<mlir::Value> values) const;
};
Product getProduct(mlir::Value value);

/// The operand and the number of `x + number`, if nothing else reads the sum.
std::optional<std::pair<mlir::Value, double>> getSum(mlir::Value value);

/// Whether two numbers are the same, given how exactly a model's type can say
/// them.
bool isNear(double value, double expected, mlir::Type element);

/// Whether a node of the operator exists at the opset `maxOpset`; 0 is any.
template <typename OpTy> bool isAllowed(int64_t maxOpset) {
  return maxOpset == 0 || OpTy::getSinceVersions().front() <= maxOpset;
}

/// The rank of a tensor, if it is known.
std::optional<int64_t> getRank(mlir::Value value);
/// Whether a tensor's elements are floats.
bool isFloat(mlir::Value value);

/// The constant among an op's two operands, and the other operand; none if not
/// exactly one is constant.
struct ConstantAndOther {
  mlir::Value constant, other;
  /// Whether the constant is the second operand.
  bool second;
};
std::optional<ConstantAndOther> splitOperands(mlir::Operation *op);

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// Applies patterns until none matches. Constants are neither folded nor
/// merged, so that their names stay.
llvm::LogicalResult applyPatterns(mlir::ModuleOp module,
                                  const mlir::FrozenRewritePatternSet &set);

/// Adds to the module's report, if it wants one: it then has a dictionary
/// `onnxq.report` from passes to what they did.
void addToReport(mlir::ModuleOp module, llvm::StringRef pass,
                 llvm::StringRef what, int64_t count);

} // namespace onnxquant::rewriting

#endif // ONNXQUANT_TRANSFORMS_UTILS_REWRITING_H
