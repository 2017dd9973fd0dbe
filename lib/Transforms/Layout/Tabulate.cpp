// Makes functions of one byte tables. Enters: graphs with quantizers of
// constant parameters. Leaves: `onnxq.lookup` in a table that is computed, when
// constants are folded, by the same nodes from all 256 bytes: the same results
// to the bit.
//
// What lies between quantized tensors and a quantizer is such a function if all
// of it comes from one tensor of bytes, through nodes that work element by
// element and constants of one element. It may contain quantizers of its own,
// so that a whole x * sigmoid(x), quantized after every node, is one table.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Transforms/Layout/Passes.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace onnxquant {
#define GEN_PASS_DEF_TABULATE
#include "OnnxQuant/Transforms/Layout/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

/// Nodes of one function at most, and elements that are worth a table.
static constexpr size_t maxNodes = 64;
static constexpr int64_t minElements = 512;

/// Nodes that cost more for an element than to read it from a table.
static bool isCostly(Operation *op) {
  return isa<ErfOp, ExpOp, LogOp, TanhOp, SigmoidOp, SqrtOp, PowOp, GeluOp,
             EluOp, CeluOp, SeluOp, MishOp, SoftplusOp, SoftsignOp, SinOp,
             CosOp, TanOp, SinhOp, CoshOp, AsinOp, AcosOp, AtanOp, AsinhOp,
             AcoshOp, AtanhOp, microsoft::GeluOp, microsoft::QuickGeluOp>(op);
}

/// Nodes whose elements depend on the elements at the same place.
static bool isMapped(Operation *op) {
  return isCostly(op) ||
         isa<AbsOp, NegOp, CeilOp, FloorOp, RoundOp, ReciprocalOp, ReluOp,
             LeakyReluOp, ClipOp, HardSigmoidOp, HardSwishOp, ShrinkOp,
             ThresholdedReluOp, AddOp, SubOp, MulOp, DivOp, MaxOp, MinOp,
             IdentityOp>(op);
}

static bool isByteTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isInteger(8);
}

/// A constant of one element, without a shape; null if `value` is none.
static DenseElementsAttr getSingle(Value value) {
  auto elements = dyn_cast_if_present<DenseElementsAttr>(getConstant(value));
  if (!elements || elements.getNumElements() != 1)
    return {};
  return elements.reshape(RankedTensorType::get({}, elements.getElementType()));
}

static bool isSingleOrAbsent(Value value) {
  return isa<NoneType>(value.getType()) || getSingle(value);
}

/// Whether a quantizer's parameters are one constant scale and zero point.
static bool hasOneScale(Value scale, Value zero) {
  return isSingleOrAbsent(scale) && isSingleOrAbsent(zero);
}

namespace {

/// Nodes in order, and the tensors of bytes that they come from.
struct ByteFunction {
  llvm::SetVector<Operation *> nodes;
  SmallVector<Value> sources;

  bool addReal(Value value);
  bool addQuantizer(QuantizeLinearOp op);
  bool expandLast();
  bool isWorthATable() const;
};

struct Tabulate : public onnxquant::impl::TabulateBase<Tabulate> {
  void runOnOperation() override;

private:
  bool tabulate(QuantizeLinearOp last);

  llvm::SmallPtrSet<Operation *, 16> erased;
};

} // namespace

