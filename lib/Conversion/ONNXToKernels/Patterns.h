// What patterns from ops of the `onnx` dialect to kernels are written with.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_PATTERNS_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_PATTERNS_H

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include <functional>

namespace onnxquant::kernels {

/// Convolutions, plain and transposed.
void addConvolutionPatterns(mlir::RewritePatternSet &patterns);
void addTransposedConvolutionPatterns(mlir::RewritePatternSet &patterns);
/// Products of matrices.
void addProductPatterns(mlir::RewritePatternSet &patterns);

/// Whether kernels compute elements of this type, small floats as f32.
inline bool isKernelFloat(mlir::Type element) {
  return element.isF32() || element.isF16() || element.isBF16();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The elements of a constant one after the other, as they are stored (the last
/// dimension innermost); none if they have no such form. `f16` and `bf16` are
/// widened to `f32`, integers of four bits to eight.
struct RawElements {
  mlir::RankedTensorType type;
  std::vector<char> bytes;
};
std::optional<RawElements> readElements(mlir::Value constant);

/// An `onnx.Constant` of these elements.
mlir::Value makeConstant(mlir::ImplicitLocOpBuilder &b,
                         mlir::RankedTensorType type,
                         llvm::ArrayRef<char> bytes, llvm::StringRef name);
template <typename T>
mlir::Value makeNumbers(mlir::ImplicitLocOpBuilder &b,
                        llvm::ArrayRef<int64_t> shape, mlir::Type element,
                        llvm::ArrayRef<T> numbers, llvm::StringRef name) {
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(numbers.data()),
                             numbers.size() * sizeof(T));
  return makeConstant(b, mlir::RankedTensorType::get(shape, element), bytes,
                      name);
}

/// Whether an operand is left out.
bool isAbsent(mlir::Value value);
/// Whether a tensor is known to have one element.
bool isSingle(mlir::Value value);
/// The integer of a constant of one element.
std::optional<int64_t> readInteger(mlir::Value value);

/// Makes constants of dequantized 8-bit constants that are weights of an op
/// which `hasKernel`.
void expandWeights(mlir::Operation *root,
                   llvm::function_ref<bool(mlir::Operation *)> hasKernel);

/// Elements in another order: those of the dimensions `order` of `raw`, which
/// is seen as `shape`; the first varies slowest.
std::vector<char> permuteElements(const RawElements &raw,
                                  llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<int64_t> order);

//===----------------------------------------------------------------------===//
// Ops around kernels
//===----------------------------------------------------------------------===//

/// Ops of the `onnx` dialect that take the node's name along.
mlir::Value makeOp(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
                   llvm::StringRef name, mlir::ValueRange operands,
                   mlir::Type type,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
mlir::Value makeTranspose(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
                          mlir::Value value, llvm::ArrayRef<int64_t> perm);
mlir::Value makeCast(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
                     mlir::Value value, mlir::Type element);
/// [N, C, spatial..] as [N, spatial.., C], and back.
mlir::Value toChannelsLast(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
                           mlir::Value value);
mlir::Value toChannelsFirst(mlir::ImplicitLocOpBuilder &b,
                            mlir::Operation *node, mlir::Value value);
/// The value with the element type and the known sizes of `result`, which it
/// takes the place of.
mlir::Value castLike(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
                     mlir::Value value, mlir::Value result);
/// Ends the run with an error that names the node unless `condition` holds.
void check(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
           mlir::Value condition, const llvm::Twine &message);

//===----------------------------------------------------------------------===//
// Sizes and kernels
//===----------------------------------------------------------------------===//

/// A size: a constant where it is known.
mlir::OpFoldResult getSize(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor,
                           int64_t axis);
/// An empty tensor of these sizes.
mlir::Value makeEmpty(mlir::ImplicitLocOpBuilder &b,
                      llvm::ArrayRef<mlir::OpFoldResult> sizes,
                      mlir::Type element);

/// A window with everything known but the sizes that it slides over.
struct KernelWindow {
  llvm::SmallVector<int64_t> kernel, strides, dilations, pads;

  bool isPointwise() const;
};
/// The window of a convolution of [N, C, spatial..] whose pads are known: they
/// don't depend on sizes that aren't.
std::optional<KernelWindow> getKernelWindow(mlir::Operation *op,
                                            mlir::RankedTensorType input,
                                            llvm::ArrayRef<int64_t> kernel);
/// Whether every size that is known holds a window.
bool hasOutput(mlir::RankedTensorType input, const KernelWindow &window);
/// The sizes that a window makes of the spatial dimensions of [N, spatial.., C]
/// `input`, with a check that it fits where that is open.
llvm::SmallVector<mlir::OpFoldResult>
getOutputSizes(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
               mlir::Value input, const KernelWindow &window);

/// A tensor that an epilogue reads by a map.
struct EpilogueOperand {
  mlir::Value value;
  mlir::AffineMap map;
};
/// A tensor with an element per output channel, of an output of rank `rank`.
EpilogueOperand perChannel(mlir::Value value, int64_t rank);
/// Emits what becomes of the accumulator, the first of the arguments.
using EpilogueFn = std::function<mlir::Value(mlir::ImplicitLocOpBuilder &,
                                             mlir::ValueRange arguments)>;
/// The sum of the accumulator and the first epilogue operand.
mlir::Value addFirstOperand(mlir::ImplicitLocOpBuilder &b,
                            mlir::ValueRange arguments);
/// A contraction of `input` [N, spatial.., C] with `weights` [G, K, N]; f32.
mlir::Value makeContract(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                         mlir::Value weights, mlir::Value empty,
                         const KernelWindow &window,
                         llvm::ArrayRef<EpilogueOperand> epilogueOperands,
                         const EpilogueFn &epilogue, bool batched = false);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_PATTERNS_H
