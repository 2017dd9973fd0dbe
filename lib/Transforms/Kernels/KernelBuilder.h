// What lowerings of kernels are written with: index arithmetic that folds,
// buffers as flat memory, vectors of which some lanes count, and epilogues on
// vectors.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_KERNELBUILDER_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_KERNELBUILDER_H

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <functional>

namespace onnxquant::kernels {

/// A buffer seen as flat memory; sizes and strides are constants where known.
struct FlatBuffer {
  mlir::Value memory;
  llvm::SmallVector<mlir::Value> sizes, strides;
  mlir::Type element;
  /// Whether its elements follow each other without gaps.
  bool isContiguous = false;

  /// Whether all dimensions but the last are one of equal steps.
  bool hasEqualRows() const;
  /// The buffer as [count, last dimension] if it has such rows.
  FlatBuffer asRows(mlir::Value count) const;

  size_t rank() const { return sizes.size(); }
};

class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// Builds before an op.
  KernelBuilder(mlir::Location loc, mlir::Operation *op);

  //===--- Indices --------------------------------------------------------===//
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b) { return add(a, index(b)); }
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b) { return mul(a, index(b)); }
  /// Of values that are not negative.
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value rem(mlir::Value a, mlir::Value b);
  mlir::Value ceilDiv(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  static std::optional<int64_t> known(mlir::Value value);

  //===--- Loops ----------------------------------------------------------===//
  /// Steps of one from 0; a loop that runs once is none. `body` gets the index
  /// and the carried values and returns the new ones.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value count, mlir::ValueRange carried,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                         mlir::ValueRange)>
           body);
  /// The same without carried values.
  void repeat(mlir::Value count, llvm::function_ref<void(mlir::Value)> body);
  /// A grid of independent steps, the last index innermost. Dimensions of one
  /// step are left out.
  void grid(llvm::ArrayRef<mlir::Value> counts,
            llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);

  //===--- Memory ---------------------------------------------------------===//
  /// Whether accesses by pointers are to be checked, see `checkSpan`.
  bool checksPointers() const { return checks; }
  /// Checks that the elements from `first` to `last` are in memory: for what is
  /// read and written by pointers, which `onnxq-check-bounds` doesn't see.
  void checkSpan(mlir::Value memory, mlir::Value first, mlir::Value last);
  FlatBuffer flatten(mlir::Value buffer);
  mlir::Value castBuffer(mlir::Value memory, mlir::MemRefType type);
  mlir::Value loadScalar(mlir::Value memory, mlir::Value offset);
  /// A vector of which `valid` lanes are read; the others are zero.
  mlir::Value loadVector(mlir::Value memory, mlir::Value offset, int64_t lanes,
                         int64_t valid, mlir::Type element);
  /// Writes the first `valid` lanes.
  void storeVector(mlir::Value vector, mlir::Value memory, mlir::Value offset,
                   int64_t valid);
  /// A pointer of which LLVM doesn't see where it comes from: it
  /// neither finds another form for addresses nor moves loads out of loops.
  mlir::Value hiddenPointer(mlir::Value memory, mlir::Value offset);
  /// The same, `count` elements behind a pointer.
  mlir::Value hiddenPointer(mlir::Value pointer, mlir::Type element,
                            int64_t count);
  mlir::Value hiddenPointer(mlir::Value pointer, mlir::Type element,
                            mlir::Value count);
  /// Loads `type`, which begins `count` elements behind a pointer.
  mlir::Value loadBehind(mlir::Value pointer, mlir::Type element, int64_t count,
                         mlir::Type type);
  /// Writes a vector where a pointer is.
  void storeAt(mlir::Value vector, mlir::Value pointer);
  /// Prefetches the cache line that holds an element, which may lie outside.
  void prefetch(mlir::Value memory, mlir::Value offset, bool isWrite = false);
  /// A constant vector of zeros.
  mlir::Value zeros(int64_t lanes, mlir::Type element);
  mlir::Value broadcast(mlir::Value scalar, int64_t lanes);
  /// x * y + z, with one rounding where the target has such an instruction.
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value z,
                          bool hasFMA);
  /// Vectors of equal types, one after the other; a power of two of them.
  mlir::Value concat(llvm::ArrayRef<mlir::Value> vectors);

  //===--- Regions --------------------------------------------------------===//
  /// A region that computes element by element, on vectors: its yielded value,
  /// or another one of it.
  mlir::Value repeatOnVectors(mlir::Region &region,
                              llvm::ArrayRef<mlir::Value> arguments,
                              int64_t lanes, mlir::Value result = {});

private:
  bool checks;
};

/// A call of an LLVM intrinsic of one result.
mlir::Value callIntrinsic(mlir::OpBuilder &b, mlir::Location loc,
                          llvm::StringRef name, mlir::Type result,
                          mlir::ValueRange operands);

/// A private constant of at least `count` zeros of a module, for what lies
/// around an input.
mlir::Value getZeros(KernelBuilder &b, mlir::Operation *op, int64_t count,
                     mlir::Type element);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_KERNELBUILDER_H
