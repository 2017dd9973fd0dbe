// The lists of lowerings that make up the contraction and neural network
// families, one per file.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_CONTRACTIONLISTS_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_CONTRACTIONLISTS_H

#include "Lowering.h"

namespace onnxquant::lowering {

void addConvLowerings(mlir::RewritePatternSet &patterns,
                      const StorageTypeConverter &types);
void addDeformConvLowerings(mlir::RewritePatternSet &patterns,
                            const StorageTypeConverter &types);
void addAttentionLowerings(mlir::RewritePatternSet &patterns,
                           const StorageTypeConverter &types);
void addDetLowerings(mlir::RewritePatternSet &patterns,
                     const StorageTypeConverter &types);
void addPoolLowerings(mlir::RewritePatternSet &patterns,
                      const StorageTypeConverter &types);
void addRoiLowerings(mlir::RewritePatternSet &patterns,
                     const StorageTypeConverter &types);
void addNormalizationLowerings(mlir::RewritePatternSet &patterns,
                               const StorageTypeConverter &types);
void addLossLowerings(mlir::RewritePatternSet &patterns,
                      const StorageTypeConverter &types);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_CONTRACTIONLISTS_H
