// What must not outlive this process: temporary files and folders, and the
// programs that it started.

#ifndef ONNXQUANT_SUPPORT_TEMPORARIES_H
#define ONNXQUANT_SUPPORT_TEMPORARIES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace onnxquant {

/// Remembers a file or a folder until `forgetTemporary`.
void rememberTemporary(llvm::StringRef path);
void forgetTemporary(llvm::StringRef path);

/// Removes all that is remembered and ends the programs that still run: for a
/// process that ends before its time. With `crashed`, nothing is waited for.
void removeTemporaries(bool crashed = false);

/// A folder for files of a piece of work, removed with all that is in it.
class TemporaryFolder {
public:
  /// `prefix` begins its name.
  static llvm::Expected<TemporaryFolder> create(llvm::StringRef prefix);
  TemporaryFolder(TemporaryFolder &&other) : folder(std::move(other.folder)) {
    other.folder.clear();
  }
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();

  llvm::StringRef path() const { return folder; }

private:
  explicit TemporaryFolder(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

/// A program to run.
struct Job {
  llvm::StringRef program;
  /// The first is the program's name.
  llvm::ArrayRef<llvm::StringRef> arguments;
  /// Where what it says goes.
  std::string out, err;
  /// Where it keeps its own temporary files; empty: where this process does.
  llvm::StringRef folder;
  /// No limit if 0.
  unsigned seconds = 0;
};

/// Runs a program to its end, with nothing to read. Its status; negative, with
/// a message, if it could not be started, was ended by a signal or took too
/// long. All that it started ends with it, and with this process.
int runProgram(const Job &job, std::string &message);

/// Does `work` in a copy of this process, which ends then; so does all that it
/// started. Its status as of waitpid; none if there can't be another process.
std::optional<int> runInChild(llvm::function_ref<void()> work);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_TEMPORARIES_H
