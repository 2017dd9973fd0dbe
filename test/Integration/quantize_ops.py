#!/usr/bin/env -S /usr/bin/python3
"""Every op that can be quantized, in every form: ONNX Runtime and our code give the same.

Each op stands in a branch of its own between two contractions, so that what it reads and what it gives can be
quantized; the branches are outputs of one model, which is quantized in every form. The results agree to 45 dB, or to
90 dB from quantizer to quantizer. Branches in subgraphs (If, Loop) are another model. The default run takes half of the forms through each; --all all of them, and a pattern chooses by name.
"""

import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

from support import ort
from support import quantized_models as q
from support.harness import Tally, require_tools
from quantize import variants

rng = np.random.default_rng(23)
SHAPE = [1, 8, 6, 6]


def f32(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


class Builder:
    """Collects the nodes and constants of a graph."""

    def __init__(self):
        self.nodes, self.constants, self.outputs, self.count = [], {}, [], 0

    def constant(self, array):
        self.count += 1
        name = f"constant{self.count}"
        self.constants[name] = array
        return name

    def node(self, kind, inputs, outputs=1, **attributes):
        self.count += 1
        names = [f"{kind.lower()}{self.count}" + (f"_{i}" if outputs > 1 else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, f"{kind}_{self.count}", **attributes))
        return names if outputs > 1 else names[0]

    def conv(self, value, channels=8, **attributes):
        return self.node("Conv", [value, self.constant(f32(8, channels, 1, 1, scale=0.4)), self.constant(f32(8))], **attributes)

    def product(self, value, depth):
        return self.node("MatMul", [value, self.constant(f32(depth, 5, scale=0.3))])

    def output(self, name, value):
        self.nodes.append(helper.make_node("Identity", [value], [name], f"{name}_out"))
        self.outputs.append(name)


def elementwise(b, x):
    """Ops whose result a convolution reads, by name."""
    one = lambda value: b.constant(np.float32(value))
    channels = lambda: b.constant(np.abs(f32(8, 1, 1)) + 0.5)
    yield "relu", b.node("Relu", [x])
    yield "clip", b.node("Clip", [x, one(0), one(1.5)])
    yield "leaky_relu", b.node("LeakyRelu", [x], alpha=0.1)
    yield "sigmoid", b.node("Sigmoid", [x])
    yield "hard_sigmoid", b.node("HardSigmoid", [x], alpha=0.2, beta=0.5)
    yield "hard_swish", b.node("HardSwish", [x])
    yield "add", b.node("Add", [x, b.conv("x")])
    yield "add_constant", b.node("Add", [x, channels()])
    yield "sub", b.node("Sub", [x, b.conv("x")])
    yield "mul", b.node("Mul", [x, b.conv("x")])
    yield "mul_constant", b.node("Mul", [channels(), x])
    yield "div", b.node("Div", [x, channels()])
    yield "where", b.node("Where", [b.constant(rng.random((6, 6)) < 0.5), x, b.conv("x")])
    yield "softmax", b.node("Softmax", [x], axis=1)


def windows(b, x):
    """Poolings, moved data and resampling before a convolution."""
    ints = lambda *values: b.constant(np.array(values, np.int64))
    yield "max_pool", b.node("MaxPool", [x], kernel_shape=[2, 2])
    yield "average_pool", b.node("AveragePool", [x], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    yield "global_average_pool", b.node("GlobalAveragePool", [x])
    yield "reduce_mean", b.node("ReduceMean", [x], axes=[2, 3], keepdims=1)
    yield "conv_transpose", b.node("ConvTranspose", [x, b.constant(f32(8, 8, 2, 2, scale=0.3)), b.constant(f32(8))], strides=[2, 2])
    yield "concat", b.node("Slice", [b.node("Concat", [x, b.conv("x")], axis=1), ints(4), ints(12), ints(1)])
    yield "split", b.node("Concat", [*reversed(b.node("Split", [x], 2, axis=1))], axis=1)
    yield "pad", b.node("Pad", [x, ints(0, 0, 1, 1, 0, 0, 1, 0)])
    yield "slice", b.node("Slice", [x, ints(1), ints(5), ints(2)])
    yield "gather", b.node("Gather", [x, ints(5, 0, 3)], axis=3)
    yield "transpose", b.node("Transpose", [x], perm=[0, 1, 3, 2])
    yield "reshape", b.node("Reshape", [x, ints(1, 8, 9, 4)])
    yield "squeeze", b.node("Unsqueeze", [b.node("Squeeze", [x, ints(0)]), ints(0)])
    for mode in ("nearest", "linear"):
        yield f"resize_{mode}", b.node("Resize", [x, "", b.constant(np.array([1, 1, 2, 2], np.float32))], mode=mode,
                                       coordinate_transformation_mode="half_pixel" if mode == "linear" else "asymmetric",
                                       **({"nearest_mode": "floor"} if mode == "nearest" else {}))


def products(b, x):
    """Matrix products of all kinds; the last axis has 6 numbers."""
    yield "matmul", b.product(x, 6)
    yield "matmul_left", b.node("MatMul", [b.constant(f32(4, 6, scale=0.3)), x])
    yield "matmul_stack", b.node("MatMul", [x, b.constant(f32(8, 6, 5, scale=0.3))])
    yield "matmul_both", b.node("MatMul", [x, b.node("Sigmoid", [b.conv("x")])])
    yield "gemm", b.node("Gemm", [b.node("Flatten", [x]), b.constant(f32(5, 288, scale=0.1)), b.constant(f32(5))], transB=1)
    yield "gemm_row", b.node("Gemm", [b.node("Flatten", [x]), b.constant(f32(288, 5, scale=0.1)), b.constant(f32(1, 5))])
    yield "einsum", b.node("Einsum", [x, b.constant(f32(6, 5, scale=0.3))], equation="bchw,wk->bchk")
    yield "argmax", b.node("Cast", [b.node("ArgMax", [x], axis=1, keepdims=1)], to=1)


def save(path, b, inputs=(("x", SHAPE),)):
    graph = helper.make_graph(b.nodes, "ops", [helper.make_tensor_value_info(name, 1, shape) for name, shape in inputs],
                              [helper.make_tensor_value_info(name, 1, None) for name in b.outputs],
                              [numpy_helper.from_array(array, name) for name, array in b.constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), path)
    return path


def all_ops(path):
    b = Builder()
    for family in (elementwise, windows):
        for name, value in family(b, b.conv("x")):
            b.output(name, b.conv(value))
    for name, value in products(b, b.conv("x")):
        b.output(name, value)
    return save(path, b)


def branches(path):
    """Contractions inside If and Loop, which read tensors of the graph around them."""
    def body(name, inputs, result, weights):
        conv = helper.make_node("Conv", [inputs[-1], f"{name}_w", f"{name}_b"], [f"{name}_c"], f"{name}_conv")
        relu = helper.make_node("Relu", [f"{name}_c"], [result], f"{name}_relu")
        weights |= {f"{name}_w": f32(8, 8, 1, 1, scale=0.3), f"{name}_b": f32(8)}
        return [conv, relu]

    b, info = Builder(), helper.make_tensor_value_info
    first = b.conv("x")
    mean = b.node("ReduceMean", ["x"], keepdims=0)
    condition = b.node("Greater", [mean, b.constant(np.float32(0))])
    then, other, loop = {}, {}, {}
    tensors = lambda weights: [numpy_helper.from_array(array, name) for name, array in weights.items()]
    then_nodes, other_nodes = body("then", [first], "then_y", then), body("other", [first], "other_y", other)
    chosen = b.node("If", [condition],
                    then_branch=helper.make_graph(then_nodes, "then", [], [info("then_y", 1, SHAPE)], tensors(then)),
                    else_branch=helper.make_graph(other_nodes, "other", [], [info("other_y", 1, SHAPE)], tensors(other)))
    loop_nodes = [*body("loop", ["carried"], "loop_y", loop), helper.make_node("Identity", ["going"], ["still"])]
    graph = helper.make_graph(loop_nodes, "loop", [info("step", 7, []), info("going", 9, []), info("carried", 1, SHAPE)],
                              [info("still", 9, []), info("loop_y", 1, SHAPE)], tensors(loop))
    looped = b.node("Loop", [b.constant(np.int64(2)), b.constant(np.bool_(True)), first], body=graph)
    b.output("chosen", b.conv(chosen))
    b.output("looped", b.conv(looped))
    return save(path, b)


def check(tally, folder, label, path, options, data, x):
    target = folder / "ops.int8.onnx"
    try:
        q.onnxq("quantize", path, "-o", target, "--quiet", *(["--data", data] if data else []), *options)
        onnx.checker.check_model(onnx.load(target))
        level = q.level_for(options)
        theirs, as_users = (q.run_ort(folder, [(target, {"x": x})], l)[0] for l in (level, "all"))
        for result in (theirs, as_users):
            if isinstance(result, str):
                return tally.result(label, f"refused: {result[:300]}")
        ours, plain = q.run_ours(folder, target, {"x": x}), q.run_ort(folder, [(path, {"x": x})])[0]
        worst = {name: q.sqnr(theirs[name], ours[name]) for name in theirs}
        far = [f"{name} ({worst[name]:.1f} dB)" for name in worst if worst[name] < 45]
        if far and q.cut_at_quantizers(folder, target, {"x": x}, level) >= 90:
            far = []
    except Exception as error:
        return tally.result(label, str(error)[:300])
    lost = [f"{name} ({q.sqnr(plain[name], ours[name]):.1f} dB)" for name in plain
            if name != "argmax" and q.sqnr(plain[name], ours[name]) < 14]
    tally.result(label, f"other than in ONNX Runtime: {', '.join(far)}" if far
                 else f"far from float: {', '.join(lost)}" if lost else None)


def main():
    require_tools()
    ort.require()
    pattern = next((a for a in sys.argv[1:] if not a.startswith("-")), "")
    everything = bool(pattern) or "--all" in sys.argv
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        np.save(folder / "x.npy", f32(16, *SHAPE[1:]))
        # The convolutions are so small that they would stay float by themselves.
        named = ["--nodes-to-quantize", ".*"]
        for index, (kind, path, more) in enumerate((("ops", all_ops(folder / "ops.onnx"), named),
                                                    ("subgraphs", branches(folder / "branches.onnx"), ["--enable-subgraph", *named]))):
            for number, (variant, options) in enumerate(variants()):
                label = f"{kind}/{variant}"
                # Drawn for all: a case is the same whatever else runs.
                x = f32(*SHAPE)
                if not everything and number % 2 == index:
                    continue
                if re.search(pattern, label):
                    dynamic = "dynamic" in variant and "qlinear" not in variant
                    check(tally, folder, label, path, [*options, *more], None if dynamic else folder / "x.npy", x)
    tally.finish()


if __name__ == "__main__":
    main()
