// How good a model is: on labelled samples, and beside a reference.

#ifndef ONNXQUANT_EVALUATION_EVALUATION_H
#define ONNXQUANT_EVALUATION_EVALUATION_H

#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/Evaluation/Coco.h"
#include "OnnxQuant/Evaluation/Labels.h"
#include "OnnxQuant/Support/Executor.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>

namespace onnxquant {

/// What is computed.
struct Metrics {
  bool top1 = false, top5 = false, coco = false;
  /// These need a reference.
  bool sqnr = false, cosine = false, agreement = false;
  /// Nobody asked for the agreement: it is told where it means something.
  bool agreementIfClasses = false;

  bool needsLabels() const { return top1 || top5; }
  bool needsReference() const { return sqnr || cosine || agreement; }
  bool any() const { return needsLabels() || needsReference() || coco; }
};
/// Reads names separated by commas; the error lists those that there are.
llvm::Expected<Metrics> parseMetrics(llvm::StringRef text);

/// Hits among labelled samples.
struct TopCounts {
  int64_t samples = 0, top1 = 0, top5 = 0;
  /// Whether each sample was one.
  std::vector<char> hits1, hits5;
  /// Counts one sample. Among equal scores the first class goes first.
  void add(llvm::ArrayRef<double> scores, int64_t label);
  double top1Share() const { return share(top1); }
  double top5Share() const { return share(top5); }

private:
  double share(int64_t hits) const {
    return samples ? static_cast<double>(hits) / static_cast<double>(samples)
                   : 0;
  }
};

/// The class with the highest score, the first of equals.
int64_t bestClass(llvm::ArrayRef<double> scores);

/// Two models' outputs beside each other.
struct Likeness {
  double signal = 0, noise = 0, dot = 0, other = 0;
  /// Rows along the last axis, and how many have the same best class; samples,
  /// and how many have that in all their rows.
  int64_t rows = 0, agreements = 0, samples = 0, equalSamples = 0;
  /// The signal and noise of each run, for how much they vary.
  std::vector<std::pair<double, double>> energies;
  void add(double right, double mine);
  /// Counts the rows of an output of some samples.
  void addClasses(const HostTensor &right, const HostTensor &mine,
                  int64_t samples);
  double agreement() const;
  double equalShare() const;
  double sqnr() const;
  double cosine() const;
};

/// The classes of an output: its last dimension, ones behind it left out.
int64_t classesOf(const HostTensor &output);
/// Whether rows along the last axis are scores of classes: a vector for each
/// sample, or rows of probabilities or of their logarithms. Maps, boxes and
/// hidden states are not.
bool hasClassScores(const HostTensor &output);

/// Times of runs, in milliseconds.
class Latencies {
public:
  void add(double milliseconds) { times.push_back(milliseconds); }
  void clear() { times.clear(); }
  bool empty() const { return times.empty(); }
  /// The time that a share of the runs didn't exceed.
  double quantile(double share) const;

private:
  std::vector<double> times;
};

/// What was found of one model.
struct ModelScore {
  std::string name;
  int64_t bytes = 0;
  TopCounts top;
  CocoSummary coco;
  Latencies latencies;
  std::vector<Detection> detections;
};

struct EvaluationResult {
  Metrics metrics;
  int64_t samples = 0, skipped = 0, batch = 1;
  ModelScore model;
  std::optional<ModelScore> reference;
  std::optional<Likeness> likeness;

  llvm::json::Value toJson() const;
  void print(llvm::raw_ostream &os) const;
};

struct EvaluationOptions {
  Metrics metrics;
  DataOptions data;
  /// The output that scores or boxes are read from; empty: the first. Of boxes
  /// in several heads: their outputs, separated by commas; empty: all.
  std::string output;
  /// A file of labels, or of annotations; empty: folders are classes.
  std::string labels;
  /// How outputs mean boxes, and how pictures were put into tensors that hold
  /// them; none: they were stretched.
  DecodeOptions boxes;
  enum class Fit { Stretched, Letterboxed, TopLeft };
  std::optional<Fit> fit;
  bool quiet = false;
  /// Asked between runs; true ends the work.
  std::function<bool()> interrupted;
};

/// Compiles a model: for samples of this one's sizes, or, where `open`, for all
/// sizes that the model takes.
using MakeProgram = std::function<llvm::Expected<std::unique_ptr<Program>>(
    const Tensors &sample, bool open)>;

/// A model to be evaluated.
struct ModelSource {
  std::string name;
  int64_t bytes = 0;
  std::vector<InputInfo> inputs;
  /// Compiled already: it takes the sizes that it takes.
  bool isCompiled = false;
  MakeProgram make;
};

/// Runs samples through a model, and through a reference if there is one.
/// Errors name the sample, file or output.
llvm::Expected<EvaluationResult>
evaluateModel(const ModelSource &model, const ModelSource *reference,
              const EvaluationOptions &options);

/// Boxes from a file against annotations.
llvm::Expected<EvaluationResult> evaluateFile(llvm::StringRef detections,
                                              llvm::StringRef annotations);

} // namespace onnxquant

#endif // ONNXQUANT_EVALUATION_EVALUATION_H
