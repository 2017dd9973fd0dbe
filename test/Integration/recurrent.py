#!/usr/bin/env -S /usr/bin/python3
"""Recurrent layers with constant weights, as models have them, against ONNX Runtime.

RNN, GRU and LSTM in one graph: one step and several, every direction, states, biases, lengths, peepholes, layout 1 (with
transposes around layout 0 in the runtime, which has no other), weights of floats and of bytes. Sizes of steps and
batch are fixed, and then open.
"""

import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import ort
from support import quantized_models as q
from support.harness import Tally, require_tools

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
INPUT, HIDDEN, BATCH = 5, 6, 3


class Graphs:
    """The same layers twice: ours, and as the runtime takes them."""

    def __init__(self):
        self.rng = np.random.default_rng(8)
        self.nodes, self.reference, self.weights, self.feeds, self.outputs = [], [], [], {}, []

    def numbers(self, *shape):
        return (0.5 * self.rng.standard_normal(shape)).astype(np.float32)

    def constant(self, name, array):
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def given(self, name, array):
        self.feeds[name] = array
        return name

    def matrix(self, name, kind, directions, depth, is_bytes):
        """Weights; of bytes with a scale for each row."""
        rows = GATES[kind] * HIDDEN
        if not is_bytes:
            return self.constant(name, self.numbers(directions, rows, depth))
        codes = self.rng.integers(-127, 128, (directions, rows, depth)).astype(np.int8)
        inputs = [self.constant(f"{name}.codes", codes),
                  self.constant(f"{name}.scale", self.rng.uniform(0.002, 0.006, rows).astype(np.float32)),
                  self.constant(f"{name}.zero", np.zeros(rows, np.int8))]
        node = helper.make_node("DequantizeLinear", inputs, [name], f"{name}.dequantize", axis=1)
        self.nodes.append(node)
        self.reference.append(node)
        return name

    def transposed(self, value, perm):
        self.reference.append(helper.make_node("Transpose", [value], [f"{value}.t"], perm=perm))
        return f"{value}.t"

    def layer(self, name, kind, steps, direction="forward", states=True, bias=True, lengths=False, peepholes=False,
              layout=0, is_bytes=False, **attributes):
        directions = 2 if direction == "bidirectional" else 1
        first = (lambda a, b: (b, a)) if layout else (lambda a, b: (a, b))
        x = self.given(f"{name}.x", self.numbers(*first(steps, BATCH), INPUT))
        inputs = [x, self.matrix(f"{name}.w", kind, directions, INPUT, is_bytes),
                  self.matrix(f"{name}.r", kind, directions, HIDDEN, is_bytes),
                  self.constant(f"{name}.b", self.numbers(directions, 2 * GATES[kind] * HIDDEN)) if bias else "",
                  self.constant(f"{name}.lens", np.array([steps, 1, max(steps - 1, 1)], np.int32)) if lengths else ""]
        for state in ("h", "c")[:2 if kind == "LSTM" else 1]:
            inputs.append(self.given(f"{name}.{state}", self.numbers(*first(directions, BATCH), HIDDEN)) if states else "")
        if kind == "LSTM":
            inputs.append(self.constant(f"{name}.p", self.numbers(directions, 3 * HIDDEN)) if peepholes else "")
        results = [f"{name}.y{i}" for i in range(3 if kind == "LSTM" else 2)]
        common = dict(attributes, direction=direction, hidden_size=HIDDEN)
        self.nodes.append(helper.make_node(kind, inputs, results, name, layout=layout, **common))
        self.outputs += results
        if not layout:
            self.reference.append(helper.make_node(kind, inputs, results, name, **common))
            return
        other = [self.transposed(value, [1, 0, 2]) if value in self.feeds else value for value in inputs]
        self.reference.append(helper.make_node(kind, other, [f"{r}.0" for r in results], name, **common))
        for result, perm in zip(results, ([2, 0, 1, 3], [1, 0, 2], [1, 0, 2])):
            self.reference.append(helper.make_node("Transpose", [f"{result}.0"], [result], perm=perm))

    def write(self, path, nodes, is_open):
        infos = []
        for name, array in self.feeds.items():
            shape = list(array.shape)
            if is_open:
                shape[:2] = [f"{name}.{axis}" for axis in range(2)]
            infos.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs]
        graph = helper.make_graph(nodes, "g", infos, outputs, self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), str(path))
        return path


def build():
    graphs = Graphs()
    for kind in GATES:
        for steps in (1, 4):
            graphs.layer(f"{kind}.{steps}", kind, steps)
            graphs.layer(f"{kind}.{steps}.bytes", kind, steps, is_bytes=True)
            graphs.layer(f"{kind}.{steps}.plain", kind, steps, states=False, bias=False, direction="reverse")
            graphs.layer(f"{kind}.{steps}.both", kind, steps, direction="bidirectional", is_bytes=True)
            graphs.layer(f"{kind}.{steps}.turned", kind, steps, layout=1)
        graphs.layer(f"{kind}.lengths", kind, 4, direction="bidirectional", lengths=True)
        graphs.layer(f"{kind}.clip", kind, 1, clip=0.5)
    graphs.layer("peepholes", "LSTM", 1, peepholes=True)
    graphs.layer("linear", "GRU", 4, linear_before_reset=1)
    return graphs


def main():
    require_tools()
    ort.require()
    tally, graphs = Tally(), build()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        reference = q.run_ort(folder, [(graphs.write(folder / "reference.onnx", graphs.reference, False), graphs.feeds)])[0]
        if isinstance(reference, str):
            sys.exit(f"ONNX Runtime: {reference}\n0 passed, 1 failed")
        for is_open in (False, True):
            ours = q.run_ours(folder, graphs.write(folder / "model.onnx", graphs.nodes, is_open), graphs.feeds)
            for name in graphs.outputs:
                one, other = reference[name], ours[name]
                good = one.shape == other.shape and np.allclose(one, other, rtol=1e-5, atol=1e-5)
                tally.result(f"{'open ' if is_open else ''}{name}",
                             None if good else f"{one.shape} {other.shape} {q.sqnr(one, other) if one.shape == other.shape else ''}")
    tally.finish()


if __name__ == "__main__":
    main()
