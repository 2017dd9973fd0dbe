// Runs samples through models and scores their outputs.

#include "OnnxQuant/Evaluation/Evaluation.h"
#include "OnnxQuant/Support/Progress.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

namespace {

/// One evaluation under way.
class Evaluator {
public:
  Evaluator(const ModelSource &model, const ModelSource *reference,
            const EvaluationOptions &options)
      : model(model), reference(reference), options(options) {}

  Expected<EvaluationResult> run();

private:
  Error open();
  Error openLabels();
  Error compile(const Tensors &inputs);
  Error runBatch(const Tensors &inputs, ArrayRef<int64_t> samples);
  Expected<std::vector<HostTensor>>
  time(const Program &program, const Tensors &inputs, ModelScore &score);
  Expected<const HostTensor *> pick(const std::vector<HostTensor> &outputs,
                                    const ModelSource &source) const;
  /// The scores of each sample of an output.
  Expected<std::vector<std::vector<double>>> split(const HostTensor &output,
                                                   size_t samples) const;
  Error addClasses(const HostTensor &output, ArrayRef<int64_t> samples,
                   ModelScore &score);
  Error addBoxes(const HostTensor &output, const Tensors &inputs,
                 ArrayRef<int64_t> samples, ModelScore &score);
  Error compare(const std::vector<HostTensor> &right,
                const std::vector<HostTensor> &mine, size_t samples);
  void finish();

  const ModelSource &model;
  const ModelSource *reference;
  const EvaluationOptions &options;
  std::optional<DataSet> data;
  std::optional<LabelSet> labels;
  std::optional<CocoAnnotations> annotations;
  StringMap<const CocoImage *> imagesByFile;
  std::vector<int64_t> seen;
  std::unique_ptr<Program> program, referenceProgram;
  EvaluationResult result;
};

} // namespace

Error Evaluator::openLabels() {
  if (options.metrics.needsLabels()) {
    auto read = options.labels.empty() ? LabelSet::fromFolders(*data)
                                       : LabelSet::read(options.labels);
    if (!read)
      return read.takeError();
    labels.emplace(std::move(*read));
  }
  if (!options.metrics.coco)
    return Error::success();
  if (options.labels.empty())
    return fail("metric coco expects annotations: --labels FILE");
  auto read = readCocoAnnotations(options.labels);
  if (!read)
    return read.takeError();
  annotations.emplace(std::move(*read));
  if (annotations->categories.empty())
    return fail(options.labels + ": expects 'categories', which say what the "
                                 "classes of the model are");
  for (const CocoImage &image : annotations->images)
    imagesByFile[sys::path::filename(image.file)] = &image;
  return Error::success();
}

Error Evaluator::open() {
  if (options.data.batch > 1)
    for (const ModelSource *source : {&model, reference})
      for (const InputInfo &input :
           source ? source->inputs : std::vector<InputInfo>())
        if (input.dims.empty() || input.dims[0] >= 0)
          return fail(source->name +
                      ": batch expects the first dimension of "
                      "input '" +
                      input.name + "' to be open");
  if (reference) {
    bool same = model.inputs.size() == reference->inputs.size();
    for (auto [mine, theirs] : zip(model.inputs, reference->inputs))
      same = same && mine.name == theirs.name && mine.type == theirs.type;
    if (!same)
      return fail(reference->name + ": has other inputs than " + model.name);
  }
  auto set = DataSet::open(options.data, model.inputs);
  if (!set)
    return set.takeError();
  data.emplace(std::move(*set));
  if (data->size() == 0)
    return fail("no samples are left to run");
  result.metrics = options.metrics;
  result.batch = options.data.batch;
  result.model.name = model.name;
  result.model.bytes = model.bytes;
  if (reference) {
    result.reference.emplace();
    result.reference->name = reference->name;
    result.reference->bytes = reference->bytes;
    result.likeness.emplace();
  }
  return openLabels();
}

Error Evaluator::compile(const Tensors &inputs) {
  auto made = model.make(inputs);
  if (!made)
    return made.takeError();
  program = std::move(*made);
  if (!reference)
    return Error::success();
  auto other = reference->make(inputs);
  if (!other)
    return other.takeError();
  referenceProgram = std::move(*other);
  return Error::success();
}

