#!/usr/bin/env -S /usr/bin/python3
"""onnxq evaluate: scores against plain loops in Python, for classes, boxes and likeness.

COCO's metric is computed again here from its definition, without sharing anything with the code under test, on random
boxes with crowds, ties and all sizes. A pattern chooses cases.
"""

import gzip
import json
import pathlib
import re
import struct
import sys
import tempfile
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.harness import ONNXQ, ROOT, Tally, require_tools, run

rng = np.random.default_rng(9)
DIGITS = ROOT / "examples" / "digits"


def save(path, nodes, weights, shape, opset=13):
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7), path)
    return path


def evaluate(*arguments):
    result = run([ONNXQ, "evaluate", *map(str, arguments), "--json"], timeout=300)
    if result.status:
        raise RuntimeError(f"{result.ended()}: {result.stderr[-400:]}")
    return json.loads(result.stdout)


def close(got, wanted, limit=1e-6):
    for name, value in wanted.items():
        if got[name] is None or abs(got[name] - value) > limit:
            return f"{name}: {got[name]}, expected {value}"
    return None


# Classes


def scores(folder, count=40, classes=12):
    """A model that multiplies, samples, labels, and what the scores must be."""
    weights, samples = rng.standard_normal((6, classes)).astype(np.float32), rng.standard_normal((count, 6)).astype(np.float32)
    save(folder / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"], "m")], {"w": weights}, ["n", 6])
    np.save(folder / "x.npy", samples)
    logits = samples @ weights
    labels = rng.integers(0, classes, count)
    order = np.argsort(-logits, axis=1, kind="stable")
    return labels, {"top1": float((order[:, 0] == labels).mean()), "top5": float((order[:, :5] == labels[:, None]).any(1).mean())}


def check_label_files(folder):
    labels, wanted = scores(folder)
    (folder / "lines.txt").write_text("# labels\n" + "\n".join(map(str, labels)) + "\n")
    np.save(folder / "labels.npy", labels)
    header = struct.pack(">HBBI", 0, 8, 1, len(labels)) + labels.astype(np.uint8).tobytes()
    (folder / "labels.idx").write_bytes(header)
    (folder / "labels.gz").write_bytes(gzip.compress(header))
    for name in ("lines.txt", "labels.npy", "labels.idx", "labels.gz"):
        for batch in (1, 7):
            got = evaluate(folder / "m.onnx", "--data", folder / "x.npy", "--labels", folder / name, "--batch", batch)
            if problem := close(got, wanted):
                return f"{name}, batch {batch}: {problem}"
            if got["samples"] != 40 or got["latency_ms"]["median"] <= 0:
                return f"{name}: {got}"
    part = evaluate(folder / "m.onnx", "--data", folder / "x.npy", "--labels", folder / "lines.txt", "--start", 3, "--stride", 2, "--limit", 10)
    return None if part["samples"] == 10 else f"{part['samples']} samples of 10"


def png(path, gray):
    """A gray picture, written by hand."""
    height, width = gray.shape
    rows = b"".join(b"\0" + gray[y].astype(np.uint8).tobytes() for y in range(height))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def check_folders(folder):
    """A class per folder: by place, and by number; and lines with names."""
    pick = np.zeros((4, 2), np.float32)
    pick[0, 0] = pick[3, 1] = 1
    save(folder / "m.onnx", [helper.make_node("Flatten", ["x"], ["f"], "flat"), helper.make_node("MatMul", ["f", "w"], ["y"], "m")],
         {"w": pick}, [1, 1, 2, 2])
    lines = []
    for kind, names in enumerate((("ants", "0"), ("bees", "1"))):
        for root, name in zip(("names", "numbers"), names):
            (folder / root / name).mkdir(parents=True)
            for i in range(3):
                # The third of the first class looks like the second.
                bright = kind if (kind, i) != (0, 2) else 1
                image = np.zeros((2, 2))
                image[bright, bright] = 200
                png(folder / root / name / f"{name}{i}.png", image)
                if root == "names":
                    lines.append(f"{name}/{name}{i}.png {kind}")
    (folder / "list.txt").write_text("\n".join(lines[::-1]))
    options = [["--data", folder / "names"], ["--data", folder / "numbers"], ["--data", folder / "names", "--labels", folder / "list.txt"]]
    for each in options:
        got = evaluate(folder / "m.onnx", *each, "--metric", "top1")
        if problem := close(got, {"top1": 5 / 6}):
            return f"{each}: {problem}"
    return None


def check_digits(folder):
    """The network that reads digits, float beside int8, against scores computed from its outputs."""
    model, quant = DIGITS / "digits.onnx", folder / "q.onnx"
    result = run([ONNXQ, "quantize", str(model), "--data", str(DIGITS / "calibration-images.idx.gz"), "--scale", "0.003921569", "-o", str(quant), "--quiet"])
    if result.status:
        return result.stderr
    got = evaluate(quant, "--reference", model, "--data", DIGITS / "test-images.idx.gz", "--labels", DIGITS / "test-labels.idx.gz",
                   "--scale", "0.003921569")
    raw = gzip.decompress((DIGITS / "test-images.idx.gz").read_bytes())
    images = np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 1, 28, 28).astype(np.float32) * np.float32(0.003921569)
    labels = np.frombuffer(gzip.decompress((DIGITS / "test-labels.idx.gz").read_bytes()), np.uint8, offset=8)
    np.save(folder / "x.npy", images)
    outputs = []
    for path in (quant, model):
        target = folder / f"out-{path.name}"
        target.mkdir()
        run([ONNXQ, "run", str(path), "--input", f"image={folder / 'x.npy'}", "--output-dir", str(target)])
        outputs.append(np.load(target / "logits.npy").astype(np.float64))
    mine, theirs = outputs
    wanted = {"top1": float((mine.argmax(1) == labels).mean())}
    against = {"sqnr": 20 * np.log10(np.linalg.norm(theirs) / np.linalg.norm(theirs - mine)),
               "cosine": float((mine.ravel() @ theirs.ravel()) / np.linalg.norm(mine) / np.linalg.norm(theirs)),
               "agreement": float((mine.argmax(1) == theirs.argmax(1)).mean())}
    print(f"digits: float {got['reference']['top1']:.4f}, int8 {got['top1']:.4f}, {got['against_reference']['sqnr']:.1f} dB", flush=True)
    return close(got, wanted) or close(got["against_reference"], against, 1e-3) or close(
        got["reference"], {"top1": float((theirs.argmax(1) == labels).mean())})


