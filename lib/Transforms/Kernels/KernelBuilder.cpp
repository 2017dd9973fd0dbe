// Index arithmetic, loops, flat memory and epilogues on vectors.

#include "KernelBuilder.h"
#include "OnnxQuant/Dialect/ONNX/NodeName.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

KernelBuilder::KernelBuilder(Location loc, Operation *op)
    : ImplicitLocOpBuilder(loc, op) {
  auto module = op->getParentOfType<ModuleOp>();
  checks = module && module->hasAttr(checkPointersAttr);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value KernelBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}
Value KernelBuilder::add(Value a, Value b) {
  return createOrFold<arith::AddIOp>(a, b);
}
Value KernelBuilder::sub(Value a, Value b) {
  return createOrFold<arith::SubIOp>(a, b);
}
Value KernelBuilder::mul(Value a, Value b) {
  return createOrFold<arith::MulIOp>(a, b);
}
Value KernelBuilder::div(Value a, Value b) {
  return createOrFold<arith::DivUIOp>(a, b);
}
Value KernelBuilder::rem(Value a, Value b) {
  return createOrFold<arith::RemUIOp>(a, b);
}
Value KernelBuilder::ceilDiv(Value a, Value b) {
  return div(add(a, sub(b, index(1))), b);
}
Value KernelBuilder::min(Value a, Value b) {
  return createOrFold<arith::MinSIOp>(a, b);
}
Value KernelBuilder::select(Value condition, Value a, Value b) {
  return createOrFold<arith::SelectOp>(condition, a, b);
}
std::optional<int64_t> KernelBuilder::known(Value value) {
  return getConstantIntValue(value);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<Value>
KernelBuilder::loop(Value count, ValueRange carried,
                    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  if (known(count) == 1)
    return body(index(0), carried);
  auto loop = scf::ForOp::create(
      *this, index(0), count, index(1), carried,
      [&](OpBuilder &nested, Location, Value position, ValueRange values) {
        OpBuilder::InsertionGuard guard(*this);
        setInsertionPoint(nested.getInsertionBlock(),
                          nested.getInsertionPoint());
        SmallVector<Value> results = body(position, values);
        scf::YieldOp::create(*this, results);
      });
  return SmallVector<Value>(loop.getResults());
}

void KernelBuilder::repeat(Value count, function_ref<void(Value)> body) {
  loop(count, {}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

void KernelBuilder::grid(ArrayRef<Value> counts,
                         function_ref<void(ArrayRef<Value>)> body) {
  SmallVector<Value> lower, upper, steps;
  for (Value count : counts)
    if (known(count) != 1) {
      lower.push_back(index(0));
      upper.push_back(count);
      steps.push_back(index(1));
    }
  auto expand = [&](ValueRange positions) {
    SmallVector<Value> all;
    size_t next = 0;
    for (Value count : counts)
      all.push_back(known(count) == 1 ? index(0) : positions[next++]);
    return all;
  };
  if (upper.empty())
    return body(expand({}));
  scf::ParallelOp::create(
      *this, lower, upper, steps,
      [&](OpBuilder &nested, Location, ValueRange positions) {
        OpBuilder::InsertionGuard guard(*this);
        setInsertionPoint(nested.getInsertionBlock(),
                          nested.getInsertionPoint());
        body(expand(positions));
      });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

FlatBuffer KernelBuilder::flatten(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  FlatBuffer flat;
  flat.element = type.getElementType();
  flat.isContiguous = type.getLayout().isIdentity();
  auto metadata = memref::ExtractStridedMetadataOp::create(*this, buffer);
  auto toValue = [&](OpFoldResult part) {
    return getValueOrCreateConstantIndexOp(*this, getLoc(), part);
  };
  for (OpFoldResult size : metadata.getConstifiedMixedSizes())
    flat.sizes.push_back(toValue(size));
  for (OpFoldResult stride : metadata.getConstifiedMixedStrides())
    flat.strides.push_back(toValue(stride));
  // From the first element to the last one.
  Value extent = index(1);
  for (auto [size, stride] : llvm::zip(flat.sizes, flat.strides))
    extent = add(extent, mul(sub(size, index(1)), stride));
  OpFoldResult offset = metadata.getConstifiedMixedOffset();
  auto layout = StridedLayoutAttr::get(
      getContext(), getConstantIntValue(offset).value_or(ShapedType::kDynamic),
      1);
  int64_t size = known(extent).value_or(ShapedType::kDynamic);
  auto flatType =
      MemRefType::get(size, flat.element, layout, type.getMemorySpace());
  flat.memory = memref::ReinterpretCastOp::create(
      *this, flatType, metadata.getBaseBuffer(), offset,
      ArrayRef<OpFoldResult>{getAsOpFoldResult(extent)},
      ArrayRef<OpFoldResult>{getIndexAttr(1)});
  return flat;
}

bool FlatBuffer::hasEqualRows() const {
  if (isContiguous)
    return true;
  for (size_t i = 0; i + 2 < rank(); ++i) {
    auto outer = getConstantIntValue(strides[i]);
    auto inner = getConstantIntValue(strides[i + 1]);
    auto size = getConstantIntValue(sizes[i + 1]);
    if (!outer || !inner || !size || *outer != *inner * *size)
      return false;
  }
  return true;
}

FlatBuffer FlatBuffer::asRows(Value count) const {
  FlatBuffer rows = *this;
  rows.sizes = {count, sizes.back()};
  rows.strides = {strides[rank() - 2], strides.back()};
  return rows;
}

Value KernelBuilder::castBuffer(Value memory, MemRefType type) {
  return createOrFold<memref::CastOp>(type, memory);
}

Value KernelBuilder::loadScalar(Value memory, Value offset) {
  return memref::LoadOp::create(*this, memory, offset);
}

Value KernelBuilder::zeros(int64_t lanes, Type element) {
  auto type = VectorType::get(lanes, element);
  return arith::ConstantOp::create(*this, getZeroAttr(type));
}

Value KernelBuilder::broadcast(Value scalar, int64_t lanes) {
  return vector::BroadcastOp::create(
      *this, VectorType::get(lanes, scalar.getType()), scalar);
}

Value KernelBuilder::multiplyAdd(Value x, Value y, Value z, bool hasFMA) {
  if (hasFMA)
    return vector::FMAOp::create(*this, x, y, z);
  return arith::AddFOp::create(*this, z, arith::MulFOp::create(*this, x, y));
}

Value KernelBuilder::concat(ArrayRef<Value> vectors) {
  if (vectors.size() == 1)
    return vectors.front();
  Value low = concat(vectors.take_front(vectors.size() / 2));
  Value high = concat(vectors.drop_front(vectors.size() / 2));
  int64_t lanes = cast<VectorType>(low.getType()).getNumElements() +
                  cast<VectorType>(high.getType()).getNumElements();
  return vector::ShuffleOp::create(*this, low, high,
                                   llvm::to_vector(llvm::seq(lanes)));
}

/// The powers of two that lanes are read and written in.
static SmallVector<int64_t> getPieces(int64_t valid) {
  SmallVector<int64_t> pieces;
  for (int64_t piece = int64_t(1) << 16; piece > 0; piece /= 2)
    if (valid & piece)
      pieces.push_back(piece);
  return pieces;
}

Value KernelBuilder::loadVector(Value memory, Value offset, int64_t lanes,
                                int64_t valid, Type element) {
  if (valid == lanes)
    return vector::LoadOp::create(*this, VectorType::get(lanes, element),
                                  memory, offset);
  Value vector = zeros(lanes, element);
  int64_t done = 0;
  for (int64_t piece : getPieces(valid)) {
    Value part = vector::LoadOp::create(*this, VectorType::get(piece, element),
                                        memory, add(offset, done));
    vector = vector::InsertStridedSliceOp::create(
        *this, part, vector, ArrayRef<int64_t>{done}, ArrayRef<int64_t>{1});
    done += piece;
  }
  return vector;
}

void KernelBuilder::storeVector(Value vector, Value memory, Value offset,
                                int64_t valid) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  if (valid == lanes) {
    vector::StoreOp::create(*this, vector, memory, offset);
    return;
  }
  int64_t done = 0;
  for (int64_t piece : getPieces(valid)) {
    Value part = vector::ExtractStridedSliceOp::create(
        *this, vector, ArrayRef<int64_t>{done}, ArrayRef<int64_t>{piece},
        ArrayRef<int64_t>{1});
    vector::StoreOp::create(*this, part, memory, add(offset, done));
    done += piece;
  }
}

void KernelBuilder::checkSpan(Value memory, Value first, Value last) {
  if (!checksPointers())
    return;
  Value size = memref::DimOp::create(*this, memory, 0);
  for (Value offset : {first, last}) {
    // Negative offsets are large when taken as unsigned.
    Value inside =
        arith::CmpIOp::create(*this, arith::CmpIPredicate::ult, offset, size);
    std::string text =
        "node '" + nodeOf(getLoc()) + "': access out of a buffer's bounds";
    cf::AssertOp::create(*this, inside, getStringAttr(text));
  }
}

static Value movePointer(KernelBuilder &b, Value pointer, Type element,
                         int64_t count) {
  return LLVM::GEPOp::create(
      b, pointer.getType(), element, pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(count)});
}

static Value hide(KernelBuilder &b, Value pointer) {
  return LLVM::LaunderInvariantGroupOp::create(b, pointer.getType(), pointer);
}

Value KernelBuilder::hiddenPointer(Value memory, Value offset) {
  auto type = cast<MemRefType>(memory.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(*this, memory);
  Value start = memref::ExtractAlignedPointerAsIndexOp::create(*this, memory);
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  Value distance = mul(add(metadata.getOffset(), offset), bytes);
  Value address =
      arith::IndexCastOp::create(*this, getI64Type(), add(start, distance));
  auto pointer = LLVM::LLVMPointerType::get(getContext());
  return hide(*this, LLVM::IntToPtrOp::create(*this, pointer, address));
}

Value KernelBuilder::hiddenPointer(Value pointer, Type element, int64_t count) {
  return hide(*this, movePointer(*this, pointer, element, count));
}

Value KernelBuilder::hiddenPointer(Value pointer, Type element, Value count) {
  return hide(*this,
              LLVM::GEPOp::create(*this, pointer.getType(), element, pointer,
                                  ArrayRef<LLVM::GEPArg>{count}));
}

Value KernelBuilder::loadBehind(Value pointer, Type element, int64_t count,
                                Type type) {
  return LLVM::LoadOp::create(*this, type,
                              movePointer(*this, pointer, element, count),
                              element.getIntOrFloatBitWidth() / 8);
}

void KernelBuilder::storeAt(Value vector, Value pointer) {
  Type element = cast<VectorType>(vector.getType()).getElementType();
  LLVM::StoreOp::create(*this, vector, pointer,
                        element.getIntOrFloatBitWidth() / 8);
}

void KernelBuilder::prefetch(Value memory, Value offset, bool isWrite) {
  memref::PrefetchOp::create(*this, memory, offset, isWrite, /*localityHint=*/3,
                             /*isDataCache=*/true);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

Value KernelBuilder::repeatOnVectors(Region &region, ArrayRef<Value> arguments,
                                     int64_t lanes, Value result) {
  IRMapping mapping;
  Block &block = region.front();
  if (!result)
    result = cast<onnxq::YieldOp>(block.getTerminator()).getValue();
  mapping.map(block.getArguments(), arguments);
  auto lookUp = [&](Value value) {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    // From outside of the kernel.
    Value vector = broadcast(value, lanes);
    mapping.map(value, vector);
    return vector;
  };
  for (Operation &op : block.without_terminator()) {
    if (mapping.contains(result))
      break;
    Attribute constant;
    if (matchPattern(&op, m_Constant(&constant))) {
      auto type = VectorType::get(lanes, op.getResult(0).getType());
      Value splat = arith::ConstantOp::create(
          *this, DenseElementsAttr::get(type, constant));
      mapping.map(op.getResult(0), splat);
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(lookUp(operand));
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      types.push_back(VectorType::get(lanes, type));
    OperationState state(getLoc(), op.getName(), operands, types,
                         op.getAttrs());
    mapping.map(op.getResults(), create(state)->getResults());
  }
  return lookUp(result);
}

//===----------------------------------------------------------------------===//
// Zeros
//===----------------------------------------------------------------------===//

Value kernels::callIntrinsic(OpBuilder &b, Location loc, StringRef name,
                             Type result, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, loc, result, b.getStringAttr(name),
                                       operands)
      .getResults();
}

Value kernels::getZeros(KernelBuilder &b, Operation *op, int64_t count,
                        Type element) {
  auto module = op->getParentOfType<ModuleOp>();
  // Few sizes, so that kernels share them.
  int64_t size = llvm::PowerOf2Ceil(std::max<int64_t>(count, 64));
  std::string name;
  llvm::raw_string_ostream(name) << "onnxq_zeros_" << size << "x" << element;
  auto type = MemRefType::get(size, element);
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto data = DenseElementsAttr::get(RankedTensorType::get(size, element),
                                       b.getZeroAttr(element));
    memref::GlobalOp::create(b, name, b.getStringAttr("private"), type, data,
                             /*constant=*/true, b.getI64IntegerAttr(64));
  }
  return memref::GetGlobalOp::create(b, type, name);
}
