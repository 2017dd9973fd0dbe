// Runs a decoder token by token.

#include "OnnxQuant/Text/DecodeLoop.h"
#include "onnxquant-c/model.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace onnxquant;
using Role = DecoderSignature::Role;

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

static std::optional<size_t> findTensor(llvm::ArrayRef<DecoderTensor> tensors,
                                        llvm::StringRef name) {
  const auto *found = llvm::find_if(tensors, [&](const DecoderTensor &tensor) {
    return tensor.name == name;
  });
  if (found == tensors.end())
    return std::nullopt;
  return found - tensors.begin();
}

/// The output that holds the cache of the next step: `past_key_values` becomes
/// `present` or `present_key_values`, `past` becomes `present`.
static std::optional<size_t> findPresent(llvm::ArrayRef<DecoderTensor> outputs,
                                         llvm::StringRef past) {
  for (llvm::StringRef prefix : {"past_key_values", "past"}) {
    llvm::StringRef rest = past;
    if (!rest.consume_front(prefix))
      continue;
    for (llvm::StringRef name : {"present", "present_key_values"})
      if (auto index = findTensor(outputs, (name + rest).str()))
        return index;
  }
  return std::nullopt;
}

static std::string namesOf(llvm::ArrayRef<DecoderTensor> tensors) {
  return llvm::join(llvm::map_range(tensors,
                                    [](const DecoderTensor &tensor) {
                                      return "'" + tensor.name + "'";
                                    }),
                    ", ");
}

static std::optional<Role> roleOf(llvm::StringRef name) {
  if (name == "input_ids")
    return Role::Tokens;
  if (name == "attention_mask")
    return Role::Mask;
  if (name == "position_ids")
    return Role::Positions;
  if (name == "use_cache_branch")
    return Role::HasCache;
  if (name.starts_with("past"))
    return Role::Past;
  return std::nullopt;
}

/// What the loop writes into an input has to be of a type that it can write.
static llvm::Error checkType(const DecoderTensor &tensor, Role role) {
  bool isInteger = tensor.type == ONNXQ_INT64 || tensor.type == ONNXQ_INT32;
  bool fits = role == Role::HasCache ? tensor.type == ONNXQ_BOOL
              : role == Role::Mask ? isInteger || tensor.type == ONNXQ_FLOAT ||
                                         tensor.type == ONNXQ_BOOL
              : role == Role::Past ? true
                                   : isInteger;
  if (fits)
    return llvm::Error::success();
  return llvm::createStringError("input '" + tensor.name + "' has the type " +
                                 typeName(tensor.type) +
                                 ", which no decoder has there");
}

llvm::Expected<DecoderSignature>
DecoderSignature::match(std::vector<DecoderTensor> inputs,
                        std::vector<DecoderTensor> outputs,
                        llvm::ArrayRef<HostTensor> given) {
  DecoderSignature signature;
  auto logits = findTensor(outputs, "logits");
  if (!findTensor(inputs, "input_ids") || !logits)
    return llvm::createStringError(
        "expects a decoder with an input 'input_ids' and an output 'logits', "
        "but got the inputs " +
        namesOf(inputs) + " and the outputs " + namesOf(outputs));
  signature.logits = *logits;
  for (const DecoderTensor &input : inputs) {
    bool isGiven = llvm::any_of(given, [&](const HostTensor &tensor) {
      return tensor.name == input.name;
    });
    std::optional<Role> role = roleOf(input.name);
    if (isGiven && role != Role::Tokens)
      role = Role::Given;
    if (!role)
      return llvm::createStringError("input '" + input.name +
                                     "' is none of a decoder's; give it by "
                                     "--input " +
                                     input.name + "=FILE");
    if (llvm::Error error = checkType(input, *role))
      return error;
    size_t present = 0;
    if (role == Role::Past) {
      auto index = findPresent(outputs, input.name);
      if (!index)
        return llvm::createStringError(
            "no output holds what the input '" + input.name +
            "' needs next; outputs are " + namesOf(outputs));
      present = *index;
    }
    signature.roles.push_back(*role);
    signature.presents.push_back(present);
  }
  signature.inputs = std::move(inputs);
  return signature;
}

bool DecoderSignature::hasCache() const {
  return llvm::is_contained(roles, Role::Past);
}

const DecoderTensor &DecoderSignature::tokens() const {
  return inputs[llvm::find(roles, Role::Tokens) - roles.begin()];
}

