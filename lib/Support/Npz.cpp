// Archives of NumPy arrays: ZIP files, stored or deflated.

#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/NumPy.h"
#include "OnnxQuant/Support/RunLimits.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <zlib.h>

using namespace llvm;
using namespace onnxquant;
using support::endian::read16le;
using support::endian::read32le;
using support::endian::read64le;

static Error fail(StringRef path, const Twine &reason) {
  return createStringError(inconvertibleErrorCode(), path + ": " + reason);
}

namespace {

/// A file of the archive as its directory tells it.
struct Entry {
  std::string name;
  unsigned method = 0;
  uint64_t packedBytes = 0, bytes = 0, offset = 0;
  uint32_t checksum = 0;
};

/// Reads one archive.
class Archive {
public:
  Archive(StringRef data, StringRef path) : data(data), path(path) {}
  Expected<std::vector<Entry>> readDirectory();
  Expected<std::string> extract(const Entry &entry);
  /// Where an entry's data begins.
  Expected<uint64_t> locate(const Entry &entry) const;

private:
  Error truncated() const { return fail(path, "is truncated"); }
  void readLargeSizes(StringRef extra, Entry &entry) const;

  StringRef data, path;
};

} // namespace

/// Sizes that don't fit into 32 bits stand in an extra field, in this order.
void Archive::readLargeSizes(StringRef extra, Entry &entry) const {
  while (extra.size() >= 4) {
    unsigned id = read16le(extra.data()), length = read16le(extra.data() + 2);
    StringRef field = extra.substr(4, length);
    extra = extra.drop_front(std::min<size_t>(extra.size(), 4 + length));
    if (id != 1)
      continue;
    for (uint64_t *value : {&entry.bytes, &entry.packedBytes, &entry.offset})
      if (*value == 0xffffffff && field.size() >= 8) {
        *value = read64le(field.data());
        field = field.drop_front(8);
      }
  }
}

Expected<std::vector<Entry>> Archive::readDirectory() {
  constexpr size_t tailBytes = 22, entryBytes = 46;
  // The end of the directory stands last, before a comment of any length.
  size_t tail = data.rfind(StringRef("PK\x05\x06", 4));
  if (!data.starts_with("PK") || tail == StringRef::npos)
    return fail(path, data.starts_with("PK") ? "is truncated"
                                             : "is no archive of arrays");
  if (data.size() - tail < tailBytes)
    return truncated();
  const char *end = data.data() + tail;
  uint64_t count = read16le(end + 10), at = read32le(end + 16);
  size_t locator = tail >= 20 ? tail - 20 : StringRef::npos;
  if (at == 0xffffffff && locator != StringRef::npos &&
      data.substr(locator).starts_with(StringRef("PK\x06\x07", 4))) {
    uint64_t large = read64le(data.data() + locator + 8);
    if (large > data.size() || data.size() - large < 56)
      return truncated();
    count = read64le(data.data() + large + 32);
    at = read64le(data.data() + large + 48);
  }
  std::vector<Entry> entries;
  uint64_t packedBytes = 0;
  for (; count > 0; --count) {
    if (at > data.size() || data.size() - at < entryBytes ||
        !data.substr(at).starts_with(StringRef("PK\x01\x02", 4)))
      return truncated();
    const char *head = data.data() + at;
    Entry entry;
    entry.method = read16le(head + 10);
    entry.checksum = read32le(head + 16);
    entry.packedBytes = read32le(head + 20);
    entry.bytes = read32le(head + 24);
    size_t name = read16le(head + 28), extra = read16le(head + 30),
           comment = read16le(head + 32);
    entry.offset = read32le(head + 42);
    if (data.size() - at - entryBytes < name + extra + comment)
      return truncated();
    entry.name = data.substr(at + entryBytes, name).str();
    readLargeSizes(data.substr(at + entryBytes + name, extra), entry);
    at += entryBytes + name + extra + comment;
    // A small file could name the same data any number of times.
    if (entry.packedBytes > data.size() - packedBytes)
      return fail(path, "has arrays that overlap or go beyond its end");
    packedBytes += entry.packedBytes;
    entries.push_back(std::move(entry));
  }
  return entries;
}

Expected<uint64_t> Archive::locate(const Entry &entry) const {
  constexpr size_t headBytes = 30;
  if (entry.offset > data.size() || data.size() - entry.offset < headBytes)
    return truncated();
  const char *head = data.data() + entry.offset;
  uint64_t begin =
      entry.offset + headBytes + read16le(head + 26) + read16le(head + 28);
  if (begin > data.size() || data.size() - begin < entry.packedBytes)
    return truncated();
  return begin;
}

