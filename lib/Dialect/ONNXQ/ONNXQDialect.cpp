// The `onnxq` dialect: registration and verifiers.

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Support/ObserverRecord.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnxq;

#include "OnnxQuant/Dialect/ONNXQ/ONNXQDialect.cpp.inc"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "OnnxQuant/Dialect/ONNXQ/ONNXQAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.cpp.inc"

void ONNXQDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "OnnxQuant/Dialect/ONNXQ/ONNXQAttributes.cpp.inc"
      >();
}

Operation *ONNXQDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

LogicalResult StateOp::verify() {
  auto type = cast<MemRefType>(getState().getType());
  if (!type.hasStaticShape() || type.getNumElements() < 1)
    return emitOpError("expects a known number of words, but got ") << type;
  return success();
}

LogicalResult ObserveOp::verify() {
  auto type = cast<ShapedType>(getInput().getType());
  auto axis = static_cast<int64_t>(getChannelAxis());
  auto channels = static_cast<int64_t>(getChannels());
  auto offset = static_cast<int64_t>(getOffset());
  // While branches are resolved, shapes are forgotten and found again.
  bool isOpen = !type.hasRank();
  if (axis < -1 || (!isOpen && axis >= type.getRank()))
    return emitOpError("expects channel_axis to be -1 or an axis of ")
           << type << ", but got " << axis << " [C1]";
  if (axis < 0 ? channels != 1
               : !isOpen && (type.isDynamicDim(axis) ||
                             type.getDimSize(axis) != channels))
    return emitOpError("expects channels to be the size along channel_axis, "
                       "but got ")
           << channels << " [C2]";
  auto bins = static_cast<int64_t>(getBins());
  if (bins != 0 && (bins < 16 || bins > 65536 || !llvm::isPowerOf2_64(bins)))
    return emitOpError("expects bins to be 0 or a power of two from 16 to "
                       "65536, but got ")
           << bins << " [C3]";
  auto parts = static_cast<int64_t>(getParts());
  ObserverLayout layout{channels, bins, parts};
  auto state = cast<MemRefType>(getState().getType());
  if (getParts() < 1 || offset < 1 || !state.hasStaticShape() ||
      offset + layout.words() > state.getNumElements())
    return emitOpError("expects a record within ")
           << state << ", but got " << layout.words() << " words at " << offset
           << " [C4]";
  return success();
}

LogicalResult LookupOp::verify() {
  auto table = cast<RankedTensorType>(getTable().getType());
  if (table.isDynamicDim(0) || table.getDimSize(0) != 256)
    return emitOpError("expects a table of 256 entries, but got ")
           << table << " [C1]";
  auto input = cast<RankedTensorType>(getInput().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyCompatibleShape(input, result)))
    return emitOpError("expects a result of the input's shape, but got ")
           << result << " [C2]";
  return success();
}

LogicalResult EntryOp::verify() {
  if (getTable().getNumElements() != 256)
    return emitOpError("expects a table of 256 entries, but got ")
           << getTable().getType() << " [C1]";
  return success();
}
