// Images in files of the form of MNIST's: gray ones, or colours last.

#include "OnnxQuant/Data/IdxFile.h"
#include "SourceSupport.h"

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

namespace {

class IdxSource : public DataSource {
public:
  IdxSource(StringRef path, IdxFile file, Preprocess preprocess,
            PreprocessPlan plan)
      : path(path), file(std::move(file)), preprocess(std::move(preprocess)),
        plan(std::move(plan)) {}
  int64_t size() const override { return file.dims()[0]; }
  bool isUniform() const override { return true; }
  std::string placeOf(int64_t index) const override {
    return placeIn(path, index, size());
  }
  const PreprocessPlan *imagePlan() const override { return &plan; }
  Expected<Tensors> load(int64_t index) const override {
    ArrayRef<int64_t> dims = file.dims();
    int64_t colors = dims.size() == 4 ? dims[3] : 1;
    uint64_t bytes = dims[1] * dims[2] * colors;
    auto data = file.read(index * bytes, bytes);
    if (!data)
      return data.takeError();
    Image image{dims[2], dims[1], colors, std::move(*data)};
    Expected<HostTensor> tensor = preprocess(std::move(image), plan);
    if (!tensor)
      return fail(path + ": " + toString(tensor.takeError()));
    return Tensors{std::move(*tensor)};
  }

private:
  std::string path;
  IdxFile file;
  Preprocess preprocess;
  PreprocessPlan plan;
};

} // namespace

Expected<std::unique_ptr<DataSource>>
onnxquant::openIdx(StringRef path, const InputInfo &input,
                   const SampleOptions &options) {
  Expected<IdxFile> file = IdxFile::open(path);
  if (!file)
    return file.takeError();
  ArrayRef<int64_t> dims = file->dims();
  bool hasColors = dims.size() == 4;
  if (dims.size() != 3 && !hasColors)
    return fail(path +
                ": expects images (3 dimensions, or 4 with colors), "
                "but got " +
                Twine(dims.size()));
  if (hasColors && dims[3] != 3)
    return fail(path +
                ": expects 3 colors of each pixel as its last "
                "dimension, but got " +
                Twine(dims[3]));
  if (dims[1] * dims[2] == 0)
    return fail(path + ": its images have no pixels");
  // Gray without asking; a plug-in would get three channels.
  SampleOptions gray = options;
  if (!hasColors && (gray.channels == "rgb" || gray.channels == "bgr"))
    return fail(path + ": holds gray images, but channels is " + gray.channels);
  if (gray.name.empty() && !hasColors)
    gray.channels = "gray";
  Expected<Preprocess> preprocess = findPreprocess(gray.name);
  if (!preprocess)
    return preprocess.takeError();
  InputInfo image = input;
  if (image.dims.size() != 4) {
    // [N, 784] and the like: pixels in rows.
    image.dims = {1, hasColors ? 3 : 1, dims[1], dims[2]};
  }
  Expected<PreprocessPlan> plan = planPreprocess(gray, image);
  if (!plan)
    return plan.takeError();
  Preprocess fitted = *preprocess;
  if (input.dims.size() != 4)
    fitted = [inner = *preprocess, rank = input.dims.size()](
                 Image pixels,
                 const PreprocessPlan &plan) -> Expected<HostTensor> {
      Expected<HostTensor> tensor = inner(std::move(pixels), plan);
      if (tensor && rank == 2)
        tensor->dims = {1, tensor->numElements()};
      if (tensor && rank == 3)
        tensor->dims.erase(tensor->dims.begin() + 1);
      return tensor;
    };
  return std::make_unique<IdxSource>(path, std::move(*file), std::move(fitted),
                                     *plan);
}
