// Samples chosen from sources, and checked against a model's inputs.

#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/Support/NearestName.h"
#include "SourceSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

int64_t onnxquant::calibrationShare(int64_t samples) {
  constexpr int64_t most = 256;
  return std::min(samples / 2, most);
}

bool onnxquant::isForCalibration(int64_t index, int64_t samples, int64_t kept) {
  return (index + 1) * kept / samples > index * kept / samples;
}

/// Which of a source's samples are asked for.
static std::vector<int64_t> choose(int64_t size, const DataOptions &options) {
  std::vector<int64_t> all, mine;
  for (int64_t i = options.start; i < size; i += options.stride) {
    if (options.limit > 0 && static_cast<int64_t>(all.size()) >= options.limit)
      break;
    all.push_back(i);
  }
  for (size_t i = options.shard; i < all.size(); i += options.shards)
    mine.push_back(all[i]);
  if (options.part == DataOptions::Part::All)
    return mine;
  bool calibrates = options.part == DataOptions::Part::Calibration;
  auto count = static_cast<int64_t>(mine.size()),
       kept = calibrationShare(count);
  std::vector<int64_t> part;
  for (auto [index, sample] : enumerate(mine))
    if (isForCalibration(static_cast<int64_t>(index), count, kept) ==
        calibrates)
      part.push_back(sample);
  return part;
}

Error onnxquant::checkDataOptions(const DataOptions &options) {
  auto least = [](StringRef name, int64_t value, int64_t bound) {
    return value >= bound ? Error::success()
                          : fail(name + " expects a number from " +
                                 Twine(bound) + " on, but got " + Twine(value));
  };
  if (Error error = least("start", options.start, 0))
    return error;
  if (Error error = least("stride", options.stride, 1))
    return error;
  if (Error error = least("limit", options.limit, 0))
    return error;
  if (Error error = least("batch", options.batch, 1))
    return error;
  return checkSampleOptions(options.preprocess);
}

/// The names of a model's inputs, for an error about one.
static std::string inputNames(ArrayRef<InputInfo> inputs) {
  std::vector<std::string> names;
  for (const InputInfo &input : inputs)
    names.push_back(input.name);
  return listNames(names);
}

/// Options that mean nothing for these samples.
static Error refuseOptions(const DataOptions &options, bool hasImages,
                           int64_t size, StringRef path) {
  std::vector<std::string> given = options.preprocess.given();
  if (!hasImages && !given.empty())
    return fail(given[0] + " is for images, but " + path +
                " holds arrays, which are taken as they are");
  if (options.start >= size)
    return fail("start leaves out all samples: " + path + " has " +
                Twine(size));
  return Error::success();
}

Expected<DataSet> DataSet::open(const DataOptions &options,
                                std::vector<InputInfo> inputs) {
  if (Error error = checkDataOptions(options))
    return error;
  DataSet set;
  set.inputs = std::move(inputs);
  set.sink = options.note;
  set.said = std::make_shared<std::set<std::string>>();
  if (options.source) {
    if (auto given = options.preprocess.given(); !given.empty())
      return fail(given[0] + " is for images, but samples are arrays");
    set.uniform = options.source->isUniform();
    set.streamed = options.source->isStream();
    set.start = options.start, set.stride = options.stride;
    set.limit = options.limit;
    set.shard = options.shard, set.shards = options.shards;
    if (!set.streamed)
      set.chosen = choose(options.source->size(), options);
    set.sources.emplace_back("", options.source);
    return set;
  }
  if (options.paths.empty())
    return fail("no data is given");
  if (set.inputs.empty())
    return fail("the model has no inputs");
  int64_t size = -1;
  set.uniform = true;
  for (StringRef text : options.paths) {
    // INPUT=PATH, unless a file is named like that.
    StringRef name, path = text;
    if (text.contains('=') && !sys::fs::exists(text))
      std::tie(name, path) = text.split('=');
    const InputInfo *input = &set.inputs[0];
    if (!name.empty()) {
      auto found = find_if(
          set.inputs, [&](const InputInfo &info) { return info.name == name; });
      if (found == set.inputs.end())
        return fail("the model has no input '" + name + "'; it has " +
                    inputNames(set.inputs));
      input = &*found;
    }
    auto source = openSource(path, {set.inputs, *input, !name.empty(),
                                    options.paths.size() == 1,
                                    options.preprocess, options.note});
    if (!source)
      return source.takeError();
    if (size >= 0 && size != (*source)->size())
      return fail(path + ": has " + Twine((*source)->size()) +
                  " samples, but the other inputs have " + Twine(size));
    size = (*source)->size();
    set.uniform &= (*source)->isUniform();
    set.sources.emplace_back(name.str(), std::move(*source));
  }
  if (Error error =
          refuseOptions(options, set.imagePlan(), size, options.paths.front()))
    return error;
  set.chosen = choose(size, options);
  int64_t left = (size - options.start + options.stride - 1) / options.stride;
  if (options.limit > left)
    set.note("limit is " + std::to_string(options.limit) +
             ", but there are only " + std::to_string(left) + " samples");
  return set;
}

