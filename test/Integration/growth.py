#!/usr/bin/python3
"""Wide, long and deep models: time grows with them, not with their square, and what multiplies is refused.

Each family of growth_models.py is compiled at a size and at four times that. Time of processors may grow by
at most 4^1.2, with some room for machines with other work, where the square would be 16 times as much.
"""

import pathlib
import tempfile

from support import growth_models
from support import harness

# Of each family the smaller size, which takes long enough to be measured.
SIZES = {"concat": 250, "split": 1000, "outputs": 500, "readers": 250, "inputs": 500, "initializers": 500, "chain": 500}
FACTOR, MOST, LEAST_SECONDS, ROOM_MB = 4, 7, 0.3, 400


def compile_model(folder, model):
    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return harness.run([harness.ONNXQ, "compile", path, "-o", folder / "m.o", "--quiet"], timeout=600)


def grows(folder, tally):
    for family, size in SIZES.items():
        make = growth_models.FAMILIES[family][0]
        small, large = (compile_model(folder, make(count)) for count in (size, FACTOR * size))
        problem = None
        if small.status or large.status:
            problem = f"{small.ended()}, then {large.ended()}: {(small.stderr + large.stderr).strip()[:200]}"
        elif large.processor_seconds > MOST * max(small.processor_seconds, LEAST_SECONDS):
            problem = f"{small.processor_seconds:.1f} s at {size}, {large.processor_seconds:.1f} s at {FACTOR * size}"
        elif large.megabytes > small.megabytes + ROOM_MB:
            problem = f"{small.megabytes:.0f} MB at {size}, {large.megabytes:.0f} MB at {FACTOR * size}"
        tally.result(family, problem)


def multiplies(folder, tally):
    """Functions that call each other twice, 20 deep."""
    outcome = compile_model(folder, growth_models.functions(2**20))
    said = "function 'f20' stands for" in outcome.stderr and outcome.stderr.count("error:") == 1
    problem = None if outcome.status == 1 and said else f"{outcome.ended()}: {outcome.stderr.strip()[:200]}"
    tally.result("functions that multiply", problem)


def opens(folder, tally):
    """Open sizes take at most twice as long."""
    chain = growth_models.FAMILIES["chain"][0]
    fixed, opened = (compile_model(folder, model) for model in (chain(1000), growth_models.opened(chain(1000))))
    problem = None
    if fixed.status or opened.status:
        problem = f"{fixed.ended()}, then {opened.ended()}: {opened.stderr.strip()[:200]}"
    elif opened.processor_seconds > 2.5 * max(fixed.processor_seconds, LEAST_SECONDS):
        problem = f"{fixed.processor_seconds:.1f} s with fixed sizes, {opened.processor_seconds:.1f} s with open ones"
    tally.result("open sizes", problem)


def main():
    harness.require_tools()
    tally = harness.Tally()
    with tempfile.TemporaryDirectory(prefix="onnxq-growth-") as temporary:
        folder = pathlib.Path(temporary)
        grows(folder, tally)
        multiplies(folder, tally)
        opens(folder, tally)
    tally.finish()


if __name__ == "__main__":
    main()
