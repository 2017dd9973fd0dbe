// Samples for a model: read one at a time from whatever holds them.
//
// | path | samples |
// |---|---|
// | folder with test_data_set_* | one in each, from input_*.pb |
// | folder of JPEG and PNG files, also nested | one in each, preprocessed |
// | folder of .npy, .npz or .pb files | those of each |
// | .npy, .npz | along the first axis |
// | .pb (TensorProto) | one, or along the first axis if it has one more |
// | idx file (as MNIST's), also gzip | along the first axis, as gray images |
//
// The order is that of the names. INPUT=PATH gives each of several inputs a
// source of its own.

#ifndef ONNXQUANT_DATA_DATASET_H
#define ONNXQUANT_DATA_DATASET_H

#include "OnnxQuant/Data/Preprocess.h"
#include <memory>

namespace onnxquant {

/// The tensors of one sample; those without a name fill inputs in order.
using Tensors = std::vector<HostTensor>;

/// Where samples come from, in a fixed order.
class DataSource {
public:
  virtual ~DataSource() = default;
  virtual int64_t size() const = 0;
  /// Errors name the file.
  virtual llvm::Expected<Tensors> load(int64_t index) const = 0;
  /// Whether all samples have the same shapes, as far as can be told without
  /// reading them all; sources of unknown shapes say no.
  virtual bool isUniform() const = 0;
  /// The file that a sample is in, if that tells it from the others.
  virtual std::string fileOf(int64_t index) const { return ""; }
};

struct DataOptions {
  /// Paths, or INPUT=PATH.
  std::vector<std::string> paths;
  SampleOptions preprocess;
  /// Which samples: leave out the first, take every n-th, stop after so many
  /// (0: never). Of those, shard i of n takes every n-th from the i-th on.
  int64_t start = 0, stride = 1, limit = 0;
  int64_t shard = 0, shards = 1;
  /// Samples in a run.
  int64_t batch = 1;
  /// Count samples that can't be read instead of failing.
  bool skipBad = false;
};

/// The samples that were asked for, checked against a model's inputs.
class DataSet {
public:
  static llvm::Expected<DataSet> open(const DataOptions &options,
                                      std::vector<InputInfo> inputs);

  /// How many samples were chosen.
  int64_t size() const { return static_cast<int64_t>(chosen.size()); }
  bool isUniform() const { return uniform; }
  /// One sample in the order of the inputs, with their shapes and types.
  llvm::Expected<Tensors> load(int64_t index) const;
  /// A sample's place among all samples of the source.
  int64_t position(int64_t index) const { return chosen[index]; }
  /// How many samples the source has, chosen or not.
  int64_t sourceSize() const { return sources[0].second->size(); }
  /// The file that a sample is in; empty if files hold several.
  std::string fileOf(int64_t index) const {
    return sources[0].second->fileOf(chosen[index]);
  }

private:
  std::vector<InputInfo> inputs;
  /// A source for all inputs, or one for each.
  std::vector<std::pair<std::string, std::shared_ptr<DataSource>>> sources;
  std::vector<int64_t> chosen;
  bool uniform = false;
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

/// Whether the first axis of an array counts samples for an input, and how many
/// entries a sample has.
llvm::Expected<std::unique_ptr<DataSource>>
openSource(llvm::StringRef path, const InputInfo &input, bool onlyInput,
           const SampleOptions &preprocess);

} // namespace onnxquant

#endif // ONNXQUANT_DATA_DATASET_H
