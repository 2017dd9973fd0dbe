// What sources of samples share.

#ifndef ONNXQUANT_LIB_DATA_SOURCESUPPORT_H
#define ONNXQUANT_LIB_DATA_SOURCESUPPORT_H

#include "OnnxQuant/Data/DataSet.h"

namespace onnxquant {

/// An array as samples: how many, and the shape of each.
struct ArraySplit {
  int64_t count = 1;
  std::vector<int64_t> dims;
};

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

/// How the arrays of one file are split into samples: as those of `input`, or
/// where there are several for inputs by name, along their first axes.
llvm::Expected<std::vector<ArraySplit>>
splitArrays(llvm::StringRef path, llvm::ArrayRef<HostTensor> arrays,
            const InputInfo &input, bool onlyInput, bool firstIsSamples);

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

} // namespace onnxquant

#endif // ONNXQUANT_LIB_DATA_SOURCESUPPORT_H
