// How to quantize a model better: one command, tried before it is proposed.

#ifndef ONNXQUANT_TOOLS_ONNXQ_PROPOSAL_H
#define ONNXQUANT_TOOLS_ONNXQ_PROPOSAL_H

#include "CommandText.h"
#include "Models.h"
#include "OnnxQuant/Debugging/Debugging.h"

namespace onnxquant::cli {

struct ProposalRequest {
  std::string realPath, quantPath;
  /// How the model seems to have been quantized, and how samples are read.
  NamedOptions quantize, data;
  DataOptions samples;
  /// What a model is calibrated with.
  DataOptions calibration;
  bool sameSamples = true;
  ModelOptions model;
  /// How long to look at layers, about.
  double seconds = 60;
  bool quiet = false;
  std::function<bool()> interrupted;
};

/// Looks for options that make the outputs better: what the result advises, or
/// the layers that cost most left in float. Each is tried by quantizing the
/// model anew; the best is in the result then. Says in the result's notes if
/// nothing helps.
void proposeBetter(DebugResult &result, const ProposalRequest &request);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_PROPOSAL_H
