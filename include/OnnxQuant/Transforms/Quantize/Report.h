// What quantization did and what it left, for programs and for people.

#ifndef ONNXQUANT_TRANSFORMS_QUANTIZE_REPORT_H
#define ONNXQUANT_TRANSFORMS_QUANTIZE_REPORT_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace onnxquant {

/// A quantized tensor: an activation, a weight or a bias.
struct TensorReport {
  std::string name;
  /// `activation`, `weight` or `bias`.
  std::string kind;
  /// `u8` and so on; `s32` for a bias.
  std::string type;
  std::vector<double> scales;
  std::vector<int64_t> zeroPoints;
  std::optional<int64_t> axis;
  int64_t blockSize = 0;
  /// Signal to noise of the stored numbers in decibels; none for activations.
  std::optional<double> sqnr;
  /// Scales are computed at run time.
  bool dynamic = false;
};

struct NodeReport {
  std::string name;
  std::string opType;
  bool quantized = false;
  /// Why the node, or a part of it, is not quantized; empty if there is nothing
  /// to say.
  std::string reason;
  /// The quantized tensors that enter and leave.
  std::vector<TensorReport> inputs, outputs;
  /// How far the bias was corrected, as the root of the mean square.
  std::optional<double> biasCorrection;
};

struct QuantizeReport {
  std::string mode;
  std::string placement;
  std::vector<NodeReport> nodes;
  /// Notes about the whole model.
  std::vector<std::string> notes;
  int64_t activations = 0;
  int64_t weights = 0;
  /// Products of u8 and s8 whose sums may leave 16 bits, in which ONNX Runtime
  /// adds pairs of them on x86 without VNNI.
  int64_t saturating = 0;
  /// Bytes of all constants.
  int64_t bytesBefore = 0, bytesAfter = 0;

  int64_t numQuantized() const;
  llvm::json::Value toJson() const;
  /// Details as text: totals, the worst weights, what stayed float and why.
  void print(llvm::raw_ostream &os) const;
};

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_QUANTIZE_REPORT_H
