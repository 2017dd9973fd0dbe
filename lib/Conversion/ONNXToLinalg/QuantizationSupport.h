// What lowerings of quantized ops share: between real numbers and quantized
// ones, scales and zero points that vary, and the range of data.
//
// Enters: elements and the tensors of their scales and zero points. Leaves:
// elements and tensors. Real numbers are `f32`, or `f64` where the scale is; F1
// to F3 of docs/QuantizationSemantics.md are here and nowhere else.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_QUANTIZATIONSUPPORT_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_QUANTIZATIONSUPPORT_H

#include "ContractionSupport.h"
#include "LoopSupport.h"
#include "Lowering.h"

namespace onnxquant::lowering {

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The type that real numbers with a scale of this type are computed in.
mlir::Type realType(mlir::Type scaleType);

/// `q - zero` without loss in `type`; a zero point without a value is left out.
Scalar difference(Emitter &e, Scalar q, Scalar zero, mlir::Type type);

/// F1: the real number that `q` stands for.
Scalar dequantize(Emitter &e, Scalar q, Scalar scale, Scalar zero);

/// The last steps of F2 and F3: rounds a quotient half to even, adds the zero
/// point and clamps to the range of an integer type; a float type is cast to.
/// Not-a-number gives the least integer.
Scalar roundAndClamp(Emitter &e, Scalar quotient, Scalar zero, mlir::Type type,
                     bool saturate = true);

/// F2: the quantized number that is nearest to a real one.
Scalar quantize(Emitter &e, Scalar real, Scalar scale, Scalar zero,
                mlir::Type type, bool saturate = true);

//===----------------------------------------------------------------------===//
// Scales and zero points
//===----------------------------------------------------------------------===//

/// Whether a tensor is known to have one element.
bool hasOneElement(Tensor tensor);

/// The element of a tensor that has only one; a scalar without a value for a
/// tensor that is left out. Checks at run time what the type leaves open.
Scalar onlyElement(Emitter &e, Tensor tensor);

/// The same as a real number.
Scalar onlyReal(Emitter &e, Tensor tensor);

/// A scale and its zero point, one element each.
struct Quantizer {
  Scalar scale;
  Scalar zero;
};
Quantizer onlyQuantizer(Emitter &e, Tensor scale, Tensor zero);

/// A product of real scales, element by element; they broadcast.
Tensor scaleProduct(Emitter &e, Tensor a, Tensor b);

/// A parameter per row or per column of a matrix operand in the form that
/// broadcasts to the product of operands of ranks `aRank` and `bRank`: one
/// element, a vector, or all dimensions with a 1.
Tensor alongRows(Emitter &e, Tensor parameter, int64_t aRank, int64_t bRank);
Tensor alongColumns(Emitter &e, Tensor parameter, int64_t aRank, int64_t bRank);

/// A vector along dimension `axis` of a tensor of rank `rank` in the form that
/// broadcasts to it; tensors of one element as they are.
Tensor alongAxis(Emitter &e, Tensor parameter, int64_t axis, int64_t rank);

/// A loader that takes away a zero point in `type`: one element, or one per
/// index of dimension `axis` of the operand, or one of the operand's rank with
/// sizes of 1 where it doesn't vary. Null if there is no zero point.
Loader minusZero(Emitter &e, Tensor operand, Tensor zero, int64_t axis,
                 mlir::Type type);

//===----------------------------------------------------------------------===//
// Ranges of data
//===----------------------------------------------------------------------===//

/// F9: scale (`f32`) and zero point (`ui8`) for the values of an `f32` tensor.
Quantizer dynamicQuantizer(Emitter &e, Tensor x);

/// A loader that quantizes an `f32` element and takes away the zero point.
Loader quantized(Quantizer quantizer);

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// [N, spatial.., C] as [N, C, spatial..], and back.
Tensor channelsSecond(Emitter &e, Tensor tensor);
Tensor channelsLast(Emitter &e, Tensor tensor);

/// A part of a tensor. The first `dropped` dimensions, which have size 1, are
/// left out.
Tensor partOf(Emitter &e, Tensor tensor,
              llvm::ArrayRef<mlir::OpFoldResult> offsets,
              llvm::ArrayRef<mlir::OpFoldResult> sizes, size_t dropped = 0);

/// Writes a part of a tensor, which may lack leading dimensions of size 1.
Tensor putPart(Emitter &e, Tensor part, Tensor into,
               llvm::ArrayRef<mlir::OpFoldResult> offsets,
               llvm::ArrayRef<mlir::OpFoldResult> sizes);

//===----------------------------------------------------------------------===//
// Lists of lowerings
//===----------------------------------------------------------------------===//

void addLinearQuantizers(mlir::RewritePatternSet &patterns,
                         const StorageTypeConverter &types);
void addQuantizedProducts(mlir::RewritePatternSet &patterns,
                          const StorageTypeConverter &types);
void addMicrosoftElementwise(mlir::RewritePatternSet &patterns,
                             const StorageTypeConverter &types);
void addMicrosoftPools(mlir::RewritePatternSet &patterns,
                       const StorageTypeConverter &types);
void addMicrosoftProducts(mlir::RewritePatternSet &patterns,
                          const StorageTypeConverter &types);
void addMicrosoftFused(mlir::RewritePatternSet &patterns,
                       const StorageTypeConverter &types);
void addMicrosoftAttention(mlir::RewritePatternSet &patterns,
                           const StorageTypeConverter &types);
void addQuantizedRecurrent(mlir::RewritePatternSet &patterns,
                           const StorageTypeConverter &types);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_QUANTIZATIONSUPPORT_H
