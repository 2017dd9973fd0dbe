#!/usr/bin/env -S /usr/bin/python3
"""Depthwise convolutions, poolings and 3x3 convolutions of many geometries against plain loops, on models of one node.

Those of floats whose results are quantized are there too, with whole numbers, so that every byte is known. Each case runs with all sizes known, and with all open but the channels. Geometries are drawn at
random from a fixed seed: 1 to 3 spatial dimensions, odd sizes, strides, dilations, uneven paddings,
channels that fill no vector, more than one image. Prints a line per failure, then the totals.

usage: exec_windows.py [aarch64 | riscv64+v]...     on these machines, under qemu, depthwise convolutions only
"""

import pathlib
import shutil
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.mapping import NP_TYPE_TO_TENSOR_TYPE

import cross
from exec_tensor import Case, run_all
from support.harness import Tally, judge_cases, require_tools
from support import nn_reference as reference

rng = np.random.default_rng(11)
CHANNELS = [1, 2, 3, 5, 8, 15, 16, 17, 24, 31, 32, 33, 40, 48]
CASES = {}


class WindowCase(Case):
    """A node of one input whose other operands are constant."""

    def __init__(self, op, operands, results, **attributes):
        super().__init__(op, operands, results, only=["known", "spatial"], opset=12, **attributes)

    def write(self, folder, form):
        x = self.operands[0]
        dims = [size if form == "known" or k == 1 else f"d{k}" for k, size in enumerate(x.shape)]
        inputs = [helper.make_tensor_value_info("x0", NP_TYPE_TO_TENSOR_TYPE[x.dtype], dims)]
        constants = [numpy_helper.from_array(a, f"x{i + 1}") for i, a in enumerate(self.operands[1:])]
        y = self.results[0]
        outputs = [helper.make_tensor_value_info("y0", NP_TYPE_TO_TENSOR_TYPE[y.dtype], None)]
        names = ["x0"] + [constant.name for constant in constants]
        graph = helper.make_graph(self.nodes(names, constants), "case", inputs, outputs, constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(model, str(folder / "model.onnx"))
        (data / "input_0.pb").write_bytes(numpy_helper.from_array(x).SerializeToString())
        (data / "output_0.pb").write_bytes(numpy_helper.from_array(np.ascontiguousarray(y)).SerializeToString())


    def nodes(self, names, constants):
        return [helper.make_node(self.op, names, ["y0"], name="node", **self.attributes)]


class SignCase(WindowCase):
    """A node whose zeros tell their sign: the result is 1 / y."""

    def nodes(self, names, constants):
        return [helper.make_node(self.op, names, ["y"], name="node", **self.attributes), helper.make_node("Reciprocal", ["y"], ["y0"])]


class RoundedCase(WindowCase):
    """A node whose result is quantized; `scale` and `zero` are constant."""

    def __init__(self, op, operands, numbers, scale, zero, **attributes):
        limits = np.iinfo(zero.dtype)
        with np.errstate(invalid="ignore", over="ignore"):
            whole = np.rint((numbers / scale).astype(np.float32)).astype(np.float64) + zero
        # What isn't a number becomes the least byte.
        bytes_ = np.clip(np.where(np.isnan(whole), limits.min, whole), limits.min, limits.max).astype(zero.dtype)
        super().__init__(op, operands, [bytes_], **attributes)
        self.parameters = [scale, zero]

    def nodes(self, names, constants):
        constants.extend(numpy_helper.from_array(np.array(a), name) for a, name in zip(self.parameters, ("scale", "zero")))
        return [helper.make_node(self.op, names, ["number"], name="node", **self.attributes),
                helper.make_node("QuantizeLinear", ["number", "scale", "zero"], ["y0"], name="quantize")]


def draw_geometry(rank):
    """Kernel, strides, dilations, pads and sizes that hold a window."""
    limit = {1: 9, 2: 5, 3: 3}[rank]
    kernel = [int(k) for k in rng.integers(1, limit + 1, rank)]
    strides = [int(s) for s in rng.integers(1, 4, rank)]
    dilations = [int(d) for d in rng.integers(1, 3, rank)]
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    pads = [int(rng.integers(0, extent)) for extent in extents * 2]
    most = {1: 70, 2: 25, 3: 9}[rank]
    sizes = [max(int(rng.integers(1, most)), extent - pads[i] - pads[rank + i]) for i, extent in enumerate(extents)]
    return kernel, strides, dilations, pads, sizes


def add_depthwise(count):
    for number in range(count):
        kernel, strides, dilations, pads, sizes = draw_geometry(1 + number % 3)
        channels = int(rng.choice([c for c in CHANNELS if c > 1]))
        times = 2 if number % 7 == 0 else 1
        x = rng.uniform(-1, 1, [int(rng.integers(1, 3)), channels, *sizes]).astype(np.float32)
        w = rng.uniform(-1, 1, [channels * times, 1, *kernel]).astype(np.float32)
        operands = [x, w] + [rng.uniform(-1, 1, channels * times).astype(np.float32)] * (number % 2)
        attributes = dict(strides=strides, dilations=dilations, pads=pads, group=channels)
        CASES[f"depthwise-{number}"] = WindowCase(
            "Conv", operands, [reference.conv(*operands, **attributes)], **attributes)
    for kernel, stride, size in ((3, 1, 29), (3, 2, 29), (5, 1, 30), (5, 2, 31), (7, 1, 14), (3, 1, 7), (5, 2, 7)):
        x = rng.uniform(-1, 1, [1, 24, size, size]).astype(np.float32)
        w = rng.uniform(-1, 1, [24, 1, kernel, kernel]).astype(np.float32)
        attributes = dict(strides=[stride] * 2, pads=[kernel // 2] * 4, group=24)
        CASES[f"depthwise-{kernel}x{kernel}-{stride}-{size}"] = WindowCase(
            "Conv", [x, w], [reference.conv(x, w, **attributes)], **attributes)


def add_sliding(count):
    """Windows without strides, of floats and of bytes, that processors with many registers keep the weights of."""
    for number in range(count):
        kernel = [(3, 3), (2, 2), (3, 1), (2, 4), (3, 2)][number % 5]
        channels = int(rng.choice([8, 16, 24, 33, 48]))
        sizes = [int(size) for size in rng.integers(3, 40 if number % 2 else 9, 2)]
        pads = [int(rng.integers(0, kernel[i % 2])) for i in range(4)]
        attributes = dict(pads=pads, group=channels)
        shape = [1 + number % 2, channels, *sizes]
        if number % 3:
            x, w = rng.uniform(-1, 1, shape).astype(np.float32), rng.uniform(-1, 1, [channels, 1, *kernel]).astype(np.float32)
            operands = [x, w, rng.uniform(-1, 1, channels).astype(np.float32)][:2 + number % 2]
            CASES[f"sliding-{number}"] = WindowCase("Conv", operands, [reference.conv(*operands, **attributes)], **attributes)
            continue
        zero = np.uint8(rng.integers(0, 256))
        x, w = rng.integers(0, 256, shape).astype(np.uint8), rng.integers(-128, 128, [channels, 1, *kernel]).astype(np.int8)
        y = reference.conv(x.astype(np.float64) - zero, w.astype(np.float64), **attributes).astype(np.int32)
        CASES[f"sliding-{number}"] = WindowCase("ConvInteger", [x, w, np.array(zero)], [y], **attributes)
    # Sums begin with a positive zero: those of negative zeros are one, whatever zero is added to them.
    x, w = np.zeros((1, 16, 9, 9), np.float32), np.full((16, 1, 3, 3), -1, np.float32)
    for name, bias in (("none", []), ("negative", [np.full(16, -0.0, np.float32)]), ("positive", [np.zeros(16, np.float32)])):
        CASES[f"sliding-zeros-{name}"] = SignCase("Conv", [x, w, *bias], [np.full(x.shape, np.inf, np.float32)], pads=[1] * 4, group=16)


def add_paired(count):
    """Windows of bytes that take two rows or columns of taps at once, of every geometry; factors that leave 32 bits too."""
    for number in range(count):
        kernel, strides, dilations, pads, sizes = draw_geometry(2)
        channels, kind = int(rng.choice([16, 24, 32, 50])), [np.uint8, np.int8][number % 2]
        low = np.iinfo(kind).min
        attributes = dict(strides=strides, dilations=[1, dilations[1]] if number % 3 else dilations, pads=pads, group=channels)
        zero = kind(rng.integers(low, low + 256)) if number % 5 else kind(0)
        x = rng.integers(low, low + 256, [1 + number % 2, channels, *sizes]).astype(kind)
        w = rng.integers(-128, 128, [channels, 1, *kernel]).astype(np.int8)
        sums = reference.conv(x.astype(np.float64) - float(zero), w.astype(np.float64), **attributes)
        if number % 4 == 0:
            CASES[f"paired-{number}"] = WindowCase("ConvInteger", [x, w, np.array(zero)], [sums.astype(np.int32)], **attributes)
            continue
        factor, y_zero = [2.0**-10, 2.0**-12, 2.0**14][number % 3], kind(low + 100)
        y = np.clip(np.rint(sums * factor) + float(y_zero), low, low + 255).astype(kind)
        one = np.float32(1)
        operands = [x, one, zero, w, one, np.int8(0), np.float32(1 / factor), y_zero]
        CASES[f"paired-{number}"] = WindowCase("QLinearConv", list(map(np.asarray, operands)), [y], **attributes)


def add_rounded(count):
    """Numbers that kernels of floats and loops round to bytes: whole ones, so that sums are exact, and many halves."""
    for number in range(count):
        kind = np.uint8 if number % 2 else np.int8
        scale, zero = np.float32(rng.choice([2, 8, 0.75, 5.5])), kind(rng.integers(np.iinfo(kind).min, np.iinfo(kind).max))
        channels = int(rng.choice(CHANNELS))
        if number % 3 == 0:
            kernel, strides, dilations, pads, sizes = draw_geometry(1 + number % 2)
            if number % 4 == 0:
                kernel, strides, dilations, pads, sizes = [3, 3], [1, 1], [1, 1], [1] * 4, [5, int(rng.integers(1, 40))]
            channels = max(channels, 2)
            operands = [rng.integers(-20, 20, [2, channels, *sizes]), rng.integers(-8, 8, [channels, 1, *kernel])]
            attributes = dict(strides=strides, dilations=dilations, pads=pads, group=channels)
        elif number % 3 == 1:
            operands = [rng.integers(-20, 20, [1, channels, 3, 7]), rng.integers(-8, 8, [int(rng.choice(CHANNELS)), channels, 1, 1])]
            attributes = {}
        else:
            operands = [rng.integers(-500, 500, [1, channels, *rng.integers(1, 70, 2)]), rng.integers(-4, 4, [1, channels, 1, 1])]
        operands = [a.astype(np.float32) for a in operands]
        if number % 3 == 2:
            operands[0].flat[:4] = [np.nan, np.inf, -np.inf, 3e38]
            with np.errstate(invalid="ignore", over="ignore"):
                numbers = operands[0] * operands[1]
            CASES[f"rounded-{number}"] = RoundedCase("Mul", operands, numbers, scale, zero)
            continue
        numbers = reference.conv(*operands, **attributes).astype(np.float32)
        CASES[f"rounded-{number}"] = RoundedCase("Conv", operands, numbers, scale, zero, **attributes)
    # Many rows, of floats that become bytes.
    operands = [rng.integers(-20, 20, shape).astype(np.float32) for shape in ([1, 16, 14, 9], [16, 1, 3, 3], [16])]
    numbers = reference.conv(*operands, pads=[1] * 4, group=16).astype(np.float32)
    CASES["rounded-sliding"] = RoundedCase("Conv", operands, numbers, np.float32(8), np.int8(3), pads=[1] * 4, group=16)


def add_transformed(count):
    """3x3 convolutions with enough channels to be transformed."""
    for number in range(count):
        channels, columns = int(rng.choice([24, 32, 40, 64])), int(rng.choice([24, 27, 32, 48, 70]))
        pads = [int(p) for p in rng.integers(1, 3, 4)] if number % 2 else [number // 2 % 2] * 4
        x = rng.uniform(-1, 1, [1 + number % 2, channels, *rng.integers(1 if number % 4 == 3 else 8, 19, 2)]).astype(np.float32)
        w = rng.uniform(-1, 1, [columns, channels, 3, 3]).astype(np.float32) / np.float32(channels)
        operands = [x, w, rng.uniform(-1, 1, columns).astype(np.float32)]
        CASES[f"transformed-{number}"] = WindowCase("Conv", operands, [reference.conv(*operands, pads=pads)], pads=pads)


def add_pools(count):
    for number in range(count):
        kernel, strides, dilations, pads, sizes = draw_geometry(1 + number % 3)
        ceil, average = int(number % 4 == 3), number % 2 == 1
        if average:
            dilations = [1] * len(kernel)
            pads = [min(p, (kernel * 2)[i] - 1) for i, p in enumerate(pads)]
            sizes = [max(s, kernel[i]) for i, s in enumerate(sizes)]
        channels = int(rng.choice(CHANNELS))
        shape = [int(rng.integers(1, 3)), channels, *sizes]
        kind = np.float32 if average or number % 6 == 0 else [np.float32, np.uint8, np.int8][number // 2 % 3]
        if kind == np.float32:
            x = rng.uniform(-1, 1, shape).astype(kind)
        else:
            limits = np.iinfo(kind)
            x = rng.integers(limits.min, limits.max + 1, shape).astype(kind)
        attributes = dict(kernel_shape=kernel, strides=strides, pads=pads, ceil_mode=ceil)
        if not average:
            y, _ = reference.pool(x, kernel, strides, dilations, pads, ceil, "max")
            CASES[f"max-{number}"] = WindowCase("MaxPool", [x], [y], dilations=dilations, **attributes)
            continue
        include = number // 4 % 2
        y, _ = reference.pool(x, kernel, strides, dilations, pads, ceil, "average", include)
        CASES[f"average-{number}"] = WindowCase("AveragePool", [x], [y], count_include_pad=include, **attributes)


def run_elsewhere(machines, options):
    """Depthwise convolutions on other machines."""
    tally, cases = Tally(), {name: case for name, case in CASES.items() if name.startswith(("depthwise", "sliding", "rounded"))}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for machine in machines:
            arch, emulator = cross.MACHINES[machine]
            if missing := [tool for tool in (emulator[0], f"{arch}-linux-gnu-gcc") if not shutil.which(tool)]:
                print(f"skipped: {machine}: {' and '.join(missing)} isn't there; scripts/setup.sh installs it")
                tally.skipped += 1
                continue
            runner = " ".join([*emulator, "-L", f"/usr/{arch}-linux-gnu", str(cross.build_runner(arch, folder))])
            names, failures = run_all(folder / arch, cases, "--target", machine, "--runner", runner, *options)
            for name in names:
                tally.result(f"{machine} {name}", failures.get(name))
    tally.finish()


def main():
    require_tools()
    add_depthwise(60)
    add_pools(80)
    add_transformed(12)
    add_sliding(40)
    add_paired(60)
    add_rounded(60)
    options = ["--rtol", "1e-4", "--atol", "1e-5"]
    if machines := sys.argv[1:]:
        run_elsewhere(machines, options)
    judge_cases(run_all, CASES, {}, *options)


if __name__ == "__main__":
    main()
