// Imports graphs: scopes of names, nodes, subgraphs and inlined functions.

#ifndef ONNXQUANT_LIB_IMPORT_GRAPHIMPORTER_H
#define ONNXQUANT_LIB_IMPORT_GRAPHIMPORTER_H

#include "OnnxQuant/Import/Import.h"
#include "TensorImport.h"
#include "Upgrade.h"
#include "llvm/ADT/StringSet.h"

namespace onnxquant::import {

/// The names that one graph defines. Constants wait here until something uses
/// them: they are placed before their first use, so that initializers, Constant
/// nodes and constants made by upgrades all look the same.
struct Scope {
  /// What a model says of a tensor for people to read.
  struct Notes {
    std::string docString;
    mlir::Attribute metadata;
  };
  Scope *parent = nullptr;
  mlir::Block *block = nullptr;
  llvm::StringMap<mlir::Value> values;
  llvm::StringMap<mlir::ElementsAttr> constants;
  /// Names of constants in the order of the model.
  std::vector<std::string> constantOrder;
  llvm::StringMap<DeclaredType> declared;
  llvm::StringMap<Notes> notes;
  mlir::Value noValue;
};

/// Versions of the operator sets that a graph or function uses.
using Opsets = llvm::StringMap<int64_t>;

class GraphImporter : public Upgrader {
public:
  GraphImporter(::onnx_format::ModelProto &model, llvm::StringRef file,
                llvm::StringRef folder, mlir::MLIRContext *context,
                const ImportOptions &options);

  /// Imports the whole model into `module`.
  llvm::LogicalResult run(mlir::ModuleOp module);

  // Upgrader.
  mlir::OpBuilder &builder() override { return opBuilder; }
  mlir::Location loc() override { return nodeLoc; }
  onnx::ShapeContext &shapes() override { return shapeContext; }
  mlir::Value constant(mlir::ElementsAttr value,
                       llvm::StringRef suffix) override;
  llvm::FailureOr<llvm::SmallVector<mlir::Value>>
  emit(llvm::StringRef opType, llvm::ArrayRef<mlir::Value> operands,
       mlir::NamedAttrList attributes, llvm::StringRef suffix,
       unsigned numResults) override;
  mlir::InFlightDiagnostic error() override;
  int64_t channelBlock() override;

private:
  /// What an op takes over from its node.
  struct OpNames {
    std::string node;
    llvm::SmallVector<std::string> results;
    std::string docString;
    mlir::Attribute metadata;
  };
  struct SubgraphNames {
    llvm::SmallVector<mlir::Attribute> dicts;
    llvm::SmallVector<std::string> attributes;
  };
  using Regions = llvm::SmallVector<std::unique_ptr<mlir::Region>>;

  mlir::InFlightDiagnostic tensorError(llvm::StringRef name);
  mlir::Location locFor(llvm::StringRef nodeName);

  llvm::LogicalResult readOpsets();
  /// Refuses functions that call themselves, and models that inlining would
  /// make larger than memory.
  llvm::LogicalResult checkCalls();
  llvm::FailureOr<size_t> inlinedSize(
      const google::protobuf::RepeatedPtrField<::onnx_format::NodeProto> &nodes,
      llvm::DenseMap<const ::onnx_format::FunctionProto *,
                     std::optional<size_t>> &sizes,
      unsigned depth);
  llvm::LogicalResult importMain(mlir::ModuleOp module);
  void importModuleAttributes(mlir::ModuleOp module);
  llvm::LogicalResult readInitializers(::onnx_format::GraphProto &graph,
                                       Scope &scope);
  llvm::LogicalResult readValueInfos(const ::onnx_format::GraphProto &graph,
                                     Scope &scope);
  /// Keeps the doc string and metadata of an initializer or a value info.
  template <typename Proto>
  void readNotes(llvm::StringRef name, const Proto &proto, Scope &scope);
  llvm::FailureOr<DeclaredType>
  declaredType(const ::onnx_format::ValueInfoProto &info);

