// How many channels a block has in a model with blocked tensors.
//
// ONNX Runtime takes what the processor that it runs on has: 16 with AVX-512
// and on 64-bit ARM, 8 elsewhere. A filter's channels that are no multiple of
// 16, or a Reorder of channels that fill up to another size in blocks of 8 than
// in blocks of 16, prove one of the two; where nothing does, it is this
// machine's, as in ONNX Runtime.

#include "GraphImporter.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

/// The block that ONNX Runtime has on this machine.
static int64_t hostBlock() {
#if defined(__aarch64__)
  return 16;
#else
  return llvm::sys::getHostCPUFeatures().lookup("avx512f") ? 16 : 8;
#endif
}

static int64_t intAttribute(const ::onnx_format::NodeProto &node,
                            StringRef name, int64_t missing) {
  for (const ::onnx_format::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return attribute.i();
  return missing;
}

namespace {
/// What the nodes of a model tell.
struct Evidence {
  bool isEight = false, isSixteen = false;
};
} // namespace

/// Channels that fill up to `filled`.
static void weighFilling(int64_t channels, int64_t filled, Evidence &evidence) {
  int64_t by8 = llvm::alignTo(channels, 8), by16 = llvm::alignTo(channels, 16);
  evidence.isEight |= filled == by8 && by8 != by16;
  evidence.isSixteen |= filled == by16 && by8 != by16;
}

static void weigh(const ::onnx_format::GraphProto &graph, Evidence &evidence) {
  llvm::StringMap<const ::onnx_format::TensorProto *> constants;
  for (const ::onnx_format::TensorProto &tensor : graph.initializer())
    constants[tensor.name()] = &tensor;
  // The channels that the maker of a blocked tensor gives it.
  llvm::StringMap<int64_t> filled;
  for (const ::onnx_format::NodeProto &node : graph.node()) {
    for (const ::onnx_format::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        weigh(attribute.g(), evidence);
    if (node.domain() != "com.microsoft.nchwc" || node.input_size() == 0 ||
        node.output_size() == 0)
      continue;
    if (node.op_type() == "ReorderOutput") {
      if (auto it = filled.find(node.input(0)); it != filled.end())
        weighFilling(intAttribute(node, "channels", 0), it->second, evidence);
      continue;
    }
    auto filter =
        node.input_size() > 1 ? constants.find(node.input(1)) : constants.end();
    if (node.op_type() != "Conv" || filter == constants.end() ||
        filter->second->dims_size() != 4)
      continue;
    int64_t outputs = filter->second->dims(0);
    int64_t inputs = filter->second->dims(1);
    filled[node.output(0)] = outputs;
    evidence.isEight |= outputs % 16 != 0;
    evidence.isSixteen |=
        intAttribute(node, "group", 1) == 1 && inputs > 8 && inputs % 8 != 0;
  }
}

int64_t GraphImporter::channelBlock() {
  if (blockSize)
    return *blockSize;
  Evidence evidence;
  weigh(model.graph(), evidence);
  if (evidence.isEight != evidence.isSixteen)
    blockSize = evidence.isEight ? 8 : 16;
  else
    blockSize = hostBlock();
  return *blockSize;
}
