// Files by patterns and by lists.

#include "OnnxQuant/Support/InputFile.h"
#include "SourceSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <glob.h>

using namespace llvm;
using namespace onnxquant;

bool onnxquant::isPattern(StringRef path) {
  return path.find_first_of("*?[{") != StringRef::npos;
}

std::vector<std::string> onnxquant::expandPattern(StringRef path) {
  glob_t found = {};
  std::vector<std::string> files;
  if (glob(path.str().c_str(), GLOB_BRACE | GLOB_NOSORT, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; ++i)
      if (!sys::fs::is_directory(found.gl_pathv[i]))
        files.push_back(found.gl_pathv[i]);
  globfree(&found);
  // As folders are, whatever the locale. Braces can name a file twice.
  llvm::sort(files);
  files.erase(llvm::unique(files), files.end());
  return files;
}

Expected<std::vector<std::string>> onnxquant::readFileList(StringRef path) {
  auto fail = [&](const Twine &message) {
    return createStringError(inconvertibleErrorCode(), path + ": " + message);
  };
  auto file = openInput(path, FileLimits::table, /*isText=*/true);
  if (!file)
    return fail(toString(file.takeError()));
  std::vector<std::string> files;
  SmallVector<StringRef> lines;
  (*file)->getBuffer().split(lines, '\n');
  for (auto [index, line] : enumerate(lines)) {
    StringRef name = line.trim();
    if (name.empty() || name.starts_with("#"))
      continue;
    // Names are relative to the list, or to where the tool was started.
    SmallString<256> beside(sys::path::parent_path(path));
    sys::path::append(beside, name);
    bool isBeside = !sys::path::is_absolute(name) && sys::fs::exists(beside);
    std::string found = isBeside ? beside.str().str() : name.str();
    if (!sys::fs::is_regular_file(found))
      return fail("line " + Twine(index + 1) + ": no such file '" + name + "'");
    files.push_back(std::move(found));
  }
  if (files.empty())
    return fail("names no file");
  return files;
}
