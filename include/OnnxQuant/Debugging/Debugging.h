// Where a quantized model loses accuracy: its tensors and weights beside those
// of the float model.

#ifndef ONNXQUANT_DEBUGGING_DEBUGGING_H
#define ONNXQUANT_DEBUGGING_DEBUGGING_H

#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/Debugging/Errors.h"
#include "OnnxQuant/Support/Executor.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <map>

namespace onnxquant {

/// How numbers of a tensor are stored.
struct StoredAs {
  /// `u8` and so on; empty for floats.
  std::string type;
  /// Scales are computed at run time.
  bool dynamic = false;
  /// One, or one for each channel; empty if they are dynamic.
  std::vector<double> scales;
  std::vector<int64_t> zeroPoints;
  /// The numbers that can be stored; for one scale only.
  std::optional<std::pair<double, double>> range;
};

/// A weight or a bias.
struct DebugWeight {
  std::string name, node;
  /// The tensor that the node multiplies by weights.
  std::string input;
  /// `weight` or `bias`.
  std::string kind;
  StoredAs stored;
  std::vector<int64_t> shape;
  ErrorSums errors;
  /// The share of numbers that are stored as the least or greatest one although
  /// they lie beyond it.
  double saturated = 0;
  /// The scale isn't written beside the weight, and was fitted.
  bool fitted = false;
  /// A bias that was moved on purpose, to make up for the error of its weights:
  /// with it the means of the node's results are closer to the float model's.
  bool corrected = false;
};

/// Something to try.
struct Advice {
  std::string text;
  /// The option of `onnxq quantize` that does it, and its value; empty if
  /// quantizing again does.
  std::string option, value;
};

/// A tensor that is computed, in both models.
struct DebugTensor {
  /// The float model's names of the tensor and of the node that makes it.
  std::string name, node, opType;
  /// Position in the float model.
  int64_t order = 0;
  StoredAs stored;
  /// The quantized model's tensor against the float model's.
  ErrorSums errors;
  /// The tensor before and after its own quantization.
  ErrorSums own;
  /// `own` is of the quantized model's numbers; otherwise those of the float
  /// model are quantized, since the node gives integers.
  bool ownMeasured = false;
  /// Values of `own` that lie beyond what can be stored.
  int64_t saturated = 0;
  /// The node on the quantized model's operands with float weights, against
  /// what it really gave.
  std::optional<ErrorSums> local;
  /// A graph's output, and what it is called as such.
  bool isOutput = false;
  std::string outputName;
  /// What to try; empty if the tensor is well.
  std::vector<Advice> advice;

  /// Decibels; none where there is nothing to compare.
  std::optional<double> qdqError() const;
  std::optional<double> crossError() const;
  std::optional<double> localError() const;
  /// What this tensor and its node add to the error: noise to signal.
  double added() const;
  double saturatedShare() const;
  bool isInput() const { return opType == "input"; }
  /// The samples are not what the input's range was found with.
  bool isMismatch() const;
};

/// What one sample showed.
struct DebugSample {
  int64_t index = 0;
  std::string file;
  /// Energies at the outputs.
  double signal = 0, noise = 0;
  /// The tensor with the largest share of values beyond its range, if any are.
  std::string cutTensor;
  double cutShare = 0;

  double noiseShare() const;
};

/// A node of the float graph, for drawings.
struct DebugNode {
  std::string name, op;
  /// Its results.
  std::vector<std::string> tensors;
  /// The nodes that it reads from, by their places.
  std::vector<int64_t> sources;
};

/// How to quantize better, and what that gave when it was tried.
struct Proposal {
  std::string command;
  /// What it changes, in words.
  std::vector<std::string> changes;
  /// Decibels at the outputs.
  double before = 0, after = 0;
  /// The samples that it was judged by are also those that gave it its ranges:
  /// on others it may gain less.
  bool sameSamples = false;
  /// The shares of multiply-adds in 8 bits, which tell what it costs in speed;
  /// none if they aren't known.
  std::optional<double> int8Before = std::nullopt, int8After = std::nullopt;
};

/// How the comparison was made, for those who find its report later.
struct DebugRun {
  std::string command, version, date, machine;
  std::vector<std::string> data;
};

/// What the result comes to.
enum class Verdict {
  /// The data doesn't go with the model; nothing else is judged.
  InputMismatch,
  /// Some layers stand out.
  Layers,
  /// The outputs are bad, but no layer stands out.
  Spread,
  Good
};

struct DebugResult {
  std::string realModel, quantModel;
  int64_t samples = 0, skipped = 0;
  /// The float model was prepared as `onnxq quantize` does, to match.
  bool prepared = false;
  /// In the order of the float model.
  std::vector<DebugTensor> tensors;
  std::vector<DebugWeight> weights;
  /// Quantized tensors that the float model has no counterpart of.
  std::vector<std::string> unmatched;
  /// What else is to be known: branches, samples that were left out.
  std::vector<std::string> notes;
  std::vector<DebugSample> perSample;
  /// The graph that is compared with.
  std::vector<DebugNode> graph;
  /// Nodes of the quantized model, and those of the float model that they stand
  /// for.
  std::map<std::string, std::string> standsFor;

  /// Added to the result by who asked for it.
  DebugRun run;
  std::optional<Proposal> proposal;
  /// Milliseconds of nodes of the float model in a run of the quantized one,
  /// and of the whole run.
  std::map<std::string, double> milliseconds;
  double totalMilliseconds = 0;
  /// Decibels at the outputs if only a node is quantized, where that was
  /// measured.
  std::map<std::string, double> alone;
  /// The result of another run, as `toJson` gives it; null if there is none.
  llvm::json::Value other = nullptr;

  Verdict verdict() const;
  /// The output with the most noise; null without outputs.
  const DebugTensor *worstOutput() const;
  /// Indices of tensors, those that add most error first.
  std::vector<size_t> ranking() const;
  llvm::json::Value toJson() const;
  /// The ranking as a table, at most `limit` lines of it; 0 for all.
  void print(llvm::raw_ostream &os, int64_t limit) const;
  /// A page that needs nothing else.
  std::string toHtml() const;
};

struct DebugOptions {
  DataOptions data;
  bool quiet = false;
  /// Asked between runs; true ends the work.
  std::function<bool()> interrupted;
};

/// Whether a model has nodes or tensors that are quantized.
bool isQuantizedModel(mlir::ModuleOp module);

/// How a model seems to have been quantized: options of `onnxq quantize` that
/// are not the default.
std::vector<std::pair<std::string, std::string>>
guessQuantizeOptions(mlir::ModuleOp module);

/// Runs samples through both models and compares. `prepared` is the float model
/// prepared for quantization, and is used where it matches better; it may be
/// null. Branches of If that samples take are looked into, and bodies of Loop
/// and Scan. Errors are diagnostics.
llvm::FailureOr<DebugResult>
debugModels(mlir::ModuleOp real, mlir::ModuleOp prepared, mlir::ModuleOp quant,
            Executor &executor, const DebugOptions &options);

} // namespace onnxquant

#endif // ONNXQUANT_DEBUGGING_DEBUGGING_H
