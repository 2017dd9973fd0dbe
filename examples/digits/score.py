#!/usr/bin/python3
"""Prints the share of MNIST test pictures that a model reads right.

    score.py ONNXQ MODEL DATA [COUNT]

ONNXQ is the tool, MODEL a model or a compiled library whose batch is open or COUNT, DATA the folder of the test set's
idx files. The pictures go through one run of compiled code.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np


def read_idx(path):
    raw = path.read_bytes()
    dims = np.frombuffer(raw, ">u4", raw[3], 4).astype(int)
    return np.frombuffer(raw, np.uint8, int(np.prod(dims)), 4 + 4 * raw[3]).reshape(dims)


def main():
    tool, model, data = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 10000
    pictures = read_idx(data / "t10k-images-idx3-ubyte")[:count]
    labels = read_idx(data / "t10k-labels-idx1-ubyte")[:count]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "image.npy")
        np.save(path, pictures.astype(np.float32)[:, None] / np.float32(255))
        subprocess.run([tool, "run", model, "--input", f"image={path}", "--output-dir", folder], check=True,
                       stdout=subprocess.DEVNULL)
        logits = np.load(pathlib.Path(folder, "logits.npy"))
    print(f"{100 * np.mean(logits.argmax(1) == labels):.2f}")


if __name__ == "__main__":
    main()
