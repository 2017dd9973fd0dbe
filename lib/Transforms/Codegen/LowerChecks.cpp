// Failed checks leave the run through its context instead of ending the
// process.

#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxquant {
#define GEN_PASS_DEF_LOWERCHECKS
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

namespace {
struct LowerChecks : public onnxquant::impl::LowerChecksBase<LowerChecks> {
  using LowerChecksBase::LowerChecksBase;
  void runOnOperation() override;

private:
  /// One constant string per message.
  StringRef messageGlobal(StringRef message);
  /// Hands the context to kernels that check.
  void passContext(ArrayRef<cf::AssertOp> asserts);

  llvm::StringMap<std::string> messages;
};
} // namespace

StringRef LowerChecks::messageGlobal(StringRef message) {
  auto [it, isNew] = messages.try_emplace(
      message, "onnxq_message_" + std::to_string(messages.size()));
  if (isNew) {
    OpBuilder b = OpBuilder::atBlockBegin(getOperation().getBody());
    std::string text = message.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), text.size());
    LLVM::GlobalOp::create(b, getOperation().getLoc(), type,
                           /*isConstant=*/true, LLVM::Linkage::Private,
                           it->second, b.getStringAttr(text));
  }
  return it->second;
}

void LowerChecks::passContext(ArrayRef<cf::AssertOp> asserts) {
  llvm::SetVector<Operation *> kernels;
  for (cf::AssertOp op : asserts)
    if (auto function = op->getParentOfType<func::FuncOp>();
        function->hasAttr(kernelAttr))
      kernels.insert(function);
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  for (Operation *kernel : kernels)
    (void)cast<func::FuncOp>(kernel).insertArgument(0, pointer, {},
                                                    kernel->getLoc());
  getOperation().walk([&](func::CallOp call) {
    Operation *callee =
        SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr());
    if (kernels.contains(callee))
      call->insertOperands(
          0, call->getParentOfType<func::FuncOp>().getArgument(0));
  });
}

void LowerChecks::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<cf::AssertOp> asserts;
  module.walk([&](cf::AssertOp op) { asserts.push_back(op); });
  if (asserts.empty())
    return;
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  if (!remove) {
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    auto fail = LLVM::LLVMFuncOp::create(
        b, module.getLoc(), failFunction,
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()),
                                    {pointer, pointer}));
    fail.setPassthroughAttr(b.getStrArrayAttr({"noreturn", "cold"}));
    fail.setPrivate();
    passContext(asserts);
  }
  for (cf::AssertOp op : asserts) {
    if (!remove) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      Value context =
          op->getParentOfType<func::FuncOp>().getBody().getArgument(0);
      Value yes = arith::ConstantIntOp::create(b, 1, 1);
      Value failed = arith::XOrIOp::create(b, op.getArg(), yes);
      auto branch = scf::IfOp::create(b, failed, /*withElseRegion=*/false);
      b.setInsertionPointToStart(&branch.getThenRegion().front());
      Value message =
          LLVM::AddressOfOp::create(b, pointer, messageGlobal(op.getMsg()));
      LLVM::CallOp::create(b, TypeRange{}, failFunction,
                           ValueRange{context, message});
    }
    op.erase();
  }
}
