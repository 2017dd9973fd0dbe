// The arithmetic of phases.

#include "TransposedWindow.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
namespace window = onnxquant::onnx::window;

static int64_t floorDiv(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

std::optional<PhaseDim> kernels::getPhase(const TransposedDim &dim, int64_t r,
                                          bool zeroTaps) {
  PhaseDim phase;
  SmallVector<int64_t> offsets;
  for (int64_t tap = dim.kernel - 1; tap >= 0; --tap) {
    int64_t distance = r + dim.pad - tap * dim.dilation;
    if (distance % dim.stride != 0)
      continue;
    phase.taps.push_back(tap);
    offsets.push_back(floorDiv(distance, dim.stride));
  }
  // Positions r, r + stride, .. of stride * in + extra.
  phase.more = floorDiv(dim.extra - r + dim.stride - 1, dim.stride);
  if (offsets.size() > 1)
    phase.dilation = offsets[1] - offsets[0];
  if (offsets.empty() || offsets.front() > 0) {
    if (!zeroTaps)
      return std::nullopt;
    if (offsets.empty()) {
      phase.taps.push_back(noTap);
      offsets.push_back(0);
    }
    while (offsets.front() > 0) {
      phase.taps.insert(phase.taps.begin(), noTap);
      offsets.insert(offsets.begin(), offsets.front() - phase.dilation);
    }
  }
  phase.begin = -offsets.front();
  phase.end = std::max<int64_t>(0, phase.more + offsets.back());
  return phase;
}

std::optional<SmallVector<TransposedDim>>
kernels::getTransposedDims(onnx::ConvTransposeOp op, RankedTensorType input,
                           ArrayRef<int64_t> kernel) {
  SmallVector<onnx::Dim> dims(kernel.begin(), kernel.end());
  size_t rank = kernel.size();
  window::Window attributes = window::getWindow(op, rank, dims);
  SmallVector<int64_t> extra = window::getIntsOf(op, "output_padding", rank, 0);
  SmallVector<int64_t> shape = window::getIntsOf(op, "output_shape", 0, 0);
  if (shape.size() > rank)
    shape.erase(shape.begin(), shape.end() - rank);
  ArrayRef<int64_t> spatial = input.getShape().drop_front(2);
  // Pads that follow from sizes need these; others don't.
  bool isOpen = llvm::any_of(spatial, ShapedType::isDynamic);
  bool isFixed =
      shape.empty() && (attributes.autoPad == window::AutoPad::NotSet ||
                        attributes.autoPad == window::AutoPad::Valid);
  SmallVector<int64_t> begins(rank, 0), ends(rank, 0);
  if (isFixed && attributes.autoPad == window::AutoPad::NotSet) {
    begins = attributes.padsBegin;
    ends = attributes.padsEnd;
  } else if (!isFixed) {
    if (isOpen)
      return std::nullopt;
    auto known =
        window::getStaticTransposedWindow(attributes, spatial, extra, shape);
    if (!known)
      return std::nullopt;
    begins = known->padsBegin;
    ends = known->padsEnd;
  }
  SmallVector<TransposedDim> result;
  for (size_t i = 0; i < rank; ++i) {
    TransposedDim dim = {kernel[i], attributes.strides[i],
                         attributes.dilations[i], begins[i], 0};
    dim.extra = extra[i] + (dim.kernel - 1) * dim.dilation + 1 - dim.stride -
                dim.pad - ends[i];
    if (!ShapedType::isDynamic(spatial[i]) &&
        spatial[i] * dim.stride + dim.extra < 1)
      return std::nullopt;
    result.push_back(dim);
  }
  return result;
}

/// size * factor + addend.
static OpFoldResult scale(ImplicitLocOpBuilder &b, OpFoldResult size,
                          int64_t factor, int64_t addend) {
  if (auto known = getConstantIntValue(size))
    return b.getIndexAttr(*known * factor + addend);
  Value product = arith::MulIOp::create(
      b, cast<Value>(size), arith::ConstantIndexOp::create(b, factor));
  return arith::AddIOp::create(b, product,
                               arith::ConstantIndexOp::create(b, addend))
      .getResult();
}

SmallVector<OpFoldResult>
kernels::getTransposedSizes(ImplicitLocOpBuilder &b, Operation *node, Value x,
                            ArrayRef<TransposedDim> dims, int64_t columns) {
  SmallVector<OpFoldResult> sizes = {getSize(b, x, 0)};
  for (auto [i, dim] : llvm::enumerate(dims)) {
    sizes.push_back(scale(b, getSize(b, x, i + 1), dim.stride, dim.extra));
    if (auto open = dyn_cast<Value>(sizes.back()); open && dim.extra < 0)
      check(b, node,
            arith::CmpIOp::create(b, arith::CmpIPredicate::sge, open,
                                  arith::ConstantIndexOp::create(b, 0)),
            "the pads leave nothing of the output");
  }
  sizes.push_back(b.getIndexAttr(columns));
  return sizes;
}

void kernels::forEachPhase(ArrayRef<TransposedDim> dims,
                           function_ref<void(ArrayRef<int64_t>)> body) {
  SmallVector<int64_t> r(dims.size(), 0);
  for (;;) {
    body(r);
    size_t i = dims.size();
    while (i > 0 && ++r[i - 1] == dims[i - 1].stride)
      r[--i] = 0;
    if (i == 0)
      return;
  }
}

bool PhaseRegion::isEmpty() const {
  return llvm::any_of(sizes, [](OpFoldResult size) {
    return getConstantIntValue(size).value_or(1) < 1;
  });
}

PhaseRegion kernels::getPhaseRegion(ImplicitLocOpBuilder &b, Value x, Value y,
                                    ArrayRef<TransposedDim> dims,
                                    ArrayRef<PhaseDim> phase,
                                    ArrayRef<int64_t> r) {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  PhaseRegion region = {{zero}, {getSize(b, x, 0)}, {one}, {}};
  SmallVector<int64_t> ends;
  for (auto [i, dim] : llvm::enumerate(phase)) {
    region.window.kernel.push_back(dim.taps.size());
    region.window.strides.push_back(1);
    region.window.dilations.push_back(dim.dilation);
    region.window.pads.push_back(dim.begin);
    ends.push_back(dim.end);
    region.offsets.push_back(b.getIndexAttr(r[i]));
    region.strides.push_back(b.getIndexAttr(dims[i].stride));
    OpFoldResult size = scale(b, getSize(b, x, i + 1), 1, dim.more);
    // A dynamic dimension may be too small for this phase.
    if (auto open = dyn_cast<Value>(size); open && dim.more < 0)
      size =
          arith::MaxSIOp::create(b, open, arith::ConstantIndexOp::create(b, 0))
              .getResult();
    region.sizes.push_back(size);
  }
  region.window.pads.append(ends);
  region.offsets.push_back(zero);
  region.strides.push_back(one);
  auto type = cast<RankedTensorType>(y.getType());
  region.sizes.push_back(b.getIndexAttr(type.getShape().back()));
  if (region.window.isPointwise() &&
      llvm::all_of(phase, [](const PhaseDim &dim) { return dim.more == 0; }))
    region.window = KernelWindow();
  return region;
}
