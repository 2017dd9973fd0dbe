// Tensors whose records follow from those of others.

#ifndef ONNXQUANT_LIB_TRANSFORMS_CALIBRATE_DERIVE_H
#define ONNXQUANT_LIB_TRANSFORMS_CALIBRATE_DERIVE_H

#include "OnnxQuant/Transforms/Calibrate/Instrument.h"
#include "llvm/ADT/DenseMap.h"

namespace onnxquant {

/// How the record of a tensor follows from records of tensors that stand before
/// it; none if it has to be observed. `places` has the observers' numbers.
std::optional<Derivation>
derivationOf(mlir::Value value, const Observer &observer,
             llvm::ArrayRef<Observer> observers,
             const llvm::DenseMap<mlir::Value, int64_t> &places);

} // namespace onnxquant

#endif // ONNXQUANT_LIB_TRANSFORMS_CALIBRATE_DERIVE_H
