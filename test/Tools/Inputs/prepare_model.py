"""A model with something for preprocessing to do, or what a model says of its inner tensors.

    prepare_model.py OUT.onnx
    prepare_model.py --infos MODEL.onnx
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def constant(name, *values):
    return numpy_helper.from_array(np.array(values, np.float32), name)


def make():
    weight = numpy_helper.from_array(np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3, 1, 1), "w")
    bias = numpy_helper.from_array(np.ones((4, 1, 1), np.float32), "bias")
    norm = [constant(name, 1, 2, 3, 4) for name in ("scale", "shift", "mean", "var")]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["conv"], name="c"),
        helper.make_node("Identity", ["conv"], ["same"], name="i"),
        helper.make_node("Add", ["same", "bias"], ["sum"], name="a"),
        helper.make_node("BatchNormalization", ["sum", "scale", "shift", "mean", "var"], ["y"], name="b"),
    ]
    graph = helper.make_graph(
        nodes, "prepare",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, 6, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4, 6, 6])],
        [weight, bias, *norm])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)


def main():
    if sys.argv[1] != "--infos":
        onnx.save(make(), sys.argv[1])
        return
    for info in onnx.load(sys.argv[2]).graph.value_info:
        dims = info.type.tensor_type.shape.dim
        print(info.name, [d.dim_value or d.dim_param or None for d in dims])


main()