Expected<std::string> Archive::extract(const Entry &entry) {
  // Deflate makes nothing smaller than to a 1032nd.
  constexpr uint64_t mostRatio = 1032;
  Expected<uint64_t> begin = locate(entry);
  if (!begin)
    return begin.takeError();
  StringRef packed = data.substr(*begin, entry.packedBytes);
  auto damaged = [&]() {
    return fail(path, "'" + entry.name + "' is damaged");
  };
  std::string bytes;
  if (entry.method == 0) {
    bytes = packed.str();
  } else if (entry.method == 8) {
    if (entry.bytes / mostRatio > entry.packedBytes)
      return damaged();
    bytes.resize(entry.bytes);
    z_stream stream = {};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      return fail(path, "cannot be unpacked");
    size_t done = 0;
    stream.next_in =
        reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
    int status = Z_OK;
    // zlib counts in 32 bits.
    size_t left = packed.size();
    while (status == Z_OK) {
      constexpr size_t most = 1u << 30;
      if (stream.avail_in == 0) {
        stream.avail_in = std::min(left, most);
        left -= stream.avail_in;
      }
      uInt room = std::min(bytes.size() - done, most);
      stream.next_out = reinterpret_cast<Bytef *>(bytes.data() + done);
      stream.avail_out = room;
      status = inflate(&stream, Z_NO_FLUSH);
      done += room - stream.avail_out;
      if (status == Z_OK && stream.avail_in == 0 && left == 0 &&
          stream.avail_out > 0)
        break;
    }
    inflateEnd(&stream);
    if (status != Z_STREAM_END || done != bytes.size())
      return damaged();
  } else {
    return fail(path,
                "'" + entry.name + "' is packed in a way that is unknown");
  }
  uLong checksum = crc32(0, nullptr, 0);
  for (size_t at = 0; at < bytes.size(); at += 1u << 30)
    checksum = crc32(checksum, reinterpret_cast<const Bytef *>(&bytes[at]),
                     std::min<size_t>(bytes.size() - at, 1u << 30));
  if (bytes.size() != entry.bytes || checksum != entry.checksum)
    return damaged();
  return bytes;
}

Expected<std::vector<HostTensor>> onnxquant::readNpz(StringRef path) {
  auto file = openInput(path, FileLimits::data);
  if (!file)
    return fail(path, toString(file.takeError()));
  Archive archive((*file)->getBuffer(), path);
  auto entries = archive.readDirectory();
  if (!entries)
    return entries.takeError();
  std::vector<HostTensor> tensors;
  uint64_t limit = RunLimits::get().memory, total = 0;
  for (const Entry &entry : *entries) {
    total = SaturatingAdd(total, entry.bytes);
    if (limit > 0 && total > limit)
      return fail(path, "has arrays of over " + Twine(limit >> 20) +
                            " MiB, which is all the memory that may be used");
    auto bytes = archive.extract(entry);
    if (!bytes)
      return bytes.takeError();
    auto tensor = parseNpy(*bytes, (path + ": '" + entry.name + "'").str());
    if (!tensor)
      return tensor.takeError();
    StringRef name = entry.name;
    name.consume_back(".npy");
    tensor->name = name.str();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

/// Compares the checksum of a part of a file, without keeping it in memory.
static Error checkPart(StringRef path, uint64_t begin, const Entry &entry) {
  constexpr uint64_t piece = 1 << 22;
  uLong checksum = crc32(0, nullptr, 0);
  for (uint64_t done = 0; done < entry.bytes; done += piece) {
    auto part = MemoryBuffer::getFileSlice(
        path, std::min(piece, entry.bytes - done), begin + done,
        /*IsVolatile=*/true);
    if (!part)
      return fail(path, part.getError().message());
    checksum = crc32(checksum,
                     reinterpret_cast<const Bytef *>((*part)->getBufferStart()),
                     (*part)->getBufferSize());
  }
  if (checksum != entry.checksum)
    return fail(path, "'" + entry.name + "' is damaged");
  return Error::success();
}

Expected<std::vector<NpzEntry>> onnxquant::listNpz(StringRef path) {
  auto file = openInput(path, FileLimits::data);
  if (!file)
    return fail(path, toString(file.takeError()));
  Archive archive((*file)->getBuffer(), path);
  auto entries = archive.readDirectory();
  if (!entries)
    return entries.takeError();
  std::vector<NpzEntry> result;
  for (const Entry &entry : *entries) {
    Expected<uint64_t> begin = archive.locate(entry);
    if (!begin)
      return begin.takeError();
    bool isStored = entry.method == 0 && entry.bytes == entry.packedBytes;
    if (isStored)
      if (Error error = checkPart(path, *begin, entry))
        return error;
    StringRef name = entry.name;
    name.consume_back(".npy");
    result.push_back({name.str(), isStored, *begin, entry.bytes});
  }
  return result;
}
