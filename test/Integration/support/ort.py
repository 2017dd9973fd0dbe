"""ONNX Runtime as the judge: pairs of models compared by ort_compare.js, outputs by ort_run.js.

Python reads the inputs (TensorProto or arrays) and hands them over as raw bytes,
so that the node side knows no protobuf. A crash of the runtime ends only the
case it happened in.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import onnx
from onnx import numpy_helper

from support.harness import CACHE, MODELS

SCRIPT = pathlib.Path(__file__).with_name("ort_compare.js")
RUNNER = pathlib.Path(__file__).with_name("ort_run.js")


def available():
    return shutil.which("node") is not None and (MODELS / "onnxruntime-node").is_dir()


def require():
    """Ends a suite that is nothing without the runtime, where it isn't there."""
    if available():
        return
    print("skipped: ONNX Runtime isn't there")
    print("0 passed, 0 failed")
    sys.exit(0)


def data_set(model_path):
    """A backend case's inputs and expected outputs, each as {name: array}."""
    model = onnx.load(model_path, load_external_data=False)
    folder = pathlib.Path(model_path).parent / "test_data_set_0"

    def read(infos, stem):
        arrays = {}
        for index, info in enumerate(infos):
            path = folder / f"{stem}_{index}.pb"
            if not path.exists():
                break
            if info.type.WhichOneof("value") != "tensor_type":
                raise ValueError("other than tensors")
            tensor = onnx.TensorProto.FromString(path.read_bytes())
            if tensor.data_type == onnx.TensorProto.BFLOAT16:
                raise ValueError("bfloat16")
            if tensor.data_type == onnx.TensorProto.STRING:
                raise ValueError("strings")
            arrays[info.name] = numpy_helper.to_array(tensor)
        return arrays

    inputs = read(model.graph.input, "input")
    try:
        return inputs, read(model.graph.output, "output")
    except ValueError:
        return inputs, {}


class Batch:
    """Pairs to compare; `run` gives {name: (result, detail)} as ort_compare.js documents."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.jobs = []
        self.data = open(self.folder / "inputs.bin", "wb")

    def add(self, name, original, exported, inputs, expected):
        self.jobs.append({
            "name": name, "original": str(original), "exported": str(exported),
            "inputs": self.store(inputs), "expected": self.store(expected),
        })

    def store(self, arrays):
        stored = []
        for name, array in arrays.items():
            raw = numpy.ascontiguousarray(array).tobytes()
            stored.append({
                "name": name, "type": array.dtype.name, "dims": list(array.shape),
                "offset": self.data.tell(), "bytes": len(raw),
            })
            self.data.write(raw)
        return stored

    def run(self):
        self.data.close()
        jobs = self.folder / "jobs.jsonl"
        jobs.write_text("".join(json.dumps(job) + "\n" for job in self.jobs))
        results, first = {}, 0
        environment = dict(os.environ, ONNXQUANT_CACHE=str(CACHE))
        while first < len(self.jobs):
            process = subprocess.run(
                ["node", SCRIPT, jobs, self.data.name, str(first)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", env=environment,
            )
            stage = None
            for line in process.stdout.splitlines():
                record = json.loads(line)
                stage = record
                if "result" in record:
                    results[self.jobs[record["index"]]["name"]] = (record["result"], record.get("detail", ""))
                    first = record["index"] + 1
            if first < len(self.jobs):
                if stage is None or "result" in stage:
                    last = (process.stderr.strip() or "no output").splitlines()[-1]
                    raise RuntimeError(f"ort_compare.js stopped: {last}")
                crash = "refused" if stage["begin"] == "original" else "broken"
                results[self.jobs[first]["name"]] = (crash, f"the runtime crashed ({process.returncode})")
                first += 1
        return results


def store_arrays(file, arrays):
    stored = []
    for name, array in arrays.items():
        raw = numpy.ascontiguousarray(array).tobytes()
        stored.append({"name": name, "type": array.dtype.name, "dims": list(array.shape),
                       "offset": file.tell(), "bytes": len(raw)})
        file.write(raw)
    return stored


def outputs_of(folder, jobs, level="disabled"):
    """What ONNX Runtime gives for each job at a level of optimization, or why it refuses.

    Without VNNI its products of bytes saturate in 16 bits; most are exact from level `extended` on."""
    with open(folder / "inputs.bin", "wb") as data:
        lines = [json.dumps({"model": str(model), "level": level, "inputs": store_arrays(data, feeds)}) for model, feeds in jobs]
    (folder / "jobs.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "outputs.bin").write_bytes(b"")
    results = [None] * len(jobs)
    first = 0
    while first < len(jobs):
        process = subprocess.run(
            ["node", RUNNER, folder / "jobs.jsonl", folder / "inputs.bin", folder / "outputs.bin", str(first)],
            capture_output=True, text=True, env=dict(os.environ, ONNXQUANT_CACHE=str(CACHE)))
        for line in process.stdout.splitlines():
            record = json.loads(line)
            results[record["index"]] = record
            first = record["index"] + 1
        if first < len(jobs) and results[first] is None and process.returncode:
            results[first] = {"refusal": f"the runtime ended with {process.returncode}"}
            first += 1
    raw = (folder / "outputs.bin").read_bytes()
    for record in results:
        if "outputs" in record:
            record["arrays"] = [
                numpy.frombuffer(raw, t["type"], int(numpy.prod(t["dims"], dtype=int)), t["offset"]).reshape(t["dims"])
                for t in record["outputs"]]
    return results
