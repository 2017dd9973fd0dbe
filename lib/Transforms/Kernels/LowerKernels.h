// The lowerings of kernels, one per kind.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_LOWERKERNELS_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_LOWERKERNELS_H

#include "KernelBuilder.h"
#include "OnnxQuant/Support/TargetInfo.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace onnxquant::kernels {

/// Emits loops before the op. Contractions whose weights are packed for plain
/// multiply-adds.
void lowerFmaContract(onnxq::ContractOp op, const TargetInfo &target,
                      int64_t threads);
/// Those of 3x3 windows whose weights are transformed.
llvm::LogicalResult lowerWinograd(onnxq::ContractOp op,
                                  const TargetInfo &target, int64_t threads);
/// Those of floats whose weights are codes of four bits.
void lowerCodedContract(onnxq::ContractOp op, const TargetInfo &target);
/// Those of integers, by a dot step of the target.
llvm::LogicalResult lowerDotContract(onnxq::ContractOp op,
                                     const TargetInfo &target, int64_t threads);
/// Those of bytes by products of small matrices.
llvm::LogicalResult lowerMatrixContract(onnxq::ContractOp op,
                                        const TargetInfo &target);
/// Those of bytes by products of x86's tiles.
llvm::LogicalResult lowerTileContract(onnxq::ContractOp op,
                                      const TargetInfo &target,
                                      int64_t threads);
/// Those of bytes whose weights are ordered in windows.
void lowerQuadContract(onnxq::ContractOp op, const TargetInfo &target,
                       int64_t threads);
/// An elementwise op that only looks bytes up, in vectors where the target can;
/// tells whether it has.
bool lowerLookupLoop(mlir::linalg::GenericOp op, const TargetInfo &target);
/// One that ends in a quantized byte, likewise.
bool lowerQuantizerLoop(mlir::linalg::GenericOp op, const TargetInfo &target);
void lowerExpand(onnxq::ExpandOp op, const TargetInfo &target);
void lowerPack(onnxq::PackOp op, const TargetInfo &target);
void lowerStage(onnxq::StageOp op, const TargetInfo &target);
void lowerWindow(onnxq::WindowOp op, const TargetInfo &target, int64_t threads);
/// Those whose weights are packed for two rows of taps.
void lowerPairedWindow(onnxq::WindowOp op, const TargetInfo &target,
                       int64_t threads);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_LOWERKERNELS_H
