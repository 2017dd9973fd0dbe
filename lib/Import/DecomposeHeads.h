// What the rules of attention operators share.

#ifndef ONNXQUANT_LIB_IMPORT_DECOMPOSEHEADS_H
#define ONNXQUANT_LIB_IMPORT_DECOMPOSEHEADS_H

#include "Decompose.h"

namespace onnxquant::import {

/// Whether the model names a result of a node.
bool isNamed(const Node &node, size_t result);

/// [B, S, N * H] as [B, N, S, H].
mlir::Value toHeads(Parts &parts, mlir::Value x, int64_t heads,
                    llvm::StringRef suffix);

/// The factor of the scores: the one that a node gives, or that of heads of
/// this size.
double scaleOr(const Node &node, int64_t headSize);

/// The rows of a cache at the node's positions, shaped so that they broadcast
/// with [B, N, S, pairs], or with [B, S, N, pairs] if `isFlat`.
mlir::Value anglesOf(Parts &parts, Upgrader &upgrader, mlir::Value cache,
                     mlir::Value positions, bool isFlat,
                     llvm::StringRef suffix);

/// How pairs of features are turned. Features behind the pairs stay.
struct Rotation {
  mlir::Value cos, sin;
  int64_t pairs = 0, width = 0;
  bool isInterleaved = false;
};
mlir::Value rotate(Parts &parts, const Rotation &rotation, mlir::Value heads,
                   llvm::StringRef prefix);

/// Attention whose heads share keys and values in groups.
llvm::LogicalResult groupQueryAttention(Node &node, Upgrader &upgrader);

} // namespace onnxquant::import

#endif // ONNXQUANT_LIB_IMPORT_DECOMPOSEHEADS_H
