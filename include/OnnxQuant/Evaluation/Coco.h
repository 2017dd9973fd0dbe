// The COCO detection metric: average precision and recall of boxes.
//
// Precision is read at 101 recalls and averaged over IoU thresholds 0.50, 0.55
// .. 0.95 and over categories; for all boxes, and for small (up to 32^2),
// medium (up to 96^2) and large ones; recall with 1, 10 and 100 detections of
// an image.

#ifndef ONNXQUANT_EVALUATION_COCO_H
#define ONNXQUANT_EVALUATION_COCO_H

#include "OnnxQuant/Evaluation/Detections.h"
#include <array>
#include <map>
#include <vector>

namespace onnxquant {

/// A box that is there.
struct GroundTruth {
  int64_t image = 0, category = 0;
  Box box;
  double area = 0;
  /// A crowd counts neither as found nor as missed.
  bool isCrowd = false;
};

/// A picture of an annotation file.
struct CocoImage {
  int64_t id = 0;
  std::string file;
  double width = 0, height = 0;
};

/// What an annotation file holds.
struct CocoAnnotations {
  std::vector<CocoImage> images;
  std::vector<GroundTruth> boxes;
  /// Identifiers in the file's order, with names.
  std::vector<std::pair<int64_t, std::string>> categories;
};

/// The twelve numbers; -1 where there is nothing to find.
struct CocoSummary {
  double ap = -1, ap50 = -1, ap75 = -1;
  double apSmall = -1, apMedium = -1, apLarge = -1;
  double ar1 = -1, ar10 = -1, ar100 = -1;
  double arSmall = -1, arMedium = -1, arLarge = -1;
  /// Average precision of each category.
  std::map<int64_t, double> perCategory;
};

/// Compares detections with boxes that are there, on the images given.
CocoSummary evaluateCoco(llvm::ArrayRef<GroundTruth> truths,
                         llvm::ArrayRef<Detection> detections,
                         llvm::ArrayRef<int64_t> images);

/// Reads an annotation file (`instances_*.json`). Errors name the file and
/// what is wrong in it.
llvm::Expected<CocoAnnotations> readCocoAnnotations(llvm::StringRef path);
/// Reads a file of results: a list of {image_id, category_id, bbox, score}.
llvm::Expected<std::vector<Detection>> readCocoDetections(llvm::StringRef path);
/// The same as text.
std::string writeCocoDetections(llvm::ArrayRef<Detection> detections);

} // namespace onnxquant

#endif // ONNXQUANT_EVALUATION_COCO_H
