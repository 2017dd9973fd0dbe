// What shape inference knows of values, and how it joins with their types.

#include "OnnxQuant/Dialect/ONNX/ShapeContext.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace onnxquant::onnx;

namespace {
class ShapeContextTest : public testing::Test {
protected:
  ShapeContextTest() : b(&context) {
    context.loadDialect<ONNXDialect>();
    block = std::make_unique<Block>();
    b.setInsertionPointToEnd(block.get());
    handler = std::make_unique<ScopedDiagnosticHandler>(
        &context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            error = diagnostic.str();
          return success();
        });
  }

  /// The result of an op, of the given type.
  OpResult make(Type type) {
    Value input = block->addArgument(UnrankedTensorType::get(b.getF32Type()),
                                     b.getUnknownLoc());
    OperationState state(b.getUnknownLoc(), "onnx.Relu");
    state.addOperands(input);
    state.addTypes(type);
    return b.create(state)->getResult(0);
  }
  OpResult make(ArrayRef<int64_t> shape) {
    return make(RankedTensorType::get(shape, b.getF32Type()));
  }
  static std::string paramsOf(OpResult result) {
    auto texts = result.getOwner()->getAttrOfType<ArrayAttr>(dimParamsAttr);
    return texts ? cast<StringAttr>(texts[0]).str() : "";
  }

  static constexpr int64_t open = ShapedType::kDynamic;
  MLIRContext context;
  OpBuilder b;
  std::unique_ptr<Block> block;
  std::unique_ptr<ScopedDiagnosticHandler> handler;
  std::string error;
  ShapeContext shapes;
};
} // namespace

TEST_F(ShapeContextTest, UnknownTypesAreFilled) {
  OpResult result = make(UnrankedTensorType::get(UnknownType::get(&context)));
  EXPECT_FALSE(shapes.getDims(result));
  EXPECT_TRUE(succeeded(
      shapes.set(result, b.getF32Type(), Dims{Dim::symbol("n"), Dim(3)})));
  EXPECT_EQ(result.getType(), RankedTensorType::get({open, 3}, b.getF32Type()));
  EXPECT_EQ(paramsOf(result), "0:n");
  EXPECT_EQ(shapes.getRank(result), 2);
  EXPECT_EQ((*shapes.getDims(result))[0], Dim::symbol("n"));
}

TEST_F(ShapeContextTest, StaticTypesWin) {
  OpResult result = make({4, open});
  EXPECT_TRUE(succeeded(shapes.set(result, b.getF32Type(),
                                   Dims{Dim::symbol("n"), Dim::symbol("m")})));
  EXPECT_EQ(result.getType(), RankedTensorType::get({4, open}, b.getF32Type()));
  EXPECT_EQ(paramsOf(result), "1:m");
  EXPECT_TRUE((*shapes.getDims(result))[0].isConstant(4));
}

TEST_F(ShapeContextTest, ContradictionsAreErrors) {
  OpResult result = make({4, open});
  EXPECT_TRUE(failed(shapes.set(result, b.getF32Type(), Dims{Dim(5), Dim(1)})));
  EXPECT_NE(error.find("5"), std::string::npos) << error;
  EXPECT_TRUE(failed(shapes.set(result, b.getF32Type(), Dims{Dim(4)})));
  EXPECT_NE(error.find("rank 1"), std::string::npos) << error;
  EXPECT_TRUE(failed(shapes.set(result, b.getI64Type(), Dims{Dim(4), Dim(1)})));
  EXPECT_NE(error.find("i64"), std::string::npos) << error;
  EXPECT_TRUE(
      failed(shapes.set(result, b.getF32Type(), Dims{Dim(4), Dim(-2)})));
  EXPECT_TRUE(failed(shapes.set(result, b.getF32Type(),
                                Dims{Dim(4), Dim(INT64_MAX) + Dim(1)})));
  EXPECT_NE(error.find("64 bits"), std::string::npos) << error;
  // Nothing of it stays.
  EXPECT_EQ(result.getType(), RankedTensorType::get({4, open}, b.getF32Type()));
}

TEST_F(ShapeContextTest, WhatIsTooLongIsOpen) {
  OpResult result = make({open});
  EXPECT_TRUE(
      succeeded(shapes.set(result, b.getF32Type(), Dims{Dim::invalid(false)})));
  EXPECT_EQ(result.getType(), RankedTensorType::get({open}, b.getF32Type()));
  EXPECT_EQ(paramsOf(result), "");
  EXPECT_TRUE((*shapes.getDims(result))[0].isAnonymous());
}

TEST_F(ShapeContextTest, ElementTypeAlone) {
  OpResult ranked =
      make(RankedTensorType::get({2}, UnknownType::get(&context)));
  EXPECT_TRUE(succeeded(shapes.set(ranked, b.getI8Type())));
  EXPECT_EQ(ranked.getType(), RankedTensorType::get({2}, b.getI8Type()));
  OpResult unranked = make(UnrankedTensorType::get(UnknownType::get(&context)));
  EXPECT_TRUE(succeeded(shapes.set(unranked, b.getI8Type())));
  EXPECT_EQ(unranked.getType(), UnrankedTensorType::get(b.getI8Type()));
  OpResult left = make(NoneType::get(&context));
  EXPECT_TRUE(succeeded(shapes.set(left, b.getI8Type(), Dims{Dim(1)})));
  EXPECT_TRUE(isa<NoneType>(left.getType()));
}

