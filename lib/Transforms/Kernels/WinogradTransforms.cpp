// What Winograd's transform computes besides products: of a tile's input, and
// from products back to places of the output.

#include "WinogradLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

Value WinogradLowering::plus(Value x, Value y) {
  if (step)
    return arith::AddIOp::create(b, x, y);
  return arith::AddFOp::create(b, x, y);
}

Value WinogradLowering::minus(Value x, Value y) {
  if (step)
    return arith::SubIOp::create(b, x, y);
  return arith::SubFOp::create(b, x, y);
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

/// A row of the border's value: zeros of the module, or memory of the block.
Value WinogradLowering::makeBorder() {
  Value pad = op.getPad();
  if (!pad || matchPattern(pad, m_Zero()) ||
      matchPattern(pad, m_AnyZeroFloat()))
    return zeros ? zeros
                 : b.flatten(getZeros(b, op, channels, input.element)).memory;
  Value row = memref::AllocaOp::create(
      b, MemRefType::get(channels, input.element), b.getI64IntegerAttr(64));
  // Channels are a multiple of these.
  Value vector = b.broadcast(pad, winogradChannels);
  b.loop(b.index(channels / winogradChannels), {}, [&](Value i, ValueRange) {
    b.storeVector(vector, row, b.mul(i, winogradChannels), winogradChannels);
    return SmallVector<Value>();
  });
  return row;
}

void WinogradLowering::transformInput(Value tile, Value number) {
  SmallVector<Value> place = getTilePlace(tile);
  auto isBelow = [&](Value x, Value limit) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, limit);
  };
  // Where the 4x4 places begin: before the input, where it is padded.
  Value corner = b.mul(place[0], input.strides[0]), isInside;
  Value starts[2];
  for (int64_t axis : {0, 1}) {
    starts[axis] = b.sub(place[axis + 1], b.index(op.getPads()[axis]));
    corner = b.add(corner, b.mul(starts[axis], input.strides[axis + 1]));
    Value room = b.createOrFold<arith::MaxSIOp>(
        b.sub(input.sizes[axis + 1], b.index(winogradIn - 1)), b.index(0));
    Value fits = isBelow(starts[axis], room);
    isInside =
        isInside ? Value(arith::AndIOp::create(b, isInside, fits)) : fits;
  }
  auto getPlace = [&](int64_t row, int64_t column) {
    return b.add(corner, b.add(b.mul(input.strides[1], row),
                               b.mul(input.strides[2], column)));
  };
  SmallVector<RowSource> sources;
  auto forPlaces = [&](function_ref<RowSource(int64_t, int64_t)> getSource) {
    sources.clear();
    for (int64_t i = 0; i < winogradNumbers; ++i)
      sources.push_back(getSource(i / winogradIn, i % winogradIn));
    transformVectors(number, sources);
  };
  auto branch = scf::IfOp::create(b, isInside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  forPlaces([&](int64_t row, int64_t column) {
    return RowSource{input.memory, getPlace(row, column)};
  });
  // At the edge each place is the input's, or the border.
  b.setInsertionPoint(branch.elseYield());
  auto open = MemRefType::get(
      ShapedType::kDynamic, input.element,
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, 1));
  Value inside = b.castBuffer(input.memory, open);
  Value outside = b.castBuffer(border, open);
  forPlaces([&](int64_t row, int64_t column) {
    Value fits = arith::AndIOp::create(
        b, isBelow(b.add(starts[0], row), input.sizes[1]),
        isBelow(b.add(starts[1], column), input.sizes[2]));
    return RowSource{b.select(fits, inside, outside),
                     b.select(fits, getPlace(row, column), b.index(0))};
  });
}

/// A vector of channels of a place; bytes in 16 bits.
Value WinogradLowering::loadChannels(const RowSource &source, Value channel,
                                     int64_t width) {
  Value x = b.loadVector(source.memory, b.add(source.place, channel), width,
                         width, input.element);
  if (!step)
    return x;
  auto wide = VectorType::get(width, inputType);
  if (op.getInputUnsigned())
    return arith::ExtUIOp::create(b, wide, x);
  return arith::ExtSIOp::create(b, wide, x);
}

