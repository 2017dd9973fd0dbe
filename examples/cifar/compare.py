#!/usr/bin/python3
"""Prints what a network is like in float and in int8, compiled and, where it is there, in ONNX Runtime.

    compare.py EVALUATION.json

Run where cifar.onnx, cifar.int8.onnx, the libraries of both and the test pictures are. EVALUATION.json is what `onnxq
evaluate` says of the libraries. Latencies are those of the fastest run of one picture in one thread; programs run in
turns. Memory is the peak of the process; node, in which ONNX Runtime runs, is part of its figure.
"""

import json
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "bench"), str(ROOT / "test" / "Integration")]

import alternate  # noqa: E402
from support.harness import MODELS  # noqa: E402
from support.image_data import idx  # noqa: E402
from support.quantized_models import run_ort  # noqa: E402

SECONDS = 2


def main():
    folder, score = pathlib.Path(), json.loads(pathlib.Path(sys.argv[1]).read_text())
    pictures = idx(folder / "test-images.idx.gz").transpose(0, 3, 1, 2)
    pictures = ((pictures - np.float32(127.5)) / np.float32(127.5)).astype(np.float32)
    labels = idx(folder / "test-labels.idx.gz")
    files = {"float": folder / "cifar.onnx", "int8": folder / "cifar.int8.onnx"}
    feed = {"image": pictures[:1]}
    rows, servers = [], []
    for name, file in files.items():
        servers.append(alternate.Ours(file.with_suffix(".so").absolute(), feed, folder))
        rows.append([f"{name}, compiled", (score["reference"] if name == "float" else score)["top1"], file, file.with_suffix(".so")])
    if (MODELS / "onnxruntime-node").is_dir():
        results = run_ort(folder, [(file, {"image": pictures}) for file in files.values()], "all")
        for (name, file), result in zip(files.items(), results):
            servers.append(alternate.Theirs(file, feed, folder))
            rows.append([f"{name}, ONNX Runtime", (result["logits"].argmax(1) == labels).mean(), file, None])
    try:
        alternate.alternate(servers, SECONDS)
    finally:
        for server in servers:
            server.close()
    print(f"{'':22}{'accuracy':>9}{'latency':>11}{'ONNX':>10}{'library':>10}{'memory':>10}{'speed-up':>10}")
    for (name, hits, file, library), server in zip(rows, servers):
        sizes = [f"{path.stat().st_size / 1e6:.2f} MB" if path else "-" for path in (file, library)]
        print(f"{name:22}{100 * hits:>7.1f} %{server.best:>8.3f} ms{sizes[0]:>10}{sizes[1]:>10}"
              f"{server.peak_kib / 1024:>6.0f} MiB{servers[0].best / server.best:>8.2f} x")


if __name__ == "__main__":
    main()