def check_library(folder):
    """A compiled library scores as its model does."""
    labels, wanted = scores(folder)
    np.save(folder / "labels.npy", labels)
    result = run([ONNXQ, "compile", str(folder / "m.onnx"), "--dim", "n=1", "-o", str(folder / "m.so")])
    if result.status:
        return result.stderr
    return close(evaluate(folder / "m.so", "--data", folder / "x.npy", "--labels", folder / "labels.npy"), wanted)


def check_ragged(folder):
    """Samples of several sizes: by a model, which is compiled anew for them, and by a library with open sizes."""
    weights = rng.standard_normal((4, 3)).astype(np.float32)
    model = save(folder / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"], "m")], {"w": weights}, [1, "length", 4])
    other = save(folder / "o.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"], "m")], {"w": weights * np.float32(1.1)}, [1, "length", 4])
    (folder / "data").mkdir()
    lengths = (5, 5, 7, 3)
    arrays = [rng.standard_normal((1, length, 4)).astype(np.float32) for length in lengths]
    for i, array in enumerate(arrays):
        np.save(folder / "data" / f"{i}.npy", array)
    result = run([ONNXQ, "compile", str(other), "-o", str(folder / "o.so")])
    if result.status:
        return result.stderr
    for path in (other, folder / "o.so"):
        got = evaluate(path, "--reference", model, "--data", folder / "data", "--metric", "sqnr,agreement")
        if got["samples"] != 4 or got["against_reference"]["agreement_rows"] != sum(lengths):
            return f"{path.name}: {got['samples']} samples, {got['against_reference']}"
        if problem := close(got["against_reference"], {"sqnr": 20, "agreement": 1, "equal_samples": 1}, 1e-3):
            return f"{path.name}: {problem}"
    return None


