// What a run is given.

#include "OnnxQuant/Pipelines/RunInputs.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Import/TensorFile.h"
#include "OnnxQuant/Support/NearestName.h"
#include "OnnxQuant/Support/NumPy.h"
#include "OnnxQuant/Support/RunLimits.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

//===----------------------------------------------------------------------===//
// What the model states
//===----------------------------------------------------------------------===//

static std::vector<InputSpec> describe(ArrayRef<onnxq_tensor_info> infos) {
  std::vector<InputSpec> specs;
  for (const onnxq_tensor_info &info : infos)
    specs.push_back({info.name, info.type,
                     std::vector<int64_t>(info.dims, info.dims + info.rank)});
  return specs;
}

std::vector<InputSpec> onnxquant::describeInputs(const onnxq_model &model) {
  return describe(ArrayRef(model.inputs, model.num_inputs));
}

std::vector<InputSpec> onnxquant::describeOutputs(const onnxq_model &model) {
  return describe(ArrayRef(model.outputs, model.num_outputs));
}

static InputSpec describe(mlir::Type any, mlir::StringAttr name) {
  InputSpec spec;
  if (name)
    spec.name = name.str();
  auto type = dyn_cast<mlir::TensorType>(any);
  if (type)
    spec.type = onnx::onnxFromElementType(type.getElementType()).value_or(0);
  if (type && type.hasRank()) {
    spec.dims.emplace();
    for (int64_t size : type.getShape())
      spec.dims->push_back(mlir::ShapedType::isDynamic(size) ? -1 : size);
  }
  return spec;
}

/// The graph of a module; null if it has none.
static mlir::func::FuncOp findGraph(mlir::ModuleOp module) {
  if (module.getOps<onnx::EntryPointOp>().empty())
    return {};
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (!function.isExternal())
      return function;
  return {};
}

std::vector<InputSpec> onnxquant::describeInputs(mlir::ModuleOp module) {
  std::vector<InputSpec> specs;
  if (mlir::func::FuncOp graph = findGraph(module))
    for (auto [index, type] : llvm::enumerate(graph.getArgumentTypes()))
      specs.push_back(describe(type, graph.getArgAttrOfType<mlir::StringAttr>(
                                         index, onnx::argNameAttr)));
  return specs;
}

