// Writes a model file, weights last and straight from where they are, so that
// no second copy of them is made.

#include "OnnxQuant/Export/Export.h"
#include "GraphExporter.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::exporting;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

/// Weights in their own file begin at multiples of this.
static constexpr uint64_t dataAlignment = 64;
static constexpr size_t chunkBytes = size_t(1) << 23;

/// Writes bytes that may be mapped from a file, and lets go of their pages.
static void writeBytes(llvm::raw_ostream &os, ArrayRef<char> bytes) {
  for (size_t i = 0; i < bytes.size(); i += chunkBytes) {
    ArrayRef<char> chunk =
        bytes.slice(i, std::min(chunkBytes, bytes.size() - i));
    os.write(chunk.data(), chunk.size());
#if defined(__linux__) && defined(MADV_PAGEOUT)
    if (chunk.size() == chunkBytes) {
      uintptr_t page = sysconf(_SC_PAGESIZE);
      uintptr_t begin = reinterpret_cast<uintptr_t>(chunk.data()) / page * page;
      uintptr_t end = reinterpret_cast<uintptr_t>(chunk.data() + chunk.size()) /
                      page * page;
      (void)madvise(reinterpret_cast<void *>(begin), end - begin, MADV_PAGEOUT);
    }
#endif
  }
}

static void writeVarint(llvm::raw_ostream &os, uint64_t value) {
  uint8_t buffer[10];
  uint8_t *end = CodedOutputStream::WriteVarint64ToArray(value, buffer);
  os.write(reinterpret_cast<char *>(buffer), end - buffer);
}

