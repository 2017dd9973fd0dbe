// Data type numbers against the format's own list.

#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace onnxquant::onnx;

/// The format's numbers in order, each with the type's text; strings have none.
static constexpr const char *texts[] = {
    nullptr,        "f32",  "ui8",      "i8",         "ui16",
    "i16",          "i32",  "i64",      nullptr,      "i1",
    "f16",          "f64",  "ui32",     "ui64",       "complex<f32>",
    "complex<f64>", "bf16", "f8E4M3FN", "f8E4M3FNUZ", "f8E5M2",
    "f8E5M2FNUZ",   "ui4",  "i4",       "f4E2M1FN",   "f8E8M0FNU"};

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  type.print(os);
  return text;
}

TEST(ElementTypesTest, FollowTheFormat) {
  MLIRContext context;
  for (auto [number, text] : llvm::enumerate(texts)) {
    Type type = elementTypeFromOnnx(number, &context);
    if (!text) {
      EXPECT_FALSE(type) << number;
      continue;
    }
    ASSERT_TRUE(type) << number;
    EXPECT_EQ(textOf(type), text);
    EXPECT_EQ(onnxFromElementType(type), static_cast<int64_t>(number));
  }
}

TEST(ElementTypesTest, UnknownNumbers) {
  MLIRContext context;
  for (int64_t number :
       {int64_t(-1), int64_t(25), int64_t(1) << 32 | 1, INT64_MAX, INT64_MIN})
    EXPECT_FALSE(elementTypeFromOnnx(number, &context)) << number;
}

TEST(ElementTypesTest, TypesWithoutANumber) {
  MLIRContext context;
  EXPECT_FALSE(onnxFromElementType(Type()));
  for (Type type :
       {Type(IndexType::get(&context)), Type(IntegerType::get(&context, 2)),
        Type(IntegerType::get(&context, 8, IntegerType::Signed)),
        Type(IntegerType::get(&context, 128)),
        Type(Float128Type::get(&context)), Type(NoneType::get(&context)),
        Type(RankedTensorType::get({}, Float32Type::get(&context)))})
    EXPECT_FALSE(onnxFromElementType(type)) << textOf(type);
}
