// Runs compiled models on tensors in memory.

#include "OnnxQuant/Pipelines/Session.h"
#include <cstdlib>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

static std::string shapeText(ArrayRef<int64_t> dims) {
  std::string text = "[";
  for (auto [index, dim] : enumerate(dims))
    text += (index ? ", " : "") + (dim < 0 ? "?" : std::to_string(dim));
  return text + "]";
}

/// Whether a tensor is what the model expects there.
static Error checkInput(const onnxq_tensor_info &info,
                        const HostTensor &tensor) {
  std::string name = info.name;
  if (info.type != tensor.type)
    return fail("input '" + name + "' expects elements of " +
                typeName(info.type) + ", but got " + typeName(tensor.type));
  ArrayRef<int64_t> expected(info.dims, info.rank);
  bool fits = expected.size() == tensor.dims.size();
  for (size_t i = 0; fits && i < expected.size(); ++i)
    fits = tensor.dims[i] >= 0 &&
           (expected[i] < 0 || expected[i] == tensor.dims[i]);
  if (!fits)
    return fail("input '" + name + "' expects shape " + shapeText(expected) +
                ", but got " + shapeText(tensor.dims));
  if (static_cast<int64_t>(tensor.data.size()) !=
      tensor.numElements() * elementBytes(tensor.type))
    return fail("input '" + name + "' has the wrong number of bytes");
  return Error::success();
}

Expected<std::vector<HostTensor>>
onnxquant::orderInputs(const onnxq_model &model,
                       std::vector<HostTensor> inputs) {
  std::vector<HostTensor> ordered(model.num_inputs);
  std::vector<bool> given(model.num_inputs), used(inputs.size());
  for (int32_t i = 0; i < model.num_inputs; ++i)
    for (size_t j = 0; j < inputs.size(); ++j)
      if (!used[j] && inputs[j].name == model.inputs[i].name) {
        ordered[i] = std::move(inputs[j]);
        given[i] = used[j] = true;
        break;
      }
  int32_t next = 0;
  for (size_t j = 0; j < inputs.size(); ++j) {
    if (used[j])
      continue;
    if (!inputs[j].name.empty())
      return fail("the model has no input '" + inputs[j].name + "'");
    while (next < model.num_inputs && given[next])
      ++next;
    if (next == model.num_inputs)
      return fail("the model has " + Twine(model.num_inputs) +
                  " inputs, but got " + Twine(inputs.size()));
    ordered[next] = std::move(inputs[j]);
    given[next] = true;
  }
  for (int32_t i = 0; i < model.num_inputs; ++i)
    if (!given[i])
      return fail("input '" + Twine(model.inputs[i].name) + "' is missing");
  return ordered;
}

Expected<std::vector<HostTensor>>
onnxquant::runModel(const onnxq_model &model,
                    const std::vector<HostTensor> &inputs) {
  if (model.abi_version != ONNXQ_ABI_VERSION)
    return fail("the model has interface version " + Twine(model.abi_version) +
                ", but this program knows " + Twine(ONNXQ_ABI_VERSION));
  if (static_cast<int32_t>(inputs.size()) != model.num_inputs)
    return fail("the model has " + Twine(model.num_inputs) +
                " inputs, but got " + Twine(inputs.size()));
  std::vector<onnxq_buffer> in(std::max<size_t>(inputs.size(), 1));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (Error error = checkInput(model.inputs[i], inputs[i]))
      return error;
    in[i].data = const_cast<char *>(inputs[i].data.data());
    in[i].dims = const_cast<int64_t *>(inputs[i].dims.data());
  }
  std::vector<HostTensor> outputs(model.num_outputs);
  std::vector<onnxq_buffer> out(std::max(model.num_outputs, 1));
  for (int32_t i = 0; i < model.num_outputs; ++i) {
    const onnxq_tensor_info &info = model.outputs[i];
    outputs[i].name = info.name;
    outputs[i].type = info.type;
    outputs[i].dims.assign(info.dims, info.dims + info.rank);
    bool isStatic =
        all_of(outputs[i].dims, [](int64_t dim) { return dim >= 0; });
    out[i].dims = outputs[i].dims.data();
    out[i].data = nullptr;
    if (isStatic) {
      outputs[i].data.resize(
          outputs[i].numElements() * elementBytes(info.type) + 1);
      out[i].data = outputs[i].data.data();
    }
  }
  size_t bytes = alignTo(std::max<int64_t>(model.workspace_bytes, 1),
                         ONNXQ_WORKSPACE_ALIGNMENT);
  std::unique_ptr<void, decltype(&std::free)> workspace(
      std::aligned_alloc(ONNXQ_WORKSPACE_ALIGNMENT, bytes), &std::free);
  if (!workspace)
    return fail("not enough memory for a workspace of " + Twine(bytes) +
                " bytes");
  const char *message = nullptr;
  int32_t code = model.run(in.data(), out.data(), workspace.get(), &message);
  for (int32_t i = 0; i < model.num_outputs; ++i) {
    HostTensor &tensor = outputs[i];
    bool allocated = out[i].data && out[i].data != tensor.data.data();
    if (code == ONNXQ_OK) {
      size_t size = tensor.numElements() * elementBytes(tensor.type);
      if (allocated)
        tensor.data.assign(static_cast<char *>(out[i].data),
                           static_cast<char *>(out[i].data) + size);
      else
        tensor.data.resize(size);
    }
    if (allocated)
      std::free(out[i].data);
  }
  if (code != ONNXQ_OK)
    return fail(message ? message : "the run failed");
  return outputs;
}
