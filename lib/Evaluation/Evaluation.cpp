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
  /// Compiles the models that haven't been, or not for inputs of these sizes.
  Error compile(const Tensors &inputs);
  Error runBatch(const Tensors &inputs, ArrayRef<int64_t> samples);
  Expected<std::vector<HostTensor>>
  time(const Program &program, const Tensors &inputs, ModelScore &score);
  /// The outputs that boxes are in.
  Expected<std::vector<const HostTensor *>>
  pickHeads(const std::vector<HostTensor> &outputs,
            const ModelSource &source) const;
  Expected<const CocoImage *> imageOf(int64_t sample) const;
  /// How images become tensors, where that is known; null if it isn't.
  const PreprocessPlan *knownPlan() const;
  Expected<const HostTensor *> pick(const std::vector<HostTensor> &outputs,
                                    const ModelSource &source) const;
  /// The scores of each sample of an output.
  Expected<std::vector<std::vector<double>>> split(const HostTensor &output,
                                                   size_t samples) const;
  Error addClasses(const HostTensor &output, ArrayRef<int64_t> samples,
                   ModelScore &score);
  Error addBoxes(ArrayRef<const HostTensor *> outputs, const Tensors &inputs,
                 ArrayRef<int64_t> samples, ModelScore &score);
  Error compare(const std::vector<HostTensor> &right,
                const std::vector<HostTensor> &mine, size_t samples);
  Error compareClasses(const HostTensor &theirs, const HostTensor &ours,
                       size_t samples);
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
  /// The sizes that programs are compiled for; all that the models take, once
  /// samples have shown to differ.
  std::vector<std::vector<int64_t>> sizes;
  bool isOpen = false;
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
  if (options.fit && knownPlan())
    return fail("--fit is for tensors: how images are put into the input is "
                "known here; see --letterbox");
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
  std::vector<std::vector<int64_t>> wanted;
  for (const HostTensor &input : inputs) {
    wanted.push_back(input.dims);
    // Batches may have fewer samples at the end.
    if (options.data.batch > 1 && !input.dims.empty())
      wanted.back().front() = -1;
  }
  bool isFirst = !program;
  if (!isFirst && (isOpen || wanted == sizes))
    return Error::success();
  isOpen = !isFirst;
  sizes = std::move(wanted);
  auto make = [&](const ModelSource &source, std::unique_ptr<Program> &place,
                  ModelScore &score) -> Error {
    if (place && source.isCompiled)
      return Error::success();
    auto made = source.make(inputs, isOpen);
    if (!made)
      return made.takeError();
    place = std::move(*made);
    // Times are those of one program.
    score.latencies.clear();
    return Error::success();
  };
  if (Error error = make(model, program, result.model))
    return error;
  return reference ? make(*reference, referenceProgram, *result.reference)
                   : Error::success();
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

Expected<std::vector<const HostTensor *>>
Evaluator::pickHeads(const std::vector<HostTensor> &outputs,
                     const ModelSource &source) const {
  std::vector<const HostTensor *> picked;
  if (options.output.empty()) {
    for (const HostTensor &output : outputs)
      picked.push_back(&output);
    return picked;
  }
  SmallVector<StringRef> names;
  StringRef(options.output).split(names, ',', -1, /*KeepEmpty=*/false);
  for (StringRef name : names) {
    auto found = find_if(
        outputs, [&](const HostTensor &output) { return output.name == name; });
    if (found == outputs.end())
      return fail(source.name + ": has no output '" + name + "'");
    picked.push_back(&*found);
  }
  return picked;
}

/// By the file's name; samples that are no files are the annotations' images in
/// order.
Expected<const CocoImage *> Evaluator::imageOf(int64_t sample) const {
  std::string file = data->fileOf(sample);
  const CocoImage *image = nullptr;
  if (!file.empty()) {
    image = imagesByFile.lookup(sys::path::filename(file));
    if (!image)
      return fail(options.labels + ": has no image '" +
                  sys::path::filename(file) + "'");
  } else {
    auto count = static_cast<int64_t>(annotations->images.size());
    if (data->sourceSize() != count)
      return fail(options.labels + ": has " + Twine(count) +
                  " images, but the data has " + Twine(data->sourceSize()) +
                  " samples; tensors are the images in their order");
    image = &annotations->images[data->position(sample)];
  }
  if (image->width <= 0 || image->height <= 0)
    return fail(options.labels + ": image '" + image->file +
                "' expects width and height");
  return image;
}

const PreprocessPlan *Evaluator::knownPlan() const {
  return isPluginPreprocess(options.data.preprocess.name) ? nullptr
                                                          : data->imagePlan();
}

