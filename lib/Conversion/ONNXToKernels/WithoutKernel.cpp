// The list of nodes without a kernel.

#include "WithoutKernel.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

void MatchReasons::notifyMatchFailure(
    Location loc, function_ref<void(Diagnostic &)> explain) {
  Diagnostic reason(loc, DiagnosticSeverity::Remark);
  explain(reason);
  SmallVector<std::string> &known = byPlace[loc];
  if (!llvm::is_contained(known, reason.str()))
    known.push_back(reason.str());
}

std::string MatchReasons::get(Operation *op) const {
  std::string all = llvm::join(byPlace.lookup(op->getLoc()), "; ");
  return all.empty() ? "there is none for this op" : all;
}

void NodesWithoutKernel::add(Operation *op, Fallback kind, StringRef reason) {
  bool isFloat = kind == Fallback::Float;
  if (report)
    op->emitRemark(isFloat ? "has no kernel of integers, and runs in float: "
                           : "has no kernel: ")
        << reason;
  Builder b(op->getContext());
  StringRef name = op->getName().getStringRef().rsplit('.').second;
  entries.push_back(b.getDictionaryAttr(
      {b.getNamedAttr("op", b.getStringAttr(name)),
       b.getNamedAttr("as", b.getStringAttr(isFloat ? "float" : "loops"))}));
}

void NodesWithoutKernel::write() {
  if (entries.empty())
    return;
  SmallVector<Attribute> all;
  if (auto before = module->getAttrOfType<ArrayAttr>(withoutKernelAttr))
    all.append(before.begin(), before.end());
  all.append(entries);
  module->setAttr(withoutKernelAttr, ArrayAttr::get(module.getContext(), all));
}
