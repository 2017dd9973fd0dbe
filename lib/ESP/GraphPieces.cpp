// Pieces of graphs that several writers need.

#include "GraphPieces.h"
#include "OnnxQuant/Import/Import.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

using namespace onnxquant;
using namespace onnxquant::esp;

static bool isPacked(const Tensor &tensor, const Chip &chip) {
  llvm::StringRef layout = tensor.layout();
  if (layout.empty() || layout == "UNK")
    return chip.isPacked;
  return layout.contains("16") || layout.contains('8');
}

std::vector<int64_t> esp::plainFilter(const Tensor &tensor,
                                      const FilterShape &shape,
                                      const Chip &chip, int64_t begin) {
  int64_t block =
      isPacked(tensor, chip) ? packedChannels(8 * bytesOf(tensor.type)) : 0;
  std::vector<int64_t> order = filterOrder(shape, block);
  std::vector<int64_t> plain(order.size());
  for (auto [place, element] : llvm::enumerate(order))
    plain[element] = tensor.intAt(begin + place);
  return plain;
}

std::vector<int64_t> esp::plainMatrices(const Tensor &tensor,
                                        const Chip &chip) {
  size_t rank = tensor.dims.size();
  FilterShape shape;
  shape.outputs = rank < 2 ? 1 : tensor.dims.back();
  shape.inputs = rank < 2 ? tensor.numElements() : tensor.dims[rank - 2];
  std::vector<int64_t> all;
  int64_t each = shape.size();
  for (int64_t at = 0; each && at < tensor.numElements(); at += each) {
    std::vector<int64_t> plain = plainFilter(tensor, shape, chip, at);
    for (int64_t i = 0; i < shape.inputs; ++i)
      for (int64_t o = 0; o < shape.outputs; ++o)
        all.push_back(plain[o * shape.inputs + i]);
  }
  return all;
}

Term esp::unpackMatrix(OnnxGraph &graph, const Term &b, int64_t block) {
  if (b.rank() < 2)
    return b;
  int64_t rows = b.dims[b.rank() - 2], columns = b.dims.back();
  int64_t packed = block ? columns / block * block : 0;
  int64_t batch = b.numElements() / std::max<int64_t>(rows * columns, 1);
  Term flat = graph.reshape(b, {batch, rows * columns});
  std::vector<Term> parts;
  if (packed) {
    Term head =
        packed == columns ? flat : graph.slice(flat, 1, 0, packed * rows);
    head = graph.reshape(head, {batch, packed / block, rows, block});
    head = graph.transpose(head, {0, 2, 1, 3});
    parts.push_back(graph.reshape(head, {batch, rows, packed}));
  }
  if (packed < columns) {
    Term tail =
        packed ? graph.slice(flat, 1, packed * rows, rows * columns) : flat;
    tail = graph.reshape(tail, {batch, columns - packed, rows});
    parts.push_back(graph.transpose(tail, {0, 2, 1}));
  }
  Term matrix = parts.size() == 1 ? parts[0] : graph.concat(parts, 2);
  return graph.reshape(matrix, b.dims);
}

Term esp::insertZeros(OnnxGraph &graph, Term x, Dims strides, Dims extra) {
  int64_t rank = x.rank() - 2;
  strides.resize(rank, strides.back());
  extra.resize(rank, extra.empty() ? 0 : extra.back());
  for (int64_t i = 0; i < rank; ++i) {
    int64_t axis = 1 + i, size = x.dims[axis], stride = strides[i];
    int64_t target = size + (stride - 1) * (size - 1) + extra[i];
    // Zeros follow each place, and are one dimension with it.
    Dims dims = x.dims;
    dims.insert(dims.begin() + axis + 1, 1);
    x = graph.reshape(x, dims);
    auto pad = [&](int64_t at, int64_t count) {
      Dims pads(2 * x.rank());
      pads[x.rank() + at] = count;
      Dims padded = x.dims;
      padded[at] += count;
      x = graph.node(
          "Pad",
          {x, graph.ints(Int64, {2 * x.rank()}, pads), graph.number(x.type, 0)},
          x.type, padded);
    };
    pad(axis + 1, stride - 1);
    dims = x.dims;
    dims[axis] *= stride;
    dims.erase(dims.begin() + axis + 1);
    x = graph.reshape(x, dims);
    if (target < x.dims[axis])
      x = graph.slice(x, axis, 0, target);
    else if (target > x.dims[axis])
      pad(axis, target - x.dims[axis]);
  }
  return x;
}

Term esp::rootMeanSquareNorm(OnnxGraph &graph, const Term &x, int64_t axis,
                             float epsilon) {
  Dims axes, dims = x.dims;
  for (int64_t i = std::max<int64_t>(axis, 0); i < x.rank(); ++i) {
    axes.push_back(i);
    dims[i] = 1;
  }
  Term mean = graph.node("ReduceMean",
                         {graph.binary("Mul", x, x),
                          graph.ints(Int64, {int64_t(axes.size())}, axes)},
                         Float, dims);
  Term root = graph.unary(
      "Sqrt", graph.binary("Add", mean, graph.number(Float, epsilon)));
  return graph.binary("Div", x, root);
}

llvm::Expected<Dims> esp::permutationOf(const Node &node, int64_t rank) {
  Dims order = node.getInts("perm");
  if (order.empty())
    for (int64_t i = rank; i-- > 0;)
      order.push_back(i);
  std::vector<bool> seen(rank);
  bool isOrder = int64_t(order.size()) == rank;
  for (int64_t &axis : order) {
    axis = axis < 0 ? axis + rank : axis;
    isOrder = isOrder && axis >= 0 && axis < rank && !seen[axis];
    if (isOrder)
      seen[axis] = true;
  }
  if (!isOrder)
    return nodeError(node, "has a perm that isn't an order of its axes");
  return order;
}

Settings esp::settingsOf(const Node &node, llvm::StringRef leftOut) {
  Settings list;
  for (const Attribute &attribute : node.attributes) {
    llvm::StringRef name = attribute.name;
    // What the device's nodes have beyond ONNX's, and what fusion notes.
    if (name == "quant_type" || name == "lut" || name == "gate_exponent" ||
        name.starts_with("activation") || name == leftOut)
      continue;
    if (attribute.kind == Attribute::IntKind)
      list.emplace_back(name, attribute.i);
    else if (attribute.kind == Attribute::FloatKind)
      list.emplace_back(name, attribute.f);
    else if (attribute.kind == Attribute::StringKind)
      list.emplace_back(name, attribute.s);
    else if (attribute.kind == Attribute::IntsKind)
      list.emplace_back(name, attribute.ints);
  }
  return list;
}

mlir::OwningOpRef<mlir::ModuleOp>
esp::importGraph(llvm::Expected<std::string> bytes, llvm::StringRef name,
                 mlir::MLIRContext *context) {
  if (bytes)
    return importModel({bytes->data(), bytes->size()}, name, "", context);
  mlir::emitError(mlir::FileLineColLoc::get(context, name, 0, 0))
      << llvm::toString(bytes.takeError());
  return {};
}
