// Kernels: what the ops have in common, and their verifiers.

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnxq;

#include "OnnxQuant/Dialect/ONNXQ/KernelOpInterface.cpp.inc"

Type onnxquant::onnxq::getRegionType(Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return IntegerType::get(elementType.getContext(), integer.getWidth());
  return elementType;
}

bool onnxquant::onnxq::isElementwise(Region &region) {
  return llvm::all_of(region.front().without_terminator(), [](Operation &op) {
    return op.hasTrait<OpTrait::ConstantLike>() ||
           OpTrait::hasElementwiseMappableTraits(&op);
  });
}

int64_t onnxquant::onnxq::countWindows(int64_t input, int64_t kernel,
                                       int64_t stride, int64_t dilation,
                                       int64_t pads) {
  int64_t extent = (kernel - 1) * dilation + 1;
  return input + pads < extent ? 0 : (input + pads - extent) / stride + 1;
}

/// Whether sizes are the same as far as both are known.
static bool mayEqual(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

//===----------------------------------------------------------------------===//
// KernelOpInterface
//===----------------------------------------------------------------------===//

static LogicalResult verifyEpilogueOperand(KernelOpInterface op, AffineMap map,
                                           ShapedType operand, size_t number) {
  ShapedType output = op.getOutputType();
  if (map.getNumDims() != output.getRank() || map.getNumSymbols() != 0 ||
      !map.isProjectedPermutation(/*allowZeroInResults=*/true))
    return op->emitOpError("expects a map from ")
           << output.getRank()
           << " dimensions to some of them for epilogue operand " << number
           << ", but got " << AffineMapAttr::get(map) << " [K1]";
  if (static_cast<int64_t>(map.getNumResults()) != operand.getRank())
    return op->emitOpError("expects epilogue operand ")
           << number << " to have " << map.getNumResults()
           << " dimensions, but got " << operand << " [K2]";
  for (auto [expr, size] : llvm::zip(map.getResults(), operand.getShape())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    int64_t expected = dim ? output.getDimSize(dim.getPosition()) : 1;
    if (!mayEqual(size, expected))
      return op->emitOpError("expects size ")
             << expected << " in epilogue operand " << number << ", but got "
             << operand << " [K2]";
  }
  return success();
}

static LogicalResult verifyEpilogue(KernelOpInterface op) {
  Block &block = op.getEpilogue().front();
  OperandRange epilogueOperands = op.getEpilogueOperands();
  if (block.getNumArguments() != epilogueOperands.size() + 1)
    return op->emitOpError("expects the epilogue to take ")
           << epilogueOperands.size() + 1 << " arguments, but got "
           << block.getNumArguments() << " [K3]";
  for (auto [number, operand] : llvm::enumerate(epilogueOperands)) {
    Type expected =
        getRegionType(cast<ShapedType>(operand.getType()).getElementType());
    Type type = block.getArgument(number + 1).getType();
    if (type != expected)
      return op->emitOpError("expects argument ")
             << number + 1 << " of the epilogue to be " << expected
             << ", but got " << type << " [K3]";
  }
  auto yield = dyn_cast<YieldOp>(block.back());
  Type expected = getRegionType(op.getOutputType().getElementType());
  if (!yield || yield.getValue().getType() != expected)
    return op->emitOpError("expects the epilogue to yield ")
           << expected << " [K4]";
  if (!isElementwise(op.getEpilogue()))
    return op->emitOpError(
        "expects an epilogue that computes element by element [K5]");
  return success();
}

static LogicalResult verifyWindow(KernelOpInterface op) {
  size_t rank = op.getKernel().size();
  auto isPositive = [](int64_t x) { return x > 0; };
  if (op.getStrides().size() != rank || op.getDilations().size() != rank ||
      op.getPads().size() != 2 * rank ||
      !llvm::all_of(op.getKernel(), isPositive) ||
      !llvm::all_of(op.getStrides(), isPositive) ||
      !llvm::all_of(op.getDilations(), isPositive) ||
      !llvm::all_of(op.getPads(), [](int64_t x) { return x >= 0; }))
    return op->emitOpError("expects a positive stride and dilation, and two "
                           "pads, per entry of kernel [K6]");
  return success();
}

LogicalResult onnxquant::onnxq::detail::verifyKernel(KernelOpInterface op) {
  SmallVector<AffineMap> maps = op.getMaps();
  if (maps.size() != op.getEpilogueOperands().size())
    return op->emitOpError("expects a map per epilogue operand, but got ")
           << maps.size() << " for " << op.getEpilogueOperands().size()
           << " [K1]";
  for (auto [number, operand] : llvm::enumerate(op.getEpilogueOperands()))
    if (failed(verifyEpilogueOperand(
            op, maps[number], cast<ShapedType>(operand.getType()), number)))
      return failure();
  if (failed(verifyEpilogue(op)))
    return failure();
  return verifyWindow(op);
}

void onnxquant::onnxq::detail::getBlockEffects(
    Operation *op, OpOperand &init,
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    if (&operand == &init)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

LogicalResult PackingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t groups, int64_t k, int64_t n,
                                  int64_t mr, int64_t nr, int64_t step,
                                  PackingKind kind, bool int4, int64_t run) {
  for (int64_t size : {groups, k, n, mr, nr, step})
    if (size < 1)
      return emitError() << "expects positive sizes, but got " << size;
  if (int4 && (kind == PackingKind::Fma || kind == PackingKind::Rows ||
               kind == PackingKind::Quads || kind == PackingKind::Codes ||
               kind == PackingKind::Bytes || kind == PackingKind::Amx))
    return emitError() << "expects a kind of integers with int4, but got "
                       << stringifyEnum(kind);
  bool hasRun = run > 0 && run % step == 0 && k % run == 0;
  if (kind == PackingKind::Amx ? !hasRun : run != 0)
    return emitError() << "expects a run of whole steps that divides k "
                          "with AMX only, but got "
                       << run;
  return success();
}

//===----------------------------------------------------------------------===//
// contract
//===----------------------------------------------------------------------===//

static int64_t dimFromEnd(Value value, int64_t index) {
  auto type = cast<ShapedType>(value.getType());
  return type.getDimSize(type.getRank() - index);
}

int64_t ContractOp::getGroups() {
  if (auto packing = getPackingAttr())
    return packing.getGroups();
  return getBatched() ? 1 : getWeights().getType().getDimSize(0);
}
int64_t ContractOp::getK() {
  if (auto packing = getPackingAttr())
    return packing.getK();
  return dimFromEnd(getWeights(), 2);
}
int64_t ContractOp::getN() {
  if (auto packing = getPackingAttr())
    return packing.getN();
  return dimFromEnd(getWeights(), 1);
}
int64_t ContractOp::getChannels() {
  int64_t taps = std::accumulate(getKernel().begin(), getKernel().end(),
                                 int64_t(1), std::multiplies<>());
  return getK() / taps;
}

void ContractOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  detail::getBlockEffects(*this, getInitMutable(), effects);
}

