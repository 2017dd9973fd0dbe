// Numbers read out of dense elements and blobs, against values worked out by
// hand from the formats' definitions.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using onnxquant::onnx::readFloats;
using onnxquant::onnx::readInts;

namespace {
class ConstantValuesTest : public testing::Test {
protected:
  /// A resource of `count` elements over the bytes.
  ElementsAttr blob(std::vector<uint8_t> bytes, Type type, int64_t count = 3) {
    // Room for one: copying from no address at all isn't allowed.
    bytes.reserve(1);
    ArrayRef<char> data(reinterpret_cast<const char *>(bytes.data()),
                        bytes.size());
    return DenseResourceElementsAttr::get(
        RankedTensorType::get({count}, type), "blob",
        HeapAsmResourceBlob::allocateAndCopyWithAlign(data, 8));
  }
  using Ints = SmallVector<int64_t>;
  using Floats = SmallVector<double>;

  MLIRContext context;
  Builder b{&context};
};
} // namespace

TEST_F(ConstantValuesTest, PackedBlobs) {
  EXPECT_EQ(readInts(blob({0xF1, 0x07}, b.getIntegerType(4)), 10),
            Ints({1, -1, 7}));
  EXPECT_EQ(readInts(blob({0xF1, 0x07}, b.getIntegerType(4, false)), 10),
            Ints({1, 15, 7}));
  EXPECT_EQ(readFloats(blob({0x42, 0x06}, Float4E2M1FNType::get(&context)), 10),
            Floats({1, 2, 4}));
}

TEST_F(ConstantValuesTest, ByteBlobs) {
  EXPECT_EQ(readInts(blob({1, 0, 1}, b.getI1Type()), 10), Ints({1, 0, 1}));
  EXPECT_EQ(readInts(blob({2, 0, 255}, b.getI1Type()), 10), Ints({1, 0, 1}));
  EXPECT_EQ(readInts(blob({0xFF, 1, 2}, b.getIntegerType(8)), 10),
            Ints({-1, 1, 2}));
  EXPECT_EQ(readInts(blob({0xFF, 1, 2}, b.getIntegerType(8, false)), 10),
            Ints({255, 1, 2}));
  EXPECT_EQ(
      readFloats(blob({0x38, 0xB8, 0x40}, Float8E4M3FNType::get(&context)), 10),
      Floats({1, -1, 2}));
  EXPECT_EQ(
      readFloats(blob({0x3C, 0xBC, 0x40}, Float8E5M2Type::get(&context)), 10),
      Floats({1, -1, 2}));
}

TEST_F(ConstantValuesTest, WideBlobsAreLittleEndian) {
  EXPECT_EQ(
      readInts(blob({0x34, 0x12, 0xFF, 0xFF}, b.getIntegerType(16), 2), 9),
      Ints({0x1234, -1}));
  EXPECT_EQ(readInts(blob({0, 0, 0, 0x80}, b.getIntegerType(32), 1), 9),
            Ints({INT32_MIN}));
  EXPECT_EQ(
      readInts(blob({0, 0, 0, 0, 0, 0, 0, 0x80}, b.getIntegerType(64), 1), 9),
      Ints({INT64_MIN}));
  EXPECT_EQ(readFloats(blob({0x00, 0x3C, 0x00, 0xC0}, b.getF16Type(), 2), 9),
            Floats({1, -2}));
  EXPECT_EQ(readFloats(blob({0x80, 0x3F, 0x40, 0xC0}, b.getBF16Type(), 2), 9),
            Floats({1, -3}));
  EXPECT_EQ(readFloats(blob({0, 0, 0xC0, 0x3F}, b.getF32Type(), 1), 9),
            Floats({1.5}));
}

TEST_F(ConstantValuesTest, FloatsMatchTheMachine) {
  // Every 97th pattern of 16 bits in its upper half, as 32-bit floats.
  for (uint32_t high = 0; high < 0x10000; high += 97) {
    uint32_t pattern = high << 16 | 0x1234;
    float expected;
    std::memcpy(&expected, &pattern, 4);
    auto read = readFloats(blob({0x34, 0x12, uint8_t(high), uint8_t(high >> 8)},
                                b.getF32Type(), 1),
                           1);
    ASSERT_TRUE(read);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(read->front())) << pattern;
    else
      EXPECT_EQ(read->front(), expected) << pattern;
  }
}

