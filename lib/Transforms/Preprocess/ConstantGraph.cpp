// Cuts out what depends on constants only, and runs it. Small constants, such
// as shapes and axes, are part of the code; large ones are its inputs, so that
// weights are not compiled.

#include "ConstantGraph.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::preprocess;

/// Constants of more bytes than this are inputs of the compiled code.
static constexpr int64_t maxEmbedded = 256;
/// A result may be as large as this many constants that it is made from.
static constexpr size_t maxLeaves = 64;

/// Bytes of an element as compiled code has it; 0 if it can't.
static int64_t elementBytesOf(Type element) {
  std::optional<int64_t> code = onnxFromElementType(element);
  // Packed elements have another form in memory than in a model.
  bool packed = element.isIntOrFloat() && !element.isInteger(1) &&
                element.getIntOrFloatBitWidth() < 8;
  return code && !packed ? elementBytes(*code) : 0;
}

/// The size of a static tensor; none if it is unknown or too large to say.
static std::optional<int64_t> bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  int64_t bytes = elementBytesOf(type.getElementType());
  if (bytes == 0)
    return std::nullopt;
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  return bytes;
}

/// Whether a value is known now, or will be when `nodes` have run.
static bool isKnown(Value value, const llvm::DenseSet<Operation *> &nodes) {
  if (isLeftOut(value))
    return true;
  Operation *maker = value.getDefiningOp();
  if (!maker || !bytesOf(value))
    return false;
  return nodes.contains(maker) || getConstant(value);
}

namespace {

/// Grows a constant graph, and knows which constants each node depends on.
class GraphFinder {
public:
  explicit GraphFinder(int64_t maxBytes) : maxBytes(maxBytes) {}

  void visit(Operation *op) {
    if (!isComputable(op))
      return;
    nodes.insert(op);
    order.push_back(op);
  }

  llvm::DenseSet<Operation *> nodes;
  SmallVector<Operation *> order;

private:
  bool isComputable(Operation *op);
  int64_t collectLeaves(Operation *op);

  int64_t maxBytes;
  /// Sorted, and no more than `maxLeaves`.
  llvm::DenseMap<Operation *, SmallVector<void *>> leaves;
};

} // namespace

/// The bytes of all constants that a node depends on, each counted once: what
/// is joined with itself again and again is no larger by that.
int64_t GraphFinder::collectLeaves(Operation *op) {
  llvm::SmallSetVector<void *, 8> found;
  for (Value operand : op->getOperands()) {
    if (isLeftOut(operand))
      continue;
    auto it = leaves.find(operand.getDefiningOp());
    if (it != leaves.end())
      found.insert(it->second.begin(), it->second.end());
    else
      found.insert(operand.getAsOpaquePointer());
  }
  SmallVector<void *> list = found.takeVector();
  list.truncate(std::min<size_t>(list.size(), maxLeaves));
  int64_t bytes = 0;
  for (void *leaf : list)
    bytes += bytesOf(Value::getFromOpaquePointer(leaf)).value_or(0);
  leaves[op] = std::move(list);
  return bytes;
}

bool GraphFinder::isComputable(Operation *op) {
  // What is stored quantized stays so.
  bool isStored = isa<DequantizeLinearOp, microsoft::DequantizeLinearOp>(op) &&
                  !op->hasAttr(foldedAttr);
  if (!isa<NodeOpInterface>(op) || !isPure(op) || op->getNumRegions() > 0 ||
      isa<ConstantOp>(op) || isStored)
    return false;
  if (!llvm::all_of(op->getOperands(),
                    [&](Value value) { return isKnown(value, nodes); }))
    return false;
  int64_t limit = std::max(maxBytes, collectLeaves(op));
  return llvm::all_of(op->getResults(), [&](OpResult result) {
    if (isa<NoneType>(result.getType()))
      return true;
    auto tensor = dyn_cast<TensorType>(result.getType());
    if (!tensor || elementBytesOf(tensor.getElementType()) == 0)
      return false;
    // With all operands known only the count of what was found is open, which
    // is no more than what was searched.
    auto ranked = dyn_cast<RankedTensorType>(tensor);
    if (ranked && ranked.hasStaticShape())
      return bytesOf(result).value_or(INT64_MAX) <= limit;
    return true;
  });
}

ConstantGraph preprocess::findConstantGraph(Operation *root, int64_t maxBytes) {
  GraphFinder finder(maxBytes);
  root->walk<WalkOrder::PreOrder>([&](Operation *op) { finder.visit(op); });
  ConstantGraph graph;
  graph.nodes = std::move(finder.order);
  for (Operation *op : graph.nodes)
    for (OpResult result : op->getResults())
      if (!isOutput(result) &&
          llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !finder.nodes.contains(user);
          }))
        graph.results.push_back(result);
  return graph;
}

