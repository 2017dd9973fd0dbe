// Sources of samples: folders and files, told apart by what they hold.

#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/Data/IdxFile.h"
#include "OnnxQuant/Import/TensorFile.h"
#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/NearestName.h"
#include "OnnxQuant/Support/NumPy.h"
#include "SourceSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

const InputInfo &SourceRequest::inputOf(StringRef name) const {
  for (const InputInfo &each : inputs)
    if (!isNamed && each.name == name)
      return each;
  return input;
}

int64_t onnxquant::countSamples(ArrayRef<ArraySplit> splits) {
  for (const ArraySplit &split : splits)
    if (!split.isShared)
      return split.count;
  return 1;
}

std::string onnxquant::placeIn(StringRef path, int64_t index, int64_t count) {
  return path.str() + (count > 1 ? ", sample " + std::to_string(index) : "");
}

ArraySplit onnxquant::splitArray(ArrayRef<int64_t> dims, const InputInfo &input,
                                 bool firstIsSamples) {
  ArraySplit split;
  split.dims.assign(dims.begin(), dims.end());
  size_t rank = input.dims.size();
  if (dims.size() == rank + 1) {
    // [samples] and the input's own dimensions.
    split.count = dims[0];
    split.dims.erase(split.dims.begin());
    return split;
  }
  split.isShared = dims.empty() && rank == 0;
  if (!firstIsSamples || dims.empty() || rank == 0)
    return split;
  // As many entries as the model wants in a run, or single ones.
  int64_t entries = input.dims[0] > 0 ? input.dims[0] : 1;
  ArrayRef<int64_t> inner = ArrayRef<int64_t>(input.dims).drop_front();
  int64_t elements = 1, wanted = 1;
  for (int64_t dim : dims.drop_front())
    elements *= dim;
  for (int64_t dim : inner)
    wanted = dim < 0 ? -1 : wanted < 0 ? -1 : wanted * dim;
  if (dims[0] % entries != 0)
    return split;
  if (dims.size() == rank || (wanted >= 0 && wanted == elements)) {
    split.count = dims[0] / entries;
    split.dims[0] = entries;
    // [samples, 28, 28] for an input of [1, 1, 28, 28].
    if (dims.size() != rank) {
      split.dims.assign(inner.begin(), inner.end());
      split.dims.insert(split.dims.begin(), entries);
    }
  }
  return split;
}

HostTensor onnxquant::sliceOf(const HostTensor &array, const ArraySplit &split,
                              int64_t index) {
  HostTensor sample;
  sample.name = array.name;
  sample.type = array.type;
  sample.dims = split.dims;
  size_t bytes = sample.numElements() * elementBytes(sample.type);
  index = split.isShared ? 0 : index;
  sample.data.assign(array.data.begin() + index * bytes,
                     array.data.begin() + (index + 1) * bytes);
  return sample;
}

