// What Winograd's transform computes besides products: Bt * d * B of a tile's
// input d, and At * p * A of its products p.

#include "WinogradLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

Value WinogradLowering::plus(Value x, Value y) {
  if (isInteger)
    return arith::AddIOp::create(b, x, y);
  return arith::AddFOp::create(b, x, y);
}

Value WinogradLowering::minus(Value x, Value y) {
  if (isInteger)
    return arith::SubIOp::create(b, x, y);
  return arith::SubFOp::create(b, x, y);
}

/// A small multiple of integers.
Value WinogradLowering::times(Value x, int64_t factor) {
  auto type = cast<VectorType>(x.getType());
  auto constant = [&](int64_t value) {
    Type element = type.getElementType();
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, b.getIntegerAttr(element, value)));
  };
  if (llvm::isPowerOf2_64(factor))
    return arith::ShLIOp::create(b, x, constant(llvm::Log2_64(factor)));
  return arith::MulIOp::create(b, x, constant(factor));
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

/// A row of the border's value: zeros of the module, or memory of the block.
Value WinogradLowering::makeBorder() {
  Value pad = gemm.op.getPad();
  if (!pad || matchPattern(pad, m_Zero()) ||
      matchPattern(pad, m_AnyZeroFloat()))
    return gemm.zeros
               ? gemm.zeros
               : b.flatten(getZeros(b, gemm.op, channels, gemm.input.element))
                     .memory;
  Value row =
      memref::AllocaOp::create(b, MemRefType::get(channels, gemm.input.element),
                               b.getI64IntegerAttr(64));
  // Channels are a multiple of these.
  Value vector = b.broadcast(pad, winogradChannels);
  b.repeat(b.index(channels / winogradChannels), [&](Value i) {
    b.storeVector(vector, row, b.mul(i, winogradChannels), winogradChannels);
  });
  return row;
}

void WinogradLowering::transformInput(Value tile, Value index) {
  SmallVector<Value> indices = getTileIndices(tile);
  auto isBelow = [&](Value x, Value limit) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, limit);
  };
  // Where the tile begins: before the input, where it is padded.
  Value corner = b.mul(indices[0], gemm.input.strides[0]), isInside;
  Value starts[2];
  for (int64_t axis : {0, 1}) {
    starts[axis] = b.sub(indices[axis + 1], b.index(gemm.op.getPads()[axis]));
    corner = b.add(corner, b.mul(starts[axis], gemm.input.strides[axis + 1]));
    Value room = b.createOrFold<arith::MaxSIOp>(
        b.sub(gemm.input.sizes[axis + 1], b.index(shape.in() - 1)), b.index(0));
    Value fits = isBelow(starts[axis], room);
    isInside =
        isInside ? Value(arith::AndIOp::create(b, isInside, fits)) : fits;
  }
  auto getPlace = [&](int64_t row, int64_t column) {
    return b.add(corner, b.add(b.mul(gemm.input.strides[1], row),
                               b.mul(gemm.input.strides[2], column)));
  };
  SmallVector<RowPointer> sources;
  auto forPlaces = [&](function_ref<RowPointer(int64_t, int64_t)> getSource) {
    sources.clear();
    for (int64_t i = 0; i < shape.points(); ++i)
      sources.push_back(getSource(i / shape.in(), i % shape.in()));
    transformVectors(index, sources);
  };
  auto branch = scf::IfOp::create(b, isInside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  forPlaces([&](int64_t row, int64_t column) {
    return RowPointer{gemm.input.memory, getPlace(row, column)};
  });
  // At the edge each element is the input's, or the border.
  b.setInsertionPoint(branch.elseYield());
  auto open = MemRefType::get(
      ShapedType::kDynamic, gemm.input.element,
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, 1));
  Value inside = b.castBuffer(gemm.input.memory, open);
  Value outside = b.castBuffer(border, open);
  forPlaces([&](int64_t row, int64_t column) {
    Value fits = arith::AndIOp::create(
        b, isBelow(b.add(starts[0], row), gemm.input.sizes[1]),
        isBelow(b.add(starts[1], column), gemm.input.sizes[2]));
    return RowPointer{b.select(fits, inside, outside),
                      b.select(fits, getPlace(row, column), b.index(0))};
  });
}

