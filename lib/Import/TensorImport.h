// Tensors and types of the file format as attributes and types.

#ifndef ONNXQUANT_LIB_IMPORT_TENSORIMPORT_H
#define ONNXQUANT_LIB_IMPORT_TENSORIMPORT_H

#include "ExternalData.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "onnx_format.pb.h"

namespace onnxquant::import {

/// A tensor type and the names of its dimensions. A null type says that the
/// model states none.
struct DeclaredType {
  mlir::TensorType type;
  onnx::Dims dims;
};

/// Reads a tensor type. The error names what the dialect has no type for, with
/// its category.
llvm::Expected<DeclaredType> importType(const ::onnx_format::TypeProto &proto,
                                        mlir::MLIRContext *context);

/// Reads a tensor's elements in whatever form they are stored. Takes the bytes
/// out of the message where that saves a copy; external data stays mapped.
/// Large tensors become resources named after `name`.
llvm::Expected<mlir::ElementsAttr>
importTensor(::onnx_format::TensorProto &proto, llvm::StringRef name,
             ExternalData &externalData, mlir::MLIRContext *context);

/// Reads a sparse tensor into a dense attribute.
llvm::Expected<mlir::ElementsAttr>
importSparseTensor(::onnx_format::SparseTensorProto &proto,
                   llvm::StringRef name, ExternalData &externalData,
                   mlir::MLIRContext *context);

} // namespace onnxquant::import

#endif // ONNXQUANT_LIB_IMPORT_TENSORIMPORT_H
