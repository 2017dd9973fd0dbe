// Puts observers on tensors. Enters: a graph whose types are inferred. Leaves:
// the same graph with observers, an input for the number of samples and an
// output with the observers' words.
//
// A tensor has one observer, right after the op that makes it, so that its
// buffer lives no longer than without.

#include "OnnxQuant/Transforms/Calibrate/Instrument.h"
#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/QuantizableOpInterface.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace onnxquant {
#define GEN_PASS_DEF_INSTRUMENT
#include "OnnxQuant/Transforms/Calibrate/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
namespace ir = onnxquant::onnx;

/// Names of the ends that instrumentation adds.
static constexpr llvm::StringLiteral samplesName = "onnxq.samples",
                                     wordsName = "onnxq.statistics";

static StringRef nodeName(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(ir::nodeNameAttr);
  return name ? name.getValue() : "";
}

namespace {

/// Chooses ops by type and name; reports names that no op has.
class Selection {
public:
  explicit Selection(const InstrumentSpec &spec) : spec(spec) {
    types.insert(spec.opTypes.begin(), spec.opTypes.end());
    nodes.insert(spec.nodes.begin(), spec.nodes.end());
  }

  bool contains(Operation *op) {
    auto node = dyn_cast<ir::NodeOpInterface>(op);
    if (!node)
      return false;
    if (spec.all)
      return true;
    if (types.empty() && nodes.empty())
      return spec.names || isa<ir::QuantizableOpInterface>(op);
    bool byType = types.contains(node.getOnnxOpType());
    bool byName = nodes.contains(nodeName(op));
    if (byName)
      seen.insert(nodeName(op));
    return byType || byName;
  }

  LogicalResult checkNames(ModuleOp module) {
    for (const std::string &name : spec.nodes)
      if (!seen.contains(name))
        return module.emitError("has no node '") << name << "' to observe";
    return success();
  }

private:
  const InstrumentSpec &spec;
  llvm::StringSet<> types, nodes, seen;
};

} // namespace

/// Whether a tensor can be observed: its elements are floats of the run.
static bool isObservable(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type &&
         isa<Float32Type, Float64Type, Float16Type, BFloat16Type>(
             type.getElementType()) &&
         !value.getDefiningOp<ir::ConstantOp>();
}

/// The tensors to observe, in the graph's order.
static FailureOr<SmallVector<Value>>
valuesToObserve(ModuleOp module, func::FuncOp graph,
                const InstrumentSpec &spec) {
  Selection selection(spec);
  llvm::SetVector<Value> values;
  auto consider = [&](ValueRange range) {
    for (Value value : range)
      if (isObservable(value) &&
          (!spec.names || spec.names->count(ir::getTensorName(value).str())))
        values.insert(value);
  };
  graph.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!selection.contains(op))
      return;
    consider(op->getOperands());
    consider(op->getResults());
  });
  if (failed(selection.checkNames(module)))
    return failure();
  return SmallVector<Value>(values.begin(), values.end());
}

int64_t onnxquant::channelAxisOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank();
  if (rank < 2)
    return -1;
  int64_t axis = rank >= 4 ? 1 : rank - 1;
  SmallVector<Operation *> ops(value.getUsers());
  if (Operation *op = value.getDefiningOp())
    ops.push_back(op);
  auto any = [&](auto predicate) { return llvm::any_of(ops, predicate); };
  if (any(llvm::IsaPred<ir::MatMulOp, ir::GemmOp>))
    axis = rank - 1;
  if (rank >= 3 && any(llvm::IsaPred<ir::ConvOp, ir::ConvTransposeOp>))
    axis = 1;
  return type.isDynamicDim(axis) ? -1 : axis;
}

/// Drops values without a name of their own.
static void dropUnnamed(SmallVectorImpl<Value> &values, Instrumented &result) {
  llvm::StringSet<> taken;
  llvm::erase_if(values, [&](Value value) {
    StringRef name = ir::getTensorName(value);
    bool isUnnamed = name.empty() || !taken.insert(name).second;
    result.unnamed += isUnnamed;
    return isUnnamed;
  });
}

/// Chooses places of records.
static void placeObservers(ArrayRef<Value> values, const InstrumentSpec &spec,
                           Instrumented &result) {
  for (Value value : values) {
    Observer observer;
    observer.name = ir::getTensorName(value).str();
    observer.channelAxis = channelAxisOf(value);
    auto type = cast<RankedTensorType>(value.getType());
    observer.layout.channels =
        observer.channelAxis < 0 ? 1 : type.getDimSize(observer.channelAxis);
    observer.layout.bins = spec.bins;
    observer.layout.parts = spec.batch;
    observer.offset = result.words;
    result.words += observer.layout.words();
    result.observers.push_back(std::move(observer));
  }
}

