// Matrices as codes of few bits, with a scale and a zero point for each run of
// weights: the numbers that MatMulNBits and blocked dequantizers hold. No IR.
//
// A matrix here is [rows, depth], row by row: a row is what one output sums.
// A weight is (code - zero point) * scale.

#ifndef ONNXQUANT_TRANSFORMS_QUANTIZE_BLOCKCODES_H
#define ONNXQUANT_TRANSFORMS_QUANTIZE_BLOCKCODES_H

#include "OnnxQuant/Support/Covariance.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace onnxquant {

struct BlockSpec {
  unsigned bits = 4;
  /// Weights of a row with a scale of their own.
  int64_t blockSize = 32;
  /// Zero points are the middle of the codes.
  bool symmetric = false;
  /// Scales are stored as float16.
  bool halfScales = false;

  int64_t maxCode() const { return (int64_t(1) << bits) - 1; }
  int64_t middle() const { return int64_t(1) << (bits - 1); }
};

struct BlockCodes {
  BlockSpec spec;
  int64_t rows = 0, depth = 0;
  /// [rows, depth].
  std::vector<uint8_t> codes;
  /// [rows, blocks]. Zero points are codes, but for `halfQuadratic`.
  std::vector<float> scales, zeros;

  BlockCodes(const BlockSpec &spec, int64_t rows, int64_t depth);

  int64_t blocks() const {
    return (depth + spec.blockSize - 1) / spec.blockSize;
  }
  /// The weight that a code stands for.
  float weight(int64_t row, int64_t k) const {
    int64_t block = row * blocks() + k / spec.blockSize;
    return (static_cast<float>(codes[row * depth + k]) - zeros[block]) *
           scales[block];
  }
  /// [rows, blocks, blockSize * bits / 8], the first code in the lowest bits.
  /// Codes beyond the depth are zero points.
  std::vector<uint8_t> packCodes() const;
  /// [rows, ceil(blocks * bits / 8)] likewise.
  std::vector<uint8_t> packZeros() const;
};

/// Numbers of few bits in bytes, the first in the lowest bits.
std::vector<uint8_t> packBits(llvm::ArrayRef<uint8_t> numbers, unsigned bits);

/// Each weight to the nearest code of its block's range, as ONNX Runtime's
/// kernels do it.
BlockCodes roundToNearest(llvm::ArrayRef<float> matrix, int64_t rows,
                          int64_t depth, const BlockSpec &spec);
/// Half-quadratic: zero points are real numbers that shrinking the largest
/// errors improves.
BlockCodes halfQuadratic(llvm::ArrayRef<float> matrix, int64_t rows,
                         int64_t depth, const BlockSpec &spec);
/// Of twenty scales for each block that with the least error, where large
/// weights count more, fitted by least squares.
BlockCodes fitWeighted(llvm::ArrayRef<float> matrix, int64_t rows,
                       int64_t depth, const BlockSpec &spec);
struct SecondOrderSpec {
  /// A share of the mean square of inputs.
  double damping = 0.01;
  /// Channels with the largest squares come first, not the first ones.
  bool sortsChannels = true;
  /// Ranges of blocks are narrowed where that has less error.
  bool searchesScales = true;
};

/// Second-order rounding: weights that are still to be rounded make up for the
/// error of those that are, as far as inputs go together.
BlockCodes secondOrder(llvm::ArrayRef<float> matrix, int64_t rows,
                       int64_t depth, const BlockSpec &spec,
                       const Covariance &inputs,
                       const SecondOrderSpec &settings = {});

/// The squared error of a product's results, summed over the inputs: what
/// `matrix` and `codes` give that reads them.
double productError(llvm::ArrayRef<float> matrix, const BlockCodes &codes,
                    const Covariance &inputs);

/// Factors for the channels of the input, so that important ones lose less:
/// the power of their root mean square for which `matrix` times the factors
/// has the least error, rounded to the nearest and divided again. Several
/// matrices may read one input. Ones if nothing is better.
std::vector<float>
activationAwareFactors(llvm::ArrayRef<llvm::ArrayRef<float>> matrices,
                       int64_t depth, const BlockSpec &spec,
                       const Covariance &inputs);

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_QUANTIZE_BLOCKCODES_H
