// The functions that give callers the outputs of wide graphs, in the LLVM
// dialect. Code for each output would be a block of thousands of addresses that
// all wait for their copy, or thousands of blocks: both take LLVM longer than
// their number.

#ifndef ONNXQUANT_LIB_TRANSFORMS_CODEGEN_OUTPUTWRITER_H
#define ONNXQUANT_LIB_TRANSFORMS_CODEGEN_OUTPUTWRITER_H

#include "RunContext.h"

namespace onnxquant {

/// An output of a size that is known, and where it lies in the workspace.
struct PlacedOutput {
  int64_t number, offset, bytes;
};

/// Where in the workspace a descriptor's data begin, if they do.
std::optional<int64_t> findInWorkspace(mlir::Value descriptor,
                                       mlir::Value workspace);

class OutputWriter : public RunContextWriter {
public:
  using RunContextWriter::RunContextWriter;

protected:
  /// An end as the model describes it: name, type, rank and sizes.
  mlir::Type infoType();
  /// The fields of the caller's buffer of this number.
  mlir::Value dataField(mlir::Value buffers, unsigned number) {
    return fieldAt(buffers, 2 * pointerBytes * number);
  }
  mlir::Value dimsField(mlir::Value buffers, unsigned number) {
    return fieldAt(buffers, 2 * pointerBytes * number + pointerBytes);
  }
  /// Calls a function that writes the sizes that the model states (`infos`, so
  /// many) to where the caller wants them.
  void writeStatedSizes(mlir::Value buffers, llvm::StringRef infos,
                        int64_t count);
  /// Calls a function that copies these outputs to the caller's memory.
  void copyPlaced(mlir::Value workspace, mlir::Value buffers,
                  llvm::ArrayRef<PlacedOutput> outputs);
  /// copy(slot, data, bytes): copies to where a slot points.
  mlir::LLVM::LLVMFuncOp copyFunction();

private:
  /// The function of this name, which isn't copied to its callers.
  mlir::LLVM::LLVMFuncOp makeFunction(llvm::StringRef symbol,
                                      llvm::ArrayRef<mlir::Type> arguments);
  /// Where element `number` of an array begins, whose elements have so many
  /// bytes.
  mlir::Value element(mlir::Value base, mlir::Value number, int64_t bytes);
  /// Builds a loop up to a number; goes on behind it.
  void countTo(mlir::Value end, llvm::function_ref<void(mlir::Value)> body);
};

} // namespace onnxquant

#endif // ONNXQUANT_LIB_TRANSFORMS_CODEGEN_OUTPUTWRITER_H
