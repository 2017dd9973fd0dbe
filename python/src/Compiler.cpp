// onnxquant._compiler: the pipelines as Python functions. Models go in as paths
// or bytes and come out the same way; reports and tables are JSON. The package
// around it makes objects of them.

#include "Blocks.h"
#include "Call.h"
#include "Esp.h"
#include "Evaluate.h"
#include "OnnxQuant/Analysis/ModelInfo.h"
#include "OnnxQuant/Budget/Faster.h"
#include "OnnxQuant/Budget/Search.h"
#include "OnnxQuant/Debugging/Debugging.h"
#include "OnnxQuant/Debugging/Sensitivity.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Evaluation/Evaluation.h"
#include "OnnxQuant/Export/Export.h"
#include "OnnxQuant/Pipelines/Artifact.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Pipelines/Preprocess.h"
#include "OnnxQuant/Pipelines/Quantize.h"
#include "OnnxQuant/Statistics/Table.h"
#include "OnnxQuant/Target/Header.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Transforms/Calibrate/Covariance.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"
#include "OnnxQuant/Transforms/Quantize/ChannelFactors.h"
#include "Output.h"
#include "Samples.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::python;

static std::string toText(llvm::json::Value value) {
  return llvm::formatv("{0}", std::move(value)).str();
}

template <typename Result> static std::string printed(const Result &result) {
  std::string text;
  llvm::raw_string_ostream os(text);
  result.print(os);
  return text;
}

template <typename Result>
static std::string printed(const Result &result, int64_t limit) {
  std::string text;
  llvm::raw_string_ostream os(text);
  result.print(os, limit);
  return text;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

static llvm::json::Value describe(const std::vector<TensorInfo> &tensors) {
  llvm::json::Array list;
  for (const TensorInfo &tensor : tensors) {
    llvm::json::Object object{{"name", tensor.name},
                              {"type", tensor.elementType}};
    if (tensor.shape) {
      llvm::json::Array shape;
      for (const std::string &dim : *tensor.shape) {
        int64_t size;
        if (StringRef(dim).getAsInteger(10, size))
          shape.push_back(dim);
        else
          shape.push_back(size);
      }
      object["shape"] = std::move(shape);
    }
    list.push_back(std::move(object));
  }
  return list;
}

/// What a model has, with the names of its nodes in order.
static std::string describeModule(ModuleOp module) {
  ModelInfo info = getModelInfo(module);
  llvm::json::Object opsets, ops;
  for (const auto &[domain, version] : info.opsets)
    opsets[domain] = version;
  for (const auto &[op, count] : info.opCounts)
    ops[op] = count;
  llvm::json::Array nodes;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<onnx::NodeOpInterface>(op) ||
        isa<onnx::ConstantOp, onnx::ReturnOp, onnx::YieldOp>(op))
      return;
    auto name = op->getAttrOfType<StringAttr>(onnx::nodeNameAttr);
    nodes.push_back(llvm::json::Array{name ? name.str() : "",
                                      op->getName().stripDialect().str()});
  });
  auto text = [&](StringRef name) {
    auto attribute = module->getAttrOfType<StringAttr>(name);
    return attribute ? attribute.str() : std::string();
  };
  llvm::json::Object metadata;
  if (auto entries = module->getAttrOfType<ArrayAttr>("onnx.metadata"))
    for (auto pair : entries.getAsRange<ArrayAttr>())
      metadata[cast<StringAttr>(pair[0]).getValue()] =
          cast<StringAttr>(pair[1]).getValue();
  auto version = module->getAttrOfType<IntegerAttr>("onnx.model_version");
  return toText(
      llvm::json::Object{{"graph", info.graphName},
                         {"producer", info.producer},
                         {"producer_name", text("onnx.producer_name")},
                         {"domain", text("onnx.domain")},
                         {"description", text("onnx.doc_string")},
                         {"graph_description", text("onnx.graph_doc_string")},
                         {"model_version", version ? version.getInt() : 0},
                         {"metadata", std::move(metadata)},
                         {"ir_version", info.irVersion},
                         {"opsets", std::move(opsets)},
                         {"inputs", describe(info.inputs)},
                         {"outputs", describe(info.outputs)},
                         {"ops", std::move(ops)},
                         {"node_count", info.numNodes},
                         {"parameters", info.parameters},
                         {"parameter_bytes", info.parameterBytes},
                         {"macs", info.macs},
                         {"uncounted", info.numUncounted},
                         {"nodes", std::move(nodes)}});
}

