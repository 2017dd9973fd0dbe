// Arrays in NumPy's format.

#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/NumPy.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstring>

using namespace llvm;
using namespace onnxquant;

static Error fail(StringRef path, const Twine &reason) {
  return createStringError(inconvertibleErrorCode(), path + ": " + reason);
}

/// The text after `key` in the header's dictionary.
static StringRef headerValue(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "':").str());
  return at == StringRef::npos ? ""
                               : header.drop_front(at + key.size() + 3).ltrim();
}

/// The header's dictionary; what follows it stays in `bytes`.
static Expected<StringRef> takeHeader(StringRef &bytes, StringRef path) {
  if (bytes.size() < 12 || !bytes.starts_with("\x93NUMPY"))
    return fail(path, "is no NumPy file");
  bool isLong = bytes[6] >= 2;
  size_t begin = isLong ? 12 : 10;
  size_t length = isLong ? support::endian::read32le(bytes.data() + 8)
                         : support::endian::read16le(bytes.data() + 8);
  if (bytes.size() < begin + length)
    return fail(path, "is truncated");
  StringRef header = bytes.substr(begin, length);
  bytes = bytes.drop_front(begin + length);
  return header;
}

/// Dimensions of an array; NumPy's have at most as many.
static constexpr size_t mostDims = 64;

/// The sizes in the header, and how many elements they make.
static Error readShape(StringRef header, StringRef path,
                       std::vector<int64_t> &dims, int64_t &count) {
  StringRef shape = headerValue(header, "shape");
  if (!shape.consume_front("("))
    return fail(path, "has a shape that can't be read");
  shape = shape.take_until([](char c) { return c == ')'; });
  SmallVector<StringRef> parts;
  shape.split(parts, ',', -1, /*KeepEmpty=*/false);
  count = 1;
  for (StringRef part : parts) {
    int64_t dim;
    if (part.trim().empty())
      continue;
    if (part.trim().getAsInteger(10, dim) || dim < 0 ||
        MulOverflow(count, dim, count))
      return fail(path, "has a shape that can't be read");
    if (dims.size() == mostDims)
      return fail(path, "has more than " + Twine(mostDims) + " dimensions");
    dims.push_back(dim);
  }
  return Error::success();
}

/// Elements in row-major order of an array with its first index innermost.
static std::vector<char> reorder(StringRef data, ArrayRef<int64_t> dims,
                                 unsigned bytes) {
  std::vector<char> result(data.size());
  std::vector<int64_t> index(dims.size(), 0);
  for (size_t at = 0; at < data.size(); at += bytes) {
    int64_t place = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis)
      place = place * dims[axis] + index[axis];
    std::memcpy(result.data() + place * bytes, data.data() + at, bytes);
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (++index[axis] < dims[axis])
        break;
      index[axis] = 0;
    }
  }
  return result;
}

Expected<HostTensor> onnxquant::parseNpy(StringRef bytes, StringRef path) {
  auto header = takeHeader(bytes, path);
  if (!header)
    return header.takeError();
  StringRef descr = headerValue(*header, "descr").ltrim('\'');
  descr = descr.take_until([](char c) { return c == '\''; });
  HostTensor tensor;
  tensor.type = typeFromNumpy(descr);
  if (tensor.type == 0)
    return fail(path, "has elements of type '" + descr +
                          "', which models don't have");
  int64_t count, needed;
  if (Error error = readShape(*header, path, tensor.dims, count))
    return error;
  unsigned size = elementBytes(tensor.type);
  if (MulOverflow(count, static_cast<int64_t>(size), needed) ||
      static_cast<int64_t>(bytes.size()) < needed)
    return fail(path, "is truncated");
  bytes = bytes.take_front(needed);
  if (headerValue(*header, "fortran_order").starts_with("True"))
    tensor.data = reorder(bytes, tensor.dims, size);
  else
    tensor.data.assign(bytes.begin(), bytes.end());
  return tensor;
}

Expected<HostTensor> onnxquant::readNpy(StringRef path) {
  auto file = openInput(path, FileLimits::data);
  if (!file)
    return fail(path, toString(file.takeError()));
  return parseNpy((*file)->getBuffer(), path);
}

Expected<std::unique_ptr<AtomicFile>>
onnxquant::prepareNpy(const HostTensor &tensor, StringRef path) {
  StringRef descr = numpyType(tensor.type);
  if (descr.empty())
    return fail(path, "can't hold elements of " + typeName(tensor.type));
  std::string shape;
  for (int64_t dim : tensor.dims)
    shape += std::to_string(dim) + (tensor.dims.size() == 1 ? "," : ", ");
  std::string header = "{'descr': '" + descr.str() +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  while ((10 + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  auto file = AtomicFile::create(path);
  if (!file)
    return file.takeError();
  raw_ostream &os = (*file)->os();
  os << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(header.size() & 255)
     << static_cast<char>(header.size() >> 8) << header;
  os.write(tensor.data.data(), tensor.data.size());
  return file;
}

Error onnxquant::writeNpy(const HostTensor &tensor, StringRef path) {
  auto file = prepareNpy(tensor, path);
  if (!file)
    return file.takeError();
  return (*file)->commit();
}