SmallVector<ConstantGraph> preprocess::splitGraph(const ConstantGraph &graph) {
  llvm::EquivalenceClasses<Operation *> classes;
  llvm::DenseSet<Operation *> own(graph.nodes.begin(), graph.nodes.end());
  for (Operation *op : graph.nodes) {
    classes.insert(op);
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && own.contains(maker))
        classes.unionSets(op, maker);
  }
  SmallVector<ConstantGraph> parts;
  llvm::DenseMap<Operation *, size_t> places;
  for (Operation *op : graph.nodes) {
    auto [it, isNew] =
        places.try_emplace(classes.getLeaderValue(op), parts.size());
    if (isNew)
      parts.emplace_back();
    parts[it->second].nodes.push_back(op);
  }
  for (OpResult result : graph.results)
    parts[places[classes.getLeaderValue(result.getOwner())]].results.push_back(
        result);
  return parts;
}

/// A constant as a tensor in memory; none where its data can't be read.
static std::optional<HostTensor> toHost(Value value) {
  ElementsAttr elements = getConstant(value);
  HostTensor tensor;
  tensor.type = *onnxFromElementType(elements.getElementType());
  ArrayRef<int64_t> shape = elements.getShapedType().getShape();
  tensor.dims.assign(shape.begin(), shape.end());
  size_t size = *bytesOf(value);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != size)
      return std::nullopt;
    tensor.data.assign(blob->getData().begin(), blob->getData().end());
    return tensor;
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense)
    return std::nullopt;
  if (elements.getElementType().isInteger(1)) {
    for (bool bit : dense.getValues<bool>())
      tensor.data.push_back(bit);
    return tensor;
  }
  ArrayRef<char> raw = dense.getRawData();
  for (int64_t i = 0, e = dense.isSplat() ? dense.getNumElements() : 1; i < e;
       ++i)
    tensor.data.insert(tensor.data.end(), raw.begin(), raw.end());
  if (tensor.data.size() != size)
    return std::nullopt;
  return tensor;
}

/// A module whose entry computes the graph's results. `inputs` are the
/// constants that it takes.
static OwningOpRef<ModuleOp> makeModule(const ConstantGraph &graph,
                                        ArrayRef<Value> inputs) {
  MLIRContext *context = graph.nodes.front()->getContext();
  Location loc = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder(module->getBodyRegion());
  SmallVector<Type> inputTypes, resultTypes;
  for (Value input : inputs)
    inputTypes.push_back(getConstant(input).getShapedType());
  for (OpResult result : graph.results)
    resultTypes.push_back(result.getType());
  auto function =
      func::FuncOp::create(builder, loc, "main_graph",
                           FunctionType::get(context, inputTypes, resultTypes));
  EntryPointOp::create(builder, loc,
                       FlatSymbolRefAttr::get(context, "main_graph"));
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  for (auto [index, input] : llvm::enumerate(inputs)) {
    mapping.map(input, function.getArgument(index));
    function.setArgAttr(index, argNameAttr,
                        builder.getStringAttr("i" + Twine(index)));
  }
  for (Operation *op : graph.nodes) {
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        builder.clone(*operand.getDefiningOp(), mapping);
    builder.clone(*op, mapping);
  }
  SmallVector<Value> results;
  for (auto [index, result] : llvm::enumerate(graph.results)) {
    results.push_back(mapping.lookup(result));
    function.setResultAttr(index, argNameAttr,
                           builder.getStringAttr("r" + Twine(index)));
  }
  ReturnOp::create(builder, loc, results);
  return module;
}

llvm::Expected<std::vector<HostTensor>>
preprocess::runGraph(const ConstantGraph &graph, Executor &executor) {
  auto fail = [](const Twine &message) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
  };
  SetVector<Value> inputs;
  std::vector<HostTensor> tensors;
  for (Operation *op : graph.nodes)
    for (Value operand : op->getOperands()) {
      if (isLeftOut(operand) || !getConstant(operand) ||
          *bytesOf(operand) <= maxEmbedded || !inputs.insert(operand))
        continue;
      std::optional<HostTensor> tensor = toHost(operand);
      if (!tensor)
        return fail("the data of a constant can't be read");
      tensors.push_back(std::move(*tensor));
    }
  OwningOpRef<ModuleOp> module = makeModule(graph, inputs.getArrayRef());
  std::string message = "it can't be compiled";
  ScopedDiagnosticHandler handler(
      module->getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          message = diagnostic.str();
      });
  FailureOr<std::unique_ptr<Program>> program = executor.compile(*module);
  if (failed(program))
    return fail(message);
  auto outputs = (*program)->run(tensors);
  if (outputs && outputs->size() != graph.results.size())
    return fail("it gives another number of results");
  return outputs;
}
