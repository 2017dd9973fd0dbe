#!/usr/bin/env -S /usr/bin/python3
"""Models as ONNX Runtime's optimizers write them, at each level: imported, run and quantized.

The runtime writes real models of the cache and a small transformer, whose fused operators are
taken apart at import. Outputs of the compiled model are compared with the runtime's for the same
file; a model that is quantized afterwards, with ranges found at run time or by samples, must have as
many integer products as one that was never optimized, no higher opset than it needs, and its table of
embeddings in bytes. A pattern as argument chooses cases. Prints a line per failure, then the totals.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.harness import CACHE, MODELS, ONNXQ, Tally, require_tools
from support import ort

LEVELS = ("basic", "extended", "all")
OCR = MODELS / "@gutenye" / "ocr-models" / "assets"
VOICE = MODELS / "@ricky0123" / "vad-web" / "dist"
# So many that the table is worth storing in bytes.
WORDS = 5000
rng = np.random.default_rng(5)


def f32(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def transformer(folder):
    """Embeddings, attention with a mask, Gelu and normalizations in the parts that exporters write."""
    node, weights = helper.make_node, {}

    def constant(name, array):
        weights[name] = np.asarray(array)
        return name

    def norm(x, tag):
        mean, square = f"{tag}_mean", f"{tag}_square"
        return [node("ReduceMean", [x], [mean], axes=[-1]), node("Sub", [x, mean], [f"{tag}_d"]),
                node("Pow", [f"{tag}_d", constant("two", np.float32(2))], [square]),
                node("ReduceMean", [square], [f"{tag}_var"], axes=[-1]),
                node("Add", [f"{tag}_var", constant("eps", np.float32(1e-5))], [f"{tag}_e"]),
                node("Sqrt", [f"{tag}_e"], [f"{tag}_root"]), node("Div", [f"{tag}_d", f"{tag}_root"], [f"{tag}_n"]),
                node("Mul", [f"{tag}_n", constant(f"{tag}_g", f32(16))], [f"{tag}_s"]),
                node("Add", [f"{tag}_s", constant(f"{tag}_b", f32(16))], [tag])]

    nodes = [node("Gather", [constant("table", f32(WORDS, 16)), "ids"], ["x"], "embedding"), *norm("x", "n0")]
    for name in "qkv":
        nodes += [node("MatMul", ["n0", constant("w" + name, f32(16, 16, scale=0.3))], [name + "p"], "project_" + name),
                  node("Add", [name + "p", constant("b" + name, f32(16))], [name + "b"]),
                  node("Reshape", [name + "b", constant("cut", np.array([0, 0, 2, 8]))], [name + "r"]),
                  node("Transpose", [name + "r"], [name + "h"], perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3])]
    nodes += [node("MatMul", ["qh", "kh"], ["scores"], "scores"),
              node("Div", ["scores", constant("root", np.float32(np.sqrt(8)))], ["scaled"]),
              node("Add", ["scaled", "mask"], ["masked"]), node("Softmax", ["masked"], ["weights"], axis=3),
              node("MatMul", ["weights", "vh"], ["seen"], "seen"), node("Transpose", ["seen"], ["back"], perm=[0, 2, 1, 3]),
              node("Reshape", ["back", constant("join", np.array([0, 0, 16]))], ["joined"]),
              node("MatMul", ["joined", constant("wo", f32(16, 16, scale=0.3))], ["op"], "project_o"),
              node("Add", ["op", constant("bo", f32(16))], ["o"]), node("Add", ["o", "n0"], ["r1"]), *norm("r1", "n1"),
              node("MatMul", ["n1", constant("w1", f32(16, 32, scale=0.3))], ["p1"], "up"),
              node("Add", ["p1", constant("b1", f32(32))], ["h1"]),
              node("Div", ["h1", constant("root2", np.float32(np.sqrt(2)))], ["g1"]), node("Erf", ["g1"], ["g2"]),
              node("Add", ["g2", constant("one", np.float32(1))], ["g3"]), node("Mul", ["h1", "g3"], ["g4"]),
              node("Mul", ["g4", constant("half", np.float32(0.5))], ["gelu"]),
              node("MatMul", ["gelu", constant("w2", f32(32, 16, scale=0.3))], ["p2"], "down"),
              node("Add", ["p2", constant("b2", f32(16))], ["h2"]), node("Add", ["h2", "n1"], ["r2"]), *norm("r2", "y")]
    graph = helper.make_graph(
        nodes, "transformer",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", 7]),
         helper.make_tensor_value_info("mask", TensorProto.FLOAT, ["batch", 1, 1, 7])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 7, 16])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()])
    path = folder / "transformer.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=7), path)
    mask = np.where(np.arange(7) < 5, 0, -10000).astype(np.float32).reshape(1, 1, 1, 7)
    return path, {"ids": rng.integers(0, WORDS, (1, 7)), "mask": mask}


def cases(folder):
    """Name, model, feeds, and how many products the quantizer finds."""
    yield "transformer", *transformer(folder), 6
    if MODELS.is_dir():
        yield "cls", OCR / "ch_ppocr_mobile_v2.0_cls_infer.onnx", {"x": f32(1, 3, 48, 192)}, None
        yield "silero", VOICE / "silero_vad_v5.onnx", {
            "input": f32(1, 512, scale=0.1), "state": f32(2, 1, 128), "sr": np.array(16000)}, None


def signal_to_noise(expected, got):
    noise = ((expected.astype(float) - got) ** 2).sum()
    return 10 * np.log10((expected.astype(float) ** 2).sum() / max(noise, 1e-30))


def onnxq(*arguments):
    process = subprocess.run([ONNXQ, *map(str, arguments)], capture_output=True, text=True)
    if process.returncode:
        raise RuntimeError((process.stderr.strip() or "no message").splitlines()[0])


def check(folder, model, feeds, level, products):
    path = folder / "optimized.onnx"
    path.unlink(missing_ok=True)
    script = pathlib.Path(__file__).parent / "support" / "ort_optimize.js"
    subprocess.run(["node", script, model, level, path], check=True, capture_output=True,
                   env=dict(os.environ, ONNXQUANT_CACHE=str(CACHE)))
    arguments = []
    for name, array in feeds.items():
        np.save(folder / f"in_{name}.npy", array)
        arguments += ["--input", f"{name}={folder}/in_{name}.npy"]
    onnxq("run", path, *arguments, "--output-dir", folder, "--quiet")
    record = ort.outputs_of(folder, [(path, feeds)], "disabled")[0]
    names = [output.name for output in onnx.load(path).graph.output]
    worst = min(signal_to_noise(array, np.load(folder / f"{name}.npy")) for name, array in zip(names, record["arrays"]))
    if worst < 80:
        return f"{worst:.1f} dB to ONNX Runtime"
    if products is None:
        return None
    onnxq("quantize", path, "--dynamic", "--mode", "integer", "-o", folder / "int8.onnx", "--quiet")
    found = sum(node.op_type == "MatMulInteger" for node in onnx.load(folder / "int8.onnx").graph.node)
    if found != products:
        return f"{found} integer products, expected {products}"
    # By samples, the two products of attention itself as well.
    return static(folder, path, feeds, products + 2)


def static(folder, path, feeds, products):
    """Quantized by samples: products between integers, the table in bytes, and as good in the runtime as in our code."""
    target, data, more = folder / "static.onnx", folder / "data.npz", []
    for _ in range(8):
        more.append({"ids": rng.integers(0, WORDS, (1, 7)), "mask": feeds["mask"]})
    np.savez(data, **{name: np.stack([one[name] for one in more]) for name in feeds})
    onnxq("quantize", path, "--data", data, "-o", target, "--quiet", "--keep-cheap-in-float=false", "--weight-type", "u8")
    model = onnx.load(target)
    made = {node.output[0]: node.op_type for node in model.graph.node}
    found = sum(node.op_type in ("MatMul", "Gemm") and all(made.get(name) == "DequantizeLinear" for name in node.input[:2])
                for node in model.graph.node)
    if found != products:
        return f"static: {found} products of dequantized numbers, expected {products}"
    kinds = [tensor.data_type for tensor in model.graph.initializer if list(tensor.dims) == [WORDS, 16]]
    if kinds != [TensorProto.INT8]:
        return f"static: the table has types {kinds}"
    if model.opset_import[0].version > 13:
        return f"static: opset {model.opset_import[0].version}"
    for name, array in feeds.items():
        np.save(folder / f"in_{name}.npy", array)
    onnxq("run", target, *(word for name in feeds for word in ("--input", f"{name}={folder}/in_{name}.npy")), "--output-dir",
          folder, "--quiet")
    real, there = (ort.outputs_of(folder, [(file, feeds)], level)[0]["arrays"][0] for file, level in ((path, "disabled"), (target, "all")))
    near, here = signal_to_noise(real, there), signal_to_noise(real, np.load(folder / "y.npy"))
    return None if near > 20 and near > here - 1 else f"static: {near:.1f} dB in ONNX Runtime, {here:.1f} here"


def main():
    ort.require()
    require_tools()
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, model, feeds, products in cases(folder):
            for level in LEVELS:
                if not re.search(pattern, f"{name}/{level}"):
                    continue
                try:
                    tally.result(f"{name}/{level}", check(folder, model, feeds, level, products))
                except Exception as error:
                    tally.result(f"{name}/{level}", str(error)[:300])
    tally.finish()


if __name__ == "__main__":
    main()
