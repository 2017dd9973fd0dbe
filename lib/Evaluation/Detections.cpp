// Boxes from outputs of networks.

#include "OnnxQuant/Evaluation/Detections.h"
#include "Heads.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

double onnxquant::intersectionOverUnion(const Box &detection, const Box &truth,
                                        bool isCrowd) {
  double width =
      std::min(detection.x + detection.width, truth.x + truth.width) -
      std::max(detection.x, truth.x);
  double height =
      std::min(detection.y + detection.height, truth.y + truth.height) -
      std::max(detection.y, truth.y);
  if (width <= 0 || height <= 0)
    return 0;
  double common = width * height;
  double whole =
      isCrowd ? detection.area() : detection.area() + truth.area() - common;
  return whole > 0 ? common / whole : 0;
}

namespace {
struct FormatName {
  StringLiteral name;
  BoxFormat format;
};
} // namespace

/// Families that share a form share a format.
static constexpr FormatName formatNames[] = {
    {"yolov3", BoxFormat::YoloV3},   {"yolov5", BoxFormat::YoloV5},
    {"yolov8", BoxFormat::YoloV8},   {"yolov9", BoxFormat::YoloV8},
    {"yolov10", BoxFormat::YoloV10}, {"yolov11", BoxFormat::YoloV8},
    {"yolo11", BoxFormat::YoloV8},   {"yolox", BoxFormat::YoloX}};

StringRef onnxquant::boxFormatNames() {
  return "yolov3, yolov5, yolov8, yolov10, yolov11, yolox";
}

Expected<BoxFormat> onnxquant::parseBoxFormat(StringRef name) {
  for (const FormatName &each : formatNames)
    if (each.name == name)
      return each.format;
  return fail("boxes expects one of " + boxFormatNames() + ", but got '" +
              name + "'");
}

Placement Placement::stretched(double width, double height, double inputWidth,
                               double inputHeight) {
  return {inputWidth / width, inputHeight / height, 0, 0};
}

Placement Placement::letterboxed(double width, double height, double inputWidth,
                                 double inputHeight, bool centered) {
  double scale = std::min(inputWidth / width, inputHeight / height);
  // The picture has whole pixels, and so has its border.
  double across = std::max(1.0, std::round(width * scale)),
         down = std::max(1.0, std::round(height * scale));
  Placement place{across / width, down / height, 0, 0};
  if (centered) {
    place.left = std::floor((inputWidth - across) / 2);
    place.top = std::floor((inputHeight - down) / 2);
  }
  return place;
}

Box Placement::toPicture(const Box &box) const {
  return {(box.x - left) / scaleX, (box.y - top) / scaleY, box.width / scaleX,
          box.height / scaleY};
}

std::vector<Detection> onnxquant::suppressOverlaps(std::vector<Detection> boxes,
                                                   double threshold,
                                                   int64_t mostBoxes) {
  stable_sort(boxes, [](const Detection &a, const Detection &b) {
    return a.score > b.score;
  });
  std::vector<Detection> kept;
  for (const Detection &box : boxes) {
    if (static_cast<int64_t>(kept.size()) == mostBoxes)
      break;
    if (none_of(kept, [&](const Detection &better) {
          return better.category == box.category &&
                 intersectionOverUnion(box.box, better.box) > threshold;
        }))
      kept.push_back(box);
  }
  return kept;
}

namespace {

/// Reads the numbers of one box, wherever they lie.
class BoxReader {
public:
  BoxReader(const HostTensor &output, int64_t sample,
            const DecodeOptions &options)
      : output(output), options(options) {
    bool across = options.format == BoxFormat::YoloV8;
    boxes = output.dims[across ? 2 : 1];
    numbers = output.dims[across ? 1 : 2];
    boxStride = across ? 1 : numbers;
    numberStride = across ? boxes : 1;
    start = sample * boxes * numbers;
  }

  int64_t count() const { return boxes; }
  double at(int64_t box, int64_t number) const {
    return output.at(start + box * boxStride + number * numberStride);
  }
  /// The first number that is the score of a class.
  int64_t firstClass() const {
    return options.format == BoxFormat::YoloV8 ? 4 : 5;
  }
  int64_t classes() const { return numbers - firstClass(); }
  double objectness(int64_t box) const {
    return options.format == BoxFormat::YoloV8 ? 1 : at(box, 4);
  }
  Box box(int64_t index) const;

private:
  const HostTensor &output;
  const DecodeOptions &options;
  int64_t boxes, numbers, boxStride, numberStride, start;
};

} // namespace

