// Sums of floats without rounding: what they give doesn't depend on the order.

#ifndef ONNXQUANT_STATISTICS_EXACTSUM_H
#define ONNXQUANT_STATISTICS_EXACTSUM_H

#include "OnnxQuant/Support/ObserverRecord.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <string>

namespace onnxquant {

/// A fixed-point number of limbs of 32 bits, of which 2^-bias is the last
/// place, as observers have it. Canonical: every limb but the signed top one is
/// in [0, 2^32).
class ExactSum {
public:
  static constexpr int64_t limbCount = ObserverChannel::sumLimbs;
  static constexpr int64_t bias = ObserverChannel::sumBias;

  /// Adds a row of limbs that may be out of range.
  void addLimbs(const int64_t *row) {
    int64_t carry = 0;
    for (int64_t i = 0; i < limbCount; ++i) {
      int64_t sum = limbs[i] + row[i] + carry;
      if (i + 1 == limbCount) {
        limbs[i] = sum;
        break;
      }
      limbs[i] = sum & 0xffffffff;
      carry = sum >> 32;
    }
  }
  void add(const ExactSum &other) { addLimbs(other.limbs.data()); }
  /// Adds a finite double that is a multiple of 2^(52 - bias).
  void add(double value);

  /// The number times 2^bias.
  llvm::APInt scaled() const;
  double toDouble() const;
  /// Hexadecimal digits of `scaled`, with a sign.
  std::string toHex() const;
  /// False if the text isn't such a number.
  bool fromHex(llvm::StringRef text);

  bool operator==(const ExactSum &other) const { return limbs == other.limbs; }

private:
  static constexpr unsigned width = 32 * (limbCount - 1) + 64;
  void fromScaled(const llvm::APInt &value);

  std::array<int64_t, limbCount> limbs{};
};

} // namespace onnxquant

#endif // ONNXQUANT_STATISTICS_EXACTSUM_H
