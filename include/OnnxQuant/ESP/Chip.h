// The chips of ESP-DL: what their kernels round like, and how wide they sum.

#ifndef ONNXQUANT_ESP_CHIP_H
#define ONNXQUANT_ESP_CHIP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace onnxquant::esp {

enum class Rounding { Floor, HalfUp, HalfEven };
double roundAs(Rounding rounding, double value);

struct Chip {
  llvm::StringLiteral name;
  /// How quantized results are rounded.
  Rounding rounding;
  /// Whether filters are packed for vector instructions.
  bool isPacked;
  /// Bits of a bias beside int8 and int16.
  int biasBits8, biasBits16;
  /// Whether weights get an exponent per output channel by default.
  bool isPerChannel;
  /// Bits of a lane of the vector unit that sums int8 products; 32 elsewhere.
  int laneBits;
};

/// All chips; the first of each kind of kernels stands for it.
llvm::ArrayRef<Chip> getChips();
/// The chip of a name such as `esp32s3`; also `c` for those without vector
/// instructions.
const Chip *findChip(llvm::StringRef name);
/// `esp32, esp32s2, ...` for messages.
std::string chipNames();

struct Model;
/// The chips that a file may be for, the likeliest first: as it says, or as its
/// filters lie.
std::vector<const Chip *> likelyChips(const Model &model);

/// Elements of one block of channels of packed filters.
inline int64_t packedChannels(int32_t bits) { return bits == 8 ? 16 : 8; }

} // namespace onnxquant::esp

#endif // ONNXQUANT_ESP_CHIP_H
