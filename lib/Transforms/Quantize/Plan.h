// What is going to be quantized, and how. Every step of the pass reads and
// extends it; the IR changes in the rewriting steps only.

#ifndef ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_PLAN_H
#define ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_PLAN_H

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/QuantizableOpInterface.h"
#include "OnnxQuant/Transforms/Quantize/Report.h"
#include "Settings.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace onnxquant::quantize {

/// Type, scales and zero points of a tensor.
struct Parameters {
  QuantType type;
  ScaleType scaleType = ScaleType::F32;
  /// One, or one per channel, or one per block.
  llvm::SmallVector<ScaleAndZeroPoint, 1> values;
  std::optional<int64_t> axis;
  int64_t blockSize = 0;
  /// The dimensions of the scales; none for a single one.
  llvm::SmallVector<int64_t> shape;

  bool operator==(const Parameters &other) const {
    return type == other.type && values == other.values && axis == other.axis &&
           blockSize == other.blockSize;
  }
};

/// A tensor that is computed at run time.
struct Activation {
  mlir::Value value;
  std::string name;
  /// The operands that will read the quantized numbers.
  llvm::SmallVector<mlir::OpOperand *> uses;
  Parameters parameters;
  /// What a second quantizer makes of it, and the nodes that read that, or all.
  std::optional<Parameters> converted;
  std::optional<std::vector<std::string>> receivers;
  /// The tensor that this one is moved from, and shares constants with.
  mlir::Value source;
  /// Parameters are computed at run time.
  bool dynamic = false;
  /// Parameters are the user's.
  bool given = false;

  /// Whether a user reads what the second quantizer makes.
  bool isConvertedFor(mlir::Operation *user) const;
  const Parameters &parametersFor(mlir::Operation *user) const {
    return isConvertedFor(user) ? *converted : parameters;
  }
};

/// A constant operand. One constant may be several weights, with parameters of
/// their own.
struct Weight {
  mlir::OpOperand *use = nullptr;
  std::string name;
  Parameters parameters;
  /// The weight of a contraction, not just an operand that is constant.
  bool contracted = false;
  bool given = false;
  double sqnr = 0;
};

/// What is added to a contraction's products: its own operand, or that of an
/// Add that follows.
struct Bias {
  mlir::OpOperand *use = nullptr;
  std::string name;
  /// The numbers, corrected if that was asked for; empty if there is no bias.
  llvm::SmallVector<double> numbers;
  /// One or as many as numbers; empty if the bias stays float.
  llvm::SmallVector<double> scales;
  /// The dimensions of the numbers, and the one that is the channel.
  llvm::SmallVector<int64_t> shape;
  /// The numbers differ from those of the model.
  bool changed = false;
  std::optional<double> correction;
};

struct Node {
  /// Null once the op has been replaced.
  mlir::Operation *op;
  mlir::Location location;
  std::string name;
  /// Whether the node may be quantized, and then whether it is.
  bool selected = false;
  bool quantized = false;
  bool excluded = false;
  /// A contraction whose activation stays float.
  bool weightsOnly = false;
  /// No model says how it is quantized: its tensors are, and it stays.
  bool plain = false;
  /// It adds and normalizes rows of tables, which become bytes.
  bool embeds = false;
  std::string reason;
  NodeReport report;

  explicit Node(mlir::Operation *op) : op(op), location(op->getLoc()) {}
};

struct Plan {
  mlir::ModuleOp module;
  const Settings &settings;
  std::vector<Node> nodes;
  llvm::DenseMap<mlir::Operation *, unsigned> nodeIndex;
  llvm::MapVector<mlir::Value, Activation> activations;
  llvm::MapVector<mlir::OpOperand *, Weight> weights;
  /// By contraction.
  llvm::MapVector<mlir::Operation *, Bias> biases;
  /// The settings' entries, and those that follow from them.
  llvm::StringMap<TensorOverride> overrides;
  /// Tensors whose entry goes for another one, too.
  llvm::StringMap<std::string> passedOn;
  /// Further tensors that have one set of parameters.
  std::vector<std::pair<mlir::Value, mlir::Value>> joined;
  /// Tensors that hold a mask; they stay float.
  llvm::DenseSet<mlir::Value> masked;
  /// The model came with quantized ops and stays as it is.
  bool isQuantized = false;
  QuantizeReport report;

  Plan(mlir::ModuleOp module, const Settings &settings)
      : module(module), settings(settings), overrides(settings.overrides) {}

