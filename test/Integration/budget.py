#!/usr/bin/env -S /usr/bin/python3
"""onnxq quantize within bounds: what was made bad on purpose is what gets more bits, and bounds hold on samples held back.

Figures that the search states are computed again here: by `onnxq evaluate` on the samples that were held back, picked
by this script. Times are those of a model of a processor, so that results are the same everywhere, but for what is
measured. A pattern chooses cases.
"""

import gzip
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.harness import ONNXQ, ROOT, Tally, require_tools, run

DIGITS = ROOT / "examples" / "digits"
TARGET = ("--target", "x86-64-v3")


def quantize(*arguments, status=0, timeout=300):
    result = run([ONNXQ, "quantize", *map(str, arguments)], timeout=timeout)
    if result.status != status:
        raise RuntimeError(f"{result.ended()}, expected {status}: {result.stderr[-600:]}")
    return result


def search(model, data, out, *arguments):
    """What a search found."""
    result = quantize(model, "--data", data, "-o", out, "--json", "--compare", "0", "--quiet", *arguments)
    return json.loads(result.stdout)["budget"]


def evaluate(*arguments):
    result = run([ONNXQ, "evaluate", *map(str, arguments), "--json", "--quiet"], timeout=300)
    if result.status:
        raise RuntimeError(f"{result.ended()}: {result.stderr[-400:]}")
    return json.loads(result.stdout)


def network(path, spoil=None):
    """Four convolutions. One of them can be spoilt: 'weight', 'tensor' or 'channels' of the third."""
    rng = np.random.default_rng(4)
    channels, nodes, weights, last = 16, [], {}, "x"
    for i in range(4):
        shape = (channels, 3 if i == 0 else channels, 3, 3)
        w = rng.standard_normal(shape).astype(np.float32) * np.float32(np.sqrt(2 / np.prod(shape[1:])))
        b = (rng.standard_normal(channels) * 0.1).astype(np.float32)
        if i == 1 and spoil == "weight":
            # A channel of which next to nothing comes.
            w[0], b[0] = w[0] * 1e-4, 0
        if i == 2 and spoil == "weight":
            # All weights but those of that channel become 0.
            w[:, 0] = 100
        if i == 1 and spoil == "tensor":
            # A channel that takes the whole range, of which next to nothing is read.
            w[0], b[0] = 0, 500
        if i == 2 and spoil == "tensor":
            w[:, 0] = 1e-5
        if i == 2 and spoil == "channels":
            # One scale for all is that of the first channel, which is always below zero.
            w[0], b[0] = w[0] * 200, -20000
        weights[f"w{i}"], weights[f"b{i}"] = w, b
        nodes.append(helper.make_node("Conv", [last, f"w{i}", f"b{i}"], [f"c{i}"], f"conv{i}", pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{i}"], [f"r{i}"], f"relu{i}"))
        last = f"r{i}"
    nodes.append(helper.make_node("MaxPool", [last], ["y"], "pool", kernel_shape=[2, 2], strides=[2, 2]))
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, channels, 8, 8])],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path)
    return path


def samples(path, count=16):
    np.save(path, np.random.default_rng(5).standard_normal((count, 1, 3, 16, 16)).astype(np.float32).reshape(count, 3, 16, 16))
    return path