TEST_F(ConstantValuesTest, BlobsOfTheWrongSize) {
  EXPECT_FALSE(readInts(blob({0xF1}, b.getIntegerType(4, false)), 10));
  EXPECT_FALSE(readInts(blob({1, 2}, b.getIntegerType(8)), 10));
  EXPECT_FALSE(readInts(blob({1, 2, 3, 4}, b.getIntegerType(8)), 10));
  EXPECT_FALSE(readInts(blob({}, b.getIntegerType(8)), 10));
  EXPECT_EQ(readInts(blob({}, b.getIntegerType(8), 0), 10), Ints());
}

TEST_F(ConstantValuesTest, DenseElements) {
  auto type = [&](int64_t count, Type element) {
    return RankedTensorType::get({count}, element);
  };
  EXPECT_EQ(
      readInts(DenseElementsAttr::get(
                   type(3, b.getIntegerType(4)),
                   ArrayRef<APInt>{APInt(4, 1), APInt(4, 15), APInt(4, 7)}),
               10),
      Ints({1, -1, 7}));
  EXPECT_EQ(readInts(DenseElementsAttr::get(type(3, b.getI1Type()),
                                            ArrayRef<bool>{true, false, true}),
                     10),
            Ints({1, 0, 1}));
  EXPECT_EQ(readInts(DenseElementsAttr::get(type(3, b.getI64Type()),
                                            ArrayRef<int64_t>(5)),
                     10),
            Ints({5, 5, 5}));
  EXPECT_EQ(
      readFloats(DenseElementsAttr::get(type(2, b.getF32Type()), 1.5f), 9),
      Floats({1.5, 1.5}));
  EXPECT_EQ(readFloats(DenseElementsAttr::get(type(2, b.getI64Type()),
                                              ArrayRef<int64_t>{-3, 4}),
                       9),
            Floats({-3, 4}));
}

TEST_F(ConstantValuesTest, LimitsAndKinds) {
  auto huge = RankedTensorType::get({INT64_MAX, INT64_MAX}, b.getI1Type());
  EXPECT_FALSE(readInts(DenseElementsAttr::get(huge, true), 10));
  EXPECT_FALSE(readInts(DenseElementsAttr::get(huge, true), INT64_MAX));
  auto empty = RankedTensorType::get({INT64_MAX, 0}, b.getI64Type());
  EXPECT_EQ(readInts(DenseElementsAttr::get(empty, ArrayRef<int64_t>()), 0),
            Ints());
  auto two = RankedTensorType::get({2}, b.getF32Type());
  EXPECT_FALSE(readInts(DenseElementsAttr::get(two, 1.0f), 10));
  auto wide = RankedTensorType::get({2}, b.getI64Type());
  EXPECT_TRUE(readInts(DenseElementsAttr::get(wide, ArrayRef<int64_t>(1)), 2));
  EXPECT_FALSE(readInts(DenseElementsAttr::get(wide, ArrayRef<int64_t>(1)), 1));
  EXPECT_FALSE(readInts({}, 1));
  EXPECT_FALSE(readFloats({}, 1));
  // 2^63 doesn't fit.
  std::vector<uint8_t> top = {0, 0, 0, 0, 0, 0, 0, 0x80};
  EXPECT_FALSE(readInts(blob(top, b.getIntegerType(64, false), 1), 1));
}

TEST_F(ConstantValuesTest, FormsOfConstant) {
  context.loadDialect<onnxquant::onnx::ONNXDialect>();
  auto make = [&](StringRef name, Attribute value) {
    OperationState state(b.getUnknownLoc(),
                         onnxquant::onnx::ConstantOp::getOperationName());
    state.addAttribute(name, value);
    state.addTypes(UnrankedTensorType::get(b.getI64Type()));
    return OwningOpRef<Operation *>(Operation::create(state));
  };
  auto get = [](OwningOpRef<Operation *> &op) {
    return onnxquant::onnx::getConstant(op->getResult(0));
  };
  auto number = make("value_int", b.getI64IntegerAttr(-4));
  EXPECT_EQ(readInts(get(number), 1), Ints({-4}));
  auto numbers = make("value_ints", b.getI64ArrayAttr({1, 2}));
  EXPECT_EQ(readInts(get(numbers), 2), Ints({1, 2}));
  auto real = make("value_float", b.getF32FloatAttr(0.25));
  EXPECT_EQ(readFloats(get(real), 1), Floats({0.25}));
  auto reals = make("value_floats", b.getF32ArrayAttr({0.5, 2}));
  EXPECT_EQ(readFloats(get(reals), 2), Floats({0.5, 2}));
  auto text = make("value_string", b.getStringAttr("text"));
  EXPECT_FALSE(get(text));
  EXPECT_FALSE(onnxquant::onnx::getConstant(Value()));
}
