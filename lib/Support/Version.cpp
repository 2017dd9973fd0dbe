// Which OnnxQuant this is.

#include "OnnxQuant/Support/Version.h"

static constexpr char commit[] =
#include "Commit.inc"
    ;

std::string onnxquant::shortVersion() {
  std::string text = ONNXQUANT_VERSION;
  if (commit[0])
    text += std::string(", commit ") + commit;
  return text;
}
