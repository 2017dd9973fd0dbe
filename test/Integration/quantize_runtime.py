#!/usr/bin/env -S /usr/bin/python3
"""What ONNX Runtime makes of our files: types that saturate nowhere, trained models in all forms, branches, float16.

Saturation is shown on an emulated processor with AVX2 and no VNNI, where qemu is there. Everything runs at the level
of optimization that users have.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import encoders
import models
from support import ort
from support import quantized_models as q
from support.harness import CACHE, MODELS, ONNXQ, Tally, require_tools

HASWELL = ["qemu-x86_64", "-cpu", "Haswell"]


def save(path, nodes, inputs, outputs, constants, opset=13):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(*i) for i in inputs],
                              [helper.make_tensor_value_info(*o) for o in outputs],
                              [numpy_helper.from_array(array, name) for name, array in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7), path)
    return path


def emulated(folder, model, feeds):
    """What ONNX Runtime gives on a processor without VNNI."""
    with open(folder / "in.bin", "wb") as data:
        line = json.dumps({"model": str(model), "level": "all", "inputs": ort.store_arrays(data, feeds)})
    (folder / "j.jsonl").write_text(line + "\n")
    (folder / "o.bin").write_bytes(b"")
    process = subprocess.run([*HASWELL, shutil.which("node"), ort.RUNNER, folder / "j.jsonl", folder / "in.bin", folder / "o.bin"],
                             capture_output=True, text=True, timeout=300, env=dict(os.environ, ONNXQUANT_CACHE=str(CACHE)))
    if '"outputs"' not in process.stdout:
        raise RuntimeError((process.stdout + process.stderr)[-200:])
    return np.frombuffer((folder / "o.bin").read_bytes(), np.float32)


def saturation(tally, folder):
    """Large weights of one sign: signed ones saturate without VNNI, those for ONNX Runtime don't. Either is told."""
    weight = np.where(np.arange(16) < 8, 1, -1).astype(np.float32) * np.ones((64, 1), np.float32)
    model = save(folder / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"], "mm")], [("x", 1, [8, 64])],
                 [("y", 1, [8, 16])], {"w": weight})
    np.save(folder / "x.npy", np.random.default_rng(0).uniform(0, 1, (4, 8, 64)).astype(np.float32))
    feeds = {"x": np.full((8, 64), 0.98, np.float32)}
    made = {}
    for name, options in {"signed": [], "for": ["--for", "onnxruntime"]}.items():
        made[name] = folder / f"{name}.onnx"
        q.onnxq("quantize", model, "--data", folder / "x.npy", "-o", made[name], "--keep-cheap-in-float=false", "--quiet", *options)
    # Unoptimized, no product is of integers, so that none saturates on any processor.
    plain = q.run_ort(folder, [(model, feeds), (made["signed"], feeds), (made["for"], feeds)])
    wanted, signed, unsigned = (result["y"] for result in plain)
    tally.result("for/same-numbers", None if np.array_equal(signed, unsigned) or q.sqnr(signed, unsigned) > 100
                 else "the weights for ONNX Runtime are others than those of the default")
    if not shutil.which(HASWELL[0]):
        return print("skipped: no qemu-x86_64")
    low = q.sqnr(wanted.ravel(), emulated(folder, made["signed"], feeds))
    good = q.sqnr(wanted.ravel(), emulated(folder, made["for"], feeds))
    print(f"without VNNI: {low:.1f} dB by default, {good:.1f} dB with --for onnxruntime")
    tally.result("for/exact", None if good > 40 and low < 20 else f"{low:.1f} and {good:.1f} dB")
    signed = ["--weight-type", "s8"]
    for name, options, told in (("default", signed, True), ("for", ["--for", "onnxruntime"], False),
                                ("for-signed", ["--for", "onnxruntime", *signed], True),
                                ("for-vnni", ["--for", "onnxruntime-vnni", *signed], False)):
        text = subprocess.run([*HASWELL, ONNXQ, "quantize", model, "--dynamic", "--mode", "integer", "-o", folder / "n.onnx", *options],
                              capture_output=True, text=True, timeout=300).stdout
        tally.result(f"note/{name}", None if ("1 layer may saturate there" in text) == told else f"printed {text[-300:]!r}")


