// Evaluating models.

#include "Evaluate.h"
#include "OnnxQuant/Evaluation/Evaluation.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "Samples.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::python;

namespace {

/// A model that is compiled for the sizes of samples.
struct Candidate {
  OwningOpRef<ModuleOp> module;
  ModelSource source;

  LogicalResult prepare(bool keepFirst) {
    auto inputs = graphInputs(*module);
    if (failed(inputs))
      return failure();
    source.inputs = *inputs;
    source.make = [this, keepFirst](
                      const Tensors &sample,
                      bool open) -> llvm::Expected<std::unique_ptr<Program>> {
      // The diagnostics have said why.
      auto failed = [] { return llvm::createStringError(""); };
      // Samples of other sizes may follow, for which it is compiled again.
      OwningOpRef<ModuleOp> copy(cast<ModuleOp>((*module)->clone()));
      FailureOr<func::FuncOp> graph = findGraph(*copy);
      if (llvm::failed(graph))
        return failed();
      if (!open)
        specializeInputs(*graph, sample, keepFirst);
      auto program = createJitExecutor()->compile(*copy);
      if (llvm::failed(program))
        return failed();
      return std::move(*program);
    };
    return success();
  }
};

} // namespace

static Metrics readMetrics(Options given, bool hasReference) {
  Metrics metrics = unwrap("Usage", parseMetrics(given.text("metric")));
  if (!metrics.any()) {
    metrics.top1 = metrics.top5 =
        !given.text("labels").empty() || !hasReference;
    metrics.sqnr = metrics.cosine = metrics.agreement =
        metrics.agreementIfClasses = hasReference;
  }
  if (metrics.needsReference() && !hasReference)
    throwError("Usage",
               "metrics sqnr, cosine and agreement expect a reference");
  if (metrics.coco && given.text("boxes").empty())
    throwError("Usage", "metric coco expects boxes='yolov5', 'yolov8' or "
                        "'yolox'");
  return metrics;
}

py::tuple python::evaluate(const py::object &model, const py::object &reference,
                           const py::dict &options, const py::object &samples,
                           int64_t size, const std::vector<std::string> &names,
                           const py::object &progress) {
  Call call("DataError", progress);
  Options given(options);
  EvaluationOptions evaluation;
  evaluation.metrics = readMetrics(given, !reference.is_none());
  evaluation.data = readData(call, options, samples, size);
  evaluation.output = given.text("output");
  evaluation.labels = given.text("labels");
  evaluation.boxes.scoreThreshold =
      given.number("score", evaluation.boxes.scoreThreshold);
  evaluation.boxes.overlapThreshold =
      given.number("overlap", evaluation.boxes.overlapThreshold);
  if (evaluation.metrics.coco)
    evaluation.boxes.format =
        unwrap("Usage", parseBoxFormat(given.text("boxes")));
  evaluation.interrupted = [&]() { return call.isInterrupted(); };
  Candidate first, second;
  std::vector<std::string> dims = given.list("dims"),
                           shapes = given.list("input_shapes");
  first.module = call.read(readModelArgument(model), dims, shapes);
  first.source.name = names.at(0);
  if (!reference.is_none()) {
    second.module = call.read(readModelArgument(reference), dims, shapes);
    second.source.name = names.at(1);
  }
  std::string json, text;
  call.run([&]() -> LogicalResult {
    bool keepFirst = evaluation.data.batch > 1;
    if (failed(first.prepare(keepFirst)) ||
        (second.module && failed(second.prepare(keepFirst))))
      return failure();
    auto result = evaluateModel(
        first.source, second.module ? &second.source : nullptr, evaluation);
    if (!result)
      return call.fail(result.takeError());
    json = llvm::formatv("{0}", result->toJson()).str();
    llvm::raw_string_ostream os(text);
    result->print(os);
    return success();
  });
  return py::make_tuple(json, text);
}