int64_t DataSet::streamPlace(int64_t index) const {
  return start + stride * (shard + index * shards);
}

int64_t DataSet::streamSize() const {
  int64_t known = sources[0].second->size();
  int64_t all = known > start ? (known - start - 1) / stride + 1 : 0;
  if (limit > 0 && known > 0)
    all = std::min(all, limit);
  return all > shard ? (all - shard - 1) / shards + 1 : 0;
}

bool DataSet::has(int64_t index) const {
  if (!streamed)
    return index < size();
  if (limit > 0 && shard + index * shards >= limit)
    return false;
  return sources[0].second->has(streamPlace(index));
}

void DataSet::note(const std::string &message) const {
  if (sink && said->insert(message).second)
    sink(message);
}

const PreprocessPlan *DataSet::imagePlan() const {
  for (const auto &[name, source] : sources)
    if (const PreprocessPlan *plan = source->imagePlan())
      return plan;
  return nullptr;
}

std::string DataSet::placeOf(int64_t index) const {
  return sources[0].second->placeOf(position(index));
}

std::string DataSet::describe(ArrayRef<int64_t> samples,
                              const Tensors &tensors) const {
  static constexpr size_t most = 4;
  std::string text;
  for (auto [i, sample] : enumerate(samples.take_front(most)))
    text += (i ? "; " : "") + placeOf(sample);
  if (samples.size() > most)
    text += " and " + std::to_string(samples.size() - most) + " more";
  text += " (";
  for (auto [i, tensor] :
       enumerate(ArrayRef(tensors).take_front(inputs.size())))
    text += (i ? ", " : "") + tensor.name + ": " + shapeText(tensor.dims);
  return text + ")";
}

std::string DataSet::explain(const std::string &failure,
                             ArrayRef<int64_t> samples,
                             const Tensors &tensors) const {
  std::string text = describe(samples, tensors) + ": " + failure;
  bool isOpen = any_of(inputs, [](const InputInfo &input) {
    return is_contained(ArrayRef(input.dims).drop_front(!input.dims.empty()),
                        -1);
  });
  if (!isOpen)
    return text;
  if (imagePlan())
    return text + "; if the model can't take this size, give another one by "
                  "--size HxW, or pad by --multiple-of N";
  return text +
         "; if the model can't take this shape, give samples of another "
         "one, and say it by --input-shape " +
         inputs[0].name + "=SHAPE";
}

/// Gives a tensor the input's type and, where it has a first axis more or less,
/// its rank, and checks it.
Error DataSet::fit(HostTensor &tensor, const InputInfo &input) const {
  int32_t from = tensor.type;
  Expected<bool> converted = convertElements(tensor, input.type);
  if (!converted)
    return fail("input '" + input.name + "' " +
                toString(converted.takeError()));
  if (*converted)
    note("input '" + input.name + "': " + typeName(from) + " is converted to " +
         typeName(input.type));
  if (!fitsShape(tensor.dims, input.dims)) {
    std::vector<int64_t> wider = tensor.dims, narrower = tensor.dims;
    wider.insert(wider.begin(), 1);
    if (!narrower.empty() && narrower[0] == 1)
      narrower.erase(narrower.begin());
    if (fitsShape(wider, input.dims))
      tensor.dims = wider;
    else if (fitsShape(narrower, input.dims))
      tensor.dims = narrower;
    else
      return fail("input '" + input.name + "' expects shape " +
                  shapeText(input.dims) + ", but got " +
                  shapeText(tensor.dims) + layoutHint(tensor.dims, input.dims));
  }
  tensor.name = input.name;
  return Error::success();
}

/// What the sources give for a sample.
Expected<Tensors> DataSet::loadAll(int64_t index) const {
  Tensors given;
  for (const auto &[name, source] : sources) {
    Expected<Tensors> loaded = source->load(position(index));
    if (!loaded)
      return loaded.takeError();
    if (!name.empty() && loaded->size() != 1)
      return fail(placeOf(index) + ": input '" + name +
                  "' expects one tensor in a sample, but got " +
                  Twine(loaded->size()));
    // Test data is in the order of inputs; its tensors' names count only if
    // they are all those of inputs.
    bool areKnown = all_of(*loaded, [&](const HostTensor &tensor) {
      return any_of(inputs, [&](const InputInfo &input) {
        return input.name == tensor.name;
      });
    });
    for (HostTensor &tensor : *loaded) {
      if (!name.empty())
        tensor.name = name;
      else if (!areKnown)
        tensor.name.clear();
      given.push_back(std::move(tensor));
    }
  }
  return given;
}