Error Evaluator::addBoxes(ArrayRef<const HostTensor *> outputs,
                          const Tensors &inputs, ArrayRef<int64_t> samples,
                          ModelScore &score) {
  const HostTensor &input = inputs[0];
  if (input.dims.size() != 4)
    return fail("input '" + input.name + "' expects images of 4 dimensions");
  bool last = input.dims[1] > 4 && input.dims[3] <= 4;
  DecodeOptions decode = options.boxes;
  const PreprocessPlan *plan = knownPlan();
  decode.inputHeight = input.dims[last ? 1 : 2];
  decode.inputWidth = input.dims[last ? 2 : 3];
  auto inputWidth = static_cast<double>(decode.inputWidth),
       inputHeight = static_cast<double>(decode.inputHeight);
  using Fit = EvaluationOptions::Fit;
  for (auto [place, sample] : enumerate(samples)) {
    auto image = imageOf(sample);
    if (!image)
      return image.takeError();
    auto boxes = decodeBoxes(outputs, static_cast<int64_t>(place), decode);
    if (!boxes)
      return boxes.takeError();
    double width = (*image)->width, height = (*image)->height;
    Placement placement;
    if (plan) {
      // What was done to the image is known.
      auto placed = placeImage((*image)->width, (*image)->height, *plan);
      if (!placed)
        return fail(data->fileOf(sample) + ": " + toString(placed.takeError()));
      placement.scaleX = static_cast<double>(placed->resizedWidth) / width;
      placement.scaleY = static_cast<double>(placed->resizedHeight) / height;
      placement.left = static_cast<double>(placed->left);
      placement.top = static_cast<double>(placed->top);
    } else if (options.fit.value_or(Fit::Stretched) == Fit::Stretched) {
      placement = Placement::stretched(width, height, inputWidth, inputHeight);
    } else {
      placement = Placement::letterboxed(width, height, inputWidth, inputHeight,
                                         options.fit == Fit::Letterboxed);
    }
    for (Detection box : *boxes) {
      if (box.category >= static_cast<int64_t>(annotations->categories.size()))
        return fail("output '" + outputs.front()->name +
                    "' has more classes than " + options.labels +
                    " has categories");
      box.image = (*image)->id;
      box.category = annotations->categories[box.category].first;
      box.box = placement.toPicture(box.box);
      score.detections.push_back(box);
    }
    if (&score == &result.model)
      seen.push_back((*image)->id);
  }
  return Error::success();
}

Error Evaluator::compareClasses(const HostTensor &theirs,
                                const HostTensor &ours, size_t samples) {
  Metrics &metrics = result.metrics;
  if (metrics.agreementIfClasses && !hasClassScores(theirs))
    metrics.agreement = false;
  if (!metrics.agreement)
    return Error::success();
  if (classesOf(theirs) < 2)
    return fail(
        "output '" + theirs.name +
        "' has one number along its last axis: agreement expects scores "
        "of classes there");
  result.likeness->addClasses(theirs, ours, static_cast<int64_t>(samples));
  return Error::success();
}

Error Evaluator::compare(const std::vector<HostTensor> &right,
                         const std::vector<HostTensor> &mine, size_t samples) {
  if (right.size() != mine.size())
    return fail(reference->name + ": has " + Twine(right.size()) +
                " outputs, but " + model.name + " has " + Twine(mine.size()));
  double signal = result.likeness->signal, noise = result.likeness->noise;
  for (auto [theirs, ours] : zip(right, mine)) {
    if (theirs.dims != ours.dims)
      return fail("output '" + ours.name + "' has another shape than in " +
                  reference->name);
    for (int64_t i = 0; i < theirs.numElements(); ++i)
      result.likeness->add(theirs.at(i), ours.at(i));
  }
  result.likeness->energies.emplace_back(result.likeness->signal - signal,
                                         result.likeness->noise - noise);
  if (!result.metrics.agreement)
    return Error::success();
  auto theirs = pick(right, *reference);
  if (!theirs)
    return theirs.takeError();
  auto ours = pick(mine, model);
  if (!ours)
    return ours.takeError();
  return compareClasses(**theirs, **ours, samples);
}

Error Evaluator::runBatch(const Tensors &inputs, ArrayRef<int64_t> samples) {
  if (Error error = compile(inputs))
    return error;
  auto score = [&](const Program &which, const ModelSource &source,
                   ModelScore &place) -> Expected<std::vector<HostTensor>> {
    auto outputs = time(which, inputs, place);
    if (!outputs)
      return outputs.takeError();
    if (options.metrics.needsLabels()) {
      auto picked = pick(*outputs, source);
      if (!picked)
        return picked.takeError();
      if (Error error = addClasses(**picked, samples, place))
        return error;
    }
    if (options.metrics.coco) {
      auto heads = pickHeads(*outputs, source);
      if (!heads)
        return heads.takeError();
      if (Error error = addBoxes(*heads, inputs, samples, place))
        return error;
    }
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
    if (Error error = runBatch(**batch, reader.indices())) {
      std::string message = toString(std::move(error));
      // An empty one is of what has been said already.
      return fail(message.empty()
                      ? message
                      : data->explain(message, reader.indices(), **batch));
    }
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
