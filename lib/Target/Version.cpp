// What a tool is and what it can compile for.

#include "OnnxQuant/Support/Version.h"
#include "OnnxQuant/Target/Target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"

using namespace onnxquant;

std::string onnxquant::versionText(llvm::StringRef tool) {
  return (tool + " " + shortVersion() + "\nLLVM " + LLVM_VERSION_STRING +
          "\nthis processor: " + llvm::sys::getHostCPUName() +
          "\ntargets: " + llvm::join(getTargetNames(), ", ") + "\n")
      .str();
}
