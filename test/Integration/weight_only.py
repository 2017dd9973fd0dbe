#!/usr/bin/env -S /usr/bin/python3
"""Weights in blocks: what `onnxq quantize --weight-only` writes, against NumPy, ONNX Runtime and compiled code.

Codes, scales and zero points of rtn are compared with a NumPy reference to the
bit; each file is run by ONNX Runtime and by compiled code on the same inputs,
and both with the product that the file's own codes give in NumPy. gptq and awq
must lose less than rtn on samples that they haven't seen.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.harness import ONNXQ, require_tools
from support import ort

rng = np.random.default_rng(11)
failures, passed = [], 0


def check(name, good, detail=""):
    global passed
    if good:
        passed += 1
    else:
        failures.append(name)
        print(f"FAIL {name} {detail}")


def quantize(model, out, *options):
    return subprocess.run([ONNXQ, "quantize", str(model), "--skip-preprocess", "--quiet", *options, "-o", str(out)],
                          capture_output=True, text=True)


def make(path, depth, columns, gemm=False, first=None):
    """x -> MatMul or Gemm with a bias -> y; `first` is a matrix before it."""
    weight = rng.normal(size=(columns, depth) if gemm else (depth, columns)).astype(np.float32)
    tensors = [numpy_helper.from_array(weight, "w")]
    nodes, source, width = [], "x", depth
    if first is not None:
        tensors.append(numpy_helper.from_array(first, "mix"))
        nodes.append(helper.make_node("MatMul", ["x", "mix"], ["h"], name="mixing"))
        source, width = "h", first.shape[0]
    if gemm:
        tensors.append(numpy_helper.from_array(rng.normal(size=columns).astype(np.float32), "b"))
        nodes.append(helper.make_node("Gemm", [source, "w", "b"], ["y"], name="product", transB=1))
    else:
        nodes.append(helper.make_node("MatMul", [source, "w"], ["y"], name="product"))
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", width])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", columns])], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return weight.T if gemm else weight


def reference(weight, bits, block, symmetric):
    """Codes [N, blocks, block], scales and zero points by the published rule, halves away from zero."""
    depth, columns = weight.shape
    blocks = -(-depth // block)
    padded = np.zeros((columns, blocks * block), np.float32)
    padded[:, :depth] = weight.T
    padded = padded.reshape(columns, blocks, block)
    most, half = np.float32(2 ** bits - 1), np.float32(2 ** (bits - 1))
    low, high = padded.min(-1), padded.max(-1)
    if symmetric:
        scale = np.where(np.abs(high) > np.abs(low), high, low) / -half
        zero = np.full(scale.shape, half, np.float32)
    else:
        low, high = np.minimum(low, 0), np.maximum(high, 0)
        scale = (high - low) / most
        zero = np.clip(np.floor(-low / scale + np.float32(0.5)), 0, most)
    value = padded * (np.float32(1) / scale)[..., None] + zero[..., None]
    codes = np.clip(np.trunc(value + np.copysign(np.float32(0.5), value)), 0, most)
    return codes.astype(np.uint8), scale.astype(np.float32), zero


def unpack(packed, bits):
    """The numbers in bytes, the first in the low bits."""
    places = np.arange(8 // bits) * bits
    return ((packed[..., None] >> places) & (2 ** bits - 1)).reshape(*packed.shape[:-1], -1)


def stored(path):
    """Codes, scales and zero points of the file's MatMulNBits."""
    model = onnx.load(str(path))
    node = [n for n in model.graph.node if n.op_type == "MatMulNBits" and n.name.startswith("product")][0]
    tensors = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    bits, blocks = attributes["bits"], -(-attributes["K"] // attributes["block_size"])
    codes = unpack(tensors[node.input[1]], bits)
    scales = tensors[node.input[2]].reshape(attributes["N"], blocks)
    zeros = np.full(scales.shape, 2.0 ** (bits - 1))
    if len(node.input) > 3 and node.input[3]:
        given = tensors[node.input[3]]
        zeros = given.reshape(scales.shape) if given.dtype == np.float32 else unpack(given, bits)[:, :blocks]
    return node, attributes, codes, scales, zeros


def dequantized(path):
    _, attributes, codes, scales, zeros = stored(path)
    weight = (codes.astype(np.float64) - zeros[..., None]) * scales[..., None]
    return weight.reshape(attributes["N"], -1)[:, :attributes["K"]].T


def compiled(path, folder, x):
    np.save(folder / "x.npy", x)
    subprocess.run([ONNXQ, "run", str(path), "--input", f"x={folder / 'x.npy'}", "--output-dir", str(folder)],
                   check=True, capture_output=True)
    return np.load(folder / "y.npy")


def decibels(right, other):
    return 20 * np.log10(np.linalg.norm(right) / max(np.linalg.norm(right - other), 1e-30))


def layouts(folder):
    for bits, block, depth, symmetric in ((4, 32, 96, False), (4, 32, 70, True), (4, 16, 48, False), (8, 64, 100, False),
                                          (8, 16, 64, True), (4, 256, 300, False), (2, 16, 48, False)):
        name = f"rtn_{bits}_{block}_{depth}_{symmetric}"
        weight = make(folder / "m.onnx", depth, 9)
        out = folder / f"{name}.onnx"
        done = quantize(folder / "m.onnx", out, "--weight-only", str(bits), "--block-size", str(block),
                        *(["--symmetric-weights"] if symmetric else []))
        if done.returncode:
            check(name, False, done.stderr)
            continue
        node, attributes, codes, scales, zeros = stored(out)
        expected = reference(weight, bits, block, symmetric)
        check(f"{name} scales", np.array_equal(scales, expected[1]))
        check(f"{name} zero points", np.array_equal(zeros, expected[2]))
        count = codes.reshape(9, -1)[:, :depth]
        check(f"{name} codes", np.array_equal(count, expected[0].reshape(9, -1)[:, :depth]))
        check(f"{name} names", (node.name, node.input[1]) == (f"product_Q{bits}", f"w_Q{bits}"))
        check(f"{name} no zero points if symmetric", symmetric != (len(node.input) > 3 and bool(node.input[3])))


def runs(folder):
    """Each file by ONNX Runtime, by compiled code, and by NumPy.

    Without the runtime's optimizations, which let products behind dequantizers round what they read."""
    jobs, expected = [], []
    x = rng.normal(size=(5, 96)).astype(np.float32)
    forms = [("rtn", []), ("hqq", ["--algorithm", "hqq"]), ("kquant", ["--algorithm", "k-quant"]),
             ("level", ["--accuracy-level", "1"]), ("sym", ["--symmetric-weights"]), ("qdq", ["--mode", "qdq"]),
             ("qdqsym", ["--mode", "qdq", "--symmetric-weights"])]
    for gemm in (False, True):
        weight = make(folder / "m.onnx", 96, 10, gemm)
        bias = 0
        if gemm:
            bias = [numpy_helper.to_array(t) for t in onnx.load(str(folder / "m.onnx")).graph.initializer if t.name == "b"][0]
        for bits in (4, 8):
            for tag, options in forms:
                if (tag, bits) == ("hqq", 8):
                    continue
                name = f"{tag}_{bits}_{'gemm' if gemm else 'matmul'}"
                out = folder / f"{name}.onnx"
                done = quantize(folder / "m.onnx", out, "--weight-only", str(bits), "--block-size", "32", *options)
                if done.returncode:
                    check(name, False, done.stderr)
                    continue
                mine = compiled(out, folder, x)
                if "qdq" not in tag:
                    check(f"{name} compiled", decibels(x @ dequantized(out) + bias, mine) > 100)
                check(f"{name} near float", decibels(x @ weight + bias, mine) > (15 if bits == 4 else 40))
                jobs.append((out, {"x": x}))
                expected.append((name, mine))
    if not ort.available():
        print("ONNX Runtime isn't there: compared with NumPy only")
        return
    for (name, mine), result in zip(expected, ort.outputs_of(folder, jobs)):
        if "arrays" not in result:
            check(f"{name} loads", False, str(result))
            continue
        check(f"{name} as ONNX Runtime", decibels(result["arrays"][0], mine) > 90,
              f"{decibels(result['arrays'][0], mine):.1f} dB")


def samples(folder):
    """gptq and awq read samples; inputs go together, and some channels are large."""
    mix = rng.normal(size=(64, 64)).astype(np.float32) @ np.diag(np.geomspace(4, 0.05, 64)).astype(np.float32)
    weight = make(folder / "m.onnx", 64, 24, first=mix)
    data = rng.normal(size=(32, 8, 64)).astype(np.float32)
    np.save(folder / "data.npy", data)
    fresh = rng.normal(size=(200, 64)).astype(np.float32)
    right = fresh @ mix @ weight
    found = {}
    for algorithm in ("rtn", "gptq", "awq"):
        out = folder / f"{algorithm}.onnx"
        more = [] if algorithm == "rtn" else ["--data", str(folder / "data.npy")]
        done = quantize(folder / "m.onnx", out, "--weight-only", "4", "--block-size", "32", "--algorithm", algorithm,
                        "--nodes-to-exclude", "mixing", *more)
        check(f"{algorithm} quantizes", done.returncode == 0, done.stderr)
        if done.returncode == 0:
            found[algorithm] = decibels(right, compiled(out, folder, fresh))
    print({name: round(float(value), 2) for name, value in found.items()})
    check("gptq is better than rtn by 3 dB", found.get("gptq", 0) > found.get("rtn", 99) + 3)
    check("awq is better than rtn", found.get("awq", 0) > found.get("rtn", 99))
    missing = quantize(folder / "m.onnx", folder / "no.onnx", "--weight-only", "4", "--algorithm", "gptq")
    check("gptq without samples", missing.returncode == 2 and "expects samples" in missing.stderr, missing.stderr)
    check("nothing is written", not (folder / "no.onnx").exists())


def main():
    require_tools()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        layouts(folder)
        runs(folder)
        samples(folder)
    print(f"{passed} passed, {len(failures)} failed")
    sys.exit(bool(failures))


main()
