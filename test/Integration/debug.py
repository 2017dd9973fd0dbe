#!/usr/bin/env -S /usr/bin/python3
"""onnxq debug and sensitivity: a layer that is made bad on purpose comes first, whatever the form of the model.

Networks of four layers are quantized in every form; one layer's weights or one tensor's range is spoiled. Also: a range
that holds the padding value of a maximum, a bias that doesn't fit 32 bits, preparation that fuses nodes, ONNX Runtime's
spelling of names, figures against NumPy, memory and bad input. A pattern chooses cases.
"""

import json
import pathlib
import re
import shlex
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.debug_models import COARSE, debug, f32, first, network, onnxq, page_data, rng, save
from support.harness import ONNXQ, Tally, require_tools, run
from support.work import macs

FORMS = {
    "qdq": [],
    "qdq-every-op": ["--placement", "every-op"],
    "qdq-s8": ["--activation-type", "s8"],
    "qdq-16bit": ["--activation-type", "u16"],
    "qdq-int4": ["--weight-type", "s4"],
    "qlinear": ["--mode", "qlinear"],
    "qlinear-contrib": ["--mode", "qlinear", "--placement", "every-op", "--contrib-ops"],
    "integer": ["--mode", "integer"],
    "qdq-dynamic": ["--dynamic"],
    "integer-dynamic": ["--mode", "integer", "--dynamic"],
}


def check_spoiled_weights(folder, form, options):
    """Weights with steps that are far too coarse."""
    real = network(folder / "net.onnx")
    samples = folder / "x.npy"
    np.save(samples, f32(12, 3, 16, 16))
    quant = folder / "net.q.onnx"
    data = [] if "--dynamic" in options else ["--data", samples]
    onnxq("quantize", real, *data, "-o", quant, "--quiet", *COARSE, *options)
    report = debug(real, quant, samples)
    worst = first(report)
    if worst["node"] != "conv2":
        return f"{worst['node'] or worst['name']} comes first ({report['ranking'][:3]})"
    if not worst["advice"]:
        return "no advice"
    weights = {w["name"]: w for w in report["weights"]}
    if not {"w1", "w2", "w3", "w4"} <= set(weights):
        return f"weights found: {sorted(weights)}"
    # Biases are corrected, and differ on purpose.
    if min((w for w in weights.values() if w["kind"] == "weight"), key=lambda w: w["qdq_err"])["name"] != "w2":
        return f"weights: {[(w['name'], round(w['qdq_err'], 1)) for w in weights.values()]}"
    return None


def check_huge_channel(folder):
    """One scale for channels of very different sizes: the small ones are lost, and the advice says why."""
    real = network(folder / "net.onnx", huge=True)
    samples = folder / "x.npy"
    np.save(samples, f32(8, 3, 16, 16))
    quant = folder / "net.q.onnx"
    onnxq("quantize", real, "--data", samples, "-o", quant, "--quiet", "--per-channel=false")
    report = debug(real, quant, samples)
    weight = next(w for w in report["weights"] if w["name"] == "w2")
    if weight["worst_channel"]["err"] > 10:
        return f"the worst channel has {weight['worst_channel']['err']:.1f} dB"
    advice = [line for t in report["tensors"] if t["node"] == "conv2" for line in t["advice"]]
    return None if any("--per-channel" in line for line in advice) else f"advice: {advice}"


def check_spoiled_range(folder, form, options):
    """A tensor whose range is far too narrow."""
    real = network(folder / "net.onnx")
    samples = folder / "x.npy"
    np.save(samples, f32(12, 3, 16, 16))
    quant = folder / "net.q.onnx"
    overrides = json.dumps({"r2": {"min": 0, "max": 0.05}})
    onnxq("quantize", real, "--data", samples, "-o", quant, "--quiet", "--tensor-overrides", overrides, *options)
    report = debug(real, quant, samples)
    worst = first(report)
    if worst["name"] != "r2":
        return f"{worst['name']} comes first ({report['ranking'][:3]})"
    if worst["saturated"] < 0.2:
        return f"{worst['saturated']:.3f} of the values saturate"
    if not any("beyond the range" in line for line in worst["advice"]):
        return f"no advice for a narrow range: {worst['advice']}"
    return None


def check_wide_range(folder):
    real = network(folder / "net.onnx")
    samples = folder / "x.npy"
    np.save(samples, f32(8, 3, 16, 16))
    quant = folder / "net.q.onnx"
    onnxq("quantize", real, "--data", samples, "-o", quant, "--quiet", "--tensor-overrides",
          json.dumps({"p1": {"min": 0, "max": 900}, "r1": {"min": 0, "max": 900}}))
    worst = first(debug(real, quant, samples))
    if worst["name"] not in ("p1", "r1"):
        return f"{worst['name']} comes first"
    return None if any("times as wide" in line for line in worst["advice"]) else f"advice: {worst['advice']}"


def qdq(nodes, weights, tensor, scale, zero, dtype=np.uint8):
    """Adds a quantizer and a dequantizer behind a tensor; the name of the result."""
    weights[f"{tensor}_s"], weights[f"{tensor}_z"] = np.float32(scale), np.array(zero, dtype)
    nodes += [helper.make_node("QuantizeLinear", [tensor, f"{tensor}_s", f"{tensor}_z"], [f"{tensor}_q"], f"{tensor}_quantize"),
              helper.make_node("DequantizeLinear", [f"{tensor}_q", f"{tensor}_s", f"{tensor}_z"], [f"{tensor}_d"], f"{tensor}_dequantize")]
    return f"{tensor}_d"


