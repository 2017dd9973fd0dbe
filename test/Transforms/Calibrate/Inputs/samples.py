"""Writes small sets of samples: samples.py NAME FILE."""

import sys

import numpy

SETS = {
    # Three samples of four numbers.
    "plain": [[[-1, 2, 0, 0.5], [3, -4, 1, 1], [0, 0, 0, 8]]],
    # With values that are none.
    "odd": [[[-1, 2, numpy.nan, numpy.inf], [-3.4e38, -4, 1, 1], [0, 0, 0, 8]]],
    "wrong-shape": [[[1, 2, 3], [1, 2, 3]]],
}

name, path = sys.argv[1:]
numpy.save(path, numpy.array(SETS[name][0], dtype="float32"))