def check_agreement(folder):
    """Along the last axis; and unasked only where there are classes."""
    def model(name, nodes, weights, shape):
        return save(folder / name, nodes, weights, shape)

    wanted = {}
    w = rng.standard_normal((6, 5)).astype(np.float32)
    noisy = w + rng.standard_normal(w.shape).astype(np.float32) * np.float32(0.4)
    x = rng.standard_normal((4, 3, 6)).astype(np.float32)
    np.save(folder / "x.npy", x)
    first, second = (x @ w).argmax(-1), (x @ noisy).argmax(-1)
    wanted = {"agreement": float((first == second).mean()), "equal_samples": float((first == second).all(1).mean()), "agreement_rows": 12}
    if not 0 < wanted["agreement"] < 1:
        return f"the case says nothing: {wanted}"
    softmax = lambda weights: [helper.make_node("MatMul", ["x", "w"], ["m"], "m"), helper.make_node("Softmax", ["m"], ["y"], "s", axis=2)]
    a, b = model("a.onnx", softmax(w), {"w": w}, [1, 3, 6]), model("b.onnx", softmax(noisy), {"w": noisy}, [1, 3, 6])
    got = evaluate(b, "--reference", a, "--data", folder / "x.npy")["against_reference"]
    if problem := close(got, wanted):
        return problem
    # Rows that are no probabilities mean nothing by themselves, but one may ask.
    plain = [helper.make_node("MatMul", ["x", "w"], ["y"], "m")]
    a, b = model("a.onnx", plain, {"w": w}, [1, 3, 6]), model("b.onnx", plain, {"w": noisy}, [1, 3, 6])
    if "agreement" in evaluate(b, "--reference", a, "--data", folder / "x.npy")["against_reference"]:
        return "agreement of hidden states is told"
    if problem := close(evaluate(b, "--reference", a, "--data", folder / "x.npy", "--metric", "agreement")["against_reference"], wanted):
        return f"asked for: {problem}"
    # A map, and a single number.
    np.save(folder / "p.npy", rng.standard_normal((3, 1, 4, 4)).astype(np.float32))
    a = model("a.onnx", [helper.make_node("Sigmoid", ["x"], ["y"], "s")], {}, [1, 1, 4, 4])
    if "agreement" in evaluate(a, "--reference", a, "--data", folder / "p.npy")["against_reference"]:
        return "agreement of a map is told"
    a = model("a.onnx", [helper.make_node("ReduceMean", ["x"], ["y"], "r", axes=[1, 2, 3], keepdims=0)], {}, [1, 1, 4, 4])
    if "agreement" in evaluate(a, "--reference", a, "--data", folder / "p.npy")["against_reference"]:
        return "agreement of one number is told"
    result = run([ONNXQ, "evaluate", str(a), "--reference", str(a), "--data", str(folder / "p.npy"), "--metric", "agreement"])
    return None if result.status == 1 and "last axis" in result.stderr else f"one number: {result.ended()} {result.stderr[:200]}"


# Boxes


def overlap(a, b, crowd):
    w = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    h = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    return w * h / (a[2] * a[3] if crowd else a[2] * a[3] + b[2] * b[3] - w * h)


