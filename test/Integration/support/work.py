"""How much work the nodes of a model are."""

import numpy as np
import onnx


def macs(path, shape):
    """Multiply-adds by node, from the shapes that ONNX infers."""
    model = onnx.load(path)
    for dim, size in zip(model.graph.input[0].type.tensor_type.shape.dim, shape):
        dim.dim_value = size
    graph = onnx.shape_inference.infer_shapes(model).graph
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in [*graph.value_info, *graph.input, *graph.output]}
    shapes.update({t.name: list(t.dims) for t in graph.initializer})
    found = {}
    for node in graph.node:
        if node.op_type == "Conv":
            found[node.name] = int(np.prod(shapes[node.output[0]]) * np.prod(shapes[node.input[1]][1:]))
        elif node.op_type in ("MatMul", "Gemm"):
            found[node.name] = int(np.prod(shapes[node.output[0]]) * shapes[node.input[0]][-1])
    return found
