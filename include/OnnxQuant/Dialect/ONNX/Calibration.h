// Ranges of tensors on a module: what calibration found out, for whoever
// quantizes.
//
// The module's attribute `onnxq.calibration` is a dictionary from a tensor's
// ONNX name to {min, max} as f64, and for tensors with a channel axis
// {channel_axis, channel_mins, channel_maxs, channel_means}. Ranges are as the
// calibration method found them: zero need not lie within.

#ifndef ONNXQUANT_DIALECT_ONNX_CALIBRATION_H
#define ONNXQUANT_DIALECT_ONNX_CALIBRATION_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <optional>
#include <string>

namespace onnxquant::onnx {

inline constexpr llvm::StringLiteral calibrationAttr = "onnxq.calibration";

/// What is known of one tensor's values.
struct TensorRange {
  double min = 0, max = 0;
  /// The lists below have an entry for each index along this axis.
  std::optional<int64_t> channelAxis;
  llvm::SmallVector<double> channelMins, channelMaxs, channelMeans;
};

/// Ranges by tensor name.
using Calibration = std::map<std::string, TensorRange>;

/// Whether a module has been calibrated.
bool hasCalibration(mlir::ModuleOp module);
/// The range of a tensor; none if it has none, or one that makes no sense.
std::optional<TensorRange> getRange(mlir::ModuleOp module,
                                    llvm::StringRef tensor);
std::optional<TensorRange> getRange(mlir::Value value);
/// All ranges of a module.
Calibration getCalibration(mlir::ModuleOp module);
/// Replaces all ranges of a module.
void setCalibration(mlir::ModuleOp module, const Calibration &calibration);
/// Adds ranges to those that a module has.
void addCalibration(mlir::ModuleOp module, const Calibration &calibration);

/// The ONNX name of a tensor: an op's result or a graph's input; empty if it
/// has none.
llvm::StringRef getTensorName(mlir::Value value);

} // namespace onnxquant::onnx

#endif // ONNXQUANT_DIALECT_ONNX_CALIBRATION_H
