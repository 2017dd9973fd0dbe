// Turns a module into a model message and a list of weights beside it.

#ifndef ONNXQUANT_LIB_EXPORT_GRAPHEXPORTER_H
#define ONNXQUANT_LIB_EXPORT_GRAPHEXPORTER_H

#include "Downgrade.h"
#include "TensorExport.h"
#include "llvm/ADT/StringSet.h"

namespace onnxquant::exporting {

/// A weight of the main graph: its header is a message, its elements stay where
/// they are until they are written.
struct Weight {
  ::onnx_format::TensorProto header;
  mlir::ElementsAttr elements;
  mlir::Operation *op;
};

class GraphExporter {
public:
  /// `maxOpset` is the highest opset that the model may have, or 0.
  explicit GraphExporter(mlir::ModuleOp module, int64_t maxOpset = 0)
      : module(module), maxOpset(maxOpset) {}

  /// Fills `model` but for the main graph's initializers, which go to
  /// `weights` and belong to the exporter.
  llvm::LogicalResult run(::onnx_format::ModelProto &model,
                          std::vector<Weight> &weights);

private:
  /// Names of a graph's inputs and outputs, and of the graph.
  struct GraphNames {
    std::string graph;
    llvm::SmallVector<std::string> inputs, inputDims, outputs;
  };

  void lowerOpset(mlir::func::FuncOp &function);
  llvm::LogicalResult chooseOpset(mlir::func::FuncOp function);
  void exportModelFields(::onnx_format::ModelProto &model);
  llvm::LogicalResult exportBlock(mlir::Block &block, const GraphNames &names,
                                  ::onnx_format::GraphProto &graph,
                                  std::vector<Weight> *weights);
  llvm::LogicalResult exportInputs(mlir::Block &block, const GraphNames &names,
                                   ::onnx_format::GraphProto &graph);
  /// Outputs name the values that they are. A value that is an input of another
  /// name, belongs to another graph or is an output already is passed on by an
  /// Identity.
  struct Output {
    std::string name;
    bool isPassedOn;
  };
  llvm::SmallVector<Output> nameOutputs(mlir::Block &block,
                                        const GraphNames &names);
  void exportOutput(const Output &output, mlir::Value value,
                    ::onnx_format::GraphProto &graph);
  llvm::LogicalResult exportConstant(mlir::Operation *op,
                                     ::onnx_format::GraphProto &graph,
                                     std::vector<Weight> *weights);
  llvm::LogicalResult exportNode(const Node &node,
                                 ::onnx_format::GraphProto &graph);
  llvm::LogicalResult exportAttribute(const Node &node,
                                      mlir::NamedAttribute attribute,
                                      ::onnx_format::NodeProto &proto);
  llvm::LogicalResult exportRegions(mlir::Operation *op,
                                    ::onnx_format::NodeProto &proto);
  void exportResult(mlir::OpResult result, ::onnx_format::ValueInfoProto &info);
  void exportValueInfo(mlir::Operation *op, ::onnx_format::GraphProto &graph);
  void nameResults(mlir::Block &block);

  /// `wanted`, or the next free name made from it.
  std::string unique(llvm::StringRef wanted, llvm::StringSet<> &taken);
  std::string nameOf(mlir::Value value);

  mlir::ModuleOp module;
  /// What is exported instead of the module that was given, if it must change.
  mlir::OwningOpRef<mlir::ModuleOp> copy;
  int64_t maxOpset;
  int64_t opset = 0;
  /// The opset may not be lower than this.
  int64_t floor = 0;
  llvm::StringMap<int64_t> opsets;
  llvm::DenseMap<mlir::Value, std::string> valueNames;
  llvm::StringSet<> tensorNames, nodeNames;
  /// The tensor names in the order they were taken: those of a subgraph are
  /// free again after it.
  std::vector<std::string> takenInOrder;
};

/// The text of a string attribute, and of a list of them; empty if there is
/// none.
std::string stringOf(mlir::Attribute attribute);
llvm::SmallVector<std::string> stringsOf(mlir::Attribute attribute);
/// Writes pairs of keys and values, as the importer keeps them.
void exportMetadata(
    mlir::Attribute attribute,
    google::protobuf::RepeatedPtrField<::onnx_format::StringStringEntryProto>
        *out);

} // namespace onnxquant::exporting

#endif // ONNXQUANT_LIB_EXPORT_GRAPHEXPORTER_H
