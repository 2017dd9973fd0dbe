// Bounds the uses of a tensor that bufferization has to look at.
// Enters: linalg on tensors. Leaves: the same, in which inputs and constants
// with many readers are read through several tensors of the same buffer, and
// each op has an empty tensor of its own if many shared one.
//
// For each use of a tensor, bufferization goes through all its other uses. What
// nothing writes to has no others that matter.

#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "Tuning.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

namespace onnxquant {
#define GEN_PASS_DEF_GROUPREADERS
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

static bool hasManyUses(Value value) {
  return isa<RankedTensorType>(value.getType()) &&
         value.hasNUsesOrMore(tuning::mostUsesOfTensor + 1);
}

/// Uses of a tensor, but for those that pass it on as it is.
static SmallVector<OpOperand *> collectReaders(Value tensor) {
  SmallVector<OpOperand *> readers;
  for (OpOperand &use : tensor.getUses())
    if (!use.getOwner()->hasTrait<OpTrait::IsTerminator>())
      readers.push_back(&use);
  return readers;
}

/// Readers of a tensor that nothing writes to, by as many tensors as groups.
static void groupReaders(OpBuilder &b, Value tensor) {
  SmallVector<OpOperand *> readers = collectReaders(tensor);
  auto type = cast<RankedTensorType>(tensor.getType());
  auto buffer = bufferization::ToBufferOp::create(
      b, tensor.getLoc(),
      MemRefType::get(type.getShape(), type.getElementType()), tensor,
      /*read_only=*/true);
  Value group;
  for (auto [index, reader] : llvm::enumerate(readers)) {
    if (index % tuning::mostUsesOfTensor == 0)
      group = bufferization::ToTensorOp::create(b, tensor.getLoc(), type,
                                                buffer, /*restrict=*/true);
    reader->set(group);
  }
}

/// Gives each user an empty tensor of its own.
static void copyEmpty(tensor::EmptyOp empty) {
  SmallVector<OpOperand *> users = collectReaders(empty);
  for (OpOperand *user : users) {
    OpBuilder b(user->getOwner());
    user->set(b.clone(*empty)->getResult(0));
  }
}

namespace {
struct GroupReaders : public onnxquant::impl::GroupReadersBase<GroupReaders> {
  void runOnOperation() override {
    SmallVector<Value> read;
    SmallVector<tensor::EmptyOp> empty;
    getOperation().walk([&](Operation *op) {
      if (auto function = dyn_cast<func::FuncOp>(op)) {
        for (BlockArgument argument : function.getArguments())
          if (hasManyUses(argument) && isReadOnly(function, argument))
            read.push_back(argument);
      } else if (isa<arith::ConstantOp>(op) && hasManyUses(op->getResult(0))) {
        read.push_back(op->getResult(0));
      } else if (auto tensor = dyn_cast<tensor::EmptyOp>(op);
                 tensor && hasManyUses(tensor)) {
        empty.push_back(tensor);
      }
    });
    OpBuilder b(&getContext());
    for (Value tensor : read) {
      b.setInsertionPointAfterValue(tensor);
      groupReaders(b, tensor);
    }
    for (tensor::EmptyOp tensor : empty)
      copyEmpty(tensor);
  }

private:
  static bool isReadOnly(func::FuncOp function, BlockArgument argument) {
    auto writable = function.getArgAttrOfType<BoolAttr>(
        argument.getArgNumber(),
        bufferization::BufferizationDialect::kWritableAttrName);
    return writable && !writable.getValue();
  }
};
} // namespace
