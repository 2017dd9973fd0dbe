// Weights of few bits in blocks, and nothing else: MatMul and Gemm become
// MatMulNBits, or a dequantizer of blocks stands before them; a Gather of rows
// becomes GatherBlockQuantized. Names and layouts are those of ONNX Runtime's
// tool.
//
// Where an algorithm reads samples, products are taken in stages, so that the
// covariances of a stage fit a bound; later stages see what earlier ones left.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Transforms/Quantize/BlockCodes.h"
#include "Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

/// The most that covariances of one stage take, unless one alone takes more.
static constexpr int64_t stageBytes = int64_t(512) << 20;

static bool isNone(Value value) { return isa<NoneType>(value.getType()); }

/// What becomes codes: the right side of a product, or a Gather's table.
static Value weightOf(Operation *op) {
  return op->getOperand(isa<GatherOp>(op) ? 0 : 1);
}

static RankedTensorType weightType(Operation *op) {
  return dyn_cast<RankedTensorType>(weightOf(op).getType());
}

/// How many weights a product sums.
static int64_t depthOf(Operation *op) {
  RankedTensorType type = weightType(op);
  auto gemm = dyn_cast<GemmOp>(op);
  bool isTurned = gemm && gemm.getTransB() != 0;
  return type.getDimSize(type.getRank() - (isTurned ? 1 : 2));
}

/// A Gemm's addend as MatMulNBits takes it: one number for each column.
static bool isBiasVector(Value value, int64_t columns) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getShape() == ArrayRef<int64_t>(columns);
}

static std::string obstacleOfGemm(GemmOp op, bool asPairs) {
  if (asPairs)
    return "";
  if (op.getTransA() != 0)
    return "MatMulNBits doesn't transpose its input";
  int64_t columns = weightType(op).getDimSize(op.getTransB() != 0 ? 0 : 1);
  if (!isNone(op.getC()) &&
      (!isBiasVector(op.getC(), columns) || !op.getBeta().isExactlyValue(1.0)))
    return "MatMulNBits adds a vector with a number for each column only";
  return "";
}

/// Tables are large and lose more than products do: only who lists the operator
/// gets them as codes.
static std::string obstacleOfGather(Plan &plan, GatherOp op) {
  const WeightOnly &settings = *plan.settings.weightOnly;
  if (!llvm::is_contained(plan.settings.opTypes, "Gather"))
    return "tables of Gather become codes where op-types-to-quantize lists it";
  if (settings.bits != 4)
    return "GatherBlockQuantized has codes of 4 bits";
  if (settings.algorithm == Algorithm::HalfQuadratic)
    return "GatherBlockQuantized has no zero points that are real numbers";
  if (weightType(op).getRank() != 2 || op.getAxis() != 0)
    return "it doesn't take rows of a matrix";
  return "";
}

std::string quantize::obstacleToCodes(Plan &plan, Operation *op) {
  const WeightOnly &settings = *plan.settings.weightOnly;
  if (!isa<MatMulOp, GemmOp, GatherOp>(op))
    return "weight-only is for MatMul, Gemm and Gather";
  if (!isa<func::FuncOp>(op->getParentOp()) && !plan.settings.enableSubgraph)
    return "it is part of a subgraph, and enable-subgraph is false";
  Value weight = weightOf(op);
  if (!constantOf(weight))
    return "its weight is not constant";
  if (!scaleTypeOf(weight))
    return "its numbers are not float32 or float16";
  RankedTensorType type = weightType(op);
  if (!type || type.getRank() < 2 || type.getNumElements() == 0)
    return "its weight is no matrix";
  if (auto gemm = dyn_cast<GemmOp>(op))
    return obstacleOfGemm(gemm, settings.asPairs);
  if (auto gather = dyn_cast<GatherOp>(op))
    return obstacleOfGather(plan, gather);
  // Ones in front change nothing where the input has as many dimensions.
  auto input = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  ArrayRef<int64_t> batch = type.getShape().drop_back(2);
  if (!batch.empty() &&
      (settings.asPairs ||
       !llvm::all_of(batch, [](int64_t d) { return d == 1; }) || !input ||
       input.getRank() < type.getRank()))
    return "its weight has more than two dimensions";
  return "";
}