namespace {

/// Whole arrays in memory; those of an archive go together by name.
class ArraySource : public DataSource {
public:
  ArraySource(StringRef path, std::vector<HostTensor> arrays,
              std::vector<ArraySplit> splits)
      : path(path), arrays(std::move(arrays)), splits(std::move(splits)) {}
  int64_t size() const override { return countSamples(splits); }
  bool isUniform() const override { return true; }
  std::string placeOf(int64_t index) const override {
    return placeIn(path, index, size());
  }
  Expected<Tensors> load(int64_t index) const override {
    Tensors sample;
    for (auto [array, split] : zip(arrays, splits))
      sample.push_back(sliceOf(array, split, index));
    return sample;
  }

private:
  std::string path;
  std::vector<HostTensor> arrays;
  std::vector<ArraySplit> splits;
};

/// Folders of the form test_data_set_N.
class TestDataSource : public DataSource {
public:
  explicit TestDataSource(std::vector<std::string> folders)
      : folders(std::move(folders)) {}
  int64_t size() const override { return folders.size(); }
  std::string fileOf(int64_t index) const override { return folders[index]; }
  std::string placeOf(int64_t index) const override { return folders[index]; }
  bool isUniform() const override { return folders.size() == 1; }
  Expected<Tensors> load(int64_t index) const override {
    Tensors sample;
    for (size_t i = 0;; ++i) {
      std::string path = folders[index] + "/input_" + std::to_string(i) + ".pb";
      if (!sys::fs::exists(path))
        break;
      auto tensor = readTensorProto(path);
      if (!tensor)
        return tensor.takeError();
      sample.push_back(std::move(*tensor));
    }
    if (sample.empty())
      return fail(folders[index] + ": has no input_0.pb");
    return sample;
  }

private:
  std::vector<std::string> folders;
};

/// Images, preprocessed.
class ImageSource : public DataSource {
public:
  ImageSource(std::vector<std::string> files, Preprocess preprocess,
              PreprocessPlan plan)
      : files(std::move(files)), preprocess(std::move(preprocess)),
        plan(std::move(plan)) {}
  int64_t size() const override { return files.size(); }
  bool isUniform() const override {
    return files.size() == 1 || plan.hasFixedSize();
  }
  std::string fileOf(int64_t index) const override { return files[index]; }
  std::string placeOf(int64_t index) const override { return files[index]; }
  const PreprocessPlan *imagePlan() const override { return &plan; }
  Expected<Tensors> load(int64_t index) const override {
    Expected<Image> image = readImage(files[index]);
    if (!image)
      return image.takeError();
    Expected<HostTensor> tensor = preprocess(std::move(*image), plan);
    if (!tensor)
      return fail(files[index] + ": " + toString(tensor.takeError()));
    return Tensors{std::move(*tensor)};
  }

private:
  std::vector<std::string> files;
  Preprocess preprocess;
  PreprocessPlan plan;
};

/// Several sources, one after the other.
class ChainSource : public DataSource {
public:
  explicit ChainSource(std::vector<std::unique_ptr<DataSource>> parts)
      : parts(std::move(parts)) {
    for (const auto &part : this->parts)
      ends.push_back((ends.empty() ? 0 : ends.back()) + part->size());
  }
  int64_t size() const override { return ends.back(); }
  bool isUniform() const override {
    return parts.size() == 1 && parts[0]->isUniform();
  }
  Expected<Tensors> load(int64_t index) const override {
    size_t part = find(index);
    return parts[part]->load(index - startOf(part));
  }
  std::string placeOf(int64_t index) const override {
    size_t part = find(index);
    return parts[part]->placeOf(index - startOf(part));
  }

private:
  /// The source that a sample is in.
  size_t find(int64_t index) const {
    return std::upper_bound(ends.begin(), ends.end(), index) - ends.begin();
  }
  int64_t startOf(size_t part) const { return part ? ends[part - 1] : 0; }

  std::vector<std::unique_ptr<DataSource>> parts;
  std::vector<int64_t> ends;
};

} // namespace

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Expected<std::vector<ArraySplit>>
onnxquant::splitArrays(StringRef path, ArrayRef<HostTensor> arrays,
                       const SourceRequest &request, FirstAxis axis) {
  std::vector<ArraySplit> splits;
  for (const HostTensor &array : arrays) {
    const InputInfo &input = request.inputOf(array.name);
    bool isStatic = !input.dims.empty() && input.dims[0] > 0;
    splits.push_back(
        splitArray(array.dims, input, axis == FirstAxis::Samples || isStatic));
  }
  int64_t count = countSamples(splits);
  for (auto [array, split] : zip(arrays, splits))
    if (!split.isShared && split.count != count)
      return fail(path + ": arrays differ in their number of samples: '" +
                  array.name + "' has " + Twine(split.count) + ", '" +
                  arrays[0].name + "' has " + Twine(count));
  return splits;
}

static Expected<std::unique_ptr<DataSource>>
openArrays(StringRef path, std::vector<HostTensor> arrays,
           const SourceRequest &request, FirstAxis axis) {
  auto splits = splitArrays(path, arrays, request, axis);
  if (!splits)
    return splits.takeError();
  return std::make_unique<ArraySource>(path, std::move(arrays),
                                       std::move(*splits));
}

static Expected<std::unique_ptr<DataSource>>
openPlaces(StringRef path, std::vector<FileArray> places,
           const SourceRequest &request, FirstAxis axis) {
  std::vector<HostTensor> arrays;
  for (const FileArray &place : places)
    arrays.push_back(place.array);
  auto splits = splitArrays(path, arrays, request, axis);
  if (!splits)
    return splits.takeError();
  return openInFile(path, std::move(places), std::move(*splits));
}

