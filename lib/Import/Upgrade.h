// How the importer brings nodes of old opsets to the newest form.
//
// A node enters as the model has it, operands already imported. Each version at
// which an operator changed its form has one rule, applied in ascending order
// to nodes older than it. A rule rewrites the node in place, or emits other ops
// and gives the values that replace the node's results.

#ifndef ONNXQUANT_LIB_IMPORT_UPGRADE_H
#define ONNXQUANT_LIB_IMPORT_UPGRADE_H

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "mlir/IR/Builders.h"

namespace onnxquant::import {

/// A node between protobuf and op.
struct Node {
  std::string opType;
  /// The node's name, never empty.
  std::string name;
  /// The version of its domain's opset that the model imports.
  int64_t opset = 0;
  /// Null for an input left out. Trailing ones may be missing.
  llvm::SmallVector<mlir::Value> operands;
  mlir::NamedAttrList attributes;
  /// Empty for an output left out.
  llvm::SmallVector<std::string> resultNames;
  /// Filled by a rule that emits other ops instead of the node; one value per
  /// result, null for one left out.
  llvm::SmallVector<mlir::Value> replacement;

  /// The operand at a position, or null if it is left out or missing.
  mlir::Value operand(size_t index) const {
    return index < operands.size() ? operands[index] : mlir::Value();
  }
  /// Puts an operand at a position, with left out ones before it if needed.
  void setOperand(size_t index, mlir::Value value) {
    if (operands.size() <= index)
      operands.resize(index + 1);
    operands[index] = value;
  }
  /// Takes an attribute off the node; null if it has none.
  mlir::Attribute take(llvm::StringRef attribute) {
    return attributes.erase(attribute);
  }
};

/// What a rule may do besides changing its node.
class Upgrader {
public:
  virtual ~Upgrader() = default;

  virtual mlir::OpBuilder &builder() = 0;
  virtual mlir::Location loc() = 0;
  /// Dimensions as far as they are known where the node stands.
  virtual onnx::ShapeContext &shapes() = 0;

  /// A constant operand, named after the node and `suffix`
  /// (`conv1_axes` for `axes`).
  virtual mlir::Value constant(mlir::ElementsAttr value,
                               llvm::StringRef suffix) = 0;
  /// A tensor of i64 of rank 1.
  mlir::Value constant(llvm::ArrayRef<int64_t> values, llvm::StringRef suffix);
  /// A scalar of the given element type (float or integer).
  mlir::Value scalar(double value, mlir::Type elementType,
                     llvm::StringRef suffix);

  /// Emits an op of the newest form, verified and with inferred types. With an
  /// empty suffix it takes the node's name and result names; otherwise the
  /// name is the node's with the suffix appended, and so are its results'.
  virtual llvm::FailureOr<llvm::SmallVector<mlir::Value>>
  emit(llvm::StringRef opType, llvm::ArrayRef<mlir::Value> operands,
       mlir::NamedAttrList attributes, llvm::StringRef suffix,
       unsigned numResults = 1) = 0;

  /// An error at the node.
  virtual mlir::InFlightDiagnostic error() = 0;

  /// How many channels a block has where the model's tensors are blocked.
  virtual int64_t channelBlock() = 0;
};

using UpgradeFn = llvm::LogicalResult (*)(Node &node, Upgrader &upgrader);

/// The form of `opType` changed in version `version`: nodes of an older opset
/// go through `apply`.
struct UpgradeRule {
  llvm::StringLiteral opType;
  int64_t version;
  UpgradeFn apply;
};

/// The rules of the ai.onnx domain, in any order; one list per file.
llvm::ArrayRef<UpgradeRule> getMathUpgrades();
llvm::ArrayRef<UpgradeRule> getTensorUpgrades();
llvm::ArrayRef<UpgradeRule> getNNUpgrades();
llvm::ArrayRef<UpgradeRule> getReductionUpgrades();
llvm::ArrayRef<UpgradeRule> getMiscUpgrades();

/// Applies all rules that the node is older than, oldest first.
llvm::LogicalResult upgradeNode(Node &node, Upgrader &upgrader);

} // namespace onnxquant::import

#endif // ONNXQUANT_LIB_IMPORT_UPGRADE_H
