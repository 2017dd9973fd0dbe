// How the exporter says the newest form of an op in an older opset.
//
// Where an operator changed its form in a version, a rule tells whether the op
// can be said in the form before it, and rewrites the node so. Versions without
// a rule only widened types. A version whose rule refuses is the lowest opset
// that the model can have.

#ifndef ONNXQUANT_LIB_EXPORT_DOWNGRADE_H
#define ONNXQUANT_LIB_EXPORT_DOWNGRADE_H

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"

namespace onnxquant::exporting {

/// A node between op and protobuf. Operands are values; a constant operand that
/// a rule turns into an attribute is dropped here, and no longer written if
/// nothing else uses it.
struct Node {
  std::string opType;
  /// Null or of type none for an input left out.
  llvm::SmallVector<mlir::Value> operands;
  /// In the dialect's attribute kinds (si64, f32, string, arrays of i64, f32,
  /// string, elements, type).
  mlir::NamedAttrList attributes;
  mlir::Operation *op = nullptr;

  mlir::Value operand(size_t index) const {
    return index < operands.size() ? operands[index] : mlir::Value();
  }
  /// Whether the operand at a position is given.
  bool has(size_t index) const {
    mlir::Value value = operand(index);
    return value && !llvm::isa<mlir::NoneType>(value.getType());
  }
};

/// Rewrites a node of version `version` or later to the form before it.
/// Failure means that the form before can't say it; the node is then not used.
/// Must be a pure function of the node.
using DowngradeFn = llvm::LogicalResult (*)(Node &node);

struct DowngradeRule {
  llvm::StringLiteral opType;
  int64_t version;
  DowngradeFn apply;
};

/// The rules of the ai.onnx domain, in any order; one list per file.
llvm::ArrayRef<DowngradeRule> getMathDowngrades();
llvm::ArrayRef<DowngradeRule> getTensorDowngrades();
llvm::ArrayRef<DowngradeRule> getNNDowngrades();
llvm::ArrayRef<DowngradeRule> getReductionDowngrades();
llvm::ArrayRef<DowngradeRule> getMiscDowngrades();

/// The lowest opset whose operators take the op's element types.
int64_t minOpsetForTypes(mlir::Operation *op);

/// The lowest opset at or above `floor` that can say the op.
int64_t minOpset(mlir::Operation *op, int64_t floor);

/// The op as a node of opset `opset`, which minOpset allows.
Node downgrade(mlir::Operation *op, int64_t opset);

} // namespace onnxquant::exporting

#endif // ONNXQUANT_LIB_EXPORT_DOWNGRADE_H
