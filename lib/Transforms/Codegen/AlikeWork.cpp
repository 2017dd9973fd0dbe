// Gives elementwise work of which there are many sizes or factors one form.
//
// A graph scales and shifts tensors of many sizes by many numbers. Each
// function costs milliseconds to compile, whereas a loop over a row of open
// length with a factor that is an argument runs as fast as one that knows them.
// Work of which there are only a few kinds keeps what is known of it.

#include "AlikeWork.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include <map>

using namespace mlir;
using namespace onnxquant;

/// Kinds that are worth one form for all.
static constexpr size_t fewestKinds = 3;

namespace {

/// What the work of one form has in common, and the ways in which it differs.
struct Form {
  SmallVector<size_t> places;
  llvm::StringSet<> kinds;
};

/// Elementwise work, written down.
struct Description {
  std::string form, kind;
  SmallVector<Value> factors;
};

} // namespace

//===----------------------------------------------------------------------===//
// What is alike
//===----------------------------------------------------------------------===//

static bool isRow(MemRefType type) {
  return type.getLayout().isIdentity() ||
         memref::isStaticShapeAndContiguousRowMajor(type);
}

/// Whether an op computes each element of its buffers from those at the same
/// place, and buffers are contiguous.
static bool isElementwise(linalg::GenericOp op) {
  auto first = dyn_cast<MemRefType>(op->getOperand(0).getType());
  if (!first || first.getRank() == 0 || op->getNumResults() != 0 ||
      op.getNumParallelLoops() != op.getNumLoops())
    return false;
  return llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); }) &&
         llvm::all_of(op->getOperandTypes(), [&](Type operand) {
           auto type = dyn_cast<MemRefType>(operand);
           return type && type.getShape() == first.getShape() && isRow(type) &&
                  isa<FloatType>(type.getElementType());
         });
}

/// Whether code with another number in this place is as fast: it isn't where
/// the number tells that an operand is no NaN, or that a division is a product.
static bool isFactor(OpOperand &use) {
  Operation *user = use.getOwner();
  APFloat number(0.0f);
  if (!matchPattern(use.get(), m_ConstantFloat(&number)))
    return false;
  if (isa<arith::DivFOp>(user))
    return use.getOperandNumber() == 1 && !number.getExactInverse(nullptr);
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(user);
}

/// Writes down an op; none if it isn't elementwise, or takes other scalars than
/// constants.
static std::optional<Description> describe(linalg::GenericOp op) {
  if (!isElementwise(op))
    return std::nullopt;
  Description result;
  llvm::raw_string_ostream form(result.form), kind(result.kind);
  llvm::DenseMap<Value, unsigned> numbers;
  auto number = [&](Value value) {
    return numbers.try_emplace(value, numbers.size()).first->second;
  };
  for (Value buffer : op->getOperands())
    form << number(buffer) << ":"
         << cast<MemRefType>(buffer.getType()).getElementType() << " ";
  form << op.getNumDpsInputs();
  for (Value argument : op.getBody()->getArguments())
    number(argument);
  llvm::DenseMap<Value, bool> isOpen;
  for (Operation &inner : *op.getBody())
    for (OpOperand &use : inner.getOpOperands())
      if (use.get().getParentRegion() != &op.getRegion())
        isOpen.try_emplace(use.get(), true).first->second &= isFactor(use);
  for (Operation &inner : *op.getBody()) {
    bool isKnown =
        isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()) ||
        isa<linalg::YieldOp>(inner);
    if (!isKnown || inner.getNumRegions() != 0)
      return std::nullopt;
    form << "\n" << inner.getName() << inner.getAttrDictionary();
    for (Type type : inner.getResultTypes())
      form << " " << type;
    for (Value operand : inner.getOperands()) {
      Attribute constant;
      bool isInside = operand.getParentRegion() == &op.getRegion();
      if (!isInside && !matchPattern(operand, m_Constant(&constant)))
        return std::nullopt;
      form << " %";
      if (isInside || isOpen.lookup(operand)) {
        if (!isInside && !numbers.contains(operand)) {
          result.factors.push_back(operand);
          kind << constant << " ";
        }
        form << number(operand);
      } else {
        form << constant;
      }
    }
    for (Value value : inner.getResults())
      number(value);
  }
  kind << op->getOperand(0).getType();
  return result;
}

//===----------------------------------------------------------------------===//
// The form for all
//===----------------------------------------------------------------------===//

/// A contiguous buffer as a row of open length.
static Value makeRow(ImplicitLocOpBuilder &b, Value buffer, Value length) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t offset;
  SmallVector<int64_t> strides;
  (void)type.getStridesAndOffset(strides, offset);
  OpFoldResult start = b.getIndexAttr(offset);
  if (ShapedType::isDynamic(offset))
    start = memref::ExtractStridedMetadataOp::create(b, buffer).getOffset();
  auto row = MemRefType::get(
      ShapedType::kDynamic, type.getElementType(),
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}),
      type.getMemorySpace());
  return memref::ReinterpretCastOp::create(
      b, row, buffer, start, ArrayRef<OpFoldResult>{length},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

static Operation *openRows(linalg::GenericOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value first = op->getOperand(0);
  auto type = cast<MemRefType>(first.getType());
  int64_t known = 1;
  Value length;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis)) {
      known *= type.getDimSize(axis);
      continue;
    }
    Value size = memref::DimOp::create(b, first, axis);
    length = length ? arith::MulIOp::create(b, length, size) : size;
  }
  Value factor = arith::ConstantIndexOp::create(b, known);
  length = length ? arith::MulIOp::create(b, length, factor) : factor;
  llvm::MapVector<Value, Value> rows;
  for (Value buffer : op->getOperands())
    if (!rows.contains(buffer))
      rows[buffer] = makeRow(b, buffer, length);
  SmallVector<Value> inputs, outputs;
  for (Value buffer : op.getDpsInputs())
    inputs.push_back(rows[buffer]);
  for (Value buffer : op.getDpsInits())
    outputs.push_back(rows[buffer]);
  SmallVector<AffineMap> maps(op->getNumOperands(),
                              b.getMultiDimIdentityMap(1));
  auto row = linalg::GenericOp::create(
      b, inputs, outputs, maps,
      ArrayRef<utils::IteratorType>{utils::IteratorType::parallel});
  row.getRegion().takeBody(op.getRegion());
  op.erase();
  return row;
}

OpenConstants onnxquant::openAlike(SmallVectorImpl<Operation *> &work) {
  std::map<std::string, Form> forms;
  llvm::DenseMap<size_t, SmallVector<Value>> factors;
  for (auto [place, op] : llvm::enumerate(work)) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    std::optional<Description> description =
        generic ? describe(generic) : std::nullopt;
    if (!description)
      continue;
    Form &form = forms[description->form];
    form.places.push_back(place);
    form.kinds.insert(description->kind);
    factors[place] = std::move(description->factors);
  }
  OpenConstants constants;
  for (auto &[text, form] : forms) {
    if (form.kinds.size() < fewestKinds)
      continue;
    for (size_t place : form.places) {
      work[place] = openRows(cast<linalg::GenericOp>(work[place]));
      constants[work[place]] = factors.lookup(place);
    }
  }
  return constants;
}