void ContractOp::build(OpBuilder &builder, OperationState &state,
                       TypeRange results, Value input, Value weights, Value pad,
                       ValueRange epilogueOperands, Value init,
                       ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                       ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads,
                       ArrayAttr epilogueMaps, bool batched, bool inputUnsigned,
                       bool weightsUnsigned, PackingAttr packing) {
  build(builder, state, results, input, weights, /*scales=*/Value(),
        /*zeros=*/Value(), pad, epilogueOperands, init, kernel, strides,
        dilations, pads, epilogueMaps, batched, inputUnsigned, weightsUnsigned,
        packing,
        /*block=*/IntegerAttr());
}

static LogicalResult verifyWeights(ContractOp op) {
  ShapedType input = op.getInput().getType(),
             weights = op.getWeights().getType();
  int64_t rank = weights.getRank(), batches = input.getRank() - 2;
  bool batched = op.getBatched();
  bool fits = true;
  PackingAttr packing = op.getPackingAttr();
  if (packing && packing.getKind() != PackingKind::Rows)
    fits = rank == (batched ? batches + 1 : 1) &&
           !weights.isDynamicDim(rank - 1) &&
           weights.getDimSize(rank - 1) >= packing.getSize();
  else
    fits = rank == (batched ? batches + 2 : 3) &&
           !weights.isDynamicDim(rank - 2) && !weights.isDynamicDim(rank - 1) &&
           (batched || !weights.isDynamicDim(0)) &&
           (!packing || (weights.getDimSize(rank - 2) == packing.getK() &&
                         weights.getDimSize(rank - 1) == packing.getN()));
  if (fits && batched)
    for (int64_t i = 0; i < batches; ++i)
      fits &= mayEqual(weights.getDimSize(i), input.getDimSize(i));
  int64_t channels = input.getDimSize(input.getRank() - 1);
  if (fits && (op.getChannels() * op.getGroups() != channels ||
               op.getK() % std::max<int64_t>(op.getChannels(), 1) != 0))
    fits = false;
  if (!fits)
    return op.emitOpError("expects weights for ")
           << input << ", but got " << weights << " [C2]";
  return success();
}

