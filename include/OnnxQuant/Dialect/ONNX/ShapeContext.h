// What shape inference knows while it runs: dimensions of every tensor as
// expressions, and the contents of small integer tensors. Ops read it and
// report their results to it through ShapeInferenceOpInterface.

#ifndef ONNXQUANT_DIALECT_ONNX_SHAPECONTEXT_H
#define ONNXQUANT_DIALECT_ONNX_SHAPECONTEXT_H

#include "OnnxQuant/Dialect/ONNX/Dim.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace onnxquant::onnx {

class ShapeContext {
public:
  /// Tensors of at most this many elements have their contents followed.
  static constexpr int64_t maxContents = 1024;

  /// The dimensions of a tensor, or none if its rank is unknown.
  std::optional<Dims> getDims(mlir::Value value);
  std::optional<int64_t> getRank(mlir::Value value);

  /// The elements of an integer (or boolean) tensor of rank 0 or 1, in order.
  /// An element that isn't known is an anonymous symbol; none if even their
  /// number is unknown.
  std::optional<Dims> getContents(mlir::Value value);

  /// The contents of a tensor if all of them are numbers.
  std::optional<llvm::SmallVector<int64_t>> getConstants(mlir::Value value);
  /// The only element of a tensor of one element, if it is a number.
  std::optional<int64_t> getConstant(mlir::Value value);

  /// A dimension of which nothing is known but that it is the same everywhere
  /// it appears.
  Dim unknown();
  /// `rank` unknown dimensions.
  Dims unknowns(int64_t rank);

  /// States a result's element type and dimensions (none: any rank), merges
  /// them with what the result's type says already, and sets the type. A
  /// result of type `none` is left out by the graph and stays so.
  llvm::LogicalResult set(mlir::OpResult result, mlir::Type elementType,
                          const std::optional<Dims> &dims = std::nullopt);

  /// States the contents of an integer result of rank 0 or 1.
  void setContents(mlir::OpResult result, llvm::ArrayRef<Dim> contents);

  /// States the dimensions of a block argument, such as a graph's input.
  void setDims(mlir::BlockArgument argument, llvm::ArrayRef<Dim> dims);
  /// Forgets what is known of a value, so that its type is read again.
  void forget(mlir::Value value);

  /// Infers one op, a block's ops in order, all blocks of a region.
  llvm::LogicalResult infer(mlir::Operation *op);
  llvm::LogicalResult infer(mlir::Block &block);
  llvm::LogicalResult infer(mlir::Region &region);

private:
  Dims fromType(mlir::Value value);

  llvm::DenseMap<mlir::Value, Dims> dimsOf;
  llvm::DenseMap<mlir::Value, Dims> contentsOf;
  unsigned numUnknowns = 0;
};

/// The dimensions that have an expression, as `"0:batch,2:2*width+1"`; empty if
/// there are none.
std::string formatDimParams(llvm::ArrayRef<Dim> dims);
/// Reads that text into the dynamic dimensions of `dims`.
void applyDimParams(llvm::StringRef text, llvm::MutableArrayRef<Dim> dims);

/// The element type of a tensor value; none for `none`.
mlir::Type getElementType(mlir::Value value);
/// Whether an optional operand or result is left out.
bool isLeftOut(mlir::Value value);

} // namespace onnxquant::onnx

#endif // ONNXQUANT_DIALECT_ONNX_SHAPECONTEXT_H
