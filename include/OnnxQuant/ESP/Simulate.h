// A model of ESP-DL as a graph that computes what the device computes, to the
// bit: integers and shifts, made of ops that every target has.

#ifndef ONNXQUANT_ESP_SIMULATE_H
#define ONNXQUANT_ESP_SIMULATE_H

#include "OnnxQuant/ESP/Chip.h"
#include "OnnxQuant/ESP/Model.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include <set>

namespace onnxquant::esp {

struct SimulationOptions {
  const Chip *chip = nullptr;
  /// Names of tensors that become outputs; those of the model if empty.
  std::vector<std::string> outputs;
  /// The kernels before .espdl: shifts round down, and biases are added after
  /// them.
  bool legacy = false;
  /// Let sums of int8 products saturate at the bits of the chip's lanes.
  bool lanes = false;
  /// Keep the table rule of runtimes up to 3.3.0: entries of int16 tables are
  /// interpolated instead of the nearest one taken.
  bool interpolate = false;
  /// Inputs and outputs are real numbers in ONNX's layout; inputs are quantized
  /// first, and outputs multiplied by their scale.
  bool realPorts = false;
};

/// An ONNX model in protobuf's form whose inputs and outputs are the device's:
/// quantized, in the device's layout. Errors name the node.
llvm::Expected<std::string> simulate(const Model &model,
                                     const SimulationOptions &options);

/// The same as a module of the `onnx` dialect. Errors are diagnostics.
mlir::OwningOpRef<mlir::ModuleOp>
importSimulation(const Model &model, const SimulationOptions &options,
                 llvm::StringRef name, mlir::MLIRContext *context);

/// What kernels of a chip refuse, or do otherwise than a file's writer may have
/// meant: a line per node.
std::vector<std::string> doubtsOf(const Model &model, const Chip &chip);

/// Tensors that the device has with their channels last, as far as the graph
/// tells.
std::set<std::string> channelsLastTensors(const Model &model, const Chip &chip);

/// An ordinary float model with QuantizeLinear and DequantizeLinear: ONNX's
/// layout and operators, scales that are powers of two. The chip says how
/// filters lie that don't say it themselves. Errors name the node.
llvm::Expected<std::string> writeQdq(const Model &model, const Chip &chip);

/// The same as a module of the `onnx` dialect. Errors are diagnostics.
mlir::OwningOpRef<mlir::ModuleOp> importQdq(const Model &model,
                                            const Chip &chip,
                                            llvm::StringRef name,
                                            mlir::MLIRContext *context);

} // namespace onnxquant::esp

#endif // ONNXQUANT_ESP_SIMULATE_H