def coco(truths, found, images):
    """The metric from its definition, one number at a time."""
    thresholds, recalls = np.linspace(0.5, 0.95, 10), np.linspace(0, 1, 101)
    sizes = {"all": (0, 1e10), "small": (0, 32**2), "medium": (32**2, 96**2), "large": (96**2, 1e10)}
    kinds = sorted({t["category_id"] for t in truths})

    def matched(kind, size, threshold, most):
        """(score, hit or not or None) of all detections, and the number of boxes to find."""
        low, high = sizes[size]
        judged, count = [], 0
        for image in images:
            there = [t for t in truths if t["image_id"] == image and t["category_id"] == kind]
            aside = [t["iscrowd"] or not low <= t["area"] <= high for t in there]
            count += aside.count(False)
            free = [True] * len(there)
            mine = sorted((d for d in found if d["image_id"] == image and d["category_id"] == kind), key=lambda d: -d["score"])[:100]
            for rank, detection in enumerate(mine):
                best = None
                for wanted in (False, True):
                    if best is not None:
                        break
                    level = threshold
                    for i, t in enumerate(there):
                        if aside[i] != wanted or (not free[i] and not t["iscrowd"]):
                            continue
                        value = overlap(detection["bbox"], t["bbox"], t["iscrowd"])
                        if value >= level:
                            level, best = value, i
                if best is not None:
                    free[best] = False
                    hit = None if aside[best] else True
                else:
                    area = detection["bbox"][2] * detection["bbox"][3]
                    hit = False if low <= area <= high else None
                if rank < most:
                    judged.append((detection["score"], hit))
        return judged, count

    def precision(kind, size, threshold):
        judged, count = matched(kind, size, threshold, 100)
        if not count:
            return None
        curve, hits, misses = [], 0, 0
        for _, hit in sorted(judged, key=lambda j: -j[0]):
            hits, misses = hits + (hit is True), misses + (hit is False)
            curve.append((hits / count, hits / (hits + misses + np.spacing(1))))
        return float(np.mean([max((p for r, p in curve if r >= point), default=0) for point in recalls]))

    def recall(kind, size, threshold, most):
        judged, count = matched(kind, size, threshold, most)
        return sum(hit is True for _, hit in judged) / count if count else None

    def mean(values):
        values = [v for v in values if v is not None]
        return float(np.mean(values)) if values else -1.0

    def ap(size, levels=thresholds):
        return mean(precision(k, size, t) for k in kinds for t in levels)

    def ar(size, most):
        return mean(recall(k, size, t, most) for k in kinds for t in thresholds)

    return {"AP": ap("all"), "AP50": ap("all", thresholds[:1]), "AP75": ap("all", thresholds[5:6]), "AP_small": ap("small"),
            "AP_medium": ap("medium"), "AP_large": ap("large"), "AR_1": ar("all", 1), "AR_10": ar("all", 10), "AR_100": ar("all", 100),
            "AR_small": ar("small", 100), "AR_medium": ar("medium", 100), "AR_large": ar("large", 100)}


def random_boxes(images=6, kinds=3):
    truths, found = [], []
    for image in range(1, images + 1):
        for kind in range(1, kinds + 1):
            for _ in range(rng.integers(0, 5)):
                w, h = (float(v) for v in np.exp(rng.uniform(2, 5.5, 2)))
                x, y = (float(v) for v in rng.uniform(0, 400, 2))
                truths.append({"image_id": image, "category_id": kind, "bbox": [x, y, w, h], "area": w * h, "iscrowd": int(rng.random() < 0.12)})
                for _ in range(rng.integers(0, 3)):
                    shift = rng.normal(0, 0.12, 4)
                    found.append({"image_id": image, "category_id": kind if rng.random() < 0.9 else int(rng.integers(1, kinds + 1)),
                                  "bbox": [x + shift[0] * w, y + shift[1] * h, w * float(np.exp(shift[2])), h * float(np.exp(shift[3]))],
                                  "score": float(rng.random())})
    return truths, found


def write_coco(folder, truths, found, images, **more):
    numbered = [{**t, "id": i} for i, t in enumerate(truths)]
    (folder / "truth.json").write_text(json.dumps({"images": images, "annotations": numbered, **more}))
    if found is not None:
        (folder / "found.json").write_text(json.dumps(found))


def check_coco(folder):
    for case in range(6):
        truths, found = random_boxes(kinds=2 + case % 3)
        write_coco(folder, truths, found, [{"id": i} for i in range(1, 7)])
        got = evaluate("--detections", folder / "found.json", "--labels", folder / "truth.json")
        if problem := close(got["coco"], coco(truths, found, range(1, 7)), 1e-9):
            return f"case {case}: {problem}"
    return None


def check_coco_published(folder):
    """The example of the metric's description in torchmetrics: 0.6 with one box, found at six of ten thresholds."""
    write_coco(folder, [{"image_id": 1, "category_id": 0, "bbox": [214, 41, 348, 244]}],
               [{"image_id": 1, "category_id": 0, "bbox": [258, 41, 348, 244], "score": 0.536}], [{"id": 1}])
    got = evaluate("--detections", folder / "found.json", "--labels", folder / "truth.json")["coco"]
    return close(got, {"AP": 0.6, "AP50": 1, "AP75": 1, "AP_small": -1, "AP_medium": -1, "AP_large": 0.6, "AR_1": 0.6, "AR_10": 0.6,
                       "AR_100": 0.6, "AR_small": -1, "AR_medium": -1, "AR_large": 0.6})


