// Convolutions and matrix products with constant weights, as one kind of thing:
// a per-channel scaling of their output or input becomes part of the weights.

#ifndef ONNXQUANT_LIB_TRANSFORMS_PREPROCESS_CONTRACTION_H
#define ONNXQUANT_LIB_TRANSFORMS_PREPROCESS_CONTRACTION_H

#include "OnnxQuant/Transforms/Utils/Rewriting.h"

namespace onnxquant::preprocess {

using namespace rewriting;

/// x * scale + shift, per channel: one element for all of them, or one each.
struct ChannelAffine {
  std::vector<double> scale = {1.0};
  std::vector<double> shift = {0.0};

  double scaleOf(size_t channel) const {
    return scale[scale.size() == 1 ? 0 : channel];
  }
  double shiftOf(size_t channel) const {
    return shift[shift.size() == 1 ? 0 : channel];
  }
  bool hasShift() const {
    return llvm::any_of(shift, [](double value) { return value != 0; });
  }
};

/// The elements of a constant that broadcasts against a tensor of rank `rank`
/// along its channels (axis 1) only: one element, or one per channel.
std::optional<std::vector<double>>
readPerChannel(mlir::Value constant, int64_t rank, int64_t channels);

/// The affine map of a BatchNormalization with constant statistics.
mlir::FailureOr<ChannelAffine> matchBatchNorm(mlir::PatternRewriter &rewriter,
                                              onnx::BatchNormalizationOp norm);

/// A Conv, ConvTranspose or Gemm whose weights, and bias if it has one, are
/// constant.
class Contraction {
public:
  /// Fails, with the reason, where `op` is something else.
  static mlir::FailureOr<Contraction> match(mlir::PatternRewriter &rewriter,
                                            mlir::Operation *op);

  int64_t getRank() const { return rank; }
  int64_t getChannels() const { return channels; }
  int64_t getInputChannels() const;

  /// Changes the weights so that the output is scaled and shifted.
  void scaleOutput(const ChannelAffine &affine);
  /// Changes the weights so that the input need not be scaled and shifted any
  /// more. Fails where a shift would be wrong at the padded border.
  llvm::LogicalResult scaleInput(const ChannelAffine &affine);

  /// Builds the op with its new weights where `last` is, over `input`. Its
  /// result takes over the names of those of `last`; a new bias that of
  /// `newBias`. Fails if a weight is no finite number any more; nothing has
  /// been built then.
  mlir::FailureOr<mlir::Operation *> rebuild(mlir::PatternRewriter &rewriter,
                                             mlir::Operation *last,
                                             mlir::Value input,
                                             mlir::Value newBias = {});

private:
  explicit Contraction(mlir::Operation *op) : op(op) {}
  llvm::LogicalResult readBias(mlir::PatternRewriter &rewriter);
  bool isPadded() const;
  bool isTransB() const;
  int64_t getGroup() const;
  /// The channel of the output and of the input that a weight connects.
  std::pair<int64_t, int64_t> channelsOf(int64_t index) const;

  mlir::Operation *op;
  int64_t rank = 0, channels = 0;
  double alpha = 1;
  Weights weights;
  /// One per output channel; empty where there is none.
  std::vector<double> bias;
};

/// Makes an elementwise op with one constant operand part of the contraction
/// that makes the other, if nothing else reads that. `makeAffine` gets the
/// constant, per channel, and whether it is the second operand.
llvm::LogicalResult fuseIntoProducer(
    mlir::PatternRewriter &rewriter, mlir::Operation *op,
    llvm::function_ref<std::optional<ChannelAffine>(std::vector<double>, bool)>
        makeAffine);

} // namespace onnxquant::preprocess

#endif // ONNXQUANT_LIB_TRANSFORMS_PREPROCESS_CONTRACTION_H