static LogicalResult verifyOutput(ContractOp op) {
  ShapedType input = op.getInput().getType(), output = op.getInit().getType();
  bool fits = output.getRank() == input.getRank();
  for (int64_t i = 0; fits && i < input.getRank(); ++i) {
    int64_t size = input.getDimSize(i), spatial = i - 1;
    if (i == input.getRank() - 1)
      size = op.getGroups() * op.getN();
    else if (!op.getKernel().empty() && i > 0 && !ShapedType::isDynamic(size))
      size = countWindows(size, op.getKernel()[spatial],
                          op.getStrides()[spatial], op.getDilations()[spatial],
                          op.getPads()[spatial] +
                              op.getPads()[op.getKernel().size() + spatial]);
    int64_t out = output.getDimSize(i);
    bool isWindow = !op.getKernel().empty() && i > 0 && i < input.getRank() - 1;
    fits = mayEqual(size, out) || (isWindow && out < size);
  }
  if (!fits)
    return op.emitOpError("expects an output for ")
           << input << ", but got " << output << " [C3]";
  if (op->getNumResults() > 0 &&
      (op.isOnBuffers() || op->getResult(0).getType() != output))
    return op.emitOpError("expects a result of the destination's type [C3]");
  return success();
}

static bool isKernelElement(Type type) {
  return type.isF32() ||
         (type.isInteger() && (type.getIntOrFloatBitWidth() == 8 ||
                               type.getIntOrFloatBitWidth() == 16));
}

/// Scales and zeros of codes of four bits.
static LogicalResult verifyCodes(ContractOp op) {
  if (!op.getScales() && !op.getZeros() && !op.getBlockAttr())
    return success();
  bool fits = op.getScales() && op.getZeros() && op.getBlockAttr() &&
              op.getInput().getType().getElementType().isF32() &&
              op.getWeights().getType().getElementType().isInteger(8) &&
              op.getKernel().empty() && !op.getBatched() && op.getGroups() == 1;
  PackingAttr packing = op.getPackingAttr();
  fits &= !packing || packing.getKind() == PackingKind::Codes ||
          packing.getKind() == PackingKind::Bytes;
  if (fits) {
    ShapedType scales = op.getScales().getType(),
               zeros = op.getZeros().getType();
    int64_t block = *op.getBlock();
    int64_t columns =
        packing ? packing.getPanels() * packing.getNr() : op.getN();
    fits = block > 0 && scales.getElementType().isF32() &&
           zeros.getElementType().isInteger(8) && scales.hasStaticShape() &&
           zeros.hasStaticShape() && scales.getShape() == zeros.getShape() &&
           scales.getNumElements() == (op.getK() + block - 1) / block * columns;
  }
  if (!fits)
    return op.emitOpError("expects scales and zeros per block of codes for one "
                          "product of floats [C8]");
  return success();
}

LogicalResult ContractOp::verify() {
  ShapedType input = getInput().getType();
  int64_t spatial = getKernel().size();
  if (spatial > 0 ? input.getRank() != spatial + 2
                  : input.getRank() < (getBatched() ? 2 : 1))
    return emitOpError("expects an input of ")
           << (spatial > 0    ? spatial + 2
               : getBatched() ? 2
                              : 1)
           << " dimensions, but got " << input << " [C1]";
  if (spatial > 0 && getBatched())
    return emitOpError("expects no window if it is batched [C7]");
  if (failed(verifyWindow(cast<KernelOpInterface>(getOperation()))) ||
      failed(verifyWeights(*this)) || failed(verifyOutput(*this)))
    return failure();
  Type element = input.getElementType();
  Type accumulator =
      cast<KernelOpInterface>(getOperation()).getAccumulatorType();
  bool isFloat = element.isF32();
  bool isCodes = static_cast<bool>(getScales());
  if (!isKernelElement(element) ||
      (isFloat && !isCodes) !=
          getWeights().getType().getElementType().isF32() ||
      (isFloat ? !accumulator.isF32()
               : !accumulator.isSignlessInteger(32) &&
                     !accumulator.isSignlessInteger(64)))
    return emitOpError("expects f32 or integers of 8 or 16 bits, but got ")
           << element << " times " << getWeights().getType().getElementType()
           << " in " << accumulator << " [C4]";
  if (isFloat && (getInputUnsigned() || getWeightsUnsigned()))
    return emitOpError("expects floats to have no unsigned operands [C5]");
  if (getPad() && getPad().getType() != getRegionType(element))
    return emitOpError("expects pad to be ")
           << getRegionType(element) << ", but got " << getPad().getType()
           << " [C6]";
  return verifyCodes(*this);
}

//===----------------------------------------------------------------------===//
// stage
//===----------------------------------------------------------------------===//

void StageOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  detail::getBlockEffects(*this, getInitMutable(), effects);
}

