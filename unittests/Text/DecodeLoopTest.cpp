// Decoding token by token.

#include "OnnxQuant/Text/DecodeLoop.h"
#include "onnxquant-c/model.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace onnxquant;

static std::vector<DecoderTensor> inputsWithCache() {
  return {{"input_ids", ONNXQ_INT64, {-1, -1}},
          {"attention_mask", ONNXQ_INT64, {-1, -1}},
          {"position_ids", ONNXQ_INT32, {-1, -1}},
          {"past_key_values.0.key", ONNXQ_FLOAT, {-1, 2, -1, 4}}};
}

static std::vector<DecoderTensor> outputsWithCache() {
  return {{"present.0.key", ONNXQ_FLOAT, {-1, 2, -1, 4}},
          {"logits", ONNXQ_FLOAT, {-1, -1, 8}}};
}

static DecoderSignature signatureWithCache() {
  return llvm::cantFail(
      DecoderSignature::match(inputsWithCache(), outputsWithCache(), {}));
}

TEST(DecodeLoop, FindsWhatInputsAreFor) {
  using Role = DecoderSignature::Role;
  DecoderSignature signature = signatureWithCache();
  EXPECT_EQ(signature.roles, (std::vector<Role>{Role::Tokens, Role::Mask,
                                                Role::Positions, Role::Past}));
  EXPECT_EQ(signature.logits, 1u);
  EXPECT_EQ(signature.presents[3], 0u);
  EXPECT_EQ(signature.shapes(1),
            (std::vector<std::string>{"input_ids=1x1", "attention_mask=1x?",
                                      "position_ids=1x1",
                                      "past_key_values.0.key=1x2x?x4"}));
}

TEST(DecodeLoop, RefusesOtherModels) {
  auto refusal = [](std::vector<DecoderTensor> inputs,
                    std::vector<DecoderTensor> outputs) {
    auto matched = DecoderSignature::match(inputs, outputs, {});
    return matched ? "" : llvm::toString(matched.takeError());
  };
  EXPECT_EQ(refusal({{"x", ONNXQ_FLOAT, {1}}}, {{"y", ONNXQ_FLOAT, {1}}}),
            "expects a decoder with an input 'input_ids' and an output "
            "'logits', but got the inputs 'x' and the outputs 'y'");
  auto more = inputsWithCache();
  more.push_back({"encoder_hidden_states", ONNXQ_FLOAT, {1, -1, 8}});
  EXPECT_EQ(refusal(more, outputsWithCache()),
            "input 'encoder_hidden_states' is none of a decoder's; give it by "
            "--input encoder_hidden_states=FILE");
  EXPECT_EQ(refusal(inputsWithCache(), {{"logits", ONNXQ_FLOAT, {-1, -1, 8}}}),
            "no output holds what the input 'past_key_values.0.key' needs "
            "next; outputs are 'logits'");
}

/// A model whose next token is the sum of all so far, modulo 8. Its cache
/// holds the sum.
static llvm::Expected<std::vector<HostTensor>>
addUp(const std::vector<HostTensor> &inputs) {
  const HostTensor &ids = inputs[0], &past = inputs[3];
  int64_t count = ids.dims[1], before = past.dims[2];
  EXPECT_EQ(inputs[1].dims[1], before + count);
  EXPECT_EQ(inputs[2].at(0), before);
  double sum = before ? past.at(0) : 0;
  HostTensor logits{"logits", ONNXQ_FLOAT, {1, count, 8}, {}};
  std::vector<float> scores(count * 8);
  for (int64_t i = 0; i < count; ++i) {
    sum += ids.at(i);
    scores[i * 8 + int64_t(sum) % 8] = 1;
  }
  logits.data.resize(scores.size() * 4);
  std::memcpy(logits.data.data(), scores.data(), logits.data.size());
  HostTensor present{
      "present.0.key", ONNXQ_FLOAT, {1, 2, before + count, 4}, {}};
  std::vector<float> state(present.numElements(), float(sum));
  present.data.resize(state.size() * 4);
  std::memcpy(present.data.data(), state.data(), present.data.size());
  return std::vector<HostTensor>{present, logits};
}

TEST(DecodeLoop, CarriesTheCache) {
  DecodeLoop loop(signatureWithCache(), {});
  Sampler greedy(1, 1, 0);
  auto scores = loop.step({1, 2, 3}, addUp);
  ASSERT_TRUE(bool(scores));
  EXPECT_EQ(greedy.choose(*scores), 6);
  scores = loop.step({6}, addUp);
  ASSERT_TRUE(bool(scores));
  EXPECT_EQ(greedy.choose(*scores), 4);
  EXPECT_EQ(loop.length(), 4);
}

TEST(DecodeLoop, WithoutACacheAllTokensAreGivenAgain) {
  auto signature = llvm::cantFail(
      DecoderSignature::match({{"input_ids", ONNXQ_INT64, {1, -1}}},
                              {{"logits", ONNXQ_FLOAT, {1, -1, 2}}}, {}));
  DecodeLoop loop(signature, {});
  std::vector<int64_t> counts;
  auto run = [&](const std::vector<HostTensor> &inputs)
      -> llvm::Expected<std::vector<HostTensor>> {
    counts.push_back(inputs[0].dims[1]);
    return std::vector<HostTensor>{
        {"logits", ONNXQ_FLOAT, {1, 1, 2}, std::vector<char>(8)}};
  };
  llvm::cantFail(loop.step({1, 2}, run));
  llvm::cantFail(loop.step({3}, run));
  EXPECT_EQ(counts, (std::vector<int64_t>{2, 3}));
}

TEST(Sampler, TakesTheFirstOfEqualsAndNeverNaN) {
  Sampler greedy(1, 1, 0);
  EXPECT_EQ(greedy.choose({0, 3, 3}), 1);
  EXPECT_EQ(greedy.choose({NAN, 1, NAN}), 1);
}

TEST(Sampler, ChoosesAmongTheBestByTheirChances) {
  Sampler sampler(2, 1, 7), again(2, 1, 7);
  std::vector<float> scores = {0, std::log(3.0f), 5, -1};
  scores[2] = std::log(9.0f);
  int counts[4] = {};
  for (int i = 0; i < 4000; ++i) {
    int64_t token = sampler.choose(scores);
    EXPECT_EQ(token, again.choose(scores));
    ++counts[token];
  }
  EXPECT_EQ(counts[0] + counts[3], 0);
  EXPECT_NEAR(counts[2], 3000, 120);
}
