// Makes the quantizers of a graph depend on flags.
//
// Enters: the float graph, and a QDQ graph made from it, their nodes numbered
// alike. Leaves: the QDQ graph with a `Where` before each quantized operand.

#include "OnnxQuant/Debugging/Sensitivity.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/QuantizableOpInterface.h"
#include "OnnxQuant/Transforms/Calibrate/Instrument.h"
#include "QuantView.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::debugging;
namespace ir = onnxquant::onnx;

static constexpr llvm::StringLiteral numberAttr = "onnxq.number",
                                     flagsName = "onnxq.flags";

void onnxquant::numberNodes(ModuleOp module) {
  int64_t next = 0;
  Builder b(module.getContext());
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ir::NodeOpInterface>(op))
      op->setAttr(numberAttr, b.getI64IntegerAttr(next++));
  });
}

namespace {

class Switcher {
public:
  Switcher(func::FuncOp real, func::FuncOp quant)
      : graph(quant), builder(quant.getContext()) {
    real.walk([&](Operation *op) {
      if (auto number = op->getAttrOfType<IntegerAttr>(numberAttr))
        byNumber[number.getInt()] = op;
    });
  }

  FailureOr<std::vector<SwitchedLayer>> run();

private:
  /// An operand with the numbers that it has without quantization.
  struct Choice {
    OpOperand *use;
    Value real;
    Operation *constant;
  };
  void collect(Operation *op);
  Operation *layerOf(Operation *op) const;
  Value flag(Value flags, int64_t index);

  func::FuncOp graph;
  OpBuilder builder;
  llvm::DenseMap<int64_t, Operation *> byNumber;
  llvm::MapVector<Operation *, SmallVector<Choice>> layers;
};

} // namespace

/// What is moved is switched with the first node that computes with it.
Operation *Switcher::layerOf(Operation *op) const {
  Operation *layer = op;
  while (true) {
    auto moving = dyn_cast<ir::QuantizableOpInterface>(layer);
    bool moves = (moving && moving.movesData()) || isQuantizer(layer) ||
                 isDequantizer(layer);
    if (!moves || layer->getResult(0).use_empty())
      return layer;
    Operation *next = nullptr;
    for (Operation *user : layer->getResult(0).getUsers())
      if (isa<ir::NodeOpInterface>(user) &&
          user->getBlock() == op->getBlock() &&
          (!next || user->isBeforeInBlock(next)))
        next = user;
    if (!next)
      return layer;
    layer = next;
  }
}

void Switcher::collect(Operation *op) {
  auto number = op->getAttrOfType<IntegerAttr>(numberAttr);
  Operation *real = number ? byNumber.lookup(number.getInt()) : nullptr;
  bool isEnd = op->hasTrait<OpTrait::IsTerminator>();
  if (!real && !isEnd)
    return;
  for (OpOperand &use : op->getOpOperands()) {
    unsigned index = use.getOperandNumber();
    Operation *maker = use.get().getDefiningOp();
    Choice choice{&use, {}, nullptr};
    if (maker && isDequantizer(maker)) {
      Operation *source = maker->getOperand(0).getDefiningOp();
      bool quantizes = source && (isQuantizer(source) ||
                                  isa<ir::DynamicQuantizeLinearOp>(source));
      if (quantizes && !ir::getConstant(source->getOperand(0)))
        choice.real = source->getOperand(0);
    }
    bool isConstant =
        maker && (isDequantizer(maker) || ir::getConstant(use.get()));
    if (!choice.real && isConstant && real && index < real->getNumOperands()) {
      ElementsAttr before = ir::getConstant(real->getOperand(index));
      // Corrected biases differ without being quantized.
      if (before && isa<FloatType>(before.getElementType()) &&
          before != ir::getConstant(use.get()))
        choice.constant = real->getOperand(index).getDefiningOp();
    }
    if (choice.real || choice.constant)
      layers[layerOf(op)].push_back(choice);
  }
}

/// One flag of all, as a scalar.
Value Switcher::flag(Value flags, int64_t index) {
  Location loc = graph.getLoc();
  auto number = RankedTensorType::get({}, builder.getI64Type());
  OperationState constant(loc, ir::ConstantOp::getOperationName());
  constant.addAttribute(
      "value", DenseElementsAttr::get(number, ArrayRef<int64_t>(index)));
  constant.addTypes(number);
  OperationState gather(loc, ir::GatherOp::getOperationName());
  gather.addOperands({flags, builder.create(constant)->getResult(0)});
  gather.addTypes(RankedTensorType::get({}, builder.getI1Type()));
  return builder.create(gather)->getResult(0);
}

FailureOr<std::vector<SwitchedLayer>> Switcher::run() {
  Block &body = graph.getBody().front();
  for (Operation &op : body)
    collect(&op);
  if (layers.empty())
    return graph.emitError("has nothing that is quantized");
  auto type = RankedTensorType::get({static_cast<int64_t>(layers.size())},
                                    builder.getI1Type());
  unsigned argument = graph.getNumArguments();
  auto name =
      builder.getNamedAttr(ir::argNameAttr, builder.getStringAttr(flagsName));
  if (failed(graph.insertArgument(
          argument, type, builder.getDictionaryAttr(name), graph.getLoc())))
    return failure();
  std::vector<SwitchedLayer> switched;
  for (auto &[layer, choices] : layers) {
    builder.setInsertionPointToStart(&body);
    Value on =
        flag(body.getArgument(argument), static_cast<int64_t>(switched.size()));
    SwitchedLayer entry;
    entry.opType = roleOf(layer).str();
    entry.node = nameOfNode(layer);
    if (layer->hasTrait<OpTrait::IsTerminator>())
      entry.node = entry.opType = "outputs";
    entry.operands = static_cast<int64_t>(choices.size());
    for (Choice &choice : choices) {
      builder.setInsertionPoint(choice.use->getOwner());
      if (choice.constant)
        choice.real = builder.clone(*choice.constant)->getResult(0);
      OperationState where(choice.use->get().getLoc(),
                           ir::WhereOp::getOperationName());
      where.addOperands({on, choice.use->get(), choice.real});
      where.addTypes(choice.use->get().getType());
      choice.use->set(builder.create(where)->getResult(0));
    }
    switched.push_back(std::move(entry));
  }
  return switched;
}

FailureOr<std::vector<SwitchedLayer>> onnxquant::addSwitches(ModuleOp real,
                                                             ModuleOp quant) {
  FailureOr<func::FuncOp> realGraph = findGraph(real),
                          quantGraph = findGraph(quant);
  if (failed(realGraph) || failed(quantGraph))
    return failure();
  return Switcher(*realGraph, *quantGraph).run();
}
