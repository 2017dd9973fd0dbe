#!/usr/bin/env -S /usr/bin/python3
"""What quantization costs: quantized models against float ones, on samples that calibration didn't see.

Eight samples to calibrate, default settings unless a row says otherwise. Text pictures are drawn, digits and clothes
are the test sets. Every row has a floor, which is what is wanted of it. --all adds the slow models; a pattern chooses
rows.
"""

import pathlib
import re
import sys
import tempfile

import numpy as np

from support import image_data
from support import ort
from support import quantized_models as q
from support.harness import ROOT, Tally, require_tools


# Two numbers a sample need more samples.
JUDGED = {"cls": range(q.JUDGED[0], q.JUDGED[0] + 100)}


def outputs(folder, model, subject, numbers):
    """What the model means: quantizers and float ops are run one by one, and nothing joins them to other kernels."""
    results = q.run_ort(folder, [(model, {subject.input: subject.inputs([n])}) for n in numbers])
    for result in results:
        if isinstance(result, str):
            raise RuntimeError(f"ONNX Runtime: {result[:200]}")
    return [next(iter(result.values())) for result in results]


def figures(reference, got, part=slice(None)):
    """Pooled decibels, and the median over samples."""
    pairs = [(r[..., part], g[..., part]) for r, g in zip(reference, got)]
    pooled = q.sqnr(np.concatenate([r.ravel() for r, _ in pairs]), np.concatenate([g.ravel() for _, g in pairs]))
    return pooled, float(np.median([q.sqnr(r, g) for r, g in pairs]))


def rows(name):
    """(label, options, [(part, slice, use the median, floor)])."""
    whole, boxes, scores = slice(None), slice(0, 4), slice(4, None)
    yield from {
        "digits": [("default", [], [("logits", whole, False, 41)])],
        "cls": [("default", [], [("logits", whole, False, 28)])],
        "rec": [("default", [], [("logits", whole, True, 19)])],
        "det": [("default", [], [("map", whole, False, 13)]),
                ("int16-first=4", ["--int16-first", "4"], [("map", whole, False, 20)])],
        "yolox": [("default", [], [("boxes", boxes, False, 26), ("scores", scores, False, 22)]),
                  ("int16-first=4", ["--int16-first", "4"], [("boxes", boxes, False, 30), ("scores", scores, False, 26)])],
    }[name]


def check_subject(tally, folder, subject):
    ready, table = q.calibrated(subject, folder)
    judged = JUDGED.get(subject.name, q.JUDGED)
    reference = outputs(folder, ready, subject, judged)
    for label, options, parts in rows(subject.name):
        target = folder / "model.int8.onnx"
        q.quantized(ready, table, target, *options)
        got = outputs(folder, target, subject, judged)
        for part, piece, median, floor in parts:
            pooled, middle = figures(reference, got, piece)
            value = middle if median else pooled
            print(f"{subject.name} {label} {part}: {pooled:.1f} dB pooled, {middle:.1f} dB median (floor {floor})", flush=True)
            tally.result(f"{subject.name}/{label}/{part}", None if value >= floor else f"{value:.1f} dB, expected {floor}")


def check_labels(tally, folder, name, points):
    """Hits on the ten thousand test pictures, by our compiled code and by ONNX Runtime."""
    (train, _), (pictures, labels) = getattr(image_data, name)()
    model = ROOT / "examples" / "digits" / f"{name}.onnx"
    data, target = folder / f"{name}.npy", folder / f"{name}.int8.onnx"
    picked = train[:: len(train) // 64][:64]
    np.save(data, picked[:, None].astype(np.float32) / 255)
    q.onnxq("quantize", model, "--data", data, "-o", target, "--quiet")
    feeds = {"image": pictures[:, None].astype(np.float32) / 255}
    results = q.run_ort(folder, [(model, feeds), (target, feeds)], q.EXACT)
    ours = q.run_ours(folder, target, feeds)
    hits = [100 * float((result["logits"].argmax(1) == labels).mean()) for result in (*results, ours)]
    print(f"{name}: float {hits[0]:.2f}%, int8 {hits[1]:.2f}% in ONNX Runtime, {hits[2]:.2f}% in ours", flush=True)
    for who, value in zip(("ort", "ours"), hits[1:]):
        tally.result(f"{name}/{who}", None if value >= hits[0] - points else f"{hits[0] - value:.2f} points lost, {points} allowed")


def main():
    require_tools()
    ort.require()
    pattern = next((a for a in sys.argv[1:] if not a.startswith("-")), "")
    tally = Tally()
    models = q.subjects()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, points in (("digits", 0.1), ("clothes", 0.3)):
            if re.search(pattern, f"labels/{name}"):
                check_labels(tally, folder, name, points)
        names = ["digits", "cls", "rec", "det", "yolox"] if "--all" in sys.argv or pattern else ["digits", "cls"]
        for name in names:
            if re.search(pattern, name):
                check_subject(tally, folder, models[name])
    tally.finish()


if __name__ == "__main__":
    main()
