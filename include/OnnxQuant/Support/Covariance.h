// What a tensor that enters products was like over all samples.

#ifndef ONNXQUANT_SUPPORT_COVARIANCE_H
#define ONNXQUANT_SUPPORT_COVARIANCE_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace onnxquant {

/// The sums of the products of channels, over all rows of a tensor [.., size].
struct Covariance {
  int64_t size = 0;
  /// [size, size].
  std::vector<double> sums;
};

/// By the tensors' names.
using Covariances = std::map<std::string, Covariance>;

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_COVARIANCE_H