/// Which arrays of an archive are for the model's inputs, by their names. A
/// name that the model doesn't have is refused: taking such arrays in order
/// would exchange inputs silently.
static Expected<std::vector<size_t>>
chooseArrays(StringRef path, const std::vector<std::string> &names,
             const SourceRequest &request) {
  if (names.empty())
    return fail(path + ": holds no array");
  std::vector<size_t> all;
  for (size_t i = 0; i < names.size(); ++i)
    all.push_back(i);
  if (request.isNamed) {
    auto found = llvm::find(names, request.input.name);
    if (found != names.end())
      return std::vector<size_t>{static_cast<size_t>(found - names.begin())};
    if (names.size() == 1)
      return all;
    return fail(path + ": has no array '" + request.input.name +
                "'; it holds " + listNames(names));
  }
  std::vector<std::string> inputs, unknown, missing;
  for (const InputInfo &input : request.inputs) {
    inputs.push_back(input.name);
    if (!is_contained(names, input.name))
      missing.push_back(input.name);
  }
  for (const std::string &name : names)
    if (!is_contained(inputs, name))
      unknown.push_back(name);
  if (!unknown.empty())
    return fail(path + ": holds " + listNames(unknown) +
                ", but the model has no such input" +
                (unknown.size() > 1 ? "s" : "") + "; it has " +
                listNames(inputs));
  if (!missing.empty() && request.isOnlySource)
    return fail(path + ": has no array for input " + listNames(missing) +
                "; it holds " + listNames(names));
  return all;
}

static Expected<std::unique_ptr<DataSource>>
openNpz(StringRef path, const SourceRequest &request) {
  auto pick = [&](auto &arrays, auto nameOf) -> Error {
    std::vector<std::string> names;
    for (const auto &array : arrays)
      names.push_back(nameOf(array));
    auto chosen = chooseArrays(path, names, request);
    if (!chosen)
      return chosen.takeError();
    std::decay_t<decltype(arrays)> kept;
    for (size_t index : *chosen)
      kept.push_back(std::move(arrays[index]));
    arrays = std::move(kept);
    return Error::success();
  };
  auto places = findNpzArrays(path);
  if (!places)
    return places.takeError();
  if (*places) {
    if (Error error = pick(
            **places, [](const FileArray &place) { return place.array.name; }))
      return error;
    return openPlaces(path, std::move(**places), request, FirstAxis::Samples);
  }
  auto arrays = readNpz(path);
  if (!arrays)
    return arrays.takeError();
  if (Error error =
          pick(*arrays, [](const HostTensor &array) { return array.name; }))
    return error;
  return openArrays(path, std::move(*arrays), request, FirstAxis::Samples);
}

/// A tensor's own name counts if the model has such an input; many files have
/// another one, or none.
static std::string nameInModel(StringRef name, const SourceRequest &request) {
  for (const InputInfo &input : request.inputs)
    if (input.name == name)
      return name.str();
  return "";
}

static Expected<std::unique_ptr<DataSource>>
openPb(StringRef path, const SourceRequest &request) {
  if (std::optional<TensorPlace> place = locateTensorProto(path)) {
    place->tensor.name = nameInModel(place->tensor.name, request);
    return openPlaces(path, {{place->tensor, place->offset}}, request,
                      FirstAxis::SamplesOfStatic);
  }
  auto tensor = readTensorProto(path);
  if (!tensor)
    return tensor.takeError();
  tensor->name = nameInModel(tensor->name, request);
  return openArrays(path, {std::move(*tensor)}, request,
                    FirstAxis::SamplesOfStatic);
}

static Expected<std::unique_ptr<DataSource>>
openImages(std::vector<std::string> files, const InputInfo &input,
           const SampleOptions &options) {
  Expected<Preprocess> preprocess = findPreprocess(options.name);
  if (!preprocess)
    return preprocess.takeError();
  Expected<PreprocessPlan> plan = planPreprocess(options, input);
  if (!plan)
    return plan.takeError();
  return std::make_unique<ImageSource>(std::move(files), *preprocess, *plan);
}

static Expected<std::unique_ptr<DataSource>>
openFile(StringRef path, const SourceRequest &request) {
  if (Error error = checkInput(path, FileLimits::data))
    return fail(path + ": " + toString(std::move(error)));
  StringRef extension = sys::path::extension(path);
  if (isImagePath(path))
    return openImages({path.str()}, request.input, request.preprocess);
  if (extension == ".npy")
    return openNpy(path, request.input);
  if (extension == ".npz")
    return openNpz(path, request);
  if (extension == ".pb")
    return openPb(path, request);
  if (isIdxFile(path))
    return openIdx(path, request.input, request.preprocess);
  return fail(path + ": expects a folder, an image (JPEG, PNG, WebP, BMP), "
                     ".npy, .npz, .pb, an idx file or a list of files (.txt), "
                     "but got another kind of file");
}

