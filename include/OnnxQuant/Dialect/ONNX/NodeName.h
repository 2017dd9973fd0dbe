// The name of the node that an op was lowered from.

#ifndef ONNXQUANT_DIALECT_ONNX_NODENAME_H
#define ONNXQUANT_DIALECT_ONNX_NODENAME_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include <string>

namespace onnxquant {

/// The first name in a location; empty if there is none.
inline std::string nodeOf(mlir::Location loc) {
  std::string name;
  loc->walk([&](mlir::Location part) {
    auto named = llvm::dyn_cast<mlir::NameLoc>(part);
    if (!named)
      return mlir::WalkResult::advance();
    name = named.getName().str();
    return mlir::WalkResult::interrupt();
  });
  return name;
}

inline std::string nodeOf(mlir::Operation *op) { return nodeOf(op->getLoc()); }

} // namespace onnxquant

#endif // ONNXQUANT_DIALECT_ONNX_NODENAME_H
