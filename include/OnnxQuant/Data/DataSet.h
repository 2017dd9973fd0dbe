// Samples for a model: read one at a time from whatever holds them.
//
// | path | samples |
// |---|---|
// | folder with test_data_set_* | one in each, from input_*.pb |
// | folder of JPEG, PNG, WebP and BMP files, also nested | one in each |
// | folder of .npy, .npz or .pb files | those of each |
// | pattern such as photos/*.jpg; .txt file with a path in each line | those of
//   each file |
// | .npy, .npz | along the first axis; arrays of .npz go to inputs by name |
// | .pb (TensorProto) | along the first axis if it has one more, or if the
//   input's first dimension is static; otherwise one |
// | idx file (as MNIST's), also gzip | along the first axis, as gray images |
//
// The order is that of the names, of a list that of its lines. INPUT=PATH gives
// each of several inputs a source of its own.

#ifndef ONNXQUANT_DATA_DATASET_H
#define ONNXQUANT_DATA_DATASET_H

#include "OnnxQuant/Data/ImageTransforms.h"
#include <functional>
#include <memory>
#include <set>

namespace onnxquant {

/// The tensors of one sample; those without a name fill inputs in order.
using Tensors = std::vector<HostTensor>;

/// Where samples come from, in a fixed order.
class DataSource {
public:
  virtual ~DataSource() = default;
  /// Of a stream, what is known of it beforehand; 0 if nothing is.
  virtual int64_t size() const = 0;
  /// Samples come one after the other, and their number shows at the end.
  virtual bool isStream() const { return false; }
  /// Whether there is such a sample. A stream reads on until it is there, so
  /// it may be asked for growing indices only, by the thread that opened it.
  virtual bool has(int64_t index) const { return index < size(); }
  /// Errors name the file.
  virtual llvm::Expected<Tensors> load(int64_t index) const = 0;
  /// Whether all samples have the same shapes, as far as can be told without
  /// reading them all; sources of unknown shapes say no.
  virtual bool isUniform() const = 0;
  /// The file that a sample is in, if that tells it from the others.
  virtual std::string fileOf(int64_t index) const { return ""; }
  /// How a message calls a sample: its file, and which one of it.
  virtual std::string placeOf(int64_t index) const = 0;
  /// How images become tensors; null if there are none.
  virtual const PreprocessPlan *imagePlan() const { return nullptr; }
};

/// Where messages about data go that are no errors.
using NoteSink = std::function<void(const std::string &)>;

struct DataOptions {
  /// Paths, or INPUT=PATH.
  std::vector<std::string> paths;
  /// Samples from elsewhere, instead of paths.
  std::shared_ptr<DataSource> source;
  SampleOptions preprocess;
  /// Which samples: leave out the first, take every n-th, stop after so many
  /// (0: never). Of those, shard i of n takes every n-th from the i-th on.
  int64_t start = 0, stride = 1, limit = 0;
  int64_t shard = 0, shards = 1;
  /// A part of those: what ranges are found with, or what is held back to judge
  /// the result by.
  enum class Part { All, Calibration, HeldBack };
  Part part = Part::All;
  /// Samples in a run.
  int64_t batch = 1;
  /// Count samples that can't be read instead of failing.
  bool skipBad = false;
  /// Told of what is done to data unasked; may be empty.
  NoteSink note;
};

/// How many of so many samples are for calibration where some are held back:
/// half of them, and no more than ranges need.
int64_t calibrationShare(int64_t samples);
/// Whether a sample is one of the `kept` of so many, which are spread evenly.
bool isForCalibration(int64_t index, int64_t samples, int64_t kept);

/// What is wrong with options whatever the data; errors name the option.
llvm::Error checkDataOptions(const DataOptions &options);

/// The samples that were asked for, checked against a model's inputs.
class DataSet {
public:
  static llvm::Expected<DataSet> open(const DataOptions &options,
                                      std::vector<InputInfo> inputs);

  /// How many samples were chosen; of a stream, how many it may have, 0 if
  /// that isn't known.
  int64_t size() const {
    return streamed ? streamSize() : static_cast<int64_t>(chosen.size());
  }
  bool isStream() const { return streamed; }
  /// Whether there is such a sample; see `DataSource::has`.
  bool has(int64_t index) const;
  bool isUniform() const { return uniform; }
  /// One sample in the order of the inputs, with their shapes and types.
  llvm::Expected<Tensors> load(int64_t index) const;
  /// A sample's place among all samples of the source.
  int64_t position(int64_t index) const {
    return streamed ? streamPlace(index) : chosen[index];
  }
  /// How many samples the source has, chosen or not.
  int64_t sourceSize() const { return sources[0].second->size(); }
  /// The file that a sample is in; empty if files hold several.
  std::string fileOf(int64_t index) const {
    return sources[0].second->fileOf(position(index));
  }
  /// How images become tensors; null if the samples are none.
  const PreprocessPlan *imagePlan() const;
  /// How a message calls a sample: its file, and which one of it.
  std::string placeOf(int64_t index) const;
  /// Says of what samples a failed run was, with their shapes, and what could
  /// help. `inputs` is what was run.
  std::string explain(const std::string &failure,
                      llvm::ArrayRef<int64_t> samples,
                      const Tensors &inputs) const;
  /// The same without a failure: of samples and shapes.
  std::string describe(llvm::ArrayRef<int64_t> samples,
                       const Tensors &inputs) const;

private:
  llvm::Expected<Tensors> loadAll(int64_t index) const;
  llvm::Error fit(HostTensor &tensor, const InputInfo &input) const;
  /// Says it once.
  void note(const std::string &message) const;
  int64_t streamSize() const;
  int64_t streamPlace(int64_t index) const;

  std::vector<InputInfo> inputs;
  /// A source for all inputs, or one for each.
  std::vector<std::pair<std::string, std::shared_ptr<DataSource>>> sources;
  std::vector<int64_t> chosen;
  bool uniform = false, streamed = false;
  NoteSink sink;
  /// What has been said.
  std::shared_ptr<std::set<std::string>> said;
  /// Which samples of a stream are taken.
  int64_t start = 0, stride = 1, limit = 0, shard = 0, shards = 1;
};

/// Puts samples of equal shapes together along the first dimension. Fails,
/// naming the input, where they differ.
llvm::Expected<Tensors> stack(llvm::ArrayRef<Tensors> samples);

/// Reads a data set from its start, so many samples at a time.
class BatchReader {
public:
  BatchReader(const DataSet &data, const DataOptions &options)
      : data(data), options(options) {}

  /// The next samples, put together; none at the end. Samples that can't be
  /// read are left out where that is asked for.
  llvm::Expected<std::optional<Tensors>> next();

  /// The samples of the last batch.
  llvm::ArrayRef<int64_t> indices() const { return last; }
  /// How many samples were looked at, and why some were left out.
  int64_t position() const { return at; }
  llvm::ArrayRef<std::string> skipped() const { return reasons; }

private:
  const DataSet &data;
  const DataOptions &options;
  int64_t at = 0;
  std::vector<int64_t> last;
  std::vector<std::string> reasons;
};

/// I/N, or `auto` for what the engine that started this process says: Slurm
/// array jobs, Open MPI, Kubernetes indexed jobs. Sets shard and shards.
llvm::Error parseShard(llvm::StringRef text, DataOptions &options);

} // namespace onnxquant

#endif // ONNXQUANT_DATA_DATASET_H
