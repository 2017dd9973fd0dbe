#!/usr/bin/env -S /usr/bin/python3
"""`onnxq quantize --data` observes only what its options ask for: the result must be that of a full table.

Small models are quantized from data, and from a table of `onnxq calibrate` that has all tensors (--all) with histograms:
both files must have the same bytes. Prints a line per failure, then the totals.
"""

import pathlib
import tempfile

import numpy as np
from onnx import helper

from support import harness
from support.calibration_inputs import digits_model, save

rng = np.random.default_rng(11)


def weight(*shape, scale=0.3):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def residual(path):
    """Convolutions around an addition, with what can't be quantized between them."""
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], "c1", pads=[1] * 4),
        helper.make_node("HardSwish", ["c1"], ["h1"], "h1"),
        helper.make_node("Conv", ["h1", "w2"], ["c2"], "c2", pads=[1] * 4, group=8),
        helper.make_node("Add", ["c2", "h1"], ["sum"], "sum"),
        helper.make_node("Relu", ["sum"], ["r"], "r"),
        helper.make_node("GlobalAveragePool", ["r"], ["pool"], "pool"),
        helper.make_node("Exp", ["pool"], ["e"], "e"),
        helper.make_node("Mul", ["r", "e"], ["scaled"], "scaled"),
        helper.make_node("Conv", ["scaled", "w3"], ["y"], "c3"),
    ]
    weights = {"w1": weight(8, 3, 3, 3), "b1": weight(8), "w2": weight(8, 1, 3, 3), "w3": weight(4, 8, 1, 1)}
    return save(path, nodes, {"x": ["n", 3, 12, 12]}, {"y": ["n", 4, 12, 12]}, weights, opset=14), (9, 3, 12, 12)


def products(path):
    """Products of rank 3, a Softmax and moved data."""
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["m1"], "m1"),
        helper.make_node("Add", ["m1", "b1"], ["a1"], "a1"),
        helper.make_node("Transpose", ["a1"], ["t"], "t", perm=[0, 2, 1]),
        helper.make_node("MatMul", ["a1", "t"], ["m2"], "m2"),
        helper.make_node("Softmax", ["m2"], ["s"], "s", axis=-1),
        helper.make_node("MatMul", ["s", "a1"], ["m3"], "m3"),
        helper.make_node("Concat", ["m3", "a1"], ["k"], "k", axis=2),
        helper.make_node("MatMul", ["k", "w2"], ["y"], "m4"),
    ]
    weights = {"w1": weight(16, 8), "b1": weight(8), "w2": weight(16, 4)}
    return save(path, nodes, {"x": ["n", 10, 16]}, {"y": ["n", 10, 4]}, weights), (7, 10, 16)


def digits(path):
    return digits_model(path), (12, 1, 28, 28)


# What a calibration must hold more of than extremes is asked for in both ways.
CASES = [
    ((), ()),
    (("--method", "entropy"), ("--method", "entropy")),
    (("--method", "percentile", "--percentile", "99"), ("--method", "percentile", "--percentile", "99")),
    (("--method", "entropy", "--quantized-bins", "64"), ("--method", "mse")),
    (("--method", "mse"), ("--method", "mse", "--threads", "3")),
    (("--method", "average"), ("--method", "average")),
]
MODES = [
    ("--mode", "qdq"),
    ("--mode", "qlinear"),
    ("--mode", "qdq", "--placement", "every-op"),
    ("--mode", "qdq", "--activation-type", "int8", "--per-channel=false"),
    ("--mode", "qdq", "--op-types-to-quantize", "Conv,MatMul"),
    ("--mode", "qdq", "--bias-correction", "none", "--channel-scaling", "none"),
]


def onnxq(*arguments):
    outcome = harness.run([harness.ONNXQ, *arguments], timeout=300)
    return None if outcome.status == 0 else f"{arguments[0]}: {outcome.ended()}: {outcome.stderr.strip()[:300]}"


def compare(folder, prepared, data, modes, from_data, from_table):
    """What is wrong with a model quantized from data; None if nothing is."""
    direct, table, indirect = folder / "direct.onnx", folder / "table.json", folder / "indirect.onnx"
    options = ("--skip-preprocess", "--quiet", *modes)
    problem = (onnxq("quantize", prepared, "--data", data, "-o", direct, *options, *from_data)
               or onnxq("calibrate", prepared, "--data", data, "-o", table, "--quiet", "--all", "--histogram", *from_table)
               or onnxq("quantize", prepared, "--table", table, "-o", indirect, *options, *from_data))
    if problem or direct.read_bytes() == indirect.read_bytes():
        return problem
    return "other bytes than from a full table"


def main():
    harness.require_tools()
    tally = harness.Tally()
    for make in (digits, residual, products):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            model, shape = make(folder / "model.onnx")
            prepared, data = folder / "prepared.onnx", folder / "data.npy"
            np.save(data, rng.standard_normal(shape).astype(np.float32))
            problem = onnxq("preprocess", model, "-o", prepared, "--quiet")
            tally.result(f"{make.__name__} prepared", problem)
            pairs = [(MODES[0], case) for case in CASES[1:]] + [(modes, CASES[0]) for modes in MODES]
            for modes, (from_data, from_table) in pairs:
                name = " ".join((make.__name__, *modes, *from_data))
                tally.result(name, compare(folder, prepared, data, modes, from_data, from_table))
    tally.finish()


if __name__ == "__main__":
    main()