static void addObserver(Value value, const Observer &observer,
                        onnxq::StateOp state) {
  OpBuilder b(state);
  if (value.getDefiningOp())
    b.setInsertionPointAfterValue(value);
  else if (cast<BlockArgument>(value).getOwner() == state->getBlock())
    b.setInsertionPointAfter(state);
  else
    b.setInsertionPointToStart(cast<BlockArgument>(value).getOwner());
  onnxq::ObserveOp::create(b, value.getLoc(), b.getStringAttr(observer.name),
                           value, state.getState(),
                           b.getI64IntegerAttr(observer.offset),
                           b.getI64IntegerAttr(observer.channelAxis),
                           b.getI64IntegerAttr(observer.layout.channels),
                           b.getI64IntegerAttr(observer.layout.bins),
                           b.getI64IntegerAttr(observer.layout.parts));
}

FailureOr<Instrumented> onnxquant::instrument(ModuleOp module,
                                              const InstrumentSpec &spec) {
  if (spec.bins != 0 &&
      (spec.bins < 16 || spec.bins > 65536 || !llvm::isPowerOf2_64(spec.bins)))
    return module.emitError("bins expects a power of two from 16 to 65536, "
                            "but got ")
           << spec.bins;
  if (spec.batch < 1 || spec.batch > 65536)
    return module.emitError("batch expects a number from 1 to 65536, but got ")
           << spec.batch;
  FailureOr<func::FuncOp> graph = findGraph(module);
  if (failed(graph))
    return failure();
  auto values = valuesToObserve(module, *graph, spec);
  if (failed(values))
    return failure();
  Instrumented result;
  dropUnnamed(*values, result);
  placeObservers(*values, spec, result);

  Builder b(module.getContext());
  unsigned argument = graph->getNumArguments();
  auto samples = RankedTensorType::get({1}, b.getI64Type());
  auto words = RankedTensorType::get({result.words}, b.getI64Type());
  auto named = [&](StringRef name) {
    return b.getDictionaryAttr(
        b.getNamedAttr(ir::argNameAttr, b.getStringAttr(name)));
  };
  if (failed(graph->insertArgument(argument, samples, named(samplesName),
                                   graph->getLoc())) ||
      failed(
          graph->insertResult(graph->getNumResults(), words, named(wordsName))))
    return failure();
  Block &body = graph->getBody().front();
  OpBuilder atStart = OpBuilder::atBlockBegin(&body);
  auto state = onnxq::StateOp::create(
      atStart, graph->getLoc(), MemRefType::get({result.words}, b.getI64Type()),
      body.getArgument(argument));
  // Backwards, so that observers of arguments stand in the arguments' order.
  for (auto [value, observer] :
       llvm::reverse(llvm::zip(*values, result.observers)))
    addObserver(value, observer, state);
  Operation *end = body.getTerminator();
  OpBuilder atEnd(end);
  Value statistics = onnxq::StatisticsOp::create(atEnd, graph->getLoc(), words,
                                                 state.getState());
  end->insertOperands(end->getNumOperands(), statistics);
  return result;
}

/// The least or largest element of a tensor as a vector of one.
static Value addExtreme(OpBuilder &b, Value value, StringRef operation,
                        Value none, Value all) {
  std::string name = (ir::getTensorName(value) + "_" + operation).str();
  auto tensor = cast<RankedTensorType>(value.getType());
  auto named = [&](OperationState &state, StringRef node, StringRef result) {
    state.addAttribute(ir::nodeNameAttr, b.getStringAttr(node));
    state.addAttribute(ir::resultNamesAttr, b.getStrArrayAttr({result}));
    return b.create(state)->getResult(0);
  };
  OperationState reduce(value.getLoc(), ("onnx." + operation).str());
  reduce.addOperands({value, none});
  reduce.addTypes(RankedTensorType::get(
      SmallVector<int64_t>(tensor.getRank(), 1), tensor.getElementType()));
  reduce.addAttribute(
      "keepdims", b.getIntegerAttr(b.getIntegerType(64, /*isSigned=*/true), 1));
  Value extreme = named(reduce, name, name + "_Reshape");
  OperationState flat(value.getLoc(), ir::ReshapeOp::getOperationName());
  flat.addOperands({extreme, all});
  flat.addTypes(RankedTensorType::get({1}, tensor.getElementType()));
  return named(flat, name + "_Reshape", name);
}