  /// The order in which nodes can be imported; an error names a node in a
  /// cycle, or an input that nothing defines.
  llvm::FailureOr<std::vector<int>> sortNodes(
      const google::protobuf::RepeatedPtrField<::onnx_format::NodeProto> &nodes,
      Scope &scope);
  llvm::LogicalResult importNodes(
      google::protobuf::RepeatedPtrField<::onnx_format::NodeProto> &nodes,
      Scope &scope, const Opsets &opsets);
  llvm::LogicalResult importNode(::onnx_format::NodeProto &proto, Scope &scope,
                                 const Opsets &opsets);
  llvm::LogicalResult importConstantNode(::onnx_format::NodeProto &proto,
                                         Scope &scope);
  llvm::FailureOr<mlir::Operation *> createNode(::onnx_format::NodeProto &proto,
                                                Node &node, Regions regions,
                                                SubgraphNames subgraphs,
                                                Scope &scope);
  llvm::FailureOr<mlir::Operation *>
  importCustomNode(::onnx_format::NodeProto &proto, Node &node, Regions regions,
                   SubgraphNames subgraphs, Scope &scope);
  /// Names a node's result, with all that the model declares of it.
  llvm::LogicalResult defineResult(llvm::StringRef name, mlir::Value value,
                                   Scope &scope);
  llvm::LogicalResult importCall(::onnx_format::NodeProto &proto,
                                 const ::onnx_format::FunctionProto &function,
                                 Node &node, Scope &scope);
  llvm::LogicalResult importAttributes(::onnx_format::NodeProto &proto,
                                       Node &node, Scope &scope,
                                       const Opsets &opsets, Regions &regions,
                                       SubgraphNames &subgraphs);
  /// Brings a Scan of opset 8, whose tensors have a batch axis, to the form
  /// without one.
  llvm::LogicalResult unbatchScan(::onnx_format::NodeProto &proto, Node &node);
  llvm::FailureOr<mlir::Attribute>
  importAttribute(::onnx_format::AttributeProto &attr);
  llvm::LogicalResult importSubgraph(::onnx_format::GraphProto &graph,
                                     const Node &node, mlir::Region &region,
                                     Scope &parent, const Opsets &opsets,
                                     SubgraphNames &names);

  /// Creates, verifies and infers one op; pads operands and results that are
  /// left out.
  llvm::FailureOr<mlir::Operation *>
  createOp(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
           mlir::NamedAttrList attributes, OpNames names, Regions regions = {});
  /// Gives a result what the model declares of it where inference knows less.
  llvm::LogicalResult refine(mlir::Value value, llvm::StringRef name,
                             Scope &scope);
  llvm::LogicalResult define(llvm::StringRef name, mlir::Value value,
                             Scope &scope);
  mlir::Value lookup(llvm::StringRef name, Scope &scope);
  mlir::Value noValue();
  /// A name that no other node has. A name that the model gives goes to the
  /// first node of that name; made ones keep clear of all given names.
  std::string uniqueNodeName(llvm::StringRef wanted, bool given);
  std::string nameFor(const ::onnx_format::NodeProto &proto);
  const ::onnx_format::FunctionProto *
  findFunction(const ::onnx_format::NodeProto &proto);
  OpNames namesOf(const ::onnx_format::NodeProto &proto, const Node &node);

  ::onnx_format::ModelProto &model;
  std::string file;
  ImportOptions options;
  ExternalData externalData;
  mlir::MLIRContext *context;
  mlir::OpBuilder opBuilder;
  mlir::Location fileLoc;
  mlir::Location nodeLoc;
  onnx::ShapeContext shapeContext;
  Opsets modelOpsets;
  llvm::StringMap<const ::onnx_format::FunctionProto *> functions;
  /// Names that the model gives to nodes, and names that are taken.
  llvm::StringSet<> givenNames;
  llvm::StringSet<> nodeNames;
  llvm::StringMap<unsigned> nameCounts;

  /// What channelBlock has found.
  std::optional<int64_t> blockSize;
  /// Nodes that unbatchScan has made.
  llvm::SmallPtrSet<const ::onnx_format::NodeProto *, 4> unbatchedScans;

  // The node being imported.
  Scope *current = nullptr;
  Node *currentNode = nullptr;
  OpNames currentNames;
  unsigned callDepth = 0;
};

/// The name of a domain, which may be left out for ai.onnx.
inline llvm::StringRef domainKey(llvm::StringRef domain) {
  return domain.empty() ? "ai.onnx" : domain;
}

/// The names that a graph defines itself. They hide equal names of the graphs
/// around it: exporters that join two models into the branches of an If name
/// the results of both branches like the If's own.
std::vector<std::string> namesDefinedIn(const ::onnx_format::GraphProto &graph);

/// Pairs of keys and values as an attribute; null if there are none.
mlir::Attribute
importMetadata(const google::protobuf::RepeatedPtrField<
                   ::onnx_format::StringStringEntryProto> &entries,
               mlir::MLIRContext *context);

} // namespace onnxquant::import

#endif // ONNXQUANT_LIB_IMPORT_GRAPHIMPORTER_H
