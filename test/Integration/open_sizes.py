#!/usr/bin/env -S /usr/bin/python3
"""Memory of runs with open sizes: what nothing reads any more is free for what comes.

A chain of products is run with rows that are open. Its peak of resident memory must not grow with its length.
"""

import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from harness import ONNXQ, Tally, require_tools, run

ROWS, WIDTH = 8192, 256


def chain(path, length):
    """x -> (MatMul -> Tanh -> Softmax) times `length` -> y, and the first of them once more at the end."""
    weight = numpy_helper.from_array(np.eye(WIDTH, dtype=np.float32), "w")
    nodes, last = [], "x"
    for i in range(length):
        for op, inputs in (("MatMul", [last, "w"]), ("Tanh", [f"m{i}"]), ("Softmax", [f"t{i}"])):
            last = f"{op[0].lower()}{i}"
            nodes.append(helper.make_node(op, inputs, [last], name=last))
    nodes.append(helper.make_node("Add", [last, "m0"], ["y"], name="end"))
    graph = helper.make_graph(nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", WIDTH])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", WIDTH])], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def expected(x, length):
    y = x.astype(np.float64)
    for _ in range(length):
        y = np.exp(np.tanh(y))
        y /= y.sum(-1, keepdims=True)
    return (y + x).astype(np.float32)


def main():
    require_tools()
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        folder, peaks = pathlib.Path(temporary), {}
        for length in (3, 12):
            model, library = folder / f"{length}.onnx", folder / f"{length}.so"
            chain(model, length)
            done = run([ONNXQ, "compile", model, "-o", library, "--quiet"], timeout=300)
            tally.result(f"compile {length}", None if done.status == 0 else done.stderr[:300])
            x = np.random.default_rng(length).standard_normal((ROWS, WIDTH)).astype(np.float32)
            np.save(folder / "x.npy", x)
            done = run([ONNXQ, "run", library, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder], timeout=300)
            peaks[length] = done.megabytes
            same = done.status == 0 and np.allclose(np.load(folder / "y.npy"), expected(x, length), rtol=1e-4, atol=1e-6)
            tally.result(f"numbers {length}", None if same else f"{done.ended()} {done.stderr[:300]}")
        # A tensor has 8 MB; 27 more of them would take 216.
        grown = peaks[12] - peaks[3]
        tally.result("memory", None if grown < 40 else f"9 more layers take {grown:.0f} MB more")
    tally.finish()


if __name__ == "__main__":
    sys.exit(main())