def check_yolo(folder):
    """A model that gives fixed boxes, in each format; pictures of other sizes than its input."""
    (folder / "images").mkdir()
    for name in ("a", "b"):
        png(folder / "images" / f"{name}.png", np.zeros((32, 64)))
    images = [{"id": 7, "file_name": "a.png", "width": 128, "height": 64}, {"id": 9, "file_name": "b.png", "width": 64, "height": 64}]
    categories = [{"id": 3, "name": "three"}, {"id": 5, "name": "five"}]
    # In the input's pixels: one box of each class, and one that overlaps the first.
    boxes = [(16, 16, 12, 20, 0, 0.9), (16.5, 16, 12, 20, 0, 0.6), (24, 8, 8, 8, 1, 0.8)]
    truths = []
    for image in images:
        across, down = image["width"] / 32, image["height"] / 32
        for x, y, w, h, kind, _ in (boxes[0], boxes[2]):
            truths.append({"image_id": image["id"], "category_id": categories[kind]["id"],
                           "bbox": [(x - w / 2) * across, (y - h / 2) * down, w * across, h * down]})
    write_coco(folder, truths, None, images, categories=categories)
    v5, v8 = np.zeros((1, 4, 7), np.float32), np.zeros((1, 6, 4), np.float32)
    yolox = np.zeros((1, 21, 7), np.float32)
    for i, (x, y, w, h, kind, score) in enumerate(boxes):
        v5[0, i] = [x, y, w, h, 1, *(score if k == kind else 0 for k in (0, 1))]
        v8[0, :, i] = [x, y, w, h, *(score if k == kind else 0 for k in (0, 1))]
        yolox[0, i] = [x / 8 - i % 4, y / 8, np.log(w / 8), np.log(h / 8), 1, *(score if k == kind else 0 for k in (0, 1))]
    for form, output in (("yolov5", v5), ("yolov8", v8), ("yolox", yolox)):
        model = save(folder / "m.onnx", [helper.make_node("ReduceSum", ["x"], ["s"], "sum", keepdims=0),
                                         helper.make_node("Mul", ["s", "zero"], ["z"], "mul"), helper.make_node("Add", ["z", "out"], ["y"], "add")],
                     {"zero": np.float32(0), "out": output}, [1, 3, 32, 32])
        options = ["--data", folder / "images", "--labels", folder / "truth.json", "--boxes", form, "--score", 0.1]
        got = evaluate(model, *options, "--save-detections", folder / "found.json")
        if problem := close(got["coco"], {"AP": 1, "AR_100": 1}):
            return f"{form}: {problem}"
        found = json.loads((folder / "found.json").read_text())
        if len(found) != 4:
            return f"{form}: {len(found)} boxes, expected 4"
        again = evaluate("--detections", folder / "found.json", "--labels", folder / "truth.json")
        if again["coco"] != got["coco"]:
            return f"{form}: the saved boxes score otherwise"
        kept = evaluate(model, *options, "--overlap", 0.99)
        if kept["coco"]["AP"] > 1 or kept["samples"] != 2:
            return f"{form}: {kept}"
    return None


def constant_outputs(path, arrays, shape):
    """A model that gives these arrays, whatever it is given."""
    nodes = [helper.make_node("ReduceSum", ["x"], ["s"], "sum", keepdims=0), helper.make_node("Mul", ["s", "zero"], ["z"], "mul")]
    weights = {"zero": np.float32(0)}
    for name, array in arrays.items():
        weights[f"{name}_c"] = array
        nodes.append(helper.make_node("Add", ["z", f"{name}_c"], [name], f"add_{name}"))
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))],
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in arrays],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path)
    return path


def logit(p):
    return float(np.log(p / (1 - p)))


