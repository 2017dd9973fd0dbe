// Which OnnxQuant this is.

#ifndef ONNXQUANT_SUPPORT_VERSION_H
#define ONNXQUANT_SUPPORT_VERSION_H

#include <string>

namespace onnxquant {

/// Such as "0.1.0, commit 0123456789"; without the commit if it was built from
/// no checkout.
std::string shortVersion();

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_VERSION_H
