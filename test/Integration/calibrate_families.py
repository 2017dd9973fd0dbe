#!/usr/bin/env -S /usr/bin/python3
"""Histograms that are counted together: of tensors that are made of one another, those that each has by itself."""

import json
import pathlib
import tempfile

import numpy as np
from onnx import helper

import harness
from calibrate import Suite, compare_statistics, odd_values, reference, rng, tame_values
from calibration_inputs import save


def families(suite):
    """Histograms that are counted together are those that observers of each tensor count: with a number for each channel,
    all of them equal, tensors are observed one by one."""
    chains = {
        "rise": (("Mul", 0.7), ("Add", -0.3)), "fall": (("Mul", -1.25), ("Add", 0.75)), "twice": (("Mul", -0.5), ("Mul", -3.0)),
        "shift": (("Add", 1000.0), ("Mul", 0.01)), "one": (("Mul", -2.0),), "long": (("Add", 3.0), ("Mul", 0.9), ("Mul", 2.5), ("Add", -1.0)),
    }
    forms = {
        # Slices of channels, whole tensors, and rows of channels (behind convolutions), of sixteen lanes and of others.
        "slices": (5, 70, 61, None), "small": (3, 9, 11, None), "rows": (32, 48, 64, 32), "narrow": (24, 56, 64, 24),
    }
    settings = [("2048", ()), ("64", ()), ("4096", ()), ("8192", ()), ("2048", ("--target", "x86-64-v3")), ("2048", ("--batch", "2"))]
    for number, (form, (channels, height, width, filters)) in enumerate(forms.items()):
        constants, ends = {}, {}
        nodes = [helper.make_node("Elu" if filters is None else "Conv", ["x"] if filters is None else ["x", "w"], ["c"], "c")]
        if filters:
            constants["w"] = (rng.standard_normal((filters, channels, 1, 1)) / np.sqrt(channels)).astype(np.float32)
        for chain, steps in chains.items():
            # Each chain has a first tensor of its own, with negative numbers and zeros.
            nodes.append(helper.make_node("LeakyRelu", ["c"], [f"{chain}0"], f"{chain}0"))
            for i, (op, value) in enumerate(steps, 1):
                constants[f"{chain}{i}_number"] = np.array(value, np.float32)
                nodes.append(helper.make_node(op, [f"{chain}{i - 1}", f"{chain}{i}_number"], [f"{chain}{i}"], f"{chain}{i}"))
            ends[f"{chain}{len(steps)}"] = ["n", None, None, None]
        together, apart, data = suite.path(".onnx"), suite.path(".onnx"), suite.path(".npy")
        save(together, nodes, {"x": ["n", channels, height, width]}, ends, constants)
        each = {name: value if value.shape else np.full((filters or channels, 1, 1), value) for name, value in constants.items()}
        save(apart, nodes, {"x": ["n", channels, height, width]}, ends, each)
        make = odd_values if form == "slices" else tame_values
        samples = make(2, channels, height, width)
        # Ranges grow within a sample, too.
        with np.errstate(over="ignore"):
            samples[1, :, height // 2:] *= np.float32(37)
        np.save(data, samples)
        for bins, options in settings if number % 2 == 0 else settings[:1]:
            name = " ".join(["families", form, bins, *options[-1:]])
            tables = [suite.table(name, model, "--data", data, "--all", "--histogram", "--bins", bins, "--quiet", *options)
                      for model in (together, apart)]
            if not all(tables):
                continue
            first, second = (json.loads(table.read_text())["tensors"] for table in tables)
            keys = "histogram", "min", "max", "count"
            wrong = [tensor for tensor in second if any(first[tensor][key] != second[tensor][key] for key in keys)]
            suite.expect(name, first.keys() == second.keys() and not wrong, f"other histograms or extremes of {wrong}")
    # A sixth of what doesn't count is in no histogram either.
    model, data = suite.path(".onnx"), suite.path(".npy")
    save(model, [helper.make_node("Mul", ["x", "sixth"], ["y"], "y")], {"x": [2, 3, 50]}, {"y": [2, 3, 50]}, {"sixth": np.array(1 / 6, np.float32)})
    samples = odd_values(1, 2, 3, 50)
    np.save(data, samples)
    if table := suite.table("families with sentinels", model, "--data", data, "--all", "--histogram", "--quiet"):
        entries = json.loads(table.read_text())["tensors"]
        good = samples[np.isfinite(samples) & (np.abs(samples) < 1e38)]
        expected = reference((good * np.float32(1 / 6))[:, None], None, 2048)["histogram"]
        stored = entries["y"]["histogram"]
        counts = expected[1][stored["first"]:stored["first"] + len(stored["counts"])]
        suite.expect("families with sentinels", stored["exponent"] == expected[0] and counts.tolist() == stored["counts"]
                     and sum(stored["counts"]) == good.size == entries["y"]["count"], "other counts")


def bounded(suite):
    """Histograms of what Relu and Clip make are counted with those of their input, and are what NumPy counts."""
    def clip(low, high):
        return "Clip", lambda x: np.where(np.isnan(x), x, np.clip(x, low, high)), [low, high]

    def line(op, number):
        return op, (lambda x: x * np.float32(number)) if op == "Mul" else (lambda x: x + np.float32(number)), [number]

    relu = "Relu", lambda x: np.where(np.isnan(x), x, np.maximum(x, 0)), []
    chains = {"relu": [relu, line("Mul", 0.7)], "clip": [clip(-1.0, 2.0), line("Add", 0.5)], "turned": [line("Mul", -0.9), relu],
              "above": [clip(-np.inf, 1.5), clip(-0.5, np.inf)], "relu6": [clip(0.0, 6.0)], "long": [relu, line("Mul", 0.5), relu, line("Add", -1.0)]}
    for chain, steps in chains.items():
        for kind, make in (("odd", odd_values), ("tame", tame_values)):
            samples = make(2, 3, 150, 150)
            values, nodes, constants = {"x": samples}, [], {}
            with np.errstate(over="ignore", invalid="ignore"):
                for i, (op, compute, numbers) in enumerate(steps):
                    source, name = f"t{i - 1}" if i else "x", f"t{i}"
                    constants |= {f"{name}_{k}": np.array(number, np.float32) for k, number in enumerate(numbers) if np.isfinite(number)}
                    ins = [f"{name}_{k}" if np.isfinite(number) else "" for k, number in enumerate(numbers)]
                    nodes.append(helper.make_node(op, [source, *ins], [name], name))
                    values[name] = compute(values[source]).astype(np.float32)
            model, data = suite.path(".onnx"), suite.path(".npy")
            save(model, nodes, {"x": [1, 3, 150, 150]}, {name: [1, 3, 150, 150]}, constants)
            np.save(data, samples)
            table = suite.table(f"bounded {chain} {kind}", model, "--data", data, "--all", "--histogram", "--bins", "256", "--quiet")
            if not table:
                continue
            entries = json.loads(table.read_text())["tensors"]
            for tensor, array in values.items():
                suite.tally.result(f"bounded {chain} {kind} {tensor}", compare_statistics(entries[tensor], reference(array[:, None], 1, 256), 1e-6))


def main():
    harness.require_tools()
    tally = harness.Tally()
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(pathlib.Path(folder), tally)
        families(suite)
        bounded(suite)
    tally.finish()


if __name__ == "__main__":
    main()
