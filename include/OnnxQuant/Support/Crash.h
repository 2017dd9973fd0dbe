// How a program that fails by its own fault says so.

#ifndef ONNXQUANT_SUPPORT_CRASH_H
#define ONNXQUANT_SUPPORT_CRASH_H

#include "llvm/ADT/StringRef.h"

namespace onnxquant {

/// From now on every way to crash ends with words for users: signals, LLVM's
/// fatal errors, exceptions that nobody takes. `version` is what a report
/// should name. Running out of memory, and output that can't be written, are
/// errors like others.
void installCrashHandler(int argc, const char *const *argv,
                         llvm::StringRef version);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_CRASH_H
