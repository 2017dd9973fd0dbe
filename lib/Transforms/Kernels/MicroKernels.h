// All micro-kernels, by the instruction that multiplies. One file each.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_MICROKERNELS_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_MICROKERNELS_H

#include "IntegerKernel.h"

namespace onnxquant::kernels {

/// Floats: FloatFma.cpp, FloatCodes.cpp.
std::unique_ptr<MicroKernel> makeFloatFma(ImplicitGemm &gemm,
                                          const TargetInfo &target);
std::unique_ptr<MicroKernel> makeFloatCodes(ImplicitGemm &gemm,
                                            const TargetInfo &target);
/// X86Avx2.cpp. An iteration of the loop takes so many steps.
std::unique_ptr<MicroKernel> makeVpmaddwd(mlir::MLIRContext *context,
                                          const KernelSpec &spec,
                                          int64_t stepsOfTurn = 1);
std::unique_ptr<MicroKernel> makeVpmaddubsw(mlir::MLIRContext *context,
                                            const KernelSpec &spec);
/// X86Quads.cpp. Changes how the rows of A are read.
std::unique_ptr<MicroKernel> makeQuads(ImplicitGemm &gemm,
                                       const KernelSpec &spec);
/// X86Vnni.cpp.
std::unique_ptr<MicroKernel> makeVpdpbusd(mlir::MLIRContext *context,
                                          const KernelSpec &spec);
/// Arm64Dot.cpp: sdot and usdot.
std::unique_ptr<MicroKernel> makeDotByLane(mlir::MLIRContext *context,
                                           const KernelSpec &spec);
/// Arm64I8mm.cpp: smmla and usmmla.
std::unique_ptr<MicroKernel> makeMatrixProduct(mlir::MLIRContext *context,
                                               const KernelSpec &spec);
/// RiscvV.cpp.
std::unique_ptr<MicroKernel> makeVwmacc(mlir::MLIRContext *context,
                                        const KernelSpec &spec);
/// Generic.cpp.
std::unique_ptr<MicroKernel> makeWideningMultiplyAdd(mlir::MLIRContext *context,
                                                     const KernelSpec &spec);

/// The micro-kernel of a packed contraction of integers. Null if the target
/// doesn't have it: an intrinsic without its feature would end the compiler.
std::unique_ptr<MicroKernel> makeIntegerKernel(ImplicitGemm &gemm,
                                               const TargetInfo &target);

/// What x86's dot products ask of the loops around them: they take B faster
/// than it comes from memory, so that even few tiles prefetch all of the next
/// panel.
GridHints getX86Hints();

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_MICROKERNELS_H
