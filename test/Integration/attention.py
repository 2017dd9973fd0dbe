#!/usr/bin/env -S /usr/bin/python3
"""Attention as exporters write it, next to plain NumPy loops: forms, masks, sizes, open lengths.

Each case is a graph around MatMul, Softmax, MatMul. It must become one kernel, and give what a softmax in 64 bits
gives, with sizes that are known and that are open. The cases run on this machine and, where qemu is there, as code
for AArch64 and RISC-V with vectors.
"""

import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import cross
from support import harness
from support.harness import ONNXQ, OPT, Tally, require_tools

rng = np.random.default_rng(25)
LOWEST = np.float32(-3.4028235e38)


class Graph:
    """Nodes under construction; operators are methods that return the name of their result."""

    def __init__(self):
        self.nodes, self.constants, self.feeds, self.open = [], [], {}, {}

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def input(self, name, array, known=(), sizes=None):
        """An input, of which some axes (heads and widths) are known in any form; `sizes` names the others by letters."""
        self.feeds[name] = array
        self.open[name] = {axis: sizes[axis] if sizes else f"{name}{axis}" for axis in range(array.ndim) if axis not in known}
        return name

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def shape(self, *sizes):
        """A shape as exporters compute it: of numbers, sizes (tensor, axis) and such a size times a number."""
        parts = []
        for size in sizes:
            if isinstance(size, int):
                parts.append(self.integers(size))
                continue
            of, axis, *times = size
            part = self.Gather(self.Shape(of), self.constant(np.int64(axis)), axis=0)
            part = self.Mul(part, self.constant(np.int64(times[0]))) if times else part
            parts.append(self.Unsqueeze(part, self.integers(0)))
        return self.Concat(*parts, axis=0)

    def __getattr__(self, op):
        def build(*inputs, **attributes):
            name = f"{op.lower()}_{len(self.nodes)}"
            self.nodes.append(helper.make_node(op, list(inputs), [name], name, **attributes))
            return name
        return build


def softmax_product(q, k, v, scale, bias=0.0):
    """softmax(scale * Q * K^T + bias) * V in loops over batches and heads."""
    batches = max(len(q), len(k), len(v))
    y = np.zeros((batches, q.shape[1], q.shape[2], v.shape[3]))
    bias = np.broadcast_to(bias, (batches, q.shape[1], q.shape[2], k.shape[2]))
    for b, n in np.ndindex(y.shape[:2]):
        of = [x[b % len(x), n].astype(np.float64) for x in (q, k, v)]
        scores = of[0] @ of[1].T * scale + bias[b, n]
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        y[b, n] = powers / powers.sum(-1, keepdims=True) @ of[2]
    return y.astype(np.float32)


