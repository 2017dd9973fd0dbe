#!/usr/bin/env -S /usr/bin/python3
"""Quantized models: the checker passes them, ONNX Runtime runs them, and our code gives what it gives.

Single layers must be equal to the bit where results are integers (shown as their dequantized floats), whole models
to 45 dB, or as near as ONNX Runtime is to itself if the last bit of a scale changes. Every form with weights per tensor and per channel, activations u8 and s8. The default run takes the digits
network through all of it and real models through some; --all takes every real model through all of it, text detection
at 640x640 or at --size N. A pattern chooses cases by name.
"""

import itertools
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import ort
from support import quantized_models as q
from support.harness import Tally, require_tools

FORMS = {
    "qdq": ["--mode", "qdq"],
    "qdq-every-op": ["--mode", "qdq", "--placement", "every-op"],
    "qlinear": ["--mode", "qlinear"],
    "qlinear-contrib": ["--mode", "qlinear", "--placement", "every-op", "--contrib-ops"],
    "integer": ["--mode", "integer"],
    "qdq-dynamic": ["--mode", "qdq", "--dynamic"],
    "qlinear-dynamic": ["--mode", "qlinear", "--dynamic"],
    "integer-dynamic": ["--mode", "integer", "--dynamic"],
}
# Twice as far, in decibels: that much is chance where a few steps differ at first.
MARGIN = 6
rng = np.random.default_rng(11)


def variants():
    """Forms with their options: (name, options)."""
    for form, channel, kind in itertools.product(FORMS, ("tensor", "channel"), ("u8", "s8")):
        if "dynamic" in form and kind == "s8":
            continue
        options = [*FORMS[form], f"--per-channel={'true' if channel == 'channel' else 'false'}", "--activation-type", kind]
        if kind == "s8":
            options += ["--weight-type", "s8"]
        yield f"{form}/{channel}/{kind}", options


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def layer(name, nodes, shape, weights, opset=13):
    """A model of one layer and a sample set for it."""
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(array, key) for key, array in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=4 if opset < 10 else 7)
    return name, model, f32(8, *shape[1:])


