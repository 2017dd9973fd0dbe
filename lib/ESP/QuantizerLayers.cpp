// Comparisons, normalizations, scattered elements and recurrent layers for the
// device.

#include "Quantizer.h"
#include "llvm/ADT/STLExtras.h"

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::StringRef;

llvm::Error Quantizer::normalization() {
  Node current = start();
  current.attributes = node->attributes;
  current.inputs = {input(0, false)};
  for (size_t i = 1; i < node->inputs.size(); ++i) {
    if (!isConstant(node->inputs[i]))
      return fail("has parameters that aren't constant");
    current.inputs.push_back(constantOperand(i, false, 1, std::nullopt));
  }
  if (node->outputs.size() > 1)
    return fail("has more outputs than ESP-DL's");
  result(current, {typeOf(*node), exponents[node->outputs[0]], false});
  add(std::move(current));
  return llvm::Error::success();
}

/// Its scale stays real.
llvm::Error Quantizer::rootMeanSquare() {
  Node current = start();
  current.attributes = node->attributes;
  current.inputs = {input(0, false)};
  if (!node->input(1).empty()) {
    if (!isConstant(node->inputs[1]))
      return fail("has a scale that isn't constant");
    current.inputs.push_back(copyConstant(node->inputs[1]));
  }
  result(current, {typeOf(*node), exponents[node->outputs[0]], false});
  add(std::move(current));
  return llvm::Error::success();
}

/// Data and updates have the result's exponent; indices stay as they are.
llvm::Error Quantizer::scatter() {
  int64_t to = exponents[node->outputs[0]];
  Node current = start();
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    const std::string &name = node->inputs[i];
    if (i == 1 && isConstant(name))
      current.inputs.push_back(copyConstant(name));
    else if (i == 1)
      current.inputs.push_back(name);
    else if (isConstant(name))
      current.inputs.push_back(constantOperand(i, false, 1, to));
    else
      current.inputs.push_back(get(name, {typeOf(*node), to, false}));
  }
  result(current, {typeOf(*node), to, false});
  add(std::move(current));
  return llvm::Error::success();
}

/// Both operands have the larger exponent.
llvm::Error Quantizer::comparison() {
  int64_t rank = dimsOf(node->outputs[0]).size(), common = INT64_MIN;
  for (size_t i : {0, 1})
    if (!isConstant(node->input(i)) && exponents.count(node->inputs[i]))
      common = std::max(common, exponents[node->inputs[i]]);
  if (common == INT64_MIN)
    return fail("compares nothing that is quantized");
  Node current = start();
  for (size_t i : {0, 1}) {
    const std::string &name = node->inputs[i];
    if (isConstant(name))
      current.inputs.push_back(constantOperand(i, false, rank, common));
    else
      current.inputs.push_back(get(name, {typeOf(*node), common, false}));
  }
  result(current, {Bool, 0, false});
  current.setString("quant_type", bitsOf(*node) == 8 ? "S8" : "S16");
  add(std::move(current));
  return llvm::Error::success();
}

/// The exponent of gates, biases and cells, which have 16 bits.
static constexpr int64_t gateExponent = -9;

llvm::Error Quantizer::recurrent() {
  bool isLstm = node->opType == "LSTM";
  std::string shown = node->outputs.empty() ? "" : node->outputs[0];
  if (shown.empty() && node->outputs.size() > 1)
    shown = node->outputs[1];
  if (shown.empty())
    return fail("gives no state that is read");
  Form state = {typeOf(*node), exponents[shown], false},
       cell = {Int16, gateExponent, false};
  Node current = start();
  current.attributes = node->attributes;
  llvm::erase_if(current.attributes, [](const Attribute &attribute) {
    return attribute.name == "activations";
  });
  current.setInt("gate_exponent", gateExponent);
  current.inputs = {input(0, false)};
  for (size_t i = 1; i < node->inputs.size(); ++i) {
    const std::string &name = node->inputs[i];
    if (name.empty()) {
      current.inputs.push_back("");
      continue;
    }
    // Weights, then the bias, the first state, and the first cell.
    bool isWide = i == 3 || i == 6;
    if (isConstant(name)) {
      const Tensor &from = *constants[name];
      int64_t exponent =
          isWide   ? gateExponent
          : i == 5 ? state.exponent
                   : parameterExponent(floatsOf(from), bitsOf(*node), false);
      current.inputs.push_back(put(quantized(
          from, from.dims, exponent, isWide ? int32_t(Int16) : state.type)));
    } else if (i == 5 || i == 6) {
      current.inputs.push_back(get(name, isWide ? cell : state));
    } else {
      return fail("has weights or a bias that aren't constant");
    }
  }
  // The runtime writes all states, also those that nothing reads.
  Dims steps = dimsOf(node->inputs[0]), all = constants[node->inputs[2]]->dims;
  for (size_t i = 0; i < (isLstm ? 3 : 2); ++i) {
    const Form &form = i == 2 ? cell : state;
    if (i < node->outputs.size() && !node->outputs[i].empty()) {
      result(current, form, i);
      continue;
    }
    Dims dims = {all[0], steps[1], all[2]};
    if (i == 0)
      dims.insert(dims.begin(), steps[0]);
    current.outputs.push_back(fresh(node->opType + "_state"));
    declare(current.outputs.back(), form, dims);
  }
  current.setString("quant_type", bitsOf(*node) == 8 ? "S8" : "S16");
  add(std::move(current));
  return llvm::Error::success();
}