def check_sentinel(folder):
    """A Pad with the least number before a MaxPool, whose range another tool took for the tensor's."""
    least = np.float32(-3.4028235e38)
    weights = {"w": f32(4, 3, 3, 3), "v": f32(2, 4, 3, 3), "pads": np.array([0, 0, 1, 1, 0, 0, 1, 1]), "least": least}
    plain = [helper.make_node("Conv", ["x", "w"], ["c"], "conv"), helper.make_node("Relu", ["c"], ["r"], "relu"),
             helper.make_node("Pad", ["r", "pads", "least"], ["p"], "pad"),
             helper.make_node("MaxPool", ["p"], ["m"], "pool", kernel_shape=[3, 3], strides=[2, 2]),
             helper.make_node("Conv", ["m", "v"], ["y"], "last")]
    real = save(folder / "real.onnx", plain, weights)
    nodes, spoiled = list(plain[:3]), dict(weights)
    pooled = qdq(nodes, spoiled, "p", 3.4028235e38 / 255, 255)
    nodes.append(helper.make_node("MaxPool", [pooled], ["m"], "pool", kernel_shape=[3, 3], strides=[2, 2]))
    nodes.append(helper.make_node("Conv", ["m", "v"], ["y"], "last"))
    quant = save(folder / "quant.onnx", nodes, spoiled)
    np.save(folder / "x.npy", f32(4, 3, 16, 16))
    report = debug(real, quant, folder / "x.npy", "--as-is")
    worst = first(report)
    if worst["name"] != "p":
        return f"{worst['name']} comes first"
    if worst["sentinels"] == 0 or worst["qdq_err"] > 1:
        return f"sentinels {worst['sentinels']}, qdq_err {worst['qdq_err']:.1f}"
    return None if any("padding value" in line for line in worst["advice"]) else f"advice: {worst['advice']}"


def check_bias(folder, form):
    """A bias whose scale is too small for 32 bits, as a QDQ and as a QLinear node has it."""
    w, v = f32(4, 3, 3, 3) * np.float32(1e-6), f32(2, 4, 3, 3)
    bias = np.array([0.5, 30, -40, 0.1], np.float32)
    weights = {"w": w, "b": bias, "v": v}
    plain = [helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv"), helper.make_node("Relu", ["c"], ["r"], "relu"),
             helper.make_node("Conv", ["r", "v"], ["y"], "last")]
    real = save(folder / "real.onnx", plain, weights)
    sx, sw, sc = np.float32(3 / 127), np.float32(np.abs(w).max() / 127), np.float32(40 / 127)
    wq = np.clip(np.rint(w / sw), -127, 127).astype(np.int8)
    bq = np.clip(np.rint(bias.astype(np.float64) / (float(sx) * float(sw))), -2**31, 2**31 - 1).astype(np.int32)
    given = {"v": v, "wq": wq, "ws": sw, "wz": np.int8(0), "bq": bq, "bs": np.float32(sx * sw), "bz": np.int32(0),
             "cs": sc, "cz": np.int8(0)}
    nodes = []
    if form == "qdq":
        x = qdq(nodes, given, "x", sx, 0, np.int8)
        nodes += [helper.make_node("DequantizeLinear", ["wq", "ws", "wz"], ["wd"], "wdq"),
                  helper.make_node("DequantizeLinear", ["bq", "bs", "bz"], ["bd"], "bdq"),
                  helper.make_node("Conv", [x, "wd", "bd"], ["c"], "conv")]
    else:
        given |= {"xs": sx, "xz": np.int8(0)}
        nodes += [helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"], "quantize"),
                  helper.make_node("QLinearConv", ["xq", "xs", "xz", "wq", "ws", "wz", "cs", "cz", "bq"], ["cq"], "anything"),
                  helper.make_node("DequantizeLinear", ["cq", "cs", "cz"], ["c"], "dequantize")]
    nodes += [helper.make_node("Relu", ["c"], ["r"], "relu"), helper.make_node("Conv", ["r", "v"], ["y"], "last")]
    quant = save(folder / "quant.onnx", nodes, given)
    np.save(folder / "x.npy", f32(4, 3, 16, 16))
    report = debug(real, quant, folder / "x.npy", "--as-is")
    found = [t for t in report["weights"] if t["kind"] == "bias" and t["name"] == "b"]
    if not found or abs(found[0]["saturated"] - 0.5) > 0.3:
        return f"biases: {[(w['name'], w['kind'], w['saturated']) for w in report['weights']]}"
    worst = first(report)
    if worst["node"] != "conv":
        return f"{worst['node']} comes first"
    return None if any("don't fit 32 bits" in line for line in worst["advice"]) else f"advice: {worst['advice']}"


def check_fusion(folder):
    """BatchNormalization goes into the convolution; weights must still be found, and be close."""
    real = network(folder / "net.onnx", norm=True)
    samples = folder / "x.npy"
    np.save(samples, f32(8, 3, 16, 16))
    quant = folder / "net.q.onnx"
    onnxq("quantize", real, "--data", samples, "-o", quant, "--quiet", "--mode", "qlinear")
    report = debug(real, quant, samples)
    if not report["prepared"]:
        return "compared with the model as it is"
    by_node = {w["node"]: w for w in report["weights"] if w["kind"] == "weight"}
    if len(by_node) < 4 or min(w["qdq_err"] for w in by_node.values()) < 30:
        return f"weights: {[(n, round(w['qdq_err'], 1)) for n, w in by_node.items()]}"
    if report["unmatched"]:
        return f"without a counterpart: {report['unmatched']}"
    return None


