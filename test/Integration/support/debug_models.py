"""Small networks for the suites of onnxq debug, and what its reports hold."""

import json
import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.harness import ONNXQ, run

rng = np.random.default_rng(5)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def save(path, nodes, weights, shape=(1, 3, 16, 16), output="y", opset=13):
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))],
                              [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7), path)
    return path


# Steps of a scale that are as large as the weights themselves.
COARSE = ["--tensor-overrides", json.dumps({"w2": {"scale": 0.25}})]


def network(path, huge=False, norm=False):
    """Three convolutions and a product; with one huge channel in the second, if asked for."""
    weights = {}
    for name, shape in (("w1", (8, 3, 3, 3)), ("w2", (8, 8, 3, 3)), ("w3", (8, 8, 3, 3)), ("w4", (128, 10))):
        weights[name] = f32(*shape) / np.sqrt(np.prod(shape[1:]) if len(shape) == 4 else shape[0]).astype(np.float32)
    for index, size in ((1, 8), (2, 8), (3, 8)):
        weights[f"b{index}"] = f32(size) * np.float32(0.1)
    if huge:
        weights["w2"][0] *= 200
    nodes = [helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], "conv1", pads=[1] * 4)]
    last = "c1"
    if norm:
        weights |= {"gamma": np.abs(f32(8)) + 1, "beta": f32(8), "mean": f32(8) * np.float32(0.1), "var": np.abs(f32(8)) + 1}
        nodes.append(helper.make_node("BatchNormalization", ["c1", "gamma", "beta", "mean", "var"], ["n1"], "norm1"))
        last = "n1"
    nodes += [
        helper.make_node("Relu", [last], ["r1"], "relu1"),
        helper.make_node("MaxPool", ["r1"], ["p1"], "pool1", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p1", "w2", "b2"], ["c2"], "conv2", pads=[1] * 4),
        helper.make_node("Relu", ["c2"], ["r2"], "relu2"),
        helper.make_node("Conv", ["r2", "w3", "b3"], ["c3"], "conv3", pads=[1] * 4),
        helper.make_node("Add", ["c3", "r2"], ["a3"], "add3"),
        helper.make_node("Relu", ["a3"], ["r3"], "relu3"),
        helper.make_node("MaxPool", ["r3"], ["p3"], "pool3", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p3"], ["f3"], "flat"),
        helper.make_node("MatMul", ["f3", "w4"], ["y"], "matmul4"),
    ]
    return save(path, nodes, weights)


def onnxq(*arguments, status=0):
    result = run([ONNXQ, *map(str, arguments)], timeout=300)
    if result.status != status:
        raise RuntimeError(f"{' '.join(map(str, arguments))[:200]}: {result.ended()}: {result.stderr[-400:]}")
    return result


def debug(real, quant, data, *options):
    # To look for a better way takes time.
    if "--seconds" not in options:
        options = (*options, "--seconds", 0)
    return json.loads(onnxq("debug", real, quant, "--data", data, "--json", "--quiet", *options).stdout)


def page_data(page):
    """What the page's program is given."""
    text = page.read_text()
    return json.loads(re.search(r"^const data = (.*);$", text, re.M)[1])


def first(report):
    """Nodes and tensors that the ranking begins with."""
    name = report["ranking"][0]
    tensor = next(t for t in report["tensors"] if t["name"] == name)
    return tensor