Box BoxReader::box(int64_t index) const {
  double x = at(index, 0), y = at(index, 1), width = at(index, 2),
         height = at(index, 3);
  if (options.format == BoxFormat::YoloX) {
    int64_t cell = index;
    for (int64_t step : {8, 16, 32}) {
      int64_t columns = options.inputWidth / step,
              rows = options.inputHeight / step;
      if (cell < columns * rows) {
        auto size = static_cast<double>(step);
        x = (x + static_cast<double>(cell % columns)) * size;
        y = (y + static_cast<double>(cell / columns)) * size;
        width = std::exp(width) * size;
        height = std::exp(height) * size;
        break;
      }
      cell -= columns * rows;
    }
  }
  return {x - width / 2, y - height / 2, width, height};
}

/// YOLOX has a box for each cell of three grids.
static int64_t gridCells(const DecodeOptions &options) {
  int64_t cells = 0;
  for (int64_t step : {8, 16, 32})
    cells += (options.inputWidth / step) * (options.inputHeight / step);
  return cells;
}

/// [samples, boxes, 6]: corners, score, class.
static Expected<std::vector<Detection>>
decodeFinal(const HostTensor &output, int64_t sample,
            const DecodeOptions &options) {
  if (output.dims.size() != 3 || output.dims[2] != 6 ||
      sample >= output.dims[0])
    return fail("output '" + output.name +
                "' expects [samples, boxes, 6], but has another shape");
  std::vector<Detection> found;
  int64_t start = sample * output.dims[1] * 6;
  for (int64_t i = start; i < start + output.dims[1] * 6; i += 6) {
    double left = output.at(i), top = output.at(i + 1),
           score = output.at(i + 4), kind = output.at(i + 5);
    if (!(score >= options.scoreThreshold) || !(kind >= 0))
      continue;
    found.push_back({0,
                     static_cast<int64_t>(std::llround(kind)),
                     {left, top, std::max(0.0, output.at(i + 2) - left),
                      std::max(0.0, output.at(i + 3) - top)},
                     score});
  }
  // An overlap of more than the whole never happens: all are kept.
  return suppressOverlaps(std::move(found), 2, options.mostBoxes);
}

/// One output with boxes in pixels, or relative to cells.
static Expected<std::vector<Detection>>
decodeTable(const HostTensor &output, int64_t sample,
            const DecodeOptions &options) {
  int64_t least = options.format == BoxFormat::YoloV8 ? 5 : 6;
  int64_t numbers =
      output.dims.size() == 3
          ? output.dims[options.format == BoxFormat::YoloV8 ? 1 : 2]
          : 0;
  if (numbers < least || sample >= output.dims[0])
    return fail("output '" + output.name + "' expects " +
                (options.format == BoxFormat::YoloV8
                     ? "[samples, 4 + classes, boxes]"
                     : "[samples, boxes, 5 + classes]") +
                ", but has another shape");
  BoxReader reader(output, sample, options);
  if (options.format == BoxFormat::YoloX &&
      reader.count() != gridCells(options))
    return fail("output '" + output.name + "' expects " +
                Twine(gridCells(options)) + " boxes for inputs of " +
                Twine(options.inputHeight) + "x" + Twine(options.inputWidth) +
                ", but has " + Twine(reader.count()));
  std::vector<Detection> found;
  for (int64_t index = 0; index < reader.count(); ++index) {
    double objectness = reader.objectness(index);
    if (!(objectness >= options.scoreThreshold))
      continue;
    Box box = reader.box(index);
    for (int64_t each = 0; each < reader.classes(); ++each) {
      double score = objectness * reader.at(index, reader.firstClass() + each);
      if (score >= options.scoreThreshold)
        found.push_back({0, each, box, score});
    }
  }
  return suppressOverlaps(std::move(found), options.overlapThreshold,
                          options.mostBoxes);
}

Expected<std::vector<Detection>>
onnxquant::decodeBoxes(ArrayRef<const HostTensor *> outputs, int64_t sample,
                       const DecodeOptions &options) {
  if (outputs.empty())
    return fail("boxes expect an output");
  const HostTensor &first = *outputs.front();
  if (options.format == BoxFormat::YoloV10)
    return decodeFinal(first, sample, options);
  bool hasHeads =
      options.format == BoxFormat::YoloV3 ||
      (options.format == BoxFormat::YoloV5 && first.dims.size() > 3);
  if (hasHeads)
    return detections::decodeHeads(outputs, sample, options);
  return decodeTable(first, sample, options);
}
