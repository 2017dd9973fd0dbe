#!/usr/bin/env -S /usr/bin/python3
"""bench/world on a folder of small models, and on one of the gallery where it has been fetched.

A convolution with a batch of open size, products of matrices, an If of which no sample takes one branch, a model that
isn't one. Figures must be there for each form, the failure must be named, and the page must have it all.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import ort
from support.harness import CACHE, ROOT, Tally, require_tools

WORLD = ROOT / "bench" / "world"
rng = np.random.default_rng(3)


def save(path, nodes, inputs, outputs, weights, opset=13):
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()]
    infos = [[helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in group] for group in (inputs, outputs)]
    graph = helper.make_graph(nodes, "g", *infos, tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), str(path))


def floats(*shape):
    return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)


def write_models(folder):
    save(folder / "picture.onnx",
         [helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1] * 4), helper.make_node("Relu", ["c"], ["r"], "relu"),
          helper.make_node("GlobalAveragePool", ["r"], ["p"], "pool"), helper.make_node("Flatten", ["p"], ["y"], "flat")],
         [("x", TensorProto.FLOAT, ["N", 3, 24, 24])], [("y", TensorProto.FLOAT, ["N", 16])], {"w": floats(16, 3, 3, 3)})
    save(folder / "words.onnx",
         [helper.make_node("Gather", ["t", "ids"], ["e"], "embed"), helper.make_node("MatMul", ["e", "a"], ["h"], "up"),
          helper.make_node("Tanh", ["h"], ["g"], "tanh"), helper.make_node("MatMul", ["g", "b"], ["y"], "down")],
         [("ids", TensorProto.INT64, ["N", "T"])], [("y", TensorProto.FLOAT, ["N", "T", 32])],
         {"t": floats(100, 32), "a": floats(32, 128), "b": floats(128, 32)})
    (folder / "below").mkdir()
    (folder / "below" / "broken.onnx").write_bytes(b"this is no model")


def run(*arguments):
    process = subprocess.run([WORLD, *map(str, arguments)], capture_output=True, text=True, timeout=600)
    return process.returncode, process.stdout + process.stderr


def main():
    require_tools()
    ort.require()
    tally = Tally()

    def check(name, good, detail=""):
        tally.result(name, None if good else str(detail)[-400:] or "not so")

    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        models, record, page = folder / "models", folder / "record.json", folder / "page.md"
        models.mkdir()
        write_models(models)
        status, said = run("--folder", models, "--seconds", 0.1, "--record", record, "--page", page)
        check("a broken model is a failure", status == 1 and "FAIL below-broken" in said, said)
        rows = json.loads(record.read_text())["models"] if record.exists() else {}
        check("every file has a row", sorted(rows) == ["below-broken", "picture", "words"], sorted(rows))
        for name in ("picture", "words"):
            row = rows.get(name, {"problems": ["no row"]})
            check(f"{name} has no problem", not row["problems"], row["problems"])
            check(f"{name} agrees in float", row.get("float", {}).get("db", 0) > 100, row.get("float"))
            for form in ("static", "dynamic") + (("4 bit",) if name == "words" else ()):
                check(f"{name} {form}", row.get(form, {}).get("db", 0) > (8 if form == "4 bit" else 25), row.get(form))
            times = row.get("threads", {}).get("1", {})
            check(f"{name} is timed", {"ours float", "ort float", "ours static", "ort every-op"} <= set(times), sorted(times))
        text = page.read_text() if page.exists() else ""
        check("the page has it", all(f"| {name} |" in text for name in ("picture", "words")) and "below-broken" in text, text)
        status, said = run("--folder", models, "--seconds", 0.1, "--no-speed", "--record", record, "--page", page, "picture")
        check("others are kept", "| words |" in page.read_text() and status == 1, said)
        status, said = run("--folder", models, "nothing")
        check("an unknown model", status == 2 and "words" in said, said)
        if (CACHE / "world" / "faceplugin-face-recognition-js").exists():
            status, said = run("--no-fetch", "--seconds", 0.1, "--page", page, "face-eye")
            check("one of the gallery", status == 0 and "| face-eye |" in page.read_text(), said)
        else:
            print("the gallery hasn't been fetched (scripts/setup.sh --gallery): its part is skipped")
            tally.skipped += 1
    tally.finish()


if __name__ == "__main__":
    sys.exit(main())
