// From a module of the `onnx` dialect to an ONNX model.

#ifndef ONNXQUANT_EXPORT_EXPORT_H
#define ONNXQUANT_EXPORT_EXPORT_H

#include "mlir/IR/BuiltinOps.h"

namespace onnxquant {

/// The newest opset of ai.onnx that is known.
inline constexpr int64_t newestOpset = 23;

struct ExportOptions {
  /// Write weights to a file of their own, `<model>.data`. Models that would
  /// not fit into one protobuf message get one anyway.
  bool externalData = false;
  /// The smallest tensor, in bytes, that goes there.
  int64_t externalDataThreshold = 1024;
  /// The name of that file, beside the model; `<model>.data` if empty.
  std::string externalDataLocation;
  /// Give every such tensor a file of its own, named after it, instead.
  bool filePerTensor = false;
  /// The highest opset that the model may have; 0 for any. A model of a later
  /// one is brought down to it where its operators can be said there.
  int64_t maxOpset = 0;
  /// At most this much is written into the model file itself.
  int64_t maxModelBytes = (int64_t(1) << 31) - (int64_t(1) << 20);
};

/// Writes the model; the file appears whole or not at all. The opset is the
/// lowest that can say the graph and is not below the imported one. Equal
/// modules give equal bytes.
llvm::LogicalResult exportModel(mlir::ModuleOp module, llvm::StringRef path,
                                const ExportOptions &options = {});

/// The same bytes to a stream; of the options the highest opset matters. Fails,
/// before anything is written, where they would not fit into one protobuf
/// message.
llvm::LogicalResult exportModel(mlir::ModuleOp module, llvm::raw_ostream &os,
                                const ExportOptions &options = {});

} // namespace onnxquant

#endif // ONNXQUANT_EXPORT_EXPORT_H