def layers():
    yield layer("conv", [helper.make_node("Conv", ["x", "w", "b"], ["y"], "conv", pads=[1, 1, 1, 1], strides=[2, 1])],
                [1, 6, 9, 8], {"w": f32(8, 6, 3, 3), "b": f32(8)})
    yield layer("depthwise", [helper.make_node("Conv", ["x", "w"], ["c"], "conv", group=6, pads=[1, 1, 1, 1]),
                              helper.make_node("Relu", ["c"], ["y"], "relu")], [1, 6, 9, 8], {"w": f32(6, 1, 3, 3)})
    yield layer("matmul", [helper.make_node("MatMul", ["x", "w"], ["y"], "matmul")], [1, 7, 12], {"w": f32(12, 5)})
    yield layer("matmul3d", [helper.make_node("MatMul", ["x", "w"], ["y"], "matmul")], [1, 2, 7, 12], {"w": f32(2, 12, 5)})
    yield layer("left", [helper.make_node("MatMul", ["w", "x"], ["y"], "matmul")], [1, 12, 5], {"w": f32(7, 12)})
    yield layer("gemm", [helper.make_node("Gemm", ["x", "w", "b"], ["y"], "gemm", transB=1)], [1, 12], {"w": f32(5, 12), "b": f32(5)})
    yield layer("einsum", [helper.make_node("Einsum", ["x", "w"], ["y"], "einsum", equation="bij,jk->bik")], [1, 7, 12], {"w": f32(12, 5)})
    yield layer("transposed", [helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], "up", strides=[2, 2])],
                [1, 6, 5, 4], {"w": f32(6, 4, 2, 2), "b": f32(4)})
    # Padding that follows from the result's size, and the other way round.
    for name, attributes in (("same-upper", {"auto_pad": "SAME_UPPER"}), ("same-lower", {"auto_pad": "SAME_LOWER"}),
                             ("output-shape", {"output_shape": [11, 8]})):
        yield layer(f"transposed-{name}", [helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], "up", strides=[2, 2], **attributes)],
                    [1, 6, 5, 4], {"w": f32(6, 4, 3, 3), "b": f32(4)})
    # Parts of one tensor that several kernels make, with a quantizer behind: the phases of an upsampling, which another
    # op reads as well, and the operands of a Concat.
    yield layer("phases", [helper.make_node("ConvTranspose", ["x", "w", "b"], ["u"], "up", strides=[2, 2]),
                           helper.make_node("Relu", ["u"], ["r"], "relu"),
                           helper.make_node("Conv", ["r", "v"], ["c"], "conv", pads=[1, 1, 1, 1]),
                           helper.make_node("Add", ["c", "r"], ["y"], "add")],
                [1, 6, 5, 4], {"w": f32(6, 16, 2, 2), "b": f32(16), "v": f32(16, 16, 3, 3)})
    yield layer("parts", [helper.make_node("Conv", ["x", "w"], ["c"], "left"), helper.make_node("Conv", ["x", "v"], ["d"], "right"),
                          helper.make_node("Concat", ["c", "d"], ["j"], "join", axis=1), helper.make_node("Relu", ["j"], ["r"], "relu"),
                          helper.make_node("ConvTranspose", ["r", "u"], ["y"], "up", strides=[2, 2])],
                [1, 6, 5, 4], {"w": f32(16, 6, 1, 1), "v": f32(16, 6, 1, 1), "u": f32(32, 16, 2, 2)})
    # The same without an op behind that both share: each operand has its own.
    gates = [node for name in "cd" for node in (helper.make_node("Sigmoid", [name], [f"{name}s"], f"{name}_sigmoid"),
                                                 helper.make_node("Mul", [name, f"{name}s"], [f"{name}m"], f"{name}_mul"))]
    yield layer("branches", [helper.make_node("Conv", ["x", "w"], ["c"], "left"), helper.make_node("Conv", ["x", "v"], ["d"], "right"),
                             *gates, helper.make_node("Concat", ["cm", "dm"], ["j"], "join", axis=1),
                             helper.make_node("Conv", ["j", "u"], ["y"], "last")],
                [1, 6, 7, 5], {"w": f32(16, 6, 1, 1), "v": f32(16, 6, 1, 1), "u": f32(16, 32, 1, 1)})
    yield layer("old", [helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv"), helper.make_node("Relu", ["c"], ["r"], "relu"),
                        helper.make_node("MaxPool", ["r"], ["p"], "pool", kernel_shape=[2, 2]),
                        helper.make_node("Conv", ["p", "v"], ["y"], "last")], [1, 3, 9, 8],
                {"w": f32(4, 3, 3, 3), "b": f32(4), "v": f32(2, 4, 1, 1)}, opset=8)


def ties(reference, other):
    """Largest difference in units of the last place that matter: of the largest number."""
    scale = max(np.abs(reference).max(), 1e-9)
    return np.abs(reference - other).max() / scale


def check_layer(tally, folder, name, model, data, variant, options):
    label = f"layer/{name}/{variant}"
    path, samples = folder / "layer.onnx", folder / "layer.npy"
    onnx.save(model, path)
    np.save(samples, data)
    target = folder / "layer.int8.onnx"
    try:
        # Scales that are found at run time take no samples; QLinear's outputs need some even then.
        from_samples = [] if "dynamic" in variant and "qlinear" not in variant else ["--data", samples]
        q.onnxq("quantize", path, *from_samples, "-o", target, "--quiet", *options)
        onnx.checker.check_model(onnx.load(target))
        x = f32(1, *data.shape[1:])
        theirs, as_users, plain = q.run_ort(folder, [(target, {"x": x}, level) for level in (q.level_for(options), "all", None)])
        ours = q.run_ours(folder, target, {"x": x})
    except Exception as error:
        return tally.result(label, str(error)[:300])
    if isinstance(theirs, str):
        if "NOT_IMPLEMENTED" in theirs or "Could not find an implementation" in theirs:
            print(f"{label}: ONNX Runtime has no kernel: {theirs[:120]}")
            in_float = q.run_ort(folder, [(path, {"x": x})])[0]
            return tally.result(label, None if q.sqnr(in_float["y"], ours["y"]) > 20 else "far from float")
        return tally.result(label, f"refused: {theirs[:200]}")
    if isinstance(as_users, str):
        return tally.result(label, f"refused when optimized: {as_users[:200]}")
    # Quantized results are the same integers; float ones may differ by the order of a sum.
    exact = variant.startswith("qlinear") and name in ("conv", "depthwise", "matmul", "matmul3d")
    difference = ties(theirs["y"], ours["y"])
    limit = 0 if exact else 1e-5
    # Optimized, the runtime rounds float biases between quantizers to 32 bits.
    if difference > limit and q.level_for(options) and not isinstance(plain, str):
        difference = min(difference, ties(plain["y"], ours["y"]))
    tally.result(label, None if difference <= limit else f"differs by {difference:.2g} of the largest number")


