// What a search has found so far, as a file.

#ifndef ONNXQUANT_LIB_BUDGET_CHECKPOINT_H
#define ONNXQUANT_LIB_BUDGET_CHECKPOINT_H

#include "OnnxQuant/Budget/Bounds.h"
#include "OnnxQuant/Budget/Costs.h"
#include "OnnxQuant/Debugging/Sensitivity.h"
#include <map>

namespace onnxquant::budget {

struct Checkpoint {
  /// Of which search it is.
  std::string identity;
  /// The energies of the sources, without what they are.
  std::optional<SourceSensitivity> sensitivity;
  std::optional<Costs> costs;
  /// By place.
  std::map<int64_t, Score> scores;
  std::map<int64_t, double> milliseconds;

  llvm::Error save(llvm::StringRef path) const;
  /// What a file has; empty if there is none. A file of another search is
  /// refused.
  static llvm::Expected<Checkpoint> load(llvm::StringRef path,
                                         llvm::StringRef identity);
};

} // namespace onnxquant::budget

#endif // ONNXQUANT_LIB_BUDGET_CHECKPOINT_H