  Node *find(mlir::Operation *op) {
    auto it = nodeIndex.find(op);
    return it == nodeIndex.end() ? nullptr : &nodes[it->second];
  }
  bool isSelected(mlir::Operation *op) {
    Node *node = find(op);
    return node && node->selected;
  }
};

//===----------------------------------------------------------------------===//
// The steps, in order
//===----------------------------------------------------------------------===//

/// Lists all nodes and says which may be quantized; errors for names that don't
/// exist.
llvm::LogicalResult selectNodes(Plan &plan);
/// Why a node's weight can't become codes; empty if it can.
std::string obstacleToCodes(Plan &plan, mlir::Operation *op);
/// Stores the weights of the selected nodes as codes, and nothing else.
llvm::LogicalResult quantizeWeightsOnly(Plan &plan,
                                        const CovarianceSource &source);
/// Divides the channels of a tensor, its last dimension, by factors for some of
/// its readers: in the constants of what makes it, if all others agree, or by
/// a product. Gives the tensor to read instead.
mlir::Value divideChannels(mlir::Value value, llvm::ArrayRef<double> factors,
                           llvm::ArrayRef<mlir::Operation *> readers,
                           bool mayFold = true);
/// Moves outliers of channels from activations into weights.
void smoothChannels(Plan &plan);
/// Finds the tensors that hold an attention mask.
void findMasks(Plan &plan);
/// Chooses the tensors to quantize.
llvm::LogicalResult placeQuantizers(Plan &plan);
/// Takes branches out of the selection that no sample took, with a warning.
/// True if there are some, so that tensors must be chosen anew.
bool leaveUnseenBranches(Plan &plan);
/// Whether a contraction makes factors that whole channels are multiplied with,
/// or the like: one number for each channel, spread over a larger tensor.
bool makesGate(onnx::QuantizableOpInterface contraction);
/// Whether a contraction has a filter for each channel of what it reads.
bool filtersChannels(onnx::QuantizableOpInterface contraction);
/// Finds the tensors that take no more time in float than in 8 bits.
class CheapTensors {
public:
  explicit CheapTensors(Plan &plan);
  /// Whether a contraction reads one of them, so that its weights only are
  /// quantized.
  bool feeds(onnx::QuantizableOpInterface contraction) const;
  /// Whether it is one that a reduction makes a vector of, and that only
  /// elementwise ops read besides: what waits to be multiplied with its gate.
  bool holdsGated(mlir::Value value) const;

private:
  bool contains(mlir::Value value) const;

  Plan &plan;
  /// All products of the model.
  double total = 0;
};
/// Whether a LayerNormalization makes or reads a tensor, which then stays float
/// for all but contractions.
bool staysFloat(const Plan &plan, mlir::Value value);
/// The tensors that one fused region stores for another, without those that
/// only outputs are made from.
llvm::SmallVector<mlir::Value> findStored(Plan &plan);
/// Brings the channels that depthwise convolutions and products of matrices
/// read to similar ranges.
void scaleChannels(Plan &plan);
/// Whether a tensor has one element for each channel of a sample.
bool isVector(mlir::Value value);
/// Gives each activation its parameters; tensors that share numbers share them.
llvm::LogicalResult collectActivations(Plan &plan);
/// Gives each weight its parameters.
llvm::LogicalResult collectWeights(Plan &plan);
/// The integers of a weight.
llvm::SmallVector<int64_t> roundWeight(const Settings &settings,
                                       const Weight &weight);
