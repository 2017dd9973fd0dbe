// Sums over the places of an image in four lanes.

#include "PlaceSums.h"
#include "LoopSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

static constexpr int64_t lanes = 4;

/// `size` elements along `axis` from `offset` on.
static Tensor partAlong(Emitter &e, Tensor x, int64_t axis, OpFoldResult offset,
                        OpFoldResult size) {
  Sizes offsets(x.rank(), e.getIndexAttr(0)), sizes = e.sizes(x);
  offsets[axis] = offset;
  sizes[axis] = size;
  return slice(e, x, offsets, sizes);
}

/// Adds what lies along `axis` to `sums` one by one, where `axis` has size 1.
static Tensor addInOrder(Emitter &e, Tensor x, Tensor sums, int64_t axis,
                         Type sumType) {
  SmallVector<AffineExpr> places;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != axis)
      places.push_back(e.getAffineDimExpr(i));
  Sizes all = e.sizes(sums), without = all;
  without.erase(without.begin() + axis);
  Tensor total =
      emitLoops(e, {x}, e.reshape(sums, without),
                {e.getMultiDimIdentityMap(x.rank()),
                 AffineMap::get(x.rank(), 0, places, e.getContext())},
                [&](ArrayRef<Scalar> v, Scalar sum) {
                  return e.add(sum, e.cast(v[0], sumType));
                });
  return e.reshape(total, all);
}

/// Sums of every fourth place, then of the four; the number of places is a
/// multiple of four.
static Tensor sumLanes(Emitter &e, Tensor x, int64_t axis, OpFoldResult fours,
                       Type sumType) {
  Tensor split = splitDim(e, x, axis, fours, e.getIndexAttr(lanes));
  Tensor sums = e.reduce(
      split, {axis}, /*keepDims=*/false, e.number(0, sumType),
      [&](Scalar v, Scalar sum) { return e.add(sum, e.cast(v, sumType)); });
  SmallVector<Tensor> parts;
  for (int64_t i = 0; i < lanes; ++i)
    parts.push_back(
        partAlong(e, sums, axis, e.getIndexAttr(i), e.getIndexAttr(1)));
  return e.map(parts, e.sizes(parts[0]), sumType, [&](ArrayRef<Scalar> v) {
    return e.add(e.add(v[0], v[2]), e.add(v[1], v[3]));
  });
}

Tensor onnxquant::lowering::sumPlaces(Emitter &e, Tensor x, int64_t first,
                                      int64_t count, Type sumType) {
  if (count == 0)
    return e.map({x}, sumType,
                 [&](ArrayRef<Scalar> v) { return e.cast(v[0], sumType); });
  Sizes kept = e.sizes(x);
  for (int64_t i = first; i < first + count; ++i)
    kept[i] = e.getIndexAttr(1);
  Tensor flat = mergeDims(e, x, first, count);
  OpFoldResult places = e.size(flat, first);
  OpFoldResult fours = e.floorDivSize(places, e.getIndexAttr(lanes));
  OpFoldResult inLanes = e.mulSize(fours, e.getIndexAttr(lanes));
  OpFoldResult left = e.subSize(places, inLanes);
  Tensor sums;
  if (e.constant(fours) == 0) {
    Sizes one = e.sizes(flat);
    one[first] = e.getIndexAttr(1);
    sums = e.filled(one, e.number(0, sumType));
  } else {
    sums = sumLanes(e, partAlong(e, flat, first, e.getIndexAttr(0), inLanes),
                    first, fours, sumType);
  }
  if (e.constant(left) != 0)
    sums = addInOrder(e, partAlong(e, flat, first, inLanes, left), sums, first,
                      sumType);
  return e.reshape(sums, kept);
}
