// The report of quantization, as JSON and as a page of text.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "Plan.h"
#include "llvm/Support/Format.h"
#include <map>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::quantize;

/// Lists longer than this are cut in the text, never in JSON.
static constexpr size_t shownWeights = 5;

int64_t QuantizeReport::numQuantized() const {
  return llvm::count_if(nodes,
                        [](const NodeReport &node) { return node.quantized; });
}

static llvm::json::Value toJson(const TensorReport &tensor) {
  llvm::json::Object object{
      {"name", tensor.name}, {"kind", tensor.kind}, {"type", tensor.type}};
  if (tensor.dynamic) {
    object["dynamic"] = true;
    return object;
  }
  if (tensor.scales.size() == 1) {
    object["scale"] = tensor.scales[0];
    object["zero_point"] = tensor.zeroPoints[0];
  } else {
    object["scale"] = llvm::json::Array(tensor.scales);
    object["zero_point"] = llvm::json::Array(tensor.zeroPoints);
  }
  if (tensor.axis)
    object["axis"] = *tensor.axis;
  if (tensor.blockSize > 0)
    object["block_size"] = tensor.blockSize;
  if (tensor.sqnr)
    object["sqnr_db"] = *tensor.sqnr;
  return object;
}

llvm::json::Value QuantizeReport::toJson() const {
  llvm::json::Array list;
  for (const NodeReport &node : nodes) {
    llvm::json::Object object{{"name", node.name},
                              {"op_type", node.opType},
                              {"quantized", node.quantized}};
    if (!node.reason.empty())
      object["reason"] = node.reason;
    auto tensors = [](const std::vector<TensorReport> &from) {
      llvm::json::Array array;
      for (const TensorReport &tensor : from)
        array.push_back(::toJson(tensor));
      return array;
    };
    if (!node.inputs.empty())
      object["inputs"] = tensors(node.inputs);
    if (!node.outputs.empty())
      object["outputs"] = tensors(node.outputs);
    if (node.biasCorrection)
      object["bias_correction_rms"] = *node.biasCorrection;
    list.push_back(std::move(object));
  }
  int64_t total = static_cast<int64_t>(nodes.size());
  return llvm::json::Object{
      {"mode", mode},
      {"placement", placement},
      {"totals", llvm::json::Object{{"nodes", total},
                                    {"quantized", numQuantized()},
                                    {"float", total - numQuantized()},
                                    {"activations", activations},
                                    {"weights", weights},
                                    {"may_saturate_in_16_bits", saturating},
                                    {"constant_bytes_before", bytesBefore},
                                    {"constant_bytes_after", bytesAfter}}},
      {"notes", llvm::json::Array(notes)},
      {"nodes", std::move(list)}};
}

void QuantizeReport::print(llvm::raw_ostream &os) const {
  os << "nodes        " << numQuantized() << " of " << nodes.size()
     << " quantized\n";
  os << "tensors      " << activations << " activations, " << weights
     << " weights\n";
  if (bytesBefore > 0)
    os << "constants    "
       << llvm::format(
              "%.1f KB before, %.1f KB after (%.1fx smaller)\n",
              bytesBefore / 1e3, bytesAfter / 1e3,
              static_cast<double>(bytesBefore) /
                  static_cast<double>(std::max<int64_t>(bytesAfter, 1)));
  std::vector<std::pair<double, std::string>> worst;
  for (const NodeReport &node : nodes)
    for (const TensorReport &tensor : node.inputs)
      if (tensor.sqnr)
        worst.push_back({*tensor.sqnr, tensor.name});
  llvm::sort(worst);
  for (auto [i, entry] : llvm::enumerate(worst))
    if (i < shownWeights)
      os << (i == 0 ? "worst weights" : "             ")
         << llvm::format(" %5.1f dB  ", entry.first) << entry.second << "\n";
  // Reasons, the most frequent first, with the operators they concern.
  std::map<std::pair<std::string, std::string>, int64_t> reasons;
  for (const NodeReport &node : nodes)
    if (!node.reason.empty())
      ++reasons[{node.reason, node.opType}];
  std::vector<std::pair<int64_t, std::pair<std::string, std::string>>> order;
  for (const auto &[key, count] : reasons)
    order.push_back({count, key});
  llvm::stable_sort(
      order, [](const auto &a, const auto &b) { return a.first > b.first; });
  for (const auto &[count, key] : order)
    os << llvm::format("%5lld  ", static_cast<long long>(count)) << key.second
       << ": " << key.first << "\n";
}

void quantize::fillReport(Plan &plan) {
  QuantizeReport &report = plan.report;
  for (Node &node : plan.nodes) {
    node.report.name = node.name;
    node.report.quantized = node.quantized;
    node.report.reason = node.reason;
    report.nodes.push_back(std::move(node.report));
  }
}
