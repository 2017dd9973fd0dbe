// Tensors in NumPy's files.

#ifndef ONNXQUANT_SUPPORT_NUMPY_H
#define ONNXQUANT_SUPPORT_NUMPY_H

#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/HostTensor.h"

namespace onnxquant {

/// Reads an array (`.npy`). Arrays in Fortran order are put into C order.
llvm::Expected<HostTensor> readNpy(llvm::StringRef path);
/// The same from memory; `path` stands for it in errors.
llvm::Expected<HostTensor> parseNpy(llvm::StringRef bytes,
                                    llvm::StringRef path);
/// Reads all arrays of an archive (`.npz`), stored or deflated, in the file's
/// order; each has its name there.
llvm::Expected<std::vector<HostTensor>> readNpz(llvm::StringRef path);

/// An array of an archive: where its `.npy` file begins in the archive, if it
/// is stored there as it is.
struct NpzEntry {
  std::string name;
  bool isStored = false;
  uint64_t offset = 0, bytes = 0;
};
/// The arrays of an archive without their data. The checksums of stored ones
/// are compared, a part of the file at a time.
llvm::Expected<std::vector<NpzEntry>> listNpz(llvm::StringRef path);

/// Writes an array to a file that has yet to be put into place. Types that
/// NumPy doesn't have are written as their bits.
llvm::Expected<std::unique_ptr<AtomicFile>> prepareNpy(const HostTensor &tensor,
                                                       llvm::StringRef path);
/// Writes an array.
llvm::Error writeNpy(const HostTensor &tensor, llvm::StringRef path);

/// NumPy's name of an ONNX type, such as `<f4`; empty if models don't have it.
llvm::StringRef numpyType(int32_t type);
/// The first ONNX type that NumPy writes under a name; 0 if there is none.
int32_t typeFromNumpy(llvm::StringRef descr);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_NUMPY_H
