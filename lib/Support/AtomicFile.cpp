// Output files that appear whole or not at all.

#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/Temporaries.h"
#include "PlaceFiles.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <utility>

using namespace llvm;
using namespace onnxquant;

static Error pathError(StringRef path, std::error_code code) {
  return createStringError(code, "%s: cannot write: %s", path.str().c_str(),
                           code.message().c_str());
}

static std::error_code lastError() {
  return std::error_code(errno, std::generic_category());
}

/// Where this thread's files go instead of their places, if anywhere.
static thread_local HeldFiles *holder = nullptr;

/// Writes to a descriptor. LLVM's own stream ends the process in its destructor
/// if a write failed; this one keeps the first error, and writes nothing more.
class AtomicFile::Stream : public raw_pwrite_stream {
public:
  /// With `keeps`, nothing is written before `release`.
  explicit Stream(int fd, bool owns, bool keeps = false)
      : fd(fd), owns(owns), keeps(keeps) {}
  ~Stream() override { close(); }

  /// Flushes; the descriptor stays open.
  std::error_code finish() {
    flush();
    return code;
  }
  void release() {
    flush();
    if (!keeps)
      return;
    keeps = false;
    position -= kept.size();
    write_impl(kept.data(), kept.size());
  }
  /// The descriptor for others to use until the stream is closed.
  int descriptor() const { return fd; }
  void close() {
    flush();
    if (owns && fd >= 0 && ::close(fd) != 0 && !code && errno != EINTR)
      code = lastError();
    fd = -1;
  }
  std::error_code error() const { return code; }

private:
  void write_impl(const char *data, size_t size) override {
    // The system takes at most 2 GiB at a time.
    constexpr size_t most = size_t(1) << 30;
    position += size;
    if (keeps)
      kept.append(data, size);
    while (size > 0 && !keeps && !code) {
      ssize_t written = ::write(fd, data, std::min(size, most));
      if (written >= 0) {
        data += written;
        size -= written;
      } else if (errno == EAGAIN) {
        pollfd waiting = {fd, POLLOUT, 0};
        ::poll(&waiting, 1, -1);
      } else if (errno != EINTR) {
        code = lastError();
      }
    }
  }
  void pwrite_impl(const char *data, size_t size, uint64_t offset) override {
    flush();
    if (keeps)
      kept.replace(offset, size, data, size);
    while (size > 0 && !keeps && !code) {
      ssize_t written = ::pwrite(fd, data, size, offset);
      if (written >= 0) {
        data += written;
        size -= written;
        offset += written;
      } else if (errno != EINTR) {
        code = lastError();
      }
    }
  }
  uint64_t current_pos() const override { return position; }

  int fd;
  bool owns, keeps;
  std::string kept;
  uint64_t position = 0;
  std::error_code code;
};

/// A name for a file that isn't in place yet, in the folder of `path`. Short,
/// because that of `path` may be as long as names can be.
static std::string temporaryName(StringRef path) {
  SmallString<128> name(sys::path::parent_path(path));
  sys::path::append(name, ".onnxq-");
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < 16; ++i)
    name += digits[sys::Process::GetRandomNumber() % 16];
  name += ".tmp";
  return name.str().str();
}

