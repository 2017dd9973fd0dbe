// The thresholds that code around kernels is tuned by, found by measuring
// (bench/NOTES.md). Those of the kernels themselves are in Kernels/Tuning.h.

#ifndef ONNXQUANT_LIB_TRANSFORMS_CODEGEN_TUNING_H
#define ONNXQUANT_LIB_TRANSFORMS_CODEGEN_TUNING_H

#include <cstddef>
#include <cstdint>

namespace onnxquant::tuning {

//===--- Fusion -----------------------------------------------------------===//

/// Ops that a broadcast may repeat: they cost less than a read from memory.
inline constexpr size_t mostRepeatedOps = 3;
/// Ops that dequantize a byte: its zero point and scale, and constants.
inline constexpr size_t mostWideningOps = 6;
/// Ops and operands of one loop. Each fusion copies the body, so that longer
/// ones take longer to make than they save.
inline constexpr size_t mostFusedOps = 128, mostFusedOperands = 64;
/// Uses of one tensor that are left as they are.
inline constexpr size_t mostUsesOfTensor = 64;

//===--- Functions and threads --------------------------------------------===//

/// Work on fewer elements in a loop isn't worth a call in each iteration.
inline constexpr int64_t fewestOutlinedElements = 1024;
/// Operations of whole vectors that are worth sharing, some microseconds: what
/// one processor has written is far from the others.
inline constexpr int64_t fewestSharedOperations = 1 << 15;
/// What a loop of dynamic length is taken to repeat.
inline constexpr int64_t dynamicIterations = 64;
/// Operations of single elements that take as long as a product of AMX tiles.
inline constexpr int64_t operationsOfAmxTile = 512;

//===--- Memory -----------------------------------------------------------===//

/// Results that are worth memory of the caller's, and the most of them: each
/// is compared with all inputs and outputs before a run.
inline constexpr int64_t leastPlacedBytes = 16 * 1024, mostPlaced = 8;
/// Buffers that are compared with each other to find their offsets.
inline constexpr size_t mostComparedBuffers = 2048;
/// Memory that is certain to hold a whole large page of most processors.
inline constexpr int64_t leastLargePageBytes = 4 << 20;

} // namespace onnxquant::tuning

#endif // ONNXQUANT_LIB_TRANSFORMS_CODEGEN_TUNING_H
