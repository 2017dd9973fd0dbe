// Runs compiled models on tensors in memory.

#include "OnnxQuant/Pipelines/Session.h"
#include "OnnxQuant/Pipelines/RunInputs.h"
#include "onnxquant-c/runtime.h"

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

Expected<std::unique_ptr<LoadedLibrary>> LoadedLibrary::open(StringRef path) {
  std::unique_ptr<LoadedLibrary> loaded(new LoadedLibrary());
  onnxq_error error;
  if (onnxq_open(path.str().c_str(), &loaded->library, &error) != ONNXQ_OK)
    return fail(error.message);
  return loaded;
}

LoadedLibrary::~LoadedLibrary() { onnxq_close(library); }

const onnxq_model &LoadedLibrary::model() const { return *onnxq_get(library); }

namespace {
class LibraryProgram : public Program {
public:
  explicit LibraryProgram(std::unique_ptr<LoadedLibrary> library)
      : library(std::move(library)) {}

  Expected<std::vector<HostTensor>>
  run(const std::vector<HostTensor> &inputs) const override {
    return runModel(library->model(), inputs);
  }

private:
  std::unique_ptr<LoadedLibrary> library;
};
} // namespace

std::unique_ptr<Program>
onnxquant::makeProgram(std::unique_ptr<LoadedLibrary> library) {
  return std::make_unique<LibraryProgram>(std::move(library));
}

/// The tensor as the runtime has it; the data stays where it is.
static Error view(const HostTensor &tensor, onnxq_tensor &view) {
  if (tensor.dims.size() > ONNXQ_MAX_RANK)
    return fail("input '" + tensor.name + "' has too many dimensions");
  view.data = const_cast<char *>(tensor.data.data());
  view.bytes = tensor.data.size();
  view.type = tensor.type;
  view.rank = tensor.dims.size();
  std::copy(tensor.dims.begin(), tensor.dims.end(), view.dims);
  return Error::success();
}

/// Lets a run write to where an earlier one did, if the size is the same.
static void offer(HostTensor &earlier, const onnxq_tensor_info &info,
                  onnxq_tensor &view) {
  bool isStatic = all_of(seq(info.rank),
                         [&](int32_t axis) { return info.dims[axis] >= 0; });
  if (!isStatic || earlier.data.empty())
    return;
  view.data = earlier.data.data();
  view.bytes = earlier.data.size();
}

Expected<std::vector<HostTensor>>
onnxquant::runModel(const onnxq_model &model,
                    const std::vector<HostTensor> &inputs, void *workspace,
                    std::vector<HostTensor> outputs) {
  std::vector<onnxq_tensor> in(inputs.size()), out(model.num_outputs);
  for (auto [tensor, place] : zip(inputs, in))
    if (Error error = view(tensor, place))
      return error;
  outputs.resize(out.size());
  for (auto [index, tensor] : enumerate(outputs))
    offer(tensor, model.outputs[index], out[index]);
  onnxq_error error;
  if (onnxq_run(&model, workspace, in.data(), in.size(), out.data(), out.size(),
                &error) != ONNXQ_OK)
    return fail(error.message);
  for (auto [index, result] : enumerate(out)) {
    HostTensor &tensor = outputs[index];
    tensor.name = model.outputs[index].name;
    tensor.type = result.type;
    tensor.dims.assign(result.dims, result.dims + result.rank);
    const char *data = static_cast<const char *>(result.data);
    if (data != tensor.data.data())
      tensor.data.assign(data, data + result.bytes);
    onnxq_release(&result);
  }
  return outputs;
}
