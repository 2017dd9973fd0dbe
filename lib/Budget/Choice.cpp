// Orders changes by what they bring for their time, and finds the fewest.

#include "OnnxQuant/Budget/Choice.h"
#include <algorithm>
#include <cmath>

using namespace onnxquant::budget;

/// A change takes at least this share of the model's time: less can't be
/// measured, and what costs nothing is ordered by its noise then.
static constexpr double leastTime = 0.0005;
/// Noise below this share of all of it isn't worth a change.
static constexpr double leastNoise = 1e-5;

double Problem::time8() const {
  double time = otherTime;
  for (const Layer &layer : layers)
    time += layer.time8;
  return time;
}

double onnxquant::budget::noiseOf(const Problem &problem) {
  double noise = 0;
  for (const Tensor &tensor : problem.tensors)
    noise += tensor.noise;
  for (const Layer &layer : problem.layers)
    noise += layer.noise;
  return noise;
}

namespace {

/// What has been changed so far.
class State {
public:
  explicit State(const Problem &problem)
      : problem(problem), wide(problem.tensors.size()),
        finer(problem.layers.size()), isFloat(problem.layers.size()),
        reads(problem.layers.size()) {
    for (size_t index = 0; index < problem.tensors.size(); ++index)
      for (size_t reader : problem.tensors[index].readers)
        reads[reader].push_back(index);
  }

  bool has(const Change &change) const {
    switch (change.kind) {
    case Change::Kind::Wide:
      return wide[change.index] || isUnread(change.index);
    case Change::Kind::Finer:
      return finer[change.index] || isFloat[change.index];
    case Change::Kind::Float:
      return isFloat[change.index];
    }
    return false;
  }
  void apply(const std::vector<Change> &changes, bool value = true) {
    for (const Change &change : changes)
      (change.kind == Change::Kind::Wide    ? wide
       : change.kind == Change::Kind::Finer ? finer
                                            : isFloat)[change.index] = value;
  }
  /// Noise and time of what changes touch.
  std::pair<double, double> measure(const std::vector<Change> &changes) const;
  /// How many contractions are quantized.
  size_t countQuantized() const {
    size_t count = 0;
    for (size_t i = 0; i < isFloat.size(); ++i)
      count += problem.layers[i].isContraction && !isFloat[i];
    return count;
  }

private:
  /// Whether no layer reads its integers.
  bool isUnread(size_t tensor) const {
    const std::vector<size_t> &readers = problem.tensors[tensor].readers;
    return !readers.empty() &&
           std::all_of(readers.begin(), readers.end(),
                       [&](size_t reader) { return isFloat[reader]; });
  }
  double noiseOfTensor(size_t index) const {
    return wide[index] || isUnread(index) ? 0 : problem.tensors[index].noise;
  }
  double noiseOfLayer(size_t index) const {
    const Layer &layer = problem.layers[index];
    if (isFloat[index])
      return 0;
    return finer[index] ? layer.finerNoise.value_or(layer.noise) : layer.noise;
  }
  double timeOfLayer(size_t index) const {
    const Layer &layer = problem.layers[index];
    if (isFloat[index])
      return layer.timeFloat;
    bool reads16 = std::any_of(reads[index].begin(), reads[index].end(),
                               [&](size_t tensor) { return wide[tensor]; });
    return reads16 ? layer.time16 : layer.time8;
  }

  const Problem &problem;
  std::vector<bool> wide, finer, isFloat;
  /// The tensors of each layer.
  std::vector<std::vector<size_t>> reads;
};

} // namespace

std::pair<double, double>
State::measure(const std::vector<Change> &changes) const {
  std::vector<size_t> tensors, layers;
  for (const Change &change : changes) {
    if (change.kind == Change::Kind::Wide) {
      tensors.push_back(change.index);
      const std::vector<size_t> &readers =
          problem.tensors[change.index].readers;
      layers.insert(layers.end(), readers.begin(), readers.end());
    } else {
      layers.push_back(change.index);
      tensors.insert(tensors.end(), reads[change.index].begin(),
                     reads[change.index].end());
    }
  }
  double noise = 0, time = 0;
  auto each = [](std::vector<size_t> &list) -> const std::vector<size_t> & {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  };
  for (size_t tensor : each(tensors))
    noise += noiseOfTensor(tensor);
  for (size_t layer : each(layers)) {
    noise += noiseOfLayer(layer);
    time += timeOfLayer(layer);
  }
  return {noise, time};
}

/// All that can be changed at once.
static std::vector<std::vector<Change>> listChanges(const Problem &problem) {
  std::vector<std::vector<Change>> all;
  for (size_t i = 0; i < problem.layers.size(); ++i)
    if (problem.layers[i].finerNoise)
      all.push_back({{Change::Kind::Finer, i}});
  for (size_t i = 0; i < problem.tensors.size(); ++i)
    if (problem.tensors[i].canBeWide)
      all.push_back({{Change::Kind::Wide, i}});
  for (size_t i = 0; i < problem.layers.size(); ++i)
    if (problem.layers[i].canBeFloat)
      all.push_back({{Change::Kind::Float, i}});
  // What several layers read is float only if all of them are.
  for (const Tensor &tensor : problem.tensors) {
    std::vector<Change> together;
    for (size_t reader : tensor.readers)
      together.push_back({Change::Kind::Float, reader});
    bool canBe = std::all_of(
        tensor.readers.begin(), tensor.readers.end(),
        [&](size_t reader) { return problem.layers[reader].canBeFloat; });
    if (canBe && together.size() > 1)
      all.push_back(std::move(together));
  }
  return all;
}