def check_model(tally, folder, subject, ready, table, variant, options):
    label = f"{subject.name}/{variant}"
    target = folder / "model.int8.onnx"
    dynamic = "dynamic" in variant and "qlinear" not in variant
    try:
        q.quantized(ready, None if dynamic else table, target, *options)
        feeds = subject.feeds(q.JUDGED[0])
        levels = q.levels_for(options)
        *results, as_users = q.run_ort(folder, [(target, feeds, level) for level in (*levels, "all")])
        theirs = dict(zip(levels, results))
        ours = q.run_ours(folder, target, feeds)
    except Exception as error:
        return tally.result(label, str(error)[:300])
    refusal = next((result for result in theirs.values() if isinstance(result, str)), None)
    if refusal:
        known = "NOT_IMPLEMENTED" in refusal or "Could not find an implementation" in refusal
        if known:
            print(f"{label}: ONNX Runtime has no kernel: {refusal[:120]}")
        return tally.result(label, None if known else f"refused: {refusal[:200]}")
    if isinstance(as_users, str):
        return tally.result(label, f"refused when optimized: {as_users[:200]}")
    try:
        tally.result(label, compare(folder, label, target, feeds, theirs, ours))
    except Exception as error:
        tally.result(label, str(error)[:300])


def compare(folder, label, target, feeds, theirs, ours):
    """What is wrong with our results, given those of ONNX Runtime by level; None if nothing is.

    They agree to 45 dB with one of them, or as well as ONNX Runtime agrees with itself; then all that lies between two
    quantizers agrees to 90 dB.
    """
    worst = {level: min(q.sqnr(result[name], ours[name]) for name in result) for level, result in theirs.items()}
    level, best = max(worst.items(), key=lambda item: item[1])
    if best >= 45:
        print(f"{label}: {best:.1f} dB", flush=True)
        return None
    own = q.apart(folder, target, feeds, theirs)
    # Optimized, the runtime rounds float biases between quantizers to 32 bits.
    cut = max(q.cut_at_quantizers(folder, target, feeds, level) for level in theirs)
    print(f"{label}: {best:.1f} dB, ONNX Runtime {own:.1f} dB from itself, {cut:.1f} dB from quantizer to quantizer", flush=True)
    if cut < 90:
        return f"{best:.1f} dB between ONNX Runtime and our code, {cut:.1f} dB from quantizer to quantizer"
    return None if best >= own - MARGIN else f"{best:.1f} dB between ONNX Runtime and our code, {own:.1f} dB between it and itself"


def main():
    require_tools()
    ort.require()
    everything = "--all" in sys.argv
    pattern = next((a for a in sys.argv[1:] if not a.startswith("-") and not a.isdigit()), "")
    size = int(sys.argv[sys.argv.index("--size") + 1]) if "--size" in sys.argv else 640 if everything else 64
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        chosen = list(variants())
        for index, (name, model, data) in enumerate(layers()):
            for number, (variant, options) in enumerate(chosen):
                # Each layer meets half of the variants by default, neighbours the other half.
                if not everything and (index + number) % 2:
                    continue
                if re.search(pattern, f"layer/{name}/{variant}"):
                    check_layer(tally, folder, name, model, data, variant, options)
        models = q.subjects(det_size=size)
        plan = {"digits": None, "cls": ["qdq/channel/u8", "qlinear/channel/u8"], "det": ["qdq/channel/u8"]}
        for name in models if everything else plan:
            wanted = [(v, o) for v, o in chosen if (everything or plan[name] is None or v in plan[name])
                      and re.search(pattern, f"{name}/{v}")]
            if not wanted:
                continue
            ready, table = q.calibrated(models[name], folder)
            for variant, options in wanted:
                check_model(tally, folder, models[name], ready, table, variant, options)
    tally.finish()


if __name__ == "__main__":
    main()
