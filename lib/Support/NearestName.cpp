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

std::string onnxquant::listNames(llvm::ArrayRef<std::string> names) {
  static constexpr size_t most = 8;
  size_t shown = names.size() > most ? most : names.size();
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0)
      text += i + 1 == names.size() ? " and " : ", ";
    text += "'" + names[i] + "'";
  }
  if (names.size() > shown)
    text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}
