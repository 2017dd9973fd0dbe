// A float model of the `onnx` dialect as nodes, constants and values.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/ESP/Quantize.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

using namespace onnxquant;
using namespace onnxquant::esp;
namespace ir = onnxquant::onnx;

static int32_t typeNumber(mlir::Type type) {
  if (type.isF32())
    return Float;
  if (type.isF64())
    return Double;
  if (type.isSignlessInteger(64))
    return Int64;
  if (type.isSignlessInteger(32))
    return Int32;
  if (type.isSignlessInteger(16))
    return Int16;
  if (type.isSignlessInteger(8))
    return Int8;
  if (type.isSignlessInteger(1))
    return Bool;
  return Undefined;
}

namespace {

class FloatImporter {
public:
  llvm::Error run(mlir::ModuleOp module, Model &model);

private:
  llvm::Error constant(mlir::Operation &op, Model &model);
  llvm::Error node(mlir::Operation &op, Model &model);
  llvm::Error value(mlir::Value value, const std::string &name, Value &to);
  llvm::Error attribute(mlir::NamedAttribute from, Node &node);

  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::StringSet<> nodeNames;
};

llvm::Error FloatImporter::value(mlir::Value from, const std::string &name,
                                 Value &to) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(from.getType());
  if (!type || !type.hasStaticShape())
    return llvm::createStringError(
        "tensor '" + name +
        "' has open sizes; give them by --dim or --input-shape");
  to.name = name;
  to.type = typeNumber(type.getElementType());
  to.dims = type.getShape().vec();
  to.hasShape = true;
  if (to.type == Undefined)
    return llvm::createStringError("tensor '" + name +
                                   "' has elements that ESP-DL lacks");
  return llvm::Error::success();
}

llvm::Error FloatImporter::constant(mlir::Operation &op, Model &model) {
  mlir::ElementsAttr elements = ir::getConstant(op.getResult(0));
  std::string name;
  if (auto list = op.getAttrOfType<mlir::ArrayAttr>(ir::resultNamesAttr))
    name = llvm::cast<mlir::StringAttr>(list[0]).str();
  if (name.empty())
    name = "constant_" + std::to_string(model.initializers.size());
  names[op.getResult(0)] = name;
  Tensor &tensor = model.initializers.emplace_back();
  tensor.name = name;
  if (!elements)
    return llvm::createStringError("constant '" + name + "' can't be read");
  tensor.dims = elements.getShapedType().getShape().vec();
  constexpr int64_t most = int64_t(1) << 31;
  if (llvm::isa<mlir::FloatType>(elements.getElementType())) {
    tensor.type = Float;
    auto values = ir::readFloats(elements, most);
    if (!values)
      return llvm::createStringError("constant '" + name + "' can't be read");
    for (double number : *values)
      appendElement(tensor.data, static_cast<float>(number));
    return llvm::Error::success();
  }
  tensor.type = Int64;
  auto values = ir::readInts(elements, most);
  if (!values)
    return llvm::createStringError("constant '" + name + "' can't be read");
  for (int64_t number : *values)
    appendElement(tensor.data, number);
  return llvm::Error::success();
}

llvm::Error FloatImporter::attribute(mlir::NamedAttribute from, Node &node) {
  llvm::StringRef name = from.getName();
  if (name.starts_with("onnx_") || name.starts_with("onnx.") ||
      name.starts_with("onnxq."))
    return llvm::Error::success();
  mlir::Attribute value = from.getValue();
  if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(value)) {
    node.setInt(name, number.getValue().getSExtValue());
  } else if (auto number = llvm::dyn_cast<mlir::FloatAttr>(value)) {
    node.setFloat(name, static_cast<float>(number.getValueAsDouble()));
  } else if (auto text = llvm::dyn_cast<mlir::StringAttr>(value)) {
    node.setString(name, text.getValue());
  } else if (auto list = llvm::dyn_cast<mlir::ArrayAttr>(value);
             list && !list.empty() &&
             llvm::all_of(list, llvm::IsaPred<mlir::StringAttr>)) {
    Attribute &made = node.attributes.emplace_back();
    made.name = name.str();
    made.kind = Attribute::StringsKind;
    for (mlir::Attribute entry : list)
      made.strings.push_back(llvm::cast<mlir::StringAttr>(entry).str());
    llvm::sort(node.attributes, [](const Attribute &a, const Attribute &b) {
      return a.name < b.name;
    });
  } else if (list) {
    std::vector<int64_t> numbers;
    for (mlir::Attribute entry : list)
      if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(entry))
        numbers.push_back(number.getValue().getSExtValue());
    if (numbers.size() != list.size())
      return nodeError(node,
                       "has attribute '" + name + "' of a kind ESP-DL lacks");
    node.setInts(name, numbers);
  }
  return llvm::Error::success();
}