def check_names(folder):
    """Names that say nothing of the float model: only the structure tells what is what."""
    real = network(folder / "net.onnx")
    samples = folder / "x.npy"
    np.save(samples, f32(8, 3, 16, 16))
    quant = folder / "net.q.onnx"
    onnxq("quantize", real, "--data", samples, "-o", quant, "--quiet", "--mode", "qlinear")
    before = debug(real, quant, samples)
    model = onnx.load(quant)
    ends = {v.name for v in [*model.graph.input, *model.graph.output]}
    names = {}
    rename = lambda name: name if not name or name in ends else names.setdefault(name, f"t{len(names)}")
    for number, node in enumerate(model.graph.node):
        node.name = f"n{number}"
        node.input[:] = map(rename, list(node.input))
        node.output[:] = map(rename, list(node.output))
    for constant in model.graph.initializer:
        constant.name = rename(constant.name)
    del model.graph.value_info[:]
    onnx.save(model, quant)
    after = debug(real, quant, samples)
    key = lambda report: [(t["name"], t["node"], round(t["xmodel_err"], 6)) for t in report["tensors"]]
    if key(before) != key(after):
        return f"{set(key(before)) ^ set(key(after))}"
    same = [w["name"] for w in before["weights"]] == [w["name"] for w in after["weights"]]
    return None if same else "other weights are found"


def check_figures(folder):
    """Figures of a tensor against NumPy: one quantizer behind a Relu."""
    x = f32(6, 5, 7)
    scale, zero = np.float32(0.05), 3
    real = save(folder / "real.onnx", [helper.make_node("Abs", ["x"], ["a"], "abs"), helper.make_node("Neg", ["a"], ["y"], "neg")], {}, (1, 5, 7))
    nodes, weights = [helper.make_node("Abs", ["x"], ["a"], "abs")], {}
    nodes.append(helper.make_node("Neg", [qdq(nodes, weights, "a", scale, zero)], ["y"], "neg"))
    quant = save(folder / "quant.onnx", nodes, weights, (1, 5, 7))
    np.save(folder / "x.npy", x)
    report = debug(real, quant, folder / "x.npy", "--as-is")
    tensor = next(t for t in report["tensors"] if t["name"] == "a")
    a = np.abs(x)
    post = (np.clip(np.rint(a / scale) + zero, 0, 255) - zero) * scale
    wanted = {"qdq_err": 20 * np.log10(np.linalg.norm(a.astype(np.float64)) / np.linalg.norm((a - post).astype(np.float64))),
              "cosine": float((a.ravel().astype(np.float64) @ post.ravel()) / (np.linalg.norm(a) * np.linalg.norm(post))),
              "max_error": float(np.abs(a - post).max())}
    wanted["xmodel_err"] = wanted["qdq_err"]
    for name, value in wanted.items():
        if abs(tensor[name] - value) > 1e-3 * max(1, abs(value)):
            return f"{name}: {tensor[name]}, expected {value}"
    saturated = float((a > (255.501 - zero) * scale).mean())
    return None if abs(tensor["saturated"] - saturated) < 1e-6 else f"saturated {tensor['saturated']}, expected {saturated}"


def check_memory(folder):
    """Ten times the samples take no more memory."""
    real = network(folder / "net.onnx")
    quant = folder / "net.q.onnx"
    np.save(folder / "few.npy", f32(40, 3, 16, 16))
    np.save(folder / "many.npy", f32(400, 3, 16, 16))
    onnxq("quantize", real, "--data", folder / "few.npy", "-o", quant, "--quiet")
    sizes = [onnxq("debug", real, quant, "--data", folder / f"{name}.npy", "--quiet").megabytes for name in ("few", "many")]
    return None if sizes[1] < sizes[0] + 12 else f"{sizes[0]:.0f} MB for 40 samples, {sizes[1]:.0f} MB for 400"


def check_bad_input(folder):
    real = network(folder / "net.onnx")
    np.save(folder / "x.npy", f32(2, 3, 16, 16))
    other = save(folder / "other.onnx", [helper.make_node("Relu", ["x"], ["y"], "relu")], {}, (1, 3, 16, 16))
    renamed = onnx.load(other)
    renamed.graph.input[0].name = renamed.graph.node[0].input[0] = "z"
    onnx.save(renamed, folder / "renamed.onnx")
    page = folder / "page.html"
    cases = [([real, folder / "missing.onnx", "--data", folder / "x.npy"], 1, "missing.onnx"),
             ([real, other, "--data", folder / "missing.npy"], 1, "missing.npy"),
             ([real, folder / "renamed.onnx", "--data", folder / "x.npy"], 1, "'x'"),
             ([real, real], 2, "--data"),
             ([real, real, "--data", folder / "x.npy", "--report", folder / "no" / "page.html"], 1, "page.html"),
             ([real, real, "--data", folder / "x.npy", "--top", "-1"], 2, "--top")]
    for arguments, status, words in cases:
        options = [] if "--report" in arguments else ["--report", page]
        result = run([ONNXQ, "debug", *map(str, arguments), *map(str, options)])
        lines = result.stderr.strip().splitlines()
        if result.status != status or len(lines) != 1 or words not in lines[0]:
            return f"{arguments[1:]}: {result.ended()}: {result.stderr[:300]}"
        if page.exists():
            return "a report is left behind"
    return None


