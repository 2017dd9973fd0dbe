// How the importer takes apart what ONNX Runtime's optimizers fused.
//
// A node of com.microsoft, or one that ONNX Runtime puts into ai.onnx, stands
// for several ai.onnx ones. Taken apart, its products are found by the
// quantizer, its constants are folded and its parts have kernels, as if the
// model had never been optimized. A rule that can't take a node apart leaves
// it: it stays an op of its own, or a custom one.

#ifndef ONNXQUANT_LIB_IMPORT_DECOMPOSE_H
#define ONNXQUANT_LIB_IMPORT_DECOMPOSE_H

#include "UpgradeUtils.h"

namespace onnxquant::import {

/// Marks a constant that another form of it took the place of. It goes at the
/// end, unless something else reads it.
static constexpr llvm::StringLiteral supersededAttr = "onnx_superseded";

/// A fused operator of a domain and its rule.
struct DecomposeRule {
  llvm::StringLiteral domain;
  llvm::StringLiteral opType;
  UpgradeFn apply;
};

llvm::ArrayRef<DecomposeRule> getFusedDecompositions();
llvm::ArrayRef<DecomposeRule> getAttentionDecompositions();
llvm::ArrayRef<DecomposeRule> getBlockedDecompositions();
llvm::ArrayRef<DecomposeRule> getBnb4Decompositions();
llvm::ArrayRef<DecomposeRule> getEmbeddingDecompositions();

/// Whether a fused operator has a quantized form of its own.
bool isKeptWhole(llvm::StringRef domain, llvm::StringRef opType);

/// The types that an EmbedLayerNormalization which is kept whole gives; none of
/// other nodes.
llvm::SmallVector<mlir::Type>
typesOfEmbedding(llvm::StringRef domain, const Node &node, Upgrader &upgrader);

/// Applies the rule of a node's operator, if there is one.
llvm::LogicalResult decomposeNode(llvm::StringRef domain, Node &node,
                                  Upgrader &upgrader);

/// Emits the parts of one node. After the first that fails nothing is emitted
/// any more, and all further values are null.
class Parts {
public:
  Parts(Node &node, Upgrader &upgrader) : node(node), upgrader(upgrader) {}

  using Operands = llvm::ArrayRef<mlir::Value>;
  using Attributes = llvm::ArrayRef<mlir::NamedAttribute>;

  /// An op of one result. Without a suffix it takes the node's name: that is
  /// the part which people mean when they name the node.
  mlir::Value operator()(llvm::StringRef opType, Operands operands,
                         llvm::StringRef suffix, Attributes attributes = {});
  llvm::SmallVector<mlir::Value> split(mlir::Value value, int64_t axis,
                                       llvm::ArrayRef<int64_t> sizes,
                                       llvm::StringRef suffix);

  // Operations that most rules need.
  mlir::Value add(mlir::Value a, mlir::Value b, llvm::StringRef suffix) {
    return (*this)("Add", {a, b}, suffix);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b, llvm::StringRef suffix) {
    return (*this)("Mul", {a, b}, suffix);
  }
  mlir::Value cast(mlir::Value value, mlir::Type type, llvm::StringRef suffix);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> order,
                        llvm::StringRef suffix);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape,
                      llvm::StringRef suffix);
  mlir::Value unsqueeze(mlir::Value value, llvm::ArrayRef<int64_t> axes,
                        llvm::StringRef suffix);
  /// The size of one dimension, as a scalar of i64.
  mlir::Value sizeOf(mlir::Value value, int64_t axis, llvm::StringRef suffix);

  mlir::Value scalar(double value, mlir::Type type, llvm::StringRef suffix) {
    return upgrader.scalar(value, type, suffix);
  }
  mlir::Value ints(llvm::ArrayRef<int64_t> values, llvm::StringRef suffix) {
    return upgrader.constant(values, suffix);
  }
  mlir::NamedAttribute attribute(llvm::StringRef name, int64_t value);
  mlir::NamedAttribute attribute(llvm::StringRef name, double value);
  mlir::NamedAttribute attribute(llvm::StringRef name,
                                 llvm::ArrayRef<int64_t> values);

  /// The values become the node's results and take their names.
  llvm::LogicalResult finish(Operands results);

private:
  Node &node;
  Upgrader &upgrader;
  /// The part that has the node's name.
  mlir::Value main;
  bool hasFailed = false;
};

/// A number along one axis where it is known; none if it isn't.
std::optional<int64_t> sizeAt(Upgrader &upgrader, mlir::Value value,
                              int64_t axis);

/// Attributes that may be missing, with what they are then. Of another kind,
/// they are as good as missing: the op's verifier says so.
int64_t intOr(const Node &node, llvm::StringRef name, int64_t missing);
double floatOr(const Node &node, llvm::StringRef name, double missing);
std::string textOr(const Node &node, llvm::StringRef name,
                   llvm::StringRef missing);
llvm::SmallVector<double> floatsOf(const Node &node, llvm::StringRef name);
llvm::SmallVector<int64_t> intsOf(const Node &node, llvm::StringRef name);

} // namespace onnxquant::import

#endif // ONNXQUANT_LIB_IMPORT_DECOMPOSE_H
