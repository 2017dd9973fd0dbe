// What a quantization ends with.

#include "QuantizeSummary.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Support/Quantization.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

/// As many inputs and outputs are listed.
static constexpr size_t mostListed = 4;

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

std::set<std::string> onnxquant::cli::normalizedInputs(ModuleOp module) {
  std::set<std::string> names;
  FailureOr<func::FuncOp> graph = findGraph(module);
  if (failed(graph))
    return names;
  for (BlockArgument argument : graph->getArguments()) {
    auto scales = [](Operation *op) {
      auto node = dyn_cast<onnx::NodeOpInterface>(op);
      return node && llvm::is_contained({"Sub", "Mul", "Div", "Add", "Cast",
                                         "BatchNormalization"},
                                        node.getOnnxOpType());
    };
    auto name = graph->getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    onnx::argNameAttr);
    if (name && !argument.use_empty() &&
        llvm::all_of(argument.getUsers(), scales))
      names.insert(name.str());
  }
  return names;
}

/// Other inputs have no ranges: zeros mean something there, as types of words.
static bool isFloat(const SeenInput &input) {
  return llvm::is_contained({1, 10, 11, 16}, input.type);
}

/// Whether an input seems to hold pixels as files have them.
static bool looksRaw(const SeenInput &input, const SeenRuns &seen) {
  constexpr double dark = 16, bright = 255;
  return isFloat(input) && input.dims.size() == 4 && input.min >= 0 &&
         input.max > dark && input.max <= bright &&
         (input.isWhole || seen.hasImages);
}

/// What is odd about an input's values; empty if nothing is.
static std::string oddity(const SeenInput &input, const SeenRuns &seen,
                          const std::set<std::string> &normalized) {
  if (input.min > input.max)
    return ", no finite value";
  if (isFloat(input) && input.min == 0 && input.max == 0)
    return ", all zero: ranges of such data mean nothing";
  if (!looksRaw(input, seen) || seen.isNormalized ||
      normalized.count(input.name))
    return "";
  return std::string(", looks like raw pixels; did you mean ") +
         (seen.hasImages ? "--scale 1/255?" : "to divide by 255?");
}

void onnxquant::cli::printSeen(llvm::raw_ostream &os, const SeenRuns &seen,
                               int64_t samples, int64_t skipped,
                               const std::set<std::string> &normalized) {
  os << "samples      " << samples;
  if (skipped > 0)
    os << " (" << skipped << " skipped)";
  if (samples == 1)
    os << ": ranges hold for this one only; some 100 are usual";
  os << "\n";
  for (auto [index, input] : llvm::enumerate(seen.inputs)) {
    if (index == mostListed) {
      os << "             and " << seen.inputs.size() - index << " more\n";
      break;
    }
    os << (index ? "             " : "input        ") << input.name << ": ";
    if (input.min <= input.max)
      os << llvm::format("%g to %g", input.min, input.max);
    os << oddity(input, seen, normalized) << "\n";
  }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// A copy for inputs of these shapes.
static OwningOpRef<ModuleOp> specializedCopy(ModuleOp module,
                                             const Tensors &shapes) {
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
  FailureOr<func::FuncOp> graph = findGraph(*copy);
  if (failed(graph))
    return {};
  specializeInputs(*graph, shapes, /*keepFirst=*/false);
  PassManager pm(module.getContext());
  pm.addPass(createShapeInference());
  if (failed(pm.run(*copy)))
    return {};
  return copy;
}

/// Keeps errors to itself: what is written is written.
namespace {
struct Muted {
  explicit Muted(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (text.empty() &&
              diagnostic.getSeverity() == DiagnosticSeverity::Error)
            text = diagnostic.str();
          return success();
        }) {}
  std::string text;
  ScopedDiagnosticHandler handler;
};
} // namespace