/// Transforms all channels of a tile: rows, then columns, of d0 - d2, d1 + d2,
/// d2 - d1 and d1 - d3.
void WinogradLowering::transformVectors(Value number,
                                        ArrayRef<RowSource> sources) {
  auto combine = [&](ArrayRef<Value> d, int64_t which) -> Value {
    switch (which) {
    case 0:
      return minus(d[0], d[2]);
    case 1:
      return plus(d[1], d[2]);
    case 2:
      return minus(d[2], d[1]);
    default:
      return minus(d[1], d[3]);
    }
  };
  Value target = b.mul(number, channels);
  auto transformLanes = [&](Value channel, int64_t width) {
    SmallVector<SmallVector<Value>> columns(winogradIn);
    for (int64_t column = 0; column < winogradIn; ++column)
      for (int64_t row = 0; row < winogradIn; ++row)
        columns[column].push_back(
            loadChannels(sources[row * winogradIn + column], channel, width));
    for (int64_t row = 0; row < winogradIn; ++row) {
      SmallVector<Value> half;
      for (int64_t column = 0; column < winogradIn; ++column)
        half.push_back(combine(columns[column], row));
      for (int64_t column = 0; column < winogradIn; ++column) {
        int64_t g = row * winogradIn + column;
        b.storeVector(combine(half, column), transformed,
                      b.add(b.add(target, g * inputStep), channel), width);
      }
    }
  };
  b.loop(b.index(channels / inputLanes), {}, [&](Value i, ValueRange) {
    transformLanes(b.mul(i, inputLanes), inputLanes);
    return SmallVector<Value>();
  });
  int64_t rest = channels % inputLanes;
  for (int64_t width = inputLanes; rest > 0; width /= 2)
    if (rest >= width) {
      transformLanes(b.index(channels - rest), width);
      rest -= width;
    }
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

/// Four places of the output from 16 products: m0 + m1 + m2 and m1 - m2 - m3 of
/// the rows, then of the columns. A vector per `lanes` columns of each place.
SmallVector<SmallVector<Value>>
WinogradLowering::transformProducts(Value number, int64_t columns) {
  auto combine = [&](ArrayRef<Value> m, int64_t which) {
    return which == 0 ? plus(plus(m[0], m[1]), m[2])
                      : minus(minus(m[1], m[2]), m[3]);
  };
  // Weights of integers are four times as large.
  auto scaleBack = [&](Value sums) -> Value {
    if (!step)
      return sums;
    auto type = cast<VectorType>(sums.getType());
    Value bits = arith::ConstantOp::create(
        b,
        DenseElementsAttr::get(type, b.getIntegerAttr(sumType, winogradShift)));
    return arith::ShRSIOp::create(b, sums, bits);
  };
  SmallVector<SmallVector<Value>> results(winogradOut * winogradOut);
  Value source = b.mul(number, packing.getNr());
  for (int64_t j = 0; j < columns; j += lanes) {
    SmallVector<SmallVector<Value>> halves(winogradOut);
    for (int64_t column = 0; column < winogradIn; ++column) {
      SmallVector<Value> m;
      for (int64_t row = 0; row < winogradIn; ++row) {
        int64_t g = row * winogradIn + column;
        m.push_back(b.loadVector(products, b.add(source, g * productStep + j),
                                 lanes, lanes, sumType));
      }
      for (int64_t row = 0; row < winogradOut; ++row)
        halves[row].push_back(combine(m, row));
    }
    for (int64_t i = 0; i < winogradOut * winogradOut; ++i)
      results[i].push_back(
          scaleBack(combine(halves[i / winogradOut], i % winogradOut)));
  }
  return results;
}

void WinogradLowering::finishTile(Value tile, Value number, Value panel,
                                  int64_t columns) {
  SmallVector<Value> place = getTilePlace(tile);
  SmallVector<SmallVector<Value>> results = transformProducts(number, columns);
  TilePlace where = {{}, b.index(0), panel, {}, 1, columns};
  for (int64_t i = 0; i < winogradOut * winogradOut; ++i) {
    int64_t offsets[] = {i / winogradOut, i % winogradOut};
    SmallVector<Value> indices = {place[0]};
    Value exists;
    for (int64_t axis : {0, 1}) {
      indices.push_back(b.add(place[axis + 1], offsets[axis]));
      Value size = output.sizes[axis + 1];
      if (offsets[axis] == 0 ||
          KernelBuilder::known(b.rem(size, b.index(winogradOut))) == 0)
        continue;
      Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                         indices.back(), size);
      exists = exists ? Value(arith::AndIOp::create(b, exists, fits)) : fits;
    }
    OpBuilder::InsertionGuard guard(b);
    if (exists) {
      auto branch = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
      b.setInsertionPoint(branch.thenYield());
    }
    storeRow(where, /*row=*/0, indices, results[i]);
  }
}