/// A new file without a name, which the system removes if this process ends.
/// Not all systems have those.
static int openNameless(StringRef path) {
#if defined(__linux__) && defined(O_TMPFILE)
  std::string folder = sys::path::parent_path(path).str();
  if (::access("/proc/self/fd", X_OK) == 0)
    return ::open(folder.empty() ? "." : folder.c_str(),
                  O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#endif
  return -1;
}

Expected<std::unique_ptr<AtomicFile>> AtomicFile::create(StringRef path) {
  std::unique_ptr<AtomicFile> file(new AtomicFile());
  file->path = path.str();
  if (path == "-") {
    file->stream = std::make_unique<Stream>(STDOUT_FILENO, /*owns=*/false,
                                            /*keeps=*/holder != nullptr);
    return file;
  }
  // Devices and pipes stay what they are: they are written to, not replaced.
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) &&
      status.type() != sys::fs::file_type::regular_file &&
      status.type() != sys::fs::file_type::directory_file) {
    int fd = ::open(file->path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
      return pathError(path, lastError());
    file->stream = std::make_unique<Stream>(fd, /*owns=*/true,
                                            /*keeps=*/holder != nullptr);
    return file;
  }
  std::string temporary = temporaryName(path);
  int fd = openNameless(path);
  file->isNameless = fd >= 0;
  if (fd < 0) {
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                0666);
    if (fd < 0)
      return pathError(path, lastError());
    rememberTemporary(temporary);
  }
  file->temporary = std::move(temporary);
  file->stream = std::make_unique<Stream>(fd, /*owns=*/true);
  return file;
}

raw_pwrite_stream &AtomicFile::os() { return *stream; }

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

void AtomicFile::forget() {
  if (!temporary.empty() && !isNameless)
    forgetTemporary(temporary);
  temporary.clear();
}

AtomicFile::~AtomicFile() {
  stream.reset();
  if (!temporary.empty() && !isNameless)
    sys::fs::remove(temporary);
  forget();
}

Error AtomicFile::commit() { return commitTogether(this); }

HeldFiles::HeldFiles() = default;
HeldFiles::~HeldFiles() = default;

void HeldFiles::hold(function_ref<void()> work) {
  HeldFiles *before = std::exchange(holder, this);
  work();
  holder = before;
}

Error HeldFiles::commit() {
  SmallVector<AtomicFile *> all;
  for (const std::unique_ptr<AtomicFile> &file : files) {
    file->stream->release();
    all.push_back(file.get());
  }
  return commitTogether(all);
}

Error onnxquant::commitTogether(ArrayRef<AtomicFile *> files) {
  if (holder) {
    for (AtomicFile *file : files) {
      if (std::error_code code = file->stream->finish())
        return pathError(file->path, code);
      std::unique_ptr<AtomicFile> &held =
          holder->files.emplace_back(new AtomicFile());
      held->path = file->path;
      held->temporary.swap(file->temporary);
      held->isNameless = file->isNameless;
      held->stream.swap(file->stream);
    }
    return Error::success();
  }
  for (AtomicFile *file : files) {
    // A file without a name is open until it has one.
    std::error_code code = file->stream->finish();
    if (!code && !file->temporary.empty() && !file->isNameless) {
      file->stream->close();
      code = file->stream->error();
    }
    if (code)
      return pathError(file->path, code);
  }
  std::vector<Placement> placements;
  std::vector<AtomicFile *> placed;
  for (AtomicFile *file : files) {
    if (file->temporary.empty())
      continue;
    if (any_of(placed,
               [&](AtomicFile *other) { return other->path == file->path; }))
      return pathError(file->path,
                       std::make_error_code(std::errc::file_exists));
    placed.push_back(file);
    placements.push_back({file->isNameless ? file->stream->descriptor() : -1,
                          file->temporary, temporaryName(file->path),
                          file->path});
  }
  PlaceResult result = placeFiles(placements);
  for (AtomicFile *file : placed) {
    file->stream->close();
    file->forget();
  }
  if (result.code)
    return pathError(placed[result.index]->path, result.code);
  return Error::success();
}

Error onnxquant::writeTogether(
    ArrayRef<std::pair<std::string, std::string>> files) {
  std::vector<std::unique_ptr<AtomicFile>> owned;
  std::vector<AtomicFile *> all;
  for (const auto &[path, text] : files) {
    auto file = AtomicFile::create(path);
    if (!file)
      return file.takeError();
    (*file)->os() << text;
    all.push_back(file->get());
    owned.push_back(std::move(*file));
  }
  return commitTogether(all);
}
