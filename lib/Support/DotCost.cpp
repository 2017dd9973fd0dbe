// The cost of the ways to multiply bytes.

#include "OnnxQuant/Support/DotCost.h"
#include "OnnxQuant/Support/QuadWindows.h"

using namespace onnxquant;

int64_t onnxquant::costOfQuads(const QuadPanel &panel) {
  int64_t doubles = 2 * panel.classes[0] + panel.classes[1];
  int64_t bundles = 2 * panel.classes[1] + 4 * panel.classes[2];
  return doubles * dotcost::doubleQuad + bundles * dotcost::bundle +
         static_cast<int64_t>(panel.extras.size()) * dotcost::extra +
         dotcost::quadTile;
}

int64_t onnxquant::costOfBundles(const WeightShape &weights, DotKind kind) {
  if (kind == DotKind::Widened)
    return bundleCount(weights, {quadColumns, 2}) * dotcost::widened / 2;
  return bundleCount(weights, {quadColumns, 4}) * dotcost::bundle;
}

int64_t onnxquant::costOfWinograd(const WeightShape &weights, int64_t side,
                                  int64_t tiles) {
  bool isLarge = side > 2;
  int64_t numbers = (side + 2) * (side + 2), channels = weights.length;
  int64_t panels = panelCount(weights, {quadColumns, 1});
  int64_t products =
      (tiles + 3) / 4 * panels * numbers * channels / 4 * dotcost::transformed;
  int64_t input =
      isLarge ? dotcost::transformLargeInput : dotcost::transformInput;
  int64_t output =
      isLarge ? dotcost::transformLargeOutput : dotcost::transformOutput;
  int64_t transforms = tiles * (channels * input / 16 + panels * output);
  int64_t bytes = numbers * channels * panels * quadColumns * 2;
  return products + transforms + bytes / 16 * dotcost::weights;
}

int64_t onnxquant::countDots(int64_t rows, int64_t columns, int64_t depth) {
  // Sixteen products: a vector per row, and per column.
  return depth * (rows + columns + rows * columns);
}

int64_t onnxquant::countMatrices(int64_t rows, int64_t columns, int64_t depth) {
  // The same, rows brought together in pairs; two rows and columns at a time.
  int64_t pairs = (rows + 1) / 2;
  return depth * (rows + 2 * pairs + columns + pairs * columns);
}