Expected<std::vector<HostTensor>> Evaluator::time(const Program &program,
                                                  const Tensors &inputs,
                                                  ModelScore &score) {
  auto start = std::chrono::steady_clock::now();
  auto outputs = program.run(inputs);
  if (!outputs)
    return fail(score.name + ": " + toString(outputs.takeError()));
  std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - start;
  score.latencies.add(took.count());
  return outputs;
}

Expected<const HostTensor *>
Evaluator::pick(const std::vector<HostTensor> &outputs,
                const ModelSource &source) const {
  for (const HostTensor &output : outputs)
    if (options.output.empty() || output.name == options.output)
      return &output;
  return fail(source.name + ": has no output '" + options.output + "'");
}

Expected<std::vector<std::vector<double>>>
Evaluator::split(const HostTensor &output, size_t samples) const {
  auto count = static_cast<size_t>(output.numElements());
  if (count == 0 || count % samples != 0)
    return fail("output '" + output.name + "' has " + Twine(count) +
                " elements, which are no scores of " + Twine(samples) +
                " samples");
  size_t each = count / samples;
  std::vector<std::vector<double>> scores(samples);
  for (size_t i = 0; i < count; ++i)
    scores[i / each].push_back(output.at(i));
  return scores;
}

Error Evaluator::addClasses(const HostTensor &output, ArrayRef<int64_t> samples,
                            ModelScore &score) {
  auto scores = split(output, samples.size());
  if (!scores)
    return scores.takeError();
  for (auto [each, sample] : zip(*scores, samples)) {
    Expected<int64_t> label = labels->of(*data, sample);
    if (!label)
      return label.takeError();
    if (*label < 0 || *label >= static_cast<int64_t>(each.size()))
      return fail("label " + Twine(*label) + " of sample " + Twine(sample) +
                  " is none of the " + Twine(each.size()) +
                  " classes of output '" + output.name + "'");
    score.top.add(each, *label);
  }
  return Error::success();
}

Error Evaluator::addBoxes(const HostTensor &output, const Tensors &inputs,
                          ArrayRef<int64_t> samples, ModelScore &score) {
  const HostTensor &input = inputs[0];
  if (input.dims.size() != 4)
    return fail("input '" + input.name + "' expects images of 4 dimensions");
  bool last = input.dims[1] > 4 && input.dims[3] <= 4;
  DecodeOptions decode = options.boxes;
  decode.inputHeight = input.dims[last ? 1 : 2];
  decode.inputWidth = input.dims[last ? 2 : 3];
  for (auto [place, sample] : enumerate(samples)) {
    std::string file = data->fileOf(sample);
    const CocoImage *image = imagesByFile.lookup(sys::path::filename(file));
    if (!image)
      return fail(options.labels + ": has no image '" +
                  sys::path::filename(file) + "'");
    if (image->width <= 0 || image->height <= 0)
      return fail(options.labels + ": image '" + image->file +
                  "' expects width and height");
    auto boxes = decodeBoxes(output, static_cast<int64_t>(place), decode);
    if (!boxes)
      return boxes.takeError();
    double across = image->width / static_cast<double>(decode.inputWidth),
           down = image->height / static_cast<double>(decode.inputHeight);
    for (Detection box : *boxes) {
      if (box.category >= static_cast<int64_t>(annotations->categories.size()))
        return fail("output '" + output.name + "' has more classes than " +
                    options.labels + " has categories");
      box.image = image->id;
      box.category = annotations->categories[box.category].first;
      box.box = {box.box.x * across, box.box.y * down, box.box.width * across,
                 box.box.height * down};
      score.detections.push_back(box);
    }
    if (&score == &result.model)
      seen.push_back(image->id);
  }
  return Error::success();
}

