// Sources of samples: folders and files, told apart by what they hold.

#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/Data/IdxFile.h"
#include "OnnxQuant/Import/TensorFile.h"
#include "OnnxQuant/Support/NumPy.h"
#include "SourceSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

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
  sample.data.assign(array.data.begin() + index * bytes,
                     array.data.begin() + (index + 1) * bytes);
  return sample;
}

namespace {

/// Whole arrays in memory; those of an archive go together by name.
class ArraySource : public DataSource {
public:
  ArraySource(std::vector<HostTensor> arrays, std::vector<ArraySplit> splits)
      : arrays(std::move(arrays)), splits(std::move(splits)) {}
  int64_t size() const override { return splits[0].count; }
  bool isUniform() const override { return true; }
  Expected<Tensors> load(int64_t index) const override {
    Tensors sample;
    for (auto [array, split] : zip(arrays, splits))
      sample.push_back(sliceOf(array, split, index));
    return sample;
  }

private:
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
    return files.size() == 1 || plan.cropHeight > 0 ||
           (plan.height > 0 && plan.width > 0);
  }
  std::string fileOf(int64_t index) const override { return files[index]; }
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
    size_t part =
        std::upper_bound(ends.begin(), ends.end(), index) - ends.begin();
    return parts[part]->load(index - (part ? ends[part - 1] : 0));
  }

private:
  std::vector<std::unique_ptr<DataSource>> parts;
  std::vector<int64_t> ends;
};

} // namespace

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Expected<std::vector<ArraySplit>>
onnxquant::splitArrays(StringRef path, ArrayRef<HostTensor> arrays,
                       const InputInfo &input, bool onlyInput,
                       bool firstIsSamples) {
  if (arrays.empty())
    return fail(path + ": holds no array");
  std::vector<ArraySplit> splits;
  for (const HostTensor &array : arrays) {
    if (onlyInput || arrays.size() == 1)
      splits.push_back(splitArray(array.dims, input, firstIsSamples));
    else {
      // Inputs of other ranks: the first axis counts samples.
      InputInfo own{array.name, array.type, array.dims};
      if (!own.dims.empty())
        own.dims[0] = 1;
      splits.push_back(splitArray(array.dims, own, firstIsSamples));
    }
    if (splits.back().count != splits[0].count)
      return fail(path + ": arrays differ in their number of samples");
  }
  return splits;
}

static Expected<std::unique_ptr<DataSource>>
openArrays(StringRef path, std::vector<HostTensor> arrays,
           const InputInfo &input, bool onlyInput, bool firstIsSamples) {
  auto splits = splitArrays(path, arrays, input, onlyInput, firstIsSamples);
  if (!splits)
    return splits.takeError();
  return std::make_unique<ArraySource>(std::move(arrays), std::move(*splits));
}

static Expected<std::unique_ptr<DataSource>>
openPlaces(StringRef path, std::vector<FileArray> places,
           const InputInfo &input, bool onlyInput, bool firstIsSamples) {
  std::vector<HostTensor> arrays;
  for (const FileArray &place : places)
    arrays.push_back(place.array);
  auto splits = splitArrays(path, arrays, input, onlyInput, firstIsSamples);
  if (!splits)
    return splits.takeError();
  return openInFile(path, std::move(places), std::move(*splits));
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
openFile(StringRef path, const InputInfo &input, bool onlyInput,
         const SampleOptions &preprocess) {
  StringRef extension = sys::path::extension(path);
  if (isImagePath(path))
    return openImages({path.str()}, input, preprocess);
  if (extension == ".npy")
    return openNpy(path, input);
  if (extension == ".npz") {
    auto places = findNpzArrays(path);
    if (!places)
      return places.takeError();
    if (*places)
      return openPlaces(path, std::move(**places), input, onlyInput,
                        /*firstIsSamples=*/true);
    auto arrays = readNpz(path);
    if (!arrays)
      return arrays.takeError();
    return openArrays(path, std::move(*arrays), input, onlyInput,
                      /*firstIsSamples=*/true);
  }
  if (extension == ".pb") {
    if (std::optional<TensorPlace> place = locateTensorProto(path))
      return openPlaces(path, {{place->tensor, place->offset}}, input,
                        onlyInput, /*firstIsSamples=*/false);
    auto tensor = readTensorProto(path);
    if (!tensor)
      return tensor.takeError();
    return openArrays(path, {std::move(*tensor)}, input, onlyInput,
                      /*firstIsSamples=*/false);
  }
  if (isIdxFile(path))
    return openIdx(path, input, preprocess);
  return fail(path + ": expects a folder, an image, .npy, .npz, .pb or an idx "
                     "file, but got another kind of file");
}

/// Names below a folder, sorted; with `nested`, also in folders within.
static std::vector<std::string> listFolder(StringRef path, bool nested) {
  std::vector<std::string> names;
  std::error_code code;
  if (nested) {
    for (sys::fs::recursive_directory_iterator at(path, code), end;
         at != end && !code; at.increment(code))
      names.push_back(at->path());
  } else {
    for (sys::fs::directory_iterator at(path, code), end; at != end && !code;
         at.increment(code))
      names.push_back(at->path());
  }
  llvm::sort(names);
  return names;
}

/// test_data_set_2 comes before test_data_set_10.
static std::vector<std::string> testDataFolders(StringRef path) {
  std::vector<std::pair<int64_t, std::string>> numbered;
  for (const std::string &name : listFolder(path, /*nested=*/false)) {
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

static Expected<std::unique_ptr<DataSource>>
openFolder(StringRef path, const InputInfo &input, bool onlyInput,
           const SampleOptions &preprocess) {
  if (std::vector<std::string> folders = testDataFolders(path);
      !folders.empty())
    return std::make_unique<TestDataSource>(std::move(folders));
  if (sys::fs::exists(path + "/input_0.pb"))
    return std::make_unique<TestDataSource>(
        std::vector<std::string>{path.str()});
  std::vector<std::string> images, arrays;
  for (std::string &name : listFolder(path, /*nested=*/true)) {
    if (isImagePath(name))
      images.push_back(std::move(name));
    else if (StringRef extension = sys::path::extension(name);
             extension == ".npy" || extension == ".npz" || extension == ".pb")
      arrays.push_back(std::move(name));
  }
  if (!images.empty())
    return openImages(std::move(images), input, preprocess);
  std::vector<std::unique_ptr<DataSource>> parts;
  for (const std::string &file : arrays) {
    auto part = openFile(file, input, onlyInput, preprocess);
    if (!part)
      return part.takeError();
    parts.push_back(std::move(*part));
  }
  if (parts.empty())
    return fail(path + ": has no samples (images, .npy, .npz, .pb files or "
                       "test_data_set_* folders)");
  return std::make_unique<ChainSource>(std::move(parts));
}

Expected<std::unique_ptr<DataSource>>
onnxquant::openSource(StringRef path, const InputInfo &input, bool onlyInput,
                      const SampleOptions &preprocess) {
  if (!sys::fs::exists(path))
    return fail(path + ": no such file or folder");
  auto source = sys::fs::is_directory(path)
                    ? openFolder(path, input, onlyInput, preprocess)
                    : openFile(path, input, onlyInput, preprocess);
  if (source && (*source)->size() == 0)
    return fail(path + ": has no samples");
  return source;
}
