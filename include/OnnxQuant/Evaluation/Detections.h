// Boxes found in images: from the outputs of YOLO-style networks, and the best
// of those that overlap.

#ifndef ONNXQUANT_EVALUATION_DETECTIONS_H
#define ONNXQUANT_EVALUATION_DETECTIONS_H

#include "OnnxQuant/Support/HostTensor.h"
#include "llvm/ADT/ArrayRef.h"
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
  /// [n, boxes, 5 + classes]: center, size, objectness, scores of classes.
  YoloV5,
  /// [n, 4 + classes, boxes]: center, size, scores of classes.
  YoloV8,
  /// As YoloV5, with center and size relative to cells of grids of 8, 16 and 32
  /// pixels.
  YoloX
};
llvm::Expected<BoxFormat> parseBoxFormat(llvm::StringRef name);

struct DecodeOptions {
  BoxFormat format = BoxFormat::YoloV5;
  /// Scores below this are left out.
  double scoreThreshold = 0.001;
  /// Of boxes of one class that overlap more, the best is kept.
  double overlapThreshold = 0.65;
  int64_t mostBoxes = 100;
  /// The network's input, in pixels.
  int64_t inputHeight = 0, inputWidth = 0;
};

/// Boxes of the n-th sample of an output, in pixels of the network's input,
/// the best first; `category` is the index of the class. Fails, naming the
/// output, if its shape is another.
llvm::Expected<std::vector<Detection>>
decodeBoxes(const HostTensor &output, int64_t sample,
            const DecodeOptions &options);

/// Keeps of boxes of one category that overlap the best; sorted by score.
std::vector<Detection> suppressOverlaps(std::vector<Detection> boxes,
                                        double threshold, int64_t mostBoxes);

} // namespace onnxquant

#endif // ONNXQUANT_EVALUATION_DETECTIONS_H
