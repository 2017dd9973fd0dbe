// Boxes from heads: grids of cells with anchors.

#ifndef ONNXQUANT_LIB_EVALUATION_HEADS_H
#define ONNXQUANT_LIB_EVALUATION_HEADS_H

#include "OnnxQuant/Evaluation/Detections.h"

namespace onnxquant::detections {

/// As `decodeBoxes`, for networks whose outputs are heads.
llvm::Expected<std::vector<Detection>>
decodeHeads(llvm::ArrayRef<const HostTensor *> outputs, int64_t sample,
            const DecodeOptions &options);

} // namespace onnxquant::detections

#endif // ONNXQUANT_LIB_EVALUATION_HEADS_H
