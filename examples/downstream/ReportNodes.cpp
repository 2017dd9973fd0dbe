// Walks a graph by interface: what a node is called in ONNX is asked of the op,
// so that operators which are added later are counted as well.

#include "ReportNodes.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include <map>

using namespace mlir;
using onnxquant::onnx::NodeOpInterface;
using onnxquant::onnx::ShapeInferenceOpInterface;

namespace {

struct Counts {
  int nodes = 0;
  int results = 0;
  int staticResults = 0;
};

struct ReportNodes : public PassWrapper<ReportNodes, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReportNodes)

  StringRef getArgument() const override { return "report-nodes"; }
  StringRef getDescription() const override {
    return "print the operators of a graph and how much is known of them";
  }
  void runOnOperation() override;
};

} // namespace

void ReportNodes::runOnOperation() {
  std::map<std::string, Counts> operators;
  getOperation().walk([&](NodeOpInterface node) {
    if (node->hasTrait<OpTrait::ConstantLike>())
      return;
    std::string name = node.getOnnxOpType().str();
    if (!node.getOnnxDomain().empty())
      name = node.getOnnxDomain().str() + "." + name;
    Counts &counts = operators[name];
    ++counts.nodes;
    if (!isa<ShapeInferenceOpInterface>(node.getOperation()))
      return;
    for (Type type : node->getResultTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      ++counts.results;
      counts.staticResults += tensor && tensor.hasStaticShape();
    }
  });
  for (const auto &[name, counts] : operators)
    llvm::outs() << name << ": " << counts.nodes << " nodes, "
                 << counts.staticResults << " of " << counts.results
                 << " results static\n";
  markAllAnalysesPreserved();
}

std::unique_ptr<Pass> createReportNodes() {
  return std::make_unique<ReportNodes>();
}
