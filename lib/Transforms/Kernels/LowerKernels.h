// The lowerings of kernels, one per kind.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_LOWERKERNELS_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_LOWERKERNELS_H

#include "KernelBuilder.h"
#include "OnnxQuant/Support/TargetInfo.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace onnxquant::kernels {

/// Emits loops before the op. Contractions of floats, also times int4.
void lowerFloatContract(onnxq::ContractOp op, const TargetInfo &target,
                        int64_t threads);
/// Those of integers, by the micro-kernel that they are packed for.
llvm::LogicalResult lowerIntegerContract(onnxq::ContractOp op,
                                         const TargetInfo &target,
                                         int64_t threads);
/// Those of 8-bit integers by AMX.
llvm::LogicalResult lowerAmxContract(onnxq::ContractOp op,
                                     const TargetInfo &target, int64_t threads);
/// Those of 3x3 windows by Winograd's transform.
llvm::LogicalResult lowerWinograd(onnxq::ContractOp op,
                                  const TargetInfo &target, int64_t threads);
/// Makes the scale of a requantization a product before it.
void applyScale(onnxq::RequantizeOp op);
/// An elementwise op that only looks bytes up, in vectors where the target can;
/// tells whether it has.
bool lowerLookupLoop(mlir::linalg::GenericOp op, const TargetInfo &target);
/// One that ends in a quantized byte, likewise.
bool lowerQuantizerLoop(mlir::linalg::GenericOp op, const TargetInfo &target);
void lowerAttention(onnxq::AttentionOp op, const TargetInfo &target);
void lowerExpand(onnxq::ExpandOp op, const TargetInfo &target);
void lowerPack(onnxq::PackOp op, const TargetInfo &target);
void lowerStage(onnxq::StageOp op, const TargetInfo &target);
void lowerWindow(onnxq::WindowOp op, const TargetInfo &target, int64_t threads);
/// Those whose weights are packed for two rows of taps.
void lowerPairedWindow(onnxq::WindowOp op, const TargetInfo &target,
                       int64_t threads);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_LOWERKERNELS_H
