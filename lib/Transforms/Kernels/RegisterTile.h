// How many rows and columns of a product stay in registers.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_REGISTERTILE_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_REGISTERTILE_H

#include "OnnxQuant/Support/TargetInfo.h"
#include <optional>

namespace onnxquant::kernels {

struct RegisterTile {
  int64_t rows, columns;
};

/// The f32 lanes of what a tile calls a vector: one register, or with RISC-V's
/// vectors a group of four.
int64_t getTileLanes(const TargetInfo &target);

/// The tile for a product of `rows` (none if that isn't known) by `columns`:
/// the one with the least modelled time. A step of the sum takes as long as its
/// multiply-adds, its loads, or the latency of one multiply-add, two per cycle
/// of the former.
RegisterTile chooseTile(const TargetInfo &target, std::optional<int64_t> rows,
                        int64_t columns);

/// Whether a tile leaves registers for the weights of the next product, on a
/// target that computes in the order of its instructions.
bool hasRoomForNext(const TargetInfo &target, int64_t rows, int64_t vectors);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_REGISTERTILE_H
