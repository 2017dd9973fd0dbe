#!/usr/bin/env -S /usr/bin/python3
"""Graphs of several nodes against numpy: views that leave branches and loops, ranks that depend on a
branch, loops that end in different ways, functions of bytes, bytes that are moved, and types of elements that arrays cannot hold.

Each case runs with known and with open sizes and with every access to a buffer checked. Bad cases must
end with an error that names the node. Prints a line per failure, then the totals.
"""

import pathlib
import re
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.mapping import NP_TYPE_TO_TENSOR_TYPE

from support.harness import ONNXQ, Tally, require_tools

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node
rng = np.random.default_rng(5)
CASES, BAD = {}, {}


def constant(name, *values):
    """A vector of integers."""
    return numpy_helper.from_array(np.array(values, np.int64), name)


def graph(nodes, outputs, inputs=(), constants=()):
    def infos(pairs):
        return [helper.make_tensor_value_info(name, kind, None if rank is None else [None] * rank) for name, kind, rank in pairs]
    return helper.make_graph(nodes, "body", infos(inputs), infos(outputs), list(constants))


class Case:
    def __init__(self, nodes, feeds, results, constants=(), opset=18, forms=(False, True)):
        self.nodes, self.feeds, self.results = nodes, feeds, results
        self.constants, self.opset, self.forms = constants, opset, forms

    def write(self, folder, is_open):
        def info(name, array, open_sizes):
            dims = [f"{name}_{k}" if open_sizes else size for k, size in enumerate(array.shape)]
            return helper.make_tensor_value_info(name, NP_TYPE_TO_TENSOR_TYPE[array.dtype], dims)
        whole = helper.make_graph(
            self.nodes, "case", [info(name, array, is_open) for name, array in self.feeds.items()],
            [info(name, array, True) for name, array in self.results.items()], list(self.constants))
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        onnx.save(model, str(folder / "model.onnx"))
        for kind, arrays in (("input", self.feeds), ("output", self.results)):
            for index, (name, array) in enumerate(arrays.items()):
                array = np.ascontiguousarray(array) if array.ndim else array
                (data / f"{kind}_{index}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())


def add_wide():
    """More outputs than are copied one by one: computed ones, an input, a constant, one without elements."""
    x = rng.standard_normal((3, 20)).astype(np.float32)
    parts = [f"p{i}" for i in range(20)]
    fixed = rng.standard_normal((2, 2)).astype(np.float32)
    nodes = [node("Split", ["x"], parts, axis=1), node("Identity", ["x"], ["same"]), node("Identity", ["c"], ["fixed"]),
             node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Shape", ["x"], ["shape"]), node("Neg", ["x"], ["less"]),
             node("Identity", ["less"], ["again"]), node("Slice", ["x", "one", "one", "axis1"], ["none"])]
    results = {name: x[:, i : i + 1] for i, name in enumerate(parts)}
    results.update(same=x, fixed=fixed, sum=x.astype(np.float64).sum().astype(np.float32), shape=np.array(x.shape, np.int64),
                   less=-x, again=-x, none=x[:, 1:1])
    constants = [numpy_helper.from_array(fixed, "c"), constant("one", 1), constant("axis1", 1)]
    CASES["wide"] = Case(nodes, {"x": x}, results, constants, opset=13)


def add_views():
    """Parts of tensors that leave a branch or an iteration as they are."""
    x = rng.standard_normal((4, 6, 5)).astype(np.float32)
    bounds = [constant("one", 1), constant("three", 3), constant("four", 4), constant("axis1", 1), constant("axis2", 2)]
    first = node("Slice", ["x", "one", "three", "axis1"], ["a"])
    second = node("Slice", ["x", "three", "four", "axis2"], ["b"])
    for truth in (True, False):
        for same in (True, False):
            # Branches that yield slices, or one a slice and one the whole.
            other = graph([second], [("b", F32, 3)]) if same else graph([node("Identity", ["x"], ["b"])], [("b", F32, 3)])
            branch = node("If", ["c"], ["y"], then_branch=graph([first], [("a", F32, 3)]), else_branch=other)
            y = x[:, 1:3] if truth else (x[:, :, 3:4] if same else x)
            CASES[f"if-slice-{truth}-{same}"] = Case([branch], {"x": x, "c": np.array(truth)}, {"y": y}, bounds)
    CASES["slice-of-slice"] = Case(
        [first, node("Slice", ["a", "one", "three", "axis2"], ["y"]), node("Transpose", ["y"], ["z"], perm=[2, 0, 1])],
        {"x": x}, {"y": x[:, 1:3, 1:3], "z": x[:, 1:3, 1:3].transpose(2, 0, 1)}, bounds)
    CASES["slice-reshaped"] = Case(
        [node("Slice", ["x", "one", "three", "axis2"], ["a"]), node("Reshape", ["a", "flat"], ["y"])],
        {"x": x}, {"y": x[:, :, 1:3].ravel()}, bounds + [constant("flat", -1)])
    # A loop that carries a slice of what it carried, and gives a slice per iteration.
    body = graph(
        [node("Identity", ["go"], ["still"]), node("Slice", ["v", "one", "top", "axis1"], ["w"]),
         node("Slice", ["x", "one", "three", "axis2"], ["s"])],
        [("still", BOOL, 0), ("w", F32, 3), ("s", F32, 3)], [("i", I64, 0), ("go", BOOL, 0), ("v", F32, 3)])
    CASES["loop-slice"] = Case(
        [node("Loop", ["n", "", "x"], ["y", "z"], body=body)], {"x": x, "n": np.array(3)},
        {"y": x[:, 3:], "z": np.stack([x[:, :, 1:3]] * 3)}, bounds + [constant("top", 1000)])
    body = graph([node("Slice", ["v", "zero", "three", "axis0"], ["o"]), node("Add", ["u", "v"], ["g"])],
                 [("g", F32, 2), ("o", F32, 2)], [("u", F32, 2), ("v", F32, 2)])
    CASES["scan-slice"] = Case(
        [node("Scan", ["h0", "x"], ["h", "y"], num_scan_inputs=1, body=body, scan_input_axes=[1], scan_output_axes=[1])],
        {"h0": np.zeros((4, 5), np.float32), "x": x}, {"h": np.add.reduce(x, 1, dtype=np.float32), "y": x[:3].copy()},
        [constant("zero", 0), constant("three", 3), constant("axis0", 0)])
    # Pieces of a split, one of them returned as it is and one computed with.
    CASES["split-returned"] = Case(
        [node("Split", ["x"], ["a", "b"], axis=2, num_outputs=2), node("Neg", ["b"], ["y"])],
        {"x": x[..., :4].copy()}, {"a": x[..., :2], "y": -x[..., 2:4]})
    # A value that is updated while a view of it is returned.
    CASES["view-before-update"] = Case(
        [node("Relu", ["x"], ["r"]), node("Slice", ["r", "one", "three", "axis0"], ["a"]), node("ScatterElements", ["r", "rows", "new"], ["y"], axis=0)],
        {"x": x[:, 0], "rows": np.full((1, 5), 1), "new": np.full((1, 5), 9, np.float32)},
        {"a": np.maximum(x[1:3, 0], 0), "y": np.concatenate([np.maximum(x[:1, 0], 0), np.full((1, 5), 9, np.float32), np.maximum(x[2:, 0], 0)])},
        [constant("one", 1), constant("three", 3), constant("axis0", 0)])


def add_ranks():
    """A dimension that only one branch takes away."""
    for size in (1, 3):
        x = rng.standard_normal((4, 6, size)).astype(np.float32)
        squeeze = graph([node("Squeeze", ["x", "axis"], ["a"])], [("a", F32, None)])
        keep = graph([node("Identity", ["x"], ["b"])], [("b", F32, None)])
        total = graph([node("ReduceSum", ["v", "axis"], ["p"], keepdims=0)], [("p", F32, None)])
        as_is = graph([node("Identity", ["v"], ["q"])], [("q", F32, None)])
        nodes = [
            node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "axis"], ["last"]), node("Equal", ["last", "one"], ["c"]),
            node("If", ["c"], ["v"], then_branch=squeeze, else_branch=keep),
            node("Shape", ["v"], ["vs"]), node("Size", ["vs"], ["rank"]), node("Equal", ["rank", "three"], ["d"]),
            node("If", ["d"], ["w"], then_branch=total, else_branch=as_is), node("Neg", ["w"], ["y"])]
        constants = [constant("axis", 2), constant("one", 1), numpy_helper.from_array(np.array(3), "three")]
        CASES[f"rank-{size}"] = Case(nodes, {"x": x}, {"y": -x.sum(2)}, constants, forms=(True,))


