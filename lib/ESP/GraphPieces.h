// Pieces of graphs that several writers need: filters and matrices in ONNX's
// order, zeros between places, attributes.

#ifndef ONNXQUANT_LIB_ESP_GRAPHPIECES_H
#define ONNXQUANT_LIB_ESP_GRAPHPIECES_H

#include "OnnxGraph.h"
#include "OnnxQuant/ESP/Chip.h"
#include "OnnxQuant/ESP/Layout.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace onnxquant::esp {

/// Elements of a filter in ONNX's order. Where it doesn't say how it lies, it
/// lies as the chip's kernels read it.
std::vector<int64_t> plainFilter(const Tensor &tensor, const FilterShape &shape,
                                 const Chip &chip, int64_t begin = 0);

/// Constant matrices [.., K, N] of a product, each of which is stored as a
/// filter.
std::vector<int64_t> plainMatrices(const Tensor &tensor, const Chip &chip);

/// A computed matrix that was brought to the order of filters, in its own.
/// `block` is 0 where nothing is packed.
Term unpackMatrix(OnnxGraph &graph, const Term &matrix, int64_t block);

/// Zeros between the places of [N, places.., C], and behind them. Strides are
/// at least 1.
Term insertZeros(OnnxGraph &graph, Term x, Dims strides, Dims extra);

/// `x` divided by the root of the mean of its squares, over all axes from one
/// on.
Term rootMeanSquareNorm(OnnxGraph &graph, const Term &x, int64_t axis,
                        float epsilon);

/// The order of axes that a Transpose gives a tensor of a rank.
llvm::Expected<Dims> permutationOf(const Node &node, int64_t rank);

/// Attributes of a node that ONNX has, too.
Settings settingsOf(const Node &node, llvm::StringRef leftOut = "");

/// A graph as a module of the `onnx` dialect; an error becomes a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> importGraph(llvm::Expected<std::string> bytes,
                                              llvm::StringRef name,
                                              mlir::MLIRContext *context);

} // namespace onnxquant::esp

#endif // ONNXQUANT_LIB_ESP_GRAPHPIECES_H
