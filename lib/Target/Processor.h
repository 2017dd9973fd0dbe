// What code needs of a processor, as a program can ask for it.

#ifndef ONNXQUANT_LIB_TARGET_PROCESSOR_H
#define ONNXQUANT_LIB_TARGET_PROCESSOR_H

#include "OnnxQuant/Target/Target.h"

namespace onnxquant {

/// A row of ProcessorFeatures.def.
struct ProcessorFeature {
  llvm::StringLiteral name;
  unsigned word, bit;
  uint32_t state;
};

/// What the table has for an architecture.
llvm::ArrayRef<ProcessorFeature> knownFeatures(llvm::StringRef triple);

/// Whether a target has all of these features ("+a,+b").
bool hasFeatures(const TargetOptions &options, llvm::StringRef features);

/// A line on a target, as onnxq_model's `targets` has it.
std::string targetLine(const TargetOptions &options);

} // namespace onnxquant

#endif // ONNXQUANT_LIB_TARGET_PROCESSOR_H
