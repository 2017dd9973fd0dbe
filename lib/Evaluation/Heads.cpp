// Boxes from heads of YOLOv3 and YOLOv5: what a cell and an anchor give, before
// the sigmoids.
//
// A head's step is the input's size by the head's; anchors belong to heads in
// the order of their steps.

#include "Heads.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// Anchors of networks trained on COCO: with three heads, and with two.
static constexpr std::pair<double, double> threeHeads[] = {
    {10, 13},  {16, 30},  {33, 23},   {30, 61},  {62, 45},
    {59, 119}, {116, 90}, {156, 198}, {373, 326}};
static constexpr std::pair<double, double> twoHeads[] = {
    {10, 14}, {23, 27}, {37, 58}, {81, 82}, {135, 169}, {344, 319}};

namespace {

/// One output: where the numbers of a cell are.
struct Head {
  const HostTensor *output = nullptr;
  int64_t rows = 0, columns = 0, anchors = 0, numbers = 0;
  /// Distances between cells in a row, rows, anchors and numbers.
  int64_t cellStride = 0, rowStride = 0, anchorStride = 0, numberStride = 0;

  double step(const DecodeOptions &options) const {
    return static_cast<double>(options.inputWidth) /
           static_cast<double>(columns);
  }
};

} // namespace

/// Whether a grid covers the input with square cells.
static bool covers(int64_t rows, int64_t columns,
                   const DecodeOptions &options) {
  return rows > 0 && columns > 0 &&
         options.inputHeight * columns == options.inputWidth * rows &&
         options.inputWidth % columns == 0;
}

static bool readHead(const HostTensor &output, int64_t anchors,
                     const DecodeOptions &options, Head &head) {
  ArrayRef<int64_t> dims = output.dims;
  head.output = &output;
  head.anchors = anchors;
  auto fits = [&](int64_t rows, int64_t columns, int64_t numbers) {
    head.rows = rows;
    head.columns = columns;
    head.numbers = numbers;
    return covers(rows, columns, options) && numbers >= 6;
  };
  if (dims.size() == 5 && dims[1] == anchors &&
      fits(dims[2], dims[3], dims[4])) {
    head.numberStride = 1;
    head.cellStride = head.numbers;
    head.rowStride = head.columns * head.cellStride;
    head.anchorStride = head.rows * head.rowStride;
    return true;
  }
  if (dims.size() == 5 && dims[3] == anchors &&
      fits(dims[1], dims[2], dims[4])) {
    head.numberStride = 1;
    head.anchorStride = head.numbers;
    head.cellStride = anchors * head.anchorStride;
    head.rowStride = head.columns * head.cellStride;
    return true;
  }
  if (dims.size() == 4 && dims[1] % anchors == 0 &&
      fits(dims[2], dims[3], dims[1] / anchors)) {
    head.cellStride = 1;
    head.rowStride = head.columns;
    head.numberStride = head.rows * head.columns;
    head.anchorStride = head.numbers * head.numberStride;
    return true;
  }
  if (dims.size() == 4 && dims[3] % anchors == 0 &&
      fits(dims[1], dims[2], dims[3] / anchors)) {
    head.numberStride = 1;
    head.anchorStride = head.numbers;
    head.cellStride = dims[3];
    head.rowStride = head.columns * head.cellStride;
    return true;
  }
  return false;
}

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

static Box boxOf(double x, double y, double width, double height) {
  return {x - width / 2, y - height / 2, width, height};
}

static void decodeHead(const Head &head, int64_t sample,
                       ArrayRef<std::pair<double, double>> anchors,
                       const DecodeOptions &options,
                       std::vector<Detection> &found) {
  double step = head.step(options);
  int64_t start =
      sample * head.anchors * head.rows * head.columns * head.numbers;
  for (int64_t anchor = 0; anchor < head.anchors; ++anchor)
    for (int64_t row = 0; row < head.rows; ++row)
      for (int64_t column = 0; column < head.columns; ++column) {
        int64_t cell = start + anchor * head.anchorStride +
                       row * head.rowStride + column * head.cellStride;
        auto at = [&](int64_t number) {
          return head.output->at(cell + number * head.numberStride);
        };
        double objectness = sigmoid(at(4));
        if (!(objectness >= options.scoreThreshold))
          continue;
        auto [anchorWidth, anchorHeight] = anchors[anchor];
        double x = sigmoid(at(0)), y = sigmoid(at(1)), width, height;
        if (options.format == BoxFormat::YoloV3) {
          width = std::exp(at(2)) * anchorWidth;
          height = std::exp(at(3)) * anchorHeight;
        } else {
          auto twice = [&](int64_t number) { return 2 * sigmoid(at(number)); };
          x = 2 * x - 0.5;
          y = 2 * y - 0.5;
          width = twice(2) * twice(2) * anchorWidth;
          height = twice(3) * twice(3) * anchorHeight;
        }
        Box box = boxOf((x + static_cast<double>(column)) * step,
                        (y + static_cast<double>(row)) * step, width, height);
        for (int64_t each = 5; each < head.numbers; ++each) {
          double score = objectness * sigmoid(at(each));
          if (score >= options.scoreThreshold)
            found.push_back({0, each - 5, box, score});
        }
      }
}

Expected<std::vector<Detection>>
detections::decodeHeads(ArrayRef<const HostTensor *> outputs, int64_t sample,
                        const DecodeOptions &options) {
  SmallVector<const HostTensor *> heads;
  for (const HostTensor *output : outputs)
    if (output->dims.size() == 4 || output->dims.size() == 5)
      heads.push_back(output);
  if (heads.empty())
    return fail("output '" + outputs.front()->name +
                "' expects heads of 4 or 5 dimensions, but has " +
                Twine(outputs.front()->dims.size()));
  ArrayRef<std::pair<double, double>> anchors = options.anchors;
  if (anchors.empty() && heads.size() == 3)
    anchors = threeHeads;
  else if (anchors.empty() && heads.size() == 2)
    anchors = twoHeads;
  else if (anchors.empty())
    return fail("the model has " + Twine(heads.size()) +
                " heads: give their anchors with --anchors");
  if (anchors.size() % heads.size() != 0)
    return fail(Twine(anchors.size()) + " anchors don't go with " +
                Twine(heads.size()) + " heads");
  auto each = static_cast<int64_t>(anchors.size() / heads.size());
  std::vector<Head> read(heads.size());
  for (auto [output, head] : zip(heads, read))
    if (!readHead(*output, each, options, head) || sample >= output->dims[0])
      return fail("output '" + output->name + "' is no head of " + Twine(each) +
                  " anchors for inputs of " + Twine(options.inputHeight) + "x" +
                  Twine(options.inputWidth));
  stable_sort(
      read, [](const Head &a, const Head &b) { return a.columns > b.columns; });
  std::vector<Detection> found;
  for (auto [index, head] : enumerate(read)) {
    if (head.numbers != read.front().numbers)
      return fail("output '" + head.output->name +
                  "' has another number of classes than '" +
                  read.front().output->name + "'");
    decodeHead(head, sample, anchors.slice(index * each, each), options, found);
  }
  return suppressOverlaps(std::move(found), options.overlapThreshold,
                          options.mostBoxes);
}
