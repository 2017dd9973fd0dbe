// Ops around kernels, sizes, and kernels themselves.

#include "Patterns.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

//===----------------------------------------------------------------------===//
// Ops around kernels
//===----------------------------------------------------------------------===//

Value kernels::makeOp(ImplicitLocOpBuilder &b, Operation *node, StringRef name,
                      ValueRange operands, Type type,
                      ArrayRef<NamedAttribute> attributes) {
  OperationState state(b.getLoc(), name, operands, type, attributes);
  if (Attribute given = node->getAttr(onnx::nodeNameAttr))
    state.addAttribute(onnx::nodeNameAttr, given);
  return b.create(state)->getResult(0);
}

Value kernels::makeTranspose(ImplicitLocOpBuilder &b, Operation *node,
                             Value value, ArrayRef<int64_t> perm) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  for (int64_t axis : perm)
    shape.push_back(type.getDimSize(axis));
  return makeOp(b, node, onnx::TransposeOp::getOperationName(), value,
                RankedTensorType::get(shape, type.getElementType()),
                b.getNamedAttr("perm", b.getI64ArrayAttr(perm)));
}

Value kernels::makeCast(ImplicitLocOpBuilder &b, Operation *node, Value value,
                        Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  return makeOp(b, node, onnx::CastOp::getOperationName(), value,
                type.clone(element),
                b.getNamedAttr("to", TypeAttr::get(element)));
}

Value kernels::toChannelsLast(ImplicitLocOpBuilder &b, Operation *node,
                              Value value) {
  SmallVector<int64_t> perm = {0};
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  for (int64_t i = 2; i < rank; ++i)
    perm.push_back(i);
  perm.push_back(1);
  return makeTranspose(b, node, value, perm);
}

Value kernels::toChannelsFirst(ImplicitLocOpBuilder &b, Operation *node,
                               Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<int64_t> perm = {0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i)
    perm.push_back(i);
  return makeTranspose(b, node, value, perm);
}

void kernels::check(ImplicitLocOpBuilder &b, Operation *node, Value condition,
                    const Twine &message) {
  if (matchPattern(condition, m_One()))
    return;
  auto name = node->getAttrOfType<StringAttr>(onnx::nodeNameAttr);
  std::string text = name ? name.str() : node->getName().stripDialect().str();
  cf::AssertOp::create(b, condition,
                       b.getStringAttr("node '" + text + "': " + message));
}

Value kernels::castLike(ImplicitLocOpBuilder &b, Operation *node, Value value,
                        Value result) {
  auto type = cast<RankedTensorType>(result.getType());
  value = makeCast(b, node, value, type.getElementType());
  auto from = cast<RankedTensorType>(value.getType());
  if (from == type)
    return value;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (type.isDynamicDim(axis) || !from.isDynamicDim(axis))
      continue;
    Value size = tensor::DimOp::create(b, value, axis);
    Value known = arith::ConstantIndexOp::create(b, type.getDimSize(axis));
    check(b, node,
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, size, known),
          "expects size " + Twine(type.getDimSize(axis)) + " in dimension " +
              Twine(axis) + " of a value, but got another");
  }
  return tensor::CastOp::create(b, type, value);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

OpFoldResult kernels::getSize(ImplicitLocOpBuilder &b, Value tensor,
                              int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return b.getIndexAttr(type.getDimSize(axis));
  return tensor::DimOp::create(b, tensor, axis).getResult();
}

Value kernels::makeEmpty(ImplicitLocOpBuilder &b, ArrayRef<OpFoldResult> sizes,
                         Type element) {
  return tensor::EmptyOp::create(b, sizes, element);
}

bool KernelWindow::isPointwise() const {
  auto isOne = [](int64_t x) { return x == 1; };
  return llvm::all_of(kernel, isOne) && llvm::all_of(strides, isOne) &&
         llvm::all_of(pads, [](int64_t x) { return x == 0; });
}

SmallVector<OpFoldResult> kernels::getOutputSizes(ImplicitLocOpBuilder &b,
                                                  Operation *node, Value input,
                                                  const KernelWindow &window) {
  SmallVector<OpFoldResult> sizes;
  size_t rank = window.kernel.size();
  for (size_t i = 0; i < rank; ++i) {
    OpFoldResult size = getSize(b, input, i + 1);
    int64_t pads = window.pads[i] + window.pads[rank + i];
    if (auto known = getConstantIntValue(size)) {
      sizes.push_back(b.getIndexAttr(
          onnxq::countWindows(*known, window.kernel[i], window.strides[i],
                              window.dilations[i], pads)));
      continue;
    }
    int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1 - pads;
    Value value = cast<Value>(size);
    Value needed = arith::ConstantIndexOp::create(b, reach);
    if (reach > 0)
      check(b, node,
            arith::CmpIOp::create(b, arith::CmpIPredicate::sge, value, needed),
            "the window is larger than the padded input");
    Value room = arith::SubIOp::create(b, value, needed);
    Value stride = arith::ConstantIndexOp::create(b, window.strides[i]);
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value steps = arith::DivSIOp::create(b, room, stride);
    sizes.push_back(arith::AddIOp::create(b, steps, one).getResult());
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

bool kernels::hasOutput(RankedTensorType input, const KernelWindow &window) {
  size_t rank = window.kernel.size();
  for (size_t i = 0; i < rank; ++i)
    if (!input.isDynamicDim(i + 2) &&
        onnxq::countWindows(input.getDimSize(i + 2), window.kernel[i],
                            window.strides[i], window.dilations[i],
                            window.pads[i] + window.pads[rank + i]) < 1)
      return false;
  return true;
}

EpilogueOperand kernels::perChannel(Value value, int64_t rank) {
  MLIRContext *context = value.getContext();
  return {value, AffineMap::get(rank, 0, getAffineDimExpr(rank - 1, context))};
}

Value kernels::addFirstOperand(ImplicitLocOpBuilder &b, ValueRange arguments) {
  return arith::AddFOp::create(b, arguments[0], arguments[1]);
}

Value kernels::makeContract(ImplicitLocOpBuilder &b, Value input, Value weights,
                            Value empty, const KernelWindow &window,
                            ArrayRef<EpilogueOperand> epilogueOperands,
                            const EpilogueFn &epilogue, bool batched) {
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  SmallVector<Type> types = {b.getF32Type()};
  for (const EpilogueOperand &operand : epilogueOperands) {
    values.push_back(operand.value);
    maps.push_back(operand.map);
    types.push_back(onnxq::getRegionType(
        cast<RankedTensorType>(operand.value.getType()).getElementType()));
  }
  auto contract = onnxq::ContractOp::create(
      b, TypeRange(empty.getType()), input, weights, Value(), values, empty,
      window.kernel, window.strides, window.dilations, window.pads,
      b.getAffineMapArrayAttr(maps), batched, /*input_unsigned=*/false,
      /*weights_unsigned=*/false, onnxq::PackingAttr());
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&contract.getEpilogue(), {}, types,
                               SmallVector<Location>(types.size(), b.getLoc()));
  Value result = epilogue ? epilogue(b, block->getArguments())
                          : Value(block->getArgument(0));
  onnxq::YieldOp::create(b, result);
  return contract.getResult(0);
}