def check_sensitivity(folder):
    """The layer with the spoiled weights costs most alone, and gains most when it is left out."""
    real = network(folder / "net.onnx")
    samples = folder / "x.npy"
    np.save(samples, f32(6, 3, 16, 16))
    report = json.loads(onnxq("sensitivity", real, "--data", samples, *COARSE, "--json", "--quiet").stdout)
    layers = report["layers"]
    names = {layer["node"] for layer in layers}
    # Each layer on and off alone; then the worst ones off together.
    if not {"conv1", "conv2", "conv3", "matmul4"} <= names or report["runs"] < 6 * (2 + 2 * len(layers)):
        return f"{len(layers)} layers, {report['runs']} runs: {[layer['node'] for layer in layers]}"
    if layers[0]["node"] != "conv2" or max(layers, key=lambda layer: layer["gain"])["node"] != "conv2":
        return f"{[(layer['node'], round(layer['only_err'], 1), round(layer['gain'], 1)) for layer in layers]}"
    # With all but the spoiled one, quantization is as good as without it.
    if layers[0]["gain"] < 10:
        return f"leaving it out gains {layers[0]['gain']:.1f} dB"
    suggestion = report["suggestion"]
    if suggestion["nodes"][0] != "conv2" or suggestion["err"] < report["all_err"] + 10:
        return f"suggested: {suggestion}"
    work = macs(real, (1, 3, 16, 16))
    share = sum(work.get(node, 0) for node in suggestion["nodes"]) / sum(work.values())
    text = onnxq("sensitivity", real, "--data", samples, *COARSE, "--quiet").stdout.decode()
    if abs(suggestion["float_share"] - share) > 1e-6 or f"{100 * share:.1f} % of the multiply-adds leave int8" not in text:
        return f"{share} of the multiply-adds leave int8, not {suggestion['float_share']}: {text[-400:]!r}"
    quant, before = folder / "net.int8.onnx", folder / "before.onnx"
    words = shlex.split(suggestion["command"])
    if words[:2] != ["onnxq", "quantize"] or words[-1] != str(quant):
        return f"the command is {suggestion['command']}"
    onnxq(*words[1:], "--quiet")
    onnxq("quantize", real, "--data", samples, *COARSE, "-o", before, "--quiet")
    return None if sqnr(quant, real, samples) > sqnr(before, real, samples) + 10 else "the command doesn't help"


def sqnr(quant, real, samples):
    out = onnxq("evaluate", quant, "--reference", real, "--data", samples, "--metric", "sqnr", "--json", "--quiet")
    return json.loads(out.stdout)["against_reference"]["sqnr"]


def check_sensitivity_time(folder):
    """With next to no time, one sample is looked at, and what wasn't measured is said to be so."""
    real, samples = network(folder / "net.onnx"), folder / "x.npy"
    np.save(samples, f32(50, 3, 16, 16))
    report = json.loads(onnxq("sensitivity", real, "--data", samples, "--seconds", "1e-6", "--json", "--quiet").stdout)
    if report["samples"] != 1 or any(layer["only_err"] is not None for layer in report["layers"]):
        return f"{report['samples']} samples, {report['layers'][0]}"
    return None


def check_mismatch(folder):
    """Data of another scale than the calibration's: that is said first, and alone."""
    real, quant = network(folder / "net.onnx"), folder / "net.q.onnx"
    pixels = (rng.random((8, 3, 16, 16)) * 255).astype(np.float32)
    prepared = (pixels / 255 - np.float32(0.5)) * 4
    np.save(folder / "raw.npy", pixels)
    np.save(folder / "prepared.npy", prepared)
    for calibrated, judged in (("raw", "prepared"), ("prepared", "raw")):
        onnxq("quantize", real, "--data", folder / f"{calibrated}.npy", "-o", quant, "--quiet")
        report = debug(real, quant, folder / f"{judged}.npy")
        found = [m["input"] for m in report["input_mismatch"]]
        if report["verdict"] != "input-mismatch" or found != ["x"] or any(t["advice"] for t in report["tensors"]) or "proposal" in report:
            return f"{calibrated}, {judged}: {report['verdict']}, {found}, {[t['name'] for t in report['tensors'] if t['advice']]}"
        text = onnxq("debug", real, quant, "--data", folder / f"{judged}.npy").stdout.decode()
        if "isn't prepared as the calibration data was: check --mean and --scale" not in text or "what to try" in text or "conv2" in text:
            return f"{calibrated}, {judged}: {text[:600]}"
        right = debug(real, quant, folder / f"{calibrated}.npy")
        if right["verdict"] == "input-mismatch":
            return f"{calibrated}: the right data is called wrong"
    return None


def check_swapped(folder):
    """The quantized model given first is refused, with the right order."""
    real, quant = network(folder / "net.onnx"), folder / "net.q.onnx"
    np.save(folder / "x.npy", f32(4, 3, 16, 16))
    for form in ("qdq", "qlinear", "integer-dynamic"):
        data = [] if "dynamic" in form else ["--data", folder / "x.npy"]
        onnxq("quantize", real, *data, "-o", quant, "--quiet", *FORMS[form])
        result = run([ONNXQ, "debug", str(quant), str(real), "--data", str(folder / "x.npy")])
        if result.status != 1 or "the float model comes first" not in result.stderr or result.stdout:
            return f"{form}: {result.ended()}: {result.stderr[:300]}"
    return None


