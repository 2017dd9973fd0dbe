#!/usr/bin/env -S /usr/bin/python3
"""Quantized convolutions and products, random but the same every time, bit by bit.

Every case is a small graph: shapes, groups, strides, dilations, pads, signs, zero
points, scales per tensor or channel; transposed convolutions, products of two
activations, 16-bit activations, 4-bit weights, 3x3 convolutions large enough to be
transformed; a part of them has the extremes of every type only. 192 more go through
every zero point: of convolutions, of transformed ones, of rounding, and of both
operands of a product, through tables, and
through shapes that are cut into tiles. Sums are computed in 64 bits by numpy, the
rest in 32-bit floats, in the order that docs/QuantizationSemantics.md gives. Half
of the cases leave all dimensions but channels open.

usage: exec_integers.py [NUMBER [OPTIONS OF ONNXQ TEST...]]
ONNXQUANT_CASES names a folder to keep the cases in.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from exec_quantized import TYPES, MS, write_case
from support.harness import ONNXQ, require_tools

f32 = np.float32
RANGES = {np.uint8: (0, 255), np.int8: (-128, 127), np.uint16: (0, 65535), np.int16: (-32768, 32767)}
UINT4, INT4 = 21, 22


def draw(rng, kind, shape, style):
    """Numbers of a type: all of them, extremes, or mostly small ones."""
    low, high = RANGES[kind]
    if style == "extreme":
        return rng.choice(np.array([low, high], kind), shape)
    if style == "bell":
        middle = (low + high + 1) // 2
        values = np.rint(rng.normal(middle, 30, shape))
        return np.clip(values, low, high).astype(kind)
    return rng.integers(low, high, shape, endpoint=True).astype(kind)


def convolve(x, w, group, strides, dilations, pads):
    """The exact sums of a convolution of integers."""
    rank = x.ndim - 2
    x = np.pad(x.astype(np.int64), [(0, 0), (0, 0)] + [(pads[i], pads[rank + i]) for i in range(rank)])
    out = [(x.shape[2 + i] - (w.shape[2 + i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(rank)]
    per = w.shape[0] // group
    y = np.zeros([x.shape[0], w.shape[0], *out], np.int64)
    for tap in np.ndindex(*w.shape[2:]):
        places = tuple(slice(tap[i] * dilations[i], tap[i] * dilations[i] + (out[i] - 1) * strides[i] + 1, strides[i])
                       for i in range(rank))
        part = x[(slice(None), slice(None)) + places]
        for g in range(group):
            inputs = part[:, g * w.shape[1]:(g + 1) * w.shape[1]]
            filters = w[(slice(g * per, (g + 1) * per), slice(None)) + tap].astype(np.int64)
            y[:, g * per:(g + 1) * per] += np.einsum("nc...,mc->nm...", inputs, filters)
    return y


def convolve_transposed(x, w, group, strides, dilations, pads, extra):
    """The exact sums of a transposed convolution: filters are [C, M / group, ..]."""
    rank = x.ndim - 2
    reach = [(x.shape[2 + i] - 1) * strides[i] + (w.shape[2 + i] - 1) * dilations[i] + 1 for i in range(rank)]
    y = np.zeros([x.shape[0], w.shape[1] * group, *(n + e for n, e in zip(reach, extra))], np.int64)
    per = w.shape[0] // group
    for tap in np.ndindex(*w.shape[2:]):
        places = tuple(slice(tap[i] * dilations[i], tap[i] * dilations[i] + (x.shape[2 + i] - 1) * strides[i] + 1, strides[i])
                       for i in range(rank))
        for g in range(group):
            filters = w[(slice(g * per, (g + 1) * per), slice(None)) + tap].astype(np.int64)
            part = np.einsum("nc...,cm->nm...", x[:, g * per:(g + 1) * per].astype(np.int64), filters)
            y[(slice(None), slice(g * w.shape[1], (g + 1) * w.shape[1])) + places] += part
    return y[(slice(None), slice(None)) + tuple(slice(pads[i], y.shape[2 + i] - pads[rank + i]) for i in range(rank))]


def requantize(sums, factor, zero):
    """F3: rounds half to even, adds the zero point, clamps."""
    real = np.rint(sums.astype(np.int32).astype(f32) * factor) + f32(zero)
    low, high = RANGES[zero.dtype.type]
    return np.clip(real, low, high).astype(zero.dtype)


def along(values, rank):
    return values.reshape(-1, *[1] * (rank - 2)) if values.ndim else values


class Graph:
    """A model that grows op by op, with the values that it gives."""

    def __init__(self, rng, is_open):
        self.rng, self.is_open = rng, is_open
        self.nodes, self.initializers, self.inputs, self.feeds = [], [], [], {}
        self.count, self.opset = 0, 17

    def name(self):
        self.count += 1
        return f"t{self.count}"

    def input(self, array, fixed):
        name = self.name()
        dims = [dim if not self.is_open or axis in fixed else f"{name}_{axis}" for axis, dim in enumerate(array.shape)]
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[array.dtype.name], dims))
        self.feeds[name] = array
        return name

    def constant(self, array):
        if array is None:
            return ""
        name = self.name()
        self.initializers.append(numpy_helper.from_array(np.array(array), name))
        return name

    def halves(self, array, kind):
        """A constant of 4-bit integers, two to a byte."""
        tensor = TensorProto(data_type=kind, dims=array.shape, name=self.name())
        flat = np.append(array.astype(np.int64).ravel() & 15, [0] * (array.size % 2)).astype(np.uint8)
        tensor.raw_data = (flat[::2] | flat[1::2] << 4).tobytes()
        self.initializers.append(tensor)
        return tensor.name

    def node(self, op, operands, domain="", outputs=1, **attributes):
        names = [self.name() for _ in range(outputs)]
        while operands and not operands[-1]:
            operands = operands[:-1]
        self.nodes.append(helper.make_node(op, operands, names, name=f"n{self.count}", domain=domain, **attributes))
        return names if outputs > 1 else names[0]

    def model(self, output, array):
        kind = TYPES[array.dtype.name]
        graph = helper.make_graph(self.nodes, "case", self.inputs,
                                  [helper.make_tensor_value_info(output, kind, [None] * array.ndim)], self.initializers)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid(MS, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10 if self.opset > 20 else 8)


class Layer:
    """What a layer draws: weights, zero points, scales, a bias."""

    def __init__(self, rng, kind, shape, columns, depth):
        style = rng.choice(["whole", "bell", "extreme"])
        self.w_kind = np.int8 if rng.random() < 0.7 else np.uint8
        self.w = draw(rng, self.w_kind, shape, style)
        per_channel = rng.random() < 0.5
        zeros = draw(rng, self.w_kind, columns if per_channel else (), "whole")
        if self.w_kind is np.int8 and rng.random() < 0.7:
            zeros = np.zeros_like(zeros)
        self.w_zero = np.array(zeros, self.w_kind)
        self.w_scale = rng.uniform(0.5, 2, columns if per_channel else ()).astype(f32) / f32(127)
        self.x_zero = draw(rng, kind, (), rng.choice(["whole", "extreme"])).astype(kind)
        self.x_scale = f32(rng.uniform(0.5, 2) / 255)
        self.y_scale = f32(self.x_scale * self.w_scale.mean() * 60 * np.sqrt(depth) * rng.uniform(0.3, 3))
        self.y_zero = draw(rng, rng.choice([np.uint8, np.int8]), (), "whole")
        self.y_zero = np.array(self.y_zero)
        self.bias = rng.integers(-5000, 5000, columns).astype(np.int32) if rng.random() < 0.6 else None

    def factor(self):
        return self.x_scale * self.w_scale / self.y_scale


def random_window(rng, rank, size):
    kernel = [int(rng.integers(1, 4)) for _ in range(rank)]
    strides = [int(rng.integers(1, 3)) for _ in range(rank)]
    dilations = [int(rng.integers(1, 3)) for _ in range(rank)]
    pads = [int(rng.integers(0, 3)) for _ in range(2 * rank)]
    if rng.random() < 0.3:
        kernel, strides, pads = [1] * rank, [1] * rank, [0] * (2 * rank)
    size = [max(n, (k - 1) * d + 1) for n, k, d in zip(size, kernel, dilations)]
    return kernel, strides, dilations, pads, size


def conv_case(rng, graph):
    rank = int(rng.choice([1, 2, 2, 2, 3]))
    kernel, strides, dilations, pads, size = random_window(rng, rank, rng.integers(1, 9, rank).tolist())
    group = int(rng.choice([1, 1, 1, 2, 3]))
    channels = group * int(rng.choice([1, 3, 4, 5, 8, 16, 17, 24, 32, 64] if rank < 3 else [2, 4, 6]))
    columns = group * int(rng.choice([1, 5, 8, 16, 17, 40]))
    kind = rng.choice([np.uint8, np.int8])
    x = draw(rng, kind, [int(rng.integers(1, 3)), channels, *size], rng.choice(["whole", "extreme"]))
    value = graph.input(x, fixed=(1,))
    integer = rng.random() < 0.3
    for depth in range(1 if integer else int(rng.integers(1, 4))):
        if depth:
            group, kernel, strides, dilations, pads = 1, [1] * rank, [1] * rank, [1] * rank, [0] * (2 * rank)
            columns = int(rng.choice([3, 16, 21]))
        layer = Layer(rng, x.dtype.type, [columns, x.shape[1] // group, *kernel], columns,
                      x.shape[1] // group * int(np.prod(kernel)))
        w = layer.w.astype(np.int64) - along(layer.w_zero.astype(np.int64), rank + 3)
        sums = convolve(x.astype(np.int64) - int(layer.x_zero), w, group, strides, dilations, pads)
        window = dict(group=group, strides=strides, dilations=dilations, pads=pads, kernel_shape=kernel)
        if integer:
            value = graph.node("ConvInteger", [value, graph.constant(layer.w), graph.constant(layer.x_zero),
                                               graph.constant(layer.w_zero)], **window)
            return value, sums.astype(np.int32)
        if layer.bias is not None:
            sums = sums + along(layer.bias.astype(np.int64), rank + 2)
        w_scale = layer.w_scale
        x = requantize(sums, along(layer.factor(), rank + 2), layer.y_zero)
        value = graph.node("QLinearConv", [value, *map(graph.constant, [
            layer.x_scale, layer.x_zero, layer.w, w_scale, layer.w_zero, layer.y_scale, layer.y_zero, layer.bias])],
            **window)
    return value, x


def product_case(rng, graph):
    lead = [int(n) for n in rng.integers(1, 7, int(rng.integers(1, 4)))]
    depth, columns = int(rng.choice([1, 3, 4, 16, 30, 64, 200, 300])), int(rng.choice([2, 7, 16, 17, 48]))
    op = rng.choice(["QLinearMatMul", "MatMulInteger", "QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"])
    if op == "QGemm":
        lead = lead[:1]
    layer = Layer(rng, rng.choice([np.uint8, np.int8]), [depth, columns], columns, depth)
    c = graph.constant
    weights = layer.w.astype(np.int64) - layer.w_zero.astype(np.int64)
    fbias = rng.normal(0, 1, columns).astype(f32) if rng.random() < 0.5 else None
    if op == "DynamicQuantizeMatMul":
        x = rng.normal(rng.uniform(-1, 1), 1, [*lead, depth]).astype(f32)
        low, high = min(x.min(), f32(0)), max(x.max(), f32(0))
        scale = (high - low) / f32(255)
        zero = np.rint(np.clip(-low / scale, f32(0), f32(255)))
        q = np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.int64) - int(zero)
        value = graph.node(op, [graph.input(x, (x.ndim - 1,)), c(layer.w), c(layer.w_scale), c(layer.w_zero), c(fbias)],
                           domain=MS)
        y = (q @ weights).astype(np.int32).astype(f32) * (scale * layer.w_scale)
        return value, (y if fbias is None else y + fbias)
    x = draw(rng, layer.x_zero.dtype.type, [*lead, depth], rng.choice(["whole", "extreme"]))
    value = graph.input(x, fixed=(x.ndim - 1,))
    sums = (x.astype(np.int64) - int(layer.x_zero)) @ weights
    if op == "MatMulInteger":
        value = graph.node(op, [value, c(layer.w), c(layer.x_zero), c(layer.w_zero)])
        return value, sums.astype(np.int32)
    if op == "MatMulIntegerToFloat":
        value = graph.node(op, [value, c(layer.w), c(layer.x_scale), c(layer.w_scale), c(layer.x_zero), c(layer.w_zero),
                                c(fbias)], domain=MS)
        y = sums.astype(np.int32).astype(f32) * (layer.x_scale * layer.w_scale)
        return value, (y if fbias is None else y + fbias)
    if op == "QLinearMatMul":
        value = graph.node(op, [value, *map(c, [layer.x_scale, layer.x_zero, layer.w, layer.w_scale, layer.w_zero,
                                                layer.y_scale, layer.y_zero])])
        return value, requantize(sums, layer.factor(), layer.y_zero)
    alpha = f32(rng.choice([1, 0.5, 1.7]))
    transposed = int(rng.random() < 0.5)
    if layer.bias is not None:
        sums = sums + layer.bias
    operands = [layer.x_scale, layer.x_zero, layer.w.T if transposed else layer.w, layer.w_scale, layer.w_zero,
                layer.bias, layer.y_scale, layer.y_zero]
    value = graph.node(op, [value, *map(c, operands)], domain=MS, alpha=float(alpha), transB=transposed)
    return value, requantize(sums, alpha * layer.x_scale * layer.w_scale / layer.y_scale, layer.y_zero)


def qdq_case(rng, graph):
    """A float op between dequantizers, a quantizer behind it or not."""
    is_conv = rng.random() < 0.6
    channels, columns, size = int(rng.choice([3, 16, 32])), int(rng.choice([5, 16, 24])), int(rng.integers(3, 8))
    kind = rng.choice([np.uint8, np.int8])
    x = draw(rng, kind, [1, channels, size, size] if is_conv else [size, channels], "whole")
    depth = channels * (9 if is_conv else 1)
    shape = [columns, channels, 3, 3] if is_conv else [channels, columns]
    layer = Layer(rng, kind, shape, columns, depth)
    c = graph.constant
    value = graph.node("DequantizeLinear", [graph.input(x, (1,)), c(layer.x_scale), c(layer.x_zero)])
    weights = graph.node("DequantizeLinear", [c(layer.w), c(layer.w_scale), c(np.broadcast_to(
        layer.w_zero, layer.w_scale.shape).copy() if layer.w_zero.ndim <= layer.w_scale.ndim else layer.w_zero)],
        axis=0 if is_conv else 1)
    rank = x.ndim
    w = layer.w.astype(np.int64) - (along(layer.w_zero.astype(np.int64), rank + 1) if is_conv else layer.w_zero.astype(np.int64))
    left = x.astype(np.int64) - int(layer.x_zero)
    scale = layer.x_scale * layer.w_scale
    if is_conv:
        sums = convolve(left, w, 1, [1, 1], [1, 1], [1, 1, 1, 1])
        operands = [value, weights]
        if layer.bias is not None:
            operands.append(graph.node("DequantizeLinear", [c(layer.bias), c(scale), ""], axis=0))
            sums = sums + along(layer.bias.astype(np.int64), rank)
        value = graph.node("Conv", operands, pads=[1, 1, 1, 1])
        scale = along(scale, rank)
    else:
        sums = left @ w
        value = graph.node("MatMul", [value, weights])
    activation = rng.choice(["", "Relu", "Clip"])
    # Some limits are beyond what bytes hold, some are between them.
    low, high = (f32(layer.y_scale * rng.uniform(*ends)) for ends in ((-200, 5), (0, 400)))
    if activation == "Relu":
        value, low, high = graph.node("Relu", [value]), f32(0), f32(np.inf)
    elif activation == "Clip":
        value = graph.node("Clip", [value, c(low), c(high)])
    else:
        low, high = f32(-np.inf), f32(np.inf)
    if rng.random() < 0.4:
        return value, np.clip(sums.astype(np.int32).astype(f32) * scale, low, high)
    value = graph.node("QuantizeLinear", [value, c(layer.y_scale), c(layer.y_zero)])
    expected = requantize(sums, scale / layer.y_scale, layer.y_zero)
    ends = [np.clip(np.rint(np.float64(f32(end / f32(layer.y_scale)))) + int(layer.y_zero), *RANGES[layer.y_zero.dtype.type])
            for end in (low, high)]
    return value, np.minimum(np.maximum(expected, ends[0]), ends[1]).astype(expected.dtype)


def transposed_case(rng, graph):
    """A transposed convolution between dequantizers, every stride, pad and group, a quantizer behind it or not."""
    rank = int(rng.choice([1, 2, 2]))
    kernel, strides, dilations = rng.integers(1, 5, rank).tolist(), rng.integers(1, 4, rank).tolist(), rng.integers(1, 3, rank).tolist()
    size = rng.integers(2, 7, rank).tolist()
    reach = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(size, strides, kernel, dilations)]
    extra = [int(rng.integers(0, max(s, d))) for s, d in zip(strides, dilations)]
    least = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    pads = [int(rng.integers(0, max(1, (n + 1) // 2))) for n in least] * 2
    pads = [min(p, (n - 1) // 2) for p, n in zip(pads, reach * 2)]
    group = int(rng.choice([1, 1, 2, 3]))
    channels, columns = group * int(rng.choice([1, 3, 4, 8, 17])), int(rng.choice([1, 2, 5, 8, 16, 17]))
    kind = rng.choice([np.uint8, np.int8])
    x = draw(rng, kind, [int(rng.integers(1, 3)), channels, *size], rng.choice(["whole", "extreme"]))
    layer = Layer(rng, kind, [channels, columns, *kernel], columns, channels // group * int(np.prod(kernel)))
    c = graph.constant
    value = graph.node("DequantizeLinear", [graph.input(x, (1,)), c(layer.x_scale), c(layer.x_zero)])
    w_zero = np.broadcast_to(layer.w_zero, layer.w_scale.shape).copy()
    operands = [value, graph.node("DequantizeLinear", [c(layer.w), c(layer.w_scale), c(w_zero)], axis=1)]
    w = layer.w.astype(np.int64) - along(w_zero.astype(np.int64), rank + 2)
    sums = convolve_transposed(x.astype(np.int64) - int(layer.x_zero), w, group, strides, dilations, pads, extra)
    scale = layer.x_scale * layer.w_scale
    if scale.ndim:
        scale = np.tile(scale, group)
    if rng.random() < 0.6:
        bias = rng.integers(-5000, 5000, columns * group).astype(np.int32)
        operands.append(graph.node("DequantizeLinear", [c(bias), c(scale), ""], axis=0))
        sums = sums + along(bias.astype(np.int64), rank + 2)
    scale = along(scale, rank + 2)
    value = graph.node("ConvTranspose", operands, group=group, kernel_shape=kernel, strides=strides, dilations=dilations,
                       pads=pads, output_padding=extra)
    if rng.random() < 0.3:
        return value, sums.astype(np.int32).astype(f32) * scale
    if rng.random() < 0.5:
        value, sums = graph.node("Relu", [value]), np.maximum(sums, 0)
    value = graph.node("QuantizeLinear", [value, c(layer.y_scale), c(layer.y_zero)])
    return value, requantize(sums, scale / layer.y_scale, layer.y_zero)


def activations_case(rng, graph):
    """A product of two tensors that are known at run time only, one matrix or batches of them."""
    lead = [int(n) for n in rng.integers(1, 4, int(rng.integers(0, 3)))]
    rows, depth, columns = int(rng.integers(1, 20)), int(rng.choice([1, 3, 4, 16, 31, 64, 200])), int(rng.choice([2, 7, 16, 17, 40]))
    kinds = [rng.choice([np.uint8, np.int8]) for _ in range(2)]
    style = rng.choice(["whole", "extreme"])
    a = draw(rng, kinds[0], [*lead, rows, depth], style)
    b = draw(rng, kinds[1], [*([] if rng.random() < 0.3 else lead), depth, columns], style)
    zeros = [np.array(draw(rng, kind, (), rng.choice(["whole", "extreme"])), kind) for kind in kinds]
    if rng.random() < 0.2:
        zeros = [np.zeros_like(zero) for zero in zeros]
    # Batches of both must be known.
    graph.is_open &= b.ndim == 2
    left, right = graph.input(a, fixed=(a.ndim - 1,)), graph.input(b, fixed=range(b.ndim))
    # Half of the zero points are known at run time only.
    names = [graph.constant(zero) if rng.random() < 0.5 else graph.input(zero, ()) for zero in zeros]
    scales = [f32(rng.uniform(0.5, 2) / 255) for _ in range(2)]
    sums = (a.astype(np.int64) - int(zeros[0])) @ (b.astype(np.int64) - int(zeros[1]))
    y_scale = f32(scales[0] * scales[1] * 4000 * np.sqrt(depth) * rng.uniform(0.3, 3))
    y_zero = np.array(draw(rng, rng.choice([np.uint8, np.int8]), (), "whole"))
    c = graph.constant
    op = rng.choice(["MatMulInteger", "QLinearMatMul", "MatMulIntegerToFloat", "MatMul"])
    if op == "MatMulInteger":
        return graph.node(op, [left, right, *names]), sums.astype(np.int32)
    if op == "QLinearMatMul":
        value = graph.node(op, [left, c(scales[0]), names[0], right, c(scales[1]), names[1], c(y_scale), c(y_zero)])
        return value, requantize(sums, scales[0] * scales[1] / y_scale, y_zero)
    if op == "MatMulIntegerToFloat":
        value = graph.node(op, [left, right, c(scales[0]), c(scales[1]), *names], domain=MS)
        return value, sums.astype(np.int32).astype(f32) * (scales[0] * scales[1])
    real = [graph.node("DequantizeLinear", [value, c(scale), zero]) for value, scale, zero in zip((left, right), scales, names)]
    value = graph.node("QuantizeLinear", [graph.node("MatMul", real), c(y_scale), c(y_zero)])
    return value, requantize(sums, scales[0] * scales[1] / y_scale, y_zero)


def wide_case(rng, graph):
    """16-bit activations: sums of 32 bits where weights are few, of 64 where they are many, also of extremes."""
    graph.opset = 21
    is_conv = rng.random() < 0.5
    kind = rng.choice([np.uint16, np.int16])
    channels, columns = int(rng.choice([3, 16, 64, 300])), int(rng.choice([5, 16, 24]))
    style = rng.choice(["whole", "extreme"])
    x = draw(rng, kind, [1, channels, 5, 4] if is_conv else [int(rng.integers(1, 8)), channels], style)
    group = int(rng.choice([1, 3])) if is_conv and channels % 3 == 0 else 1
    w = draw(rng, np.int8, [columns * group, channels // group, 3, 2] if is_conv else [channels, columns], style)
    if style == "extreme":
        x.flat[:x.size // 2], w.flat[:w.size // 2] = RANGES[kind][1], -128
    zero = np.array(draw(rng, kind, (), rng.choice(["whole", "extreme"])), kind)
    x_scale, w_scale = f32(rng.uniform(0.5, 2) / 65535), f32(rng.uniform(0.5, 2) / 127)
    c = graph.constant
    value = graph.node("DequantizeLinear", [graph.input(x, (1,)), c(x_scale), c(zero)])
    weights = graph.node("DequantizeLinear", [c(w), c(w_scale)])
    left = x.astype(np.int64) - int(zero)
    if is_conv:
        sums = convolve(left, w, group, [1, 1], [1, 1], [1, 0, 1, 1])
        value = graph.node("Conv", [value, weights], pads=[1, 0, 1, 1], group=group)
    else:
        sums = left @ w.astype(np.int64)
        value = graph.node("MatMul", [value, weights])
    real = sums.astype(f32) * (x_scale * w_scale)
    if rng.random() < 0.4:
        return value, real
    # A quantizer of 16 bits reads the real numbers, one of 8 bits the sums.
    y_kind = rng.choice([np.uint16, np.uint8])
    y_scale, y_zero = f32(max(np.abs(real).max(), 1e-3) / RANGES[y_kind][1] * rng.uniform(0.5, 2)), np.array(draw(rng, y_kind, (), "whole"), y_kind)
    value = graph.node("QuantizeLinear", [value, c(y_scale), c(y_zero)])
    scaled = real / y_scale if y_kind is np.uint16 else sums.astype(f32) * (x_scale * w_scale / y_scale)
    return value, np.clip(np.rint(scaled) + f32(y_zero), *RANGES[y_kind]).astype(y_kind)


def coded_case(rng, graph):
    """Floats times weights of four bits, in blocks or not. All sums are exact, so no order of them matters."""
    graph.opset = 21
    rows, depth, columns = int(rng.choice([1, 2, 7, 20])), int(rng.choice([5, 32, 80, 128])), int(rng.choice([2, 7, 16, 33, 70]))
    x = (rng.integers(-16, 17, [rows, depth]) / 4).astype(f32)
    signed = rng.random() < 0.5
    low = -8 if signed else 0
    q = rng.integers(low, low + 16, [depth, columns])
    block = int(rng.choice([16, 32, depth]))
    blocks = -(-depth // block)
    zeros = rng.integers(low, low + 16, [blocks, columns])
    scales = np.exp2(rng.integers(-3, 3, [blocks, columns])).astype(f32)
    op = rng.choice(["MatMulNBits", "MatMul", "Gemm"])
    if op == "MatMulNBits":
        block, low = int(rng.choice([16, 32])), 0
        blocks = -(-depth // block)
        q, zeros = rng.integers(0, 16, [depth, columns]), rng.integers(0, 16, [blocks, columns])
        scales = np.exp2(rng.integers(-3, 3, [blocks, columns])).astype(f32)
    of_row = np.arange(depth) // block
    y = x @ ((q - zeros[of_row]).astype(f32) * scales[of_row])
    value, c = graph.input(x, (1,)), graph.constant
    bias = (rng.integers(-16, 17, columns) / 8).astype(f32) if op != "MatMul" and rng.random() < 0.5 else None
    if bias is not None:
        y = y + bias
    if op == "MatMulNBits":
        codes = np.zeros([columns, blocks * block], np.uint8)
        codes[:, :depth] = q.T
        packed = (codes[:, ::2] | codes[:, 1::2] << 4).reshape(columns, blocks, block // 2)
        points = np.zeros([columns, blocks + blocks % 2], np.uint8)
        points[:, :blocks] = zeros.T
        points = points[:, ::2] | points[:, 1::2] << 4
        value = graph.node(op, [value, c(packed), c(scales.T.reshape(-1).copy()), c(points.reshape(-1)), "", c(bias)], domain=MS,
                           K=depth, N=columns, bits=4, block_size=block)
        return value, y
    transposed = op == "Gemm"
    kind = INT4 if signed else UINT4
    turn = (lambda array: array.T.copy()) if transposed else (lambda array: array)
    if blocks == 1:
        weights = graph.node("DequantizeLinear", [graph.halves(turn(q), kind), c(scales[0]), graph.halves(zeros[0], kind)],
                             axis=0 if transposed else 1)
    else:
        weights = graph.node("DequantizeLinear", [graph.halves(turn(q), kind), c(turn(scales)), graph.halves(turn(zeros), kind)],
                             axis=1 if transposed else 0, block_size=block)
    if op == "MatMul":
        return graph.node(op, [value, weights]), y
    return graph.node(op, [value, weights, c(bias)], transB=1), y


def halves_case(rng, graph):
    """Bytes times weights of four bits, enough of them to be stored so."""
    graph.opset = 21
    rows, depth, columns = int(rng.choice([1, 3, 16])), int(rng.choice([64, 130])), int(rng.choice([64, 100]))
    kind = rng.choice([np.uint8, np.int8])
    x = draw(rng, kind, [rows, depth], rng.choice(["whole", "extreme"]))
    signed = rng.random() < 0.5
    # With a zero point of eight, or none, differences have four bits again; with others more.
    q = rng.integers(-8, 8, [depth, columns]) + (0 if signed else 8)
    zero = np.array(0 if signed else rng.choice([8, 8, 3]))
    layer = Layer(rng, kind, [depth, columns], columns, depth)
    layer.w_scale = rng.uniform(0.5, 2, columns).astype(f32) / f32(7)
    c = graph.constant
    value = graph.node("DequantizeLinear", [graph.input(x, (1,)), c(layer.x_scale), c(layer.x_zero)])
    code = INT4 if signed else UINT4
    weights = graph.node("DequantizeLinear", [graph.halves(q, code), c(layer.w_scale), graph.halves(np.full(columns, zero), code)], axis=1)
    sums = (x.astype(np.int64) - int(layer.x_zero)) @ (q - zero)
    value = graph.node("QuantizeLinear", [graph.node("MatMul", [value, weights]), c(layer.y_scale), c(layer.y_zero)])
    return value, requantize(sums, layer.x_scale * layer.w_scale / layer.y_scale, layer.y_zero)


def transformed_case(rng, graph):
    """3x3 convolutions of enough places and channels to be transformed, by themselves or with a sum and a function behind them."""
    channels, columns = int(rng.choice([16, 24, 32, 40, 72])), int(rng.choice([16, 24, 27, 48]))
    size, pads = rng.integers(8, 20, 2).tolist(), rng.integers(0, 3, 4).tolist()
    if rng.random() < 0.3:
        size[int(rng.integers(2))] = int(rng.integers(1, 4))
    size = [max(n, 3 - pads[i] - pads[2 + i]) for i, n in enumerate(size)]
    kind = rng.choice([np.uint8, np.int8])
    x = draw(rng, kind, [int(rng.integers(1, 4)), channels, *size], rng.choice(["whole", "extreme"]))
    layer = Layer(rng, kind, [columns, channels, 3, 3], columns, 9 * channels)
    w = layer.w.astype(np.int64) - along(layer.w_zero.astype(np.int64), 5)
    sums = convolve(x.astype(np.int64) - int(layer.x_zero), w, 1, [1, 1], [1, 1], pads)
    value, c, op = graph.input(x, fixed=(1,)), graph.constant, rng.choice(["ConvInteger", "QLinearConv", "Conv"])
    # Half of the zero points are known at run time only.
    zero = c(layer.x_zero) if rng.random() < 0.5 else graph.input(np.array(layer.x_zero), ())
    if op == "ConvInteger":
        return graph.node(op, [value, c(layer.w), zero, c(layer.w_zero)], pads=pads), sums.astype(np.int32)
    if layer.bias is not None:
        sums = sums + along(layer.bias.astype(np.int64), 4)
    if op == "QLinearConv":
        operands = [layer.w, layer.w_scale, layer.w_zero, layer.y_scale, layer.y_zero, layer.bias]
        value = graph.node(op, [value, c(layer.x_scale), zero, *map(c, operands)], pads=pads)
        return value, requantize(sums, along(layer.factor(), 4), layer.y_zero)
    w_zero = np.broadcast_to(layer.w_zero, layer.w_scale.shape) if layer.w_zero.ndim <= layer.w_scale.ndim else layer.w_zero
    scale = layer.x_scale * layer.w_scale
    operands = [graph.node("DequantizeLinear", [value, c(layer.x_scale), zero]),
                graph.node("DequantizeLinear", [c(layer.w), c(layer.w_scale), c(w_zero.copy())], axis=0)]
    if layer.bias is not None:
        operands.append(graph.node("DequantizeLinear", [c(layer.bias), c(scale), ""], axis=0))
    value = graph.node("Conv", operands, pads=pads)
    other, other_zero, other_scale = draw(rng, kind, sums.shape, "whole"), draw(rng, kind, (), "whole"), f32(layer.y_scale * rng.uniform(0.3, 1))
    real = sums.astype(np.int32).astype(f32) * along(scale, 4) + (other.astype(f32) - f32(other_zero)) * other_scale
    residual = graph.node("DequantizeLinear", [graph.input(other, fixed=(1,)), c(other_scale), c(np.array(other_zero))])
    function = rng.choice(["Relu", "HardSwish"])
    value = graph.node(function, [graph.node("Add", [value, residual])])
    gate = np.clip(real * f32(1 / 6) + f32(0.5), f32(0), f32(1))
    real = np.maximum(real, f32(0)) if function == "Relu" else real * gate
    value = graph.node("QuantizeLinear", [value, c(layer.y_scale), c(layer.y_zero)])
    low, high = RANGES[layer.y_zero.dtype.type]
    return value, np.clip(np.rint(real / layer.y_scale) + f32(layer.y_zero), low, high).astype(layer.y_zero.dtype)


def extreme_case(number, graph):
    """Extremes of activations and weights with every zero point: 16 of them a graph, 32 graphs for both signs."""
    rng = graph.rng
    kind = [np.uint8, np.int8][number % 2]
    low, high = RANGES[kind]
    block = number // 2 % 16
    channels, width = [1, 2, 3, 4, 16, 20][block % 6], [3, 2, 5, 1][block % 4]
    x = draw(rng, kind, [3, channels, 3, 9], "extreme")
    x[0], x[1] = low, high
    w = draw(rng, np.int8, [17, channels, 2, width], "extreme")
    w[0], w[1], w[2, :, :, ::2] = 127, -128, 127
    value, weights, results, sums = graph.input(x, fixed=(1,)), graph.constant(w), [], []
    for zero in range(low + 16 * block, low + 16 * block + 16):
        results.append(graph.node("ConvInteger", [value, weights, graph.constant(np.array(zero, kind))], pads=[1, 1, 0, 1]))
        sums.append(convolve(x.astype(np.int64) - zero, w, 1, [1, 1], [1, 1], [1, 1, 0, 1]).astype(np.int32))
    return graph.node("Concat", results, axis=0), np.concatenate(sums)


def extreme_transformed(number, graph):
    """The same of 3x3 convolutions that are transformed."""
    rng = graph.rng
    kind = [np.uint8, np.int8][number % 2]
    low, high = RANGES[kind]
    block = number // 2 % 16
    # Sums of the most channels are too large for tiles of 4x4 places.
    channels, columns, pads = [16, 24, 32, 120 * (number % 2 + 1)][block % 4], [17, 24, 16, 16][block % 4], [1, block % 3, block % 2, 1]
    x = draw(rng, kind, [3, channels, 7 + block % 2, 12], "extreme")
    x[0], x[1] = low, high
    w = draw(rng, np.int8, [columns, channels, 3, 3], "extreme")
    w[0], w[1], w[2, :, :, ::2], w[3, :, 1, 1] = 127, -128, 127, -128
    value, weights, results, sums = graph.input(x, fixed=(1,)), graph.constant(w), [], []
    for zero in range(low + 16 * block, low + 16 * block + 16):
        results.append(graph.node("ConvInteger", [value, weights, graph.constant(np.array(zero, kind))], pads=pads))
        sums.append(convolve(x.astype(np.int64) - zero, w, 1, [1, 1], [1, 1], pads).astype(np.int32))
    return graph.node("Concat", results, axis=0), np.concatenate(sums)


def extreme_rounding(number, graph):
    """Extreme sums, ties among them, rounded and moved by every zero point of the output."""
    rng = graph.rng
    kind, y_kind = [np.uint8, np.int8][number // 16 % 2], [np.uint8, np.int8][number % 2]
    low, high = RANGES[kind]
    block = number // 2 % 16
    channels, columns = [1, 4, 8, 19][block % 4], [1, 8, 16, 21][block // 4]
    x = draw(rng, kind, [9, channels, 1], "extreme")
    x[0], x[1], x[2] = low, high, 1
    w = draw(rng, np.int8, [columns, channels, 1], "extreme")
    w[0] = 1
    value, zero, results, arrays = graph.input(x, fixed=(1,)), np.array(draw(rng, kind, (), "extreme"), kind), [], []
    sums = convolve(x.astype(np.int64) - int(zero), w, 1, [1], [1], [0, 0])
    c = graph.constant
    w_name, w_zero, one = c(w), c(np.int8(0)), c(f32(1))
    for y_zero in range(RANGES[y_kind][0] + 16 * block, RANGES[y_kind][0] + 16 * block + 16):
        # Halves are ties; smaller factors bring extremes into the range, one leaves all beyond it.
        factor = f32([0.5, 1, 2**-7, 2**-9 * 1.01][y_zero % 4])
        y_zero = np.array(y_zero, y_kind)
        results.append(graph.node("QLinearConv", [value, one, c(zero), w_name, one, w_zero, c(f32(1) / factor), c(y_zero)]))
        arrays.append(requantize(sums, f32(1) / (f32(1) / factor), y_zero))
    return graph.node("Concat", results, axis=0), np.concatenate(arrays)


def extreme_activations(number, graph):
    """Extremes of two activations with every zero point of both."""
    rng = graph.rng
    kinds = [np.uint8, np.int8][number % 2], [np.uint8, np.int8][number // 16 % 2]
    block = number // 2 % 16
    rows, depth, columns = [1, 2, 4, 9][block % 4], [1, 4, 8, 33][block // 4], [2, 8, 17][block % 3]
    a, b = draw(rng, kinds[0], [rows, depth], "extreme"), draw(rng, kinds[1], [depth, columns], "extreme")
    a[0], b[:, 0] = RANGES[kinds[0]][1], RANGES[kinds[1]][0]
    left, right, results, sums = graph.input(a, fixed=(1,)), graph.input(b, fixed=(0, 1)), [], []
    for i in range(16 * block, 16 * block + 16):
        zeros = RANGES[kinds[0]][0] + i, RANGES[kinds[1]][1] - i
        results.append(graph.node("MatMulInteger", [left, right, *(graph.constant(np.array(z, k)) for z, k in zip(zeros, kinds))]))
        sums.append(((a.astype(np.int64) - zeros[0]) @ (b.astype(np.int64) - zeros[1])).astype(np.int32))
    return graph.node("Concat", results, axis=0), np.concatenate(sums)


def extreme_tables(number, graph):
    """Every byte through a function that becomes a table: of an input, or behind a product."""
    rng = graph.rng
    kind, y_kind = [np.uint8, np.int8][number % 2], [np.uint8, np.int8][number // 2 % 2]
    x, c = draw(rng, kind, [48, 19], "any"), graph.constant
    x.reshape(-1)[:256] = np.arange(256).astype(np.uint8).view(kind)
    zero, y_zero = (np.array(draw(rng, k, (), "any"), k) for k in (kind, y_kind))
    value = graph.input(x, fixed=(1,))
    if number >= 16:
        w = draw(rng, np.int8, [19, [16, 21, 32, 72][number // 4 % 4]], "any")
        sums = (x.astype(np.int64) - int(zero)) @ w.astype(np.int64)
        factor = f32(2**-9)
        value = graph.node("QLinearMatMul", [value, c(f32(1)), c(zero), c(w), c(f32(1)), c(np.int8(0)), c(f32(1) / factor), c(zero)])
        x = requantize(sums, factor, zero)
    scale, y_scale = f32(0.37), f32(0.043)
    real = graph.node("DequantizeLinear", [value, c(scale), c(zero)])
    root = graph.node("Sqrt", [graph.node("Abs", [real])])
    roots = np.sqrt(np.abs((x.astype(f32) - f32(zero)) * scale))
    low, high = RANGES[y_kind]
    array = np.clip(np.rint(roots / y_scale) + f32(y_zero), low, high).astype(y_kind)
    return graph.node("QuantizeLinear", [root, c(y_scale), c(y_zero)]), array


# Convolutions: inputs [N, C, H, W], columns, size, stride, pad, dilation, groups. Depths that aren't multiples of 64,
# few rows, rows and columns that fill no tile, taps that follow each other and such that don't.
TILED_WINDOWS = [
    ([1, 64, 5, 16], 32, 1, 1, 0, 1, 1), ([2, 100, 3, 17], 40, 1, 1, 0, 1, 1), ([1, 16, 9, 33], 24, 3, 1, 1, 1, 1),
    ([1, 3, 20, 40], 48, 7, 2, 3, 1, 1), ([1, 48, 6, 7], 64, 3, 1, 1, 1, 1), ([1, 72, 7, 18], 64, 3, 1, 1, 1, 2),
    ([1, 64, 6, 20], 17, 3, 1, 2, 2, 1), ([1, 200, 1, 13], 96, 1, 1, 0, 1, 1), ([3, 68, 7, 35], 33, 1, 2, 0, 1, 1),
    ([1, 128, 2, 31], 16, 1, 1, 0, 1, 1), ([1, 32, 7, 47], 32, 5, 1, 2, 1, 1), ([2, 84, 5, 5], 112, 3, 1, 0, 1, 1),
    ([1, 66, 9, 9], 80, 3, 2, 1, 1, 1)]
# Products: rows, depth and columns; the last two of two activations.
TILED_PRODUCTS = [([40], 120, 120), ([3, 33], 96, 50), ([2, 4, 64], 128, 31)]


def extreme_tiles(number, graph):
    """Extremes of contractions that are large enough for tiles."""
    rng, c = graph.rng, graph.constant
    kind = [np.uint8, np.int8][number // 16]
    zero = np.array(RANGES[kind][number % 2], kind)
    if number % 16 >= len(TILED_WINDOWS):
        lead, depth, columns = TILED_PRODUCTS[number % 16 - len(TILED_WINDOWS)]
        x = draw(rng, kind, [*lead, depth], "extreme")
        w_kind = [np.int8, np.uint8][number % 2] if len(lead) > 1 else np.int8
        w = draw(rng, w_kind, [*lead[:-1], depth, columns], "extreme")
        value = graph.input(x, fixed=range(x.ndim) if len(lead) > 1 else (1,))
        weights = c(w) if len(lead) == 1 else graph.input(w, fixed=range(w.ndim))
        sums = (x.astype(np.int64) - int(zero)) @ w.astype(np.int64)
        return graph.node("MatMulInteger", [value, weights, c(zero), c(w_kind(0))]), sums.astype(np.int32)
    shape, columns, size, stride, pad, dilation, group = TILED_WINDOWS[number % 16]
    x = draw(rng, kind, shape, "extreme")
    w = draw(rng, np.int8, [columns, shape[1] // group, size, size], "extreme")
    window = dict(group=group, strides=[stride] * 2, dilations=[dilation] * 2, pads=[pad] * 4)
    sums = convolve(x.astype(np.int64) - int(zero), w, **window)
    value, window["kernel_shape"] = graph.input(x, fixed=(1,)), [size] * 2
    if number % 4 in (0, 3):
        return graph.node("ConvInteger", [value, c(w), c(zero)], **window), sums.astype(np.int32)
    factor, one = f32(2**-11), c(f32(1))
    value = graph.node("QLinearConv", [value, one, c(zero), c(w), one, c(np.int8(0)), c(f32(1) / factor), c(zero)], **window)
    return value, requantize(sums, factor, zero)


EXTREMES = {"extreme": extreme_case, "tiles": extreme_tiles, "transformed": extreme_transformed, "rounding": extreme_rounding, "pairs": extreme_activations, "tables": extreme_tables}
CASES = (conv_case, product_case, conv_case, qdq_case, conv_case, product_case, qdq_case, transposed_case,
         activations_case, wide_case, coded_case, halves_case, transformed_case)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    require_tools()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(os.environ.get("ONNXQUANT_CASES") or temporary)
        for number in range(count):
            rng = np.random.default_rng(number)
            graph = Graph(rng, is_open=number % 4 > 1)
            output, array = CASES[number % len(CASES)](rng, graph)
            model = graph.model(output, array)
            write_case(folder / f"case_{number:04}", model, graph.feeds, [array])
        for name, make in EXTREMES.items():
            for number in range(32):
                graph = Graph(np.random.default_rng(number), is_open=number % 4 > 1)
                output, array = make(number, graph)
                write_case(folder / f"{name}_{number:02}", graph.model(output, array), graph.feeds, [array])
        command = [ONNXQ, "test", str(folder), "--filter", ".", "--rtol", "0", "--atol", "0", *sys.argv[2:]]
        sys.exit(subprocess.run(command).returncode)


if __name__ == "__main__":
    main()
