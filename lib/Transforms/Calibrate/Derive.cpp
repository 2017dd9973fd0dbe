// Which tensors hold the elements of others: those of Concat, Transpose,
// Identity, and of Resize that repeats elements.
//
// A record has extremes by sample, along the first axis, and lists by channel.
// Both must lie in the tensor as they do in those that it is made of, or follow
// each other.

#include "Derive.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
namespace ir = onnxquant::onnx;

/// How often Resize takes each element; none if not all as often, or if samples
/// or channels are repeated.
static std::optional<int64_t> timesOf(ir::ResizeOp op, int64_t channelAxis) {
  StringRef mode = op.getCoordinateTransformationMode();
  StringRef rounding = op.getNearestMode();
  bool isCentered =
      mode.ends_with("half_pixel") || mode == "half_pixel_symmetric";
  bool repeats =
      isCentered ? rounding.starts_with("round")
                 : rounding == "floor" &&
                       (mode == "asymmetric" || mode == "tf_half_pixel_for_nn");
  ElementsAttr constant = ir::getConstant(op.getScales());
  if (op.getMode() != "nearest" || !repeats || op.getAxes() || !constant)
    return std::nullopt;
  auto scales = ir::readFloats(constant, /*limit=*/8);
  auto type = cast<RankedTensorType>(op.getY().getType());
  if (!scales || static_cast<int64_t>(scales->size()) != type.getRank())
    return std::nullopt;
  double times = 1;
  for (auto [axis, scale] : llvm::enumerate(*scales)) {
    bool isKept = axis == 0 || static_cast<int64_t>(axis) == channelAxis;
    if (scale != std::floor(scale) || scale < 1 || (isKept && scale != 1))
      return std::nullopt;
    times *= scale;
  }
  return times <= 1024 ? std::optional<int64_t>(times) : std::nullopt;
}

/// Whether Transpose leaves samples in place and moves channels to `to`.
static bool keepsChannels(ir::TransposeOp op, int64_t from, int64_t to) {
  if (!op.getPerm() || from < 0 || to < 0)
    return false;
  ArrayAttr perm = *op.getPerm();
  auto at = [&](int64_t i) { return cast<IntegerAttr>(perm[i]).getInt(); };
  return at(0) == 0 && at(to) == from;
}

std::optional<Derivation>
onnxquant::derivationOf(Value value, const Observer &observer,
                        ArrayRef<Observer> observers,
                        const DenseMap<Value, int64_t> &places) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  Derivation result;
  SmallVector<Value> sources;
  if (auto concat = dyn_cast<ir::ConcatOp>(op)) {
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    int64_t axis = concat.getAxis();
    axis += axis < 0 ? rank : 0;
    if (axis == 0)
      return std::nullopt;
    result.byChannel = axis == observer.channelAxis;
    result.isJoined = true;
    sources.append(concat.getInputs().begin(), concat.getInputs().end());
  } else if (isa<ir::ResizeOp, ir::TransposeOp, ir::IdentityOp>(op)) {
    sources.push_back(op->getOperand(0));
  } else {
    return std::nullopt;
  }
  for (Value source : sources) {
    auto place = places.find(source);
    // Tensors of one block are computed equally often.
    if (place == places.end() || source.getParentBlock() != op->getBlock())
      return std::nullopt;
    const Observer &from = observers[place->second];
    bool isMoved = isa<ir::TransposeOp>(op);
    if (!isMoved && from.channelAxis != observer.channelAxis)
      return std::nullopt;
    if (!result.byChannel && from.layout.channels != observer.layout.channels)
      return std::nullopt;
    result.sources.push_back(place->second);
  }
  int64_t axis = observers[result.sources.front()].channelAxis;
  if (auto resize = dyn_cast<ir::ResizeOp>(op)) {
    std::optional<int64_t> times = timesOf(resize, axis);
    if (!times)
      return std::nullopt;
    result.times = *times;
  }
  if (auto transpose = dyn_cast<ir::TransposeOp>(op);
      transpose && !keepsChannels(transpose, axis, observer.channelAxis))
    return std::nullopt;
  return result;
}
