"""Single layers as models, in float and in 8 bits: what bench/layers measures.

Weights are bell-shaped, activations too. A float convolution exists in two forms: channels first, as ONNX has it, and
between transpositions from and to channels last, which cost nothing where the compiler keeps channels last anyway.
Quantized layers take and give 8-bit values (u8 activations, s8 weights per channel).
"""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, U8 = TensorProto.FLOAT, TensorProto.UINT8
TO_FIRST, TO_LAST = [0, 3, 1, 2], [0, 2, 3, 1]


class Layer:
    """Sizes of a layer: `size` is None for a product of matrices, rows x inputs by inputs x outputs."""

    def __init__(self, name, rows, inputs, outputs, size=None, group=1):
        self.name, self.rows, self.inputs, self.outputs, self.size, self.group = name, rows, inputs, outputs, size, group

    @property
    def macs(self):
        points = self.rows if self.size is None else self.rows ** 2
        return points * self.inputs // self.group * self.outputs * (self.size or 1) ** 2

    def weights(self, random):
        shape = (self.inputs, self.outputs) if self.size is None else (
            self.outputs, self.inputs // self.group, self.size, self.size)
        fan = self.inputs // self.group * (self.size or 1) ** 2
        return (random.standard_normal(shape) / np.sqrt(fan)).astype(np.float32)

    def input_shape(self, last):
        if self.size is None:
            return [self.rows, self.inputs]
        return [1, self.rows, self.rows, self.inputs] if last else [1, self.inputs, self.rows, self.rows]

    def attributes(self):
        return {} if self.size is None else {"kernel_shape": [self.size] * 2, "pads": [self.size // 2] * 4, "group": self.group}

    def wrap(self, nodes, last, kind, constants):
        """The layer's nodes from x to y as a model, between transpositions where channels come last."""
        if last:
            nodes = [helper.make_node("Transpose", ["input"], ["x"], perm=TO_FIRST), *nodes,
                     helper.make_node("Transpose", ["y"], ["output"], perm=TO_LAST)]
        source, result = ("input", "output") if last else ("x", "y")
        graph = helper.make_graph(nodes, self.name, [helper.make_tensor_value_info(source, kind, self.input_shape(last))],
                                  [helper.make_tensor_value_info(result, kind, None)],
                                  [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
        return model, source

    def float_model(self, last):
        """The model and its inputs."""
        random = np.random.default_rng(1)
        constants = {"w": self.weights(random), "b": random.standard_normal(self.outputs).astype(np.float32)}
        if self.size is None:
            nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["y"])]
        else:
            nodes = [helper.make_node("Conv", ["x", "w", "b"], ["y"], "layer", **self.attributes())]
        model, source = self.wrap(nodes, last and self.size is not None, FLOAT, constants)
        shape = self.input_shape(last)
        return model, {source: random.standard_normal(shape).astype(np.float32)}

    def quantized_model(self, last):
        """The model and its inputs."""
        random = np.random.default_rng(2)
        weights = self.weights(random)
        axis = 1 if self.size is None else 0
        others = tuple(a for a in range(weights.ndim) if a != axis)
        scales = np.abs(weights).max(axis=others) / np.float32(127)
        stored = np.rint(weights / np.expand_dims(scales, others)).astype(np.int8)
        step = np.float32(8 / 255)
        bias = random.standard_normal(self.outputs) / (step * scales)
        constants = {"xs": step, "xz": np.uint8(128), "w": stored, "ws": scales.astype(np.float32),
                     "wz": np.zeros(self.outputs, np.int8), "ys": np.float32(12 / 255), "yz": np.uint8(127)}
        inputs = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]
        if self.size is None:
            nodes = [helper.make_node("QLinearMatMul", inputs, ["y"], "layer")]
        else:
            constants["b"] = np.rint(bias).astype(np.int32)
            nodes = [helper.make_node("QLinearConv", [*inputs, "b"], ["y"], "layer", **self.attributes())]
        model, source = self.wrap(nodes, last and self.size is not None, U8, constants)
        values = np.clip(np.rint(random.standard_normal(self.input_shape(last)) / step) + 128, 0, 255)
        return model, {source: values.astype(np.uint8)}


LAYERS = [
    Layer("conv 3x3 56x56 64->64", 56, 64, 64, 3),
    Layer("conv 1x1 14x14 1024->256", 14, 1024, 256, 1),
    Layer("conv 1x1 56x56 64->256", 56, 64, 256, 1),
    Layer("matmul 128x768x3072", 128, 768, 3072),
    Layer("depthwise 3x3 112x112x96", 112, 96, 96, 3, group=96),
    Layer("matvec 2048x1024", 1, 2048, 1024),
]
