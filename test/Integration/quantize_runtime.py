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

import models
import ort
import quantized_models as q
from harness import CACHE, MODELS, ONNXQ, Tally, require_tools

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
    plain = q.run_ort(folder, [(model, feeds), (made["signed"], feeds), (made["for"], feeds)], "all")
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


def training(tally, folder):
    model, convolutions = trained(folder / "trained.onnx")
    feeds = {"x": np.random.default_rng(4).standard_normal((1, 4, 16, 16)).astype(np.float32)}
    for form, kind in (("qlinear", "QLinearConv"), ("integer", "ConvInteger")):
        target = folder / f"{form}.onnx"
        try:
            q.onnxq("quantize", model, "--mode", "qat", "--qat-form", form, "-o", target, "--quiet")
            count = sum(node.op_type == kind for node in onnx.load(target).graph.node)
            # Op by op: joined, Add becomes one in fixed point.
            wanted, got = q.run_ort(folder, [(model, feeds), (target, feeds)])
            if isinstance(got, str):
                raise RuntimeError(f"ONNX Runtime: {got[:200]}")
            near = min(q.sqnr(next(iter(wanted.values())), next(iter(got.values()))),
                       q.sqnr(next(iter(got.values())), next(iter(q.run_ours(folder, target, feeds).values()))))
        except RuntimeError as error:
            tally.result(f"qat/{form}", str(error)[:300])
            continue
        tally.result(f"qat/{form}", f"{count} of {convolutions} convolutions" if count != convolutions else
                     f"{near:.1f} dB from the model" if near < 40 else None)


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
            elif name != "dynamic" and "no sample took its else branch, which stays float" not in process.stderr:
                problem = f"no word about the branch: {process.stderr[-300:]}"
        tally.result(f"silero/{name}", problem)


def recognition(tally, folder):
    """Text recognition for ONNX Runtime: as good there as in our code, and loads as float16 too."""
    subject = q.subjects()["rec"]
    ready, table = q.calibrated(subject, folder)
    feeds = [subject.feeds(number) for number in q.JUDGED[:4]]
    target = folder / "rec.int8.onnx"
    q.quantized(ready, table, target, "--for", "onnxruntime")
    reference, theirs = (np.concatenate([next(iter(r.values())).ravel() for r in q.run_ort(folder, [(m, f) for f in feeds], "all")])
                         for m in (ready, target))
    ours = np.concatenate([next(iter(q.run_ours(folder, target, f).values())).ravel() for f in feeds])
    there, here = q.sqnr(reference, theirs), q.sqnr(reference, ours)
    print(f"rec --for onnxruntime: {there:.1f} dB in ONNX Runtime, {here:.1f} dB in our code")
    tally.result("rec/for", None if there > here - 1 else f"{there:.1f} dB in ONNX Runtime, {here:.1f} here")


def main():
    require_tools()
    ort.require()
    pattern = next((a for a in sys.argv[1:] if not a.startswith("-")), "")
    tally = Tally()
    for part in (saturation, training, branches, recognition):
        if re.search(pattern, part.__name__):
            with tempfile.TemporaryDirectory() as temporary:
                part(tally, pathlib.Path(temporary))
    tally.finish()


if __name__ == "__main__":
    main()