/// Corrects biases, and makes sure that they fit 32 bits.
llvm::LogicalResult adjustBiases(Plan &plan);
/// Puts quantizers and dequantizers into the graph.
void insertQuantizers(Plan &plan);
/// Stores tables that rows are taken of as bytes.
void storeEmbeddings(Plan &plan);
/// Whether a node is an EmbedLayerNormalization, or where ONNX Runtime's tool
/// is followed a Gather of a constant, whose tables become bytes.
bool isEmbedding(const Settings &settings, mlir::Operation *op);
/// Why it doesn't; empty if it does.
std::string obstacleOfEmbedding(const Settings &settings, mlir::Operation *op);
/// Gives selected ones 8-bit tables.
void quantizeEmbeddings(Plan &plan);
/// Replaces float ops between dequantizers and quantizers by QLinear ops.
void foldToQLinear(Plan &plan);
/// Replaces float products of dequantized numbers by integer products.
void foldToInteger(Plan &plan);
/// Replaces recurrent layers with dequantized weights by ops that quantize.
void foldToDynamic(Plan &plan);
/// Brings a trained model's quantizers to one form: those of ai.onnx, each with
/// a zero point.
void unifyQuantizers(mlir::ModuleOp module);
/// Takes over the quantizers that a model was trained with.
llvm::LogicalResult takeOverQuantizers(Plan &plan);
/// How many products of u8 and s8 may leave 16 bits when two are added.
int64_t countSaturating(mlir::ModuleOp module);
/// Removes what nothing uses any more.
void cleanUp(Plan &plan);
/// Gives nodes and tensors the names that ONNX Runtime's tool gives them.
void renameAsOnnxRuntime(Plan &plan);
/// Why ONNX Runtime's tool leaves a node as it is; empty if it doesn't.
std::string leftByOnnxRuntime(const Settings &settings, llvm::StringRef opType);
/// The number that a Pad fills with, where ONNX Runtime's tool quantizes it.
std::optional<unsigned> quantizedFiller(Plan &plan, mlir::Operation *op);
/// Whether an op's operands and results have one set of parameters.
bool sharesParameters(const Settings &settings,
                      onnx::QuantizableOpInterface op);
/// Whether an op is quantized only where what it reads is; then whether that is
/// so, as `isMarked` tells of a tensor.
bool followsOperands(const Settings &settings, onnx::QuantizableOpInterface op);
bool haveMarkedOperands(const Settings &settings,
                        onnx::QuantizableOpInterface op,
                        llvm::function_ref<bool(mlir::Value)> isMarked);
/// Whether ONNX Runtime's tool quantizes a node that no model knows: one that
/// is listed, or a normalization.
bool isPlainForOnnxRuntime(const Settings &settings, mlir::Operation *op);
/// The operand of such a node that is a weight, and that which is a bias.
std::optional<unsigned> plainWeightOf(mlir::Operation *op);
std::optional<unsigned> plainBiasOf(mlir::Operation *op);
/// Whether such a node moves numbers from its first operand to its first
/// result.
bool movesPlainly(mlir::Operation *op);
/// Fills the report from the plan.
void fillReport(Plan &plan);

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// The ONNX name of a tensor; made from its node's name if it has none.
std::string tensorName(mlir::Value value);
/// The name of a node, or of its operator.
std::string nodeName(mlir::Operation *op);
/// An ONNX operator's type.
llvm::StringRef opTypeOf(mlir::Operation *op);
/// The scale's type that goes with a tensor; none if it isn't float32 or
/// float16.
std::optional<ScaleType> scaleTypeOf(mlir::Value value);
/// The constant that a value is, or null.
mlir::ElementsAttr constantOf(mlir::Value value);
/// All numbers of a constant; none if it can't be read.
std::optional<llvm::SmallVector<double>> numbersOf(mlir::Value value);
/// Whether quantized numbers saturate within the bounds of a clamp, so that it
/// changes none of them.
bool saturatesWithin(const Parameters &parameters,
                     const onnx::RealRange &clamp);
/// Whether a value leaves the main graph.
bool isGraphOutput(mlir::Value value);

/// The index of the parameters of each element.
class ParameterIndex {
public:
  ParameterIndex(llvm::ArrayRef<int64_t> shape, const Parameters &parameters);
  int64_t operator[](int64_t element) const;

private:
  int64_t inner = 1, size = 1, blockSize = 0, blocks = 1;
  bool single = true, blocked = false;
};

/// A constant of integers, with the parameters' type.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           llvm::StringRef name,
                           llvm::ArrayRef<int64_t> numbers,
                           llvm::ArrayRef<int64_t> shape,
                           mlir::Type elementType);
/// A constant of floats.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           llvm::StringRef name, llvm::ArrayRef<double> numbers,
                           llvm::ArrayRef<int64_t> shape,
                           mlir::Type elementType);
/// The type in IR of quantized numbers.
mlir::Type irType(mlir::MLIRContext *context, QuantType type);
/// The quantized type that an IR type is; none for others.
std::optional<QuantType> quantTypeOf(mlir::Type type);
/// Names an op's first result, and the op.
void setNames(mlir::Operation *op, llvm::StringRef node,
              llvm::StringRef tensor);

} // namespace onnxquant::quantize

#endif // ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_PLAN_H