def heads_of(boxes, classes, size, anchors):
    """Three heads [1, 3 * (5 + classes), rows, columns] that decode to these boxes: center, size, class, score."""
    heads = {}
    for level, step in enumerate((8, 16, 32)):
        cells = size // step
        heads[step] = np.full((3, 5 + classes, cells, cells), -20, np.float32)
    for number, (x, y, w, h, kind, score) in enumerate(boxes):
        step = (8, 16, 32)[number % 3]
        column, row, anchor = int(x // step), int(y // step), number % 3
        aw, ah = anchors[(8, 16, 32).index(step) * 3 + anchor]
        cell = heads[step][anchor, :, row, column]
        cell[:5] = logit(x / step - column), logit(y / step - row), np.log(w / aw), np.log(h / ah), logit(0.999)
        cell[5 + kind] = logit(score / 0.999)
    return {f"head{step}": head.reshape(1, -1, *head.shape[2:]) for step, head in heads.items()}


COCO_ANCHORS = [(10, 13), (16, 30), (33, 23), (30, 61), (62, 45), (59, 119), (116, 90), (156, 198), (373, 326)]


def check_yolo_forms(folder):
    """YOLOv3's three heads, YOLOv10's final boxes, YOLOv11's columns; pictures stretched, and in a letterbox."""
    images = [{"id": 4, "file_name": "a.png", "width": 128, "height": 64}, {"id": 6, "file_name": "b.png", "width": 60, "height": 90}]
    categories = [{"id": 3, "name": "three"}, {"id": 5, "name": "five"}]
    size = 64
    boxes = [(20, 30, 12, 20, 0, 0.9), (35.5, 28, 30, 16, 1, 0.8), (44, 34, 18, 14, 0, 0.7)]
    np.save(folder / "x.npy", np.zeros((2, 3, size, size), np.float32))
    (folder / "images").mkdir()
    for image in images:
        png(folder / "images" / image["file_name"], np.zeros((image["height"], image["width"])))
    final = np.zeros((1, 300, 6), np.float32)
    columns = np.zeros((1, 6, 40), np.float32)
    for i, (x, y, w, h, kind, score) in enumerate(boxes):
        final[0, i] = [x - w / 2, y - h / 2, x + w / 2, y + h / 2, score, kind]
        columns[0, :, i] = [x, y, w, h, *(score if k == kind else 0 for k in (0, 1))]
    own = [(a * 0.5, b * 0.5) for a, b in COCO_ANCHORS]
    anchors = ["--anchors", ",".join(str(v) for pair in own for v in pair)]
    swapped = dict(reversed(heads_of(boxes, 2, size, COCO_ANCHORS).items()))
    last = {name: np.ascontiguousarray(head.transpose(0, 2, 3, 1)) for name, head in swapped.items()}
    forms = [("yolov3", swapped, []), ("yolov3", last, []), ("yolov3", heads_of(boxes, 2, size, own), anchors), ("yolov10", {"y": final}, []),
             ("yolov11", {"y": columns}, [])]

    def placed(image, fit):
        """Factors and border of a picture in the input."""
        if fit == "stretch":
            return size / image["width"], size / image["height"], 0, 0
        factor = min(size / image["width"], size / image["height"])
        w, h = round(image["width"] * factor), round(image["height"] * factor)
        return w / image["width"], h / image["height"], (size - w) // 2 if fit == "letterbox" else 0, (size - h) // 2 if fit == "letterbox" else 0

    for form, outputs, extra in forms:
        model = constant_outputs(folder / "m.onnx", outputs, [1, 3, size, size])
        for fit in ("stretch", "letterbox", "top-left"):
            truths = []
            for image in images:
                fx, fy, left, top = placed(image, fit)
                for x, y, w, h, kind, _ in boxes:
                    truths.append({"image_id": image["id"], "category_id": categories[kind]["id"], "bbox": [(x - w / 2 - left) / fx, (y - h / 2 - top) / fy, w / fx, h / fy]})
            write_coco(folder, truths, None, images, categories=categories)
            got = evaluate(model, "--data", folder / "x.npy", "--labels", folder / "truth.json", "--boxes", form, "--score", 0.1, "--fit", fit, *extra, "--save-detections",
                           folder / "found.json")
            if problem := close(got["coco"], {"AP": 1, "AR_100": 1}):
                return f"{form}, {fit}: {problem}"
            if len(json.loads((folder / "found.json").read_text())) != 6:
                return f"{form}, {fit}: {len(json.loads((folder / 'found.json').read_text()))} boxes, expected 6"
    # Images that are put into the input here: what was done to them is known.
    model = constant_outputs(folder / "m.onnx", {"y": final}, [1, 3, size, size])
    for options, fit in (([], "stretch"), (["--letterbox"], "letterbox"), (["--letterbox", "--pad-at", "corner"], "top-left")):
        truths = []
        for image in images:
            fx, fy, left, top = placed(image, fit)
            truths += [{"image_id": image["id"], "category_id": categories[kind]["id"], "bbox": [(x - w / 2 - left) / fx, (y - h / 2 - top) / fy, w / fx, h / fy]} for x, y, w, h, kind, _ in boxes]
        write_coco(folder, truths, None, images, categories=categories)
        got = evaluate(model, "--data", folder / "images", "--labels", folder / "truth.json", "--boxes", "yolov10", "--score", 0.1, *options)
        if problem := close(got["coco"], {"AP": 1, "AR_100": 1}):
            return f"images, {fit}: {problem}"
    result = run([ONNXQ, "evaluate", str(model), "--data", str(folder / "images"), "--labels", str(folder / "truth.json"), "--boxes", "yolov10", "--fit", "letterbox"])
    if result.status != 1 or "--fit is for tensors" not in result.stderr:
        return f"--fit with images: {result.ended()} {result.stderr[:200]}"
    model = constant_outputs(folder / "m.onnx", {"y": np.zeros((1, 18, 5, 5), np.float32)}, [1, 3, size, size])
    for options, words in ((["--boxes", "yolov3"], "--anchors"), (["--boxes", "yolov3", *anchors], "'y'"), (["--boxes", "yolov10"], "[samples, boxes, 6]")):
        result = run([ONNXQ, "evaluate", str(model), "--data", str(folder / "x.npy"), "--labels", str(folder / "truth.json"), *options])
        if result.status != 1 or words not in result.stderr:
            return f"{options[:2]}: {result.ended()} {result.stderr[:200]}"
    return None


def check_bad_input(folder):
    labels, _ = scores(folder)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "few.npy", labels[:5])
    np.save(folder / "high.npy", labels + 100)
    (folder / "words.txt").write_text("cat\n")
    (folder / "broken.json").write_text('{"images": [')
    (folder / "empty.json").write_text("{}")
    (folder / "found.json").write_text('[{"image_id": 1}]')
    write_coco(folder, [], None, [{"id": 1}])
    model, data = folder / "m.onnx", ["--data", folder / "x.npy"]
    other = save(folder / "o.onnx", [helper.make_node("Relu", ["x"], ["y"], "relu")], {}, ["n", 6])
    cases = [([model, *data, "--labels", folder / "few.npy"], 1, "few.npy: has 5 labels"),
             ([model, *data, "--labels", folder / "high.npy"], 1, "is none of the 12 classes"),
             ([model, *data, "--labels", folder / "words.txt"], 1, "words.txt:1"),
             ([model, *data, "--labels", folder / "missing.txt"], 1, "missing.txt"),
             ([model, *data], 1, "--labels FILE is needed"),
             ([model, *data, "--metric", "sqnr"], 2, "--reference"),
             ([model, *data, "--metric", "best"], 2, "'best'"),
             ([model, "--labels", folder / "labels.npy"], 2, "--data"),
             ([model, *data, "--labels", folder / "labels.npy", "--output", "z"], 1, "no output 'z'"),
             ([model, *data, "--reference", other], 1, "output 'y'"),
             ([model, *data, "--reference", folder / "missing.onnx"], 1, "missing.onnx"),
             (["--detections", folder / "found.json", "--labels", folder / "broken.json"], 1, "broken.json"),
             (["--detections", folder / "found.json", "--labels", folder / "empty.json"], 1, "'images'"),
             (["--detections", folder / "found.json", "--labels", folder / "truth.json"], 1, "found.json: [0]"),
             (["--detections", folder / "found.json"], 2, "--labels"),
             ([model, *data, "--metric", "coco", "--labels", folder / "truth.json"], 2, "--boxes")]
    for arguments, status, words in cases:
        result = run([ONNXQ, "evaluate", *map(str, arguments)])
        lines = result.stderr.strip().splitlines()
        if result.status != status or len(lines) != 1 or words not in lines[0] or result.stdout:
            return f"{[str(a) for a in arguments][-3:]}: {result.ended()}: {result.stderr[:300]}"
    return None


def main():
    require_tools()
    pattern = next((a for a in sys.argv[1:] if not a.startswith("-")), "")
    tally = Tally()
    for check in (check_label_files, check_folders, check_digits, check_library, check_ragged, check_agreement, check_coco, check_coco_published, check_yolo, check_yolo_forms,
                  check_bad_input):
        name = check.__name__.removeprefix("check_")
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
