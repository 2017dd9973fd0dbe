// ONNX Runtime's calibration table: pairs of strings.

#ifndef ONNXQUANT_LIB_STATISTICS_TABLEFLATBUFFERS_H
#define ONNXQUANT_LIB_STATISTICS_TABLEFLATBUFFERS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>

namespace onnxquant {

std::string writeTrtTable(const std::map<std::string, std::string> &pairs);
llvm::Expected<std::map<std::string, std::string>>
readTrtTable(llvm::StringRef bytes);

} // namespace onnxquant

#endif // ONNXQUANT_LIB_STATISTICS_TABLEFLATBUFFERS_H
