// Output files that appear whole or not at all.

#ifndef ONNXQUANT_SUPPORT_ATOMICFILE_H
#define ONNXQUANT_SUPPORT_ATOMICFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <string>
#include <vector>

namespace onnxquant {

/// Writes to a file without a name, or to a temporary one beside `path` where
/// the system has no such files; `commit` puts it into place. Without `commit`
/// nothing is left behind. A path of `-` is standard output; devices and pipes
/// are written to as they are.
class AtomicFile {
public:
  static llvm::Expected<std::unique_ptr<AtomicFile>>
  create(llvm::StringRef path);
  ~AtomicFile();

  llvm::raw_pwrite_stream &os();
  /// Flushes and puts the file into place; names the path in the error.
  llvm::Error commit();

private:
  class Stream;

  AtomicFile() = default;
  void forget();
  friend class HeldFiles;
  friend llvm::Error commitTogether(llvm::ArrayRef<AtomicFile *> files);

  std::string path;
  std::string temporary;
  bool isNameless = false;
  std::unique_ptr<Stream> stream;
};

/// Puts several files into place that are one output: all of them, or none. The
/// old files stay as they are if one of the new ones can't be written, and also
/// if this process is killed at any moment.
llvm::Error commitTogether(llvm::ArrayRef<AtomicFile *> files);

/// Files that are written but not in place, so that they can be put there at
/// any moment, from any thread, at once.
class HeldFiles {
public:
  HeldFiles();
  ~HeldFiles();
  HeldFiles(const HeldFiles &) = delete;
  HeldFiles &operator=(const HeldFiles &) = delete;

  /// Files that this thread commits while `work` runs are held.
  void hold(llvm::function_ref<void()> work);
  /// Puts all of them into place.
  llvm::Error commit();

private:
  friend llvm::Error commitTogether(llvm::ArrayRef<AtomicFile *> files);

  std::vector<std::unique_ptr<AtomicFile>> files;
};

/// Writes texts to files that are one output, by their paths.
llvm::Error
writeTogether(llvm::ArrayRef<std::pair<std::string, std::string>> files);

/// Whether `path` can be created or replaced: its folder is there and can be
/// written to. To be asked before long work whose result goes there.
llvm::Error checkWritable(llvm::StringRef path);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_ATOMICFILE_H