TEST_F(ShapeContextTest, OpenDimensionsDiffer) {
  OpResult first = make({open, open}), second = make({open});
  Dims dims = *shapes.getDims(first);
  EXPECT_NE(dims[0], dims[1]);
  EXPECT_NE(dims[0], (*shapes.getDims(second))[0]);
  EXPECT_EQ(dims[0], (*shapes.getDims(first))[0]);
  EXPECT_NE(shapes.unknown(), shapes.unknown());
}

TEST_F(ShapeContextTest, ParamsOfTheOpAreRead) {
  OpResult result = make({open, 3, open});
  result.getOwner()->setAttr(dimParamsAttr,
                             b.getStrArrayAttr({"0:n,1:m,2:max(a,b)+1"}));
  Dims dims = *shapes.getDims(result);
  EXPECT_EQ(dims[0], Dim::symbol("n"));
  EXPECT_EQ(dims[1], Dim(3));
  EXPECT_EQ(dims[2], Dim::max(Dim::symbol("a"), Dim::symbol("b")) + Dim(1));
}

TEST_F(ShapeContextTest, Contents) {
  OpResult shape = make(RankedTensorType::get({2}, b.getI64Type()));
  Dims unknown = *shapes.getContents(shape);
  EXPECT_EQ(unknown.size(), 2u);
  EXPECT_NE(unknown[0], unknown[1]);
  EXPECT_FALSE(shapes.getConstants(shape));
  shapes.setContents(shape, {Dim(3), Dim::symbol("n")});
  EXPECT_EQ((*shapes.getContents(shape))[1], Dim::symbol("n"));
  EXPECT_FALSE(shapes.getConstants(shape));
  shapes.setContents(shape, {Dim(3), Dim(4)});
  EXPECT_EQ(shapes.getConstants(shape), SmallVector<int64_t>({3, 4}));
  EXPECT_FALSE(shapes.getConstant(shape));
  // Another number of elements than the type's is no statement about it.
  shapes.setContents(shape, {Dim(1)});
  EXPECT_EQ(shapes.getConstants(shape), SmallVector<int64_t>({3, 4}));
  shapes.setContents(shape, {Dim(1), Dim::invalid(true)});
  EXPECT_TRUE((*shapes.getContents(shape))[1].isValid());

  OpResult scalar = make(RankedTensorType::get({}, b.getI64Type()));
  shapes.setContents(scalar, {Dim(9)});
  EXPECT_EQ(shapes.getConstant(scalar), 9);
  shapes.forget(scalar);
  EXPECT_FALSE(shapes.getConstant(scalar));
}

TEST_F(ShapeContextTest, ContentsThatAreNotFollowed) {
  EXPECT_FALSE(shapes.getContents(make({2})));
  EXPECT_FALSE(
      shapes.getContents(make(RankedTensorType::get({2, 2}, b.getI64Type()))));
  EXPECT_FALSE(
      shapes.getContents(make(RankedTensorType::get({open}, b.getI64Type()))));
  EXPECT_FALSE(shapes.getContents(make(
      RankedTensorType::get({ShapeContext::maxContents + 1}, b.getI64Type()))));
  EXPECT_FALSE(
      shapes.getContents(make(UnrankedTensorType::get(b.getI64Type()))));
}

TEST(DimParamsTest, RoundTrip) {
  Dims dims = {Dim::symbol("batch"), Dim(3), Dim::symbol("?1"),
               Dim::max(Dim::symbol("a"), Dim::symbol("b")),
               Dim(2) * Dim::symbol("width") + Dim(1)};
  std::string text = formatDimParams(dims);
  EXPECT_EQ(text, "0:batch,3:max(a,b),4:2*width+1");
  Dims read = {Dim::invalid(false), Dim(3), Dim::invalid(false),
               Dim::invalid(false), Dim::invalid(false)};
  applyDimParams(text, read);
  EXPECT_EQ(read[0], dims[0]);
  EXPECT_EQ(read[3], dims[3]);
  EXPECT_EQ(read[4], dims[4]);
  EXPECT_FALSE(read[2].isValid());
}

TEST(DimParamsTest, HostileTexts) {
  for (const char *text :
       {"", ",", ":", "0:", "0", "5:n", "-1:n", "0:(((", "99999999999:n",
        "0:a,0:b", ")))),0:a", "1:n", "0:n:m", "x:n"}) {
    Dims dims = {Dim::invalid(false), Dim(7)};
    applyDimParams(text, dims);
    EXPECT_EQ(dims.size(), 2u);
    EXPECT_EQ(dims[1], Dim(7)) << text;
  }
}