def check_noise(folder):
    """Noise is a share of the signal; its decibels are called SQNR."""
    real, quant, samples = network(folder / "net.onnx"), folder / "net.q.onnx", folder / "x.npy"
    np.save(samples, f32(6, 3, 16, 16))
    onnxq("quantize", real, "--data", samples, "-o", quant, "--quiet")
    report = debug(real, quant, samples)
    for tensor in report["tensors"]:
        for name in ("qdq", "xmodel", "added"):
            err, noise = tensor[f"{name}_err"], tensor[f"{name}_noise"]
            if (err is None) != (noise is None) or err is not None and abs(noise - 10 ** (-err / 20)) > 1e-9:
                return f"{tensor['name']}: {name} {err} dB, noise {noise}"
    text = onnxq("debug", real, quant, "--data", samples).stdout.decode()
    return None if "noise in % of the signal" in text and "SQNR dB" in text and "% noise (SQNR" in text else text[:400]


def check_corrected_bias(folder):
    """A bias that was corrected is no damage; one that is wrong is."""
    real, quant, samples = network(folder / "net.onnx"), folder / "net.q.onnx", folder / "x.npy"
    np.save(samples, np.abs(f32(8, 3, 16, 16)))
    onnxq("quantize", real, "--data", samples, "-o", quant, "--quiet", "--weight-rounding", "nearest", "--weight-type", "s4")
    biases = [w for w in debug(real, quant, samples)["weights"] if w["kind"] == "bias"]
    if not biases or not all(b["corrected"] and b["qdq_err"] is None and b["noise"] is None for b in biases):
        return f"corrected: {[(b['name'], b['corrected'], b['qdq_err']) for b in biases]}"
    text = onnxq("debug", real, quant, "--data", samples, "--seconds", 0).stdout.decode()
    if "corrected for the weights' error" not in text:
        return text[-800:]
    onnxq("quantize", real, "--data", samples, "-o", quant, "--quiet", "--bias-correction", "none")
    plain = [w for w in debug(real, quant, samples)["weights"] if w["kind"] == "bias"]
    if any(b["corrected"] for b in plain):
        return "biases that weren't corrected are called so"
    model = onnx.load(quant)
    for constant in model.graph.initializer:
        values = numpy_helper.to_array(constant)
        if values.dtype == np.int32 and values.size == 8:
            constant.CopyFrom(numpy_helper.from_array(values + np.int32(abs(values).max() or 1), constant.name))
    onnx.save(model, quant)
    spoiled = [w for w in debug(real, quant, samples)["weights"] if w["kind"] == "bias"]
    return "a wrong bias is called corrected" if any(b["corrected"] for b in spoiled) or not spoiled else None


def chain(folder, count, scale):
    """Products by rotations, and the same with coarse quantizers between: each adds little, together they add much."""
    weights, nodes, coarse, given, last, coarse_last = {}, [], [], {}, "x", "x"
    for i in range(count):
        rotation, _ = np.linalg.qr(rng.standard_normal((16, 16)))
        weights[f"w{i}"] = given[f"w{i}"] = rotation.astype(np.float32)
        name = "y" if i == count - 1 else f"t{i}"
        nodes.append(helper.make_node("MatMul", [last, f"w{i}"], [name], f"product{i}"))
        # An input that doesn't go with its range would be another finding.
        operand = qdq(coarse, given, coarse_last, scale, 0, np.int8) if i else "x"
        coarse.append(helper.make_node("MatMul", [operand, f"w{i}"], [name], f"product{i}"))
        last = coarse_last = name
    real, quant = folder / "net.onnx", folder / "net.q.onnx"
    save(real, nodes, weights, (1, 16))
    save(quant, coarse, given, (1, 16))
    return real, quant


def check_spread(folder):
    """Bad outputs without a bad layer: it says so, and proposes a command that was tried."""
    real, quant = chain(folder, 24, 0.2)
    samples = folder / "x.npy"
    np.save(samples, f32(10, 16))
    report = debug(real, quant, samples, "--seconds", 20)
    if report["verdict"] != "spread" or any(t["advice"] for t in report["tensors"]):
        return f"{report['verdict']}: {[(t['name'], round(t['added_noise'], 3)) for t in report['tensors'] if t['advice']]}"
    proposal = report.get("proposal")
    if not proposal or proposal["after_err"] < proposal["before_err"] + 5 or proposal["before_err"] > 20:
        return f"proposal: {proposal}, {report['notes']}"
    words = shlex.split(proposal["command"])
    made = json.loads(onnxq(*words[1:], "--json").stdout)
    after, share = sqnr(words[-1], real, samples), made["integer_macs"] / made["macs"]
    if abs(after - proposal["after_err"]) > 0.05:
        return f"the command gives {after:.2f} dB, {proposal['after_err']:.2f} dB were promised"
    # Weights are float at first, so that no product has two operands of 8 bits.
    if proposal["int8_before"] != 0 or abs(proposal["int8_after"] - share) > 1e-6 or share == 0:
        return f"int8: {proposal['int8_before']}, then {proposal['int8_after']}; quantize says {share}"
    text = onnxq("debug", real, quant, "--data", samples).stdout.decode()
    wanted = ("no layer stands out", proposal["command"], f"in int8: {100 * share:.1f} % of the multiply-adds, now 0.0 %")
    return None if all(part in text for part in wanted) else text[-800:]


