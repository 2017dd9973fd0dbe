// COCO's files: annotations and results, as JSON.

#include "OnnxQuant/Evaluation/Coco.h"
#include "OnnxQuant/Support/Json.h"

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// The box of an entry: x, y, width, height, none of them negative.
static bool readBox(const json::Object &entry, Box &box) {
  const json::Array *numbers = entry.getArray("bbox");
  if (!numbers || numbers->size() != 4)
    return false;
  double values[4];
  for (size_t i = 0; i < 4; ++i) {
    auto value = (*numbers)[i].getAsNumber();
    if (!value)
      return false;
    values[i] = *value;
  }
  box = {values[0], values[1], values[2], values[3]};
  return box.width >= 0 && box.height >= 0;
}

static Error readImages(StringRef path, const json::Object &root,
                        CocoAnnotations &result) {
  const json::Array *images = root.getArray("images");
  if (!images)
    return fail(path + ": expects 'images', a list");
  for (auto [index, value] : enumerate(*images)) {
    const json::Object *entry = value.getAsObject();
    auto id = entry ? entry->getInteger("id") : std::nullopt;
    if (!id)
      return fail(path + ": images[" + Twine(index) +
                  "] expects 'id', a "
                  "number");
    CocoImage image;
    image.id = *id;
    image.file = entry->getString("file_name").value_or("").str();
    image.width = entry->getNumber("width").value_or(0);
    image.height = entry->getNumber("height").value_or(0);
    result.images.push_back(std::move(image));
  }
  return Error::success();
}

static Error readBoxes(StringRef path, const json::Object &root,
                       CocoAnnotations &result) {
  const json::Array *annotations = root.getArray("annotations");
  if (!annotations)
    return fail(path + ": expects 'annotations', a list");
  for (auto [index, value] : enumerate(*annotations)) {
    const json::Object *entry = value.getAsObject();
    GroundTruth truth;
    auto image = entry ? entry->getInteger("image_id") : std::nullopt;
    auto category = entry ? entry->getInteger("category_id") : std::nullopt;
    if (!image || !category || !readBox(*entry, truth.box))
      return fail(path + ": annotations[" + Twine(index) +
                  "] expects image_id, category_id and bbox");
    truth.image = *image;
    truth.category = *category;
    truth.area = entry->getNumber("area").value_or(truth.box.area());
    truth.isCrowd = entry->getInteger("iscrowd").value_or(0) != 0;
    result.boxes.push_back(truth);
  }
  return Error::success();
}

Expected<CocoAnnotations> onnxquant::readCocoAnnotations(StringRef path) {
  Expected<json::Value> value = readForeignJson(path);
  if (!value)
    return value.takeError();
  const json::Object *root = value->getAsObject();
  if (!root)
    return fail(path + ": expects an object with images and annotations");
  CocoAnnotations result;
  if (Error error = readImages(path, *root, result))
    return error;
  if (Error error = readBoxes(path, *root, result))
    return error;
  if (const json::Array *categories = root->getArray("categories"))
    for (auto [index, entry] : enumerate(*categories)) {
      const json::Object *category = entry.getAsObject();
      auto id = category ? category->getInteger("id") : std::nullopt;
      if (!id)
        return fail(path + ": categories[" + Twine(index) +
                    "] expects 'id', a number");
      result.categories.emplace_back(
          *id, category->getString("name").value_or("").str());
    }
  return result;
}

Expected<std::vector<Detection>> onnxquant::readCocoDetections(StringRef path) {
  Expected<json::Value> value = readForeignJson(path);
  if (!value)
    return value.takeError();
  const json::Array *list = value->getAsArray();
  if (!list)
    return fail(path + ": expects a list of detections");
  std::vector<Detection> detections;
  for (auto [index, entry] : enumerate(*list)) {
    const json::Object *object = entry.getAsObject();
    Detection detection;
    auto image = object ? object->getInteger("image_id") : std::nullopt;
    auto category = object ? object->getInteger("category_id") : std::nullopt;
    auto score = object ? object->getNumber("score") : std::nullopt;
    if (!image || !category || !score || !readBox(*object, detection.box))
      return fail(path + ": [" + Twine(index) +
                  "] expects image_id, category_id, bbox and score");
    detection.image = *image;
    detection.category = *category;
    detection.score = *score;
    detections.push_back(detection);
  }
  return detections;
}

std::string onnxquant::writeCocoDetections(ArrayRef<Detection> detections) {
  json::Array list;
  for (const Detection &each : detections)
    list.push_back(
        json::Object{{"image_id", each.image},
                     {"category_id", each.category},
                     {"bbox", json::Array{each.box.x, each.box.y,
                                          each.box.width, each.box.height}},
                     {"score", each.score}});
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(list)) << "\n";
  return text;
}
