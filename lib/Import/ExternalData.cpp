// Maps external data files and checks that they belong to the model.

#include "ExternalData.h"
#include "OnnxQuant/Support/InputFile.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::import;

static Error refuse(StringRef location, const Twine &reason) {
  return createStringError(inconvertibleErrorCode(),
                           "external data '" + location + "' " + reason);
}

Expected<std::shared_ptr<sys::fs::mapped_file_region>>
ExternalData::map(StringRef location) {
  if (auto it = files.find(location); it != files.end())
    return it->second;
  if (folder.empty())
    return refuse(location, "cannot be used by a model that is not a file");
  if (location.empty() || sys::path::is_absolute(location))
    return refuse(location, "must be a path relative to the model's folder");
  for (StringRef part :
       make_range(sys::path::begin(location), sys::path::end(location)))
    if (part == "..")
      return refuse(location, "leaves the model's folder");
  SmallString<256> path(folder), realFolder, realPath;
  sys::path::append(path, location);
  if (std::error_code code = sys::fs::real_path(folder, realFolder))
    return refuse(location, "cannot be opened: " + code.message());
  if (std::error_code code = sys::fs::real_path(path, realPath))
    return refuse(location, "cannot be opened: " + code.message());
  StringRef inside = realPath.str();
  if (!inside.consume_front(realFolder) ||
      (!inside.starts_with("/") && !realFolder.str().ends_with("/")))
    return refuse(location, "leaves the model's folder by a symbolic link");

  // Opening a pipe would wait for its other end.
  if (Error error = checkInput(realPath, FileLimits::data))
    return refuse(location, toString(std::move(error)));
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(realPath);
  if (!file)
    return refuse(location, "cannot be opened: " + toString(file.takeError()));
  sys::fs::file_status status;
  std::error_code code = sys::fs::status(*file, status);
  std::shared_ptr<sys::fs::mapped_file_region> region;
  if (!code && status.getSize() > 0)
    region = std::make_shared<sys::fs::mapped_file_region>(
        *file, sys::fs::mapped_file_region::readonly, status.getSize(), 0,
        code);
  sys::fs::closeFile(*file);
  if (code)
    return refuse(location, "cannot be mapped: " + code.message());
  files[location] = region;
  return region;
}

Expected<MappedBytes> ExternalData::get(StringRef location, uint64_t offset,
                                        std::optional<uint64_t> length) {
  auto region = map(location);
  if (!region)
    return region.takeError();
  uint64_t size = *region ? (*region)->size() : 0;
  if (offset > size)
    return refuse(location, "has " + Twine(size) +
                                " bytes, but the tensor begins at byte " +
                                Twine(offset));
  if (length && *length > size - offset)
    return refuse(location, "has " + Twine(size) +
                                " bytes, but the tensor "
                                "needs " +
                                Twine(*length) + " from byte " + Twine(offset));
  MappedBytes result;
  result.owner = *region;
  if (*region)
    result.bytes = ArrayRef<char>((*region)->const_data() + offset,
                                  length.value_or(size - offset));
  return result;
}
