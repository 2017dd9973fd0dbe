// Starts the runner and exchanges tensors with it.

#include "Runner.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/Temporaries.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::cli;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

bool onnxquant::cli::isHostTarget(const onnxquant::TargetOptions &target) {
  return Triple(target.triple).getArch() ==
         Triple(sys::getDefaultTargetTriple()).getArch();
}

Expected<std::string> onnxquant::cli::findRunner() {
  static int anchor;
  SmallString<128> path(
      sys::path::parent_path(sys::fs::getMainExecutable("onnxq", &anchor)));
  sys::path::append(path, "onnxq-runner");
  if (!sys::fs::can_execute(path))
    return fail(path + ": is missing; it is installed with onnxq");
  return path.str().str();
}

Error onnxquant::cli::writeBundle(const std::vector<HostTensor> &tensors,
                                  StringRef path) {
  auto file = AtomicFile::create(path);
  if (!file)
    return file.takeError();
  raw_ostream &os = (*file)->os();
  auto put = [&](auto value) {
    char bytes[sizeof(value)];
    support::endian::write(bytes, value, endianness::little);
    os.write(bytes, sizeof(value));
  };
  for (const HostTensor &tensor : tensors) {
    put(static_cast<int32_t>(tensor.type));
    put(static_cast<int32_t>(tensor.dims.size()));
    for (int64_t dim : tensor.dims)
      put(dim);
    put(static_cast<int64_t>(tensor.data.size()));
    os.write(tensor.data.data(), tensor.data.size());
  }
  return (*file)->commit();
}

Expected<std::vector<HostTensor>> onnxquant::cli::readBundle(StringRef path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file)
    return fail(path + ": cannot be opened: " + file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  std::vector<HostTensor> tensors;
  auto take = [&](auto &value) {
    using T = std::decay_t<decltype(value)>;
    if (bytes.size() < sizeof(T))
      return false;
    value = support::endian::read<T>(bytes.data(), endianness::little);
    bytes = bytes.drop_front(sizeof(T));
    return true;
  };
  while (!bytes.empty()) {
    HostTensor tensor;
    int32_t rank;
    int64_t size;
    bool whole = take(tensor.type) && take(rank) && rank >= 0 && rank <= 64;
    if (whole)
      tensor.dims.resize(rank);
    for (int64_t &dim : tensor.dims)
      whole = whole && take(dim);
    whole = whole && take(size) && size >= 0 &&
            bytes.size() >= static_cast<uint64_t>(size);
    if (!whole)
      return fail(path + ": is truncated");
    tensor.data.assign(bytes.begin(), bytes.begin() + size);
    bytes = bytes.drop_front(size);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Expected<std::string>
onnxquant::cli::startRunner(const std::vector<std::string> &command,
                            StringRef folder, unsigned seconds) {
  std::string out = (folder + "/out").str(), err = (folder + "/err").str();
  auto program = sys::findProgramByName(command.front());
  if (!program)
    return fail(command.front() +
                ": cannot be started: " + program.getError().message());
  std::vector<StringRef> arguments(command.begin(), command.end());
  std::string message;
  int status =
      runProgram({*program, arguments, out, err, folder, seconds}, message);
  auto read = [](const std::string &path) {
    auto file = MemoryBuffer::getFile(path);
    return file ? (*file)->getBuffer().str() : std::string();
  };
  if (status == 0)
    return read(out);
  std::string text = read(err);
  StringRef said = StringRef(text).split('\n').first;
  said.consume_front("error: ");
  if (status < 0 || said.empty())
    return fail(command.front() +
                (message.empty() ? " failed" : ": " + message) +
                (said.empty() ? "" : ": " + said));
  return fail(said);
}
