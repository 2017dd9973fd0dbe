// Runs of compiled models that use the memory of earlier outputs.

#include "OnnxQuant/Pipelines/Session.h"
#include "onnxquant-c/model.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <cstring>

using namespace onnxquant;

/// Output 0 is the input's first two elements, output 1 all but the first.
static int32_t runFake(const onnxq_buffer *inputs, onnxq_buffer *outputs,
                       void *, const char **error) {
  const auto *n = static_cast<const int64_t *>(inputs[0].data);
  int64_t count = inputs[0].dims[0];
  if (n[0] < 0) {
    *error = "a negative element";
    return ONNXQ_RUN_FAILED;
  }
  size_t rest = (count - 1) * sizeof(int64_t);
  std::memcpy(outputs[0].data, n, 2 * sizeof(int64_t));
  if (!outputs[1].data)
    outputs[1].data = std::malloc(rest + 1);
  std::memcpy(outputs[1].data, n + 1, rest);
  outputs[1].dims[0] = count - 1;
  return ONNXQ_OK;
}

static const int64_t pairDims[] = {2}, openDims[] = {-1};
static const onnxq_tensor_info fakeInput = {"n", ONNXQ_INT64, 1, openDims};
static const onnxq_tensor_info fakeOutputs[] = {
    {"pair", ONNXQ_INT64, 1, pairDims}, {"rest", ONNXQ_INT64, 1, openDims}};
static const onnxq_model fake = {
    ONNXQ_ABI_VERSION, 1, 2, 0, "fake", &fakeInput, fakeOutputs, 64, runFake};

static std::vector<HostTensor> inputOf(llvm::ArrayRef<int64_t> values) {
  HostTensor tensor;
  tensor.type = ONNXQ_INT64;
  tensor.dims = {static_cast<int64_t>(values.size())};
  tensor.data.resize(values.size() * sizeof(int64_t));
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return {tensor};
}

static std::vector<int64_t> valuesOf(const HostTensor &tensor) {
  std::vector<int64_t> values(tensor.data.size() / sizeof(int64_t));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

TEST(Session, UsesTheMemoryOfEarlierOutputs) {
  auto first = runModel(fake, inputOf({1, 2, 3}));
  ASSERT_TRUE(static_cast<bool>(first));
  EXPECT_EQ(valuesOf((*first)[0]), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(valuesOf((*first)[1]), (std::vector<int64_t>{2, 3}));
  const char *memory = (*first)[0].data.data();
  // An open output may be larger or smaller than before.
  auto second =
      runModel(fake, inputOf({4, 5, 6, 7, 8}), nullptr, std::move(*first));
  ASSERT_TRUE(static_cast<bool>(second));
  EXPECT_EQ((*second)[0].data.data(), memory);
  EXPECT_EQ(valuesOf((*second)[0]), (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(valuesOf((*second)[1]), (std::vector<int64_t>{5, 6, 7, 8}));
  auto third = runModel(fake, inputOf({9, 1}), nullptr, std::move(*second));
  ASSERT_TRUE(static_cast<bool>(third));
  EXPECT_EQ(valuesOf((*third)[0]), (std::vector<int64_t>{9, 1}));
  EXPECT_EQ(valuesOf((*third)[1]), (std::vector<int64_t>{1}));
  EXPECT_EQ((*third)[1].dims, (std::vector<int64_t>{1}));
}

TEST(Session, FailsWithEarlierOutputs) {
  auto first = runModel(fake, inputOf({1, 2}));
  ASSERT_TRUE(static_cast<bool>(first));
  auto second = runModel(fake, inputOf({-1, 2}), nullptr, std::move(*first));
  ASSERT_FALSE(static_cast<bool>(second));
  EXPECT_EQ(llvm::toString(second.takeError()), "a negative element");
}
