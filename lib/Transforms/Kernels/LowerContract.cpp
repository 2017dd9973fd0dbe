// Lowers a packed contraction by the micro-kernel of its kind: an implicit
// GEMM, the loops over its tiles and its epilogue. AMX and Winograd have loops
// of their own.

#include "LowerKernels.h"
#include "MicroKernelChoice.h"
#include "MicroKernels.h"
#include "TileGrid.h"
#include "Tuning.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using onnxq::PackingKind;

GridHints kernels::getX86Hints() {
  GridHints hints;
  hints.prefetchedLines = tuning::prefetchedLinesOfDots;
  hints.growsNarrowTiles = true;
  return hints;
}

std::unique_ptr<MicroKernel>
kernels::makeIntegerKernel(ImplicitGemm &gemm, const TargetInfo &target) {
  MLIRContext *context = gemm.op.getContext();
  PackingKind kind = gemm.packing.getKind();
  KernelSpec spec = {kind, getVectorLanes(kind, target),
                     gemm.weights.element.getIntOrFloatBitWidth(),
                     gemm.accumulatorType.getIntOrFloatBitWidth(),
                     gemm.packing.getInt4()};
  bool isGeneric = spec.kind == PackingKind::Outer;
  if (spec.lanes == 0 || (!isGeneric && spec.accumulatorBits != 32))
    return nullptr;
  switch (spec.kind) {
  case PackingKind::Outer:
    return target.hasRVV ? makeVwmacc(context, spec)
                         : makeWideningMultiplyAdd(context, spec);
  case PackingKind::Madd:
    return makeVpmaddwd(context, spec);
  case PackingKind::Pairs:
    return makeVpmaddubsw(context, spec);
  case PackingKind::Quads:
    return makeQuads(gemm, spec);
  case PackingKind::Vnni:
    return makeVpdpbusd(context, spec);
  case PackingKind::Sdot:
  case PackingKind::Usdot:
    return makeDotByLane(context, spec);
  case PackingKind::Smmla:
  case PackingKind::Usmmla:
    return makeMatrixProduct(context, spec);
  default:
    return nullptr;
  }
}

static void emit(ImplicitGemm &gemm, const MicroKernel &kernel,
                 const TargetInfo &target, int64_t threads, bool startsAtBias) {
  Epilogue epilogue(gemm, target, kernel.getLanes(), startsAtBias);
  TileGrid(gemm, kernel, epilogue, threads).emit();
}

void kernels::lowerFloatContract(onnxq::ContractOp op, const TargetInfo &target,
                                 int64_t threads) {
  ImplicitGemm gemm(op);
  bool isCoded = gemm.packing.getKind() == PackingKind::Codes ||
                 gemm.packing.getKind() == PackingKind::Bytes;
  std::unique_ptr<MicroKernel> kernel =
      isCoded ? makeFloatCodes(gemm, target) : makeFloatFma(gemm, target);
  emit(gemm, *kernel, target, threads, /*startsAtBias=*/false);
}

LogicalResult kernels::lowerIntegerContract(onnxq::ContractOp op,
                                            const TargetInfo &target,
                                            int64_t threads) {
  ImplicitGemm gemm(op);
  PackingKind kind = gemm.packing.getKind();
  std::unique_ptr<MicroKernel> kernel = makeIntegerKernel(gemm, target);
  if (!kernel)
    return op.emitOpError("expects a target with the micro-kernel '")
           << stringifyEnum(kind) << "'";
  // Squares of i8mm hold no rows of columns before they are complete.
  bool isMatrix = kind == PackingKind::Smmla || kind == PackingKind::Usmmla;
  emit(gemm, *kernel, target, threads, /*startsAtBias=*/!isMatrix);
  return success();
}
