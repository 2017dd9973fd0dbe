// What a user may have meant by a name that doesn't exist.

#include "OnnxQuant/Support/NearestName.h"

using namespace onnxquant;

std::string onnxquant::nearestName(llvm::StringRef name,
                                   llvm::ArrayRef<std::string> candidates,
                                   unsigned farthest) {
  std::string best;
  unsigned least = farthest + 1;
  for (const std::string &candidate : candidates) {
    unsigned distance = name.edit_distance(candidate, true, least);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string onnxquant::suggestName(llvm::StringRef name,
                                   llvm::ArrayRef<std::string> candidates) {
  std::string best = nearestName(name, candidates);
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}
