// The name of the node that an op was lowered from.

#ifndef ONNXQUANT_LIB_TRANSFORMS_CODEGEN_NODENAME_H
#define ONNXQUANT_LIB_TRANSFORMS_CODEGEN_NODENAME_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include <string>

namespace onnxquant {

/// The first name in an op's location; empty if there is none.
inline std::string nodeOf(mlir::Operation *op) {
  std::string name;
  op->getLoc()->walk([&](mlir::Location part) {
    auto named = llvm::dyn_cast<mlir::NameLoc>(part);
    if (!named)
      return mlir::WalkResult::advance();
    name = named.getName().str();
    return mlir::WalkResult::interrupt();
  });
  return name;
}

} // namespace onnxquant

#endif // ONNXQUANT_LIB_TRANSFORMS_CODEGEN_NODENAME_H