/// Several files, in this order.
static Expected<std::unique_ptr<DataSource>>
openFiles(std::vector<std::string> files, const SourceRequest &request) {
  if (llvm::all_of(files, [](StringRef file) { return isImagePath(file); }))
    return openImages(std::move(files), request.input, request.preprocess);
  std::vector<std::unique_ptr<DataSource>> parts;
  for (const std::string &file : files) {
    auto part = openFile(file, request);
    if (!part)
      return part.takeError();
    if ((*part)->imagePlan())
      return fail(file + ": is an image, but other files are none");
    parts.push_back(std::move(*part));
  }
  return std::make_unique<ChainSource>(std::move(parts));
}

/// Names in a folder, sorted.
static std::vector<std::string> listFolder(StringRef path) {
  std::vector<std::string> names;
  std::error_code code;
  for (sys::fs::directory_iterator at(path, code), end; at != end && !code;
       at.increment(code))
    names.push_back(at->path());
  llvm::sort(names);
  return names;
}

/// test_data_set_2 comes before test_data_set_10.
static std::vector<std::string> testDataFolders(StringRef path) {
  std::vector<std::pair<int64_t, std::string>> numbered;
  for (const std::string &name : listFolder(path)) {
    StringRef base = sys::path::filename(name);
    int64_t number;
    if (base.consume_front("test_data_set_") && !base.getAsInteger(10, number))
      numbered.emplace_back(number, name);
  }
  llvm::sort(numbered);
  std::vector<std::string> folders;
  for (auto &[number, name] : numbered)
    folders.push_back(std::move(name));
  return folders;
}

/// `2 .gif, 1 .txt`: files that are no samples, by their endings.
static std::string countEndings(ArrayRef<std::string> files) {
  std::map<std::string, int64_t> counts;
  for (StringRef file : files) {
    std::string ending = sys::path::extension(file).lower();
    ++counts[ending.empty() ? "without an ending" : ending];
  }
  std::string text;
  for (const auto &[ending, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + ending;
  return text;
}

static Expected<std::unique_ptr<DataSource>>
openFolder(StringRef path, const SourceRequest &request) {
  if (std::vector<std::string> folders = testDataFolders(path);
      !folders.empty())
    return std::make_unique<TestDataSource>(std::move(folders));
  if (sys::fs::exists(path + "/input_0.pb"))
    return std::make_unique<TestDataSource>(
        std::vector<std::string>{path.str()});
  std::vector<std::string> images, arrays, others;
  for (std::string &name : filesBelow(path)) {
    StringRef extension = sys::path::extension(name);
    bool isArray =
        extension == ".npy" || extension == ".npz" || extension == ".pb";
    // Hidden files are the system's own.
    if (sys::path::filename(name).starts_with("."))
      continue;
    (isImagePath(name) ? images
     : isArray         ? arrays
                       : others)
        .push_back(std::move(name));
  }
  if (images.empty() && arrays.empty())
    return fail(path +
                ": has no samples (images: JPEG, PNG, WebP, BMP; .npy, "
                ".npz, .pb files or test_data_set_* folders)" +
                (others.empty() ? "" : "; found " + countEndings(others)));
  if (!images.empty())
    others.insert(others.end(), arrays.begin(), arrays.end());
  if (!others.empty() && request.note)
    request.note(path.str() + ": left out " + countEndings(others));
  return openFiles(images.empty() ? std::move(arrays) : std::move(images),
                   request);
}

Expected<std::unique_ptr<DataSource>>
onnxquant::openSource(StringRef path, const SourceRequest &request) {
  auto open = [&]() -> Expected<std::unique_ptr<DataSource>> {
    if (!sys::fs::exists(path) && isPattern(path)) {
      std::vector<std::string> files = expandPattern(path);
      if (files.empty())
        return fail(path + ": names no file");
      return openFiles(std::move(files), request);
    }
    if (!sys::fs::exists(path))
      return fail(path + ": no such file or folder");
    if (sys::fs::is_directory(path))
      return openFolder(path, request);
    if (sys::path::extension(path) != ".txt")
      return openFile(path, request);
    auto files = readFileList(path);
    if (!files)
      return files.takeError();
    return openFiles(std::move(*files), request);
  };
  auto source = open();
  if (source && (*source)->size() == 0)
    return fail(path + ": has no samples");
  return source;
}
