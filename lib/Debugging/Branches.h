// Branches of If that a sample takes, put in the place of their ops: so the
// tensors in them can be seen as those of the graph.

#ifndef ONNXQUANT_LIB_DEBUGGING_BRANCHES_H
#define ONNXQUANT_LIB_DEBUGGING_BRANCHES_H

#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/Support/Executor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace onnxquant::debugging {

/// An If that is gone, and what its condition was.
struct TakenBranch {
  std::string node;
  mlir::Value condition;
  bool isThen = false;
};

/// Puts the branches that a sample takes in the place of all If ops but those
/// in the bodies of loops. Shapes are inferred before and after. Errors are
/// diagnostics.
llvm::FailureOr<std::vector<TakenBranch>>
takeBranches(mlir::ModuleOp module, const Tensors &sample, Executor &executor);

/// Makes a module one for a sample: its inputs get the sample's sizes where
/// samples are `uniform`, and branches are taken as it takes them. Errors are
/// diagnostics.
llvm::LogicalResult fitModule(mlir::ModuleOp module, const Tensors &sample,
                              bool uniform, bool keepFirst, Executor &executor);

/// The names of If ops that are left.
std::vector<std::string> branchesLeft(mlir::func::FuncOp graph);

} // namespace onnxquant::debugging

#endif // ONNXQUANT_LIB_DEBUGGING_BRANCHES_H