def check_proposal(folder):
    """Layers that stand out: one command with all fixes, and what it gives."""
    real, samples, quant = network(folder / "net.onnx", huge=True), folder / "x.npy", folder / "net.q.onnx"
    np.save(samples, f32(8, 3, 16, 16))
    onnxq("quantize", real, "--data", samples, "-o", quant, "--quiet", "--per-channel=false", "--mode", "qlinear", "--tensor-overrides",
          json.dumps({"r2": {"min": 0, "max": 0.5}}))
    report = debug(real, quant, samples, "--seconds", 20)
    proposal = report.get("proposal")
    if report["verdict"] != "layers" or not proposal or proposal["after_err"] < proposal["before_err"] + 3:
        return f"{report['verdict']}, {proposal}"
    words = shlex.split(proposal["command"])
    if "--per-channel" not in words or "--mode" not in words:
        return proposal["command"]
    onnxq(*words[1:], "--quiet")
    after = sqnr(words[-1], real, samples)
    if abs(after - proposal["after_err"]) > 0.05:
        return f"the command gives {after:.2f} dB, {proposal['after_err']:.2f} dB were promised"
    none = debug(real, quant, samples)
    return "a proposal is made with no time for it" if "proposal" in none else None


def check_samples(folder):
    """The sample that goes beyond the range is the worst one, and is named."""
    real, quant = network(folder / "net.onnx"), folder / "net.q.onnx"
    (folder / "data").mkdir()
    for i in range(5):
        np.save(folder / "data" / f"{i}.npy", f32(1, 3, 16, 16) * np.float32(6 if i == 3 else 1))
    np.save(folder / "x.npy", f32(8, 3, 16, 16))
    onnxq("quantize", real, "--data", folder / "x.npy", "-o", quant, "--quiet")
    found = debug(real, quant, folder / "data")["per_sample"]
    worst = max(found, key=lambda s: s["noise"])
    if len(found) != 5 or worst["index"] != 3 or worst["saturated"] <= 0 or not worst.get("saturated_tensor"):
        return f"{found}"
    # In batches, each sample has its own figure.
    batch = debug(*[open_batch(path) for path in (real, quant)], folder / "x.npy", "--batch", 4)["per_sample"]
    single = debug(real, quant, folder / "x.npy")["per_sample"]
    apart = max(abs(a["noise"] - b["noise"]) for a, b in zip(batch, single))
    return None if len(batch) == 8 and apart < 1e-5 else f"in batches: {batch[:2]}, {single[:2]}"


def open_batch(path):
    model = onnx.load(path)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    del model.graph.value_info[:]
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    target = path.with_name("open-" + path.name)
    # Flattening must keep the batch.
    onnx.save(model, target)
    return target


def branch_graph(name, outer, weights, output):
    """A branch that multiplies by its own weights."""
    nodes = [helper.make_node("MatMul", [outer, f"{name}_w"], [f"{name}_m"], f"{name}_product"), helper.make_node("Relu", [f"{name}_m"], [output], f"{name}_relu")]
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
                             [numpy_helper.from_array(weights, f"{name}_w")])


def check_branches(folder):
    """Layers in the branches of an If, on all ways that samples take."""
    w, first, second = (f32(12, 12) * np.float32(0.3) for _ in range(3))
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 12]), helper.make_tensor_value_info("rate", TensorProto.INT64, [1])]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], "head"), helper.make_node("Equal", ["rate", "sixteen"], ["is"], "equal"),
             helper.make_node("If", ["is"], ["b"], "branch", then_branch=branch_graph("then", "h", first, "then_y"), else_branch=branch_graph("else", "h", second, "else_y")),
             helper.make_node("MatMul", ["b", "v"], ["y"], "tail")]
    graph = helper.make_graph(nodes, "net", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(a, n) for n, a in (("w", w), ("v", f32(12, 4)), ("sixteen", np.array([16], np.int64)))])
    real, quant = folder / "net.onnx", folder / "net.q.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), real)
    for name, rates in (("one", [16] * 6), ("both", [16, 8] * 3)):
        np.savez(folder / f"{name}.npz", x=f32(6, 1, 12), rate=np.array(rates, np.int64).reshape(6, 1))
    onnxq("quantize", real, "--data", folder / "both.npz", "--enable-subgraph", "--keep-cheap-in-float=false", "-o", quant, "--quiet")
    for name, wanted, ways in (("one", {"head", "then_product", "tail"}, 0), ("both", {"head", "then_product", "else_product", "tail"}, 1)):
        report = debug(real, quant, folder / f"{name}.npz")
        nodes = {t["node"] for t in report["tensors"]}
        weights = {weight["node"] for weight in report["weights"]}
        if not wanted <= nodes or not wanted <= weights:
            return f"{name}: tensors of {sorted(nodes)}, weights of {sorted(weights)}"
        if sum("ways" in note for note in report["notes"]) != ways or len(report["per_sample"]) != 6:
            return f"{name}: {report['notes']}, {len(report['per_sample'])} samples"
        if min(t["xmodel_err"] for t in report["tensors"] if t["xmodel_err"] is not None) < 20:
            return f"{name}: {[(t['name'], t['xmodel_err']) for t in report['tensors']]}"
    layers = json.loads(onnxq("sensitivity", real, "--data", folder / "one.npz", "--enable-subgraph", "--keep-cheap-in-float=false", "--json", "--quiet").stdout)["layers"]
    return None if "then_product" in {layer["node"] for layer in layers} else f"sensitivity of {[layer['node'] for layer in layers]}"