/// A vector of channels of an element; 8-bit ones in 16 bits.
Value WinogradLowering::loadChannels(const RowPointer &source, Value channel,
                                     int64_t width) {
  Value x = b.loadVector(source.memory, b.add(source.offset, channel), width,
                         width, gemm.input.element);
  if (!isInteger)
    return x;
  auto wide = VectorType::get(width, inputType);
  if (gemm.op.getInputUnsigned())
    return arith::ExtUIOp::create(b, wide, x);
  return arith::ExtSIOp::create(b, wide, x);
}

/// 2x2 outputs: d0 - d2, d1 + d2, d2 - d1 and d1 - d3. 4x4 outputs: the same at
/// 0, 1, -1, 2, -2 and infinity.
SmallVector<Value> WinogradLowering::combineInput(ArrayRef<Value> d) {
  if (shape.out == 2)
    return {minus(d[0], d[2]), plus(d[1], d[2]), minus(d[2], d[1]),
            minus(d[1], d[3])};
  Value four1 = times(d[1], 4), four2 = times(d[2], 4);
  Value even1 = minus(d[4], four2), odd1 = minus(d[3], four1);
  Value even2 = minus(d[4], d[2]), odd2 = times(minus(d[3], d[1]), 2);
  Value first = minus(plus(times(d[0], 4), d[4]), plus(four2, d[2]));
  Value last = minus(plus(four1, d[5]), plus(times(d[3], 4), d[3]));
  return {first,
          plus(even1, odd1),
          minus(even1, odd1),
          plus(even2, odd2),
          minus(even2, odd2),
          last};
}

