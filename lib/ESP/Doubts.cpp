// What of a .espdl file is doubtful on a chip: it runs here, but kernels refuse
// it, or copy numbers between tensors of other exponents.

#include "OnnxQuant/ESP/Simulate.h"
#include "Quantizer.h"
#include "llvm/ADT/STLExtras.h"

using namespace onnxquant;
using namespace onnxquant::esp;

namespace {

/// The exponents of a quantized tensor; empty for others.
llvm::ArrayRef<int64_t> exponentsOf(const Model &model, llvm::StringRef name) {
  auto ofType = [](int32_t type, const std::vector<int64_t> &exponents) {
    bool isQuantized = type == Int8 || type == Int16;
    return isQuantized ? llvm::ArrayRef(exponents) : llvm::ArrayRef<int64_t>();
  };
  if (const Tensor *tensor = model.findInitializer(name))
    return ofType(tensor->type, tensor->exponents);
  const Value *value = model.findValue(name);
  return value ? ofType(value->type, value->exponents)
               : llvm::ArrayRef<int64_t>();
}

/// Whether all operands but the first say how the first is moved.
bool copies(llvm::StringRef op) {
  return op == "Concat" ||
         (isPassive(op) && op != "ReduceMax" && op != "ReduceMin");
}

std::string copyDoubt(const Model &model, const Node &node) {
  auto y = node.outputs.empty() ? llvm::ArrayRef<int64_t>()
                                : exponentsOf(model, node.outputs[0]);
  size_t count = node.opType == "Concat" ? node.inputs.size() : 1;
  for (size_t i = 0; i < std::min(count, node.inputs.size()); ++i) {
    auto x = exponentsOf(model, node.inputs[i]);
    if (!x.empty() && !y.empty() && x[0] != y[0])
      return "copies '" + node.inputs[i] + "', whose exponent is " +
             std::to_string(x[0]) + ", to '" + node.outputs[0] +
             "' with the exponent " + std::to_string(y[0]);
  }
  return "";
}

std::string shiftDoubt(const Model &model, const Node &node, const Chip &chip) {
  auto x = exponentsOf(model, node.input(0)),
       w = exponentsOf(model, node.input(1)),
       y = node.outputs.empty() ? llvm::ArrayRef<int64_t>()
                                : exponentsOf(model, node.outputs[0]);
  if (!chip.isPacked || x.empty() || w.empty() || y.empty() ||
      y[0] - x[0] - *llvm::max_element(w) >= 0)
    return "";
  return "shifts its sums to the left, which kernels of the " +
         chip.name.str() + " refuse";
}

} // namespace

std::vector<std::string> esp::doubtsOf(const Model &model, const Chip &chip) {
  std::vector<std::string> lines;
  for (const Node &node : model.nodes) {
    std::string doubt = copies(node.opType)      ? copyDoubt(model, node)
                        : isProduct(node.opType) ? shiftDoubt(model, node, chip)
                                                 : "";
    if (!doubt.empty())
      lines.push_back("node '" + node.name + "' (" + node.opType + ") " +
                      doubt);
  }
  return lines;
}
