#!/usr/bin/env -S /usr/bin/python3
"""onnxq debug and sensitivity: a layer that is made bad on purpose comes first, whatever the form of the model.

Networks of four layers are quantized in every form; one layer's weights or one tensor's range is spoiled. Also: a range
that holds the padding value of a maximum, a bias that doesn't fit 32 bits, preparation that fuses nodes, ONNX Runtime's
spelling of names, figures against NumPy, memory, bad input, and the report in a browser. A pattern chooses cases.
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from harness import ONNXQ, Tally, require_tools, run

rng = np.random.default_rng(5)

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


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def save(path, nodes, weights, shape=(1, 3, 16, 16), output="y", opset=13):
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))],
                              [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7), path)
    return path


# Steps of a scale that are as large as the weights themselves.
COARSE = ["--tensor-overrides", json.dumps({"w2": {"scale": 0.25}})]


def network(path, huge=False, norm=False):
    """Three convolutions and a product; with one huge channel in the second, if asked for."""
    weights = {}
    for name, shape in (("w1", (8, 3, 3, 3)), ("w2", (8, 8, 3, 3)), ("w3", (8, 8, 3, 3)), ("w4", (128, 10))):
        weights[name] = f32(*shape) / np.sqrt(np.prod(shape[1:]) if len(shape) == 4 else shape[0]).astype(np.float32)
    for index, size in ((1, 8), (2, 8), (3, 8)):
        weights[f"b{index}"] = f32(size) * np.float32(0.1)
    if huge:
        weights["w2"][0] *= 200
    nodes = [helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], "conv1", pads=[1] * 4)]
    last = "c1"
    if norm:
        weights |= {"gamma": np.abs(f32(8)) + 1, "beta": f32(8), "mean": f32(8) * np.float32(0.1), "var": np.abs(f32(8)) + 1}
        nodes.append(helper.make_node("BatchNormalization", ["c1", "gamma", "beta", "mean", "var"], ["n1"], "norm1"))
        last = "n1"
    nodes += [
        helper.make_node("Relu", [last], ["r1"], "relu1"),
        helper.make_node("MaxPool", ["r1"], ["p1"], "pool1", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p1", "w2", "b2"], ["c2"], "conv2", pads=[1] * 4),
        helper.make_node("Relu", ["c2"], ["r2"], "relu2"),
        helper.make_node("Conv", ["r2", "w3", "b3"], ["c3"], "conv3", pads=[1] * 4),
        helper.make_node("Add", ["c3", "r2"], ["a3"], "add3"),
        helper.make_node("Relu", ["a3"], ["r3"], "relu3"),
        helper.make_node("MaxPool", ["r3"], ["p3"], "pool3", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p3"], ["f3"], "flat"),
        helper.make_node("MatMul", ["f3", "w4"], ["y"], "matmul4"),
    ]
    return save(path, nodes, weights)


def onnxq(*arguments, status=0):
    result = run([ONNXQ, *map(str, arguments)], timeout=300)
    if result.status != status:
        raise RuntimeError(f"{' '.join(map(str, arguments))[:200]}: {result.ended()}: {result.stderr[-400:]}")
    return result


def debug(real, quant, data, *options):
    return json.loads(onnxq("debug", real, quant, "--data", data, "--json", "--quiet", *options).stdout)


def first(report):
    """Nodes and tensors that the ranking begins with."""
    name = report["ranking"][0]
    tensor = next(t for t in report["tensors"] if t["name"] == name)
    return tensor


def check_spoiled_weights(folder, form, options):
    """Weights with steps that are far too coarse."""
    real = network(folder / "net.onnx")
    samples = folder / "x.npy"
    np.save(samples, f32(12, 3, 16, 16))
    quant = folder / "net.q.onnx"
    onnxq("quantize", real, "--data", samples, "-o", quant, "--quiet", *COARSE, *options)
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
    if not {"conv1", "conv2", "conv3", "matmul4"} <= names or report["runs"] != 6 * (2 + 2 * len(layers)):
        return f"{len(layers)} layers, {report['runs']} runs: {[layer['node'] for layer in layers]}"
    if layers[0]["node"] != "conv2" or max(layers, key=lambda layer: layer["gain"])["node"] != "conv2":
        return f"{[(layer['node'], round(layer['only_err'], 1), round(layer['gain'], 1)) for layer in layers]}"
    # With all but the spoiled one, quantization is as good as without it.
    if layers[0]["gain"] < 10:
        return f"leaving it out gains {layers[0]['gain']:.1f} dB"
    return None


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


def check_page(folder):
    """The report in Chromium: no error, all parts drawn, the worst layer named first."""
    browser = shutil.which("chromium")
    if not browser:
        return "chromium isn't installed: scripts/setup.sh"
    real = network(folder / "net.onnx")
    samples = folder / "x.npy"
    np.save(samples, f32(6, 3, 16, 16))
    quant, page = folder / "net.q.onnx", folder / "report.html"
    onnxq("quantize", real, "--data", samples, "-o", quant, "--quiet", "--mode", "qlinear", "--tensor-overrides",
          json.dumps({"r2": {"min": 0, "max": 0.05}}))
    onnxq("debug", real, quant, "--data", samples, "--quiet", "--report", page)
    text = page.read_text()
    if re.search(r"(src|href)=[\"']?(https?:|//)", text) or "import(" in text or "fetch(" in text:
        return "the page wants the network"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", f"--user-data-dir={folder / 'profile'}",
             "--window-size=1280,2200", "--enable-logging=stderr", "--v=0"]
    shown = run([browser, *flags, "--dump-dom", f"file://{page}"], timeout=120)
    dom = shown.stdout.decode(errors="replace")
    if 'data-ready="yes"' not in dom:
        return f"the page's program failed: {re.findall(r'CONSOLE.*', shown.stderr)[:3]} {shown.ended()}"
    if errors := re.findall(r"CONSOLE.*", shown.stderr):
        return f"the console says {errors[:2]}"
    rows = len(re.findall(r'<tr class="row', dom))
    report = debug(real, quant, samples)
    if rows != len(report["tensors"]):
        return f"{rows} rows for {len(report['tensors'])} tensors"
    issues = re.search(r'id="issues".*?<a [^>]*>([^<]*)<', dom, re.S)
    if not issues or issues[1] != "conv2":
        return f"the first advice is for {issues and issues[1]}"
    for part in ("<polyline", 'class="histogram"', 'class="channels"', 'class="range"', "What to try"):
        if part not in dom:
            return f"the page has no {part}"
    picture = folder / "page.png"
    run([browser, *flags, "--hide-scrollbars", f"--screenshot={picture}", f"file://{page}"], timeout=120)
    return None if picture.exists() and picture.stat().st_size > 20000 else "no picture was taken"


def check_hostile_names(folder):
    """Names that look like markup are shown as they are."""
    evil = "</script><img src=x onerror=alert(1)>"
    nodes, weights = [helper.make_node("Abs", ["x"], ["a"], evil)], {}
    real = save(folder / "real.onnx", [*nodes, helper.make_node("Neg", ["a"], ["y"], "neg")], {}, (1, 4))
    nodes.append(helper.make_node("Neg", [qdq(nodes, weights, "a", 5, 0)], ["y"], "neg"))
    quant = save(folder / "quant.onnx", nodes, weights, (1, 4))
    np.save(folder / "x.npy", f32(3, 4))
    onnxq("debug", real, quant, "--data", folder / "x.npy", "--quiet", "--report", folder / "page.html", "--as-is")
    text = (folder / "page.html").read_text()
    return "a name became markup" if "<img" in text else None


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
    yield "bad-input", check_bad_input
    yield "sensitivity", check_sensitivity
    yield "sensitivity/numbers", check_sensitivity_numbers
    yield "sensitivity/channels", check_sensitivity_channels
    yield "page", check_page
    yield "page/names", check_hostile_names


def main():
    require_tools()
    pattern = next((a for a in sys.argv[1:] if not a.startswith("-")), "")
    tally = Tally()
    for name, check in cases():
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
    main()
