// Covariances: a copy of the graph whose outputs are the products of tensors
// with themselves, run for each sample.

#include "OnnxQuant/Transforms/Calibrate/Covariance.h"
#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Support/Progress.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace onnxquant;
namespace ir = onnxquant::onnx;

namespace {
/// Makes products of tensors a graph's outputs.
class ProductGraph {
public:
  explicit ProductGraph(func::FuncOp graph)
      : graph(graph), end(graph.getBody().front().getTerminator()),
        builder(end) {}
  /// False if the tensor has no known number of channels.
  bool add(Value value);
  void finish();
  ArrayRef<std::string> getNames() const { return names; }

private:
  Value make(StringRef operation, ValueRange operands, ArrayRef<int64_t> shape,
             std::optional<NamedAttribute> attribute = {});

  func::FuncOp graph;
  Operation *end;
  OpBuilder builder;
  std::vector<std::string> names;
  SmallVector<Value> products;
};
} // namespace

Value ProductGraph::make(StringRef operation, ValueRange operands,
                         ArrayRef<int64_t> shape,
                         std::optional<NamedAttribute> attribute) {
  OperationState state(graph.getLoc(), operation);
  state.addOperands(operands);
  state.addTypes(RankedTensorType::get(shape, builder.getF32Type()));
  if (attribute)
    state.addAttributes(*attribute);
  return builder.create(state)->getResult(0);
}

bool ProductGraph::add(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() < 1 || type.isDynamicDim(type.getRank() - 1))
    return false;
  int64_t size = type.getShape().back(), any = ShapedType::kDynamic;
  Value tensor = value;
  if (!type.getElementType().isF32())
    tensor =
        make("onnx.Cast", value, type.getShape(),
             builder.getNamedAttr("to", TypeAttr::get(builder.getF32Type())));
  OperationState state(graph.getLoc(), ir::ConstantOp::getOperationName());
  auto vector = RankedTensorType::get({2}, builder.getI64Type());
  state.addAttribute(
      "value", DenseElementsAttr::get(vector, ArrayRef<int64_t>{-1, size}));
  state.addTypes(vector);
  Value shape = builder.create(state)->getResult(0);
  Value rows = make("onnx.Reshape", {tensor, shape}, {any, size});
  Value columns =
      make("onnx.Transpose", rows, {size, any},
           builder.getNamedAttr("perm", builder.getI64ArrayAttr({1, 0})));
  products.push_back(make("onnx.MatMul", {columns, rows}, {size, size}));
  names.push_back(ir::getTensorName(value).str());
  return true;
}

void ProductGraph::finish() {
  end->setOperands(products);
  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
  for (auto [number, product] : llvm::enumerate(products)) {
    types.push_back(product.getType());
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        ir::argNameAttr,
        builder.getStringAttr("product_" + std::to_string(number)))));
  }
  graph.setFunctionType(
      builder.getFunctionType(graph.getArgumentTypes(), types));
  graph.setResAttrsAttr(builder.getArrayAttr(attributes));
  // What only the old outputs needed goes.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(graph.getBody().front())))
    if (&op != end && op.use_empty())
      op.erase();
}

namespace {
/// Samples run through a copy of a module.
class Runner {
public:
  Runner(ModuleOp module, Executor &executor, const CollectOptions &options)
      : module(module), executor(executor), options(options) {}
  FailureOr<Covariances> run(const std::set<std::string> &names);
  int64_t getSamples() const { return samples; }

private:
  LogicalResult fail(llvm::Error error) {
    return module.emitError() << llvm::toString(std::move(error));
  }
  LogicalResult prepare(const std::set<std::string> &names);
  LogicalResult compile(const Tensors &sample, ArrayRef<int64_t> indices);
  LogicalResult add(const Tensors &outputs);

  ModuleOp module;
  Executor &executor;
  const CollectOptions &options;
  std::optional<DataSet> data;
  OwningOpRef<ModuleOp> copy;
  std::vector<std::string> order;
  std::unique_ptr<Program> program;
  /// What the program is for; empty if for all.
  std::vector<std::vector<int64_t>> shapes;
  Covariances result;
  int64_t samples = 0;
};
} // namespace

