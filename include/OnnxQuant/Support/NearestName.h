// What a user may have meant by a name that doesn't exist.

#ifndef ONNXQUANT_SUPPORT_NEARESTNAME_H
#define ONNXQUANT_SUPPORT_NEARESTNAME_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace onnxquant {

/// The candidate with the least edit distance, the first of equals; empty if
/// there is none that is at most `farthest` away.
std::string nearestName(llvm::StringRef name,
                        llvm::ArrayRef<std::string> candidates,
                        unsigned farthest = ~0u - 1);

/// `; did you mean 'x'?`, or nothing if there are no candidates.
std::string suggestName(llvm::StringRef name,
                        llvm::ArrayRef<std::string> candidates);

/// `'a', 'b' and 'c'`; of many, the first and how many more there are.
std::string listNames(llvm::ArrayRef<std::string> names);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_NEARESTNAME_H
