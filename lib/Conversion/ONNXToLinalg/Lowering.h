// The base of every op's lowering, and the lists of them by family.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_LOWERING_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_LOWERING_H

#include "Emitter.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace onnxquant::lowering {

/// ONNX tensor types to stored tensor types.
class StorageTypeConverter : public mlir::TypeConverter {
public:
  StorageTypeConverter();
};

/// Operands of an op as stored tensors; null where they are left out.
class Operands {
public:
  Operands(mlir::Operation *op, mlir::ValueRange stored) {
    for (auto [operand, value] : llvm::zip(op->getOperands(), stored)) {
      mlir::Type type = onnx::getElementType(operand);
      tensors.push_back(type ? Tensor{value, type} : Tensor());
    }
  }
  Tensor operator[](size_t index) const {
    return index < tensors.size() ? tensors[index] : Tensor();
  }
  size_t size() const { return tensors.size(); }
  llvm::ArrayRef<Tensor> all() const { return tensors; }
  auto begin() const { return tensors.begin(); }
  auto end() const { return tensors.end(); }

private:
  llvm::SmallVector<Tensor> tensors;
};

/// One value per result; null for a result that is left out.
using Results = llvm::FailureOr<llvm::SmallVector<mlir::Value>>;

/// Replaces an op by stored values, cast to the converted result types.
llvm::LogicalResult
replaceWithStored(mlir::Operation *op, llvm::ArrayRef<mlir::Value> results,
                  const mlir::TypeConverter &converter,
                  mlir::ConversionPatternRewriter &rewriter);

/// Lowers one op. Operands and results are of known rank.
template <typename OpTy>
class OpLowering : public mlir::OpConversionPattern<OpTy> {
public:
  using mlir::OpConversionPattern<OpTy>::OpConversionPattern;

  /// Emits the op's results. On failure, say why with `refuse`.
  virtual Results lower(OpTy op, Operands operands, Emitter &emitter) const = 0;

  llvm::LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                  mlir::ConversionPatternRewriter &rewriter) const final {
    Emitter emitter(rewriter, op);
    Results results = lower(op, Operands(op, adaptor.getOperands()), emitter);
    if (llvm::failed(results))
      return rewriter.notifyMatchFailure(op, "the op refused to be lowered");
    return replaceWithStored(op, *results, *this->getTypeConverter(), rewriter);
  }
};

/// The result's ONNX element type.
inline mlir::Type resultType(mlir::Operation *op, unsigned number = 0) {
  return onnx::getElementType(op->getResult(number));
}

/// Reports why an op can't be run and fails.
Results refuse(mlir::Operation *op, const llvm::Twine &reason);

/// The lists of lowerings, one file or more per family.
void addMathLowerings(mlir::RewritePatternSet &patterns,
                      const StorageTypeConverter &types);
void addTensorLowerings(mlir::RewritePatternSet &patterns,
                        const StorageTypeConverter &types);
void addNNLowerings(mlir::RewritePatternSet &patterns,
                    const StorageTypeConverter &types);
void addContractionLowerings(mlir::RewritePatternSet &patterns,
                             const StorageTypeConverter &types);
void addReductionLowerings(mlir::RewritePatternSet &patterns,
                           const StorageTypeConverter &types);
void addQuantizationLowerings(mlir::RewritePatternSet &patterns,
                              const StorageTypeConverter &types);
void addRecurrentLowerings(mlir::RewritePatternSet &patterns,
                           const StorageTypeConverter &types);
void addControlFlowLowerings(mlir::RewritePatternSet &patterns,
                             const StorageTypeConverter &types);
void addGeneratorLowerings(mlir::RewritePatternSet &patterns,
                           const StorageTypeConverter &types);
void addSignalLowerings(mlir::RewritePatternSet &patterns,
                        const StorageTypeConverter &types);
/// Those that a microcontroller prefers.
void addBareLowerings(mlir::RewritePatternSet &patterns,
                      const StorageTypeConverter &types);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_LOWERING_H