static std::string describeModel(const py::object &model,
                                 const py::dict &options) {
  Call call("ModelError", py::none());
  Options given(options);
  auto module = call.read(readModelArgument(model), given.list("dims"),
                          given.list("input_shapes"));
  std::string text;
  call.run([&]() {
    text = describeModule(*module);
    return success();
  });
  return text;
}

static std::string printModel(const py::object &model) {
  Call call("ModelError", py::none());
  auto module = call.read(readModelArgument(model));
  std::string text;
  call.run([&]() {
    llvm::raw_string_ostream os(text);
    module->print(os);
    return success();
  });
  return text;
}

static ExportOptions readExport(Options options) {
  ExportOptions result;
  result.externalData = options.flag("external_data", false);
  result.externalDataLocation = options.text("external_data_location");
  result.externalDataThreshold =
      options.integer("external_data_size_threshold", 1024);
  result.filePerTensor = options.flag("file_per_tensor", false);
  return result;
}

static py::object exportTo(const py::object &model, const py::dict &options,
                           const std::string &out) {
  checkOut(out);
  Call call("ModelError", py::none());
  ExportOptions exporting = readExport(Options(options));
  auto module = call.read(readModelArgument(model));
  std::string bytes;
  call.run([&]() { return write(*module, out, exporting, bytes); });
  return bytesOrNone(out, bytes);
}

static PreprocessOptions readPreprocess(Options options) {
  PreprocessOptions result;
  result.executor = createFoldingExecutor;
  result.optimize = options.flag("optimize", true);
  result.staticShapes = options.flag("static_shapes", true);
  result.symbolicShapes = options.flag("symbolic_shapes", true);
  result.skip = options.list("skip");
  result.passes = options.list("passes");
  result.dims = options.list("dims");
  result.inputShapes = options.list("input_shapes");
  result.autoMerge = options.flag("auto_merge", false);
  result.guessOutputRank = options.flag("guess_output_rank", false);
  result.intMax = options.integer("int_max", 0);
  result.dynamicBatch = options.text("batch");
  result.maxOpset = options.integer("max_opset", 0);
  result.maxConstantBytes = options.integer("max_constant_bytes", 1048576);
  return result;
}

static py::tuple preprocess(const py::object &model, const py::dict &options,
                            const std::string &out) {
  checkOut(out);
  Call call("ModelError", py::none());
  PassManager pm(call.context());
  if (llvm::Error error =
          buildPreprocessPipeline(pm, readPreprocess(Options(options))))
    throwError("Usage", llvm::toString(std::move(error)));
  ExportOptions exporting = readExport(Options(options));
  exporting.maxOpset = Options(options).integer("max_opset", 0);
  int64_t minOpset = Options(options).integer("min_opset", 0);
  std::vector<std::string> metadata = Options(options).list("metadata");
  ImportOptions importing;
  importing.keepFused = Options(options).flag("keep_fused", false);
  auto module = call.read(readModelArgument(model), {}, {}, importing);
  llvm::json::Array changes;
  std::string bytes;
  call.run([&]() -> LogicalResult {
    requestReport(*module);
    if (failed(pm.run(*module)))
      return failure();
    changes = changesOf(*module);
    for (const std::string &entry : metadata)
      if (llvm::Error error = addMetadata(*module, entry))
        return call.fail(std::move(error));
    if (llvm::Error error = raiseOpset(*module, minOpset))
      return call.fail(std::move(error));
    return write(*module, out, exporting, bytes);
  });
  return py::make_tuple(bytesOrNone(out, bytes), toText(std::move(changes)));
}

