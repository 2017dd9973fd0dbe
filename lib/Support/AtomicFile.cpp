// Output files that appear whole or not at all.

#include "OnnxQuant/Support/AtomicFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace onnxquant;

static Error pathError(StringRef path, std::error_code code) {
  return createStringError(code, "%s: cannot write: %s", path.str().c_str(),
                           code.message().c_str());
}

Expected<std::unique_ptr<AtomicFile>> AtomicFile::create(StringRef path) {
  std::unique_ptr<AtomicFile> file(new AtomicFile());
  file->path = path.str();
  if (path == "-") {
    std::error_code code;
    file->stream = std::make_unique<raw_fd_ostream>("-", code);
    if (code)
      return pathError(path, code);
    return file;
  }
  // Devices and pipes stay what they are: they are written to, not replaced.
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) &&
      status.type() != sys::fs::file_type::regular_file &&
      status.type() != sys::fs::file_type::directory_file) {
    std::error_code code;
    file->stream = std::make_unique<raw_fd_ostream>(path, code);
    if (code)
      return pathError(path, code);
    return file;
  }
  int fd;
  SmallString<128> temporary;
  if (std::error_code code = sys::fs::createUniqueFile(
          path + ".%%%%%%.tmp", fd, temporary, sys::fs::OF_None,
          sys::fs::all_read | sys::fs::all_write))
    return pathError(path, code);
  file->temporary = temporary.str().str();
  file->stream = std::make_unique<raw_fd_ostream>(fd, /*shouldClose=*/true);
  return file;
}

Error onnxquant::checkWritable(StringRef path) {
  if (path == "-")
    return Error::success();
  if (sys::fs::is_directory(path))
    return pathError(path, std::make_error_code(std::errc::is_a_directory));
  // What isn't a file is opened itself; a file is replaced in its folder.
  bool replaces = !sys::fs::exists(path) || sys::fs::is_regular_file(path);
  StringRef folder = replaces ? sys::path::parent_path(path) : path;
  if (folder.empty())
    folder = ".";
  if (std::error_code code =
          sys::fs::access(folder, sys::fs::AccessMode::Exist))
    return pathError(path, code);
  if (std::error_code code =
          sys::fs::access(folder, sys::fs::AccessMode::Write))
    return pathError(path, code);
  return Error::success();
}

AtomicFile::~AtomicFile() {
  if (stream)
    stream->clear_error();
  stream.reset();
  if (!temporary.empty())
    sys::fs::remove(temporary);
}

Error AtomicFile::commit() {
  if (temporary.empty()) {
    stream->flush();
    if (std::error_code code = stream->error()) {
      stream->clear_error();
      return pathError(path, code);
    }
    return Error::success();
  }
  stream->close();
  if (std::error_code code = stream->error()) {
    stream->clear_error();
    return pathError(path, code);
  }
  if (std::error_code code = sys::fs::rename(temporary, path))
    return pathError(path, code);
  temporary.clear();
  return Error::success();
}
