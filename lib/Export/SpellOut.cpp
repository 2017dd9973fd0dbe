// Writes operators of newer opsets in the parts that they are made of.
//
// Preparation recognizes LayerNormalization, Gelu, HardSwish and Mish, and ONNX
// Runtime's optimizers write the first in any opset. Such a node doesn't raise
// a model's opset: it is spelt out where nothing else needs a later one. The
// parts are those that runtimes, and preparation, recognize again; the part
// that preparation names the node after has the node's name.

#include "SpellOut.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "mlir/IR/Builders.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::exporting;
namespace ir = onnxquant::onnx;

namespace {
/// The parts of one node of one result.
class Speller {
public:
  explicit Speller(Operation *op) : op(op), b(op) {
    auto text = op->getAttrOfType<StringAttr>(ir::nodeNameAttr);
    name = text ? text.str() : op->getName().stripDialect().str();
  }

  /// A part of the name's suffix; the node's own without one.
  Value operator()(StringRef opType, ValueRange operands, Type type,
                   StringRef suffix, ArrayRef<NamedAttribute> attributes = {}) {
    OperationState state(op->getLoc(), ("onnx." + opType).str());
    state.addOperands(operands);
    state.addTypes(type);
    state.addAttributes(attributes);
    state.addAttribute(ir::nodeNameAttr, b.getStringAttr(nameOf(suffix)));
    Attribute dims = op->getAttr(ir::dimParamsAttr);
    if (dims && type == op->getResult(0).getType())
      state.addAttribute(
          ir::dimParamsAttr,
          b.getArrayAttr(cast<ArrayAttr>(dims).getValue().take_front()));
    return b.create(state)->getResult(0);
  }
  Value scalar(double value, Type element, StringRef suffix) {
    auto type = RankedTensorType::get({}, element);
    return constant(
        DenseElementsAttr::get(type, b.getFloatAttr(element, value)), suffix);
  }
  Value ints(ArrayRef<int64_t> values, StringRef suffix) {
    return constant(b.getI64TensorAttr(values), suffix);
  }
  NamedAttribute attribute(StringRef attribute, int64_t value) {
    auto si64 = b.getIntegerType(64, /*isSigned=*/true);
    return b.getNamedAttr(attribute, b.getIntegerAttr(si64, value));
  }
  NamedAttribute attribute(StringRef attribute, double value) {
    return b.getNamedAttr(attribute,
                          b.getF32FloatAttr(static_cast<float>(value)));
  }
  Value castTo(Value value, Type element, StringRef suffix) {
    Type type = cast<ShapedType>(value.getType()).clone(element);
    return (*this)("Cast", value, type, suffix,
                   b.getNamedAttr("to", TypeAttr::get(element)));
  }

  /// The last part takes the node's place, with the name of its result.
  void finish(Value last) {
    Operation *part = last.getDefiningOp();
    if (auto names = op->getAttrOfType<ArrayAttr>(ir::resultNamesAttr))
      part->setAttr(ir::resultNamesAttr,
                    b.getArrayAttr(names.getValue().take_front()));
    for (StringRef notes : {"onnx_result_doc_strings", "onnx_result_metadata"})
      if (auto list = op->getAttrOfType<ArrayAttr>(notes))
        part->setAttr(notes, b.getArrayAttr(list.getValue().take_front()));
    for (StringRef notes : {ir::docStringAttr, ir::metadataAttr})
      if (Attribute note = op->getAttr(notes))
        part->setAttr(notes, note);
    op->getResult(0).replaceAllUsesWith(last);
    SmallVector<Operation *> makers;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp();
          isa_and_nonnull<ir::ConstantOp>(maker) &&
          !llvm::is_contained(makers, maker))
        makers.push_back(maker);
    op->erase();
    for (Operation *maker : makers)
      if (maker->use_empty())
        maker->erase();
  }

private:
  std::string nameOf(StringRef suffix) const {
    return suffix.empty() ? name : (Twine(name) + "_" + suffix).str();
  }
  Value constant(DenseElementsAttr value, StringRef suffix) {
    OperationState state(op->getLoc(), ir::ConstantOp::getOperationName());
    state.addTypes(value.getType());
    state.addAttribute("value", value);
    state.addAttribute(ir::nodeNameAttr, b.getStringAttr(nameOf(suffix)));
    state.addAttribute(ir::resultNamesAttr,
                       b.getStrArrayAttr({StringRef(nameOf(suffix))}));
    return b.create(state)->getResult(0);
  }

  Operation *op;
  OpBuilder b;
  std::string name;
};
} // namespace

/// Whether a constant is ones only, as of a normalization without a factor.
static bool isOnes(Value value) {
  ElementsAttr elements = ir::getConstant(value);
  auto numbers =
      elements ? ir::readFloats(elements, int64_t(1) << 20) : std::nullopt;
  return numbers &&
         llvm::all_of(*numbers, [](double number) { return number == 1; });
}

