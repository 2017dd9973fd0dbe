#!/usr/bin/python3
"""Writes the model that the documentation's examples use.

    example_model.py FILE

A small image classifier as exporters of opset 9 wrote them: the batch is a named
dimension, and the flattening is a chain of Shape, Gather, Concat and Reshape.
"""

import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


def build():
    random = numpy.random.default_rng(1)

    def weight(name, *shape):
        return numpy_helper.from_array(random.standard_normal(shape, dtype=numpy.float32), name)

    def integers(name, *values):
        return numpy_helper.from_array(numpy.array(values, dtype=numpy.int64), name)

    nodes = [
        helper.make_node("Conv", ["image", "conv.weight", "conv.bias"], ["conv.out"], "conv", pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["conv.out"], ["relu.out"], "relu"),
        helper.make_node("MaxPool", ["relu.out"], ["pool.out"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Shape", ["pool.out"], ["shape"], "shape"),
        helper.make_node("Gather", ["shape", "zero"], ["batch"], "batch", axis=0),
        helper.make_node("Concat", ["batch", "rest"], ["flat.shape"], "flat.shape", axis=0),
        helper.make_node("Reshape", ["pool.out", "flat.shape"], ["flat"], "flatten"),
        helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["scores"], "fc", transB=1),
    ]
    initializers = [
        weight("conv.weight", 8, 3, 3, 3),
        weight("conv.bias", 8),
        integers("zero", 0),
        integers("rest", -1),
        weight("fc.weight", 10, 512),
        weight("fc.bias", 10),
    ]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, 32, 32])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, None])
    graph = helper.make_graph(nodes, "classifier", [image], [scores], initializers)
    model = helper.make_model(graph, producer_name="example", opset_imports=[helper.make_opsetid("", 9)])
    model.ir_version = 4
    onnx.checker.check_model(model)
    return model


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: example_model.py FILE")
    onnx.save(build(), sys.argv[1])