llvm::Error FloatImporter::node(mlir::Operation &op, Model &model) {
  auto interface = llvm::dyn_cast<ir::NodeOpInterface>(op);
  Node &made = model.nodes.emplace_back();
  if (auto name = op.getAttrOfType<mlir::StringAttr>(ir::nodeNameAttr))
    made.name = name.str();
  // The device tells nodes by their names.
  std::string stem = made.name.empty() ? "node" : made.name;
  for (size_t number = model.nodes.size();
       made.name.empty() || !nodeNames.insert(made.name).second; ++number)
    made.name = stem + "_" + std::to_string(number);
  made.opType = interface ? interface.getOnnxOpType().str()
                          : op.getName().getStringRef().str();
  if (interface && !interface.getOnnxDomain().empty())
    made.domain = interface.getOnnxDomain().str();
  if (op.getNumRegions())
    return nodeError(made, "has a subgraph, which ESP-DL lacks");
  for (mlir::Value operand : op.getOperands())
    made.inputs.push_back(names.lookup(operand));
  while (!made.inputs.empty() && made.inputs.back().empty())
    made.inputs.pop_back();
  auto list = op.getAttrOfType<mlir::ArrayAttr>(ir::resultNamesAttr);
  for (mlir::OpResult result : op.getResults()) {
    std::string name;
    if (list && result.getResultNumber() < list.size())
      name = llvm::cast<mlir::StringAttr>(list[result.getResultNumber()]).str();
    if (llvm::isa<mlir::NoneType>(result.getType())) {
      made.outputs.push_back("");
      continue;
    }
    if (name.empty())
      name = made.name + "_output_" + std::to_string(result.getResultNumber());
    names[result] = name;
    made.outputs.push_back(name);
    if (llvm::Error error = value(result, name, model.values.emplace_back()))
      return error;
  }
  while (!made.outputs.empty() && made.outputs.back().empty())
    made.outputs.pop_back();
  for (mlir::NamedAttribute entry : op.getAttrDictionary())
    if (llvm::Error error = attribute(entry, made))
      return error;
  return llvm::Error::success();
}

llvm::Error FloatImporter::run(mlir::ModuleOp module, Model &model) {
  auto functions = module.getOps<mlir::func::FuncOp>();
  if (functions.empty())
    return llvm::createStringError("has no graph");
  mlir::func::FuncOp function = *functions.begin();
  model.graphName = function.getName().str();
  model.irVersion = 8;
  for (mlir::BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<mlir::StringAttr>(
        argument.getArgNumber(), ir::argNameAttr);
    std::string text =
        name ? name.str() : "input_" + std::to_string(argument.getArgNumber());
    names[argument] = text;
    if (llvm::Error error = value(argument, text, model.inputs.emplace_back()))
      return error;
    model.values.push_back(model.inputs.back());
  }
  for (mlir::Operation &op : function.front()) {
    if (op.hasTrait<mlir::OpTrait::IsTerminator>()) {
      for (mlir::Value result : op.getOperands())
        if (llvm::Error error = value(result, names.lookup(result),
                                      model.outputs.emplace_back()))
          return error;
      continue;
    }
    if (llvm::isa<ir::NoValueOp>(op))
      continue;
    llvm::Error error =
        llvm::isa<ir::ConstantOp>(op) ? constant(op, model) : node(op, model);
    if (error)
      return error;
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<Model> esp::importFloat(mlir::ModuleOp module) {
  Model model;
  if (llvm::Error error = FloatImporter().run(module, model))
    return std::move(error);
  return model;
}
