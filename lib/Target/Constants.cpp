// Large constants go past the code generator: as bytes in a module of their
// own. Element by element they would take longer than the code.

#include "llvm/IR/Constants.h"
#include "EmitSteps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/BLAKE3.h"

using namespace llvm;
using namespace onnxquant;

/// Smaller ones stay with the code that uses them.
static constexpr size_t fewestBytes = 1024;
static constexpr uint64_t dataAlignment = 64;

/// The bytes of a constant as they are in memory; none if they aren't at hand
/// in that form.
static std::optional<StringRef> bytesOf(mlir::Attribute value) {
  ArrayRef<char> data;
  mlir::Type element;
  if (auto resource =
          dyn_cast_or_null<mlir::DenseResourceElementsAttr>(value)) {
    mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return std::nullopt;
    data = blob->getData();
    element = resource.getElementType();
  } else if (auto dense =
                 dyn_cast_or_null<mlir::DenseIntOrFPElementsAttr>(value)) {
    if (dense.isSplat())
      return std::nullopt;
    data = dense.getRawData();
    element = dense.getElementType();
  }
  bool isWholeBytes =
      element &&
      (element.isIndex() ||
       (element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8 == 0));
  if (!isWholeBytes || data.size() < fewestBytes)
    return std::nullopt;
  return StringRef(data.data(), data.size());
}

std::unique_ptr<Module>
onnxquant::takeConstants(mlir::ModuleOp source, StringRef prefix,
                         LLVMContext &context, SharedConstants *shared,
                         StringMap<std::string> &names) {
  auto module = std::make_unique<Module>("constants", context);
  Type *byte = Type::getInt8Ty(context);
  for (auto global : source.getOps<mlir::LLVM::GlobalOp>()) {
    std::optional<StringRef> bytes = bytesOf(global.getValueOrNull());
    bool isLocal = global.getLinkage() == mlir::LLVM::Linkage::Private ||
                   global.getLinkage() == mlir::LLVM::Linkage::Internal;
    if (!bytes || !isLocal || !global.getConstant())
      continue;
    uint64_t alignment =
        std::max<uint64_t>(global.getAlignment().value_or(1), dataAlignment);
    auto declare = [&] {
      global.removeValueAttr();
      global.setLinkage(mlir::LLVM::Linkage::External);
      global.setVisibility_(mlir::LLVM::Visibility::Hidden);
    };
    std::string symbol = (prefix + "_" + global.getSymName()).str();
    if (shared) {
      auto hash = BLAKE3::hash(arrayRefFromStringRef(*bytes));
      std::string key = toHex(hash) + std::to_string(alignment);
      auto [known, isNew] = shared->try_emplace(key, symbol);
      if (!isNew) {
        names[global.getSymName()] = known->second;
        declare();
        continue;
      }
    }
    Constant *value = ConstantDataArray::getRaw(*bytes, bytes->size(), byte);
    auto *variable =
        new GlobalVariable(*module, value->getType(), /*isConstant=*/true,
                           GlobalValue::ExternalLinkage, value, symbol);
    variable->setVisibility(GlobalValue::HiddenVisibility);
    variable->setAlignment(Align(alignment));
    declare();
  }
  if (module->global_empty())
    return nullptr;
  return module;
}