/// (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + bias. Narrow
/// floats are widened for it, as `stash_type` says.
static void spellLayerNorm(ir::LayerNormalizationOp op) {
  Speller parts(op);
  auto type = cast<RankedTensorType>(op.getX().getType());
  Type element = type.getElementType();
  Type real = Float32Type::get(op.getContext());
  int64_t axis = op.getAxis(), rank = type.getRank();
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(axis < 0 ? axis : axis - rank, 0));
  Value x = op.getX();
  if (element != real)
    x = parts.castTo(x, real, "wide");
  auto wide = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> shape(wide.getShape());
  for (int64_t each : axes)
    shape[rank + each] = 1;
  auto reduced = RankedTensorType::get(shape, real);
  SmallVector<NamedAttribute> keep = {
      parts.attribute("keepdims", int64_t(1)),
      parts.attribute("noop_with_empty_axes", int64_t(0))};
  Value over = parts.ints(axes, "axes");
  Value mean = parts("ReduceMean", {x, over}, reduced, "mean", keep);
  Value centered = parts("Sub", {x, mean}, wide, "centered");
  Value squares =
      parts("Pow", {centered, parts.scalar(2, real, "two")}, wide, "squares");
  Value variance =
      parts("ReduceMean", {squares, over}, reduced, "variance", keep);
  Value epsilon =
      parts.scalar(op.getEpsilon().convertToDouble(), real, "epsilon");
  Value safe = parts("Add", {variance, epsilon}, reduced, "with_epsilon");
  Value root = parts("Sqrt", safe, reduced, "deviation");
  Value y = parts("Div", {centered, root}, wide, "");
  Type result = op.getY().getType();
  if (element != real)
    y = parts.castTo(y, element, "narrow");
  if (!isOnes(op.getScale()))
    y = parts("Mul", {y, op.getScale()}, result, "scaled");
  if (!ir::isLeftOut(op.getB()))
    y = parts("Add", {y, op.getB()}, result, "shifted");
  parts.finish(y);
}

/// 0.5 * x * (1 + erf(x / sqrt(2))), or the same with a tanh of a cubic.
static void spellGelu(ir::GeluOp op) {
  Speller parts(op);
  Value x = op->getOperand(0);
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  Value inner;
  if (op.getApproximate() == "tanh") {
    Value cube =
        parts("Pow", {x, parts.scalar(3, element, "three")}, type, "cube");
    Value part = parts("Mul", {cube, parts.scalar(0.044715, element, "cubic")},
                       type, "cubic_part");
    Value sum = parts("Add", {x, part}, type, "polynomial");
    Value scaled = parts(
        "Mul", {sum, parts.scalar(std::sqrt(2 / M_PI), element, "factor")},
        type, "scaled");
    inner = parts("Tanh", scaled, type, "tanh");
  } else {
    Value scaled = parts("Div", {x, parts.scalar(M_SQRT2, element, "root")},
                         type, "scaled");
    inner = parts("Erf", scaled, type, "erf");
  }
  Value sum =
      parts("Add", {inner, parts.scalar(1, element, "one")}, type, "plus_one");
  Value twice = parts("Mul", {x, sum}, type, "twice");
  parts.finish(
      parts("Mul", {twice, parts.scalar(0.5, element, "half")}, type, ""));
}

/// x * max(0, min(1, x / 6 + 0.5)).
static void spellHardSwish(ir::HardSwishOp op) {
  Speller parts(op);
  Value x = op->getOperand(0);
  Type type = op->getResult(0).getType();
  Value gate =
      parts("HardSigmoid", x, type, "gate",
            {parts.attribute("alpha", 1.0 / 6), parts.attribute("beta", 0.5)});
  parts.finish(parts("Mul", {x, gate}, type, ""));
}

/// x * tanh(log(1 + exp(x))).
static void spellMish(ir::MishOp op) {
  Speller parts(op);
  Value x = op->getOperand(0);
  Type type = op->getResult(0).getType();
  Value gate =
      parts("Tanh", parts("Softplus", x, type, "softplus"), type, "gate");
  parts.finish(parts("Mul", {x, gate}, type, ""));
}

bool exporting::canSpellOut(Operation *op) {
  if (auto norm = dyn_cast<ir::LayerNormalizationOp>(op)) {
    auto isPlain = [](Type element) {
      return element.isF32() || element.isF16();
    };
    auto type = dyn_cast<RankedTensorType>(norm.getX().getType());
    return type && isPlain(type.getElementType()) && norm.getStashType() == 1 &&
           isa<NoneType>(norm.getMean().getType()) &&
           isa<NoneType>(norm.getInvStdDev().getType());
  }
  return isa<ir::GeluOp, ir::HardSwishOp, ir::MishOp>(op) &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

void exporting::spellOut(Operation *op) {
  if (auto norm = dyn_cast<ir::LayerNormalizationOp>(op))
    spellLayerNorm(norm);
  else if (auto gelu = dyn_cast<ir::GeluOp>(op))
    spellGelu(gelu);
  else if (auto swish = dyn_cast<ir::HardSwishOp>(op))
    spellHardSwish(swish);
  else
    spellMish(cast<ir::MishOp>(op));
}