def digits(folder, count):
    """Pictures of digits and their labels, and those of every second, which are held back."""
    images = np.frombuffer(gzip.decompress((DIGITS / "test-images.idx.gz").read_bytes()), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    labels = np.frombuffer(gzip.decompress((DIGITS / "test-labels.idx.gz").read_bytes()), np.uint8, offset=8)
    images, labels = (images[:count] / np.float32(255)).astype(np.float32), labels[:count].astype(np.int64)
    for name, part in (("all", slice(None)), ("held", slice(0, None, 2))):
        np.save(folder / f"{name}.npy", images[part])
        np.save(folder / f"{name}-labels.npy", labels[part])


def check_spoilt(folder, spoil, wanted, bound, *arguments):
    model, data = network(folder / "m.onnx", spoil), samples(folder / "x.npy")
    found = search(model, data, folder / "q.onnx", "--min-sqnr", bound, *TARGET, *arguments)
    first = found["frontier"][0]
    if first["holds"] or first["sqnr_db"] > bound - 6:
        return f"nothing is spoilt: {first}"
    got = {name: found["chosen"][name] for name in ("int16_tensors", "finer_weights", "nodes_to_exclude")}
    return None if got == {**dict.fromkeys(got, []), **wanted} else f"{got}, expected {wanted}"


def check_weight(folder):
    return check_spoilt(folder, "weight", {"nodes_to_exclude": ["conv2"]}, 20)


def check_tensor(folder):
    return check_spoilt(folder, "tensor", {"int16_tensors": ["r1"]}, 20)


def check_channels(folder):
    return check_spoilt(folder, "channels", {"finer_weights": ["w2"]}, 18, "--per-channel=false")


def outputs(model, data, folder):
    result = run([ONNXQ, "run", str(model), "--input", f"image={data}", "--output-dir", str(folder), "--json"], timeout=300)
    return np.load(json.loads(result.stdout)["outputs"][0]["file"]).astype(np.float64)


def interval_problem(folder, model, point, bound, notes):
    """The interval of decibels beside what leaving out each of the samples makes of them."""
    parts = [folder / name for name in ("float", "int8")]
    for part in parts:
        part.mkdir()
    right, mine = (outputs(file, folder / "held.npy", part) for file, part in zip((model, folder / "q.onnx"), parts))
    signal, noise = (right**2).sum(1), ((right - mine) ** 2).sum(1)
    decibels = 10 * np.log10((signal.sum() - signal) / (noise.sum() - noise))
    # Student's for 59 degrees of freedom.
    half = 2.001 * np.sqrt(len(decibels) - 1) * decibels.std()
    low, high = point["sqnr_db_95"]
    if abs((high - low) / 2 - half) > 0.05 * half or abs((high + low) / 2 - point["sqnr_db"]) > 1e-6:
        return f"{low} to {high} dB, expected {half} on each side of {point['sqnr_db']}"
    doubts = [note for note in notes if f"can't exclude {low:.1f} dB" in note]
    return None if len(doubts) == (low < bound) else f"notes {notes} of {low} to {high}"


def check_sqnr(folder):
    """6 dB more than by default, on samples that the search held back; the same file again."""
    digits(folder, 120)
    model, data = DIGITS / "digits.onnx", folder / "all.npy"
    quantize(model, "--data", data, "-o", folder / "plain.onnx", "--quiet")
    held = ("--reference", model, "--data", folder / "held.npy", "--metric", "sqnr")
    bound = evaluate(folder / "plain.onnx", *held)["against_reference"]["sqnr"] + 6
    found = search(model, data, folder / "q.onnx", "--min-sqnr", bound, *TARGET, "--report", folder / "page.html")
    real = evaluate(folder / "q.onnx", *held)["against_reference"]["sqnr"]
    stated = found["frontier"][found["chosen"]["index"]]["sqnr_db"]
    if real < bound or abs(real - stated) > 1e-6:
        return f"{real} dB, stated {stated}, asked for {bound}"
    if (found["calibration_samples"], found["held_back_samples"]) != (60, 60):
        return f"split {found['calibration_samples']}, {found['held_back_samples']}"
    if problem := interval_problem(folder, model, found["frontier"][found["chosen"]["index"]], bound, found["notes"]):
        return problem
    before = [point for point in found["frontier"][: found["chosen"]["index"]] if point["holds"]]
    if before:
        return f"a smaller change holds, too: {before[0]}"
    page = (folder / "page.html").read_text()
    if page.count("<circle") != len(found["frontier"]) or "class=\"chosen\"" not in page:
        return f"the page has {page.count('<circle')} points of {len(found['frontier'])}"
    again = search(model, data, folder / "again.onnx", "--min-sqnr", bound, *TARGET, "--report", folder / "report.json")
    if (folder / "q.onnx").read_bytes() != (folder / "again.onnx").read_bytes():
        return "another file the second time"
    report = json.loads((folder / "report.json").read_text())
    return None if report["budget"]["frontier"] == again["frontier"] and report["nodes"] else "the report is another one"


def check_drop(folder):
    """Hits are those that evaluate counts on the samples held back, by pairs."""
    digits(folder, 400)
    model = DIGITS / "digits.onnx"
    found = search(model, folder / "all.npy", folder / "q.onnx", "--max-drop", "1%", "--labels", folder / "all-labels.npy", *TARGET)
    score = evaluate(folder / "q.onnx", "--reference", model, "--data", folder / "held.npy", "--labels", folder / "held-labels.npy",
                     "--metric", "top1")
    point = found["frontier"][found["chosen"]["index"]]
    drop = score["reference"]["top1"] - score["top1"]
    if abs(point["drop"] - drop) > 1e-12 or abs(point["top1"] - score["top1"]) > 1e-12 or drop > 0.01:
        return f"{point}, expected a drop of {drop}"
    low, high = point["drop_95"]
    return None if low < drop < high else f"{low} to {high} is not around {drop}"


def check_agreement(folder):
    digits(folder, 100)
    found = search(DIGITS / "digits.onnx", folder / "all.npy", folder / "q.onnx", "--min-agreement", "98%", *TARGET)
    score = evaluate(folder / "q.onnx", "--reference", DIGITS / "digits.onnx", "--data", folder / "held.npy", "--metric", "agreement")
    got = found["frontier"][found["chosen"]["index"]]["agreement"]
    return None if got == score["against_reference"]["agreement"] >= 0.98 else f"agreement {got}"


def check_latency(folder):
    """Much time gives the most accurate model, and measured times; none gives none."""
    model, data = network(folder / "m.onnx"), samples(folder / "x.npy")
    found = search(model, data, folder / "q.onnx", "--max-latency", "1000")
    first, last = found["frontier"][0], found["frontier"][found["chosen"]["index"]]
    if not last["sqnr_db"] > first["sqnr_db"] + 10 or not 0 < first["ms"] < 1000 or found["time"] != "measured":
        return f"{first} to {last}"
    result = quantize(model, "--data", data, "-o", folder / "none.onnx", "--max-latency", "0.000001", status=1)
    if "can't be met: with all 8 bits a run takes" not in result.stderr or (folder / "none.onnx").exists():
        return f"no refusal: {result.stderr[-300:]}"
    return None


def check_refusals(folder):
    model, data = network(folder / "m.onnx"), samples(folder / "x.npy")
    (folder / "few.txt").write_text("1\n2\n")
    out, with_data = folder / "out.onnx", ("--data", data)
    cases = [
        (1, "200.0 dB can't be met: the nearest is", (*with_data, "--min-sqnr", "200", *TARGET)),
        (1, "max-drop can't be judged by 8 samples held back: one of them is 12.5 %; give 400",
         (*with_data, "--max-drop", "0.5%", "--labels", folder / "few.txt", *TARGET)),
        (1, "min-agreement can't be judged by 1024 rows", (*with_data, "--min-agreement", "99.99%", *TARGET)),
        (1, "few.txt: has 2 labels, but the data has 16 samples",
         (*with_data, "--max-drop", "50%", "--labels", folder / "few.txt", *TARGET)),
        (1, "a search expects two samples at least", (*with_data, "--limit", "1", "--min-sqnr", "20", *TARGET)),
        (2, "min-sqnr means nothing with dynamic", ("--dynamic", "--min-sqnr", "20")),
        (2, "min-sqnr expects samples to judge models by", ("--min-sqnr", "20")),
        (2, "min-sqnr is for mode=qdq", (*with_data, "--mode", "qlinear", "--min-sqnr", "20")),
        (2, "means nothing with weight-only", (*with_data, "--weight-only", "4", "--min-sqnr", "20")),
        (2, "max-drop expects a share in percent, such as 0.5%", (*with_data, "--max-drop", "0.5")),
        (2, "min-sqnr expects a number, but got 'much'", (*with_data, "--min-sqnr", "much")),
        (2, "labels is for max-drop", (*with_data, "--min-sqnr", "20", "--labels", folder / "few.txt")),
        (2, "metric is for a search", (*with_data, "--metric", "top1")),
        (2, "metric=coco expects boxes", (*with_data, "--max-drop", "1%", "--metric", "coco")),
        (2, "max-latency is measured on this processor", (*with_data, "--max-latency", "3", *TARGET)),
        (2, "nowhere", (*with_data, "--min-sqnr", "20", "--target", "nowhere")),
    ]
    for status, message, arguments in cases:
        result = quantize(model, "-o", out, *arguments, status=status)
        if message not in result.stderr:
            return f"{arguments}: {result.stderr[-300:]}, expected '{message}'"
        if out.exists():
            return f"{arguments}: there is an output"
    for option, name in (("min-sqnr=20", "min-sqnr"), ("only-where-faster", "only-where-faster")):
        result = run([str(pathlib.Path(ONNXQ).with_name("onnxq-opt")), str(model), f"--onnx-quantize={option}", "-o", str(folder / "o.mlir")])
        if f"{name} asks for a search" not in result.stderr:
            return f"the pass takes {name}"
    return None


def check_interrupt(folder):
    """Status 130 and a checkpoint; what continues from it gives the same file as a search in one go."""
    digits(folder, 400)
    model, data, checkpoint = DIGITS / "digits.onnx", folder / "all.npy", folder / "check.json"
    arguments = [model, "--data", data, "--min-sqnr", "50", *TARGET, "--quiet"]
    quantize(*arguments, "-o", folder / "whole.onnx")
    process = subprocess.Popen([ONNXQ, "quantize", *map(str, arguments), "-o", str(folder / "part.onnx"), "--checkpoint", str(checkpoint)],
                               stderr=subprocess.PIPE)
    end = time.monotonic() + 120
    while not checkpoint.exists() and time.monotonic() < end and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    text = process.communicate(timeout=120)[1].decode()
    if process.returncode != 130 or "check.json can be continued" not in text or not checkpoint.exists():
        return f"status {process.returncode}: {text}"
    before = json.loads(checkpoint.read_text())["sensitivity"]["samples"]
    if before == 0:
        return "nothing was kept"
    other = quantize(*arguments, "-o", folder / "part.onnx", "--checkpoint", checkpoint, "--per-channel=false", status=1)
    if "is of another model, other options or other samples" not in other.stderr:
        return f"a checkpoint of other options: {other.stderr[-200:]}"
    quantize(*arguments, "-o", folder / "part.onnx", "--checkpoint", checkpoint)
    if checkpoint.exists():
        return "the checkpoint is left behind"
    return None if (folder / "part.onnx").read_bytes() == (folder / "whole.onnx").read_bytes() else "another file than in one go"


def two_layers(path, wide=True):
    """A convolution of many products (unless not `wide`), and one with two outputs, which rounds numbers for next to
    nothing."""
    rng = np.random.default_rng(9)
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], "wide", pads=[1] * 4), helper.make_node("Relu", ["c"], ["r"], "relu"),
             helper.make_node("Conv", ["r", "v"], ["y"], "narrow")]
    weights = {"w": rng.standard_normal((64, 16, 3, 3)), "v": rng.standard_normal((2, 64, 1, 1))}
    if not wide:
        nodes = [helper.make_node("Conv", ["x", "v"], ["y"], "narrow")]
        weights = {"v": rng.standard_normal((2, 16, 1, 1))}
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 80, 80])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 80, 80])],
                              [numpy_helper.from_array(array.astype(np.float32), name) for name, array in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path)
    return path


