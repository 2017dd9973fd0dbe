// Files of the form of MNIST's: two zero bytes, a type, a rank, big-endian
// sizes, then elements. Bytes are pixels of gray images.

#include "SourceSupport.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// The number that stands for unsigned bytes.
static constexpr char bytesType = 8;

static ErrorOr<std::unique_ptr<MemoryBuffer>>
part(StringRef path, uint64_t offset, uint64_t size) {
  return MemoryBuffer::getFileSlice(path, size, offset, /*IsVolatile=*/true);
}

bool onnxquant::isIdxFile(StringRef path) {
  uint64_t size;
  if (sys::fs::file_size(path, size) || size < 8)
    return false;
  auto start = part(path, 0, 4);
  if (!start)
    return false;
  const char *bytes = (*start)->getBufferStart();
  return bytes[0] == 0 && bytes[1] == 0 && bytes[2] == bytesType &&
         bytes[3] >= 1 && bytes[3] <= 4;
}

namespace {

class IdxSource : public DataSource {
public:
  IdxSource(StringRef path, uint64_t offset, int64_t count, int64_t height,
            int64_t width, Preprocess preprocess, PreprocessPlan plan)
      : path(path), offset(offset), count(count), height(height), width(width),
        preprocess(std::move(preprocess)), plan(std::move(plan)) {}
  int64_t size() const override { return count; }
  bool isUniform() const override { return true; }
  Expected<Tensors> load(int64_t index) const override {
    uint64_t bytes = height * width;
    auto data = part(path, offset + index * bytes, bytes);
    if (!data)
      return fail(path + ": " + data.getError().message());
    Image image{width, height, 1, {}};
    image.pixels.assign((*data)->getBufferStart(), (*data)->getBufferEnd());
    Expected<HostTensor> tensor = preprocess(std::move(image), plan);
    if (!tensor)
      return fail(path + ": " + toString(tensor.takeError()));
    return Tensors{std::move(*tensor)};
  }

private:
  std::string path;
  uint64_t offset;
  int64_t count, height, width;
  Preprocess preprocess;
  PreprocessPlan plan;
};

} // namespace

Expected<std::unique_ptr<DataSource>>
onnxquant::openIdx(StringRef path, const InputInfo &input,
                   const SampleOptions &options) {
  uint64_t size;
  if (std::error_code code = sys::fs::file_size(path, size))
    return fail(path + ": " + code.message());
  auto start = part(path, 0, std::min<uint64_t>(size, 20));
  if (!start)
    return fail(path + ": " + start.getError().message());
  const char *bytes = (*start)->getBufferStart();
  if (bytes[3] != 3 || size < 16)
    return fail(path + ": expects images (3 dimensions), but got " +
                Twine(static_cast<int>(bytes[3])));
  auto dim = [&](int index) -> int64_t {
    return support::endian::read32be(bytes + 4 + 4 * index);
  };
  int64_t pixels, total;
  if (MulOverflow(dim(1), dim(2), pixels) ||
      MulOverflow(dim(0), pixels, total) || pixels == 0 ||
      static_cast<uint64_t>(total) > size - 16)
    return fail(path + ": is truncated");
  // Gray without asking; a plug-in would get three channels.
  SampleOptions gray = options;
  if (gray.name.empty())
    gray.channels = "gray";
  Expected<Preprocess> preprocess = findPreprocess(gray.name);
  if (!preprocess)
    return preprocess.takeError();
  InputInfo image = input;
  if (image.dims.size() != 4) {
    // [N, 784] and the like: pixels in rows.
    image.dims = {1, 1, dim(1), dim(2)};
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
  return std::make_unique<IdxSource>(path, 16, dim(0), dim(1), dim(2),
                                     std::move(fitted), *plan);
}
