// The attributes by which passes tell each other: verified, so that one that is
// misspelt or at the wrong op is an error where it is written.

#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/PlaceOrder.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnxq;

namespace {

enum class Holder { Module, Function, AnyOp };
enum class Kind { Unit, Integer, Integers, String, List, Dictionary, Target };

struct AttributeRule {
  StringRef name;
  Holder holder;
  Kind kind;
};

} // namespace

/// The entries of `onnxq.target`.
static constexpr StringLiteral targetEntries[] = {"name", "triple", "cpu",
                                                  "features"};

static ArrayRef<AttributeRule> getRules() {
  static const AttributeRule rules[] = {
      {targetAttr, Holder::Module, Kind::Target},
      {modelNameAttr, Holder::Module, Kind::String},
      {exponentsAttr, Holder::Module, Kind::Dictionary},
      {maxBytesAttr, Holder::Module, Kind::Integer},
      {threadsAttr, Holder::Module, Kind::Integer},
      {tilesAttr, Holder::Module, Kind::Unit},
      {checkPointersAttr, Holder::Module, Kind::Unit},
      {withoutKernelAttr, Holder::Module, Kind::List},
      {reportAttr, Holder::Module, Kind::Dictionary},
      {onnx::calibrationAttr, Holder::Module, Kind::Dictionary},
      {signatureAttr, Holder::Function, Kind::Dictionary},
      {workspaceBytesAttr, Holder::Function, Kind::Integer},
      {buffersAttr, Holder::Function, Kind::List},
      {placedResultsAttr, Holder::Function, Kind::Integers},
      {kernelAttr, Holder::Function, Kind::String},
      {loadBytesAttr, Holder::Function, Kind::Integer},
      {nodeAttr, Holder::AnyOp, Kind::String},
      {maxIterationsAttr, Holder::AnyOp, Kind::Integer},
      {nodeNumberAttr, Holder::AnyOp, Kind::Integer},
      {branchAttr, Holder::AnyOp, Kind::Integer},
      {inputProjectedAttr, Holder::AnyOp, Kind::Unit},
      {hiddenProjectedAttr, Holder::AnyOp, Kind::Unit},
      {commonZeroAttr, Holder::AnyOp, Kind::Integer},
      {onnx::placesAttr, Holder::AnyOp, Kind::Unit},
      {onnx::foldedAttr, Holder::AnyOp, Kind::Unit},
  };
  return rules;
}

static bool isTarget(Attribute value) {
  auto target = dyn_cast<DictionaryAttr>(value);
  return target && llvm::all_of(target, [](NamedAttribute entry) {
           return isa<StringAttr>(entry.getValue()) &&
                  llvm::is_contained(targetEntries, entry.getName().strref());
         });
}

static bool holds(Kind kind, Attribute value) {
  switch (kind) {
  case Kind::Unit:
    return isa<UnitAttr>(value);
  case Kind::Integer:
    return isa<IntegerAttr>(value);
  case Kind::Integers:
    return isa<DenseI64ArrayAttr>(value);
  case Kind::String:
    return isa<StringAttr>(value);
  case Kind::List:
    return isa<ArrayAttr>(value);
  case Kind::Dictionary:
    return isa<DictionaryAttr>(value);
  case Kind::Target:
    return isTarget(value);
  }
  llvm_unreachable("a kind without a case");
}

static StringRef describe(Kind kind) {
  switch (kind) {
  case Kind::Unit:
    return "no value";
  case Kind::Integer:
    return "an integer";
  case Kind::Integers:
    return "an array of i64";
  case Kind::String:
    return "a string";
  case Kind::List:
    return "a list";
  case Kind::Dictionary:
    return "a dictionary";
  case Kind::Target:
    return "a dictionary of strings: triple, cpu, features";
  }
  llvm_unreachable("a kind without a case");
}

LogicalResult ONNXQDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attr) {
  ArrayRef<AttributeRule> rules = getRules();
  const auto *rule = llvm::find_if(rules, [&](const AttributeRule &known) {
    return known.name == attr.getName().strref();
  });
  if (rule == rules.end())
    return op->emitOpError("has an attribute that the onnxq dialect doesn't "
                           "know: ")
           << attr.getName();
  if (rule->holder == Holder::Module && !isa<ModuleOp>(op))
    return op->emitOpError("has ")
           << attr.getName() << ", which is an attribute of modules";
  if (rule->holder == Holder::Function && !isa<FunctionOpInterface>(op))
    return op->emitOpError("has ")
           << attr.getName() << ", which is an attribute of functions";
  if (!holds(rule->kind, attr.getValue()))
    return op->emitOpError("expects ")
           << attr.getName() << " to be " << describe(rule->kind)
           << ", but got " << attr.getValue();
  return success();
}

TargetInfo onnxquant::getTargetInfo(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  DictionaryAttr target;
  if (module)
    target = module->getAttrOfType<DictionaryAttr>(targetAttr);
  if (!target)
    return TargetInfo();
  auto read = [&](StringRef key) {
    auto text = target.getAs<StringAttr>(key);
    return text ? text.getValue() : StringRef();
  };
  return getTargetInfo(read("triple"), read("cpu"), read("features"));
}