def check_loop(folder):
    """Tensors and weights in the body of a Loop, over all iterations."""
    w = (np.linalg.qr(rng.standard_normal((8, 8)))[0]).astype(np.float32)
    scale, wscale = np.float32(0.02), np.float32(np.abs(w).max() / 127)

    def body(quantized):
        nodes, constants = [], {}
        operand, weight = "state", "w"
        if quantized:
            operand = qdq(nodes, constants, "state", scale, 0, np.int8)
            constants |= {"wq": np.clip(np.rint(w / wscale), -127, 127).astype(np.int8), "ws": wscale, "wz": np.int8(0)}
            nodes.append(helper.make_node("DequantizeLinear", ["wq", "ws", "wz"], ["wd"], "wd"))
            weight = "wd"
        else:
            constants["w"] = w
        nodes += [helper.make_node("MatMul", [operand, weight], ["next"], "step"), helper.make_node("Identity", ["go"], ["on"], "keep")]
        value = lambda name, kind, shape: helper.make_tensor_value_info(name, kind, shape)
        return helper.make_graph(nodes, "body", [value("i", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("state", TensorProto.FLOAT, [1, 8])],
                                 [value("on", TensorProto.BOOL, []), value("next", TensorProto.FLOAT, [1, 8])],
                                 [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()])

    paths = []
    for name, quantized in (("real", False), ("quant", True)):
        loop = helper.make_node("Loop", ["five", "true", "x"], ["y"], "loop", body=body(quantized))
        path = save(folder / f"{name}.onnx", [loop], {"five": np.array(5, np.int64), "true": np.array(True)}, (1, 8))
        paths.append(path)
    np.save(folder / "x.npy", f32(4, 8))
    report = debug(*paths, folder / "x.npy", "--as-is")
    tensors = {t["name"]: t for t in report["tensors"]}
    if not {"state", "next", "y"} <= set(tensors) or [weight["name"] for weight in report["weights"]] != ["w"]:
        return f"{sorted(tensors)}, {[weight['name'] for weight in report['weights']]}"
    if tensors["state"]["type"] != "s8" or not 20 < tensors["state"]["qdq_err"] < 60 or tensors["next"]["node"] != "step":
        return f"{tensors['state']['type']}, {tensors['state']['qdq_err']}, {tensors['next']['node']}"
    return None


def check_compare(folder):
    """Two runs beside each other: by a file of the first, and by the other model."""
    real, samples = network(folder / "net.onnx"), folder / "x.npy"
    np.save(samples, f32(6, 3, 16, 16))
    good, bad = folder / "good.onnx", folder / "bad.onnx"
    onnxq("quantize", real, "--data", samples, "-o", good, "--quiet")
    onnxq("quantize", real, "--data", samples, "-o", bad, "--quiet", *COARSE)
    (folder / "other.json").write_bytes(onnxq("debug", real, bad, "--data", samples, "--json", "--quiet", "--seconds", 0).stdout)
    pages = []
    for other in (folder / "other.json", bad):
        page = folder / "page.html"
        onnxq("debug", real, good, "--data", samples, "--quiet", "--report", page, "--compare", other, "--no-profile")
        shown = page_data(page)["compare"]
        conv = next(t for t in shown["tensors"] if t["name"] == "c2" or t["name"] == "r2")
        if shown["quantized"] != str(bad) or not conv["xmodel_noise"] > 0.05:
            return f"{other.name}: {shown['quantized']}, {conv}"
        pages.append(shown)
    if pages[0] != pages[1]:
        return "a file and a model give different figures"
    (folder / "no.json").write_text("{}")
    result = run([ONNXQ, "debug", str(real), str(good), "--data", str(samples), "--compare", str(folder / "no.json")])
    return None if result.status == 1 and "no.json" in result.stderr else f"{result.ended()}: {result.stderr[:200]}"


def check_sensitivity_numbers(folder):
    """All layers switched on is the quantized model; only one is the model quantized with the others excluded."""
    real = network(folder / "net.onnx")
    samples = folder / "x.npy"
    np.save(samples, f32(4, 3, 16, 16))
    options = ["--keep-removable-activations", "--bias-correction", "none"]
    report = json.loads(onnxq("sensitivity", real, "--data", samples, "--json", "--quiet", *options).stdout)
    quant = folder / "net.q.onnx"

    def sqnr(*extra):
        onnxq("quantize", real, "--data", samples, "-o", quant, "--quiet", *options, *extra)
        out = onnxq("evaluate", quant, "--reference", real, "--data", samples, "--metric", "sqnr", "--json", "--quiet")
        return json.loads(out.stdout)["against_reference"]["sqnr"]

    whole = sqnr()
    if abs(whole - report["all_err"]) > 0.5:
        return f"all: {report['all_err']:.2f} dB, the quantized model has {whole:.2f}"
    for layer in report["layers"]:
        # The Add reads the tensor that is quantized for the third convolution, too.
        if layer["node"] in ("conv3", "add3"):
            continue
        alone = sqnr("--nodes-to-quantize", layer["node"])
        if abs(alone - layer["only_err"]) > 0.5:
            return f"only {layer['node']}: {layer['only_err']:.2f} dB, a model with only it quantized has {alone:.2f}"
    return None


def check_sensitivity_channels(folder):
    """Channels are scaled as in the quantized model, with each layer on and off."""
    weights = {"w1": f32(16, 3, 1, 1) * np.geomspace(0.05, 4, 16).astype(np.float32).reshape(16, 1, 1, 1), "w2": f32(16, 1, 3, 3),
               "w3": f32(16, 16, 1, 1) * np.float32(0.3)}
    for name, op in (("relu", "Relu"), ("swish", "HardSwish")):
        nodes = [helper.make_node("Conv", ["x", "w1"], ["c1"], "conv1"), helper.make_node(op, ["c1"], ["r1"], "act1"),
                 helper.make_node("Conv", ["r1", "w2"], ["c2"], "conv2", group=16, pads=[1] * 4),
                 helper.make_node("Relu", ["c2"], ["r2"], "relu2"), helper.make_node("Conv", ["r2", "w3"], ["y"], "conv3")]
        real, samples, quant = save(folder / f"{name}.onnx", nodes, weights, opset=14), folder / "x.npy", folder / "q.onnx"
        np.save(samples, f32(4, 3, 16, 16))
        # In a tensor as small as this one, depthwise convolutions would read floats.
        options = ["--keep-removable-activations", "--bias-correction", "none", "--keep-cheap-in-float=false"]
        found = []
        for scaling in ("auto", "none"):
            chosen = [*options, "--channel-scaling", scaling]
            report = json.loads(onnxq("sensitivity", real, "--data", samples, "--json", "--quiet", *chosen).stdout)
            onnxq("quantize", real, "--data", samples, "-o", quant, "--quiet", *chosen)
            out = onnxq("evaluate", quant, "--reference", real, "--data", samples, "--metric", "sqnr", "--json", "--quiet").stdout
            whole = json.loads(out)["against_reference"]["sqnr"]
            if abs(whole - report["all_err"]) > 0.5:
                return f"{name}, {scaling}: all: {report['all_err']:.2f} dB, the quantized model has {whole:.2f}"
            found.append(next(layer["only_err"] for layer in report["layers"] if layer["node"] == "conv2"))
        if found[0] < found[1] + 1:
            return f"{name}: conv2 alone has {found[0]:.1f} dB with channels scaled, {found[1]:.1f} without"
    return None


def check_scaled_channels(folder, form):
    """Channels that the quantizer multiplied are compared with ones that are, too: through a Relu, and as a product."""
    scales = (10.0 ** -np.arange(0, 2, 0.25)).astype(np.float32)
    weights = {"w1": f32(8, 3, 3, 3) * scales[:, None, None, None], "b1": f32(8) * np.float32(0.1) * scales, "d1": f32(8, 1, 3, 3),
               "w2": f32(8, 8, 1, 1) * scales[:, None, None, None], "d2": f32(8, 1, 3, 3)}
    nodes = [helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], "conv1", pads=[1] * 4),
             helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
             helper.make_node("Conv", ["r1", "d1"], ["e1"], "depth1", pads=[1] * 4, group=8),
             helper.make_node("Conv", ["e1", "w2"], ["c2"], "conv2"),
             helper.make_node("HardSwish", ["c2"], ["h2"], "swish2"),
             helper.make_node("Conv", ["h2", "d2"], ["y"], "depth2", pads=[1] * 4, group=8)]
    real = save(folder / "net.onnx", nodes, weights, opset=14)
    np.save(folder / "x.npy", f32(6, 3, 16, 16))
    quant = folder / "net.q.onnx"
    onnxq("quantize", real, "--data", folder / "x.npy", "-o", quant, "--quiet", "--keep-cheap-in-float=false", *FORMS[form])
    names = {name for node in onnx.load(quant).graph.node for name in node.output}
    if not any(name.startswith("r1_scaled") for name in names) or "h2_scaled" not in names:
        return f"nothing was scaled: {sorted(names)}"
    report = debug(real, quant, folder / "x.npy")
    if report["unmatched"]:
        return f"without a counterpart: {report['unmatched']}"
    low = [(w["name"], w["qdq_err"]) for w in report["weights"] if w["qdq_err"] is not None and w["qdq_err"] < 30]
    low += [(t["name"], t["xmodel_err"]) for t in report["tensors"] if t["xmodel_err"] is not None and t["xmodel_err"] < 20]
    return f"seems to be bad: {low}" if low else None


