// The right class of each sample: from a file, or from the folder it lies in.

#ifndef ONNXQUANT_EVALUATION_LABELS_H
#define ONNXQUANT_EVALUATION_LABELS_H

#include "OnnxQuant/Data/DataSet.h"

namespace onnxquant {

/// | source | labels |
/// |---|---|
/// | text, a number in each line | in the order of the samples |
/// | text, lines `FILE LABEL` | by the file's name or path |
/// | idx file of one dimension (as MNIST's), also gzip | in order |
/// | .npy of integers | in order |
/// | none | the sample's folder: its number, or its place among the folders |
class LabelSet {
public:
  /// Reads a file. Errors name it, and the line.
  static llvm::Expected<LabelSet> read(llvm::StringRef path);
  /// Takes the folders that a data set's files lie in as classes. Fails if its
  /// samples aren't files, or if all lie in one folder.
  static llvm::Expected<LabelSet> fromFolders(const DataSet &data);

  /// The label of a sample of a data set; the error names what is missing.
  llvm::Expected<int64_t> of(const DataSet &data, int64_t index) const;

private:
  std::vector<int64_t> inOrder;
  std::vector<std::pair<std::string, int64_t>> byName;
  std::string path;
};

} // namespace onnxquant

#endif // ONNXQUANT_EVALUATION_LABELS_H
