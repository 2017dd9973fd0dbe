// What lowerings of ops are written with: sizes, elements of every type, loops
// over elements, and checks that name the node.
//
// Tensors are stored without signs and without small floats: `ui8` as `i8`,
// `f16` and `bf16` as `i16`, 8-bit floats, 4-bit integers and booleans as `i8`.
// An element is computed with in its compute type: small floats as `f32`,
// booleans as `i1`, everything else as stored. What an element means is told by
// its ONNX type, which therefore goes along with every value.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_EMITTER_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_EMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxquant::lowering {

/// Sizes of a tensor: constants where they are known.
using Sizes = llvm::SmallVector<mlir::OpFoldResult>;
using Indices = llvm::SmallVector<mlir::Value>;

/// A stored tensor and the ONNX type of its elements.
struct Tensor {
  mlir::Value value;
  mlir::Type elementType;

  explicit operator bool() const { return static_cast<bool>(value); }
  int64_t rank() const {
    return llvm::cast<mlir::RankedTensorType>(value.getType()).getRank();
  }
  llvm::ArrayRef<int64_t> shape() const {
    return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
  }
};

/// An element in its compute type.
struct Scalar {
  mlir::Value value;
  mlir::Type elementType;
};

/// The type that elements of an ONNX type are stored as; null if there is none.
mlir::Type storageType(mlir::Type elementType);
/// The type that they are computed in.
mlir::Type computeType(mlir::Type elementType);
bool isUnsigned(mlir::Type elementType);
bool isBool(mlir::Type elementType);
/// Whether the compute type is a float.
bool isFloat(mlir::Type elementType);

