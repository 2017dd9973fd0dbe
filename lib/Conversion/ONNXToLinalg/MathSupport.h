// Functions of elements that several families compute, and how scalar operands
// are read.
//
// Functions take and give elements in their compute type. They are written so
// that neither large arguments overflow on the way nor small ones cancel out.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_MATHSUPPORT_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_MATHSUPPORT_H

#include "Lowering.h"

namespace onnxquant::lowering {

//===--- Functions --------------------------------------------------------===//
/// `exp(x) - 1`, and `ln(1 + x)` of a finite `x`, exact for small arguments
/// too. The math dialect's ops for these are lowered to the plain formulas.
Scalar expMinusOne(Emitter &e, Scalar x);
Scalar logOnePlus(Emitter &e, Scalar x);

//===--- Activations ------------------------------------------------------===//
Scalar relu(Emitter &e, Scalar x);
/// `1 / (1 + exp(-x))`
Scalar sigmoid(Emitter &e, Scalar x);
/// `ln(1 + exp(x))`
Scalar softplus(Emitter &e, Scalar x);
/// `x / (1 + |x|)`
Scalar softsign(Emitter &e, Scalar x);
/// `x * tanh(softplus(x))`
Scalar mish(Emitter &e, Scalar x);
/// `x * (1 + erf(x / sqrt(2))) / 2`
Scalar gelu(Emitter &e, Scalar x);
/// `x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2`
Scalar geluTanh(Emitter &e, Scalar x);
/// `max(0, min(1, alpha * x + beta))`
Scalar hardSigmoid(Emitter &e, Scalar x, double alpha, double beta);
/// `x < 0 ? alpha * (exp(x) - 1) : x`
Scalar elu(Emitter &e, Scalar x, double alpha);
/// `x < 0 ? alpha * x : x`
Scalar leakyRelu(Emitter &e, Scalar x, double alpha);
/// `x > alpha ? x : 0`
Scalar thresholdedRelu(Emitter &e, Scalar x, double alpha);
Scalar logicalAnd(Emitter &e, Scalar a, Scalar b);

//===--- Integers ---------------------------------------------------------===//
/// The quotient, cut off toward zero, and the remainder with the dividend's
/// sign; the least integer divided by -1 wraps. The divisor is not zero.
Scalar wrappingDiv(Emitter &e, Scalar a, Scalar b);
Scalar wrappingRem(Emitter &e, Scalar a, Scalar b);

//===--- Conversions ------------------------------------------------------===//
/// A cast that rounds once: `f64` and wide integers on their way to a small
/// float pass through `f32` without losing which side of a half they are on.
Scalar castOnce(Emitter &e, Scalar x, mlir::Type elementType,
                bool saturate = true);
/// An index as an `f64`.
Scalar indexToF64(Emitter &e, mlir::Value index);
/// The tensor's elements as they are stored, for ops that only move them.
Tensor asStored(Tensor tensor);

//===--- Scalar operands --------------------------------------------------===//
/// The only element of an operand of rank 0 or 1.
Scalar readScalar(Emitter &e, Tensor tensor);
/// The same as a size: a constant if `original`, the operand before conversion,
/// is one.
mlir::OpFoldResult readSize(Emitter &e, mlir::Value original, Tensor tensor);
/// Checks at run time what isn't known: that a size isn't negative, nor larger
/// than any memory.
void checkSize(Emitter &e, mlir::OpFoldResult size, const llvm::Twine &name);
/// Checks that a size is at least one.
void checkPositive(Emitter &e, mlir::OpFoldResult size,
                   const llvm::Twine &name);

//===--- Patterns ---------------------------------------------------------===//
/// An op of one operand whose elements are `function` of the operand's.
template <typename OpTy, Scalar (*function)(Emitter &, Scalar)>
struct LowerUnary : OpLowering<OpTy> {
  using OpLowering<OpTy>::OpLowering;
  Results lower(OpTy op, Operands operands, Emitter &e) const override {
    Tensor y =
        e.map({operands[0]}, resultType(op),
              [&](llvm::ArrayRef<Scalar> x) { return function(e, x[0]); });
    return llvm::SmallVector<mlir::Value>{y.value};
  }
};

/// The parts of the Math family, one file each.
void addMathUnaryLowerings(mlir::RewritePatternSet &patterns,
                           const StorageTypeConverter &types);
void addMathActivationLowerings(mlir::RewritePatternSet &patterns,
                                const StorageTypeConverter &types);
void addMathDivisionLowerings(mlir::RewritePatternSet &patterns,
                              const StorageTypeConverter &types);
void addMathSelectLowerings(mlir::RewritePatternSet &patterns,
                            const StorageTypeConverter &types);
/// The parts of the Generator and Signal families.
void addRandomLowerings(mlir::RewritePatternSet &patterns,
                        const StorageTypeConverter &types);
void addFourierLowerings(mlir::RewritePatternSet &patterns,
                         const StorageTypeConverter &types);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_MATHSUPPORT_H
