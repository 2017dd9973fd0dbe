// Files of compiled models: a line of magic, sizes, contents, a checksum.

#include "OnnxQuant/Pipelines/CodeCache.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/InputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace onnxquant;

static constexpr StringLiteral magic = "OnnxQuant code 3\n";
/// Bytes of the hash at the end.
static constexpr size_t hashBytes = 32;

namespace {
/// A stream that only hashes.
class HashStream : public raw_ostream {
public:
  HashStream() : raw_ostream(/*unbuffered=*/false) {}
  ~HashStream() override { flush(); }

  std::string finish() {
    flush();
    return toHex(hasher.final(), /*LowerCase=*/true);
  }
  /// A text with its end, so that two texts are never taken for one.
  void field(StringRef text) { *this << text.size() << ":" << text << ";"; }

private:
  void write_impl(const char *data, size_t size) override {
    hasher.update(StringRef(data, size));
    position += size;
  }
  uint64_t current_pos() const override { return position; }

  TruncatedBLAKE3<16> hasher;
  uint64_t position = 0;
};
} // namespace

/// Tells this program from others, and from itself before it was built anew.
static std::string describeProgram() {
  static int anchor;
  std::string path = sys::fs::getMainExecutable("onnxq", &anchor);
  sys::fs::file_status status;
  if (sys::fs::status(path, status))
    return path;
  return (Twine(status.getSize()) + " " +
          Twine(status.getLastModificationTime().time_since_epoch().count()))
      .str();
}

std::string CodeCache::keyOf(mlir::ModuleOp module,
                             const CompileOptions &options, StringRef kind) {
  HashStream hash;
  const onnxquant::TargetOptions &target = options.target;
  std::string program = describeProgram();
  for (StringRef text : {StringRef(magic), StringRef(program), kind,
                         StringRef(target.triple), StringRef(target.cpu),
                         StringRef(target.features), StringRef(options.name)})
    hash.field(text);
  for (const onnxquant::TargetOptions &other : options.otherTargets)
    for (StringRef text : {other.name, other.triple, other.cpu, other.features})
      hash.field(text);
  hash.field(target.name);
  for (int64_t number :
       {int64_t(target.optLevel), int64_t(target.isBrief),
        int64_t(options.checkBounds), int64_t(options.prepare),
        options.maxIterations, options.maxMemory, options.threads,
        int64_t(options.profile), int64_t(options.winograd)})
    hash << number << ";";
  (void)writeBytecode(module, hash);
  return hash.finish();
}

std::string CodeCache::pathOf(StringRef key) const {
  SmallString<128> path(folder);
  sys::path::append(path, key + ".onnxqcode");
  return path.str().str();
}

/// The hash of an entry under a key: one that was renamed has another.
static std::string hashOf(StringRef key, StringRef contents) {
  TruncatedBLAKE3<hashBytes> hasher;
  hasher.update(key);
  hasher.update(contents);
  auto hash = hasher.final();
  return std::string(reinterpret_cast<const char *>(hash.data()), hash.size());
}

/// Whether a file is this user's own, and nobody else may write to it: what is
/// in it will run.
static bool isOwn(const std::string &path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & S_IWOTH) == 0;
}

std::optional<CompiledModel> CodeCache::find(StringRef key) const {
  if (!isOn() || !isOwn(pathOf(key)))
    return std::nullopt;
  auto file = openInput(pathOf(key), FileLimits::text);
  if (!file) {
    consumeError(file.takeError());
    return std::nullopt;
  }
  StringRef bytes = (*file)->getBuffer();
  auto take = [&](uint64_t &number) {
    if (bytes.size() < 8)
      return false;
    number = support::endian::read64le(bytes.data());
    bytes = bytes.drop_front(8);
    return true;
  };
  if (bytes.size() < magic.size() + hashBytes)
    return std::nullopt;
  StringRef hash = bytes.take_back(hashBytes);
  bytes = bytes.drop_back(hashBytes);
  if (!bytes.starts_with(magic) || hashOf(key, bytes) != hash)
    return std::nullopt;
  bytes = bytes.drop_front(magic.size());
  CompiledModel model;
  uint64_t usesOpenMP, count;
  if (!take(usesOpenMP) || !take(count))
    return std::nullopt;
  model.usesOpenMP = usesOpenMP != 0;
  for (uint64_t index = 0; index < count; ++index) {
    uint64_t size;
    if (!take(size) || bytes.size() < size)
      return std::nullopt;
    StringRef part = bytes.take_front(size);
    bytes = bytes.drop_front(size);
    if (index == 0)
      model.header = part.str();
    else if (index == 1)
      model.withoutKernel = part.str();
    else
      model.objects.push_back(MemoryBuffer::getMemBufferCopy(part, "model"));
  }
  return model;
}

Error CodeCache::keep(StringRef key, const CompiledModel &model) const {
  if (!isOn())
    return Error::success();
  if (std::error_code code = sys::fs::create_directories(folder))
    return createStringError(code, "%s: cannot be made: %s", folder.c_str(),
                             code.message().c_str());
  std::string contents(magic);
  auto put = [&](uint64_t number) {
    char bytes[8];
    support::endian::write64le(bytes, number);
    contents.append(bytes, 8);
  };
  auto putText = [&](StringRef text) {
    put(text.size());
    contents.append(text.begin(), text.end());
  };
  put(model.usesOpenMP);
  put(2 + model.objects.size());
  putText(model.header);
  putText(model.withoutKernel);
  for (const auto &object : model.objects)
    putText(object->getBuffer());
  contents += hashOf(key, contents);
  // What isn't a file of ours would be written to, not replaced. LLVM removes
  // no pipes.
  if (!isOwn(pathOf(key)) && ::unlink(pathOf(key).c_str()) != 0)
    sys::fs::remove(pathOf(key));
  auto file = AtomicFile::create(pathOf(key));
  if (!file)
    return file.takeError();
  (*file)->os() << contents;
  return (*file)->commit();
}
