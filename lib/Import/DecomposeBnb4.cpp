// Undoes the 4 bits of bitsandbytes: a MatMulBnb4 of constants becomes a MatMul
// by the numbers that its codes stand for.
//
// The columns of the matrix [K, N] lie one behind the other. They are cut into
// blocks whatever their length; each has the largest magnitude in it, by which
// the 16 values of a type are scaled. The first of two codes is in the high
// bits.

#include "Decompose.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <cstring>
#include <limits>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

/// FP4, with its sign in the highest bit, and NF4.
static constexpr double values[2][16] = {
    {0, 1.0 / 192, 2.0 / 3, 1, 1.0 / 3, 0.5, 1.0 / 6, 0.25, 0, -1.0 / 192,
     -2.0 / 3, -1, -1.0 / 3, -0.5, -1.0 / 6, -0.25},
    {-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
     -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
     0.07958029955625534, 0.16093020141124725, 0.24611230194568634,
     0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
     0.7229568362236023, 1.0}};

/// A constant [K, N] of f32 or f16.
static Value matrix(Upgrader &upgrader, StringRef name, int64_t k, int64_t n,
                    ArrayRef<float> numbers, Type element) {
  std::vector<char> raw;
  auto append = [&](auto number) {
    const char *data = reinterpret_cast<const char *>(&number);
    raw.insert(raw.end(), data, data + sizeof(number));
  };
  raw.reserve(numbers.size() * element.getIntOrFloatBitWidth() / 8);
  for (float number : numbers) {
    if (element.isF32()) {
      append(number);
      continue;
    }
    APFloat half(number);
    bool isInexact;
    half.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &isInexact);
    append(static_cast<uint16_t>(half.bitcastToAPInt().getZExtValue()));
  }
  auto type = RankedTensorType::get({k, n}, element);
  // Small constants are no resources, as everywhere.
  if (raw.size() < 1024)
    return upgrader.constant(DenseElementsAttr::getFromRawBuffer(type, raw),
                             "weight");
  return upgrader.constant(
      DenseResourceElementsAttr::get(
          type, (name + "_weight").str(),
          HeapAsmResourceBlob::allocateAndCopyWithAlign(ArrayRef(raw), 64)),
      "weight");
}

static LogicalResult matMulBnb4(Node &node, Upgrader &upgrader) {
  ElementsAttr codes, largest;
  if (node.operand(1) && node.operand(2)) {
    codes = onnx::getConstant(node.operand(1));
    largest = onnx::getConstant(node.operand(2));
  }
  // What isn't known, or isn't turned, stays.
  if (!codes || !largest || intOr(node, "transB", 1) != 1)
    return success();
  Type element = largest.getElementType();
  int64_t k = intOr(node, "K", 0), n = intOr(node, "N", 0),
          block = intOr(node, "block_size", 0),
          kind = intOr(node, "quant_type", -1);
  auto count = llvm::checkedMul(k, n);
  if (k <= 0 || n <= 0 || !count || block <= 0 || (kind != 0 && kind != 1))
    return upgrader.error()
           << "expects K, N and block_size above 0 and quant_type 0 or 1, but "
           << "got " << k << ", " << n << ", " << block << " and " << kind;
  if (!element.isF32() && !element.isF16())
    return upgrader.error()
           << "expects absmax of float or float16, but got " << element;
  int64_t most = std::numeric_limits<int64_t>::max();
  auto bytes = onnx::readInts(codes, most);
  auto scales = onnx::readFloats(largest, most);
  int64_t numBytes = *count / 2 + *count % 2,
          numBlocks = *count / block + (*count % block != 0);
  if (!bytes || !scales || int64_t(bytes->size()) != numBytes ||
      int64_t(scales->size()) != numBlocks)
    return upgrader.error()
           << "expects B of " << numBytes << " bytes and absmax of "
           << numBlocks << " numbers, but got " << codes.getShapedType()
           << " and " << largest.getShapedType();
  std::vector<float> numbers(*count);
  for (int64_t i = 0; i < *count; ++i) {
    int64_t code = ((*bytes)[i / 2] >> (i % 2 ? 0 : 4)) & 15;
    numbers[i % k * n + i / k] =
        float(values[kind][code]) * float((*scales)[i / block]);
  }
  for (size_t index : {1, 2})
    node.operand(index).getDefiningOp()->setAttr(
        supersededAttr, upgrader.builder().getUnitAttr());
  Value weight = matrix(upgrader, node.name, k, n, numbers, element);
  Parts parts(node, upgrader);
  return parts.finish(parts("MatMul", {node.operand(0), weight}, ""));
}

ArrayRef<DecomposeRule> import::getBnb4Decompositions() {
  static const DecomposeRule rules[] = {
      {"com.microsoft", "MatMulBnb4", matMulBnb4},
  };
  return rules;
}
