// The functions that a run's context is handed to, in the LLVM dialect: they
// leave the run with a message, and allocate and free its memory.
//
// The context lies on the stack of the run. Blocks that a run allocates are a
// list, newest first: a loop remembers where it began, and after each iteration
// frees the newer ones that aren't carried on. Outside of loops a block is
// freed behind the last op that reads it.

#ifndef ONNXQUANT_LIB_TRANSFORMS_CODEGEN_RUNCONTEXT_H
#define ONNXQUANT_LIB_TRANSFORMS_CODEGEN_RUNCONTEXT_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxquant {

/// The context: a pointer to the message, one to the newest block, the jump
/// buffer with room for any C library's, and the bytes of all blocks.
inline constexpr int64_t messageField = 0, blocksField = 8, jumpField = 16;
inline constexpr int64_t usedField = jumpField + 512;
inline constexpr int64_t contextBytes = usedField + 8;
/// Frees all that a run still has.
inline constexpr llvm::StringLiteral releaseFunction = "onnxq_release";

/// retain(): lets the process keep memory that runs free. Once for all runs, a
/// large block is allocated, not touched, and freed: from then on glibc keeps
/// free blocks of up to this size, and 64 MiB at the end of its heap. Otherwise
/// it gives back what a run frees, and the next run takes it anew page by page,
/// which takes longer than all else in a step of a decoder.
inline constexpr llvm::StringLiteral retainFunction = "onnxq_retain";

/// take(context, data, bytes): gives the caller the block with these data, if
/// there is one and it has so many bytes; whether there is.
inline constexpr llvm::StringLiteral takeFunction = "onnxq_take";

/// drop(context, data): frees the block with these data.
inline constexpr llvm::StringLiteral dropFunction = "onnxq_drop";

/// Builds LLVM dialect functions in a module.
class LLVMWriter {
public:
  explicit LLVMWriter(mlir::ModuleOp module, unsigned indexBits = 64);

protected:
  /// A constant index as a value in the current function.
  mlir::Value number(int64_t value);
  mlir::Value fieldAt(mlir::Value base, int64_t bytes);
  mlir::Value loadPointer(mlir::Value address);
  mlir::Value null();
  mlir::Value equal(mlir::Value a, mlir::Value b);
  mlir::LLVM::LLVMFuncOp
  declare(llvm::StringRef symbol, mlir::Type result,
          llvm::ArrayRef<mlir::Type> args,
          llvm::ArrayRef<llvm::StringRef> attributes = {});
  /// A constant string that ends with 0; gives its symbol.
  llvm::StringRef stringGlobal(const llvm::Twine &symbol, llvm::StringRef text);
  mlir::Type none() { return mlir::LLVM::LLVMVoidType::get(context); }

  mlir::ModuleOp module;
  mlir::ImplicitLocOpBuilder b;
  mlir::MLIRContext *context;
  mlir::Type pointer, i64, i32, index;
  /// Bytes of a pointer.
  int64_t pointerBytes;
};

/// Writes the bodies of those functions that the module calls.
class RunContextWriter : public LLVMWriter {
public:
  using LLVMWriter::LLVMWriter;

  /// With `outputs`, the run itself may allocate an output.
  void write(bool outputs);
  bool canFail() const { return fails; }
  bool allocates() const { return hasBlocks; }
  bool retainsMemory() const { return retains; }
  /// Ends the current block: there is not enough memory.
  void failMemory(mlir::Value runContext);

private:
  mlir::LLVM::LLVMFuncOp memoryFailure();
  /// The function of this name if it is called; erased if it isn't.
  mlir::LLVM::LLVMFuncOp findUsed(llvm::StringRef symbol);
  mlir::Value dataOf(mlir::Value block);
  void writeFail();
  void writeAlloc(mlir::LLVM::LLVMFuncOp alloc);
  void writeRelease();
  void writeMark(mlir::LLVM::LLVMFuncOp mark);
  void writeKeep(mlir::LLVM::LLVMFuncOp keep);
  void writeTrim(mlir::LLVM::LLVMFuncOp trim);
  void writeDrop(mlir::LLVM::LLVMFuncOp drop);
  void writeRetain();
  void writeTake();
  void freeBlock(mlir::Value block);
  /// Takes a block out of the list, in which `place` points to it, and frees
  /// it.
  void removeBlock(mlir::Value runContext, mlir::Value place,
                   mlir::Value block);

  /// The bytes that a run's blocks may have; 0 for any number.
  int64_t maxBytes() const;

  bool fails = false, hasBlocks = false, retains = false;
};

} // namespace onnxquant

#endif // ONNXQUANT_LIB_TRANSFORMS_CODEGEN_RUNCONTEXT_H
