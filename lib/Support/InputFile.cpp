// Input files: ordinary files of a size that makes sense.

#include "OnnxQuant/Support/InputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include <fcntl.h>
#include <set>
#include <unistd.h>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &reason) {
  return createStringError(inconvertibleErrorCode(), reason);
}

static Error tooLarge(uint64_t most) {
  return fail("is too large: files of this kind have at most " +
              Twine(most >> 20) + " MiB");
}

/// What an open file is, and whether it may be read.
static Expected<uint64_t> checkOpen(int fd, uint64_t most) {
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(fd, status))
    return fail("cannot be opened: " + code.message());
  if (status.type() == sys::fs::file_type::directory_file)
    return fail("cannot be opened: it is a folder");
  if (status.type() != sys::fs::file_type::regular_file)
    return fail("cannot be opened: it is a device or a pipe, not a file");
  if (status.getSize() > most)
    return tooLarge(most);
  return status.getSize();
}

/// Opens without waiting for a pipe's other end.
static Expected<int> open(StringRef path) {
  int fd = ::open(path.str().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return fail("cannot be opened: " +
                std::error_code(errno, std::generic_category()).message());
  return fd;
}

Error onnxquant::checkInput(StringRef path, uint64_t most) {
  Expected<int> fd = open(path);
  if (!fd)
    return fd.takeError();
  Expected<uint64_t> size = checkOpen(*fd, most);
  ::close(*fd);
  return size ? Error::success() : size.takeError();
}

Expected<std::unique_ptr<MemoryBuffer>>
onnxquant::openInput(StringRef path, uint64_t most, bool isText) {
  Expected<int> fd = open(path);
  if (!fd)
    return fd.takeError();
  Expected<uint64_t> size = checkOpen(*fd, most);
  if (!size) {
    ::close(*fd);
    return size.takeError();
  }
  auto file =
      MemoryBuffer::getOpenFile(sys::fs::convertFDToNativeFile(*fd), path,
                                *size, /*RequiresNullTerminator=*/isText);
  ::close(*fd);
  if (!file)
    return fail("cannot be read: " + file.getError().message());
  return std::move(*file);
}

Expected<std::unique_ptr<MemoryBuffer>>
onnxquant::openInputOrStdin(StringRef path, uint64_t most) {
  if (path != "-")
    return openInput(path, most, /*isText=*/true);
  constexpr size_t piece = 1 << 16;
  SmallVector<char, 0> bytes;
  while (true) {
    size_t size = bytes.size();
    bytes.resize_for_overwrite(size + piece);
    ssize_t count = ::read(STDIN_FILENO, bytes.data() + size, piece);
    if (count < 0 && errno != EINTR)
      return fail("cannot be read: " +
                  std::error_code(errno, std::generic_category()).message());
    bytes.truncate(size + std::max<ssize_t>(count, 0));
    if (count == 0)
      break;
    if (bytes.size() > most)
      return tooLarge(most);
  }
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(bytes), "<stdin>", /*RequiresNullTerminator=*/true);
}

std::vector<std::string> onnxquant::filesBelow(StringRef folder) {
  using sys::fs::file_type;
  std::vector<std::string> files;
  std::set<sys::fs::UniqueID> entered;
  // Links come last, so that a folder is entered by its own name if it can be.
  std::set<std::string> folders = {folder.str()}, links;
  while (!folders.empty() || !links.empty()) {
    std::set<std::string> &from = folders.empty() ? links : folders;
    std::string place = std::move(from.extract(from.begin()).value());
    sys::fs::UniqueID id;
    if (sys::fs::getUniqueID(place, id) || !entered.insert(id).second)
      continue;
    std::error_code code;
    for (sys::fs::directory_iterator at(place, code), end; at != end && !code;
         at.increment(code)) {
      if (at->type() == file_type::directory_file)
        folders.insert(at->path());
      else if (at->type() != file_type::regular_file &&
               sys::fs::is_directory(at->path()))
        links.insert(at->path());
      else
        files.push_back(at->path());
    }
  }
  llvm::sort(files);
  return files;
}
