// Arrays in files read one sample at a time, so that memory doesn't grow with
// the file: NumPy's, archives of them that aren't packed, and whatever else
// knows where its arrays lie.

#include "OnnxQuant/Support/NumPy.h"
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

/// Headers of arrays are shorter.
static constexpr uint64_t headerRoom = 1 << 16;

namespace {

/// What a header tells of the array that follows it.
struct Header {
  int32_t type = 0;
  std::vector<int64_t> dims;
  uint64_t offset = 0;
  bool fortranOrder = false;
};

} // namespace

/// The text after a key of the header's dictionary.
static StringRef valueOf(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "':").str());
  return at == StringRef::npos ? ""
                               : header.drop_front(at + key.size() + 3).ltrim();
}

/// Reads the header of an array that takes `size` bytes of a file from `at` on.
static Expected<Header> readHeader(StringRef path, uint64_t at, uint64_t size) {
  auto start = MemoryBuffer::getFileSlice(path, std::min(size, headerRoom), at,
                                          /*IsVolatile=*/true);
  if (!start)
    return fail(path + ": " + start.getError().message());
  StringRef bytes = (*start)->getBuffer();
  if (bytes.size() < 12 || !bytes.starts_with("\x93NUMPY"))
    return fail(path + ": is no NumPy file");
  bool isLong = bytes[6] >= 2;
  uint64_t begin = isLong ? 12 : 10;
  uint64_t length = isLong ? support::endian::read32le(bytes.data() + 8)
                           : support::endian::read16le(bytes.data() + 8);
  if (begin + length > bytes.size())
    return fail(path + ": is truncated");
  StringRef text = bytes.substr(begin, length);
  Header header;
  header.offset = begin + length;
  header.fortranOrder = valueOf(text, "fortran_order").starts_with("True");
  StringRef descr = valueOf(text, "descr").ltrim('\'');
  descr = descr.take_until([](char c) { return c == '\''; });
  header.type = typeFromNumpy(descr);
  if (header.type == 0)
    return fail(path + ": has elements of type '" + descr +
                "', which models don't have");
  SmallVector<StringRef> parts;
  StringRef shape = valueOf(text, "shape");
  bool fits = shape.consume_front("(");
  shape.take_until([](char c) { return c == ')'; })
      .split(parts, ',', -1, /*KeepEmpty=*/false);
  int64_t bytesNeeded = elementBytes(header.type);
  for (StringRef part : parts) {
    int64_t dim;
    if (part.trim().empty())
      continue;
    if (part.trim().getAsInteger(10, dim) || dim < 0 ||
        MulOverflow(bytesNeeded, dim, bytesNeeded))
      fits = false;
    else
      header.dims.push_back(dim);
  }
  if (!fits)
    return fail(path + ": has a shape that can't be read");
  if (header.offset + static_cast<uint64_t>(bytesNeeded) > size)
    return fail(path + ": is truncated");
  header.offset += at;
  return header;
}

namespace {

class InFileSource : public DataSource {
public:
  InFileSource(StringRef path, std::vector<FileArray> arrays,
               std::vector<ArraySplit> splits)
      : path(path), arrays(std::move(arrays)), splits(std::move(splits)) {}
  int64_t size() const override { return countSamples(splits); }
  bool isUniform() const override { return true; }
  std::string placeOf(int64_t index) const override {
    return placeIn(path, index, size());
  }
  Expected<Tensors> load(int64_t index) const override {
    Tensors samples;
    for (auto [place, split] : zip(arrays, splits)) {
      HostTensor sample;
      sample.name = place.array.name;
      sample.type = place.array.type;
      sample.dims = split.dims;
      uint64_t bytes = sample.numElements() * elementBytes(sample.type);
      auto part = MemoryBuffer::getFileSlice(
          path, bytes, place.offset + (split.isShared ? 0 : index) * bytes,
          /*IsVolatile=*/true);
      if (!part)
        return fail(path + ": " + part.getError().message());
      sample.data.assign((*part)->getBufferStart(), (*part)->getBufferEnd());
      samples.push_back(std::move(sample));
    }
    return samples;
  }

private:
  std::string path;
  std::vector<FileArray> arrays;
  std::vector<ArraySplit> splits;
};

/// Arrays that can't be read in parts.
class WholeSource : public DataSource {
public:
  WholeSource(StringRef path, HostTensor array, ArraySplit split)
      : path(path), array(std::move(array)), split(std::move(split)) {}
  int64_t size() const override { return split.count; }
  bool isUniform() const override { return true; }
  std::string placeOf(int64_t index) const override {
    return placeIn(path, index, size());
  }
  Expected<Tensors> load(int64_t index) const override {
    return Tensors{sliceOf(array, split, index)};
  }

private:
  std::string path;
  HostTensor array;
  ArraySplit split;
};

} // namespace

std::unique_ptr<DataSource>
onnxquant::openInFile(StringRef path, std::vector<FileArray> arrays,
                      std::vector<ArraySplit> splits) {
  return std::make_unique<InFileSource>(path, std::move(arrays),
                                        std::move(splits));
}

Expected<std::optional<std::vector<FileArray>>>
onnxquant::findNpzArrays(StringRef path) {
  auto entries = listNpz(path);
  if (!entries)
    return entries.takeError();
  std::vector<FileArray> arrays;
  for (const NpzEntry &entry : *entries) {
    if (!entry.isStored)
      return std::nullopt;
    Expected<Header> header = readHeader(path, entry.offset, entry.bytes);
    if (!header)
      return header.takeError();
    if (header->fortranOrder)
      return std::nullopt;
    FileArray found;
    found.array.name = entry.name;
    found.array.type = header->type;
    found.array.dims = header->dims;
    found.offset = header->offset;
    arrays.push_back(std::move(found));
  }
  return arrays;
}

Expected<std::unique_ptr<DataSource>>
onnxquant::openNpy(StringRef path, const InputInfo &input) {
  uint64_t size;
  if (std::error_code code = sys::fs::file_size(path, size))
    return fail(path + ": " + code.message());
  Expected<Header> header = readHeader(path, 0, size);
  if (!header)
    return header.takeError();
  ArraySplit split = splitArray(header->dims, input, /*firstIsSamples=*/true);
  if (!header->fortranOrder) {
    FileArray place;
    place.array.type = header->type;
    place.array.dims = header->dims;
    place.offset = header->offset;
    return openInFile(path, {std::move(place)}, {std::move(split)});
  }
  auto array = readNpy(path);
  if (!array)
    return array.takeError();
  return std::make_unique<WholeSource>(path, std::move(*array),
                                       std::move(split));
}