LogicalResult Runner::prepare(const std::set<std::string> &names) {
  auto inputs = graphInputs(module);
  if (failed(inputs))
    return failure();
  auto set = DataSet::open(options.data, *inputs);
  if (!set)
    return fail(set.takeError());
  data.emplace(std::move(*set));
  if (data->size() == 0 && !data->isStream())
    return module.emitError("no samples are left to run");
  copy = OwningOpRef<ModuleOp>(cast<ModuleOp>(module->clone()));
  FailureOr<func::FuncOp> graph = findGraph(*copy);
  if (failed(graph))
    return failure();
  SmallVector<Value> values(graph->getArguments());
  for (Operation &op : graph->getBody().front())
    llvm::append_range(values, op.getResults());
  ProductGraph products(*graph);
  for (Value value : values)
    if (names.count(ir::getTensorName(value).str()) && !products.add(value))
      return module.emitError("tensor '")
             << ir::getTensorName(value)
             << "' expects a known number of channels; give the input's sizes "
                "with --dim or --input-shape, or leave out what reads it with "
                "nodes-to-exclude";
  products.finish();
  order = products.getNames();
  return success();
}

/// One shape is compiled for; once another comes, all are.
LogicalResult Runner::compile(const Tensors &sample,
                              ArrayRef<int64_t> indices) {
  bool same = !program;
  if (program && shapes.empty())
    return success();
  if (program) {
    same = true;
    for (auto [tensor, shape] : llvm::zip(sample, shapes))
      same = same && tensor.dims == shape;
    if (same)
      return success();
  }
  OwningOpRef<ModuleOp> next(cast<ModuleOp>((*copy)->clone()));
  std::optional<CompileContext> context;
  shapes.clear();
  if (same) {
    FailureOr<func::FuncOp> graph = findGraph(*next);
    specializeInputs(*graph, sample, /*keepFirst=*/false);
    for (const HostTensor &tensor : sample)
      shapes.push_back(tensor.dims);
    context.emplace(*data, indices, sample, module.getContext());
  }
  auto compiled = executor.compile(*next);
  if (failed(compiled))
    return failure();
  program = std::move(*compiled);
  return success();
}

LogicalResult Runner::add(const Tensors &outputs) {
  for (auto [name, output] : llvm::zip(order, outputs)) {
    Covariance &sums = result[name];
    sums.size = output.dims.back();
    size_t count = output.data.size() / sizeof(float);
    sums.sums.resize(count, 0);
    const char *bytes = output.data.data();
    for (size_t i = 0; i < count; ++i) {
      float number;
      std::memcpy(&number, bytes + i * sizeof(float), sizeof(float));
      sums.sums[i] += number;
    }
  }
  return success();
}

FailureOr<Covariances> Runner::run(const std::set<std::string> &names) {
  if (failed(prepare(names)))
    return failure();
  BatchReader reader(*data, options.data);
  Progress progress("covariances", "samples", data->size(), options.quiet);
  while (true) {
    if (options.interrupted && options.interrupted())
      return module.emitError("interrupted; nothing is written");
    auto batch = reader.next();
    if (!batch)
      return fail(batch.takeError());
    if (!*batch)
      break;
    if (failed(compile(**batch, reader.indices())))
      return failure();
    auto outputs = program->run(**batch);
    if (!outputs)
      return module.emitError()
             << data->explain(llvm::toString(outputs.takeError()),
                              reader.indices(), **batch);
    if (failed(add(*outputs)))
      return failure();
    program->reuse(std::move(*outputs));
    progress.update(reader.position());
    samples += static_cast<int64_t>(reader.indices().size());
  }
  progress.clear();
  if (samples == 0 && data->isStream())
    return module.emitError("no samples are left to run; covariances of a "
                            "large model are collected in several stages, "
                            "which takes data that can be read again");
  if (samples == 0)
    return module.emitError("no sample could be read");
  for (const auto &[name, sums] : result)
    for (double number : sums.sums)
      if (!std::isfinite(number))
        return module.emitError("tensor '")
               << name << "' has values that aren't finite with these samples";
  return std::move(result);
}

FailureOr<Covariances> onnxquant::collectCovariances(
    ModuleOp module, const std::set<std::string> &names, Executor &executor,
    const CollectOptions &options, int64_t *samples) {
  Runner runner(module, executor, options);
  auto result = runner.run(names);
  if (samples)
    *samples = runner.getSamples();
  return result;
}