namespace {

/// A matrix that becomes codes: [rows, depth], a row for each output.
struct Matrix {
  int64_t rows = 0, depth = 0;
  std::vector<float> numbers;
};

class WeightCoder {
public:
  WeightCoder(Plan &plan, const CovarianceSource &source)
      : plan(plan), settings(*plan.settings.weightOnly), source(source),
        builder(plan.module.getContext()) {}
  LogicalResult run();

private:
  FailureOr<Matrix> read(Node &node);
  /// Nodes that read the same tensor.
  using Group = std::vector<Node *>;
  LogicalResult codeByWeights(Node &node);
  LogicalResult codeStage(ArrayRef<Group> groups);
  LogicalResult codeGroup(const Group &group, const Covariance &inputs);
  BlockSpec specOf(Node &node) const;
  void replace(Node &node, const Matrix &matrix, const BlockCodes &codes);
  void replaceProduct(Node &node, const BlockCodes &codes);
  void replaceGather(Node &node, const BlockCodes &codes);
  void dequantize(Node &node, const BlockCodes &codes);

  std::string uniqueName(const std::string &name);
  Value packed(Node &node, const std::string &name, ArrayRef<uint8_t> bytes,
               ArrayRef<int64_t> shape);
  Value reals(Node &node, const std::string &name, ArrayRef<float> numbers,
              ArrayRef<int64_t> shape);
  Value codes(Node &node, const std::string &name, ArrayRef<int64_t> numbers,
              ArrayRef<int64_t> shape);
  IntegerAttr integer(int64_t value) {
    return builder.getIntegerAttr(builder.getIntegerType(64, true), value);
  }

  Plan &plan;
  const WeightOnly &settings;
  const CovarianceSource &source;
  OpBuilder builder;
  llvm::StringSet<> names;
};

} // namespace

BlockSpec WeightCoder::specOf(Node &node) const {
  Value weight = weightOf(node.op);
  return {settings.bits, settings.blockSize, settings.symmetric,
          scaleTypeOf(weight) == ScaleType::F16};
}

/// The weight as [N, K]; alpha is part of it.
FailureOr<Matrix> WeightCoder::read(Node &node) {
  Value weight = weightOf(node.op);
  auto numbers = numbersOf(weight);
  if (!numbers)
    return node.op->emitError("the weight '")
           << tensorName(weight) << "' can't be read";
  for (double number : *numbers)
    if (!std::isfinite(number))
      return node.op->emitError("the weight '")
             << tensorName(weight)
             << "' has a value that isn't finite; leave the node out with "
                "nodes-to-exclude";
  ArrayRef<int64_t> shape = weightType(node.op).getShape();
  Matrix matrix;
  matrix.numbers.assign(numbers->begin(), numbers->end());
  matrix.depth = shape.back();
  matrix.rows = static_cast<int64_t>(numbers->size()) / matrix.depth;
  auto gemm = dyn_cast<GemmOp>(node.op);
  if (gemm && !settings.asPairs)
    for (float &number : matrix.numbers)
      number *= gemm.getAlpha().convertToFloat();
  if ((gemm && gemm.getTransB() != 0) || isa<GatherOp>(node.op))
    return matrix;
  Matrix turned{matrix.depth, matrix.rows, std::vector<float>(numbers->size())};
  for (int64_t k = 0; k < turned.depth; ++k)
    for (int64_t n = 0; n < turned.rows; ++n)
      turned.numbers[n * turned.depth + k] =
          matrix.numbers[k * turned.rows + n];
  return turned;
}

//===----------------------------------------------------------------------===//
// What is written
//===----------------------------------------------------------------------===//

std::string WeightCoder::uniqueName(const std::string &name) {
  std::string result = name;
  for (int64_t i = 1; !names.insert(result).second; ++i)
    result = name + "_" + std::to_string(i);
  return result;
}

Value WeightCoder::packed(Node &node, const std::string &name,
                          ArrayRef<uint8_t> bytes, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> numbers(bytes.begin(), bytes.end());
  return createConstant(builder, node.location, uniqueName(name), numbers,
                        shape, irType(builder.getContext(), {8, false}));
}

Value WeightCoder::reals(Node &node, const std::string &name,
                         ArrayRef<float> numbers, ArrayRef<int64_t> shape) {
  SmallVector<double> doubles(numbers.begin(), numbers.end());
  Value weight = weightOf(node.op);
  return createConstant(builder, node.location, uniqueName(name), doubles,
                        shape, getElementTypeOrSelf(weight.getType()));
}

