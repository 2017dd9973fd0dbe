// Loops that quantize: elementwise ops that end in a byte, in vectors that are
// narrowed together. Enters: `linalg.generic` on buffers. Leaves: loops over
// vectors.
//
// What runs along all operands without gaps is one long row; rows are steps of
// their own where an operand is spread over them (the factors of channels).

#include "LowerKernels.h"
#include "RoundedEpilogue.h"
#include "Tuning.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// Elements of vectors that AVX2 narrows, and the shortest row.
static constexpr int64_t narrowed = 32, shortest = 8;

namespace {
class QuantizerLowering {
public:
  QuantizerLowering(linalg::GenericOp op, const RoundedEpilogue &rounded)
      : op(op), rounded(rounded), b(op.getLoc(), op),
        widths({narrowed, shortest, 1}) {
    if (rounded.hasAVX512)
      widths.insert(widths.begin(), 2 * narrowed);
  }
  bool lower();

private:
  struct Operand {
    FlatBuffer buffer;
    /// Its step along each dimension of the loops: zero where it is spread.
    SmallVector<int64_t> steps;
  };

  bool takeOperand(Value buffer, AffineMap map);
  int64_t mergeRows();
  void emitRow(ArrayRef<Value> offsets, Value first, Value count);
  void emitVector(ArrayRef<Value> offsets, Value at, int64_t lanes);

  linalg::GenericOp op;
  const RoundedEpilogue &rounded;
  KernelBuilder b;
  /// Elements of vectors, the longest first.
  SmallVector<int64_t> widths;
  SmallVector<int64_t> sizes;
  /// The inputs, and the output behind them.
  SmallVector<Operand> operands;
};
} // namespace

/// Whether the body computes each element by itself.
static bool isElementwise(Block &body) {
  return llvm::all_of(body.without_terminator(), [](Operation &op) {
    return matchPattern(&op, m_Constant()) || isa<onnxq::EntryOp>(op) ||
           (OpTrait::hasElementwiseMappableTraits(&op) &&
            llvm::all_of(op.getOperandTypes(),
                         [](Type type) { return type.isIntOrFloat(); }));
  });
}

/// Takes a buffer whose elements lie next to each other along the last
/// dimension, or that is spread over it.
bool QuantizerLowering::takeOperand(Value value, AffineMap map) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type || !type.hasStaticShape())
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::is_contained(strides, ShapedType::kDynamic))
    return false;
  Operand operand;
  operand.steps.assign(sizes.size(), 0);
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      operand.steps[dim.getPosition()] += strides[i];
    else if (!isa<AffineConstantExpr>(expr) ||
             cast<AffineConstantExpr>(expr).getValue() != 0)
      return false;
  }
  if (operand.steps.back() > 1)
    return false;
  operand.buffer = b.flatten(value);
  operands.push_back(std::move(operand));
  return true;
}

/// The length of rows: as many of the last dimensions as are one for all
/// operands, which the sizes are left without.
int64_t QuantizerLowering::mergeRows() {
  int64_t length = sizes.pop_back_val();
  while (!sizes.empty()) {
    size_t dim = sizes.size() - 1;
    bool isOne = llvm::all_of(operands, [&](const Operand &operand) {
      return sizes[dim] == 1 ||
             operand.steps[dim] == operand.steps.back() * length;
    });
    if (!isOne)
      break;
    length *= sizes.pop_back_val();
  }
  return length;
}

/// `lanes` elements from `at` on, of the row that begins at `offsets`.
void QuantizerLowering::emitVector(ArrayRef<Value> offsets, Value at,
                                   int64_t lanes) {
  SmallVector<Value> arguments;
  for (auto [operand, offset] : llvm::zip(operands, offsets)) {
    const FlatBuffer &from = operand.buffer;
    arguments.push_back(
        operand.steps.back() == 0
            ? b.broadcast(b.loadScalar(from.memory, offset), lanes)
            : b.loadVector(from.memory, b.add(offset, at), lanes, lanes,
                           from.element));
  }
  Value values =
      b.repeatOnVectors(op.getRegion(), arguments, lanes, rounded.value);
  b.storeVector(emitRounded(b, rounded, values), operands.back().buffer.memory,
                b.add(offsets.back(), at), lanes);
}

/// Vectors, shorter ones, and single elements at the end.
void QuantizerLowering::emitRow(ArrayRef<Value> offsets, Value first,
                                Value count) {
  for (int64_t lanes : widths) {
    Value iterations = b.div(count, b.index(lanes));
    Value from = first;
    if (KernelBuilder::known(iterations) != 0)
      b.repeat(iterations, [&](Value i) {
        emitVector(offsets, b.add(from, b.mul(i, lanes)), lanes);
      });
    Value done = b.mul(iterations, lanes);
    first = b.add(first, done);
    count = b.sub(count, done);
  }
}

bool QuantizerLowering::lower() {
  sizes = op.getStaticLoopRanges();
  if (sizes.empty() || llvm::is_contained(sizes, ShapedType::kDynamic) ||
      llvm::is_contained(sizes, 0))
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [operand, map] : llvm::zip(op->getOperands(), maps))
    if (!takeOperand(operand, map))
      return false;
  int64_t length = mergeRows();
  if (length < shortest)
    return false;
  SmallVector<Value> counts;
  for (int64_t size : sizes)
    counts.push_back(b.index(size));
  // A single row is cut.
  int64_t step =
      sizes.empty() ? std::min(tuning::chunkElements, length) : length;
  counts.push_back(b.index(llvm::divideCeil(length, step)));
  b.grid(counts, [&](ArrayRef<Value> at) {
    SmallVector<Value> offsets;
    for (const Operand &operand : operands) {
      Value offset = b.index(0);
      for (auto [i, position] : llvm::enumerate(at.drop_back()))
        offset = b.add(offset, b.mul(position, operand.steps[i]));
      offsets.push_back(offset);
    }
    Value first = b.mul(at.back(), step);
    emitRow(offsets, first,
            b.min(b.index(step), b.sub(b.index(length), first)));
  });
  return true;
}

bool kernels::lowerQuantizerLoop(linalg::GenericOp op,
                                 const TargetInfo &target) {
  // Elsewhere the compiler behind narrows vectors as well.
  if (!target.hasAVX2 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 || !op.hasPureBufferSemantics())
    return false;
  Block &body = *op.getBody();
  auto type = dyn_cast<MemRefType>(op.getDpsInits()[0].getType());
  Value result = body.getTerminator()->getOperand(0);
  if (!type || !type.getElementType().isInteger(8) ||
      !op.getIndexingMapsArray().back().isIdentity() ||
      result.getParentBlock() != &body || !isElementwise(body))
    return false;
  std::optional<RoundedEpilogue> rounded = matchRounded(result, target);
  if (!rounded || rounded->value.getParentBlock() != &body)
    return false;
  return QuantizerLowering(op, *rounded).lower();
}
