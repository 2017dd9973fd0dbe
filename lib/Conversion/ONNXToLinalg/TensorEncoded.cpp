// Lowerings of ops on encoded data: TfIdfVectorizer counts n-grams, and
// ImageDecoder is refused.

#include "TensorSupport.h"
#include <map>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
using namespace onnxquant::lowering::tensors;

namespace {

/// The n-grams of one length, each with the column it is counted in.
struct Ngrams {
  int64_t length;
  SmallVector<int64_t> items, columns;
};

} // namespace

/// The n-grams of the pool by length. Of equal ones, the last counts.
static SmallVector<Ngrams> readPool(onnx::TfIdfVectorizerOp op) {
  SmallVector<int64_t> pool = onnx::shape::getInts(op.getPoolInt64s());
  SmallVector<int64_t> starts = onnx::shape::getInts(op.getNgramCounts());
  SmallVector<int64_t> columns = onnx::shape::getInts(op.getNgramIndexes());
  SmallVector<Ngrams> result;
  size_t number = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t length = i + 1;
    int64_t end = i + 1 < starts.size() ? starts[i + 1] : pool.size();
    int64_t count = (end - starts[i]) / length;
    std::map<std::vector<int64_t>, int64_t> unique;
    for (int64_t k = 0; k < count && number < columns.size(); ++k) {
      auto begin = pool.begin() + starts[i] + k * length;
      unique[std::vector<int64_t>(begin, begin + length)] = columns[number++];
    }
    if (length < static_cast<int64_t>(op.getMinGramLength()) ||
        length > static_cast<int64_t>(op.getMaxGramLength()) || unique.empty())
      continue;
    Ngrams ngrams = {length, {}, {}};
    for (auto &[items, column] : unique) {
      llvm::append_range(ngrams.items, items);
      ngrams.columns.push_back(column);
    }
    result.push_back(std::move(ngrams));
  }
  return result;
}

static Tensor constantInts(Emitter &e, ArrayRef<int64_t> values,
                           ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, e.getI64Type());
  return {arith::ConstantOp::create(e, DenseElementsAttr::get(type, values)),
          e.getI64Type()};
}

/// Adds up how often n-grams of one length occur in a row, with elements
/// `distance` apart.
static Value countNgrams(Emitter &e, const Ngrams &ngrams, Tensor rows,
                         Value row, Value distance, Value counts) {
  int64_t number = ngrams.columns.size();
  Tensor items = constantInts(e, ngrams.items, {number, ngrams.length});
  Tensor columns = constantInts(e, ngrams.columns, {number});
  Value extent = e.mulIndex(distance, e.index(ngrams.length - 1));
  Value places =
      e.maxIndex(e.subIndex(e.asValue(e.size(rows, 1)), extent), e.index(0));
  Type f32 = e.getF32Type();
  Sizes loops = {getAsOpFoldResult(places), e.getIndexAttr(number)};
  return e.forEach(loops, counts, [&](ArrayRef<Value> at, ValueRange current) {
    Value matches = truth(e, true);
    for (int64_t k = 0; k < ngrams.length; ++k) {
      Value position = e.addIndex(at[0], e.mulIndex(distance, e.index(k)));
      Scalar element = e.cast(e.read(rows, {row, position}), e.getI64Type());
      Scalar item = e.read(items, {at[1], e.index(k)});
      matches = both(e, matches, e.compare(Emitter::EQ, element, item));
    }
    Indices to = {row, e.readIndex(columns, at[1])};
    Tensor all = {current[0], f32};
    Scalar old = e.read(all, to);
    Scalar more = e.select(matches, e.number(1, f32), e.number(0, f32));
    return SmallVector<Value>{e.write(all, to, e.add(old, more)).value};
  })[0];
}

/// The weight of every column: that of the last n-gram that is counted there.
static Tensor columnWeights(Emitter &e, onnx::TfIdfVectorizerOp op,
                            OpFoldResult size) {
  Type f32 = e.getF32Type();
  Tensor weights = e.filled(size, e.number(1, f32));
  std::optional<ArrayAttr> given = op.getWeights();
  if (!given || given->empty())
    return weights;
  SmallVector<double> values;
  for (Attribute weight : *given)
    values.push_back(cast<FloatAttr>(weight).getValueAsDouble());
  int64_t count = values.size();
  SmallVector<int64_t> indexes = onnx::shape::getInts(op.getNgramIndexes());
  Tensor columns = constantInts(e, indexes, count);
  Tensor table = e.constantTensor(values, count, f32);
  return {e.forEach({e.getIndexAttr(count)}, weights.value,
                    [&](ArrayRef<Value> at, ValueRange current) {
                      Tensor written =
                          e.write({current[0], f32}, e.readIndex(columns, at),
                                  e.read(table, at));
                      return SmallVector<Value>{written.value};
                    })[0],
          f32};
}

namespace {

struct LowerTfIdfVectorizer : OpLowering<onnx::TfIdfVectorizerOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::TfIdfVectorizerOp op, Operands operands,
                Emitter &e) const override {
    Tensor rows = operands[0];
    bool isVector = rows.rank() == 1;
    if (isVector)
      rows = e.reshape(rows, {e.getIndexAttr(1), e.size(rows, 0)});
    int64_t size =
        *llvm::max_element(onnx::shape::getInts(op.getNgramIndexes())) + 1;
    Type f32 = e.getF32Type();
    Sizes sizes = {e.size(rows, 0), e.getIndexAttr(size)};
    Value counts = e.filled(sizes, e.number(0, f32)).value;
    // Beyond a row's size no two elements are so far apart.
    Value distances = e.minIndex(
        e.asValue(e.size(rows, 1)),
        e.index(std::min<int64_t>(op.getMaxSkipCount(), INT32_MAX) + 1));
    for (const Ngrams &ngrams : readPool(op)) {
      // Single elements have no distance.
      Value last = ngrams.length == 1 ? e.index(1) : distances;
      Sizes loops = {sizes[0], getAsOpFoldResult(last)};
      counts =
          e.forEach(loops, counts, [&](ArrayRef<Value> at, ValueRange current) {
            Value distance = e.addIndex(at[1], e.index(1));
            return SmallVector<Value>{
                countNgrams(e, ngrams, rows, at[0], distance, current[0])};
          })[0];
    }
    Tensor result = {counts, f32};
    if (op.getMode() != "TF") {
      bool counted = op.getMode() == "TFIDF";
      result = e.map({result, columnWeights(e, op, sizes[1])}, sizes, f32,
                     [&](ArrayRef<Scalar> x) {
                       if (counted)
                         return e.mul(x[0], x[1]);
                       Scalar zero = e.number(0, f32);
                       return e.select(e.compare(Emitter::GT, x[0], zero), x[1],
                                       zero);
                     });
    }
    if (isVector)
      result = e.reshape(result, sizes[1]);
    return SmallVector<Value>{result.value};
  }
};

struct LowerImageDecoder : OpLowering<onnx::ImageDecoderOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ImageDecoderOp op, Operands, Emitter &) const override {
    return refuse(op, "image files are to be decoded before they enter the "
                      "model");
  }
};

} // namespace

void tensors::addTensorEncodedLowerings(RewritePatternSet &patterns,
                                        const StorageTypeConverter &types) {
  patterns.add<LowerTfIdfVectorizer, LowerImageDecoder>(types,
                                                        patterns.getContext());
}
