// Mutants at the level of bytes, and the choice between the levels.

#include "ModelMutator.h"
#include <algorithm>
#include <google/protobuf/stubs/logging.h>

using namespace onnxquant::fuzz;

uint64_t Random::next() {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Part of a text, wherever and however long.
static std::string slice(const std::string &text, Random &random) {
  if (text.empty())
    return "";
  size_t begin = random.below(text.size());
  return text.substr(begin, 1 + random.below(text.size() - begin));
}

static void mutateOnce(std::string &bytes, const std::string &other,
                       Random &random) {
  if (bytes.empty()) {
    bytes = slice(other, random);
    return;
  }
  size_t at = random.below(bytes.size());
  switch (random.below(9)) {
  case 0: // One bit.
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
    return;
  case 1: // One byte.
    bytes[at] = static_cast<char>(random.next());
    return;
  case 2: // The end of a number: longer, or the largest.
    bytes[at] = static_cast<char>(random.oneIn(2) ? bytes[at] | 0x80 : 0xff);
    return;
  case 3: // A number of ten bytes.
    bytes.insert(at, std::string(9, '\xff') + '\x01');
    return;
  case 4:
    bytes.resize(at);
    return;
  case 5:
    bytes.erase(at, 1 + random.below(std::min<size_t>(16, bytes.size() - at)));
    return;
  case 6:
    bytes.insert(random.below(bytes.size()), slice(bytes, random));
    return;
  case 7:
    bytes = bytes.substr(0, at) + slice(other, random);
    return;
  default:
    for (size_t i = at, e = std::min(bytes.size(), at + 8); i < e; ++i)
      bytes[i] = static_cast<char>(random.next());
    return;
  }
}

std::string onnxquant::fuzz::mutateBytes(std::string bytes,
                                         const std::string &other,
                                         Random &random) {
  for (size_t i = 0, e = 1 + random.below(4); i < e; ++i)
    mutateOnce(bytes, other, random);
  return bytes;
}

std::string onnxquant::fuzz::mutate(const std::string &bytes,
                                    const std::string &other, Random &random) {
  google::protobuf::LogSilencer quiet;
  ::onnx_format::ModelProto model, donor;
  // Most faults in bytes end in the parser, so most mutants are of the others.
  if (random.oneIn(10) || !model.ParseFromString(bytes))
    return mutateBytes(bytes, other, random);
  if (!donor.ParseFromString(other))
    donor = model;
  mutateModel(model, donor, random);
  // What the parser wouldn't accept again is of no use.
  std::string mutant;
  if (!model.SerializePartialToString(&mutant))
    return bytes;
  return mutant;
}
