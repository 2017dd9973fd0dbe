// Reads bytes by each parser, as a file that has them: see ParserCases.h.

#include "ParserCases.h"
#include "OnnxQuant/Data/IdxFile.h"
#include "OnnxQuant/Data/Image.h"
#include "OnnxQuant/ESP/Legacy.h"
#include "OnnxQuant/Statistics/Table.h"
#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/NumPy.h"
#include "OnnxQuant/Support/Yaml.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::fuzz;

static Error readArchive(StringRef path) {
  if (auto list = listNpz(path); !list)
    consumeError(list.takeError());
  return readNpz(path).takeError();
}

static Error readIdx(StringRef path) {
  auto file = IdxFile::open(path);
  if (!file)
    return file.takeError();
  uint64_t count = 1;
  for (int64_t size : file->dims())
    count *= static_cast<uint64_t>(size);
  return file->read(0, std::min<uint64_t>(count, 1 << 16)).takeError();
}

static Error readSettings(StringRef path) {
  auto settings = readYaml(path);
  if (!settings)
    return settings.takeError();
  (void)settings->toJson();
  return Error::success();
}

/// A table that was read can be written and used.
static Error readTableFile(StringRef path) {
  auto table = readTable(path);
  if (!table)
    return table.takeError();
  if (auto *statistics = std::get_if<StatisticsTable>(&*table)) {
    if (auto again = statisticsFromJson(toJson(*statistics)); !again)
      report_fatal_error(Twine("statistics aren't read again: ") +
                         toString(again.takeError()));
    if (auto ranges = computeRanges(*statistics, {}); !ranges)
      consumeError(ranges.takeError());
  }
  return Error::success();
}

/// A pickled table that was read can be written and read again.
static Error readPickleFile(StringRef path) {
  auto file = openInput(path, FileLimits::table);
  if (!file)
    return createStringError(path + ": " + toString(file.takeError()));
  auto table =
      esp::readPickle({(*file)->getBufferStart(), (*file)->getBufferSize()});
  if (!table)
    return createStringError(path + ": " + toString(table.takeError()));
  std::string text = esp::writePickle(*table);
  auto again = esp::readPickle({text.data(), text.size()});
  if (!again)
    report_fatal_error(Twine("a table isn't read again: ") +
                       toString(again.takeError()));
  return Error::success();
}

ArrayRef<Parser> fuzz::getParsers() {
  static const Parser parsers[] = {
      {"npy", ".npy", [](StringRef path) { return readNpy(path).takeError(); }},
      {"npz", ".npz", readArchive},
      {"idx", ".idx", readIdx},
      {"image", ".image",
       [](StringRef path) { return readImage(path).takeError(); }},
      {"json", ".json", readTableFile},
      {"cache", ".cache", readTableFile},
      {"flatbuffers", ".flatbuffers", readTableFile},
      {"yaml", ".yaml", readSettings},
      {"pickle", ".pickle", readPickleFile},
  };
  return parsers;
}

const Parser *fuzz::findParser(StringRef name) {
  for (const Parser &parser : getParsers())
    if (parser.name == name)
      return &parser;
  return nullptr;
}

/// A file of this process in the folder for temporary ones.
static std::string scratchFile(StringRef extension) {
  SmallString<128> path;
  if (std::error_code code = sys::fs::createTemporaryFile(
          "parser-case", extension.drop_front(), path))
    report_fatal_error(Twine("cannot create a temporary file: ") +
                       code.message());
  return path.str().str();
}

bool fuzz::runParser(const Parser &parser, StringRef bytes) {
  static std::string path;
  if (!StringRef(path).ends_with(parser.extension)) {
    if (!path.empty())
      sys::fs::remove(path);
    path = scratchFile(parser.extension);
  }
  std::error_code code;
  raw_fd_ostream(path, code) << bytes;
  if (code)
    report_fatal_error(Twine(path) + ": " + code.message());
  if (Error error = parser.read(path)) {
    // A refusal tells which file, and why.
    std::string text = toString(std::move(error));
    if (!StringRef(text).starts_with(path) ||
        text.size() < path.size() + sizeof(": x"))
      report_fatal_error(Twine("an error without file or reason: ") + text);
    return false;
  }
  return true;
}