def normal(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def encoder(batches=2, heads=3, rows=20, keys=20, width=16, values=None, how="div", mask=None, transposed=True, peak=1.0):
    """Q, K and V as [batches, tokens, heads, width], moved by transposes as exporters do; {graph, output, expected}."""
    g = Graph()
    values = values or width
    arrays = [normal(batches, rows, heads, width, scale=peak), normal(batches, keys, heads, width),
              normal(batches, keys, heads, values)]
    if transposed:
        q, k, v = (g.input(name, array, (2, 3)) for name, array in zip("qkv", arrays))
        q, v = (g.Transpose(x, perm=[0, 2, 1, 3]) for x in (q, v))
        turned = g.Transpose(k, perm=[0, 2, 3, 1])
        q4, k4, v4 = (array.transpose(0, 2, 1, 3) for array in arrays)
    else:
        q4, k4, v4 = (np.ascontiguousarray(array.transpose(0, 2, 1, 3)) for array in arrays)
        q, k, v = (g.input(name, array, (1, 3)) for name, array in zip("qkv", (q4, k4, v4)))
        turned = g.Transpose(k, perm=[0, 1, 3, 2])
    scale = width ** -0.5
    if how == "both":  # PyTorch's scaled_dot_product_attention
        root = g.constant(np.float32(scale ** 0.5))
        scores = g.MatMul(g.Mul(q, root), g.Mul(turned, root))
    elif how == "div":
        scores = g.Div(g.MatMul(q, turned), g.constant(np.float32(1 / scale)))
    elif how == "mul":
        scores = g.Mul(g.constant(np.float32(scale)), g.MatMul(q, turned))
    else:
        scores, scale = g.MatMul(q, turned), 1.0
    bias = 0.0
    if mask == "padding":  # BERT
        seen = (np.arange(keys)[None] < keys - np.arange(batches)[:, None]).astype(np.float32)
        bias = ((1 - seen) * LOWEST)[:, None, None]
        scores = g.Add(scores, g.input("mask", bias.astype(np.float32)))
    elif mask == "full":  # T5: a bias per head
        bias = normal(1, heads, rows, keys)
        scores = g.Add(g.input("mask", bias), scores)
    elif mask == "matrix":  # causal, as -inf, of rank 2
        bias = np.where(np.arange(keys)[None] > np.arange(rows)[:, None] + keys - rows, -np.inf, 0).astype(np.float32)
        scores = g.Add(scores, g.input("mask", bias))
    elif mask in ("where", "hide"):  # GPT-2, and its negation
        seen = np.arange(keys)[None] <= np.arange(rows)[:, None] + keys - rows
        bias = np.where(seen, 0.0, -1e38)[None, None]
        fill = g.constant(LOWEST)
        if mask == "where":
            scores = g.Where(g.input("mask", seen[None, None]), scores, fill)
        else:
            scores = g.Where(g.input("mask", ~seen), fill, scores)
        if mask == "where":
            more = normal(batches, 1, 1, keys)
            bias = bias + more
            scores = g.Add(scores, g.input("more", more))
    y = g.MatMul(g.Softmax(scores, axis=-1), v)
    expected = softmax_product(q4, k4, v4, scale, bias)
    if transposed:
        y, expected = g.Transpose(y, perm=[0, 2, 1, 3]), expected.transpose(0, 2, 1, 3)
    return g, y, expected


def cached():
    """A step of a decoder: one token, keys that are appended to a cache, which leaves as well."""
    g = Graph()
    past, heads, width = 37, 4, 32
    q, k, v = normal(1, heads, 1, width), normal(1, heads, 1, width), normal(1, heads, 1, width)
    before = [normal(1, heads, past, width) for _ in "kv"]
    names = [g.input(name, array, (1, 3)) for name, array in zip(("q", "k", "v", "pk", "pv"), (q, k, v, *before))]
    keys = g.Concat(names[3], names[1], axis=2)
    values = g.Concat(names[4], names[2], axis=2)
    scores = g.Mul(g.MatMul(names[0], g.Transpose(keys, perm=[0, 1, 3, 2])), g.constant(np.float32(width ** -0.5)))
    y = g.MatMul(g.Softmax(scores, axis=-1), values)
    every = [np.concatenate([before[i], x], 2) for i, x in enumerate((k, v))]
    return g, y, softmax_product(q, *every, width ** -0.5)


def heads_first(*arrays):
    return [array.transpose(0, 2, 1, 3) for array in arrays]


def merged(mask=False, batches=2, heads=3, rows=9, keys=11, width=16):
    """PyTorch's bmm (BART, Whisper, diffusers): batches and heads are one dimension, but for where a mask is added."""
    g = Graph()
    arrays = [normal(batches, count, heads, width) for count in (rows, keys, keys)]
    x = [g.input(name, array, (2, 3), f"b{count}..") for name, array, count in zip("qkv", arrays, "stt")]
    every = g.shape(("q", 0, heads), -1, width)
    q, k, v = (g.Reshape(g.Transpose(value, perm=[0, 2, 1, 3]), every) for value in x)
    scores, bias = g.MatMul(q, g.Transpose(k, perm=[0, 2, 1])), 0.0
    if mask:
        bias = normal(batches, 1, rows, keys)
        scores = g.Reshape(scores, g.shape(("q", 0), heads, ("q", 1), (k, 1)))
        scores = g.Add(scores, g.input("mask", bias, (1,), "b.st"))
        scores = g.Reshape(scores, g.shape(("q", 0, heads), ("q", 1), (k, 1)))
    else:  # baddbmm with beta=0
        zeros = g.ConstantOfShape(g.shape((q, 0), (q, 1), (k, 1)), value=numpy_helper.from_array(np.zeros(1, np.float32)))
        scores = g.Add(scores, g.Mul(zeros, g.constant(np.float32(0))))
    y = g.Reshape(g.MatMul(g.Softmax(scores, axis=-1), v), g.shape(("q", 0), heads, ("q", 1), width))
    return g, g.Transpose(y, perm=[0, 2, 1, 3]), heads_first(softmax_product(*heads_first(*arrays), 1.0, bias))[0]


def tokens_outside(batches=2, heads=3, rows=9, keys=11, width=16):
    """nn.MultiheadAttention: [tokens, batches * heads, width], and a mask for each of those."""
    g = Graph()
    arrays = [normal(count, batches * heads, width) for count in (rows, keys, keys)]
    q, k, v = (g.input(name, array, (2,), f"{count}x.") for name, array, count in zip("qkv", arrays, "stt"))
    bias = normal(batches * heads, 1, keys)
    root = g.constant(np.float32(width ** -0.5))
    scores = g.MatMul(g.Mul(g.Transpose(q, perm=[1, 0, 2]), root), g.Transpose(k, perm=[1, 2, 0]))
    scores = g.Add(scores, g.input("mask", bias, (1,), "x.t"))
    y = g.Transpose(g.MatMul(g.Softmax(scores, axis=2), g.Transpose(v, perm=[1, 0, 2])), perm=[1, 0, 2])
    expected = softmax_product(*(array.transpose(1, 0, 2)[None] for array in arrays), width ** -0.5, bias[None])
    return g, y, expected[0].transpose(1, 0, 2)


def grouped(rows=5, keys=19, times=3, repeat="Expand"):
    """Llama: keys and values that several query heads share are repeated."""
    g = Graph()
    batches, groups, width = 2, 2, 16
    arrays = [normal(batches, groups * times, rows, width), *(normal(batches, groups, keys, width) for _ in "kv")]
    q, *shared = (g.input(name, array, (1, 3), f"b.{count}.") for name, array, count in zip("qkv", arrays, "stt"))
    every = []
    for x in shared:
        single = g.Unsqueeze(x, g.integers(2))
        sizes = g.shape((x, 0), groups, times, (x, 2), width) if repeat == "Expand" else g.integers(1, 1, times, 1, 1)
        every.append(g.Reshape(getattr(g, repeat)(single, sizes), g.shape((x, 0), groups * times, (x, 2), width)))
    scores = g.Mul(g.MatMul(q, g.Transpose(every[0], perm=[0, 1, 3, 2])), g.constant(np.float32(0.25)))
    y = g.MatMul(g.Softmax(scores, axis=-1), every[1])
    repeated = [np.repeat(array, times, 1) for array in arrays[1:]]
    return g, y, softmax_product(arrays[0], *repeated, 0.25)


def grouped_query():
    """com.microsoft's operator, of a prompt: later tokens are hidden, heads are shared."""
    g = Graph()
    batches, heads, groups, tokens, width = 2, 6, 2, 7, 16
    arrays = [normal(batches, tokens, count, width) for count in (heads, groups, groups)]
    flat = [g.input(name, array.reshape(batches, tokens, -1), (0, 2), ".s.") for name, array in zip("qkv", arrays)]
    lengths, total = g.constant(np.full(batches, tokens - 1, np.int32)), g.constant(np.int32(tokens))
    y = g.GroupQueryAttention(*flat, "", "", lengths, total, num_heads=heads, kv_num_heads=groups, domain="com.microsoft")
    q, k, v = heads_first(*arrays)
    bias = np.where(np.arange(tokens) > np.arange(tokens)[:, None], -np.inf, 0)
    expected = softmax_product(q, np.repeat(k, 3, 1), np.repeat(v, 3, 1), width ** -0.5, bias)
    return g, y, heads_first(expected)[0].reshape(batches, tokens, -1)


def einsum(batches=2, heads=3, rows=9, keys=11, width=16):
    """Products written as Einsum."""
    g = Graph()
    arrays = [normal(batches, count, heads, width) for count in (rows, keys, keys)]
    q, k, v = (g.input(name, array, (2, 3), f"b{count}..") for name, array, count in zip("qkv", arrays, "stt"))
    scores = g.Mul(g.Einsum(q, k, equation="b i h d, b j h d -> b h i j"), g.constant(np.float32(0.25)))
    y = g.Einsum(g.Softmax(scores, axis=-1), v, equation="bhij,bjhd->bihd")
    return g, y, heads_first(softmax_product(*heads_first(*arrays), 0.25))[0]


def windows(count=4, heads=2, tokens=9, width=8):
    """Swin: a bias for each head, and a mask for each window of an image."""
    g = Graph()
    arrays = [normal(count, heads, tokens, width) for _ in "qkv"]
    q, k, v = (g.input(name, array, range(4)) for name, array in zip("qkv", arrays))
    bias, mask = normal(1, heads, tokens, tokens), normal(1, count, 1, tokens, tokens)
    scores = g.Add(g.MatMul(q, g.Transpose(k, perm=[0, 1, 3, 2])), g.input("bias", bias, range(4)))
    scores = g.Add(g.Reshape(scores, g.integers(1, count, heads, tokens, tokens)), g.input("mask", mask, range(5)))
    shares = g.Softmax(g.Reshape(scores, g.integers(-1, heads, tokens, tokens)), axis=-1)
    return g, g.MatMul(shares, v), softmax_product(*arrays, 1.0, bias + mask[0])


def turned(heads=2, tokens=20, width=8, values=16):
    """YOLO11: Q, K and V have tokens last, and so has the result."""
    g = Graph()
    arrays = [normal(1, heads, size, tokens) for size in (width, width, values)]
    q, k, v = (g.input(name, array, (1, 2), "b..t") for name, array in zip("qkv", arrays))
    scores = g.Mul(g.MatMul(g.Transpose(q, perm=[0, 1, 3, 2]), k), g.constant(np.float32(0.3)))
    y = g.MatMul(v, g.Transpose(g.Softmax(scores, axis=-1), perm=[0, 1, 3, 2]))
    return g, y, softmax_product(*(array.swapaxes(2, 3) for array in arrays), 0.3).swapaxes(2, 3)


def forms():
    """More ways to write the same kernel."""
    yield "bmm", *merged()
    yield "bmm-mask", *merged(mask=True)
    yield "bmm-one", *merged(mask=True, batches=1)
    yield "tokens-outside", *tokens_outside()
    yield "grouped-tile", *grouped(repeat="Tile", times=2)
    yield "grouped-query", *grouped_query()
    yield "einsum", *einsum()
    yield "windows", *windows()
    yield "turned", *turned()


def cases():
    yield "bert", *encoder(mask="padding")
    yield "plain", *encoder(transposed=False, how="none")
    yield "sdpa", *encoder(how="both", mask="matrix")
    yield "gpt2", *encoder(how="div", mask="where")
    yield "hidden", *encoder(how="mul", mask="hide")
    yield "t5", *encoder(how="none", mask="full")
    yield "widths", *encoder(width=24, values=40, rows=7, keys=33)
    yield "odd", *encoder(width=10, values=7, rows=9, keys=131, mask="full")
    yield "blocks", *encoder(batches=1, heads=2, rows=150, keys=300, width=64, mask="matrix")
    yield "row", *encoder(rows=1, keys=200, width=64, mask="full")
    yield "rows", *encoder(rows=3, keys=129, width=8)
    yield "wide", *encoder(batches=1, heads=1, rows=70, keys=140, width=256)
    yield "large", *encoder(peak=20.0, rows=12, keys=260)
    yield "cached", *cached()
    yield "grouped", *grouped()
    yield "grouped-row", *grouped(rows=1, keys=130)


def write(folder, name, graph, output, expected, is_open):
    inputs = []
    for label, array in graph.feeds.items():
        dims = [graph.open[label].get(axis, size) if is_open else size for axis, size in enumerate(array.shape)]
        kind = TensorProto.BOOL if array.dtype == bool else TensorProto.FLOAT
        inputs.append(helper.make_tensor_value_info(label, kind, dims))
    nodes = [*graph.nodes, helper.make_node("Identity", [output], ["y"], "out")]
    made = helper.make_graph(nodes, name, inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                             graph.constants)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(made, opset_imports=domains, ir_version=8), str(folder / "model.onnx"))
    for stem, arrays in (("input", graph.feeds.values()), ("output", [expected])):
        for index, array in enumerate(arrays):
            tensor = numpy_helper.from_array(np.ascontiguousarray(array))
            (data / f"{stem}_{index}.pb").write_bytes(tensor.SerializeToString())


