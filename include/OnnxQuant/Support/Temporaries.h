// What must not outlive this process: temporary files and folders, and the
// programs that it started.

#ifndef ONNXQUANT_SUPPORT_TEMPORARIES_H
#define ONNXQUANT_SUPPORT_TEMPORARIES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace onnxquant {

/// Remembers a file or a folder until `forgetTemporary`.
void rememberTemporary(llvm::StringRef path);
void forgetTemporary(llvm::StringRef path);
/// The same of a process that was started.
void rememberProgram(int id);
void forgetProgram(int id);

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

/// Runs a program to its end, like LLVM's function for it; the program is ended
/// with this one. No time limit if `seconds` is 0.
int runProgram(llvm::StringRef program,
               llvm::ArrayRef<llvm::StringRef> arguments,
               llvm::ArrayRef<std::optional<llvm::StringRef>> redirects,
               unsigned seconds, std::string *message);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_TEMPORARIES_H
