// Samples chosen from sources, and checked against a model's inputs.

#include "OnnxQuant/Data/DataSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

static std::string shapeText(ArrayRef<int64_t> dims) {
  std::string text = "[";
  for (auto [index, dim] : enumerate(dims))
    text += (index ? ", " : "") + (dim < 0 ? "?" : std::to_string(dim));
  return text + "]";
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
  return mine;
}

static Error checkOptions(const DataOptions &options) {
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
  return least("batch", options.batch, 1);
}

Expected<DataSet> DataSet::open(const DataOptions &options,
                                std::vector<InputInfo> inputs) {
  if (Error error = checkOptions(options))
    return error;
  DataSet set;
  set.inputs = std::move(inputs);
  if (options.paths.empty())
    return fail("no data is given");
  int64_t size = -1;
  set.uniform = true;
  for (StringRef text : options.paths) {
    // INPUT=PATH, unless a file is named like that.
    StringRef name, path = text;
    if (text.contains('=') && !sys::fs::exists(text))
      std::tie(name, path) = text.split('=');
    const InputInfo *input = set.inputs.empty() ? nullptr : &set.inputs[0];
    if (!name.empty()) {
      auto found = find_if(
          set.inputs, [&](const InputInfo &info) { return info.name == name; });
      if (found == set.inputs.end())
        return fail("the model has no input '" + name + "'");
      input = &*found;
    }
    if (!input)
      return fail("the model has no inputs");
    auto source = openSource(path, *input, /*onlyInput=*/!name.empty() ||
                                               set.inputs.size() == 1,
                             options.preprocess);
    if (!source)
      return source.takeError();
    if (size >= 0 && size != (*source)->size())
      return fail(path + ": has " + Twine((*source)->size()) +
                  " samples, but the other inputs have " + Twine(size));
    size = (*source)->size();
    set.uniform &= (*source)->isUniform();
    set.sources.emplace_back(name.str(), std::move(*source));
  }
  set.chosen = choose(size, options);
  return set;
}

/// Reshapes a tensor that has a first axis more or less than the input, and
/// checks it.
static Error fitTo(HostTensor &tensor, const InputInfo &input) {
  auto fits = [&](ArrayRef<int64_t> dims) {
    if (dims.size() != input.dims.size())
      return false;
    for (auto [have, want] : zip(dims, input.dims))
      if (want >= 0 && have != want)
        return false;
    return true;
  };
  if (tensor.type != input.type)
    return fail("input '" + input.name + "' expects elements of " +
                typeName(input.type) + ", but got " + typeName(tensor.type));
  if (!fits(tensor.dims)) {
    std::vector<int64_t> wider = tensor.dims, narrower = tensor.dims;
    wider.insert(wider.begin(), 1);
    if (!narrower.empty() && narrower[0] == 1)
      narrower.erase(narrower.begin());
    if (fits(wider))
      tensor.dims = wider;
    else if (fits(narrower))
      tensor.dims = narrower;
    else
      return fail("input '" + input.name + "' expects shape " +
                  shapeText(input.dims) + ", but got " +
                  shapeText(tensor.dims));
  }
  tensor.name = input.name;
  return Error::success();
}

Expected<Tensors> DataSet::load(int64_t index) const {
  Tensors given;
  for (const auto &[name, source] : sources) {
    Expected<Tensors> loaded = source->load(chosen[index]);
    if (!loaded)
      return loaded.takeError();
    if (!name.empty() && loaded->size() != 1)
      return fail("input '" + name +
                  "' expects one tensor in a sample, but "
                  "got " +
                  Twine(loaded->size()));
    for (HostTensor &tensor : *loaded) {
      if (!name.empty())
        tensor.name = name;
      given.push_back(std::move(tensor));
    }
  }
  Tensors ordered(inputs.size());
  std::vector<bool> used(given.size()), filled(inputs.size());
  auto take = [&](size_t input, size_t tensor) {
    ordered[input] = std::move(given[tensor]);
    filled[input] = used[tensor] = true;
    return fitTo(ordered[input], inputs[input]);
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t j = 0; j < given.size(); ++j)
      if (!filled[i] && !used[j] && given[j].name == inputs[i].name)
        if (Error error = take(i, j))
          return error;
  // Files may hold other names; then the order counts.
  size_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (filled[i])
      continue;
    while (next < given.size() && used[next])
      ++next;
    if (next == given.size())
      return fail("input '" + inputs[i].name + "' is missing in a sample");
    if (Error error = take(i, next))
      return error;
  }
  if (llvm::is_contained(used, false))
    return fail("the model has " + Twine(inputs.size()) +
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
  while (at < data.size() &&
         static_cast<int64_t>(samples.size()) < options.batch) {
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
