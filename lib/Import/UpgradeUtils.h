// What the upgrade rules share: reading attributes of any kind safely, turning
// attributes into operands, and ranks of values that may be missing.

#ifndef ONNXQUANT_LIB_IMPORT_UPGRADEUTILS_H
#define ONNXQUANT_LIB_IMPORT_UPGRADEUTILS_H

#include "Upgrade.h"
#include <limits>
#include <optional>

namespace onnxquant::import {

using Ints = llvm::SmallVector<int64_t>;
using Doubles = llvm::SmallVector<double>;

/// Each takes an attribute off the node: none if there is no such attribute,
/// failure with an error if it is of another kind.
llvm::FailureOr<std::optional<int64_t>> takeInt(Node &node, Upgrader &upgrader,
                                                llvm::StringRef attribute);
llvm::FailureOr<std::optional<Ints>> takeInts(Node &node, Upgrader &upgrader,
                                              llvm::StringRef attribute);
llvm::FailureOr<std::optional<double>> takeFloat(Node &node, Upgrader &upgrader,
                                                 llvm::StringRef attribute);
llvm::FailureOr<std::optional<Doubles>>
takeFloats(Node &node, Upgrader &upgrader, llvm::StringRef attribute);
llvm::FailureOr<std::optional<std::string>>
takeString(Node &node, Upgrader &upgrader, llvm::StringRef attribute);

void setInt(Node &node, Upgrader &upgrader, llvm::StringRef attribute,
            int64_t value);
void setFloat(Node &node, Upgrader &upgrader, llvm::StringRef attribute,
              double value);
void setString(Node &node, Upgrader &upgrader, llvm::StringRef attribute,
               llvm::StringRef value);

/// A constant of f32 of rank 1.
mlir::Value floatsConstant(Upgrader &upgrader, llvm::ArrayRef<double> values,
                           llvm::StringRef suffix);

/// An attribute of integers becomes the operand at `index`, named after the
/// attribute. Without the attribute, or if it is empty and `dropEmpty` is set,
/// the operand is left out.
llvm::LogicalResult intsToOperand(Node &node, Upgrader &upgrader,
                                  llvm::StringRef attribute, size_t index,
                                  bool dropEmpty = false);
/// A number becomes the scalar operand at `index`.
llvm::LogicalResult floatToOperand(Node &node, Upgrader &upgrader,
                                   llvm::StringRef attribute, size_t index,
                                   mlir::Type elementType,
                                   llvm::StringRef suffix);

/// The rank where it is known; none for a missing value.
std::optional<int64_t> rankOf(Upgrader &upgrader, mlir::Value value);
/// The dimensions where the rank is known; none for a missing value.
std::optional<onnx::Dims> dimsOf(Upgrader &upgrader, mlir::Value value);
/// Whether a value surely has one element.
bool hasOneElement(Upgrader &upgrader, mlir::Value value);
/// The float type of a tensor's elements, f32 if it isn't known to be another.
mlir::Type floatTypeOf(Upgrader &upgrader, mlir::Value value);

/// Writes a negative axis, or the negative axes of a list, as non-negative
/// where the rank is known, which is how opsets before 11 spell them. Numbers
/// that aren't axes of the tensor stay for the verifier. Values of at least
/// `keptFrom` stay as well.
llvm::LogicalResult
makeAxesPositive(Node &node, Upgrader &upgrader, llvm::StringRef attribute,
                 std::optional<int64_t> rank,
                 int64_t keptFrom = std::numeric_limits<int64_t>::max());

/// Emits an op of one result.
llvm::FailureOr<mlir::Value> emitOne(Upgrader &upgrader, llvm::StringRef opType,
                                     llvm::ArrayRef<mlir::Value> operands,
                                     mlir::NamedAttrList attributes,
                                     llvm::StringRef suffix);

/// The rule of operators that lost only the attribute `consumed_inputs`.
llvm::LogicalResult dropConsumedInputs(Node &node, Upgrader &upgrader);

} // namespace onnxquant::import

#endif // ONNXQUANT_LIB_IMPORT_UPGRADEUTILS_H
