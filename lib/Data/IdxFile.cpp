// Files of the form of MNIST's.

#include "OnnxQuant/Data/IdxFile.h"
#include "OnnxQuant/Support/RunLimits.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <zlib.h>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// The number that stands for unsigned bytes.
static constexpr uint8_t bytesType = 8;
static constexpr size_t longestHeader = 4 + 4 * 4;
/// More than any such data set; a small file could claim to be larger.
static constexpr uint64_t mostInflated = uint64_t(4) << 30;

/// Up to so many bytes of a file, inflated if it is compressed.
static bool readInflated(StringRef path, uint64_t most,
                         std::vector<uint8_t> &bytes) {
  gzFile file = gzopen(path.str().c_str(), "rb");
  if (!file)
    return false;
  constexpr uint64_t piece = 1 << 20;
  bool isGood = true;
  while (bytes.size() < most) {
    uint64_t wanted = std::min(piece, most - bytes.size());
    size_t before = bytes.size();
    bytes.resize(before + wanted);
    int got =
        gzread(file, bytes.data() + before, static_cast<unsigned>(wanted));
    bytes.resize(before + std::max(got, 0));
    isGood = got >= 0;
    if (got < static_cast<int>(wanted))
      break;
  }
  // A file that ends early is only found when it is closed.
  return gzclose(file) == Z_OK && isGood;
}

static bool isCompressed(StringRef path) {
  auto start = MemoryBuffer::getFileSlice(path, 2, 0, /*IsVolatile=*/true);
  return start && (*start)->getBuffer() == StringRef("\x1f\x8b", 2);
}

static bool isHeader(ArrayRef<uint8_t> bytes) {
  return bytes.size() >= 8 && bytes[0] == 0 && bytes[1] == 0 &&
         bytes[2] == bytesType && bytes[3] >= 1 && bytes[3] <= 4;
}

bool onnxquant::isIdxFile(StringRef path) {
  if (!sys::fs::is_regular_file(path))
    return false;
  std::vector<uint8_t> start;
  readInflated(path, longestHeader, start);
  return isHeader(start);
}

Expected<IdxFile> IdxFile::open(StringRef path) {
  IdxFile file;
  file.path = path.str();
  std::vector<uint8_t> start;
  bool compressed = isCompressed(path);
  StringRef unread = compressed ? "cannot be inflated" : "cannot be read";
  if (!readInflated(path, longestHeader, start))
    return fail(path + ": " + unread);
  if (!isHeader(start) || start.size() < 4 + 4 * size_t(start[3]))
    return fail(path + ": is no idx file of bytes");
  file.offset = 4 + 4 * size_t(start[3]);
  int64_t total = 1;
  for (size_t i = 0; i < start[3]; ++i) {
    file.sizes.push_back(support::endian::read32be(start.data() + 4 + 4 * i));
    if (MulOverflow(total, file.sizes.back(), total))
      return fail(path + ": is truncated");
  }
  uint64_t end = file.offset + static_cast<uint64_t>(total), size = 0;
  if (compressed) {
    uint64_t most = RunLimits::get().memory;
    if (most > 0 && end > most)
      return fail(path + ": has images of over " + Twine(most >> 20) +
                  " MiB, which is all the memory that may be used");
    // What comes behind the end is left alone, but for its checksum.
    file.inflated = std::make_shared<std::vector<uint8_t>>();
    if (!readInflated(path, std::min(mostInflated, end + 1), *file.inflated))
      return fail(path + ": " + unread);
    size = file.inflated->size();
  } else if (std::error_code code = sys::fs::file_size(path, size)) {
    return fail(path + ": " + code.message());
  }
  if (size < end)
    return fail(path + ": is truncated");
  return file;
}

Expected<std::vector<uint8_t>> IdxFile::read(uint64_t start,
                                             uint64_t count) const {
  if (inflated) {
    auto first = inflated->begin() + static_cast<ptrdiff_t>(offset + start);
    return std::vector<uint8_t>(first, first + static_cast<ptrdiff_t>(count));
  }
  auto data = MemoryBuffer::getFileSlice(path, count, offset + start,
                                         /*IsVolatile=*/true);
  if (!data)
    return fail(path + ": " + data.getError().message());
  return std::vector<uint8_t>((*data)->getBuffer().bytes_begin(),
                              (*data)->getBuffer().bytes_end());
}
