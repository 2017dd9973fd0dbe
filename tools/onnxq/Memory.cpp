// Reads the plan of a model's memory off the graph.

#include "Memory.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Pipelines/Compile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

/// Buffers that are named one by one.
static constexpr size_t mostListed = 10;

FailureOr<MemoryPlan> onnxquant::cli::planMemory(ModuleOp module) {
  CompileOptions options;
  auto target = parseTarget("native");
  if (!target)
    return module.emitError() << llvm::toString(target.takeError());
  options.target = *target;
  options.reportMemory = true;
  PassManager pm(module.getContext());
  buildONNXToKernelsPipeline(pm, options);
  if (failed(pm.run(module)))
    return failure();
  MemoryPlan plan;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (auto bytes = function->getAttrOfType<IntegerAttr>(loadBytesAttr))
      plan.loadBytes = bytes.getInt();
    auto total = function->getAttrOfType<IntegerAttr>(workspaceBytesAttr);
    auto buffers = function->getAttrOfType<ArrayAttr>(buffersAttr);
    if (!total || !buffers)
      continue;
    plan.workspaceBytes = total.getInt();
    for (auto entry : buffers.getAsRange<DictionaryAttr>()) {
      PlannedBuffer buffer;
      buffer.node = entry.getAs<StringAttr>("node").str();
      buffer.bytes = entry.getAs<IntegerAttr>("bytes").getInt();
      buffer.offset = entry.getAs<IntegerAttr>("offset").getInt();
      plan.bufferBytes += buffer.bytes;
      plan.buffers.push_back(buffer);
    }
    function.walk([&](func::CallOp call) {
      plan.numOpen += call.getCallee() == allocFunction;
    });
  }
  llvm::sort(plan.buffers, [](const PlannedBuffer &a, const PlannedBuffer &b) {
    return std::tie(b.bytes, a.offset, a.node) <
           std::tie(a.bytes, b.offset, b.node);
  });
  return plan;
}

void onnxquant::cli::printMemory(const MemoryPlan &plan) {
  llvm::raw_ostream &os = llvm::outs();
  auto mebibytes = [](int64_t bytes) { return bytes / 1048576.0; };
  os << llvm::format("workspace   %lld bytes (%.2f MiB)\n",
                     static_cast<long long>(plan.workspaceBytes),
                     mebibytes(plan.workspaceBytes));
  os << llvm::format("buffers     %zu (%.2f MiB without sharing)\n",
                     plan.buffers.size(), mebibytes(plan.bufferBytes));
  if (plan.loadBytes > 0)
    os << llvm::format("weights     %lld bytes (%.2f MiB) expanded when the "
                       "code is loaded, once for all runs\n",
                       static_cast<long long>(plan.loadBytes),
                       mebibytes(plan.loadBytes));
  if (plan.numOpen > 0)
    os << "            and " << plan.numOpen
       << " of sizes that are known at run time only; see --dim and "
          "--input-shape\n";
  for (const PlannedBuffer &buffer :
       ArrayRef(plan.buffers).take_front(mostListed))
    os << llvm::format("  %12lld at %12lld  ",
                       static_cast<long long>(buffer.bytes),
                       static_cast<long long>(buffer.offset))
       << buffer.node << "\n";
}

llvm::json::Object onnxquant::cli::toJson(const MemoryPlan &plan) {
  llvm::json::Array list;
  for (const PlannedBuffer &buffer : plan.buffers)
    list.push_back(
        llvm::json::Object{{"node", llvm::json::fixUTF8(buffer.node)},
                           {"bytes", buffer.bytes},
                           {"offset", buffer.offset}});
  return llvm::json::Object{{"workspace_bytes", plan.workspaceBytes},
                            {"buffer_bytes", plan.bufferBytes},
                            {"open_buffers", plan.numOpen},
                            {"load_bytes", plan.loadBytes},
                            {"buffers", std::move(list)}};
}