LogicalResult StageOp::verify() {
  ShapedType input = getInput().getType(), output = getInit().getType();
  int64_t rank = input.getRank();
  if (rank < 2 || output.getRank() != rank)
    return emitOpError("expects two ranks of at least 2, but got ")
           << input << " and " << output << " [C1]";
  ArrayRef<int64_t> pads = getPads();
  if (static_cast<int64_t>(pads.size()) != 2 * (rank - 2) ||
      llvm::any_of(pads, [](int64_t pad) { return pad < 0; }))
    return emitOpError("expects two pads per spatial dimension, but got ")
           << pads.size() << " [C2]";
  for (int64_t i = 0; i < rank; ++i) {
    int64_t size = input.getDimSize(i), out = output.getDimSize(i);
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(out))
      continue;
    if (i > 0 && i < rank - 1)
      size += pads[i - 1] + pads[rank - 2 + i - 1];
    if (i == rank - 1 ? out < size : out != size)
      return emitOpError("expects size ")
             << size << " in dimension " << i << ", but got " << out << " [C3]";
  }
  Block &block = getConversion().front();
  auto yield = dyn_cast<YieldOp>(block.back());
  Type stored = getRegionType(output.getElementType());
  if (block.getNumArguments() != 1 ||
      block.getArgument(0).getType() != getRegionType(input.getElementType()) ||
      !yield || yield.getValue().getType() != stored)
    return emitOpError("expects a region from ")
           << getRegionType(input.getElementType()) << " to " << stored
           << " [C4]";
  if (getPad() && getPad().getType() != stored)
    return emitOpError("expects pad to be ")
           << stored << ", but got " << getPad().getType() << " [C5]";
  return success();
}

//===----------------------------------------------------------------------===//
// pack
//===----------------------------------------------------------------------===//

void PackOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  detail::getBlockEffects(*this, getInitMutable(), effects);
}

LogicalResult PackOp::verify() {
  ShapedType weights = getWeights().getType(), output = getInit().getType();
  int64_t rank = weights.getRank();
  PackingAttr packing = getPacking();
  int64_t k = rank < 2 ? 0 : weights.getDimSize(rank - 2);
  if (rank < 2 || ShapedType::isDynamic(k) || packing.getGroups() != 1 ||
      weights.getDimSize(rank - 1) != packing.getN() || k > packing.getK() ||
      k + packing.getStep() <= packing.getK())
    return emitOpError("expects matrices for ")
           << packing << ", but got " << weights << " [C1]";
  bool fits = output.getRank() == rank - 1 &&
              output.getDimSize(rank - 2) == packing.getSize();
  for (int64_t i = 0; fits && i < rank - 2; ++i)
    fits = mayEqual(weights.getDimSize(i), output.getDimSize(i));
  if (!fits)
    return emitOpError("expects ")
           << packing.getSize() << " elements per matrix of " << weights
           << ", but got " << output << " [C2]";
  Block &block = getConversion().front();
  auto yield = dyn_cast<YieldOp>(block.back());
  Type from = getRegionType(weights.getElementType()),
       to = getRegionType(output.getElementType());
  if (block.getNumArguments() != 1 || block.getArgument(0).getType() != from ||
      !yield || yield.getValue().getType() != to)
    return emitOpError("expects a region from ")
           << from << " to " << to << " [C3]";
  return success();
}

//===----------------------------------------------------------------------===//
// expand
//===----------------------------------------------------------------------===//

void ExpandOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  detail::getBlockEffects(*this, getInitMutable(), effects);
}

int64_t ExpandOp::getFilters() {
  return getWeights().getType().getNumElements() / 9 / getPanels();
}

int64_t ExpandOp::getNumbers() {
  return getInit().getType().getNumElements() / getFilters() / getPanels();
}

LogicalResult ExpandOp::verify() {
  ShapedType weights = getWeights().getType(), output = getInit().getType();
  auto isVector = [](ShapedType type) {
    return type.getRank() == 1 && type.hasStaticShape();
  };
  int64_t panels = getPanels();
  Type element = weights.getElementType();
  if (!isVector(weights) || panels < 1 || weights.getNumElements() == 0 ||
      weights.getNumElements() % (9 * 8 * panels) != 0 ||
      !(element.isSignlessInteger(8) || element.isSignlessInteger(16)))
    return emitOpError("expects filters of ")
           << panels << " panels, but got " << weights << " [C1]";
  int64_t filters = weights.getNumElements() / 9;
  if (!isVector(output) || !output.getElementType().isSignlessInteger(16) ||
      (output.getNumElements() != 16 * filters &&
       output.getNumElements() != 36 * filters))
    return emitOpError("expects 16 or 36 points of i16 for each of ")
           << filters << " filters, but got " << output << " [C2]";
  return success();
}
