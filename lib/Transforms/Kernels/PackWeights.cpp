// Chooses register tiles, packs constant weights for them and stages inputs.
// Enters and leaves: kernels on tensors. Nothing is packed at run time that is
// known now.

#include "ContractShape.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Transforms/Kernels/Passes.h"
#include "PackIntegers.h"
#include "RegisterTile.h"
#include "StagedInput.h"
#include "Windows/PackWindows.h"
#include "Winograd/Winograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/Debug.h"
#include <cstring>

#define DEBUG_TYPE "onnxq-pack-weights"

namespace onnxquant {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "OnnxQuant/Transforms/Kernels/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnxq;

/// The f32 elements of a constant; none if they have no plain form.
static std::optional<std::vector<float>> readFloats(Value value) {
  ElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) ||
      !elements.getElementType().isF32())
    return std::nullopt;
  std::vector<float> floats(elements.getNumElements());
  size_t size = floats.size() * sizeof(float);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != size)
      return std::nullopt;
    std::memcpy(floats.data(), blob->getData().data(), size);
    return floats;
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense)
    return std::nullopt;
  if (dense.isSplat())
    std::fill(floats.begin(), floats.end(), dense.getSplatValue<float>());
  else
    std::memcpy(floats.data(), dense.getRawData().data(), size);
  return floats;
}

/// [groups, depth, columns] in the packing's order.
static std::vector<float> pack(ArrayRef<float> weights, PackingAttr packing) {
  int64_t depth = packing.getK(), columns = packing.getN();
  int64_t nr = packing.getNr();
  std::vector<float> packed(packing.getSize(), 0.0f);
  float *to = packed.data();
  for (int64_t g = 0; g < packing.getGroups(); ++g)
    for (int64_t panel = 0; panel < packing.getPanels(); ++panel)
      for (int64_t k = 0; k < depth; ++k, to += nr) {
        int64_t first = panel * nr;
        int64_t count = std::min(nr, columns - first);
        std::memcpy(to, weights.data() + (g * depth + k) * columns + first,
                    count * sizeof(float));
      }
  return packed;
}

static Value makePacked(ImplicitLocOpBuilder &b, ArrayRef<float> packed) {
  auto type = RankedTensorType::get(static_cast<int64_t>(packed.size()),
                                    b.getF32Type());
  ArrayRef<char> bytes(reinterpret_cast<const char *>(packed.data()),
                       packed.size() * sizeof(float));
  auto elements = DenseResourceElementsAttr::get(
      type, "packed", HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64));
  return arith::ConstantOp::create(b, elements);
}

/// Whether a contraction has weights that are packed now.
static bool isKnown(ContractOp op) {
  return !op.getBatched() && matchPattern(op.getWeights(), m_Constant());
}

/// Frees the elements of a constant that was packed: nothing else reads them.
static void release(Operation *constant) {
  DenseResourceElementsAttr elements;
  if (!constant->use_empty() || !matchPattern(constant, m_Constant(&elements)))
    return;
  auto module = constant->getParentOfType<ModuleOp>();
  constant->erase();
  bool isUsed = false;
  module.walk(
      [&](arith::ConstantOp other) { isUsed |= other.getValue() == elements; });
  // Only what was made for kernels: a model's own elements may be read again.
  if (!isUsed && elements.getRawHandle().getKey().starts_with("weights"))
    elements.getRawHandle().getResource()->setBlob(AsmResourceBlob());
}

namespace {
struct PackWeights : public onnxquant::impl::PackWeightsBase<PackWeights> {
  using PackWeightsBase::PackWeightsBase;
  void runOnOperation() override {
    TargetInfo target = getTargetInfo(getOperation());
    cache.clear();
    packedConstants.clear();
    SmallVector<ContractOp> contracts;
    getOperation().walk([&](ContractOp op) { contracts.push_back(op); });
    for (ContractOp op : contracts) {
      if (op.getPackingAttr())
        continue;
      if (op.getInput().getType().getElementType().isInteger()) {
        FailureOr<bool> staged =
            isKnown(op) ? kernels::packIntegers(op, target, winograd)
                        : FailureOr(kernels::packActivations(op, target));
        if (failed(staged))
          return signalPassFailure();
        ++numPacked;
        numStaged += *staged;
        continue;
      }
      if (op.getScales()) {
        if (failed(kernels::packCodes(op, target)))
          return signalPassFailure();
        ++numPacked;
        continue;
      }
      packFloats(op, target);
      bool isPadded =
          llvm::any_of(op.getPads(), [](int64_t pad) { return pad > 0; });
      if (isPadded && op.getChannels() < kernels::tuning::minRunOfFloats) {
        kernels::stageInput(op, op.getInput().getType().getShape().back(), {});
        ++numStaged;
      }
    }
    SmallVector<WindowOp> windows;
    getOperation().walk([&](WindowOp op) { windows.push_back(op); });
    for (WindowOp op : windows)
      if (op.getKind() == WindowKind::MulAdd && !op.getPacked())
        numPacked += kernels::packWindow(op, target);
    for (Operation *constant : packedConstants)
      release(constant);
  }

private:
  void packFloats(ContractOp op, const TargetInfo &target) {
    std::optional<std::vector<float>> weights;
    if (!op.getBatched())
      weights = readFloats(op.getWeights());
    bool isTransformed = weights && winograd && kernels::suitsWinograd(op);
    kernels::ContractShape shape = kernels::getContractShape(op);
    if (isTransformed)
      shape.m = kernels::countWinogradTiles(op, kernels::WinogradTile());
    kernels::RegisterTile tile = kernels::chooseTile(target, shape.m, shape.n);
    PackingKind kind = isTransformed ? PackingKind::Winograd
                       : weights     ? PackingKind::Fma
                                     : PackingKind::Rows;
    LLVM_DEBUG(llvm::dbgs()
               << op.getLoc() << ": m = " << shape.m.value_or(-1)
               << ", n = " << shape.n << ": " << stringifyPackingKind(kind)
               << " of " << tile.rows << "x" << tile.columns << "\n");
    auto packing =
        PackingAttr::get(op.getContext(), op.getGroups(), op.getK(), op.getN(),
                         tile.rows, tile.columns, /*step=*/1, kind);
    if (weights) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      Value &packed = cache[{op.getWeights(), packing}];
      if (!packed) {
        // Where the weights stand, so that it dominates all of their users.
        b.setInsertionPointAfterValue(op.getWeights());
        packed = makePacked(b, isTransformed
                                   ? kernels::packWinograd(*weights, packing)
                                   : pack(*weights, packing));
      }
      packedConstants.insert(op.getWeights().getDefiningOp());
      op.getWeightsMutable().set(packed);
      ++numPacked;
    }
    op.setPackingAttr(packing);
  }

  /// Weights that several contractions share are packed once.
  DenseMap<std::pair<Value, Attribute>, Value> cache;
  llvm::SetVector<Operation *> packedConstants;
};
} // namespace
