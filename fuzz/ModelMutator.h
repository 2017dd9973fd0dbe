// Wrong models out of right ones, for the fuzzer and the mutation test. Enters:
// a model and a stream of random numbers. Leaves: a model with faults, either
// in its bytes or in what they mean. Equal seeds give equal mutants, so that a
// case is known by its number.

#ifndef ONNXQUANT_FUZZ_MODELMUTATOR_H
#define ONNXQUANT_FUZZ_MODELMUTATOR_H

#include "onnx_format.pb.h"
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace onnxquant::fuzz {

/// SplitMix64: the same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next();
  /// A number below `limit`, which is at least 1.
  size_t below(size_t limit) { return next() % limit; }
  bool oneIn(size_t times) { return below(times) == 0; }
  template <typename List> auto &pick(List &list) {
    return list[below(std::size(list))];
  }

private:
  uint64_t state;
};

/// Flips, overwrites, cuts, repeats and splices bytes; `other` gives bytes.
std::string mutateBytes(std::string bytes, const std::string &other,
                        Random &random);

/// Changes nodes, tensors, types, attributes, graphs and functions; `other`
/// gives parts of another model.
void mutateModel(::onnx_format::ModelProto &model,
                 const ::onnx_format::ModelProto &other, Random &random);

/// One or the other of both; bytes that are no model are changed as bytes.
std::string mutate(const std::string &bytes, const std::string &other,
                   Random &random);

} // namespace onnxquant::fuzz

#endif // ONNXQUANT_FUZZ_MODELMUTATOR_H