std::vector<Move> onnxquant::budget::orderMoves(const Problem &problem) {
  State state(problem);
  std::vector<std::vector<Change>> all = listChanges(problem);
  double noise = noiseOf(problem), time = problem.time8();
  double least = leastNoise * noise, floor = leastTime * time;
  std::vector<Move> moves;
  while (true) {
    std::optional<Move> best;
    double bestRatio = 0;
    for (const std::vector<Change> &changes : all) {
      std::vector<Change> open;
      for (const Change &change : changes)
        if (!state.has(change))
          open.push_back(change);
      if (open.empty())
        continue;
      auto [noiseBefore, timeBefore] = state.measure(open);
      state.apply(open);
      auto [noiseAfter, timeAfter] = state.measure(open);
      size_t left = state.countQuantized();
      state.apply(open, false);
      double gain = noiseBefore - noiseAfter;
      double ratio = gain / std::max(timeAfter - timeBefore, floor);
      if (left == 0 || gain <= least || ratio <= bestRatio)
        continue;
      bestRatio = ratio;
      best = Move{std::move(open), noise - gain, time + timeAfter - timeBefore};
    }
    if (!best)
      return moves;
    state.apply(best->changes);
    noise = std::max(best->noise, 0.0);
    time = best->time;
    moves.push_back(std::move(*best));
  }
}

double onnxquant::budget::coarse(double time) {
  if (time <= 0)
    return 0;
  constexpr double perOctave = 4;
  return std::exp2(std::round(perOctave * std::log2(time)) / perOctave);
}

std::optional<int64_t> onnxquant::budget::findLeast(
    int64_t last, llvm::function_ref<std::optional<bool>(int64_t)> holds,
    llvm::function_ref<int64_t(int64_t low, int64_t high)> guess) {
  int64_t low = -1, high = last + 1;
  for (int64_t asked = 0; high - low > 1; ++asked) {
    // The first place is the one that most want to know of; then guesses and
    // halves take turns, so that bad guesses cost twice at most.
    int64_t place = asked == 0       ? 0
                    : asked % 2 != 0 ? guess(low, high)
                                     : low + (high - low) / 2;
    place = std::clamp(place, low + 1, high - 1);
    std::optional<bool> answer = holds(place);
    if (!answer)
      return std::nullopt;
    (*answer ? high : low) = place;
  }
  return high <= last ? std::optional(high) : std::nullopt;
}

/// What the normal distribution exceeds on either side in 5 of 100 cases.
static constexpr double normal = 1.959964;

Interval onnxquant::budget::dropInterval(int64_t samples, int64_t lost,
                                         int64_t gained) {
  // Wald's interval of paired shares, with half a sample more of each kind
  // (Agresti and Min), so that few samples don't look like certainty.
  constexpr double more = 0.5;
  double n = static_cast<double>(samples) + 4 * more,
         b = static_cast<double>(lost) + more,
         c = static_cast<double>(gained) + more;
  double drop = (b - c) / n;
  double error = std::sqrt(std::max(b + c - (b - c) * (b - c) / n, 0.0)) / n;
  return {drop - normal * error, drop + normal * error};
}

/// The same of Student's distribution, from its expansion for many degrees of
/// freedom.
static double student(double freedom) {
  double n = normal, n3 = n * n * n, n5 = n3 * n * n, n7 = n5 * n * n;
  double first = (n3 + n) / 4, second = (5 * n5 + 16 * n3 + 3 * n) / 96,
         third = (3 * n7 + 19 * n5 + 17 * n3 - 15 * n) / 384;
  return n + first / freedom + second / (freedom * freedom) +
         third / (freedom * freedom * freedom);
}

std::optional<Interval> onnxquant::budget::sqnrInterval(
    const std::vector<std::pair<double, double>> &energies) {
  auto count = static_cast<double>(energies.size());
  double signal = 0, noise = 0;
  for (auto [s, n] : energies) {
    signal += s;
    noise += n;
  }
  if (count < 2 || !(signal > 0) || !(noise > 0))
    return std::nullopt;
  // The logarithm of a quotient of sums varies as the samples' shares do.
  double squares = 0;
  for (auto [s, n] : energies) {
    double share = n / noise - s / signal;
    squares += share * share;
  }
  double error = std::sqrt(squares * count / (count - 1));
  double middle = 10 * std::log10(signal / noise),
         half = student(count - 1) * error * 10 / std::log(10.0);
  return Interval{middle - half, middle + half};
}

Interval onnxquant::budget::shareInterval(int64_t samples, double share) {
  auto n = static_cast<double>(samples);
  double square = normal * normal, whole = n + square;
  double middle = (n * share + square / 2) / whole;
  double half =
      normal / whole * std::sqrt(n * share * (1 - share) + square / 4);
  return {std::max(middle - half, 0.0), std::min(middle + half, 1.0)};
}

int64_t onnxquant::budget::samplesFor(double share) {
  // A share that was written in decimals is a little more or less than it.
  constexpr double slack = 1e-9;
  return share > 0 ? static_cast<int64_t>(std::ceil(1 / share - slack)) : 1;
}
