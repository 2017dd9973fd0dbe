// Operands of integer micro-kernels.

#include "IntegerKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

IntegerKernel::IntegerKernel(MLIRContext *context, const KernelSpec &spec,
                             int64_t step, int64_t lanes, unsigned inputBits,
                             unsigned weightBits)
    : MicroKernel(step, lanes, IntegerType::get(context, inputBits)),
      weightType(IntegerType::get(context, weightBits)),
      accumulatorBits(spec.accumulatorBits), isInt4(spec.isInt4) {}

Value kernels::bitCast(KernelBuilder &b, Value vector, int64_t count,
                       Type element) {
  return vector::BitCastOp::create(b, VectorType::get(count, element), vector);
}

VectorType IntegerKernel::getAccumulatorType() const {
  return VectorType::get(
      lanes, IntegerType::get(inputType.getContext(), accumulatorBits));
}

VectorType IntegerKernel::getStoredType() const {
  if (isInt4)
    return VectorType::get(lanes * step / 2,
                           IntegerType::get(weightType.getContext(), 8));
  return VectorType::get(lanes * step, weightType);
}

/// The elements of a step fill a lane, so that one broadcast does it.
SmallVector<Value> IntegerKernel::loadA(KernelBuilder &b,
                                        ArrayRef<RowPointer> rows, Value k,
                                        int64_t steps) const {
  assert(steps == 1 && "this kernel loads the elements of one step");
  int64_t bits = step * inputType.getIntOrFloatBitWidth();
  Type lane = b.getIntegerType(bits);
  SmallVector<Value> spread;
  for (const RowPointer &row : rows) {
    Value x = vector::LoadOp::create(b, VectorType::get(step, inputType),
                                     row.memory, b.add(row.offset, k));
    Value scalar = vector::ExtractOp::create(b, bitCast(b, x, 1, lane),
                                             ArrayRef<int64_t>{0});
    spread.push_back(
        bitCast(b, b.broadcast(scalar, lanes), lanes * step, inputType));
  }
  return spread;
}

/// Weights of -8 to 7 from bytes of two, plus 8: the first half of a vector has
/// the low bits.
static Value unpackInt4(KernelBuilder &b, Value bytes) {
  auto half = cast<VectorType>(bytes.getType());
  int64_t count = 2 * half.getNumElements();
  auto whole = VectorType::get(count, b.getI8Type());
  auto constant = [&](VectorType type, int8_t value) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, b.getI8IntegerAttr(value)));
  };
  Value low = arith::AndIOp::create(b, bytes, constant(half, 15));
  Value high = arith::ShRUIOp::create(b, bytes, constant(half, 4));
  SmallVector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  Value both = vector::ShuffleOp::create(b, low, high, order);
  return arith::SubIOp::create(b, both, constant(whole, 8));
}

Value IntegerKernel::unpackB(KernelBuilder &b, Value stored) const {
  return isInt4 ? unpackInt4(b, stored) : stored;
}

SmallVector<Value> IntegerKernel::loadB(KernelBuilder &b, Value memory,
                                        Value offset, int64_t columns) const {
  SmallVector<Value> vectors;
  VectorType stored = getStoredType();
  for (int64_t j = 0; j * lanes < columns; ++j)
    vectors.push_back(unpackB(
        b, vector::LoadOp::create(b, stored, memory,
                                  b.add(offset, j * stored.getNumElements()))));
  return vectors;
}
