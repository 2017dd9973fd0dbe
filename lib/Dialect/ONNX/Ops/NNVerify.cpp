// Checks of ranks and dimensions: see NNVerify.h.

#include "NNVerify.h"

using namespace mlir;
using namespace onnxquant::onnx;

std::optional<ArrayRef<int64_t>> nn::getShape(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  return type.getShape();
}

int64_t nn::getDim(Value value, size_t index) {
  std::optional<ArrayRef<int64_t>> shape = getShape(value);
  return shape && index < shape->size() ? (*shape)[index] : dynamic;
}

int64_t nn::getChannels(Value value) {
  std::optional<ArrayRef<int64_t>> shape = getShape(value);
  return shape && shape->size() == 1 ? 1 : getDim(value, 1);
}

LogicalResult nn::verifyRank(Operation *op, Value value, StringRef name,
                             int64_t rank, unsigned label) {
  std::optional<ArrayRef<int64_t>> shape = getShape(value);
  if (!shape || static_cast<int64_t>(shape->size()) == rank)
    return success();
  return op->emitOpError("expects ")
         << name << " to have rank " << rank << ", but got rank "
         << shape->size() << " (C" << label << ")";
}

LogicalResult nn::verifyMinRank(Operation *op, Value value, StringRef name,
                                int64_t least, unsigned label) {
  std::optional<ArrayRef<int64_t>> shape = getShape(value);
  if (!shape || static_cast<int64_t>(shape->size()) >= least)
    return success();
  return op->emitOpError("expects ")
         << name << " to have rank " << least << " or more, but got rank "
         << shape->size() << " (C" << label << ")";
}

LogicalResult nn::verifyDim(Operation *op, Value value, StringRef name,
                            size_t index, int64_t expected, unsigned label) {
  int64_t size = getDim(value, index);
  if (agree(size, expected))
    return success();
  return op->emitOpError("expects dimension ")
         << index << " of " << name << " to be " << expected << ", but got "
         << size << " (C" << label << ")";
}

LogicalResult nn::verifyPerChannel(Operation *op, Value value, StringRef name,
                                   int64_t channels, unsigned label) {
  if (failed(verifyRank(op, value, name, 1, label)))
    return failure();
  int64_t size = getDim(value, 0);
  if (agree(size, channels))
    return success();
  return op->emitOpError("expects ")
         << name << " to have one element per channel, but got " << size
         << " elements for " << channels << " channels (C" << label << ")";
}

LogicalResult nn::verifyAxis(Operation *op, Value value, int64_t axis,
                             unsigned label) {
  std::optional<ArrayRef<int64_t>> shape = getShape(value);
  if (!shape)
    return success();
  int64_t rank = shape->size();
  if (axis >= -rank && axis < rank)
    return success();
  return op->emitOpError("expects an axis of a tensor of rank ")
         << rank << ", but got " << axis << " (C" << label << ")";
}

LogicalResult nn::verifyBroadcastsTo(Operation *op, Value value, StringRef name,
                                     Value target, unsigned label) {
  std::optional<ArrayRef<int64_t>> from = getShape(value);
  std::optional<ArrayRef<int64_t>> to = getShape(target);
  if (!from || !to)
    return success();
  bool fits = from->size() <= to->size();
  if (fits)
    for (auto [a, b] : llvm::zip(llvm::reverse(*from), llvm::reverse(*to)))
      fits &= a == 1 || agree(a, b);
  if (fits)
    return success();
  return op->emitOpError("expects ")
         << name << " to broadcast to " << target.getType() << ", but got "
         << value.getType() << " (C" << label << ")";
}