def add_scales():
    """Powers of two in 8 bits: 1 is code 127, 255 no number; other values round up."""
    scale = getattr(TensorProto, "FLOAT8E8M0", 24)
    values = np.array([1, 2, 0.5, 3, 1.0001, 2.0**127, 2.0**-126, 2.0**-127, 1e-40, np.nan, -4], np.float32)
    rounded = np.array([1, 2, 0.5, 4, 2, 2.0**127, 2.0**-126, 2.0**-127, 2.0**-127, np.nan, 4], np.float32)
    CASES["scale-type"] = Case(
        [node("Cast", ["x"], ["s"], to=scale), node("Cast", ["s"], ["y"], to=F32)], {"x": values}, {"y": rounded}, opset=21)


def mean_in_lanes(x):
    """The mean over an image's places: four lanes, then the pairs of lanes two apart, then what is left, one by one."""
    places = x.reshape(*x.shape[:2], -1)
    lanes = np.zeros((*x.shape[:2], 4), np.float32)
    count = places.shape[-1]
    for k in range(count // 4):
        lanes = lanes + places[..., 4 * k:4 * k + 4]
    total = (lanes[..., 0] + lanes[..., 2]) + (lanes[..., 1] + lanes[..., 3])
    for k in range(count // 4 * 4, count):
        total = total + places[..., k]
    return (total / np.float32(count)).reshape(*x.shape[:2], *[1] * (x.ndim - 2))


def add_means():
    """Means over places, of large numbers that cancel each other, so that another order gives other results; also with
    channels last, which a convolution asks for."""
    for shape in ((2, 9, 5, 7), (1, 16, 4, 6), (2, 3, 3), (1, 8, 1, 2), (1, 5, 2, 3, 4), (3, 8, 1, 1)):
        x = (rng.uniform(-1, 1, shape) * 1e8).astype(np.float32)
        places = x.reshape(*shape[:2], -1)
        places[..., -1] = 1 - places[..., :-1].astype(np.float64).sum(-1)
        name = "x".join(map(str, shape))
        CASES[f"mean-{name}"] = Case([node("GlobalAveragePool", ["x"], ["y"], "mean")], {"x": x}, {"y": mean_in_lanes(x)})
        channels = shape[1]
        copy = np.eye(channels, dtype=np.float32).reshape(channels, channels, *[1] * (len(shape) - 2))
        nodes = [node("Conv", ["x", "w"], ["c"], "copy"), node("GlobalAveragePool", ["c"], ["y"], "mean")]
        CASES[f"mean-{name}-last"] = Case(nodes, {"x": x}, {"y": mean_in_lanes(x)}, [numpy_helper.from_array(copy, "w")])


def add_tables():
    """Functions of a byte, quantized after every node: all bytes, and far from where a rounding could go either way."""
    sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
    for kind, (low, high) in {"uint8": (0, 255), "int8": (-128, 127)}.items():
        x = np.tile(np.arange(low, high + 1).astype(kind), 6).reshape(2, 3, 16, 16)
        scales = {"xs": (0.05, low + 100), "ss": (0.0041, low), "ys": (0.051, low + 7)}
        constants = [numpy_helper.from_array(np.array(s, np.float32), name) for name, (s, _) in scales.items()]
        constants += [numpy_helper.from_array(np.array(z, kind), name[0] + "z") for name, (_, z) in scales.items()]

        def real(q, name):
            return (q.astype(np.float64) - scales[name][1]) * np.float64(np.float32(scales[name][0]))

        def whole(value, name):
            scaled = value / np.float64(np.float32(scales[name][0]))
            assert np.abs(scaled - np.floor(scaled) - 0.5).min() > 1e-4, "a tie"
            return np.clip(np.rint(scaled) + scales[name][1], low, high).astype(kind)

        middle = whole(sigmoid(real(x, "xs")), "ss")
        product = whole(real(x, "xs") * real(middle, "ss"), "ys")
        nodes = [node("DequantizeLinear", ["x", "xs", "xz"], ["xr"]), node("Sigmoid", ["xr"], ["s"]),
                 node("QuantizeLinear", ["s", "ss", "sz"], ["sq"]), node("DequantizeLinear", ["sq", "ss", "sz"], ["sr"]),
                 node("Mul", ["xr", "sr"], ["m"]), node("QuantizeLinear", ["m", "ys", "yz"], ["y"])]
        CASES[f"table-silu-{kind}"] = Case(nodes, {"x": x}, {"y": product}, constants)
        CASES[f"table-sigmoid-{kind}"] = Case(nodes[:2] + [node("QuantizeLinear", ["s", "ss", "sz"], ["y"])], {"x": x},
                                              {"y": middle}, constants[:2] + constants[3:5])
        # Both results are read: the function's inner quantizer stays.
        CASES[f"table-both-{kind}"] = Case(nodes, {"x": x}, {"y": product, "sq": middle}, constants)


def add_moves():
    """Ops that move numbers between quantizers of the same and of other parameters: all bytes."""
    for kind, low in {"uint8": 0, "int8": -128}.items():
        x = np.tile(np.arange(low, low + 256).astype(kind), 3).reshape(1, 3, 16, 16)
        scales = {"a": (0.05, low + 100), "b": (0.0625, low + 90)}
        constants = [numpy_helper.from_array(np.array(s, np.float32), name + "s") for name, (s, _) in scales.items()]
        constants += [numpy_helper.from_array(np.array(z, kind), name + "z") for name, (_, z) in scales.items()]
        constants += [constant("from", 1), constant("to", 1000), constant("axis", 3), constant("step", 2),
                      numpy_helper.from_array(np.array([1, 1, 2, 3], np.float32), "by")]

        def again(q):
            real = (q.astype(np.float32) - np.float32(scales["a"][1])) * np.float32(scales["a"][0])
            return np.clip(np.rint(real / np.float32(scales["b"][0])) + scales["b"][1], low, low + 255).astype(kind)

        def quantizers(value, name="a"):
            """`value` dequantized as `name`_r, quantized with the same numbers."""
            return [node("QuantizeLinear", [value, f"{name}s", f"{name}z"], [f"{value}_q"]),
                    node("DequantizeLinear", [f"{value}_q", f"{name}s", f"{name}z"], [f"{value}_r"])]

        first = [node("DequantizeLinear", ["x", "as", "az"], ["r"])]
        moves = {
            "slice": (node("Slice", ["r", "from", "to", "axis", "step"], ["m"]), x[..., 1::2]),
            "transpose": (node("Transpose", ["r"], ["m"], perm=[0, 2, 3, 1]), x.transpose(0, 2, 3, 1)),
            "resize": (node("Resize", ["r", "", "by"], ["m"], mode="nearest", nearest_mode="floor",
                            coordinate_transformation_mode="asymmetric"), x.repeat(2, 2).repeat(3, 3)),
            "pool": (node("MaxPool", ["r"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
                     x.reshape(1, 3, 8, 2, 8, 2).max((3, 5))),
            "concat": (node("Concat", ["r", "r"], ["m"], axis=1), np.concatenate([x, x], 1)),
        }
        for name, (move, moved) in moves.items():
            CASES[f"move-{name}-{kind}"] = Case(
                [*first, move, node("QuantizeLinear", ["m", "as", "az"], ["y"])], {"x": x}, {"y": moved}, constants)
            CASES[f"move-{name}-scaled-{kind}"] = Case(
                [*first, move, *quantizers("m"), node("QuantizeLinear", ["m_r", "bs", "bz"], ["y"])],
                {"x": x}, {"y": again(moved)}, constants)
        both = np.concatenate([again(x), x], 1)
        CASES[f"move-concat-mixed-{kind}"] = Case(
            [*first, node("DequantizeLinear", ["x", "bs", "bz"], ["other"]), node("Concat", ["r", "other"], ["m"], axis=1),
             node("QuantizeLinear", ["m", "bs", "bz"], ["y"])], {"x": x}, {"y": both}, constants)


def add_bad():
    x = rng.standard_normal((4, 6)).astype(np.float32)
    body = graph(
        [node("Identity", ["go"], ["still"]), node("Unsqueeze", ["i", "axis"], ["from"]),
         node("Slice", ["x", "from", "top", "axis"], ["s"])],
        [("still", BOOL, 0), ("s", F32, 2)], [("i", I64, 0), ("go", BOOL, 0)])
    BAD["loop-sizes"] = Case([node("Loop", ["n", ""], ["y"], body=body, name="node")], {"x": x, "n": np.array(3)},
                             {"y": np.zeros((3, 4, 6), np.float32)}, [constant("axis", 0), constant("top", 1000)])
    good = graph([node("Relu", ["x"], ["a"])], [("a", F32, 2)])
    wrong = graph([node("MatMul", ["x", "x"], ["b"], name="node")], [("b", F32, 2)])
    BAD["branch-for-other-sizes"] = Case([node("If", ["c"], ["y"], then_branch=good, else_branch=wrong)],
                                         {"x": x, "c": np.array(False)}, {"y": x})


def run_all(folder, cases, *options):
    names = []
    for name, entry in cases.items():
        for is_open in entry.forms:
            names.append(name + ("-open" if is_open else ""))
            entry.write(folder / names[-1], is_open)
    output = subprocess.run([ONNXQ, "test", str(folder), "--filter", ".", *options], capture_output=True, text=True)
    problems = dict(re.findall(r"^(?:FAIL|SKIP) ([^:\n]+): (.*)$", output.stdout, re.M))
    totals = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", output.stdout, re.M)
    if not totals or sum(map(int, totals.groups())) != len(names):
        problems = {name: f"onnxq test ended with status {output.returncode}: {output.stderr[:200]}" for name in names}
    return names, problems


def main():
    require_tools()
    for add in (add_wide, add_views, add_ranks, add_scales, add_means, add_tables, add_moves, add_bad):
        add()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        names, failures = run_all(pathlib.Path(folder, "good"), CASES, "--check-bounds", "--rtol", "1e-6", "--atol", "1e-6")
        for name in names:
            tally.result(name, failures.get(name))
        names, failures = run_all(pathlib.Path(folder, "bad"), BAD)
        for name in names:
            message = failures.get(name, "ran without an error")
            tally.expect(f"bad {name}", "node 'node': " in message, message)
    tally.finish()


if __name__ == "__main__":
    main()
