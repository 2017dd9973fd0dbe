// What to give more than 8 bits first: figures of layers in, an order of
// changes out. Nothing here knows of models.

#ifndef ONNXQUANT_BUDGET_CHOICE_H
#define ONNXQUANT_BUDGET_CHOICE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace onnxquant::budget {

/// A quantized activation.
struct Tensor {
  std::string name;
  /// The energy of the error at the outputs if it alone is quantized.
  double noise = 0;
  /// The layers that read it.
  std::vector<size_t> readers;
  /// Whether it can get 16 bits.
  bool canBeWide = true;
};

/// A node that computes with quantized numbers.
struct Layer {
  std::string node, op;
  /// The same of its weights, and of its weights with a scale for each channel
  /// where they have one for all.
  double noise = 0;
  std::optional<double> finerNoise;
  /// How long it takes with activations of 8 and of 16 bits, and in float.
  double time8 = 0, time16 = 0, timeFloat = 0;
  /// Whether it is a convolution or a matrix product, of which one at least is
  /// to stay quantized, and whether it can be left in float by itself.
  bool isContraction = true, canBeFloat = true;
};

struct Problem {
  std::vector<Tensor> tensors;
  std::vector<Layer> layers;
  /// The time of all that no choice changes.
  double otherTime = 0;

  double time8() const;
};

struct Change {
  /// A tensor in 16 bits; a layer's weights with a scale for each channel; a
  /// layer in float.
  enum class Kind { Wide, Finer, Float };
  Kind kind;
  /// Of the tensor or the layer.
  size_t index = 0;

  bool operator==(const Change &other) const {
    return kind == other.kind && index == other.index;
  }
};

/// What is changed at once, and what the model is like then if errors add up.
struct Move {
  std::vector<Change> changes;
  double noise = 0, time = 0;
};

/// Changes from all 8 bits on, each the one that takes away most noise for the
/// time that it adds. One contraction at least stays quantized.
std::vector<Move> orderMoves(const Problem &problem);

/// The noise of a model without any change.
double noiseOf(const Problem &problem);

/// A measured time as one of few numbers, a fifth apart, so that an order by
/// times doesn't follow the noise of a measurement.
double coarse(double time);

/// The least place from 0 to `last` that `holds`, if those behind one that
/// holds do too. `guess` proposes a place between two others. None if no place
/// does, or if `holds` doesn't know, which ends the search.
std::optional<int64_t>
findLeast(int64_t last, llvm::function_ref<std::optional<bool>(int64_t)> holds,
          llvm::function_ref<int64_t(int64_t low, int64_t high)> guess);

/// Bounds of a share that is lost, in 95 of 100 such sets of samples.
struct Interval {
  double low = 0, high = 0;
};
/// Of `samples`, `lost` were right in one model only, and `gained` in the other
/// only.
Interval dropInterval(int64_t samples, int64_t lost, int64_t gained);

/// Decibels of the sums of signals and noises, where samples are like these.
/// None of fewer than two, or of a noise of nothing.
std::optional<Interval>
sqnrInterval(const std::vector<std::pair<double, double>> &energies);
/// A share of so many samples (Wilson's).
Interval shareInterval(int64_t samples, double share);

/// The fewest samples of which one is no more than a share.
int64_t samplesFor(double share);

} // namespace onnxquant::budget

#endif // ONNXQUANT_BUDGET_CHOICE_H
