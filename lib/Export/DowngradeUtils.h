// What the downgrade rules share. Each function changes the node only as far as
// the older form needs it, and fails where the older form can't say it.

#ifndef ONNXQUANT_LIB_EXPORT_DOWNGRADEUTILS_H
#define ONNXQUANT_LIB_EXPORT_DOWNGRADEUTILS_H

#include "Downgrade.h"
#include <limits>
#include <optional>

namespace onnxquant::exporting {

using Ints = llvm::SmallVector<int64_t>;

/// Constants of more elements than this don't become attributes.
inline constexpr int64_t maxAttributeElements = 65536;

/// An attribute's value; none if it is missing or of another kind.
std::optional<int64_t> getInt(const Node &node, llvm::StringRef attribute);
std::optional<Ints> getInts(const Node &node, llvm::StringRef attribute);
std::optional<llvm::StringRef> getString(const Node &node,
                                         llvm::StringRef attribute);

void setInt(Node &node, llvm::StringRef attribute, int64_t value);
void setInts(Node &node, llvm::StringRef attribute,
             llvm::ArrayRef<int64_t> values);
void setFloat(Node &node, llvm::StringRef attribute, float value);
void setString(Node &node, llvm::StringRef attribute, llvm::StringRef value);

/// Drops an attribute that the older form lacks; fails if it has another value
/// than the one that the older form implies.
llvm::LogicalResult dropDefault(Node &node, llvm::StringRef attribute,
                                int64_t value);
llvm::LogicalResult dropDefault(Node &node, llvm::StringRef attribute,
                                llvm::StringRef value);
llvm::LogicalResult dropDefault(Node &node, llvm::StringRef attribute,
                                double value);
/// Drops a list that holds nothing but ones.
llvm::LogicalResult dropOnes(Node &node, llvm::StringRef attribute);
/// Fails if the node has the attribute.
llvm::LogicalResult refuse(const Node &node, llvm::StringRef attribute);

/// The integers of a constant small enough for an attribute.
std::optional<Ints> getConstantInts(mlir::Value value);

/// A constant operand of integers becomes an attribute; nothing is done for an
/// operand that is left out. The operand stays in the list: the caller cuts it.
llvm::LogicalResult operandToInts(Node &node, size_t index,
                                  llvm::StringRef attribute);
/// The same for a list of f32, and for one number that f32 holds exactly.
llvm::LogicalResult operandToFloats(Node &node, size_t index,
                                    llvm::StringRef attribute);
llvm::LogicalResult operandToFloat(Node &node, size_t index,
                                   llvm::StringRef attribute);
/// Keeps the first operands.
void keepOperands(Node &node, size_t count);

/// The rank where the type tells it; none for a missing value.
std::optional<int64_t> rankOf(mlir::Value value);
/// The element type; null for a missing value or where it is unknown.
mlir::Type elementTypeOf(mlir::Value value);
/// Whether two element types are the same, as far as they are known.
bool haveSameElements(mlir::Value a, mlir::Value b);
/// Whether a value surely has one element.
bool hasOneElement(mlir::Value value);
/// Whether the dimensions of `value` surely are the last ones of `other`'s.
bool isSuffixOf(mlir::Value value, mlir::Value other);
/// Whether two values surely have the same dimensions.
bool haveSameDims(mlir::Value a, mlir::Value b);
/// Whether the op gives the result at a position.
bool hasResult(const Node &node, size_t index);

/// Writes negative axes, of an attribute that is an integer or a list of them,
/// as non-negative; fails where the rank is needed but unknown. Values of at
/// least `keptFrom` stay.
llvm::LogicalResult
makeAxesPositive(Node &node, llvm::StringRef attribute,
                 std::optional<int64_t> rank,
                 int64_t keptFrom = std::numeric_limits<int64_t>::max());

/// Fails if a constant operand holds negative integers. What isn't constant is
/// the graph's own matter.
llvm::LogicalResult refuseNegative(const Node &node, size_t index);

/// The rule of forms that nothing of the newer one can be said in.
llvm::LogicalResult refuseAll(Node &node);

} // namespace onnxquant::exporting

#endif // ONNXQUANT_LIB_EXPORT_DOWNGRADEUTILS_H
