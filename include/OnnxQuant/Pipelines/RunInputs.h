// What a run is given: tensors from files, put into the model's order, and
// random ones where none are given.

#ifndef ONNXQUANT_PIPELINES_RUNINPUTS_H
#define ONNXQUANT_PIPELINES_RUNINPUTS_H

#include "OnnxQuant/Support/HostTensor.h"
#include "onnxquant-c/model.h"
#include <optional>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace onnxquant {

/// An input or output as a model states it.
struct InputSpec {
  std::string name;
  /// ONNX's number of the element type.
  int32_t type = 0;
  /// -1 for a dynamic size; nothing if the rank is dynamic too.
  std::optional<std::vector<int64_t>> dims;
};

std::vector<InputSpec> describeInputs(const onnxq_model &model);
/// The inputs of a module of the `onnx` dialect; empty if it has no graph.
std::vector<InputSpec> describeInputs(mlir::ModuleOp module);
/// The outputs, in the same way.
std::vector<InputSpec> describeOutputs(const onnxq_model &model);
std::vector<InputSpec> describeOutputs(mlir::ModuleOp module);

/// Reads the tensors of `NAME=FILE` or `FILE`: `.npy`, `.npz` or a TensorProto
/// `.pb`. Of an archive, NAME is the array's name; without it all arrays are
/// read. The tensors have the names that they are for, or none.
llvm::Expected<std::vector<HostTensor>> readInputs(llvm::StringRef argument);

/// Puts tensors into the model's order by name; those without a name fill the
/// rest in order. With a seed, inputs that are still missing become random
/// ones, with 1 for dynamic sizes. Types and shapes are checked; `notes` tell
/// of inputs whose elements were converted.
llvm::Expected<std::vector<HostTensor>>
matchInputs(const std::vector<InputSpec> &specs,
            std::vector<HostTensor> tensors, std::optional<uint64_t> seed,
            std::vector<std::string> *notes = nullptr);

/// Gives inputs with dynamic sizes those of `NAME=1x3x224x224`, for random
/// ones.
llvm::Error giveShapes(std::vector<InputSpec> &specs,
                       llvm::ArrayRef<std::string> shapes);

/// Shapes as `NAME=1x3x224x224`, one for each tensor, for specializing.
std::vector<std::string> shapesOf(const std::vector<HostTensor> &tensors);

} // namespace onnxquant

#endif // ONNXQUANT_PIPELINES_RUNINPUTS_H