//===----------------------------------------------------------------------===//
// Calibration
//===----------------------------------------------------------------------===//

static CollectOptions readCollect(Call &call, const py::dict &options,
                                  const py::object &samples, int64_t size) {
  CollectOptions collect;
  check("Usage", readCollectOptions(readTable(calibrateOptionTable(), options),
                                    collect));
  collect.data.source = readSamples(call, samples, size);
  collect.data.note = warningsOf(call);
  collect.interrupted = [&call]() { return call.isInterrupted(); };
  return collect;
}

static std::string calibrate(const py::object &model, const py::dict &options,
                             const py::object &samples, int64_t size,
                             const py::object &progress) {
  Call call("CalibrationError", progress);
  Options given(options);
  CollectOptions collect = readCollect(call, options, samples, size);
  std::vector<std::string> names = given.list("names");
  if (!names.empty())
    collect.spec.names.emplace(names.begin(), names.end());
  checkOut(collect.checkpoint);
  auto module = call.read(readModelArgument(model), given.list("dims"),
                          given.list("input_shapes"));
  std::string text;
  call.run([&]() -> LogicalResult {
    auto executor = createCalibrationExecutor();
    auto table = collectStatistics(*module, *executor, collect);
    if (failed(table))
      return failure();
    reportOddities(*module, *table);
    text = toJson(*table);
    return success();
  });
  return text;
}

static StatisticsTable parseTable(const std::string &text) {
  return unwrap("CalibrationError", statisticsFromJson(text));
}

static py::dict tableRanges(const std::string &text, const py::dict &options) {
  StatisticsTable table = parseTable(text);
  MethodOptions method;
  check("Usage",
        readMethodOptions(readTable(loadCalibrationOptionTable(), options),
                          table.method, method));
  py::dict result;
  for (const auto &[name, range] :
       unwrap("CalibrationError", computeRanges(table, method)))
    result[py::str(name)] = py::make_tuple(range.min, range.max);
  return result;
}

static std::string mergeTables(const std::vector<std::string> &texts) {
  StatisticsTable whole = parseTable(texts.at(0));
  for (size_t i = 1; i < texts.size(); ++i)
    if (llvm::Error error = whole.merge(parseTable(texts[i])))
      throwError("CalibrationError", llvm::toString(std::move(error)));
  return toJson(whole);
}

/// (statistics as JSON, None) or (None, ranges).
static py::tuple readTableFile(const std::string &path) {
  CalibrationTable table = unwrap("CalibrationError", readTable(path));
  if (auto *statistics = std::get_if<StatisticsTable>(&table))
    return py::make_tuple(toJson(*statistics), py::none());
  py::dict ranges;
  for (const auto &[name, range] : std::get<RangeTable>(table))
    ranges[py::str(name)] = py::make_tuple(range.min, range.max);
  return py::make_tuple(py::none(), ranges);
}

