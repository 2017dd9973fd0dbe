// Packs the B of contractions of integers for the micro-kernel that is chosen,
// and stages A for it.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_PACKINTEGERS_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_PACKINTEGERS_H

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Support/TargetInfo.h"

namespace onnxquant::kernels {

/// Packs the weights of a contraction of integers, and stages its input where
/// it must be widened, flipped to another sign, padded or aligned. Says whether
/// the input is staged. With `winograd` 3x3 convolutions may be transformed.
llvm::FailureOr<bool> packIntegers(onnxq::ContractOp op,
                                   const TargetInfo &target, bool winograd);

/// Packs codes that floats are multiplied with, and their scales and zeros.
llvm::LogicalResult packCodes(onnxq::ContractOp op, const TargetInfo &target);

/// The same as packIntegers for weights that are only known at run time: they
/// are packed then.
bool packActivations(onnxq::ContractOp op, const TargetInfo &target);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_PACKINTEGERS_H
