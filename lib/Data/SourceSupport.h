// What sources of samples share.

#ifndef ONNXQUANT_LIB_DATA_SOURCESUPPORT_H
#define ONNXQUANT_LIB_DATA_SOURCESUPPORT_H

#include "OnnxQuant/Data/DataSet.h"

namespace onnxquant {

/// What a source is opened for.
struct SourceRequest {
  /// All inputs of the model, and the one that arrays without a name are for.
  llvm::ArrayRef<InputInfo> inputs;
  const InputInfo &input;
  /// Whether it is for that one alone, by INPUT=PATH.
  bool isNamed;
  /// Whether no other source gives inputs.
  bool isOnlySource;
  const SampleOptions &preprocess;
  const NoteSink &note;

  /// The input that an array is for.
  const InputInfo &inputOf(llvm::StringRef name) const;
};

/// Opens a file, a folder or whatever a pattern names.
llvm::Expected<std::unique_ptr<DataSource>>
openSource(llvm::StringRef path, const SourceRequest &request);

/// An array as samples: how many, and the shape of each.
struct ArraySplit {
  int64_t count = 1;
  std::vector<int64_t> dims;
  /// A single number goes to every sample.
  bool isShared = false;
};
/// How many samples arrays have together.
int64_t countSamples(llvm::ArrayRef<ArraySplit> splits);
/// `path`, and which sample of it if there are several.
std::string placeIn(llvm::StringRef path, int64_t index, int64_t count);

/// How an array's first axis counts samples for an input. An array with one
/// dimension more than the input always does; one of the input's rank does if
/// `firstIsSamples`.
ArraySplit splitArray(llvm::ArrayRef<int64_t> dims, const InputInfo &input,
                      bool firstIsSamples);
HostTensor sliceOf(const HostTensor &array, const ArraySplit &split,
                   int64_t index);

/// An array that lies in a file as it is: all but its data, and where that
/// begins.
struct FileArray {
  HostTensor array;
  uint64_t offset = 0;
};

/// How the first axis of a file's arrays counts samples.
enum class FirstAxis {
  /// Always.
  Samples,
  /// If the input says how many entries a run has: otherwise all are one run.
  SamplesOfStatic
};
/// How the arrays of one file are split into samples, each for its input.
llvm::Expected<std::vector<ArraySplit>>
splitArrays(llvm::StringRef path, llvm::ArrayRef<HostTensor> arrays,
            const SourceRequest &request, FirstAxis axis);

/// Arrays of a file of which only the sample that is asked for is read.
std::unique_ptr<DataSource> openInFile(llvm::StringRef path,
                                       std::vector<FileArray> arrays,
                                       std::vector<ArraySplit> splits);
/// The arrays of an archive that can be read that way; none if one is packed.
llvm::Expected<std::optional<std::vector<FileArray>>>
findNpzArrays(llvm::StringRef path);

/// A NumPy file of which only the sample that is asked for is read.
llvm::Expected<std::unique_ptr<DataSource>> openNpy(llvm::StringRef path,
                                                    const InputInfo &input);

/// Gray images in a file of the form of MNIST's.
llvm::Expected<std::unique_ptr<DataSource>>
openIdx(llvm::StringRef path, const InputInfo &input,
        const SampleOptions &preprocess);

/// The files that a pattern such as `photos/*.jpg` names, or the lines of a
/// list.
bool isPattern(llvm::StringRef path);
std::vector<std::string> expandPattern(llvm::StringRef path);
llvm::Expected<std::vector<std::string>> readFileList(llvm::StringRef path);

} // namespace onnxquant

#endif // ONNXQUANT_LIB_DATA_SOURCESUPPORT_H