/// Transforms all channels of a tile: rows, then columns.
void WinogradLowering::transformVectors(Value index,
                                        ArrayRef<RowPointer> sources) {
  int64_t side = shape.in();
  Value target = b.mul(index, channels);
  auto transformLanes = [&](Value channel, int64_t width) {
    SmallVector<SmallVector<Value>> halves;
    for (int64_t column = 0; column < side; ++column) {
      SmallVector<Value> d;
      for (int64_t row = 0; row < side; ++row)
        d.push_back(loadChannels(sources[row * side + column], channel, width));
      halves.push_back(combineInput(d));
    }
    for (int64_t row = 0; row < side; ++row) {
      SmallVector<Value> d;
      for (int64_t column = 0; column < side; ++column)
        d.push_back(halves[column][row]);
      for (auto [column, x] : llvm::enumerate(combineInput(d))) {
        int64_t part = (row * side + column) * inputStep;
        b.storeVector(x, transformed, b.add(b.add(target, part), channel),
                      width);
      }
    }
  };
  b.repeat(b.index(channels / inputLanes),
           [&](Value i) { transformLanes(b.mul(i, inputLanes), inputLanes); });
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

/// 2x2 outputs: m0 + m1 + m2 and m1 - m2 - m3. 4x4 outputs: 24, 12, 6 and 6
/// times the results, from products with the multiples that packWinograd tells.
SmallVector<Value> WinogradLowering::combineProducts(ArrayRef<Value> m) {
  if (shape.out == 2)
    return {plus(plus(m[0], m[1]), m[2]), minus(minus(m[1], m[2]), m[3])};
  Value even1 = plus(m[1], m[2]), odd1 = minus(m[1], m[2]);
  Value even2 = plus(m[3], m[4]), odd2 = minus(m[3], m[4]);
  return {plus(minus(times(m[0], 6), times(even1, 4)), even2),
          minus(odd2, times(odd1, 2)), minus(even2, even1),
          plus(minus(times(odd2, 2), odd1), times(m[5], 6))};
}

/// A sum of integers from its multiple, which is known to fit: powers of two
/// are shifted away, nine is divided by modulo 2^32.
Value WinogradLowering::scaleBack(Value sums, int64_t row, int64_t column) {
  if (!isInteger)
    return sums;
  constexpr int64_t inverseOfNine = 0x38E38E39, powers[] = {3, 2, 1, 1};
  int64_t shift = 2;
  if (shape.out > 2) {
    shift = powers[row] + powers[column];
    sums = times(sums, inverseOfNine);
  }
  auto type = cast<VectorType>(sums.getType());
  Value bits = arith::ConstantOp::create(
      b,
      DenseElementsAttr::get(type, b.getIntegerAttr(accumulatorType, shift)));
  return arith::ShRSIOp::create(b, sums, bits);
}

/// The outputs of a tile from its products, row by row: of a vector of columns
/// from `first` on.
SmallVector<Value> WinogradLowering::transformProducts(Value index,
                                                       int64_t first) {
  int64_t side = shape.in();
  Value source = b.mul(index, packing.getNr());
  SmallVector<SmallVector<Value>> halves;
  for (int64_t column = 0; column < side; ++column) {
    SmallVector<Value> m;
    for (int64_t row = 0; row < side; ++row) {
      int64_t part = (row * side + column) * productStep;
      m.push_back(b.loadVector(products, b.add(source, part + first), lanes,
                               lanes, accumulatorType));
    }
    halves.push_back(combineProducts(m));
  }
  SmallVector<Value> results;
  for (int64_t row = 0; row < shape.out; ++row) {
    SmallVector<Value> m;
    for (int64_t column = 0; column < side; ++column)
      m.push_back(halves[column][row]);
    for (auto [column, sums] : llvm::enumerate(combineProducts(m)))
      results.push_back(scaleBack(sums, row, column));
  }
  return results;
}

/// How many outputs of a row have their epilogue together: all tiles have as
/// many, or a multiple.
int64_t WinogradLowering::getJoinedPlaces(int64_t columns) {
  std::optional<int64_t> size = KernelBuilder::known(gemm.output.sizes[2]);
  if (!size)
    return 1;
  int64_t most = std::min(shape.out, epilogue.getRowsAtOnce(columns));
  int64_t count = 1;
  while (2 * count <= most && *size % (2 * count) == 0)
    count *= 2;
  return count;
}

/// Stores a tile's outputs in a loop: so their epilogue is there once.
void WinogradLowering::finishOutputs(ArrayRef<Value> indices, Value panel,
                                     int64_t columns) {
  Value counts[2];
  for (int64_t axis : {0, 1})
    counts[axis] = b.min(b.index(shape.out),
                         b.sub(gemm.output.sizes[axis + 1], indices[axis + 1]));
  Tile where = {{}, b.index(0), panel, {}, 1, columns};
  int64_t together = getJoinedPlaces(columns);
  Value steps = b.ceilDiv(counts[1], b.index(together));
  b.repeat(counts[0], [&](Value y) {
    b.repeat(steps, [&](Value index) {
      Value first = b.mul(index, together);
      Value from = b.mul(b.add(b.mul(y, shape.out), first), packing.getNr());
      SmallVector<RowIndices> rows;
      SmallVector<Value> sums;
      for (int64_t i = 0; i < together; ++i) {
        Value x = b.add(first, i);
        rows.push_back(
            {indices[0], b.add(indices[1], y), b.add(indices[2], x)});
        for (int64_t j = 0; j < columns; j += lanes)
          sums.push_back(b.loadVector(outputs,
                                      b.add(from, i * packing.getNr() + j),
                                      lanes, lanes, accumulatorType));
      }
      epilogue.store(where, rows, sums);
    });
  });
}

void WinogradLowering::finishTile(Value tile, Value index, Value panel,
                                  int64_t columns) {
  SmallVector<Value> first = getTileIndices(tile);
  int64_t count = shape.out * shape.out;
  SmallVector<SmallVector<Value>> results(count);
  for (int64_t j = 0; j < columns; j += lanes)
    for (auto [i, sums] : llvm::enumerate(transformProducts(index, j))) {
      if (isLooped())
        b.storeVector(sums, outputs, b.index(i * packing.getNr() + j), lanes);
      else
        results[i].push_back(sums);
    }
  if (isLooped())
    return finishOutputs(first, panel, columns);
  Tile where = {{}, b.index(0), panel, {}, 1, columns};
  for (int64_t i = 0; i < count; ++i) {
    int64_t offsets[] = {i / shape.out, i % shape.out};
    SmallVector<Value> indices = {first[0]};
    Value exists;
    for (int64_t axis : {0, 1}) {
      indices.push_back(b.add(first[axis + 1], offsets[axis]));
      Value size = gemm.output.sizes[axis + 1];
      if (offsets[axis] == 0 ||
          KernelBuilder::known(b.rem(size, b.index(shape.out))) == 0)
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
    epilogue.store(where, RowIndices(indices), results[i]);
  }
}