/// Adds what computes a real number.
bool ByteFunction::addReal(Value value) {
  if (getSingle(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || nodes.size() > maxNodes)
    return false;
  if (nodes.contains(op))
    return true;
  if (auto dequantize = dyn_cast<DequantizeLinearOp>(op)) {
    if (!isByteTensor(dequantize.getX()) ||
        !hasOneScale(dequantize.getXScale(), dequantize.getXZeroPoint()))
      return false;
    nodes.insert(op);
    if (!llvm::is_contained(sources, dequantize.getX()))
      sources.push_back(dequantize.getX());
    return true;
  }
  if (!isMapped(op) || op->getNumResults() != 1 || !isFloat(op->getResult(0)))
    return false;
  for (Value operand : op->getOperands())
    if (!isa<NoneType>(operand.getType()) && !addReal(operand))
      return false;
  nodes.insert(op);
  return true;
}

bool ByteFunction::addQuantizer(QuantizeLinearOp op) {
  if (!isByteTensor(op.getY()) ||
      !hasOneScale(op.getYScale(), op.getYZeroPoint()) || !addReal(op.getX()))
    return false;
  nodes.insert(op);
  return true;
}

/// Takes in the quantizer of the source that is computed last.
bool ByteFunction::expandLast() {
  auto last = llvm::max_element(sources, [](Value a, Value b) {
    Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
    if (!first || !second || first->getBlock() != second->getBlock())
      return !first && second;
    return first->isBeforeInBlock(second);
  });
  auto quantizer = last->getDefiningOp<QuantizeLinearOp>();
  if (!quantizer)
    return false;
  // Nodes stay in order: what makes the source comes before its readers.
  ByteFunction made;
  for (Value source : sources)
    if (source != *last)
      made.sources.push_back(source);
  if (!made.addQuantizer(quantizer))
    return false;
  made.nodes.insert(nodes.begin(), nodes.end());
  *this = std::move(made);
  return nodes.size() <= maxNodes;
}

/// Whether the nodes cost enough, and nothing else reads what costs.
bool ByteFunction::isWorthATable() const {
  bool isCosting = false;
  for (Operation *op : nodes) {
    if (!isCostly(op))
      continue;
    isCosting = true;
    for (Operation *user : op->getUsers())
      if (!nodes.contains(user))
        return false;
  }
  return isCosting;
}

/// The function's results for all bytes, in their order without a sign.
static Value computeTable(OpBuilder &b, const ByteFunction &function) {
  Operation *last = function.nodes.back();
  Location loc = last->getLoc();
  std::vector<char> bytes(256);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(i);
  auto resized = [](Value value) {
    return RankedTensorType::get(
        {256}, cast<ShapedType>(value.getType()).getElementType());
  };
  Value source = function.sources.front();
  IRMapping mapping;
  mapping.map(
      source,
      makeConstant(b, loc, makeElements(resized(source), bytes, ""), ""));
  for (Operation *op : function.nodes) {
    for (Value operand : op->getOperands())
      if (DenseElementsAttr single = getSingle(operand))
        if (!mapping.contains(operand))
          mapping.map(operand, makeConstant(b, loc, single, ""));
    Operation *copy = b.clone(*op, mapping);
    copy->removeAttr(resultNamesAttr);
    copy->removeAttr(dimParamsAttr);
    copy->setAttr(foldedAttr, b.getUnitAttr());
    copy->getResult(0).setType(resized(op->getResult(0)));
  }
  return mapping.lookup(last->getResult(0));
}

bool Tabulate::tabulate(QuantizeLinearOp last) {
  ByteFunction function;
  if (!function.addQuantizer(last))
    return false;
  // The one that comes from one tensor and reaches farthest.
  std::optional<ByteFunction> best;
  do
    if (function.sources.size() == 1)
      best = function;
  while (!function.sources.empty() && function.expandLast());
  if (!best || !best->isWorthATable())
    return false;
  Value source = best->sources.front();
  auto input = cast<RankedTensorType>(source.getType());
  auto output = cast<RankedTensorType>(last.getY().getType());
  if (input.getShape() != output.getShape() ||
      (input.hasStaticShape() && input.getNumElements() < minElements))
    return false;
  OpBuilder b(last);
  auto lookup = onnxq::LookupOp::create(b, last.getLoc(), output, source,
                                        computeTable(b, *best));
  if (Attribute name = last->getAttr(nodeNameAttr))
    lookup->setAttr(nodeNameAttr, name);
  last.getY().replaceAllUsesWith(lookup.getResult());
  for (Operation *op : llvm::reverse(best->nodes))
    if (op->use_empty()) {
      erased.insert(op);
      op->erase();
    }
  return true;
}

void Tabulate::runOnOperation() {
  erased.clear();
  int64_t tables = 0;
  SmallVector<Operation *> quantizers;
  getOperation().walk([&](QuantizeLinearOp op) { quantizers.push_back(op); });
  // Later ones first: they may take in earlier ones.
  for (Operation *op : llvm::reverse(quantizers))
    if (!erased.contains(op) && tabulate(cast<QuantizeLinearOp>(op)))
      ++tables;
  numTables += tables;
  addToReport(getOperation(), getArgument(), "functions made tables", tables);
}
