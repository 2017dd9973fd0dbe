// Pieces that contractions, windows and normalizations are put together from:
// loops with maps of their own, views, and checks of sizes.
//
// Views are slices and splits that share the tensor's buffer; an unrolled loop
// reads one view per step, since indexing maps hold no offsets.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_LOOPSUPPORT_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_LOOPSUPPORT_H

#include "Emitter.h"

namespace onnxquant::lowering {

/// A `linalg.generic` that updates `out`: `body` gets an element of every input
/// and the accumulator. `maps` has one entry per input, then the output's.
/// Loops that the output's map lacks are reductions.
Tensor
emitLoops(Emitter &e, llvm::ArrayRef<Tensor> inputs, Tensor out,
          llvm::ArrayRef<mlir::AffineMap> maps,
          llvm::function_ref<Scalar(llvm::ArrayRef<Scalar>, Scalar)> body);

/// Loops that add to `out` the products of pairs of elements: those of the
/// first half of the inputs with those of the second. A product and a sum of
/// floats may be fused into one rounding.
Tensor addProducts(Emitter &e, llvm::ArrayRef<Tensor> inputs, Tensor out,
                   llvm::ArrayRef<mlir::AffineMap> maps);

/// Writes elements over the whole of `out`, each computed from `input`'s
/// element at the same place.
Tensor
writeOver(Emitter &e, Tensor input, Tensor out,
          llvm::function_ref<Scalar(Scalar, llvm::ArrayRef<mlir::Value>)> body);

/// A part of one rank: offsets, sizes and strides per dimension.
Tensor slice(Emitter &e, Tensor tensor,
             llvm::ArrayRef<mlir::OpFoldResult> offsets,
             llvm::ArrayRef<mlir::OpFoldResult> sizes,
             llvm::ArrayRef<int64_t> strides = {});

/// Every `step`th element along `axis`, from `first` on.
Tensor everyNth(Emitter &e, Tensor tensor, int64_t axis, int64_t first,
                int64_t step);
/// The largest power of two up to `limit` that divides a known size; one for
/// another size.
int64_t findUnroll(Emitter &e, mlir::OpFoldResult size, int64_t limit);

/// Puts `part` into `tensor` at `offsets`.
Tensor insertSlice(Emitter &e, Tensor part, Tensor tensor,
                   llvm::ArrayRef<mlir::OpFoldResult> offsets);

/// A transposition, of which nothing is left to run if the tensor is constant.
Tensor transposeFolded(Emitter &e, Tensor tensor,
                       llvm::ArrayRef<int64_t> permutation);

/// `count` dimensions from `axis` on as one.
Tensor mergeDims(Emitter &e, Tensor tensor, int64_t axis, int64_t count);
/// Dimension `axis` as two of the given sizes, whose product is its size.
Tensor splitDim(Emitter &e, Tensor tensor, int64_t axis,
                mlir::OpFoldResult outer, mlir::OpFoldResult inner);
/// A tensor [C] as [C, 1..] with `trailing` ones, which broadcasts along axis 1
/// of a tensor with so many dimensions behind.
Tensor perChannel(Emitter &e, Tensor vector, int64_t trailing);

mlir::OpFoldResult minSize(Emitter &e, mlir::OpFoldResult a,
                           mlir::OpFoldResult b);
mlir::OpFoldResult maxSize(Emitter &e, mlir::OpFoldResult a,
                           mlir::OpFoldResult b);

/// The size that two sizes broadcast to, checked at run time where it is open.
mlir::OpFoldResult broadcastSize(Emitter &e, mlir::OpFoldResult a,
                                 mlir::OpFoldResult b);

/// Checks that a size is `full` or one.
void checkBroadcast(Emitter &e, mlir::OpFoldResult size,
                    mlir::OpFoldResult full);

/// Fails at run time with `message` unless two sizes are equal; nothing if they
/// are known to be.
void checkEqual(Emitter &e, mlir::OpFoldResult a, mlir::OpFoldResult b,
                const llvm::Twine &message);
/// The same unless `a` is at least `b`.
void checkAtLeast(Emitter &e, mlir::OpFoldResult a, mlir::OpFoldResult b,
                  const llvm::Twine &message);

/// Fails at run time with `message` unless `holds` for every element.
void checkAll(Emitter &e, Tensor tensor, const llvm::Twine &message,
              llvm::function_ref<mlir::Value(Scalar)> holds);

/// Converts every element; the tensor itself if it has that type.
Tensor castTo(Emitter &e, Tensor tensor, mlir::Type elementType);

/// A loop over [from, to) that carries values.
llvm::SmallVector<mlir::Value>
loop(Emitter &e, mlir::Value from, mlir::Value to, mlir::ValueRange carried,
     llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                       mlir::ValueRange)>
         body);

/// A condition with values on both sides, of which one is computed.
llvm::SmallVector<mlir::Value>
branch(Emitter &e, mlir::Value condition, mlir::TypeRange types,
       llvm::function_ref<llvm::SmallVector<mlir::Value>()> thenBody,
       llvm::function_ref<llvm::SmallVector<mlir::Value>()> elseBody);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_LOOPSUPPORT_H