Value WeightCoder::codes(Node &node, const std::string &name,
                         ArrayRef<int64_t> numbers, ArrayRef<int64_t> shape) {
  return createConstant(
      builder, node.location, uniqueName(name), numbers, shape,
      irType(builder.getContext(), {settings.bits, settings.symmetric}));
}

/// Codes as numbers of the stored type: signed ones have the zero point 0.
static SmallVector<int64_t> asNumbers(const BlockCodes &codes, bool isSigned) {
  int64_t offset = isSigned ? codes.spec.middle() : 0;
  SmallVector<int64_t> numbers;
  numbers.reserve(codes.codes.size());
  for (uint8_t code : codes.codes)
    numbers.push_back(code - offset);
  return numbers;
}

template <typename T>
static std::vector<T> turned(ArrayRef<T> matrix, int64_t rows,
                             int64_t columns) {
  std::vector<T> result(matrix.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result[j * rows + i] = matrix[i * columns + j];
  return result;
}

void WeightCoder::replaceProduct(Node &node, const BlockCodes &result) {
  Operation *op = node.op;
  std::string name = tensorName(op->getOperand(1));
  std::string suffix = "_Q" + std::to_string(settings.bits);
  int64_t rows = result.rows, blocks = result.blocks();
  bool hasRealZeros = settings.algorithm == Algorithm::HalfQuadratic;
  Value none = NoValueOp::create(builder, node.location, builder.getNoneType(),
                                 builder.getUnitAttr());
  Value weight = packed(node, name + suffix, result.packCodes(),
                        {rows, blocks, settings.blockSize * settings.bits / 8});
  Value scales = reals(node, name + "_scales", result.scales, {rows, blocks});
  Value zeros = none;
  if (hasRealZeros)
    zeros = reals(node, name + "_zero_points", result.zeros, {rows, blocks});
  else if (!settings.symmetric)
    zeros = packed(node, name + "_zero_points", result.packZeros(),
                   {rows, (blocks * settings.bits + 7) / 8});
  auto gemm = dyn_cast<GemmOp>(op);
  OperationState state(node.location,
                       microsoft::MatMulNBitsOp::getOperationName());
  state.addOperands({op->getOperand(0), weight, scales, zeros, none,
                     gemm ? gemm.getC() : none});
  state.addTypes(op->getResultTypes());
  state.addAttribute("K", integer(result.depth));
  state.addAttribute("N", integer(rows));
  state.addAttribute("bits", integer(settings.bits));
  state.addAttribute("block_size", integer(settings.blockSize));
  if (settings.accuracyLevel != 0)
    state.addAttribute("accuracy_level", integer(settings.accuracyLevel));
  Operation *made = builder.create(state);
  setNames(made, node.name + suffix, tensorName(op->getResult(0)));
  op->replaceAllUsesWith(made);
  op->erase();
  node.op = nullptr;
}

/// The dialect has no op of GatherBlockQuantized: the importer takes it apart.
void WeightCoder::replaceGather(Node &node, const BlockCodes &result) {
  Operation *op = node.op;
  std::string name = tensorName(weightOf(op));
  int64_t rows = result.rows, blocks = result.blocks();
  Value stored =
      codes(node, name + "_Q4", asNumbers(result, settings.symmetric),
            {rows, result.depth});
  SmallVector<Value> operands{
      stored, op->getOperand(1),
      reals(node, name + "_scales", result.scales, {rows, blocks})};
  if (!settings.symmetric)
    operands.push_back(
        codes(node, name + "_zero_points",
              SmallVector<int64_t>(result.zeros.begin(), result.zeros.end()),
              {rows, blocks}));
  OperationState state(node.location, CustomOp::getOperationName());
  state.addOperands(operands);
  state.addTypes(op->getResultTypes());
  state.addAttribute("function_name",
                     builder.getStringAttr("GatherBlockQuantized"));
  state.addAttribute("domain_name", builder.getStringAttr("com.microsoft"));
  state.addAttribute("gather_axis", integer(0));
  state.addAttribute("quantize_axis", integer(1));
  state.addAttribute("block_size", integer(settings.blockSize));
  Operation *made = builder.create(state);
  setNames(made, node.name + "_Q4", tensorName(op->getResult(0)));
  op->replaceAllUsesWith(made);
  op->erase();
  node.op = nullptr;
}

/// A dequantizer in place of the weight, which keeps its layout.
void WeightCoder::dequantize(Node &node, const BlockCodes &result) {
  Operation *op = node.op;
  auto gemm = dyn_cast<GemmOp>(op);
  bool isTurned = !(gemm && gemm.getTransB() != 0);
  std::string suffix = "_DQ_Q" + std::to_string(settings.bits);
  Value weight = op->getOperand(1);
  std::string name = tensorName(weight);
  SmallVector<int64_t> numbers = asNumbers(result, settings.symmetric);
  SmallVector<int64_t> zeros(result.zeros.begin(), result.zeros.end());
  std::vector<float> scales = result.scales;
  int64_t rows = result.rows, blocks = result.blocks();
  SmallVector<int64_t> shape = {rows, blocks};
  if (isTurned) {
    numbers = llvm::to_vector(turned<int64_t>(numbers, rows, result.depth));
    zeros = llvm::to_vector(turned<int64_t>(zeros, rows, blocks));
    scales = turned<float>(scales, rows, blocks);
    std::swap(shape[0], shape[1]);
  }
  Value stored = codes(node, name + suffix, numbers,
                       cast<RankedTensorType>(weight.getType()).getShape());
  Value scale = reals(node, name + "_DQ_scales", scales, shape);
  Value zero =
      settings.symmetric
          ? NoValueOp::create(builder, node.location, builder.getNoneType(),
                              builder.getUnitAttr())
          : codes(node, name + "_DQ_zero_points", zeros, shape);
  OperationState state(node.location,
                       plan.settings.contribQdq
                           ? microsoft::DequantizeLinearOp::getOperationName()
                           : DequantizeLinearOp::getOperationName());
  state.addOperands({stored, scale, zero});
  state.addTypes(weight.getType());
  state.addAttribute("axis", integer(isTurned ? 0 : 1));
  state.addAttribute("block_size", integer(settings.blockSize));
  Operation *made = builder.create(state);
  setNames(made, node.name + suffix, uniqueName(name + suffix + "_output"));
  op->setOperand(1, made->getResult(0));
}

void WeightCoder::replace(Node &node, const Matrix &matrix,
                          const BlockCodes &codes) {
  Value weight = weightOf(node.op);
  double signal = 0, noise = 0;
  for (int64_t n = 0; n < codes.rows; ++n)
    for (int64_t k = 0; k < codes.depth; ++k) {
      double number = matrix.numbers[n * codes.depth + k];
      double error = number - codes.weight(n, k);
      signal += number * number;
      noise += error * error;
    }
  TensorReport report;
  report.name = tensorName(weight);
  report.kind = "weight";
  report.type =
      (settings.symmetric ? "s" : "u") + std::to_string(settings.bits);
  report.blockSize = settings.blockSize;
  report.sqnr = signalToNoise(std::sqrt(signal), std::sqrt(noise));
  node.report.inputs.push_back(std::move(report));
  node.quantized = true;
  ++plan.report.weights;
  builder.setInsertionPoint(node.op);
  if (isa<GatherOp>(node.op))
    replaceGather(node, codes);
  else if (settings.asPairs)
    dequantize(node, codes);
  else
    replaceProduct(node, codes);
}

//===----------------------------------------------------------------------===//
// Which codes
//===----------------------------------------------------------------------===//

LogicalResult WeightCoder::codeByWeights(Node &node) {
  FailureOr<Matrix> matrix = read(node);
  if (failed(matrix))
    return failure();
  auto make = settings.algorithm == Algorithm::HalfQuadratic ? halfQuadratic
              : settings.algorithm == Algorithm::Weighted    ? fitWeighted
                                                             : roundToNearest;
  replace(node, *matrix,
          make(matrix->numbers, matrix->rows, matrix->depth, specOf(node)));
  return success();
}

LogicalResult WeightCoder::codeGroup(const Group &group,
                                     const Covariance &inputs) {
  std::vector<Matrix> matrices;
  for (Node *node : group) {
    FailureOr<Matrix> matrix = read(*node);
    if (failed(matrix))
      return failure();
    matrices.push_back(std::move(*matrix));
  }
  if (settings.algorithm == Algorithm::SecondOrder) {
    for (auto [node, matrix] : llvm::zip(group, matrices))
      replace(*node, matrix,
              secondOrder(matrix.numbers, matrix.rows, matrix.depth,
                          specOf(*node), inputs, settings.secondOrder));
    return success();
  }
  std::vector<llvm::ArrayRef<float>> parts;
  SmallVector<Operation *> readers;
  for (auto [node, matrix] : llvm::zip(group, matrices)) {
    parts.push_back(matrix.numbers);
    readers.push_back(node->op);
  }
  BlockSpec spec = specOf(*group.front());
  std::vector<float> factors =
      activationAwareFactors(parts, inputs.size, spec, inputs);
  if (llvm::any_of(factors, [](float factor) { return factor != 1; })) {
    Value divided = divideChannels(
        readers.front()->getOperand(0),
        SmallVector<double>(factors.begin(), factors.end()), readers);
    for (Operation *reader : readers)
      reader->setOperand(0, divided);
    for (Matrix &matrix : matrices)
      for (size_t i = 0; i < matrix.numbers.size(); ++i)
        matrix.numbers[i] *= factors[i % inputs.size];
  }
  for (auto [node, matrix] : llvm::zip(group, matrices))
    replace(*node, matrix,
            roundToNearest(matrix.numbers, matrix.rows, matrix.depth, spec));
  return success();
}

LogicalResult WeightCoder::codeStage(ArrayRef<Group> groups) {
  std::set<std::string> wanted;
  for (const Group &group : groups)
    wanted.insert(tensorName(group.front()->op->getOperand(0)));
  FailureOr<Covariances> found = source(plan.module, wanted);
  if (failed(found))
    return failure();
  for (const Group &group : groups) {
    std::string name = tensorName(group.front()->op->getOperand(0));
    auto inputs = found->find(name);
    if (inputs == found->end())
      return group.front()->op->emitError("no sample computed '")
             << name << "', which " << group.front()->name
             << " reads; leave the node out with nodes-to-exclude";
    if (failed(codeGroup(group, inputs->second)))
      return failure();
    found->erase(inputs);
  }
  return success();
}

LogicalResult WeightCoder::run() {
  plan.module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (!isNone(result))
        names.insert(tensorName(result));
  });
  llvm::MapVector<Value, Group> groups;
  for (Node &node : plan.nodes) {
    if (!node.selected)
      continue;
    auto gemm = dyn_cast<GemmOp>(node.op);
    bool isInside = !isa<func::FuncOp>(node.op->getParentOp());
    if (settings.needsSamples() && isa<GatherOp>(node.op))
      node.reason = "rounded to the nearest: all of a table's rows count alike";
    else if (settings.needsSamples() && isInside)
      node.reason = "rounded to the nearest: samples say nothing of what is "
                    "inside a branch or loop";
    else if (settings.needsSamples() && gemm && gemm.getTransA() != 0)
      node.reason = "rounded to the nearest: its input is transposed";
    else if (settings.needsSamples()) {
      groups[node.op->getOperand(0)].push_back(&node);
      continue;
    }
    if (failed(codeByWeights(node)))
      return failure();
  }
  if (!groups.empty() && !source)
    return plan.module.emitError(
        "this algorithm expects samples: give 'onnxq quantize' --data, or "
        "quantize() data");
  std::vector<Group> stage;
  int64_t bytes = 0;
  for (auto &[input, group] : groups) {
    int64_t depth = depthOf(group.front()->op);
    int64_t more = depth * depth * static_cast<int64_t>(sizeof(double));
    if (!stage.empty() && bytes + more > stageBytes) {
      if (failed(codeStage(stage)))
        return failure();
      stage.clear();
      bytes = 0;
    }
    stage.push_back(std::move(group));
    bytes += more;
  }
  return stage.empty() ? success() : codeStage(stage);
}

LogicalResult quantize::quantizeWeightsOnly(Plan &plan,
                                            const CovarianceSource &source) {
  if (llvm::none_of(plan.nodes, [](const Node &node) { return node.selected; }))
    return plan.module.emitError(
        "nothing can be quantized: no MatMul or Gemm has a constant matrix "
        "that may become codes, and no Gather that is listed a table");
  if (failed(WeightCoder(plan, source).run()))
    return failure();
  cleanUp(plan);
  return success();
}
