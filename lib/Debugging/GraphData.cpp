// A graph as a list of nodes, for drawings.

#include "Comparison.h"
#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::debugging;
namespace ir = onnxquant::onnx;

std::vector<DebugNode> debugging::describeGraph(func::FuncOp graph) {
  std::vector<DebugNode> nodes;
  llvm::DenseMap<Value, int64_t> makers;
  llvm::DenseMap<Operation *, int64_t> places;
  for (Value argument : graph.getBody().front().getArguments()) {
    makers[argument] = static_cast<int64_t>(nodes.size());
    std::string name = ir::getTensorName(argument).str();
    nodes.push_back({name, "input", {name}, {}});
  }
  for (Operation *op : nodesOf(graph)) {
    if (!isa<ir::NodeOpInterface>(op) || op->getNumResults() == 0 ||
        ir::getConstant(op->getResult(0)))
      continue;
    DebugNode node{nameOfNode(op), roleOf(op).str(), {}, {}};
    auto addSource = [&](int64_t place) {
      if (!llvm::is_contained(node.sources, place))
        node.sources.push_back(place);
    };
    for (Value operand : op->getOperands()) {
      if (auto found = makers.find(operand); found != makers.end())
        addSource(found->second);
      else if (auto argument = dyn_cast<BlockArgument>(operand))
        // What a body is given comes from its loop.
        if (auto loop = places.find(argument.getOwner()->getParentOp());
            loop != places.end())
          addSource(loop->second);
    }
    auto place = static_cast<int64_t>(nodes.size());
    places[op] = place;
    for (Value result : op->getResults()) {
      makers[result] = place;
      node.tensors.push_back(ir::getTensorName(result).str());
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}