std::vector<InputSpec> onnxquant::describeOutputs(mlir::ModuleOp module) {
  std::vector<InputSpec> specs;
  if (mlir::func::FuncOp graph = findGraph(module))
    for (auto [index, type] : llvm::enumerate(graph.getResultTypes()))
      specs.push_back(
          describe(type, graph.getResultAttrOfType<mlir::StringAttr>(
                             index, onnx::argNameAttr)));
  return specs;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// All tensors of a file, with the names that it has for them.
static Expected<std::vector<HostTensor>> readFile(StringRef path) {
  StringRef extension = sys::path::extension(path);
  if (extension == ".npz")
    return readNpz(path);
  if (extension != ".npy" && extension != ".pb")
    return fail(path + ": cannot be read: expects the extension .npy, .npz or "
                       ".pb");
  auto tensor = extension == ".npy" ? readNpy(path) : readTensorProto(path);
  if (!tensor)
    return tensor.takeError();
  std::vector<HostTensor> tensors;
  tensors.push_back(std::move(*tensor));
  return tensors;
}

Expected<std::vector<HostTensor>> onnxquant::readInputs(StringRef argument) {
  auto [name, path] = argument.split('=');
  if (path.empty() || sys::fs::exists(argument))
    return readFile(argument);
  auto tensors = readFile(path);
  if (!tensors)
    return tensors;
  if (tensors->size() != 1 || sys::path::extension(path) == ".npz") {
    auto found = find_if(*tensors, [&, name = name](const HostTensor &tensor) {
      return tensor.name == name;
    });
    if (found == tensors->end() && tensors->size() != 1) {
      std::vector<std::string> names;
      for (const HostTensor &tensor : *tensors)
        names.push_back(tensor.name);
      return fail(path + ": has no array '" + name + "'; it has " +
                  listNames(names));
    }
    if (found != tensors->end())
      tensors->assign(1, HostTensor(std::move(*found)));
  }
  tensors->front().name = name.str();
  return tensors;
}

//===----------------------------------------------------------------------===//
// Random inputs
//===----------------------------------------------------------------------===//

/// A sequence of 64 bits each, the same on every machine.
static uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static const fltSemantics *semanticsOf(int32_t type) {
  switch (type) {
  case ONNXQ_FLOAT:
    return &APFloat::IEEEsingle();
  case ONNXQ_DOUBLE:
    return &APFloat::IEEEdouble();
  case ONNXQ_FLOAT16:
    return &APFloat::IEEEhalf();
  case ONNXQ_BFLOAT16:
    return &APFloat::BFloat();
  case ONNXQ_FLOAT8E4M3FN:
    return &APFloat::Float8E4M3FN();
  case ONNXQ_FLOAT8E4M3FNUZ:
    return &APFloat::Float8E4M3FNUZ();
  case ONNXQ_FLOAT8E5M2:
    return &APFloat::Float8E5M2();
  case ONNXQ_FLOAT8E5M2FNUZ:
    return &APFloat::Float8E5M2FNUZ();
  case ONNXQ_FLOAT4E2M1:
    return &APFloat::Float4E2M1FN();
  default:
    return nullptr;
  }
}

/// The bits of a random element: floats between -1 and 1, small integers over
/// their whole range, wide ones 0 or 1, since they are mostly indices or sizes.
static uint64_t randomElement(int32_t type, uint64_t &state) {
  uint64_t bits = nextRandom(state);
  if (const fltSemantics *semantics = semanticsOf(type)) {
    APFloat value(static_cast<double>(bits >> 11) * 0x1p-52 - 1);
    bool lost;
    value.convert(*semantics, APFloat::rmNearestTiesToEven, &lost);
    return value.bitcastToAPInt().getZExtValue();
  }
  switch (type) {
  case ONNXQ_INT8:
  case ONNXQ_UINT8:
  case ONNXQ_INT16:
  case ONNXQ_UINT16:
    return bits >> 32;
  case ONNXQ_UINT4:
    return bits >> 60;
  case ONNXQ_INT4:
    return (bits >> 60) - 8;
  default:
    return bits >> 63;
  }
}

static Expected<HostTensor> makeRandom(const InputSpec &spec, uint64_t &state) {
  int64_t limit = RunLimits::get().memory;
  int64_t mostBytes = limit > 0 ? limit : int64_t(1) << 40;
  HostTensor tensor;
  tensor.name = spec.name;
  tensor.type = spec.type;
  if (!spec.dims)
    return fail("input '" + spec.name +
                "' is of no known rank: give its shape");
  unsigned size = elementBytes(spec.type);
  int64_t bytes = size;
  for (int64_t dim : *spec.dims) {
    tensor.dims.push_back(dim < 0 ? 1 : dim);
    if (MulOverflow(bytes, tensor.dims.back(), bytes) || bytes > mostBytes)
      return fail("input '" + spec.name +
                  "' is too large to be made: it takes more than the " +
                  Twine(mostBytes >> 20) + " MiB of --max-memory");
  }
  tensor.data.resize(bytes);
  for (int64_t at = 0; at < bytes; at += size) {
    uint64_t bits = randomElement(spec.type, state);
    std::memcpy(tensor.data.data() + at, &bits, size);
  }
  return tensor;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Gives a tensor the type that the model expects, and checks its shape.
static Error fitInput(const InputSpec &spec, HostTensor &tensor,
                      std::vector<std::string> &notes) {
  int32_t from = tensor.type;
  Expected<bool> converted = convertElements(tensor, spec.type);
  if (!converted)
    return fail("input '" + spec.name + "' " + toString(converted.takeError()));
  if (*converted)
    notes.push_back("input '" + spec.name + "': " + typeName(from) +
                    " is converted to " + typeName(spec.type));
  if (spec.dims && !fitsShape(tensor.dims, *spec.dims))
    return fail("input '" + spec.name + "' expects shape " +
                shapeText(*spec.dims) + ", but got " + shapeText(tensor.dims) +
                layoutHint(tensor.dims, *spec.dims));
  return Error::success();
}

/// What there is, for an error about a name.
static std::string inputsOf(const std::vector<InputSpec> &specs) {
  std::vector<std::string> names;
  for (const InputSpec &spec : specs)
    names.push_back(spec.name);
  return names.empty() ? "it has none" : "it has " + listNames(names);
}

Error onnxquant::giveShapes(std::vector<InputSpec> &specs,
                            ArrayRef<std::string> shapes) {
  for (StringRef text : shapes) {
    auto [name, sizes] = text.rsplit('=');
    std::vector<int64_t> dims;
    SmallVector<StringRef> words;
    if (!sizes.empty())
      sizes.split(words, 'x');
    for (StringRef word : words)
      if (word.getAsInteger(10, dims.emplace_back()) || dims.back() < 0)
        return fail("expects --input-shape NAME=1x3x224x224, but got '" + text +
                    "'");
    auto spec = find_if(specs, [&, name = name](const auto &each) {
      return each.name == name;
    });
    if (spec == specs.end())
      return fail("the model has no input '" + name + "'; " + inputsOf(specs));
    if (spec->dims && !fitsShape(dims, *spec->dims))
      return fail("input '" + spec->name + "' expects shape " +
                  shapeText(*spec->dims) + ", but got " + shapeText(dims));
    spec->dims = dims;
  }
  return Error::success();
}

Expected<std::vector<HostTensor>> onnxquant::matchInputs(
    const std::vector<InputSpec> &specs, std::vector<HostTensor> tensors,
    std::optional<uint64_t> seed, std::vector<std::string> *notes) {
  std::vector<std::string> unread;
  std::vector<HostTensor> ordered(specs.size());
  std::vector<bool> given(specs.size());
  size_t count = tensors.size(), next = 0;
  std::vector<HostTensor *> nameless;
  for (HostTensor &tensor : tensors) {
    if (tensor.name.empty()) {
      nameless.push_back(&tensor);
      continue;
    }
    size_t at = 0;
    while (at < specs.size() && specs[at].name != tensor.name)
      ++at;
    if (at == specs.size())
      return fail("the model has no input '" + tensor.name + "'; " +
                  inputsOf(specs));
    if (given[at])
      return fail("input '" + tensor.name + "' is given twice");
    ordered[at] = std::move(tensor);
    given[at] = true;
  }
  for (HostTensor *tensor : nameless) {
    while (next < specs.size() && given[next])
      ++next;
    if (next == specs.size())
      return fail("the model has " + Twine(specs.size()) + " inputs, but got " +
                  Twine(count));
    ordered[next] = std::move(*tensor);
    given[next] = true;
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    if (!given[i]) {
      if (!seed)
        return fail("input '" + specs[i].name + "' is missing");
      uint64_t state = *seed * 0x2545f4914f6cdd1d + i;
      auto random = makeRandom(specs[i], state);
      if (!random)
        return random.takeError();
      ordered[i] = std::move(*random);
    }
    ordered[i].name = specs[i].name;
    if (Error error = fitInput(specs[i], ordered[i], notes ? *notes : unread))
      return error;
  }
  return ordered;
}

std::vector<std::string>
onnxquant::shapesOf(const std::vector<HostTensor> &tensors) {
  std::vector<std::string> shapes;
  for (const HostTensor &tensor : tensors) {
    std::string text = tensor.name + "=";
    for (auto [index, dim] : enumerate(tensor.dims))
      text += (index ? "x" : "") + std::to_string(dim);
    shapes.push_back(text);
  }
  return shapes;
}