/// The shapes of inputs to count with: those of samples, or one entry where
/// only the batch is open. None if they aren't known.
static std::optional<Tensors> shapesToCount(func::FuncOp graph,
                                            const SeenRuns &seen) {
  Tensors shapes;
  for (BlockArgument argument : graph.getArguments()) {
    HostTensor &shape = shapes.emplace_back();
    if (argument.getArgNumber() < seen.inputs.size()) {
      shape.dims = seen.inputs[argument.getArgNumber()].dims;
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      return std::nullopt;
    shape.dims.assign(type.getShape().begin(), type.getShape().end());
    if (!shape.dims.empty() && ShapedType::isDynamic(shape.dims[0]))
      shape.dims[0] = 1;
    if (llvm::any_of(shape.dims, ShapedType::isDynamic))
      return std::nullopt;
  }
  return shapes;
}

void QuantizeSummary::count(ModuleOp quantized, const SeenRuns &seen) {
  Muted muted(quantized.getContext());
  OwningOpRef<ModuleOp> copy;
  FailureOr<func::FuncOp> graph = findGraph(quantized);
  if (succeeded(graph))
    if (std::optional<Tensors> shapes = shapesToCount(*graph, seen))
      copy = specializedCopy(quantized, *shapes);
  share = getIntegerShare(copy ? *copy : quantized);
}

void QuantizeSummary::compare(ModuleOp quantized, const SeenRuns &seen,
                              Executor &executor) {
  if (seen.samples.empty())
    return;
  Muted muted(quantized.getContext());
  OwningOpRef<ModuleOp> copy = specializedCopy(quantized, seen.samples[0]);
  FailureOr<std::unique_ptr<Program>> program = failure();
  if (copy)
    program = executor.compile(*copy);
  if (failed(program)) {
    notCompared = muted.text;
    return;
  }
  struct Sums {
    double signal = 0, noise = 0;
  };
  std::vector<Sums> sums(seen.outputs[0].size());
  for (auto [sample, right] : llvm::zip(seen.samples, seen.outputs)) {
    auto mine = (*program)->run(sample);
    if (!mine) {
      notCompared = llvm::toString(mine.takeError());
      return;
    }
    for (size_t i = 0; i < sums.size() && i < mine->size(); ++i) {
      const HostTensor &a = right[i], &b = (*mine)[i];
      for (int64_t k = 0; k < a.numElements() && a.dims == b.dims; ++k) {
        double x = a.at(k), error = x - b.at(k);
        if (!std::isfinite(x) || !std::isfinite(error))
          continue;
        sums[i].signal += x * x;
        sums[i].noise += error * error;
      }
    }
    ++comparedSamples;
  }
  for (auto [index, each] : llvm::enumerate(sums))
    outputs.push_back(
        {seen.outputs[0][index].name,
         signalToNoise(std::sqrt(each.signal), std::sqrt(each.noise))});
}

std::optional<double> QuantizeSummary::worst() const {
  std::optional<double> least;
  for (const OutputLikeness &output : outputs)
    least = std::min(least.value_or(output.decibels), output.decibels);
  return least;
}

static std::string sizeText(int64_t bytes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (bytes >= 1000000)
    os << llvm::format("%.2f MB", bytes / 1e6);
  else
    os << llvm::format("%.1f KB", bytes / 1e3);
  return text;
}

/// How much of the work is done with integers.
static void printShare(llvm::raw_ostream &os, const QuantizeSummary &summary) {
  const IntegerShare &share = summary.share;
  const QuantizeReport &report = summary.report;
  // Codes are multiplied in float.
  if (report.weights > 0 && report.activations == 0 &&
      share.integerNodes == 0) {
    os << "quantized    the weights of " << report.numQuantized() << " node"
       << (report.numQuantized() == 1 ? "" : "s") << ", nothing else\n";
    return;
  }
  os << "int8         ";
  if (share.macs > 0 && share.uncounted == 0) {
    double percent = 100.0 * static_cast<double>(share.integerMacs) /
                     static_cast<double>(share.macs);
    // Nearly all is not all.
    if (share.integerMacs < share.macs)
      percent = std::min(percent, 99.9);
    os << llvm::format(percent == 100 ? "%.0f %%" : "%.1f %%", percent)
       << " of the multiply-adds, ";
  }
  os << share.integerNodes << " of " << share.nodes
     << " convolutions and products\n";
}

static void printOutputs(llvm::raw_ostream &os,
                         const QuantizeSummary &summary) {
  if (!summary.notCompared.empty())
    os << "output       not compared: " << summary.notCompared << "\n";
  for (auto [index, output] : llvm::enumerate(summary.outputs)) {
    if (index == mostListed) {
      os << "             and " << summary.outputs.size() - index
         << " more, the worst " << llvm::format("%.1f dB\n", *summary.worst());
      break;
    }
    os << (index ? "             " : "output       ") << output.name << ": "
       << llvm::format("%.1f dB", output.decibels);
    if (index == 0)
      os << " beside the float model's, on " << summary.comparedSamples
         << " calibration sample" << (summary.comparedSamples == 1 ? "" : "s");
    os << "\n";
  }
}

void QuantizeSummary::print(llvm::raw_ostream &os, bool verbose) const {
  os << "mode         " << report.mode << ", placement " << report.placement
     << "\n";
  printShare(os, *this);
  printOutputs(os, *this);
  if (verbose)
    report.print(os);
  for (const std::string &note : report.notes)
    os << "note         " << note << "\n";
  if (!saturation.empty())
    os << "note         " << saturation << "\n";
  os << "wrote        " << path << ", " << sizeText(bytes)
     << " (before: " << sizeText(bytesBefore) << "), in "
     << llvm::format("%.1f s\n", seconds);
  for (auto [index, command] : llvm::enumerate(next))
    os << (index ? "             " : "next         ") << command << "\n";
}
