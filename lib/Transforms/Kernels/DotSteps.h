// The step that multiplies integers and adds them up, for each processor that
// has an instruction of its own for it.
//
// Enters: a place in a row of activations and one in a panel of weights packed
// for the step. Leaves: vectors of 32-bit sums, one lane per column. A step is
// only made for a target that has its instructions: an intrinsic without its
// feature ends the compiler.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_DOTSTEPS_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_DOTSTEPS_H

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Support/TargetInfo.h"
#include <memory>

namespace onnxquant::kernels {

/// One dot step on vectors of one width.
class DotStep {
public:
  virtual ~DotStep() = default;

  /// Activations of a row that a step multiplies.
  int64_t getDepth() const { return depth; }
  /// Columns that a vector of sums has.
  int64_t getLanes() const { return lanes; }
  /// The elements of the activations and of the packed weights.
  mlir::Type getInputType() const { return inputType; }
  mlir::Type getWeightType() const { return weightType; }
  mlir::VectorType getSumType() const;
  /// Weights of four bits, two to a byte, are unpacked as they are loaded.
  void setHalves() { hasHalves = true; }
  /// The bits of a sum.
  int64_t getSumBits() const { return sumBits; }

  /// Steps that a loop takes at once where there are as many.
  virtual int64_t getUnroll() const { return 1; }

  /// The weights of one vector of sums as they are in memory, and as
  /// `loadWeights` starts from.
  mlir::VectorType getLoadedType() const;
  mlir::Value unpackWeights(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Value loaded) const;

  /// What `count` steps multiply, one, or as many as a loop takes at once: each
  /// the same for every column.
  virtual llvm::SmallVector<mlir::Value>
  loadInputs(mlir::OpBuilder &b, mlir::Location loc, mlir::Value input,
             mlir::Value index, int64_t count) const {
    assert(count == 1 && "this step is taken one by one");
    return {loadInput(b, loc, input, index)};
  }
  /// `getDepth()` activations from `index` on, for every column.
  virtual mlir::Value loadInput(mlir::OpBuilder &b, mlir::Location loc,
                                mlir::Value input, mlir::Value index) const;
  /// The weights that one vector of sums takes, from `index` on.
  virtual mlir::Value loadWeights(mlir::OpBuilder &b, mlir::Location loc,
                                  mlir::Value weights, mlir::Value index) const;
  /// The sums with the products added.
  virtual mlir::Value add(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value sums, mlir::Value input,
                          mlir::Value weights) const = 0;

protected:
  DotStep(int64_t depth, int64_t lanes, mlir::Type inputType,
          mlir::Type weightType)
      : depth(depth), lanes(lanes), inputType(inputType),
        weightType(weightType) {}

  int64_t depth, lanes;
  int64_t sumBits = 32;
  bool hasHalves = false;
  mlir::Type inputType, weightType;
};

/// The step of an op's packing. Null if the target can't do it.
std::unique_ptr<DotStep> getDotStep(onnxq::ContractOp op,
                                    const TargetInfo &target);

/// The sums of 32 bits that a vector of the kind's steps has; 0 if the target
/// can't do it. Outer products of 64-bit sums have half as many.
int64_t getDotLanes(onnxq::PackingKind kind, const TargetInfo &target);

/// A call of an LLVM intrinsic of one result.
mlir::Value callIntrinsic(mlir::OpBuilder &b, mlir::Location loc,
                          llvm::StringRef name, mlir::Type result,
                          mlir::ValueRange operands);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_DOTSTEPS_H
