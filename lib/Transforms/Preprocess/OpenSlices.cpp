// Takes very large ends of slices to mean no end.
// Enters: Slice with constant starts and ends. Leaves: those at or beyond the
// bound at the ends of 64 bits, so that a dimension that is known only by name
// isn't thought to be cut there.

#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"

namespace onnxquant {
#define GEN_PASS_DEF_OPENSLICES
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

namespace {

struct OpenSlices : public onnxquant::impl::OpenSlicesBase<OpenSlices> {
  using OpenSlicesBase::OpenSlicesBase;

  void runOnOperation() override {
    if (bound <= 0) {
      getOperation().emitError("expects a positive bound, but got ") << bound;
      return signalPassFailure();
    }
    int64_t opened = 0;
    getOperation().walk([&](SliceOp op) { opened += open(op); });
    numOpened += opened;
    addToReport(getOperation(), getArgument(), "slices without an end", opened);
  }

private:
  bool open(SliceOp op) {
    auto ends = readSmallInts(op.getEnds());
    if (!ends)
      return false;
    SmallVector<int64_t> opened = *ends;
    for (int64_t &end : opened) {
      if (end >= bound)
        end = INT64_MAX;
      else if (end <= -bound)
        end = INT64_MIN;
    }
    if (opened == *ends || !getElementType(op.getEnds()).isInteger(64))
      return false;
    OpBuilder builder(op);
    op->setOperand(2, makeConstant(builder, op.getLoc(),
                                   makeInts(opened, &getContext()),
                                   nameForNew(op.getEnds(), op, "ends")));
    return true;
  }
};

} // namespace
