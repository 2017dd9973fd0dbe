// What the kernels of ESP-DL v1.x can't run, node by node.

#include "OnnxQuant/ESP/Legacy.h"
#include "Quantizer.h"
#include "llvm/ADT/STLExtras.h"

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::StringRef;

namespace {

/// A node with the model that it is in.
struct Case {
  const Node &node;
  const Model &model;

  bool isConstant(size_t input) const {
    return model.findInitializer(node.input(input)) != nullptr;
  }
  size_t rank(size_t input) const {
    const Value *value = model.findValue(node.input(input));
    return value ? value->dims.size() : 0;
  }
  bool hasPads() const {
    return llvm::any_of(node.getInts("pads"), [](int64_t p) { return p != 0; });
  }
};

bool isKnown(StringRef op) {
  return llvm::is_contained(
      {"Add",           "AveragePool", "Concat",  "Conv",
       "Expand",        "Flatten",     "Gemm",    "GlobalAveragePool",
       "GlobalMaxPool", "LeakyRelu",   "Max",     "MaxPool",
       "Min",           "Mul",         "PRelu",   "Pad",
       "Relu",          "Reshape",     "Resize",  "Sigmoid",
       "Slice",         "Softmax",     "Squeeze", "Sub",
       "Tanh",          "Transpose"},
      op);
}

std::string againstConv(const Case &at) {
  const Tensor *filter = at.model.findInitializer(at.node.input(1));
  if (!filter)
    return "has a filter that isn't constant";
  if (filter->dims.size() != 4)
    return "has a window that isn't two-dimensional";
  int64_t group = at.node.getInt("group", 1);
  if (group > 1 && (group != filter->dims[0] || filter->dims[1] != 1))
    return "has " + std::to_string(group) +
           " groups; ESP-DL v1.x has 1, or one per channel";
  if (!at.node.input(2).empty() && !at.isConstant(2))
    return "has a bias that isn't constant";
  return "";
}

std::string againstGemm(const Case &at) {
  if (!at.isConstant(1))
    return "has weights that aren't constant";
  if (at.node.getInt("transA", 0))
    return "has transA";
  if (at.node.getFloat("alpha", 1) != 1 || at.node.getFloat("beta", 1) != 1)
    return "has alpha or beta other than 1";
  if (!at.node.input(2).empty() && !at.isConstant(2))
    return "has a bias that isn't constant";
  return "";
}

std::string againstPool(const Case &at) {
  if (at.rank(0) != 4)
    return "has a window that isn't two-dimensional";
  if (at.node.getString("auto_pad", "NOTSET") != "NOTSET")
    return "has auto_pad; write its pads out";
  if (at.node.getInt("ceil_mode", 0))
    return "has ceil_mode";
  if (llvm::any_of(at.node.getInts("dilations"),
                   [](int64_t d) { return d != 1; }))
    return "has dilations";
  if (at.node.opType == "AveragePool" &&
      at.node.getInt("count_include_pad", 0) && at.hasPads())
    return "counts padding in its mean (count_include_pad = 1), which the "
           "kernels don't";
  return "";
}

std::string againstPair(const Case &at) {
  for (size_t i = 0; i < at.node.inputs.size(); ++i)
    if (at.isConstant(i))
      return "has a constant operand, which layers of ESP-DL v1.x don't have; "
             "fold it into the layer before";
  if (at.node.inputs.size() != 2)
    return "has " + std::to_string(at.node.inputs.size()) +
           " operands; ESP-DL v1.x takes 2";
  const Value *a = at.model.findValue(at.node.inputs[0]),
              *b = at.model.findValue(at.node.inputs[1]);
  if (a && b && a->dims != b->dims)
    return "has operands of different shapes";
  return "";
}

std::string reasonAgainst(const Case &at) {
  StringRef op = at.node.opType;
  if (!at.node.domain.empty())
    return "is of the domain " + at.node.domain;
  if (!isKnown(op))
    return "isn't an operator of ESP-DL v1.x";
  if (op == "Conv")
    return againstConv(at);
  if (op == "Gemm")
    return againstGemm(at);
  if (op == "MaxPool" || op == "AveragePool")
    return againstPool(at);
  if (op == "Add" || op == "Sub" || op == "Mul" || op == "Max" || op == "Min")
    return againstPair(at);
  if (op == "PRelu" && !at.isConstant(1))
    return "has slopes that aren't constant";
  if (op == "Pad" && at.node.getString("mode", "constant") == "wrap")
    return "pads by wrapping around";
  if (op == "Resize" && at.node.getString("mode", "nearest") != "nearest")
    return "has the mode '" + at.node.getString("mode") +
           "'; ESP-DL v1.x has nearest";
  return "";
}

} // namespace

std::vector<std::string> esp::checkLegacyModel(const Model &model) {
  std::vector<std::string> lines;
  for (const Node &node : model.nodes)
    if (std::string reason = reasonAgainst({node, model}); !reason.empty())
      lines.push_back("node '" + node.name + "' (" + node.opType + ") " +
                      reason);
  return lines;
}