Expected<Tensors> DataSet::load(int64_t index) const {
  Expected<Tensors> loaded = loadAll(index);
  if (!loaded)
    return loaded.takeError();
  Tensors &given = *loaded;
  Tensors ordered(inputs.size());
  std::vector<bool> used(given.size()), filled(inputs.size());
  auto failHere = [&](const Twine &message) {
    return fail(placeOf(index) + ": " + message);
  };
  auto take = [&](size_t input, size_t tensor) {
    ordered[input] = std::move(given[tensor]);
    filled[input] = used[tensor] = true;
    Error error = fit(ordered[input], inputs[input]);
    return error ? failHere(toString(std::move(error))) : Error::success();
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t j = 0; j < given.size(); ++j)
      if (!filled[i] && !used[j] && given[j].name == inputs[i].name)
        if (Error error = take(i, j))
          return error;
  // Those without a name are in the order of inputs.
  size_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (filled[i])
      continue;
    while (next < given.size() && used[next])
      ++next;
    if (next == given.size())
      return failHere("input '" + inputs[i].name +
                      "' is missing; the model has " + inputNames(inputs));
    if (Error error = take(i, next))
      return error;
  }
  if (llvm::is_contained(used, false))
    return failHere("the model has " + Twine(inputs.size()) +
                    " inputs, but a sample has " + Twine(given.size()));
  return ordered;
}

Expected<Tensors> onnxquant::stack(ArrayRef<Tensors> samples) {
  Tensors result = samples[0];
  for (const Tensors &sample : samples.drop_front())
    for (auto [whole, part] : zip(result, sample)) {
      ArrayRef<int64_t> have = whole.dims, add = part.dims;
      if (have.empty() || have.drop_front() != add.drop_front())
        return fail("input '" + whole.name + "' can't be batched: shapes " +
                    shapeText(have) + " and " + shapeText(add) + " differ");
      whole.dims[0] += part.dims[0];
      whole.data.insert(whole.data.end(), part.data.begin(), part.data.end());
    }
  return result;
}

Expected<std::optional<Tensors>> BatchReader::next() {
  std::vector<Tensors> samples;
  last.clear();
  while (static_cast<int64_t>(samples.size()) < options.batch && data.has(at)) {
    Expected<Tensors> sample = data.load(at++);
    if (sample) {
      samples.push_back(std::move(*sample));
      last.push_back(at - 1);
    } else if (options.skipBad) {
      reasons.push_back(toString(sample.takeError()));
    } else {
      return sample.takeError();
    }
  }
  if (samples.empty())
    return std::nullopt;
  if (samples.size() == 1)
    return std::move(samples[0]);
  Expected<Tensors> stacked = stack(samples);
  if (!stacked)
    return stacked.takeError();
  return std::move(*stacked);
}

//===----------------------------------------------------------------------===//
// Shards
//===----------------------------------------------------------------------===//

/// A number of the environment.
static std::optional<int64_t> variable(const char *name) {
  const char *text = std::getenv(name);
  int64_t value;
  if (!text || StringRef(text).getAsInteger(10, value))
    return std::nullopt;
  return value;
}

/// What the engine that started this process says, if one did.
static std::optional<std::pair<int64_t, int64_t>> shardOfEngine() {
  auto pair = [](std::optional<int64_t> rank, std::optional<int64_t> size)
      -> std::optional<std::pair<int64_t, int64_t>> {
    if (!rank || !size)
      return std::nullopt;
    return std::pair(*rank, *size);
  };
  // Within a job array, tasks are the shards, and their numbers may begin
  // anywhere and have steps.
  if (auto id = variable("SLURM_ARRAY_TASK_ID")) {
    int64_t least = variable("SLURM_ARRAY_TASK_MIN").value_or(0);
    int64_t step =
        std::max<int64_t>(variable("SLURM_ARRAY_TASK_STEP").value_or(1), 1);
    if (auto count = variable("SLURM_ARRAY_TASK_COUNT"))
      return std::pair((*id - least) / step, *count);
  }
  if (auto found = pair(variable("OMPI_COMM_WORLD_RANK"),
                        variable("OMPI_COMM_WORLD_SIZE")))
    return found;
  if (auto found = pair(variable("PMI_RANK"), variable("PMI_SIZE")))
    return found;
  if (auto found = pair(variable("SLURM_PROCID"), variable("SLURM_NTASKS")))
    return found;
  // Kubernetes gives the index; the number is given by the job's author.
  return pair(variable("JOB_COMPLETION_INDEX"), variable("JOB_COMPLETIONS"));
}

Error onnxquant::parseShard(StringRef text, DataOptions &options) {
  int64_t shard = 0, shards = 0;
  if (text == "auto") {
    auto found = shardOfEngine();
    if (!found)
      return fail("shard auto expects a Slurm array, Open MPI or a Kubernetes "
                  "indexed job (JOB_COMPLETION_INDEX and JOB_COMPLETIONS), but "
                  "found none");
    std::tie(shard, shards) = *found;
  } else {
    auto [first, second] = text.split('/');
    if (first.getAsInteger(10, shard) || second.getAsInteger(10, shards))
      return fail("shard expects I/N with I from 0 to N-1, or auto, but got '" +
                  text + "'");
  }
  if (shards < 1 || shard < 0 || shard >= shards)
    return fail("shard expects I/N with I from 0 to N-1, but got " +
                Twine(shard) + "/" + Twine(shards));
  options.shard = shard;
  options.shards = shards;
  return Error::success();
}
