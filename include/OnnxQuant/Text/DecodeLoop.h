// Autoregressive decoding: a model that gets tokens and what it kept of earlier
// ones (its KV cache), and gives scores for the next token.

#ifndef ONNXQUANT_TEXT_DECODELOOP_H
#define ONNXQUANT_TEXT_DECODELOOP_H

#include "OnnxQuant/Support/HostTensor.h"
#include <functional>
#include <optional>
#include <random>

namespace onnxquant {

/// An input or output of a model; -1 for dynamic dimensions.
struct DecoderTensor {
  std::string name;
  int32_t type = 0;
  std::vector<int64_t> dims;
};

/// What the inputs and outputs of a decoder are for, by the names that exports
/// give them:
///
///     input_ids                          the tokens (batch, sequence)
///     attention_mask                     ones, for all tokens so far
///     position_ids                       0, 1, 2, ...
///     past_key_values.N.key, past_N, ... the KV cache that goes in
///     present.N.key, present_N, ...      and that comes out
///     use_cache_branch                   whether there is a cache
///     logits                             scores (batch, sequence, vocabulary)
struct DecoderSignature {
  static llvm::Expected<DecoderSignature>
  match(std::vector<DecoderTensor> inputs, std::vector<DecoderTensor> outputs,
        llvm::ArrayRef<HostTensor> given);

  enum class Role { Tokens, Mask, Positions, Past, HasCache, Given };
  std::vector<DecoderTensor> inputs;
  /// Of each input.
  std::vector<Role> roles;
  /// Of each input that is a past: the output that follows it.
  std::vector<size_t> presents;
  size_t logits = 0;

  bool hasCache() const;
  const DecoderTensor &tokens() const;
  /// Shapes as `NAME=1x?`: a batch of one, and `tokens` at a time if that is
  /// above zero.
  std::vector<std::string> shapes(int64_t tokens) const;
};

/// The state of one text.
class DecodeLoop {
public:
  /// Runs the model: inputs in its order, outputs in its order.
  using Run = std::function<llvm::Expected<std::vector<HostTensor>>(
      const std::vector<HostTensor> &)>;

  DecodeLoop(DecoderSignature signature, std::vector<HostTensor> given);

  /// Gives the model further tokens; returns the scores of the next one.
  /// Without a KV cache, all tokens so far are given again.
  llvm::Expected<std::vector<float>> step(llvm::ArrayRef<int64_t> tokens,
                                          const Run &run);
  int64_t length() const { return text.size(); }

private:
  void fill(llvm::ArrayRef<int64_t> tokens);

  DecoderSignature signature;
  std::vector<HostTensor> inputs;
  std::vector<int64_t> text;
};

/// Chooses tokens by their scores.
class Sampler {
public:
  /// The `topK` best, by their probabilities at a temperature; 1 is greedy.
  Sampler(int64_t topK, double temperature, uint64_t seed)
      : topK(topK), temperature(temperature), random(seed) {}
  int64_t choose(llvm::ArrayRef<float> scores);

private:
  int64_t topK;
  double temperature;
  std::mt19937_64 random;
};

} // namespace onnxquant

#endif // ONNXQUANT_TEXT_DECODELOOP_H