Error Evaluator::compare(const std::vector<HostTensor> &right,
                         const std::vector<HostTensor> &mine, size_t samples) {
  if (right.size() != mine.size())
    return fail(reference->name + ": has " + Twine(right.size()) +
                " outputs, but " + model.name + " has " + Twine(mine.size()));
  for (auto [theirs, ours] : zip(right, mine)) {
    if (theirs.dims != ours.dims)
      return fail("output '" + ours.name + "' has another shape than in " +
                  reference->name);
    for (int64_t i = 0; i < theirs.numElements(); ++i)
      result.likeness->add(theirs.at(i), ours.at(i));
  }
  auto theirs = pick(right, *reference);
  auto ours = pick(mine, model);
  if (!theirs || !ours)
    return joinErrors(theirs.takeError(), ours.takeError());
  result.likeness->samples += static_cast<int64_t>(samples);
  if (!options.metrics.agreement)
    return Error::success();
  auto first = split(**theirs, samples);
  if (!first)
    return first.takeError();
  auto second = split(**ours, samples);
  if (!second)
    return second.takeError();
  for (auto [a, b] : zip(*first, *second))
    result.likeness->agreements += bestClass(a) == bestClass(b);
  return Error::success();
}

Error Evaluator::runBatch(const Tensors &inputs, ArrayRef<int64_t> samples) {
  if (!program)
    if (Error error = compile(inputs))
      return error;
  auto score = [&](const Program &which, const ModelSource &source,
                   ModelScore &place) -> Expected<std::vector<HostTensor>> {
    auto outputs = time(which, inputs, place);
    if (!outputs)
      return outputs.takeError();
    auto picked = pick(*outputs, source);
    if (!picked)
      return picked.takeError();
    if (options.metrics.needsLabels())
      if (Error error = addClasses(**picked, samples, place))
        return error;
    if (options.metrics.coco)
      if (Error error = addBoxes(**picked, inputs, samples, place))
        return error;
    return outputs;
  };
  auto mine = score(*program, model, result.model);
  if (!mine)
    return mine.takeError();
  if (!reference)
    return Error::success();
  auto theirs = score(*referenceProgram, *reference, *result.reference);
  if (!theirs)
    return theirs.takeError();
  return compare(*theirs, *mine, samples.size());
}

void Evaluator::finish() {
  if (!options.metrics.coco)
    return;
  auto summarize = [&](ModelScore &score) {
    score.coco = evaluateCoco(annotations->boxes, score.detections, seen);
  };
  summarize(result.model);
  if (result.reference)
    summarize(*result.reference);
}

Expected<EvaluationResult> Evaluator::run() {
  if (Error error = open())
    return error;
  Progress progress("evaluating", "samples", data->size(), options.quiet);
  BatchReader reader(*data, options.data);
  while (true) {
    progress.update(reader.position());
    if (options.interrupted && options.interrupted()) {
      progress.clear();
      return fail("interrupted after " + Twine(result.samples) + " of " +
                  Twine(data->size()) + " samples");
    }
    auto batch = reader.next();
    if (!batch)
      return batch.takeError();
    if (!*batch)
      break;
    if (Error error = runBatch(**batch, reader.indices()))
      return error;
    result.samples += static_cast<int64_t>(reader.indices().size());
  }
  progress.clear();
  result.skipped = static_cast<int64_t>(reader.skipped().size());
  if (result.samples == 0)
    return fail("no sample could be read: " + reader.skipped().front());
  finish();
  return std::move(result);
}

Expected<EvaluationResult>
onnxquant::evaluateModel(const ModelSource &model, const ModelSource *reference,
                         const EvaluationOptions &options) {
  return Evaluator(model, reference, options).run();
}

Expected<EvaluationResult> onnxquant::evaluateFile(StringRef detections,
                                                   StringRef annotations) {
  auto there = readCocoAnnotations(annotations);
  if (!there)
    return there.takeError();
  auto found = readCocoDetections(detections);
  if (!found)
    return found.takeError();
  std::vector<int64_t> images;
  for (const CocoImage &image : there->images)
    images.push_back(image.id);
  for (const Detection &detection : *found)
    if (!llvm::is_contained(images, detection.image))
      return fail(detections + ": image " + Twine(detection.image) +
                  " is none of " + annotations);
  EvaluationResult result;
  result.metrics.coco = true;
  result.samples = static_cast<int64_t>(images.size());
  result.model.name = detections.str();
  result.model.coco = evaluateCoco(there->boxes, *found, images);
  return result;
}
