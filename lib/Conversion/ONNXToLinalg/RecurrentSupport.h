// What recurrent networks have in common, with float and with quantized
// weights.
//
// Enters: a node's operands and attributes. Leaves: its results. A layer always
// goes forward: for the other direction the sequences are reversed before and
// after. States are `f32` (`f64` for `f64`) from step to step and rounded once,
// at the end.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_RECURRENTSUPPORT_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_RECURRENTSUPPORT_H

#include "Lowering.h"
#include "QuantizationSupport.h"
#include <functional>

namespace onnxquant::lowering {

//===----------------------------------------------------------------------===//
// Activation functions
//===----------------------------------------------------------------------===//

struct Activation {
  std::string name;
  double alpha = 0;
  double beta = 0;
};

/// Makes the list of functions out of the attributes: names in turn, with
/// parameters for those that have them. `defaults` repeat for all directions.
llvm::SmallVector<Activation>
readActivations(std::optional<mlir::ArrayAttr> names,
                std::optional<mlir::ArrayAttr> alphas,
                std::optional<mlir::ArrayAttr> betas,
                llvm::ArrayRef<llvm::StringRef> defaults, int64_t directions);

/// The function of a name, whatever the case of its letters, with the
/// parameters it has if none are given; none if `activate` doesn't know it.
std::optional<Activation> findActivation(llvm::StringRef name);

/// The function of a real number.
Scalar activate(Emitter &e, const Activation &function, Scalar x);

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// A recurrent node with its operands in layout 0.
struct RecurrentNode {
  mlir::Operation *op;
  int64_t gates;
  /// How many states a layer carries: 1, or 2 with memory.
  int64_t numStates;
  int64_t directions;
  bool isReverse;
  bool isBatchFirst = false;
  std::optional<double> clip;
  /// The functions of all directions in turn.
  llvm::SmallVector<Activation> functions;

  /// The type of states and sums, and that of the results.
  mlir::Type type, resultType;
  mlir::OpFoldResult steps, batch, hidden;
  /// [T, N, I]; biases and peepholes, or null; lengths, or null.
  Tensor x, b, p, lengths;
  /// [D, N, H] each, or null.
  Tensor initial[2];
};

/// The products of a layer in one direction.
struct Products {
  /// [T, N, I] to [T, N, gates * H].
  std::function<Tensor(Emitter &, Tensor x)> input;
  /// [N, H] to [N, count * H] for `count` gates from `first` on; null if the
  /// input's products contain these.
  std::function<Tensor(Emitter &, Tensor h, int64_t first, int64_t count)>
      hidden;
};

/// The states after a step, from [N, gates * H] of the input and the states
/// before. The parts of `functions` are those of the direction.
using Step = std::function<llvm::SmallVector<Tensor>(
    Emitter &, Tensor input, llvm::ArrayRef<Tensor> states)>;

/// Fills in the sizes, and brings the operands to layout 0. `hidden` is the
/// attribute, or none; `rHidden` the size that the recurrent weight tells.
void prepareNode(Emitter &e, RecurrentNode &node, std::optional<int64_t> hidden,
                 mlir::OpFoldResult rHidden);

/// Runs all directions. `makeProducts` and `makeStep` are called once per
/// direction, before the loop.
llvm::SmallVector<mlir::Value> runRecurrent(
    Emitter &e, const RecurrentNode &node,
    llvm::function_ref<Products(int64_t direction)> makeProducts,
    llvm::function_ref<Step(int64_t direction, const Products &)> makeStep);

/// The step of an LSTM.
Step makeLstmStep(Emitter &e, const RecurrentNode &node, int64_t direction,
                  const Products &products, bool inputForget);

/// The names of an LSTM's functions if the node doesn't give any.
llvm::ArrayRef<llvm::StringRef> lstmFunctions();

//===----------------------------------------------------------------------===//
// Parts of tensors
//===----------------------------------------------------------------------===//

/// Part `index` along dimension 0, without that dimension; null of null.
Tensor sliceDirection(Emitter &e, Tensor tensor, int64_t index);

/// Columns [first * H, (first + count) * H) of the last dimension.
Tensor sliceGates(Emitter &e, Tensor tensor, mlir::OpFoldResult hidden,
                  int64_t first, int64_t count);

/// Combines tensors [N, C] and vectors [C] element by element. They have these
/// very sizes, so that no index is computed.
Tensor zipRows(Emitter &e, llvm::ArrayRef<Tensor> inputs,
               llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type type,
               llvm::function_ref<Scalar(llvm::ArrayRef<Scalar>)> body);

/// What enters a function: with the clip, if there is one.
Scalar clipped(Emitter &e, const RecurrentNode &node, Scalar x);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_RECURRENTSUPPORT_H