static void
writeRangeFile(const std::map<std::string, std::pair<double, double>> &ranges,
               const std::string &path) {
  checkOut(path);
  RangeTable table;
  for (const auto &[name, range] : ranges)
    table[name] = {range.first, range.second};
  TableFormat format = unwrap("Usage", tableFormat(path));
  if (format == TableFormat::Statistics)
    format = TableFormat::Ranges;
  if (llvm::Error error = writeRanges(table, path, format))
    throwError("Output", llvm::toString(std::move(error)), path);
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

using NamedValues = std::vector<std::pair<std::string, std::string>>;

static QuantizeOptions readQuantize(const NamedValues &values) {
  QuantizeOptions options;
  for (const auto &[name, value] : values)
    check("Usage", setOption(quantizeOptionTable(), options, name, value));
  return options;
}

static LogicalResult prepare(Call &call, ModuleOp module, bool optimize) {
  PassManager pm(call.context());
  if (llvm::Error error = buildPreparation(pm, optimize))
    return call.fail(std::move(error));
  return pm.run(module);
}

/// Runs samples for the tensors that quantization asks for.
static LogicalResult calibrateFor(ModuleOp module,
                                  const QuantizeOptions &quantize,
                                  CollectOptions &collect) {
  nameTensors(module);
  auto names = tensorsToCalibrate(module, quantize);
  if (failed(names))
    return failure();
  if (!names->empty())
    collect.spec.names = std::move(*names);
  auto executor = createCalibrationExecutor();
  auto table = collectStatistics(module, *executor, collect);
  if (failed(table))
    return failure();
  reportOddities(module, *table);
  return annotate(module, *table, collect.method, /*perChannel=*/true);
}

/// Looks for the fastest model within bounds, and makes it of the module.
static LogicalResult quantizeWithin(Call &call, ModuleOp module,
                                    const QuantizeOptions &quantize,
                                    const budget::Bounds &bounds,
                                    const CollectOptions &collect,
                                    std::string &report, std::string &summary) {
  budget::Request request;
  request.quantize = quantize;
  request.bounds = bounds;
  request.collect = collect;
  request.target = quantize.target;
  request.checkpoint = quantize.checkpoint;
  auto found = budget::search(module, request);
  if (failed(found))
    return failure();
  if (found->wasInterrupted || !found->chosen)
    return call.fail(llvm::createStringError(
        found->wasInterrupted ? "interrupted" : found->reason));
  PassManager pm(call.context());
  llvm::Error error = llvm::Error::success();
  pm.addPass(createQuantize(found->options, [&](const QuantizeReport &result) {
    llvm::json::Value value = result.toJson();
    (*value.getAsObject())["budget"] = found->toJson();
    report = toText(std::move(value));
    summary = printed(*found) + printed(result);
    if (!quantize.report.empty())
      error = llvm::joinErrors(
          std::move(error),
          budget::writeReport(quantize.report, "model", result, *found));
  }));
  LogicalResult done = pm.run(module);
  if (error)
    return call.fail(std::move(error));
  return done;
}

static py::tuple quantize(const py::object &model, const NamedValues &values,
                          const py::dict &options, const py::object &samples,
                          int64_t size, const std::string &table,
                          const std::string &out, const py::object &progress) {
  checkOut(out);
  Call call("QuantizeError", progress);
  Options given(options);
  QuantizeOptions quantize = readQuantize(values);
  ExportOptions exporting = readExport(given);
  CollectOptions collect = readCollect(call, options, samples, size);
  bool hasData = collect.data.source || !collect.data.paths.empty();
  auto load = readTable(loadCalibrationOptionTable(), options);
  load.table = table;
  check("Usage", budget::checkRequest(quantize, hasData, !table.empty()));
  auto bounds = unwrap("Usage", budget::readBounds(quantize));
  bool optimize = given.flag("preprocess_model", true);
  auto module = call.read(readModelArgument(model), given.list("dims"),
                          given.list("input_shapes"), {keepsFused(quantize)});
  std::string bytes, report, summary;
  auto tell = [&](const QuantizeReport &result) {
    report = toText(result.toJson());
    summary = printed(result);
  };
  call.run([&]() -> LogicalResult {
    if (failed(prepare(call, *module, optimize)))
      return failure();
    if (bounds) {
      if (failed(quantizeWithin(call, *module, quantize, *bounds, collect,
                                report, summary)))
        return failure();
      return write(*module, out, exporting, bytes);
    }
    if (quantize.onlyWhereFaster) {
      QuantizePipelineOptions pipeline;
      pipeline.collect = collect;
      pipeline.quantize = quantize;
      pipeline.sink = tell;
      if (failed(budget::quantizeWhereFaster(*module, pipeline)))
        return failure();
      return write(*module, out, exporting, bytes);
    }
    bool findsCovariances = needsCovariances(quantize);
    CovarianceSource covariances;
    if (findsCovariances && hasData)
      covariances = [&](ModuleOp whole, const std::set<std::string> &names) {
        auto executor = createCalibrationExecutor();
        return collectCovariances(whole, names, *executor, collect);
      };
    else if (hasData && failed(calibrateFor(*module, quantize, collect)))
      return failure();
    PassManager pm(call.context());
    if (!load.table.empty())
      pm.addPass(createLoadCalibration(load));
    pm.addPass(createQuantize(quantize, tell, covariances));
    if (failed(pm.run(*module)))
      return failure();
    return write(*module, out, exporting, bytes);
  });
  return py::make_tuple(bytesOrNone(out, bytes), report, summary);
}

static std::vector<std::string>
tensorsFor(const py::object &model, const NamedValues &values, bool optimize) {
  Call call("QuantizeError", py::none());
  QuantizeOptions quantize = readQuantize(values);
  auto module = call.read(readModelArgument(model));
  std::vector<std::string> names;
  call.run([&]() -> LogicalResult {
    if (failed(prepare(call, *module, optimize)))
      return failure();
    nameTensors(*module);
    auto found = tensorsToCalibrate(*module, quantize);
    if (succeeded(found))
      names.assign(found->begin(), found->end());
    return success(succeeded(found));
  });
  return names;
}

/// (name, group, whether it is a flag, what values look like, help) of each
/// option that a table offers.
template <typename PassOptions>
static py::list describeTable(OptionTable<PassOptions> table) {
  py::list options;
  for (const OptionEntry<PassOptions> &entry : table)
    if (!entry.group->isOfPassOnly)
      options.append(py::make_tuple(entry.name.str(), entry.group->name.str(),
                                    entry.isFlag(), entry.shown.str(),
                                    entry.help.str()));
  return options;
}

/// By pass.
static py::dict optionTables() {
  py::dict tables;
  tables["quantize"] = describeTable(quantizeOptionTable());
  tables["calibrate"] = describeTable(calibrateOptionTable());
  tables["load_calibration"] = describeTable(loadCalibrationOptionTable());
  return tables;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static CompileOptions readCompile(Options options) {
  CompileOptions result;
  result.target = unwrap("Usage", parseTarget(options.text("target", "native"),
                                              options.text("cpu"),
                                              options.text("features")));
  result.threads = options.integer("threads", 1);
  if (result.threads < 1 || result.threads > mostThreads)
    throwError("Usage", "threads expects 1 to " + std::to_string(mostThreads) +
                            ", but got " + std::to_string(result.threads));
  result.checkBounds = options.flag("check_bounds", false);
  result.winograd = options.flag("winograd", true);
  result.prepare = options.flag("prepare", true);
  result.maxIterations = options.integer("max_iterations", 0);
  result.profile = options.flag("profile", false);
  result.cacheFolder = options.text("cache");
  result.target.isBrief = options.flag("brief", false);
  int64_t level = options.integer("opt_level", 3);
  if (level < 0 || level > 3)
    throwError("Usage",
               "opt_level expects 0 to 3, but got " + std::to_string(level));
  result.target.optLevel = level;
  std::string name = options.text("name", "model");
  result.name = isIdentifier(name) ? name : makeIdentifier(name);
  return result;
}

/// Code in this process: a capsule that the runtime module takes.
static py::capsule compileHere(const py::object &model,
                               const py::dict &options) {
  Call call("CompileError", py::none());
  Options given(options);
  CompileOptions compile = readCompile(given);
  auto module = call.read(readModelArgument(model), given.list("dims"),
                          given.list("input_shapes"));
  std::unique_ptr<LoadedObject> loaded;
  call.run([&]() -> LogicalResult {
    auto object = compileAndLoad(*module, compile);
    if (failed(object))
      return failure();
    loaded = std::move(*object);
    return success();
  });
  // The model, and in the capsule's context who owns it.
  auto *description = const_cast<onnxq_model *>(&loaded->model());
  PyObject *capsule =
      PyCapsule_New(description, "onnxq_model", [](PyObject *capsule) {
        delete static_cast<LoadedObject *>(PyCapsule_GetContext(capsule));
      });
  if (!capsule || PyCapsule_SetContext(capsule, loaded.release()) != 0)
    throw py::error_already_set();
  return py::reinterpret_steal<py::capsule>(capsule);
}

static void compileTo(const py::object &model, const py::dict &options,
                      const std::string &out) {
  if (!isArtifact(out))
    throwError("Usage", "out expects a file that ends with .so, .o, .s or .ll, "
                        "but got '" +
                            out + "'");
  checkOut(out);
  Call call("CompileError", py::none());
  Options given(options);
  CompileOptions compile = readCompile(given);
  auto module = call.read(readModelArgument(model), given.list("dims"),
                          given.list("input_shapes"));
  call.run([&]() { return writeArtifact(*module, out, compile); });
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

/// JSON, a page, and a table as text.
static py::tuple compare(const py::object &real, const py::object &quant,
                         const py::dict &options, const py::object &samples,
                         int64_t size, const std::vector<std::string> &names,
                         const py::object &progress) {
  Call call("ModelError", progress);
  Options given(options);
  DebugOptions debug;
  debug.data = readData(call, options, samples, size);
  bool asIs = given.flag("as_is", false);
  int64_t top = given.integer("top", 20);
  std::vector<std::string> dims = given.list("dims"),
                           shapes = given.list("input_shapes");
  auto realModule = call.read(readModelArgument(real), dims, shapes);
  auto quantModule = call.read(readModelArgument(quant), dims, shapes);
  std::string json, html, text;
  call.run([&]() -> LogicalResult {
    OwningOpRef<ModuleOp> prepared;
    if (!asIs)
      prepared = makePreparedCopy(*realModule);
    std::vector<ScaledTensor> scaled = readScaledTensors(*quantModule);
    applyScaledTensors(*realModule, scaled);
    if (prepared)
      applyScaledTensors(*prepared, scaled);
    CompileOptions compile;
    compile.prepare = false;
    auto executor = createJitExecutor(compile);
    auto result = debugModels(*realModule, prepared ? *prepared : ModuleOp(),
                              *quantModule, *executor, debug);
    if (failed(result))
      return failure();
    result->realModel = names.at(0);
    result->quantModel = names.at(1);
    json = toText(result->toJson());
    html = result->toHtml();
    text = printed(*result, top);
    return success();
  });
  return py::make_tuple(json, html, text);
}

static py::tuple sensitivity(const py::object &model, const NamedValues &values,
                             const py::dict &options, const py::object &samples,
                             int64_t size, const std::string &table,
                             const py::object &progress) {
  Call call("QuantizeError", progress);
  Options given(options);
  QuantizeOptions quantize = readQuantize(values);
  if ((quantize.modeName != "qdq" && !quantize.modeName.empty()) ||
      !quantize.quantizationMode.empty())
    throwError("Usage", "layers are switched in the form qdq: mode and "
                        "quantization_mode can't be given");
  // A clamp that a quantizer stands for would be missing without it.
  quantize.keepActivations = true;
  CollectOptions collect = readCollect(call, options, samples, size);
  SensitivityOptions measure;
  measure.data = collect.data;
  measure.interrupted = collect.interrupted;
  auto load = readTable(loadCalibrationOptionTable(), options);
  load.table = table;
  bool optimize = given.flag("preprocess_model", true);
  int64_t top = given.integer("top", 0);
  auto real = call.read(readModelArgument(model), given.list("dims"),
                        given.list("input_shapes"));
  std::string json, text;
  call.run([&]() -> LogicalResult {
    if (failed(prepare(call, *real, optimize)))
      return failure();
    CompileOptions compile;
    compile.prepare = false;
    auto executor = createJitExecutor(compile);
    PassManager loading(call.context());
    if (!table.empty())
      loading.addPass(createLoadCalibration(load));
    if (failed(loading.run(*real)))
      return failure();
    if (table.empty() && !quantize.dynamic) {
      auto statistics = collectStatistics(*real, *executor, collect);
      if (failed(statistics) ||
          failed(annotate(*real, *statistics, collect.method, true)))
        return failure();
    }
    numberNodes(*real);
    OwningOpRef<ModuleOp> quant(cast<ModuleOp>((*real)->clone()));
    PassManager pm(call.context());
    pm.addPass(createQuantize(quantize, nullptr));
    if (failed(pm.run(*quant)))
      return failure();
    applyScaledTensors(*real, readScaledTensors(*quant));
    auto result = measureSensitivity(*real, *quant, *executor, measure);
    if (failed(result))
      return failure();
    json = toText(result->toJson());
    text = printed(*result, top);
    return success();
  });
  return py::make_tuple(json, text);
}

static py::tuple coco(const std::string &detections,
                      const std::string &annotations) {
  EvaluationResult result =
      unwrap("DataError", evaluateFile(detections, annotations));
  return py::make_tuple(toText(result.toJson()), printed(result));
}

//===----------------------------------------------------------------------===//

PYBIND11_MODULE(_compiler, module) {
  module.doc() = "The compiler: models, calibration, quantization and code.";
  // What stays from call to call would not survive a fork; nothing does.
  module.def("describe", &describeModel, py::arg("model"), py::arg("options"));
  module.def("mlir", &printModel, py::arg("model"));
  module.def("export", &exportTo, py::arg("model"), py::arg("options"),
             py::arg("out"));
  module.def("preprocess", &preprocess, py::arg("model"), py::arg("options"),
             py::arg("out"));
  module.def("calibrate", &calibrate, py::arg("model"), py::arg("options"),
             py::arg("samples"), py::arg("size"), py::arg("progress"));
  module.def("table_ranges", &tableRanges, py::arg("table"),
             py::arg("options"));
  module.def("merge_tables", &mergeTables, py::arg("tables"));
  module.def("read_table", &readTableFile, py::arg("path"));
  module.def("write_ranges", &writeRangeFile, py::arg("ranges"),
             py::arg("path"));
  module.def("quantize", &quantize, py::arg("model"), py::arg("values"),
             py::arg("options"), py::arg("samples"), py::arg("size"),
             py::arg("table"), py::arg("out"), py::arg("progress"));
  module.def("tensors_for", &tensorsFor, py::arg("model"), py::arg("values"),
             py::arg("optimize"));
  module.def("option_tables", &optionTables);
  module.def("round_blocks", &python::roundBlocks, py::arg("numbers"),
             py::arg("rows"), py::arg("depth"), py::arg("bits"),
             py::arg("block_size"), py::arg("symmetric"));
  module.def("compile", &compileHere, py::arg("model"), py::arg("options"));
  module.def("compile_to", &compileTo, py::arg("model"), py::arg("options"),
             py::arg("out"));
  module.def("compare", &compare, py::arg("float_model"), py::arg("quantized"),
             py::arg("options"), py::arg("samples"), py::arg("size"),
             py::arg("names"), py::arg("progress"));
  module.def("sensitivity", &sensitivity, py::arg("model"), py::arg("values"),
             py::arg("options"), py::arg("samples"), py::arg("size"),
             py::arg("table"), py::arg("progress"));
  module.def("evaluate", &python::evaluate, py::arg("model"),
             py::arg("reference"), py::arg("options"), py::arg("samples"),
             py::arg("size"), py::arg("names"), py::arg("progress"));
  module.def("coco", &coco, py::arg("detections"), py::arg("annotations"));
  defineEsp(module);
  module.attr("version") = ONNXQUANT_VERSION;
}