FailureOr<int64_t> onnxquant::instrumentWithNodes(ModuleOp module,
                                                  const InstrumentSpec &spec) {
  FailureOr<func::FuncOp> graph = findGraph(module);
  if (failed(graph))
    return failure();
  auto values = valuesToObserve(module, *graph, spec);
  if (failed(values))
    return failure();
  Instrumented ignored;
  dropUnnamed(*values, ignored);
  Block &body = graph->getBody().front();
  Operation *end = body.getTerminator();
  OpBuilder b(end);
  Location loc = graph->getLoc();
  Value none = ir::NoValueOp::create(b, loc, b.getNoneType(), b.getUnitAttr());
  OperationState shape(loc, ir::ConstantOp::getOperationName());
  auto vector = RankedTensorType::get({1}, b.getI64Type());
  shape.addAttribute("value",
                     DenseElementsAttr::get(vector, ArrayRef<int64_t>{-1}));
  shape.addAttribute(ir::resultNamesAttr,
                     b.getStrArrayAttr({"onnxq.all_elements"}));
  shape.addTypes(vector);
  Value all = b.create(shape)->getResult(0);
  int64_t count = 0;
  for (Value value : *values) {
    // Only the graph's own tensors can become outputs.
    if (value.getParentBlock() != &body)
      continue;
    ++count;
    for (StringRef operation : {"ReduceMin", "ReduceMax"}) {
      Value extreme = addExtreme(b, value, operation, none, all);
      DictionaryAttr name = b.getDictionaryAttr(b.getNamedAttr(
          ir::argNameAttr, b.getStringAttr(ir::getTensorName(extreme))));
      if (failed(graph->insertResult(graph->getNumResults(), extreme.getType(),
                                     name)))
        return failure();
      end->insertOperands(end->getNumOperands(), extreme);
    }
  }
  return count;
}

FailureOr<std::set<std::string>>
onnxquant::namesToObserve(ModuleOp module, const InstrumentSpec &spec) {
  FailureOr<func::FuncOp> graph = findGraph(module);
  if (failed(graph))
    return failure();
  auto values = valuesToObserve(module, *graph, spec);
  if (failed(values))
    return failure();
  std::set<std::string> names;
  for (Value value : *values)
    if (StringRef name = ir::getTensorName(value); !name.empty())
      names.insert(name.str());
  return names;
}

std::set<std::string> onnxquant::allTensorNames(ModuleOp module) {
  std::set<std::string> names;
  auto add = [&](Value value) {
    if (StringRef name = ir::getTensorName(value); !name.empty())
      names.insert(name.str());
  };
  module.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), add);
  });
  return names;
}

void onnxquant::nameTensors(ModuleOp module) {
  std::set<std::string> taken = allTensorNames(module);
  Builder b(module.getContext());
  size_t next = 0;
  auto fresh = [&]() {
    std::string name;
    do
      name = "tensor_" + std::to_string(next++);
    while (!taken.insert(name).second);
    return name;
  };
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (!function.getArgAttr(i, ir::argNameAttr))
          function.setArgAttr(i, ir::argNameAttr, b.getStringAttr(fresh()));
      return;
    }
    if (!isa<ir::NodeOpInterface>(op) || isa<ir::ConstantOp>(op))
      return;
    SmallVector<Attribute> names;
    bool changed = false;
    for (Value result : op->getResults()) {
      StringRef name = ir::getTensorName(result);
      bool add = name.empty() && isa<TensorType>(result.getType());
      changed |= add;
      names.push_back(b.getStringAttr(add ? fresh() : name.str()));
    }
    if (changed)
      op->setAttr(ir::resultNamesAttr, b.getArrayAttr(names));
  });
}

namespace {
struct Instrument : public onnxquant::impl::InstrumentBase<Instrument> {
  using InstrumentBase::InstrumentBase;

  void runOnOperation() override {
    InstrumentSpec spec;
    spec.all = all;
    spec.opTypes.assign(opTypes.begin(), opTypes.end());
    spec.nodes.assign(nodes.begin(), nodes.end());
    spec.bins = bins;
    spec.batch = batch;
    nameTensors(getOperation());
    if (form == "onnx") {
      FailureOr<int64_t> count = instrumentWithNodes(getOperation(), spec);
      if (failed(count))
        return signalPassFailure();
      numObserved = *count;
      return;
    }
    if (form != "observers") {
      getOperation().emitError("form expects observers or onnx, but got '")
          << form << "'";
      return signalPassFailure();
    }
    FailureOr<Instrumented> result = instrument(getOperation(), spec);
    if (failed(result))
      return signalPassFailure();
    numObserved = result->observers.size();
    numUnnamed = result->unnamed;
  }
};
} // namespace
