// Which micro-kernel and which register tile a contraction of integers gets: a
// pure function of its shape, its types, what its weights prove, and the
// target. unittests/Transforms/Kernels/MicroKernelChoiceTest.cpp holds the
// table.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_MICROKERNELCHOICE_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_MICROKERNELCHOICE_H

#include "ContractShape.h"
#include "OnnxQuant/Support/TargetInfo.h"

namespace onnxquant::kernels {

/// Rows of the output as AMX tiles take them: so many that follow each other in
/// one dimension of the input, as often as `repeats`, in each batch.
struct AmxRows {
  int64_t length = 1, repeats = 1, batches = 1;
};

/// A tile of a 3x3 convolution by Winograd's transform that is exact: its side
/// in the output and how many there are.
struct WinogradOption {
  int64_t side, tiles;
};

/// What is asked of a micro-kernel.
struct KernelRequest {
  ContractShape shape;
  unsigned inputBits = 8, weightBits = 8, accumulatorBits = 32;
  bool isInputUnsigned = false;
  /// Whether the input is copied to be padded, whatever kernel reads it.
  bool isPadded = false;
  bool hasLongEpilogue = false;
  AmxRows amxRows;

  /// Whether weights fit int4, and whether 255 times the sum of two neighbours
  /// of a column fits 16 bits. Unknown weights prove nothing.
  bool fitsInt4 = false, pairsFit = false;
  /// The cost of a tile by windowed quads, for all panels, in DotCost.h's unit;
  /// null if weights can't be ordered so. Asked for only where it may be least.
  llvm::function_ref<int64_t()> getQuadCost;
  /// Exact transforms, none if there is none.
  llvm::ArrayRef<WinogradOption> transforms;
};

struct KernelChoice {
  onnxq::PackingKind kind;
  /// Products of a step, rows and columns of a register tile.
  int64_t step, mr, nr;
  /// The side of a tile of Winograd's transform; 0 for plain sums.
  int64_t winogradSide = 0;
  /// Why, for people.
  llvm::StringRef reason;
};

/// 32-bit accumulators that a vector of the kind has; 0 if the target can't do
/// it. 64-bit accumulators are half as many.
int64_t getVectorLanes(onnxq::PackingKind kind, const TargetInfo &target);

/// What a contraction asks for, its weights aside.
KernelRequest getKernelRequest(onnxq::ContractOp op);

/// The micro-kernel for weights that are packed by the compiler.
KernelChoice chooseMicroKernel(const KernelRequest &request,
                               const TargetInfo &target);
/// The one for a B that is only known at run time, and packed then.
KernelChoice chooseForActivations(const KernelRequest &request,
                                  const TargetInfo &target);

/// Whether AMX takes less time than dot products of vectors, for `k` products
/// of each sum in runs of `run`.
bool prefersAmx(const KernelRequest &request, int64_t k, int64_t run,
                const TargetInfo &target);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_MICROKERNELCHOICE_H
