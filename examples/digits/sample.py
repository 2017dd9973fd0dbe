#!/usr/bin/python3
"""Writes the pictures that lie here: 200 to calibrate with and 1,000 to test with, of MNIST.

    sample.py OUT

OUT is a folder. Every 300th training picture, every 10th test picture with its label, as MNIST's files compressed by
gzip. The data is the npm package that scripts/setup.sh --models fetches. The committed files were made by this script.
"""

import gzip
import pathlib
import struct
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test" / "Integration"))
from support import image_data  # noqa: E402


def write(path, array):
    header = struct.pack(">HBB", 0, 8, array.ndim) + b"".join(struct.pack(">I", n) for n in array.shape)
    # Without a time, so that the same pictures are the same file.
    path.write_bytes(gzip.compress(header + array.astype(np.uint8).tobytes(), 9, mtime=0))


def main():
    folder = pathlib.Path(sys.argv[1])
    (train, _), (pictures, labels) = image_data.digits()
    write(folder / "calibration-images.idx.gz", train[::300])
    write(folder / "test-images.idx.gz", pictures[::10])
    write(folder / "test-labels.idx.gz", labels[::10])


if __name__ == "__main__":
    main()