def count_kernels(model):
    text = subprocess.run([OPT, model, "--onnx-preprocess", "--onnx-to-kernels"], capture_output=True, text=True)
    return text.stdout.count("onnxq.attention") if text.returncode == 0 else text.stderr[:300]


def main():
    require_tools()
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        folders = {"cases": cases, "forms": forms}
        names = {folder: [] for folder in folders}
        for folder, group in folders.items():
            for name, graph, output, expected in group():
                for form in ("known", "open"):
                    names[folder].append(f"{name}/{form}")
                    place = pathlib.Path(temporary, folder, name, form)
                    write(place, name, graph, output, expected, form == "open")
                    kernels = count_kernels(place / "model.onnx")
                    tally.result(f"one kernel: {name}/{form}", None if kernels == 1 else f"expects one, but got {kernels}")
        runs = {"here": [], "x86-64-v2": ["--target", "x86-64-v2"], "x86-64-v3": ["--target", "x86-64-v3"]}
        if platform.machine() != "x86_64":
            runs = {"here": []}
        for name, (arch, emulator) in cross.MACHINES.items():
            if shutil.which(emulator[0]) and shutil.which(f"{arch}-linux-gnu-gcc"):
                runner = cross.build_runner(arch, pathlib.Path(temporary))
                command = [*emulator, "-L", f"/usr/{arch}-linux-gnu", str(runner)]
                runs[name] = ["--target", name, "--runner", " ".join(command)]
        for where, folder, options in [*((where, "cases", options) for where, options in runs.items()), ("here", "forms", [])]:
            done = harness.run([ONNXQ, "test", pathlib.Path(temporary, folder), "--atol", "2e-6", "--rtol", "1e-4", "--verbose", *options], timeout=600)
            results = re.findall(r"^(PASS|FAIL|SKIP) ([^:\n]+)(?:: (.*))?$", done.stdout.decode(), re.M)
            found = {case: reason if kind != "PASS" else None for kind, case, reason in results}
            for name in names[folder]:
                tally.result(f"{where}: {name}", found.get(name, f"{done.ended()}: {done.stderr[:200]}"))
    tally.finish()


if __name__ == "__main__":
    sys.exit(main())