/// The tag and length before a field of bytes.
static size_t prefixSize(int field, uint64_t length) {
  return CodedOutputStream::VarintSize32(field << 3) +
         CodedOutputStream::VarintSize64(length);
}
static void writePrefix(llvm::raw_ostream &os, int field, uint64_t length) {
  writeVarint(os, WireFormatLite::MakeTag(
                      field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
  writeVarint(os, length);
}

static uint64_t tensorSize(const Weight &weight) {
  uint64_t size = weight.header.ByteSizeLong();
  if (weight.header.data_location() == ::onnx_format::TensorProto::EXTERNAL)
    return size;
  uint64_t raw = rawSize(weight.elements.getShapedType());
  return size +
         prefixSize(::onnx_format::TensorProto::kRawDataFieldNumber, raw) + raw;
}

static LogicalResult writeElements(const Weight &weight,
                                   llvm::raw_ostream &os) {
  FailureOr<RawTensor> raw = getRawTensor(weight.elements);
  if (failed(raw))
    return weight.op->emitOpError("cannot write tensor '")
           << weight.header.name()
           << "': its data is missing or has the wrong size";
  writeBytes(os, raw->data());
  return success();
}

/// A file name that says which tensor is in it.
static std::string fileNameFor(StringRef location, StringRef tensor,
                               llvm::StringSet<> &taken) {
  std::string stem = location.str() + ".";
  for (char c : tensor)
    stem += llvm::isAlnum(c) || c == '-' || c == '.' ? c : '_';
  // Names may be longer than what file systems take.
  stem.resize(std::min<size_t>(stem.size(), 200));
  std::string name = stem;
  for (unsigned i = 0; !taken.insert(name).second; ++i)
    name = stem + "_" + std::to_string(i);
  return name;
}

/// Gives every large weight its place in the data file, or its own file.
static void placeExternally(std::vector<Weight> &weights, StringRef location,
                            int64_t threshold, bool filePerTensor) {
  uint64_t offset = 0;
  llvm::StringSet<> taken;
  for (Weight &weight : weights) {
    uint64_t size = rawSize(weight.elements.getShapedType());
    if (static_cast<int64_t>(size) < std::max<int64_t>(threshold, 1))
      continue;
    offset = filePerTensor ? 0 : llvm::alignTo(offset, dataAlignment);
    weight.header.set_data_location(::onnx_format::TensorProto::EXTERNAL);
    auto add = [&](StringRef key, std::string value) {
      auto *entry = weight.header.add_external_data();
      entry->set_key(key.str());
      entry->set_value(std::move(value));
    };
    add("location", filePerTensor
                        ? fileNameFor(location, weight.header.name(), taken)
                        : location.str());
    add("offset", std::to_string(offset));
    add("length", std::to_string(size));
    offset += size;
  }
}

static LogicalResult writeDataFile(const std::vector<Weight> &weights,
                                   llvm::raw_ostream &os) {
  uint64_t offset = 0;
  for (const Weight &weight : weights) {
    if (weight.header.data_location() != ::onnx_format::TensorProto::EXTERNAL)
      continue;
    uint64_t begin = llvm::alignTo(offset, dataAlignment);
    os.write_zeros(begin - offset);
    if (failed(writeElements(weight, os)))
      return failure();
    offset = begin + rawSize(weight.elements.getShapedType());
  }
  return success();
}

/// Files that have yet to be put into place.
using Files = std::vector<std::unique_ptr<AtomicFile>>;

/// Writes each external weight to its file below `folder`.
static LogicalResult writeTensorFiles(const std::vector<Weight> &weights,
                                      StringRef folder, Files &files) {
  for (const Weight &weight : weights) {
    if (weight.header.data_location() != ::onnx_format::TensorProto::EXTERNAL)
      continue;
    SmallString<128> path(folder);
    llvm::sys::path::append(path, weight.header.external_data(0).value());
    auto file = AtomicFile::create(path);
    if (!file)
      return weight.op->emitOpError() << llvm::toString(file.takeError());
    if (failed(writeElements(weight, (*file)->os())))
      return failure();
    files.push_back(std::move(*file));
  }
  return success();
}

static uint64_t graphSize(const ::onnx_format::ModelProto &model,
                          const std::vector<Weight> &weights) {
  uint64_t size = model.graph().ByteSizeLong();
  for (const Weight &weight : weights) {
    uint64_t tensor = tensorSize(weight);
    size +=
        prefixSize(::onnx_format::GraphProto::kInitializerFieldNumber, tensor) +
        tensor;
  }
  return size;
}

/// The model's fields, then the graph's, then one weight after the other.
static LogicalResult writeModelFile(::onnx_format::ModelProto &model,
                                    const std::vector<Weight> &weights,
                                    llvm::raw_ostream &os) {
  uint64_t size = graphSize(model, weights);
  std::unique_ptr<::onnx_format::GraphProto> graph(model.release_graph());
  os << model.SerializeAsString();
  writePrefix(os, ::onnx_format::ModelProto::kGraphFieldNumber, size);
  os << graph->SerializeAsString();
  for (const Weight &weight : weights) {
    writePrefix(os, ::onnx_format::GraphProto::kInitializerFieldNumber,
                tensorSize(weight));
    os << weight.header.SerializeAsString();
    if (weight.header.data_location() == ::onnx_format::TensorProto::EXTERNAL)
      continue;
    writePrefix(os, ::onnx_format::TensorProto::kRawDataFieldNumber,
                rawSize(weight.elements.getShapedType()));
    if (failed(writeElements(weight, os)))
      return failure();
  }
  return success();
}

LogicalResult onnxquant::exportModel(ModuleOp module, llvm::raw_ostream &os,
                                     const ExportOptions &options) {
  ::onnx_format::ModelProto model;
  std::vector<Weight> weights;
  GraphExporter exporter(module, options.maxOpset);
  if (failed(exporter.run(model, weights)))
    return failure();
  if (graphSize(model, weights) >
      static_cast<uint64_t>(ExportOptions().maxModelBytes))
    return emitError(module.getLoc(),
                     "the model is too large for one message in memory: "
                     "write it to a file");
  return writeModelFile(model, weights, os);
}

LogicalResult onnxquant::exportModel(ModuleOp module, StringRef path,
                                     const ExportOptions &options) {
  ::onnx_format::ModelProto model;
  std::vector<Weight> weights;
  GraphExporter exporter(module, options.maxOpset);
  if (failed(exporter.run(model, weights)))
    return failure();
  auto fail = [&](llvm::Error error) {
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(std::move(error));
  };
  bool external =
      options.externalData ||
      graphSize(model, weights) > static_cast<uint64_t>(options.maxModelBytes);
  std::string location = options.externalDataLocation;
  if (location.empty())
    location = llvm::sys::path::filename(path).str() + ".data";
  if (external && path == "-")
    return emitError(module.getLoc(),
                     "cannot write external data beside standard output");
  if (llvm::sys::path::filename(location) != location)
    return emitError(module.getLoc(), "expects the external data's location "
                                      "to be a file name, but got '")
           << location << "'";
  SmallString<128> dataPath(llvm::sys::path::parent_path(path));
  llvm::sys::path::append(dataPath, location);
  if (external)
    placeExternally(weights, location, options.externalDataThreshold,
                    options.filePerTensor);
  external &= llvm::any_of(weights, [](const Weight &weight) {
    return weight.header.data_location() ==
           ::onnx_format::TensorProto::EXTERNAL;
  });

  // A model and its data are one output: they are put into place together.
  Files files;
  if (external && options.filePerTensor &&
      failed(
          writeTensorFiles(weights, llvm::sys::path::parent_path(path), files)))
    return failure();
  if (external && !options.filePerTensor) {
    auto file = AtomicFile::create(dataPath);
    if (!file)
      return fail(file.takeError());
    if (failed(writeDataFile(weights, (*file)->os())))
      return failure();
    files.push_back(std::move(*file));
  }
  auto modelFile = AtomicFile::create(path);
  if (!modelFile)
    return fail(modelFile.takeError());
  if (failed(writeModelFile(model, weights, (*modelFile)->os())))
    return failure();
  files.push_back(std::move(*modelFile));
  SmallVector<AtomicFile *> all;
  for (const auto &file : files)
    all.push_back(file.get());
  if (llvm::Error error = commitTogether(all))
    return fail(std::move(error));
  return success();
}
