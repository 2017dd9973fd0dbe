// Numbers and switches as people write them.

#include "OnnxQuant/Support/Numbers.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace llvm;
using namespace onnxquant;

std::optional<double> onnxquant::parseNumber(StringRef text) {
  auto [above, below] = text.trim().split('/');
  double number, divisor = 1;
  if (above.trim().getAsDouble(number))
    return std::nullopt;
  if (text.contains('/') && (below.trim().getAsDouble(divisor) || divisor == 0))
    return std::nullopt;
  number /= divisor;
  return std::isfinite(number) ? std::optional<double>(number) : std::nullopt;
}

std::optional<bool> onnxquant::parseTruth(StringRef text) {
  return StringSwitch<std::optional<bool>>(text.lower())
      .Cases({"true", "yes", "on", "1"}, true)
      .Cases({"false", "no", "off", "0"}, false)
      .Default(std::nullopt);
}
