// Makes the quantizers of a graph depend on flags.
//
// Enters: the float graph, and a QDQ graph made from it, their nodes numbered
// alike. Leaves: the QDQ graph with a `Where` before each quantized operand.

#include "OnnxQuant/Debugging/Sensitivity.h"
#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/QuantizableOpInterface.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Transforms/Calibrate/Instrument.h"
#include "QuantView.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::debugging;
namespace ir = onnxquant::onnx;

static constexpr llvm::StringLiteral flagsName = "onnxq.flags";

void onnxquant::numberNodes(ModuleOp module) {
  int64_t next = 0;
  Builder b(module.getContext());
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ir::NodeOpInterface>(op))
      op->setAttr(nodeNumberAttr, b.getI64IntegerAttr(next++));
  });
}

namespace {

class Switcher {
public:
  Switcher(func::FuncOp real, func::FuncOp quant, bool bySource)
      : graph(quant), builder(quant.getContext()), bySource(bySource) {
    real.walk([&](Operation *op) {
      if (auto number = op->getAttrOfType<IntegerAttr>(nodeNumberAttr))
        byNumber[number.getInt()] = op;
    });
  }

  /// An operand with the numbers that it has without quantization.
  struct Choice {
    OpOperand *use;
    Value real;
    Operation *constant;
    /// What computes with it.
    Operation *layer;
  };
  /// What one flag switches.
  using Group = SmallVector<Choice>;

  /// The groups, in the order of their flags.
  FailureOr<SmallVector<Group>> run();

private:
  void collect(Operation *op);
  Operation *layerOf(Operation *op) const;
  Value flag(Value flags, int64_t index);

  func::FuncOp graph;
  OpBuilder builder;
  llvm::DenseMap<int64_t, Operation *> byNumber;
  bool bySource;
  /// By the layer; by source those of a tensor by it, and constants by the
  /// layer.
  llvm::MapVector<void *, Group> groups;
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
  auto number = op->getAttrOfType<IntegerAttr>(nodeNumberAttr);
  Operation *real = number ? byNumber.lookup(number.getInt()) : nullptr;
  bool isEnd = op->hasTrait<OpTrait::IsTerminator>();
  if (!real && !isEnd)
    return;
  for (OpOperand &use : op->getOpOperands()) {
    unsigned index = use.getOperandNumber();
    Operation *maker = use.get().getDefiningOp();
    Choice choice{&use, {}, nullptr, nullptr};
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
    if (!choice.real && !choice.constant)
      continue;
    choice.layer = layerOf(op);
    groups[bySource && choice.real ? choice.real.getAsOpaquePointer()
                                   : static_cast<void *>(choice.layer)]
        .push_back(choice);
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

FailureOr<SmallVector<Switcher::Group>> Switcher::run() {
  Block &body = graph.getBody().front();
  for (Operation &op : body)
    collect(&op);
  if (groups.empty())
    return graph.emitError("has nothing that is quantized");
  auto type = RankedTensorType::get({static_cast<int64_t>(groups.size())},
                                    builder.getI1Type());
  unsigned argument = graph.getNumArguments();
  auto name =
      builder.getNamedAttr(ir::argNameAttr, builder.getStringAttr(flagsName));
  if (failed(graph.insertArgument(
          argument, type, builder.getDictionaryAttr(name), graph.getLoc())))
    return failure();
  SmallVector<Group> switched;
  for (auto &[key, choices] : groups) {
    builder.setInsertionPointToStart(&body);
    Value on =
        flag(body.getArgument(argument), static_cast<int64_t>(switched.size()));
    for (Choice &choice : choices) {
      builder.setInsertionPoint(choice.use->getOwner());
      Value real = choice.constant
                       ? builder.clone(*choice.constant)->getResult(0)
                       : choice.real;
      OperationState where(choice.use->get().getLoc(),
                           ir::WhereOp::getOperationName());
      where.addOperands({on, choice.use->get(), real});
      where.addTypes(choice.use->get().getType());
      choice.use->set(builder.create(where)->getResult(0));
    }
    switched.push_back(std::move(choices));
  }
  return switched;
}

/// A layer's name and operator.
static std::pair<std::string, std::string> describe(Operation *layer) {
  if (layer->hasTrait<OpTrait::IsTerminator>())
    return {"outputs", "outputs"};
  return {nameOfNode(layer), roleOf(layer).str()};
}

static FailureOr<SmallVector<Switcher::Group>>
insertSwitches(ModuleOp real, ModuleOp quant, bool bySource) {
  FailureOr<func::FuncOp> realGraph = findGraph(real),
                          quantGraph = findGraph(quant);
  if (failed(realGraph) || failed(quantGraph))
    return failure();
  return Switcher(*realGraph, *quantGraph, bySource).run();
}

FailureOr<std::vector<SwitchedLayer>> onnxquant::addSwitches(ModuleOp real,
                                                             ModuleOp quant) {
  auto groups = insertSwitches(real, quant, /*bySource=*/false);
  if (failed(groups))
    return failure();
  std::vector<SwitchedLayer> layers;
  for (const Switcher::Group &group : *groups) {
    SwitchedLayer &entry = layers.emplace_back();
    std::tie(entry.node, entry.opType) = describe(group.front().layer);
    entry.operands = static_cast<int64_t>(group.size());
  }
  return layers;
}

/// Which axis a weight's channels are along, and what a scale for each of them
/// leaves of the squared error: that of a scale's steps is a twelfth of their
/// square.
static void describeChannels(const Switcher::Choice &choice,
                             SwitchedSource &source) {
  auto op = dyn_cast<ir::QuantizableOpInterface>(choice.use->getOwner());
  unsigned operand = choice.use->getOperandNumber();
  std::optional<int64_t> axis;
  if (op && operand != 0 && op.getBiasOperand() != operand)
    axis = op.getChannelAxis(operand);
  Value weight = choice.constant->getResult(0);
  auto type = dyn_cast<RankedTensorType>(weight.getType());
  auto numbers = readReal(weight);
  if (!axis || !type || !numbers)
    return;
  int64_t channels = type.getDimSize(*axis), inner = 1;
  for (int64_t dim : type.getShape().drop_front(*axis + 1))
    inner *= dim;
  SmallVector<double> largest(channels, 0);
  double most = 0;
  for (auto [i, number] : llvm::enumerate(*numbers)) {
    double &place = largest[static_cast<int64_t>(i) / inner % channels];
    place = std::max(place, std::abs(number));
    most = std::max(most, place);
  }
  double squares = 0;
  for (double each : largest)
    squares += each * each;
  source.channelAxis = axis;
  if (most > 0)
    source.finerShare = squares / (static_cast<double>(channels) * most * most);
}

FailureOr<std::vector<SwitchedSource>>
onnxquant::addSourceSwitches(ModuleOp real, ModuleOp quant) {
  auto groups = insertSwitches(real, quant, /*bySource=*/true);
  if (failed(groups))
    return failure();
  std::vector<SwitchedSource> sources;
  for (const Switcher::Group &group : *groups) {
    SwitchedSource &source = sources.emplace_back();
    const Switcher::Choice &first = group.front();
    source.isWeight = first.constant;
    if (first.constant) {
      // The bias comes after the weight.
      source.name = ir::getTensorName(first.constant->getResult(0)).str();
      describeChannels(first, source);
    } else {
      source.name = ir::getTensorName(first.real).str();
    }
    for (const Switcher::Choice &choice : group) {
      auto reader = describe(choice.layer);
      if (!llvm::is_contained(source.readers, reader))
        source.readers.push_back(reader);
    }
  }
  return sources;
}