class Emitter : public mlir::ImplicitLocOpBuilder {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Operation *op);

  //===--- Sizes and indices ----------------------------------------------===//
  mlir::Value index(int64_t value);
  mlir::Value asValue(mlir::OpFoldResult size);
  mlir::OpFoldResult size(Tensor tensor, int64_t axis);
  Sizes sizes(Tensor tensor);
  /// Sizes arithmetic; constants fold.
  mlir::OpFoldResult addSize(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult subSize(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult mulSize(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult floorDivSize(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult productOf(llvm::ArrayRef<mlir::OpFoldResult> sizes);
  std::optional<int64_t> constant(mlir::OpFoldResult size);
  /// Result `number`'s sizes as far as its ONNX type is static; the dynamic
  /// ones are taken from `computed`.
  Sizes resultSizes(unsigned number,
                    llvm::ArrayRef<mlir::OpFoldResult> computed);
  /// An element of an integer tensor as an index: `read` and a cast.
  mlir::Value readIndex(Tensor tensor, llvm::ArrayRef<mlir::Value> indices);
  /// Index arithmetic on values; constants fold.
  mlir::Value addIndex(mlir::Value a, mlir::Value b);
  mlir::Value subIndex(mlir::Value a, mlir::Value b);
  mlir::Value mulIndex(mlir::Value a, mlir::Value b);
  mlir::Value floorDivIndex(mlir::Value a, mlir::Value b);
  mlir::Value remIndex(mlir::Value a, mlir::Value b);
  mlir::Value minIndex(mlir::Value a, mlir::Value b);
  mlir::Value maxIndex(mlir::Value a, mlir::Value b);
  mlir::Value cmpIndex(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                       mlir::Value b);
  /// A negative index counts from the end: `index < 0 ? index + size : index`.
  mlir::Value wrapIndex(mlir::Value index, mlir::Value size);
  mlir::Value toI64(mlir::Value index);
  mlir::Value toIndex(mlir::Value integer, bool isUnsigned = false);

  //===--- Elements -------------------------------------------------------===//
  Scalar number(double value, mlir::Type elementType);
  Scalar integer(int64_t value, mlir::Type elementType);
  /// A stored element in its compute type, and back.
  Scalar load(mlir::Value stored, mlir::Type elementType);
  mlir::Value store(Scalar scalar);
  Scalar read(Tensor tensor, llvm::ArrayRef<mlir::Value> indices);
  /// ONNX's Cast. Floats to integers truncate; what doesn't fit wraps after
  /// saturating to 64 bits, NaN gives 0. Small floats round half to even;
  /// `saturate` is for 8-bit floats.
  Scalar cast(Scalar scalar, mlir::Type elementType, bool saturate = true);

  Scalar add(Scalar a, Scalar b);
  Scalar sub(Scalar a, Scalar b);
  Scalar mul(Scalar a, Scalar b);
  /// Integers truncate toward zero; the caller checks for zero divisors.
  Scalar div(Scalar a, Scalar b);
  /// The remainder with the dividend's sign (C's fmod and %).
  Scalar rem(Scalar a, Scalar b);
  /// NaN in, NaN out.
  Scalar min(Scalar a, Scalar b);
  Scalar max(Scalar a, Scalar b);
  Scalar neg(Scalar a);
  Scalar abs(Scalar a);
  Scalar select(mlir::Value condition, Scalar a, Scalar b);
  enum Compare { EQ, NE, LT, LE, GT, GE };
  /// An `i1`. Comparisons with NaN are false, but for NE.
  mlir::Value compare(Compare predicate, Scalar a, Scalar b);
  /// Applies a unary op of the math dialect.
  template <typename MathOp> Scalar math(Scalar a) {
    return {MathOp::create(*this, a.value).getResult(), a.elementType};
  }
  /// The least and greatest value of an element type (infinities for floats).
  Scalar lowest(mlir::Type elementType);
  Scalar highest(mlir::Type elementType);

  //===--- Tensors --------------------------------------------------------===//
  Tensor empty(llvm::ArrayRef<mlir::OpFoldResult> sizes,
               mlir::Type elementType);
  Tensor filled(llvm::ArrayRef<mlir::OpFoldResult> sizes, Scalar value);
  /// A tensor whose elements are computed from their indices.
  Tensor generate(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                  mlir::Type elementType,
                  llvm::function_ref<Scalar(llvm::ArrayRef<mlir::Value>)> body);
  /// The sizes that tensors broadcast to; checks at run time what the types
  /// leave open.
  Sizes broadcastSizes(llvm::ArrayRef<Tensor> inputs);
  /// A tensor computed element by element from inputs that broadcast to
  /// `sizes`.
  Tensor map(llvm::ArrayRef<Tensor> inputs,
             llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type elementType,
             llvm::function_ref<Scalar(llvm::ArrayRef<Scalar>)> body);
  Tensor map(llvm::ArrayRef<Tensor> inputs, mlir::Type elementType,
             llvm::function_ref<Scalar(llvm::ArrayRef<Scalar>)> body) {
    return map(inputs, broadcastSizes(inputs), elementType, body);
  }
  /// Reduces over `axes` (sorted, not negative) in index order. `body` gets the
  /// element and the accumulator. The accumulator has type `accumulatorType`.
  /// Reduced axes stay with size 1 if `keepDims`.
  Tensor
  reduce(Tensor input, llvm::ArrayRef<int64_t> axes, bool keepDims, Scalar init,
         llvm::function_ref<Scalar(Scalar element, Scalar accumulator)> body);
  /// The same elements in the same order in another shape.
  Tensor reshape(Tensor tensor, llvm::ArrayRef<mlir::OpFoldResult> sizes);
  Tensor transpose(Tensor tensor, llvm::ArrayRef<int64_t> permutation);
  /// Writes one element; for sequential algorithms in `forEach`.
  Tensor write(Tensor tensor, llvm::ArrayRef<mlir::Value> indices,
               Scalar value);
  /// Loops over all indices in order, carrying values; `body` returns the new
  /// ones.
  llvm::SmallVector<mlir::Value>
  forEach(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::ValueRange carried,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(
              llvm::ArrayRef<mlir::Value> indices, mlir::ValueRange carried)>
              body);
  /// A constant tensor of stored elements.
  Tensor constantTensor(llvm::ArrayRef<double> values,
                        llvm::ArrayRef<int64_t> shape, mlir::Type elementType);

  //===--- Checks ---------------------------------------------------------===//
  /// Ends the run with an error that names the node unless `condition` holds.
  void check(mlir::Value condition, const llvm::Twine &message);

private:
  /// Checks that an element at a fixed place is there, where the type leaves it
  /// open.
  void checkRead(Tensor tensor, llvm::ArrayRef<mlir::Value> indices);

  mlir::Operation *op;
  /// Places along axes of tensors that were checked.
  llvm::DenseMap<std::pair<mlir::Value, size_t>, int64_t> checkedReads;
  std::string nodeName;
};

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_EMITTER_H
