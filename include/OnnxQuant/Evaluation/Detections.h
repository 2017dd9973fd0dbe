// Boxes found in images: from the outputs of YOLO-style networks, and the best
// of those that overlap.

#ifndef ONNXQUANT_EVALUATION_DETECTIONS_H
#define ONNXQUANT_EVALUATION_DETECTIONS_H

#include "OnnxQuant/Support/HostTensor.h"
#include "llvm/ADT/ArrayRef.h"
#include <utility>
#include <vector>

namespace onnxquant {

/// In pixels from the upper left corner.
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  double area() const { return width * height; }
};

struct Detection {
  int64_t image = 0, category = 0;
  Box box;
  double score = 0;
};

/// The overlap of two boxes by their union; for a crowd, by the detection.
double intersectionOverUnion(const Box &detection, const Box &truth,
                             bool isCrowd = false);

/// How outputs mean boxes.
enum class BoxFormat {
  /// Heads of cells with anchors, one output each, before their sigmoids:
  /// [n, anchors * (5 + classes), rows, columns], [n, anchors, rows, columns,
  /// 5 + classes], or the same with channels last.
  YoloV3,
  /// [n, boxes, 5 + classes]: center, size, objectness, scores of classes.
  /// Heads
  /// as of YoloV3 are taken too, with this family's formulas.
  YoloV5,
  /// [n, 4 + classes, boxes]: center, size, scores of classes.
  YoloV8,
  /// [n, boxes, 6]: left, top, right, bottom, score, class. Overlaps were
  /// suppressed by the network.
  YoloV10,
  /// As YoloV5, with center and size relative to cells of grids of 8, 16 and 32
  /// pixels.
  YoloX
};
llvm::Expected<BoxFormat> parseBoxFormat(llvm::StringRef name);
/// The names that there are, separated by commas.
llvm::StringRef boxFormatNames();

struct DecodeOptions {
  BoxFormat format = BoxFormat::YoloV5;
  /// Scores below this are left out.
  double scoreThreshold = 0.001;
  /// Of boxes of one class that overlap more, the best is kept.
  double overlapThreshold = 0.65;
  int64_t mostBoxes = 100;
  /// The network's input, in pixels.
  int64_t inputHeight = 0, inputWidth = 0;
  /// Widths and heights of the anchors in pixels, those of the finest head
  /// first; empty: those of the networks trained on COCO.
  std::vector<std::pair<double, double>> anchors;
};

/// Boxes of the n-th sample of the outputs, in pixels of the network's input,
/// the best first; `category` is the index of the class. Formats without heads
/// read the first output. Fails, naming the output, if its shape is another.
llvm::Expected<std::vector<Detection>>
decodeBoxes(llvm::ArrayRef<const HostTensor *> outputs, int64_t sample,
            const DecodeOptions &options);

/// Where a picture lies in the network's input: pixels of the input are those
/// of the picture times a factor, plus a border.
struct Placement {
  double scaleX = 1, scaleY = 1, left = 0, top = 0;

  /// The picture is stretched to the input's size.
  static Placement stretched(double width, double height, double inputWidth,
                             double inputHeight);
  /// The picture keeps its proportions; what is left of the input is a border:
  /// on both sides, or to the right and below.
  static Placement letterboxed(double width, double height, double inputWidth,
                               double inputHeight, bool centered);
  /// A box of the input in pixels of the picture.
  Box toPicture(const Box &box) const;
};

/// Keeps of boxes of one category that overlap the best; sorted by score.
std::vector<Detection> suppressOverlaps(std::vector<Detection> boxes,
                                        double threshold, int64_t mostBoxes);

} // namespace onnxquant

#endif // ONNXQUANT_EVALUATION_DETECTIONS_H