def cases():
    for form, options in FORMS.items():
        yield f"weights/{form}", lambda folder, f=form, o=options: check_spoiled_weights(folder, f, o)
        if "dynamic" not in form:
            yield f"range/{form}", lambda folder, f=form, o=options: check_spoiled_range(folder, f, o)
    yield "huge-channel", check_huge_channel
    yield "wide-range", check_wide_range
    yield "sentinel", check_sentinel
    yield "bias/qdq", lambda folder: check_bias(folder, "qdq")
    yield "bias/qlinear", lambda folder: check_bias(folder, "qlinear")
    yield "scaled/qdq", lambda folder: check_scaled_channels(folder, "qdq")
    yield "scaled/qlinear", lambda folder: check_scaled_channels(folder, "qlinear")
    yield "fusion", check_fusion
    yield "names", check_names
    yield "figures", check_figures
    yield "memory", check_memory
    yield "mismatch", check_mismatch
    yield "swapped", check_swapped
    yield "noise", check_noise
    yield "corrected-bias", check_corrected_bias
    yield "spread", check_spread
    yield "proposal", check_proposal
    yield "samples", check_samples
    yield "branches", check_branches
    yield "loop", check_loop
    yield "compare", check_compare
    yield "bad-input", check_bad_input
    yield "sensitivity", check_sensitivity
    yield "sensitivity/time", check_sensitivity_time
    yield "sensitivity/numbers", check_sensitivity_numbers
    yield "sensitivity/channels", check_sensitivity_channels


def main(cases):
    require_tools()
    pattern = next((a for a in sys.argv[1:] if not a.startswith("-")), "")
    tally = Tally()
    for name, check in cases:
        if not re.search(pattern, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                problem = check(pathlib.Path(folder))
            except Exception as error:
                problem = f"{type(error).__name__}: {str(error)[:400]}"
        tally.result(name, problem)
    tally.finish()


if __name__ == "__main__":
    main(cases())