def check_faster(folder):
    """Layers that take longer in 8 bits stay float, by a model of a processor and measured."""
    model, data, out, report = two_layers(folder / "two.onnx"), folder / "two.npy", folder / "two.int8.onnx", folder / "two.json"
    np.save(data, np.random.default_rng(2).random((4, 16, 80, 80), np.float32))
    quantize(model, "--data", data, "-o", out, "--quiet")
    if kinds(out) != {"wide", "narrow"}:
        return f"both are quantized without the option, but got {kinds(out)}"
    said = quantize(model, "--data", data, "-o", out, "--only-where-faster", *TARGET, "--report", report).stdout.decode()
    if kinds(out) != {"wide"}:
        return f"quantized {kinds(out)}, expected 'wide' only"
    if "1 of 2 convolutions and products stay float, as 8 bits take longer on x86-64-v3 (by a model" not in said:
        return said[-400:]
    told = json.loads(report.read_text())
    reason = next(node["reason"] for node in told["nodes"] if node["name"] == "narrow")
    if "8 bits take longer on x86-64-v3" not in reason or not any("stay float" in note for note in told["notes"]):
        return f"the report says {reason}, {told['notes']}"
    # Whatever takes longer here: the report and the file agree.
    said = quantize(model, "--data", data, "-o", out, "--only-where-faster", "--report", report).stdout.decode()
    told = json.loads(report.read_text())
    left = {node["name"]: node["reason"] for node in told["nodes"] if "take longer on native" in node.get("reason", "")}
    if not re.search(r"(8 bits take longer on native|by themselves on native|takes longer in 8 bits on native).*\(measured\): \S+ ms with all in 8 bits, ", said):
        return said[-400:]
    if kinds(out) != {"wide", "narrow"} - set(left):
        return f"quantized {kinds(out)}, but the report says {left}"
    for reason in left.values():
        bits, floats = map(float, re.search(r": (\S+) ms, float (\S+)$", reason).groups())
        if bits < floats:
            return f"'{reason}' is no reason"
    for status, message, arguments in (
            (2, "only-where-faster expects samples", ()),
            (2, "only-where-faster is for static mode=qdq", ("--dynamic",)),
            (2, "only-where-faster is for static mode=qdq", ("--data", data, "--mode", "qlinear")),
            (2, "only-where-faster is for static mode=qdq", ("--weight-only", "4")),
            (2, "only-where-faster compares code of OnnxQuant", ("--data", data, "--for", "onnxruntime")),
            (2, "only-where-faster means nothing with a bound", ("--data", data, "--min-sqnr", "20")),
            (2, "checkpoint is for a search", ("--data", data, "--checkpoint", folder / "c.json")),
            (2, "nowhere", ("--data", data, "--target", "nowhere"))):
        out.unlink(missing_ok=True)
        result = quantize(model, "-o", out, "--only-where-faster", *arguments, status=status)
        if message not in result.stderr or out.exists():
            return f"{arguments}: {result.stderr[-300:]}, expected '{message}'"
    # A convolution with one output has next to no products for the numbers that it rounds.
    narrow = two_layers(folder / "narrow.onnx", wide=False)
    result = quantize(narrow, "--data", data, "-o", out, "--only-where-faster", *TARGET, status=1)
    if "is faster in 8 bits on x86-64-v3: keep the float model" not in result.stderr or out.exists():
        return result.stderr[-300:]
    return None


def kinds(path):
    """Convolutions whose input is quantized."""
    nodes = onnx.load(str(path)).graph.node
    made = {name for node in nodes if node.op_type == "DequantizeLinear" for name in node.output}
    return {node.name for node in nodes if node.op_type == "Conv" and node.input[0] in made}


def main():
    require_tools()
    pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    tally = Tally()
    for check in (check_weight, check_tensor, check_channels, check_sqnr, check_drop, check_agreement, check_latency, check_faster,
                  check_refusals, check_interrupt):
        name = check.__name__.removeprefix("check_")
        if not pattern.search(name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                problem = check(pathlib.Path(folder))
            except Exception as error:
                problem = f"{type(error).__name__}: {str(error)[:600]}"
        tally.result(name, problem)
    tally.finish()


if __name__ == "__main__":
    main()
