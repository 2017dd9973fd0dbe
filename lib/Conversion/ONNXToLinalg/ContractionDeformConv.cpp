// Convolutions whose kernel elements are moved by an input: every moved element
// is interpolated into a column, then the columns are multiplied with the
// weight.

#include "ContractionLists.h"
#include "ContractionSupport.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

//===----------------------------------------------------------------------===//
// DeformConv
//===----------------------------------------------------------------------===//

namespace {
struct LowerDeformConv : OpLowering<onnx::DeformConvOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::DeformConvOp op, Operands operands,
                Emitter &e) const override;

private:
  static Tensor makeColumns(onnx::DeformConvOp op, Operands operands,
                            Emitter &e, const WindowSizes &window, Type type);
};
} // namespace

/// The interpolated elements [N, C, kernel.., places..], masked.
Tensor LowerDeformConv::makeColumns(onnx::DeformConvOp op, Operands operands,
                                    Emitter &e, const WindowSizes &window,
                                    Type type) {
  Tensor x = operands[0], offset = operands[2], mask = operands[4];
  size_t rank = window.getRank();
  Value perGroup = e.asValue(
      e.floorDivSize(e.size(x, 1), e.getIndexAttr(op.getOffsetGroup())));
  Sizes sizes = {e.size(x, 0), e.size(x, 1)};
  sizes.append(window.kernel);
  sizes.append(window.output);
  return e.generate(sizes, type, [&](ArrayRef<Value> indices) {
    ArrayRef<Value> kernel = indices.slice(2, rank);
    ArrayRef<Value> places = indices.drop_front(2 + rank);
    // Row of the kernel element in the masks, of which offsets have `rank`.
    Value row = e.floorDivIndex(indices[1], perGroup);
    for (auto [k, size] : llvm::zip(kernel, window.kernel))
      row = e.addIndex(e.mulIndex(row, e.asValue(size)), k);
    SmallVector<Scalar> moved;
    for (size_t i = 0; i < rank; ++i) {
      Indices from = {indices[0],
                      e.addIndex(e.mulIndex(row, e.index(rank)), e.index(i))};
      from.append(places.begin(), places.end());
      Value start = e.subIndex(
          e.addIndex(e.mulIndex(places[i], e.index(window.strides[i])),
                     e.mulIndex(kernel[i], e.index(window.dilations[i]))),
          e.asValue(window.padsBegin[i]));
      Scalar base = {
          arith::SIToFPOp::create(e, computeType(type), e.toI64(start)), type};
      moved.push_back(e.add(base, e.cast(e.read(offset, from), type)));
    }
    Scalar element = interpolate(e, x, indices.take_front(2), moved);
    if (!mask)
      return element;
    Indices from = {indices[0], row};
    from.append(places.begin(), places.end());
    return e.mul(element, e.cast(e.read(mask, from), type));
  });
}

Results LowerDeformConv::lower(onnx::DeformConvOp op, Operands operands,
                               Emitter &e) const {
  Tensor x = operands[0], w = operands[1];
  Type type = resultType(op), sumType = accumulatorTypeFor(type);
  Sizes weight = e.sizes(w);
  WindowSizes window = getWindowSizes(e, op, x, ArrayRef(weight).drop_front(2));
  // The offsets and masks must be there before they are read.
  OpFoldResult rows = e.mulSize(e.productOf(window.kernel),
                                e.getIndexAttr(op.getOffsetGroup()));
  for (unsigned i : {2, 4}) {
    Tensor tensor = operands[i];
    if (!tensor)
      continue;
    Sizes expected = {
        e.size(x, 0),
        i == 4 ? rows : e.mulSize(rows, e.getIndexAttr(window.getRank()))};
    expected.append(window.output);
    for (auto [size, want] : llvm::zip(e.sizes(tensor), expected))
      checkEqual(e, size, want,
                 "offset and mask don't have the sizes of the output");
  }
  OpFoldResult offsetGroups = e.getIndexAttr(op.getOffsetGroup());
  checkEqual(
      e, e.mulSize(e.floorDivSize(e.size(x, 1), offsetGroups), offsetGroups),
      e.size(x, 1), "the channels are not a multiple of offset_group");

  Tensor columns = makeColumns(op, operands, e, window, sumType);
  OpFoldResult elements = e.productOf(window.kernel);
  Tensor flat =
      e.reshape(columns, {e.size(x, 0), e.mulSize(e.size(x, 1), elements),
                          e.productOf(window.output)});
  Tensor flatWeight = e.reshape(
      w, {weight[0], e.mulSize(weight[1], elements), e.getIndexAttr(1)});
  Tensor y = convolve(e, flat, flatWeight,
                      getPointwise(e, {e.productOf(window.output)}),
                      op.getGroup(), sumType, operands[3]);
  Sizes sizes = {e.size(x, 0), weight[0]};
  sizes.append(window.output);
  return SmallVector<Value>{castTo(e, e.reshape(y, sizes), type).value};
}

void onnxquant::lowering::addDeformConvLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerDeformConv>(types, patterns.getContext());
}