def trained(path):
    """Three inverted residuals as quantization-aware training leaves them: Clip to 6, depthwise, integer biases."""
    rng, nodes, constants, scale = np.random.default_rng(3), [], {}, np.float32(6 / 255)

    def parameters(name, s, z):
        constants[f"{name}.s"], constants[f"{name}.z"] = np.asarray(s, np.float32), z
        return [f"{name}.s", f"{name}.z"]

    def pair(x, name, s, z):
        names = parameters(name, s, np.uint8(z))
        nodes.append(helper.make_node("QuantizeLinear", [x, *names], [f"{name}.q"], f"{name}.quantize"))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}.q", *names], [f"{name}.d"], f"{name}.dequantize"))
        return f"{name}.d", np.float32(s)

    def conv(x, name, rows, columns, groups, clip):
        value, input_scale = x
        size = 3 if groups > 1 else 1
        # So small that no kernel saturates.
        weights = rng.integers(-60, 61, (rows, columns, size, size)).astype(np.int8)
        scales = rng.uniform(0.004, 0.008, rows).astype(np.float32)
        constants[f"{name}.w"] = weights
        constants[f"{name}.b"] = rng.integers(-2000, 2000, rows).astype(np.int32)
        w = parameters(f"{name}.w", scales, np.zeros(rows, np.int8))
        b = parameters(f"{name}.b", input_scale * scales, np.zeros(rows, np.int32))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}.w", *w], [f"{name}.wd"], f"{name}.weights", axis=0))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}.b", *b], [f"{name}.bd"], f"{name}.bias", axis=0))
        nodes.append(helper.make_node("Conv", [value, f"{name}.wd", f"{name}.bd"], [f"{name}.y"], name, group=groups,
                                      kernel_shape=[size, size], pads=[size // 2] * 4))
        if not clip:
            return pair(f"{name}.y", f"{name}.act", 0.06, 120)
        nodes.append(helper.make_node("Clip", [f"{name}.y", "zero", "six"], [f"{name}.c"], f"{name}.clip"))
        return pair(f"{name}.c", f"{name}.act", scale, 0)

    constants["zero"], constants["six"] = np.float32(0), np.float32(6)
    x = pair("x", "input", 0.03, 128)
    x = conv(x, "stem", 8, 4, 1, True)
    for i in range(3):
        y = conv(x, f"b{i}.expand", 16, 8, 1, True)
        y = conv(y, f"b{i}.depth", 16, 1, 16, True)
        y = conv(y, f"b{i}.project", 8, 16, 1, False)
        nodes.append(helper.make_node("Add", [x[0], y[0]], [f"b{i}.sum"], f"b{i}.add"))
        x = pair(f"b{i}.sum", f"b{i}.out", 0.08, 100)
    return save(path, nodes, [("x", 1, [1, 4, 16, 16])], [(x[0], 1, [1, 8, 16, 16])], constants), 10


def exported(path, quantized=True):
    """Inverted residuals as PyTorch exports them while it trains: float weights with a scale per channel, divided by the
    normalization's factor behind the convolution, the normalization itself, and Relu or Clip. Or without quantizers."""
    rng, nodes, constants = np.random.default_rng(6), [], {"zero": np.float32(0), "six": np.float32(6)}

    def pair(x, name, scale, zero, **attributes):
        if not quantized:
            return x
        constants[f"{name}.s"], constants[f"{name}.z"] = np.asarray(scale, np.float32), zero
        names = [f"{name}.s", f"{name}.z"]
        nodes.append(helper.make_node("QuantizeLinear", [x, *names], [f"{name}.q"], f"{name}.quantize", **attributes))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}.q", *names], [f"{name}.d"], f"{name}.dequantize", **attributes))
        return f"{name}.d"

    def conv(x, name, rows, columns, groups, act):
        size = 3 if groups > 1 else 1
        # One factor is negative, and no kernel saturates.
        factor = rng.uniform(0.5, 1.5, rows).astype(np.float32) * np.where(np.arange(rows) == 1, -1, 1).astype(np.float32)
        scales = rng.uniform(0.004, 0.008, rows).astype(np.float32)
        constants[f"{name}.w"] = rng.uniform(-60, 60, (rows, columns, size, size)).astype(np.float32) * scales[:, None, None, None]
        w = pair(f"{name}.w", f"{name}.weight", scales, np.zeros(rows, np.int8), axis=0)
        nodes.append(helper.make_node("Conv", [x, w], [f"{name}.y"], name, group=groups, kernel_shape=[size, size],
                                      pads=[size // 2] * 4))
        constants[f"{name}.f"] = factor.reshape(1, rows, 1, 1)
        nodes.append(helper.make_node("Div", [f"{name}.y", f"{name}.f"], [f"{name}.o"], f"{name}.div"))
        for part, low, high in (("gamma", 0.5, 1.5), ("beta", -0.5, 0.5), ("mean", -0.5, 0.5), ("var", 0.5, 1.5)):
            constants[f"{name}.{part}"] = rng.uniform(low, high, rows).astype(np.float32)
        nodes.append(helper.make_node("BatchNormalization", [f"{name}.o", *(f"{name}.{p}" for p in ("gamma", "beta", "mean", "var"))],
                                      [f"{name}.n"], f"{name}.norm"))
        y = f"{name}.n"
        if act:
            nodes.append(helper.make_node(act, [y, "zero", "six"] if act == "Clip" else [y], [f"{name}.a"], f"{name}.act"))
            return pair(f"{name}.a", f"{name}.out", 6 / 255, np.uint8(0))
        return pair(y, f"{name}.out", 0.06, np.uint8(120))

    x = pair("x", "input", 0.03, np.uint8(128))
    x = conv(x, "stem", 8, 4, 1, "Clip")
    for i in range(3):
        y = conv(conv(conv(x, f"b{i}.expand", 16, 8, 1, "Clip"), f"b{i}.depth", 16, 1, 16, "Relu"), f"b{i}.project", 8, 16, 1, None)
        nodes.append(helper.make_node("Add", [x, y], [f"b{i}.sum"], f"b{i}.add"))
        x = pair(f"b{i}.sum", f"b{i}.all", 0.08, np.uint8(100))
    return save(path, nodes, [("x", 1, [1, 4, 16, 16])], [(x, 1, [1, 8, 16, 16])], constants), 10


def training(tally, folder):
    convert(tally, folder, "qat", 40, *trained(folder / "trained.onnx"))
    # A bias of integers is a fraction of a step from the float one that normalizations leave. Where a sum is near the
    # middle of two steps it takes the other, which later layers spread: one step in a hundred at the end differs, and
    # float is as far away as before. Real biases, as ConvInteger has, change nothing.
    real, _ = exported(folder / "real.onnx", quantized=False)
    convert(tally, folder, "qat-exported", {"qlinear": 32, "integer": 90}, *exported(folder / "trained.onnx"), real)


def convert(tally, folder, name, least, model, convolutions, real=None):
    feeds = {"x": np.random.default_rng(4).standard_normal((1, 4, 16, 16)).astype(np.float32)}
    for form, kind in (("qlinear", "QLinearConv"), ("integer", "ConvInteger")):
        target = folder / f"{form}.onnx"
        try:
            q.onnxq("quantize", model, "--mode", "qat", "--qat-form", form, "-o", target, "--quiet")
            count = sum(node.op_type == kind for node in onnx.load(target).graph.node)
            # Op by op: joined, Add becomes one in fixed point.
            results = q.run_ort(folder, [(path, feeds) for path in (model, target, real or model)])
            for result in results:
                if isinstance(result, str):
                    raise RuntimeError(f"ONNX Runtime: {result[:200]}")
            wanted, got, plain = (next(iter(result.values())) for result in results)
            near, same = q.sqnr(wanted, got), q.sqnr(got, next(iter(q.run_ours(folder, target, feeds).values())))
            lost = q.sqnr(plain, wanted) - q.sqnr(plain, got) if real else 0
        except RuntimeError as error:
            tally.result(f"{name}/{form}", str(error)[:300])
            continue
        bound = least[form] if real else least
        tally.result(f"{name}/{form}", f"{count} of {convolutions} convolutions" if count != convolutions else
                     f"{near:.1f} dB from the model" if near < bound else
                     f"{same:.1f} dB between ONNX Runtime and our code" if same < 90 else
                     f"{lost:.2f} dB lost beside float" if abs(lost) > 0.2 else None)


def behind(folder, real, quantized, samples, kept=...):
    """By how much ONNX Runtime is worse than our code with a quantized model, if that is more than 1 dB."""
    runs = [q.run_ort(folder, [(model, feeds) for feeds in samples], "all") for model in (real, quantized)]
    runs.append([q.run_ours(folder, quantized, feeds) for feeds in samples])
    for run in runs:
        for result in run:
            if isinstance(result, str):
                return f"ONNX Runtime: {result[:200]}"
    reference, theirs, ours = (np.concatenate([next(iter(result.values()))[kept].ravel() for result in run]) for run in runs)
    there, here = q.sqnr(reference, theirs), q.sqnr(reference, ours)
    print(f"{pathlib.Path(real).parent.parent.name or real}: {there:.1f} dB in ONNX Runtime, {here:.1f} dB in our code")
    return None if there > here - 1 else f"{there:.1f} dB in ONNX Runtime, {here:.1f} here"


def attention(tally, folder):
    """Encoders with masked attention for ONNX Runtime: small, and real where they have been fetched."""
    jobs = [("encoder", encoders.Encoder("chain").save(folder / "encoder.onnx"),
             encoders.padded("chain", 16, 1), encoders.padded("chain", encoders.BATCH, 2))]
    for name in ("all-MiniLM-L6-v2", "gte-small"):
        path = encoders.XENOVA / name / "onnx" / "model.onnx"
        if path.exists():
            known = {word: i for i, word in enumerate((encoders.XENOVA / name / "vocab.txt").read_text().split("\n"))}
            jobs.append((name, path, encoders.sentences(known, 0, 8), encoders.sentences(known, 1, 4)))
    for name, model, (samples, _), (feeds, kept) in jobs:
        np.savez(folder / "data.npz", **samples)
        try:
            q.onnxq("quantize", model, "--data", folder / "data.npz", "-o", folder / "a.onnx", "--for", "onnxruntime", "--quiet")
            problem = behind(folder, model, folder / "a.onnx", [feeds], kept)
            before, after = (onnx.load(path).opset_import[0].version for path in (model, folder / "a.onnx"))
            if not problem and after > max(before, 13):
                problem = f"opset {before} became {after}"
        except RuntimeError as error:
            problem = str(error)[:300]
        tally.result(f"attention/{name}", problem)


def branches(tally, folder):
    """Voice detection by default: both ways of scales, calibrated at one of its two rates. Sounds are drawn: how far it is
    from float is not judged."""
    voice = MODELS / "@ricky0123" / "vad-web" / "dist" / "silero_vad_v5.onnx"
    drawn = [models.sound(1, 512, 16000, {"state": 128}) for _ in range(4)]
    np.savez(folder / "sounds.npz", **{key: np.stack([one[key] for one in drawn]) for key in drawn[0]})
    for name, options in {"dynamic": ["--dynamic"], "static": ["--data", folder / "sounds.npz"],
                          "static-for": ["--data", folder / "sounds.npz", "--for", "onnxruntime"]}.items():
        process = subprocess.run([ONNXQ, "quantize", voice, "-o", folder / "v.onnx", "--report", folder / "v.json", "--quiet",
                                  *options], capture_output=True, text=True)
        problem = process.stderr[-300:] if process.returncode else None
        if not problem:
            report = json.loads((folder / "v.json").read_text())
            quantized = [node["name"] for node in report["nodes"] if node["quantized"] and node["op_type"] == "Conv"]
            result = q.run_ort(folder, [(voice, drawn[0]), (folder / "v.onnx", drawn[0])], "all")
            if isinstance(result[1], str):
                problem = f"ONNX Runtime: {result[1][:200]}"
            elif not quantized:
                problem = "no Conv is quantized"
            elif not np.isfinite(result[1]["output"]).all():
                problem = f"{result[1]['output']} instead of {result[0]['output']}"
            elif name == "static-for" and (lost := behind(folder, voice, folder / "v.onnx", drawn)):
                problem = lost
            elif name != "dynamic" and "no sample took its else branch, which stays float" not in process.stderr:
                problem = f"no word about the branch: {process.stderr[-300:]}"
        tally.result(f"silero/{name}", problem)


def recognition(tally, folder):
    """Text recognition for ONNX Runtime: as good there as in our code, and loads as float16 too."""
    subject = q.subjects()["rec"]
    ready, table = q.calibrated(subject, folder)
    q.quantized(ready, table, folder / "rec.int8.onnx", "--for", "onnxruntime")
    feeds = [subject.feeds(number) for number in q.JUDGED[:4]]
    tally.result("rec/for", behind(folder, ready, folder / "rec.int8.onnx", feeds))


def main():
    require_tools()
    ort.require()
    pattern = next((a for a in sys.argv[1:] if not a.startswith("-")), "")
    tally = Tally()
    for part in (saturation, training, branches, attention, recognition):
        if re.search(pattern, part.__name__):
            with tempfile.TemporaryDirectory() as temporary:
                part(tally, pathlib.Path(temporary))
    tally.finish()


if __name__ == "__main__":
    main()
