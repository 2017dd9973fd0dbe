// What the lowerings of the Tensor family share: stored elements that move as
// they are, lists of integers that may come at run time, and sizes of results.
//
// Lists are read as index values. Where they are constants, so are the values,
// and the arithmetic on them folds: one way of writing serves both cases.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_TENSORSUPPORT_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_TENSORSUPPORT_H

#include "LoopSupport.h"
#include "Lowering.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"

namespace onnxquant::lowering::tensors {

/// The tensor as its stored elements: moving them needs no conversion.
Tensor asStored(Tensor tensor);
/// A tensor's stored type.
mlir::Type storedType(Tensor tensor);
/// An axis that may be negative, as the verifiers let it through.
int64_t normalAxis(int64_t axis, int64_t rank);
/// The axes of an optional attribute, or all of them without it.
llvm::SmallVector<int64_t> normalAxes(std::optional<mlir::ArrayAttr> axes,
                                      int64_t rank);
/// Whether an optional operand is left out, or has no elements for sure.
bool isAbsent(Tensor tensor);

//===--- Values and conditions; constants fold
//------------------------------===//
Sizes toSizes(llvm::ArrayRef<mlir::Value> values);
Indices toValues(Emitter &e, llvm::ArrayRef<mlir::OpFoldResult> sizes);
mlir::Value choose(Emitter &e, mlir::Value condition, mlir::Value a,
                   mlir::Value b);
mlir::Value both(Emitter &e, mlir::Value a, mlir::Value b);
mlir::Value either(Emitter &e, mlir::Value a, mlir::Value b);
mlir::Value negate(Emitter &e, mlir::Value condition);
mlir::Value truth(Emitter &e, bool value);
mlir::Value isEqual(Emitter &e, mlir::Value a, int64_t b);
/// Brings a value into [low, high].
mlir::Value clampIndex(Emitter &e, mlir::Value value, mlir::Value low,
                       mlir::Value high);
/// Whether 0 <= position < size.
mlir::Value isWithin(Emitter &e, mlir::Value position, mlir::Value size);
/// The rounded down coordinate as an index; what has no index saturates.
mlir::Value floatToIndex(Emitter &e, Scalar value);
Scalar indexToFloat(Emitter &e, mlir::Value position, mlir::Type elementType);

//===--- Lists
//--------------------------------------------------------------===//
/// An operand that lists integers: as written in the graph, and as stored.
struct List {
  mlir::Value written;
  Tensor tensor;

  /// Its elements, if it is a constant.
  std::optional<llvm::SmallVector<int64_t>> constants() const;
};

/// The elements of a list that must have `count` of them.
Indices readList(Emitter &e, List list, int64_t count, llvm::StringRef name);

/// Values per dimension that lists give for some axes. `axes` may be left out:
/// then entry k is for dimension k. There is one entry of `values` per list, or
/// two for a single list: its halves. Dimensions that aren't named keep what
/// `values` says.
void spreadOverAxes(Emitter &e, llvm::ArrayRef<List> lists, List axes,
                    llvm::MutableArrayRef<Indices> values);

//===--- Results
//------------------------------------------------------------===//
/// The sizes of a result; fails at run time where the type promises others.
Sizes agreedSizes(Emitter &e, mlir::Operation *op, unsigned number,
                  llvm::ArrayRef<mlir::OpFoldResult> computed);
/// A view of a part, and a tensor with a part put into it. Parts of no elements
/// may lie anywhere, which slices of known offsets don't allow.
Tensor takePart(Emitter &e, Tensor tensor,
                llvm::ArrayRef<mlir::OpFoldResult> offsets,
                llvm::ArrayRef<mlir::OpFoldResult> sizes,
                llvm::ArrayRef<mlir::OpFoldResult> steps = {});
Tensor putPart(Emitter &e, Tensor part, Tensor tensor,
               llvm::ArrayRef<mlir::OpFoldResult> offsets);
/// Repeats: dimension i of size d becomes `outer[i]` * d * `inner[i]`; the
/// outer ones repeat the whole, the inner ones every element.
Tensor repeatDims(Emitter &e, Tensor tensor,
                  llvm::ArrayRef<mlir::OpFoldResult> outer,
                  llvm::ArrayRef<mlir::OpFoldResult> inner);
/// Fails at run time unless all elements of `indices` are in [-size, size-1].
void checkIndices(Emitter &e, List indices, mlir::Value size);

//===--- Lowerings by file
//--------------------------------------------------===//
void addTensorShapeLowerings(mlir::RewritePatternSet &patterns,
                             const StorageTypeConverter &types);
void addTensorLayoutLowerings(mlir::RewritePatternSet &patterns,
                              const StorageTypeConverter &types);
void addTensorSliceLowerings(mlir::RewritePatternSet &patterns,
                             const StorageTypeConverter &types);
void addTensorGatherLowerings(mlir::RewritePatternSet &patterns,
                              const StorageTypeConverter &types);
void addTensorSelectLowerings(mlir::RewritePatternSet &patterns,
                              const StorageTypeConverter &types);
void addTensorResizeLowerings(mlir::RewritePatternSet &patterns,
                              const StorageTypeConverter &types);
void addTensorGridLowerings(mlir::RewritePatternSet &patterns,
                            const StorageTypeConverter &types);
void addTensorEncodedLowerings(mlir::RewritePatternSet &patterns,
                               const StorageTypeConverter &types);

} // namespace onnxquant::lowering::tensors

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_TENSORSUPPORT_H