std::vector<std::string> DecoderSignature::shapes(int64_t tokens) const {
  std::vector<std::string> shapes;
  for (auto [input, role] : llvm::zip(inputs, roles)) {
    if (role == Role::Given || input.dims.empty())
      continue;
    std::vector<int64_t> dims = input.dims;
    if (dims[0] < 0)
      dims[0] = 1;
    bool isPerToken = role == Role::Tokens || role == Role::Positions;
    if (isPerToken && tokens > 0 && dims.size() == 2 && dims[1] < 0)
      dims[1] = tokens;
    shapes.push_back(
        input.name + "=" +
        llvm::join(llvm::map_range(dims,
                                   [](int64_t dim) {
                                     return dim < 0 ? std::string("?")
                                                    : std::to_string(dim);
                                   }),
                   "x"));
  }
  return shapes;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Makes a tensor of integers, in the type that the model has for it.
static void setNumbers(HostTensor &tensor, llvm::ArrayRef<int64_t> values) {
  tensor.dims = {1, int64_t(values.size())};
  unsigned bytes = elementBytes(tensor.type);
  tensor.data.resize(values.size() * bytes);
  for (auto [index, value] : llvm::enumerate(values)) {
    char *at = tensor.data.data() + index * bytes;
    if (tensor.type == ONNXQ_FLOAT) {
      float number = value;
      std::memcpy(at, &number, bytes);
    } else {
      // Little endian: the low bytes come first.
      std::memcpy(at, &value, bytes);
    }
  }
}

DecodeLoop::DecodeLoop(DecoderSignature matched, std::vector<HostTensor> given)
    : signature(std::move(matched)) {
  for (auto [index, role] : llvm::enumerate(signature.roles)) {
    const DecoderTensor &spec = signature.inputs[index];
    HostTensor tensor;
    if (role == Role::Given)
      tensor = *llvm::find_if(given, [&](const HostTensor &other) {
        return other.name == spec.name;
      });
    tensor.name = spec.name;
    tensor.type = spec.type;
    if (role == Role::Past) {
      // A batch of one, and nothing kept yet.
      tensor.dims = spec.dims;
      for (auto [axis, dim] : llvm::enumerate(tensor.dims))
        if (dim < 0)
          dim = axis == 0 ? 1 : 0;
      tensor.data.resize(tensor.numElements() * elementBytes(spec.type));
    }
    inputs.push_back(std::move(tensor));
  }
}

/// Fills all inputs but the cache for the last `tokens` of the text.
void DecodeLoop::fill(llvm::ArrayRef<int64_t> tokens) {
  int64_t before = text.size() - tokens.size();
  for (auto [tensor, role] : llvm::zip(inputs, signature.roles)) {
    switch (role) {
    case Role::Tokens:
      setNumbers(tensor, tokens);
      break;
    case Role::Mask:
      setNumbers(tensor, std::vector<int64_t>(text.size(), 1));
      break;
    case Role::Positions: {
      std::vector<int64_t> positions(tokens.size());
      std::iota(positions.begin(), positions.end(), before);
      setNumbers(tensor, positions);
      break;
    }
    case Role::HasCache:
      tensor.dims = {1};
      tensor.data.assign(1, before > 0);
      break;
    case Role::Past:
    case Role::Given:
      break;
    }
  }
}

/// The scores behind the last token.
static llvm::Expected<std::vector<float>> lastScores(const HostTensor &logits) {
  if (logits.dims.size() < 2 || logits.dims.back() < 1 ||
      logits.numElements() < logits.dims.back())
    return llvm::createStringError(
        "output 'logits' expects (batch, sequence, vocabulary), but got " +
        shapeText(logits.dims));
  int64_t count = logits.dims.back(), begin = logits.numElements() - count;
  std::vector<float> scores(count);
  for (int64_t i = 0; i < count; ++i)
    scores[i] = logits.at(begin + i);
  return scores;
}

llvm::Expected<std::vector<float>>
DecodeLoop::step(llvm::ArrayRef<int64_t> tokens, const Run &run) {
  llvm::append_range(text, tokens);
  fill(signature.hasCache() ? tokens : llvm::ArrayRef<int64_t>(text));
  auto outputs = run(inputs);
  if (!outputs)
    return outputs.takeError();
  auto scores = lastScores((*outputs)[signature.logits]);
  if (!scores)
    return scores.takeError();
  for (auto [index, role] : llvm::enumerate(signature.roles)) {
    if (role != Role::Past)
      continue;
    HostTensor &present = (*outputs)[signature.presents[index]];
    // What an encoder gave is kept: with a cache, models give nothing for it.
    if (present.numElements() == 0 && inputs[index].numElements() > 0)
      continue;
    inputs[index].dims = std::move(present.dims);
    inputs[index].data = std::move(present.data);
  }
  return scores;
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

int64_t Sampler::choose(llvm::ArrayRef<float> scores) {
  auto isBetter = [&](int64_t a, int64_t b) {
    // NaN is never better; of equals, the first.
    if (std::isnan(scores[a]) || std::isnan(scores[b]))
      return !std::isnan(scores[a]) && std::isnan(scores[b]);
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  };
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  size_t kept = std::min<size_t>(topK, order.size());
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), isBetter);
  if (kept == 1 || temperature <= 0)
    return order[0];
  std::vector<double> weights;
  double sum = 0;
  for (size_t i = 0; i < kept; ++i) {
    double weight =
        std::exp((double(scores[order[i]]) - scores[order[0]]) / temperature);
    sum += std::isnan(weight) ? 0 : weight;
    weights.push_back(sum);
  }
  // 53 bits of the generator, so that every library gives the same.
  double point = double(random() >> 11) * 0x1p-53 * sum;
  size_t chosen =
      std::upper_bound(weights.begin(), weights.end(), point) - weights.begin();
  return order[std::min(chosen, kept - 1)];
}
