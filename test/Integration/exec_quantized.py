#!/usr/bin/env -S /usr/bin/python3
"""Quantized, fused and recurrent ops against ONNX Runtime, on models of one node.

Each case runs with static shapes and constant weights, and again with every
dimension and operand open until run time, with the results that constant weights
give: the runtime's products of bytes that aren't saturate on some processors. Scales leave no ties where the runtime
adds the zero point before it rounds, or sums rounded numbers. A pattern as argument
chooses cases; ONNXQUANT_CASES names a folder to keep them in. Prints a line per
failure, then the totals.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.harness import ONNXQ, require_tools
from support import ort

TYPES = {
    "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "float16": TensorProto.FLOAT16,
    "int8": TensorProto.INT8, "uint8": TensorProto.UINT8, "int16": TensorProto.INT16,
    "uint16": TensorProto.UINT16, "int32": TensorProto.INT32, "int64": TensorProto.INT64, "bool": TensorProto.BOOL,
}
MS = "com.microsoft"
rng = np.random.default_rng(7)


class Case:
    """A node with operands by name (None: left out); `data` are those that are never constant.

    A closed case needs widths that are known when the model is imported."""

    def __init__(self, name, op, operands, outputs, data=1, domain="", constant=(), closed=False, **attributes):
        self.closed = closed
        self.name, self.op, self.operands, self.outputs = name, op, operands, outputs
        self.data, self.domain, self.attributes = data, domain, attributes
        self.constant = constant

    def model(self, is_open):
        inputs, initializers, names, feeds = [], [], [], {}
        for index, (name, array) in enumerate(self.operands.items()):
            if array is None:
                names.append("")
                continue
            names.append(name)
            array = np.ascontiguousarray(array) if array.ndim else array
            if (index < self.data or is_open) and name not in self.constant:
                dims = [f"{name}_{i}" for i in range(array.ndim)] if is_open else list(array.shape)
                inputs.append(helper.make_tensor_value_info(name, TYPES[array.dtype.name], dims))
                feeds[name] = array
            else:
                initializers.append(numpy_helper.from_array(array, name))
        while names and not names[-1]:
            names.pop()
        outputs = [helper.make_tensor_value_info(name, TYPES[kind], None) for name, kind in self.outputs.items() if kind]
        node = helper.make_node(self.op, names, [name if kind else "" for name, kind in self.outputs.items()],
                                name="node", domain=self.domain, **self.attributes)
        graph = helper.make_graph([node], "case", inputs, outputs, initializers)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MS, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8), feeds


class RoundTrip:
    """Real numbers through a quantized type that arrays cannot hold, and back."""

    def __init__(self, name, kind, x, scale, zero_bytes=None, **attributes):
        self.name, self.kind, self.x, self.scale = name, kind, x, scale
        self.zero_bytes, self.attributes = zero_bytes, attributes

    def model(self, is_open):
        kind = TYPES[self.x.dtype.name]
        dims = [f"x_{i}" for i in range(self.x.ndim)] if is_open else list(self.x.shape)
        parameters = ["s", "z"]
        zero = TensorProto(name="z", data_type=self.kind, dims=self.scale.shape, raw_data=self.zero_bytes)
        initializers = [numpy_helper.from_array(self.scale, "s"), zero]
        shared = {key: value for key, value in self.attributes.items() if key != "saturate"}
        nodes = [helper.make_node("QuantizeLinear", ["x", *parameters], ["q"], name="quantize", **self.attributes),
                 helper.make_node("DequantizeLinear", ["q", *parameters], ["y"], name="dequantize", **shared)]
        graph = helper.make_graph(nodes, "case", [helper.make_tensor_value_info("x", kind, dims)],
                                  [helper.make_tensor_value_info("y", kind, None)], initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), {"x": self.x}


def round_trips():
    x = f32(6, 5, scale=4)
    x[0, :3] = [1e4, -1e4, 0.0]
    blocked = (rng.random((3, 5)) + 0.2).astype(np.float32)
    for name, kind in (("uint4", 21), ("int4", 22)):
        yield RoundTrip(f"roundtrip_{name}", kind, x, scalar(0.7), b"\x03")
        yield RoundTrip(f"roundtrip_{name}_axis", kind, x, blocked[0], bytes(ints(np.uint8, 3)), axis=1)
        yield RoundTrip(f"roundtrip_{name}_blocks", kind, x, blocked, bytes(ints(np.uint8, 8)), axis=0, block_size=2)
        yield RoundTrip(f"roundtrip_{name}_tail", kind, x[:5], blocked, bytes(ints(np.uint8, 8)), axis=0, block_size=2)
        yield RoundTrip(f"roundtrip_{name}_half", kind, x.astype(np.float16), scalar(0.7, np.float16), b"\x03")
    for name, kind in (("uint8", 2), ("int8", 3), ("uint16", 4), ("int16", 5)):
        raw = bytes(15 * (2 if name.endswith("16") else 1))
        yield RoundTrip(f"roundtrip_{name}_blocks", kind, x, blocked, raw, axis=-2, block_size=2)
        yield RoundTrip(f"roundtrip_{name}_half", kind, x.astype(np.float16), scalar(0.037, np.float16), raw[:len(raw) // 15])
    for name, kind in (("e4m3fn", 17), ("e4m3fnuz", 18), ("e5m2", 19), ("e5m2fnuz", 20)):
        wide = f32(40, scale=400)
        wide[:4] = [np.inf, -np.inf, 1e9, 0.001]
        for saturate in (0, 1):
            yield RoundTrip(f"roundtrip_{name}_{saturate}", kind, wide, scalar(0.7), b"\0", saturate=saturate)


def f32(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def ints(kind, *shape):
    info = np.iinfo(kind)
    return rng.integers(info.min, info.max + 1, size=shape).astype(kind)


def scalar(value, kind=np.float32):
    return np.array(value, dtype=kind)


def zero(kind):
    return scalar(rng.integers(100, 156) if kind == np.uint8 else rng.integers(-20, 20), kind)


def quantizers():
    for kind in (np.uint8, np.int8, np.uint16, np.int16):
        name = np.dtype(kind).name
        domain = MS if name.endswith("16") else ""
        x = f32(3, 5, 7, scale=60)
        x[0, 0, :4] = [np.inf, -np.inf, 1e30, 0.25]
        yield Case(f"quantize_{name}", "QuantizeLinear", {"x": x, "s": scalar(0.5), "z": scalar(3, kind)},
                   {"y": name}, domain=domain)
        channels = ints(np.int8, 5).astype(kind)
        yield Case(f"quantize_axis_{name}", "QuantizeLinear",
                   {"x": x, "s": (rng.random(5) + 0.1).astype(np.float32), "z": channels},
                   {"y": name}, domain=domain, axis=-2)
        yield Case(f"dequantize_axis_{name}", "DequantizeLinear",
                   {"x": ints(kind, 3, 5, 7), "s": (rng.random(5) + 0.1).astype(np.float32), "z": channels},
                   {"y": "float32"}, domain=domain, axis=1)
    ties = np.arange(-20, 20, dtype=np.float32) / 2
    yield Case("quantize_ties", "QuantizeLinear", {"x": ties, "s": scalar(1.0), "z": scalar(3, np.uint8)}, {"y": "uint8"})
    yield Case("dequantize_bias", "DequantizeLinear", {"x": ints(np.int32, 40), "s": scalar(1e-6)}, {"y": "float32"})
    for name, x in {"mixed": f32(4, 9, scale=3), "positive": np.abs(f32(20)), "negative": -np.abs(f32(20)),
                    "zero": np.zeros((2, 3), np.float32)}.items():
        yield Case(f"dynamic_{name}", "DynamicQuantizeLinear", {"x": x}, {"y": "uint8", "s": "float32", "z": "uint8"})


def products():
    for a, b in ((np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)):
        tag = f"{np.dtype(a).name}_{np.dtype(b).name}"
        yield Case(f"matmulinteger_{tag}", "MatMulInteger",
                   {"a": ints(a, 2, 5, 9), "b": ints(b, 9, 6), "az": zero(a), "bz": zero(b)}, {"y": "int32"})
        yield Case(f"matmulinteger_column_{tag}", "MatMulInteger",
                   {"a": ints(a, 5, 9), "b": ints(b, 9, 6), "az": zero(a), "bz": ints(b, 6)}, {"y": "int32"})
        scales = {"as": scalar(0.02), "bs": scalar(0.013), "ys": scalar(0.4)}
        for column in (False, True):
            bs = (rng.random(6) * 0.02 + 0.001).astype(np.float32) if column else scales["bs"]
            bz = np.zeros(6, b) if column else zero(b)
            yield Case(f"qlinearmatmul_{tag}_{column}", "QLinearMatMul",
                       {"a": ints(a, 2, 5, 9), "as": scales["as"], "az": zero(a), "b": ints(b, 9, 6), "bs": bs,
                        "bz": bz, "ys": scales["ys"], "yz": zero(a)}, {"y": np.dtype(a).name})
            for group, pads in ((1, [1, 1, 1, 1]), (2, [0, 2, 1, 0])):
                ws = (rng.random(4) * 0.02 + 0.001).astype(np.float32) if column else scalar(0.01)
                wz = np.zeros(4, b) if column else zero(b)
                yield Case(f"qlinearconv_{tag}_{column}_{group}", "QLinearConv",
                           {"x": ints(a, 2, 4, 7, 8), "xs": scalar(0.03), "xz": zero(a),
                            "w": ints(b, 4, 4 // group, 3, 2), "ws": ws, "wz": wz, "ys": scalar(0.7), "yz": zero(a),
                            "b": ints(np.int16, 4).astype(np.int32)}, {"y": np.dtype(a).name},
                           group=group, pads=pads, strides=[2, 1], dilations=[1, 2])
    yield Case("convinteger", "ConvInteger",
               {"x": ints(np.uint8, 2, 4, 7, 8), "w": ints(np.uint8, 6, 2, 3, 3), "xz": zero(np.uint8), "wz": zero(np.uint8)},
               {"y": "int32"}, group=2, pads=[1, 0, 1, 2])


def elementwise():
    for kind in (np.uint8, np.int8):
        name = np.dtype(kind).name
        a = {"a": ints(kind, 2, 3, 5), "as": scalar(0.0313), "az": zero(kind)}
        b = {"b": ints(kind, 3, 1), "bs": scalar(0.0517), "bz": zero(kind)}
        c = {"cs": scalar(0.0611), "cz": zero(kind)}
        yield Case(f"qlinearadd_{name}", "QLinearAdd", {**a, **b, **c}, {"y": name}, domain=MS)
        yield Case(f"qlinearmul_{name}", "QLinearMul", {**a, **b, **c}, {"y": name}, domain=MS)
        x = {"x": ints(kind, 4, 50), "xs": scalar(0.05), "xz": zero(kind)}
        y = {"ys": scalar(0.06), "yz": zero(kind)}
        yield Case(f"qlinearleakyrelu_{name}", "QLinearLeakyRelu", {**x, **y}, {"y": name}, domain=MS, alpha=0.2)
        unit = {"ys": scalar(1 / 256), "yz": scalar(0 if kind == np.uint8 else -128, kind)}
        yield Case(f"qlinearsigmoid_{name}", "QLinearSigmoid", {**x, **unit}, {"y": name}, domain=MS)
        for opset, axis in ((13, -1), (12, 1), (13, 0)):
            yield Case(f"qlinearsoftmax_{name}_{opset}_{axis}", "QLinearSoftmax",
                       {"x": ints(kind, 3, 4, 6), "xs": scalar(0.05), "xz": zero(kind), **unit}, {"y": name},
                       domain=MS, axis=axis, opset=opset, constant=("xs", "ys", "yz"))
        yield Case(f"qlinearwhere_{name}", "QLinearWhere",
                   {"c": rng.random((2, 1, 5)) < 0.5, "x": ints(kind, 3, 5), "xs": scalar(0.05), "xz": zero(kind),
                    "w": ints(kind, 2, 3, 5), "ws": scalar(0.03), "wz": zero(kind), "zs": scalar(0.06), "zz": zero(kind)},
                   {"y": name}, domain=MS, data=2)
        yield Case(f"qlinearconcat_{name}", "QLinearConcat",
                   {"ys": scalar(0.06), "yz": zero(kind), "a": ints(kind, 2, 3, 4), "as": scalar(0.05), "az": zero(kind),
                    "b": ints(kind, 2, 5, 4), "bs": scalar(0.03), "bz": zero(kind)},
                   {"y": name}, domain=MS, data=3, axis=1)
        for last in (0, 1):
            image = ints(kind, 2, 7, 6, 3) if last else ints(kind, 2, 3, 7, 6)
            pooled = {"x": image, "xs": scalar(0.0517), "xz": zero(kind), "ys": scalar(0.0411), "yz": zero(kind)}
            yield Case(f"qlinearglobalaveragepool_{name}_{last}", "QLinearGlobalAveragePool", pooled, {"y": name},
                       domain=MS, channels_last=last)
            for include in (0, 1):
                yield Case(f"qlinearaveragepool_{name}_{last}_{include}", "QLinearAveragePool", pooled, {"y": name},
                           domain=MS, channels_last=last, count_include_pad=include, ceil_mode=1,
                           kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])


def gemms():
    for kind in (np.uint8, np.int8):
        name = np.dtype(kind).name
        for column in (False, True):
            bs = (rng.random(6) * 0.02 + 0.001).astype(np.float32) if column else scalar(0.01)
            bz = np.zeros(6, np.int8) if column else zero(np.int8)
            base = {"a": ints(kind, 9, 5), "as": scalar(0.02), "az": zero(kind), "b": ints(np.int8, 6, 9), "bs": bs,
                    "bz": bz, "c": ints(np.int16, 6).astype(np.int32)}
            yield Case(f"qgemm_float_{name}_{column}", "QGemm", {**base}, {"y": "float32"}, domain=MS,
                       transA=1, transB=1, alpha=0.7)
            yield Case(f"qgemm_{name}_{column}", "QGemm", {**base, "ys": scalar(0.5), "yz": zero(kind)}, {"y": name},
                       domain=MS, transA=1, transB=1, alpha=0.7)
            yield Case(f"dynamicquantizematmul_{name}_{column}", "DynamicQuantizeMatMul",
                       {"a": f32(2, 5, 9), "b": ints(kind, 9, 6), "bs": bs, "bz": bz.astype(kind), "bias": f32(6)},
                       {"y": "float32"}, domain=MS)
            yield Case(f"matmulintegertofloat_{name}_{column}", "MatMulIntegerToFloat",
                       {"a": ints(kind, 2, 5, 9), "b": ints(np.int8, 9, 6), "as": scalar(0.02), "bs": bs,
                        "az": zero(kind), "bz": bz, "bias": f32(6)}, {"y": "float32"}, domain=MS)
    for bits, block, size in ((4, 32, 70), (4, 16, 64), (8, 32, 40), (2, 16, 48)):
        blocks = -(-size // block)
        weight = ints(np.uint8, 7, blocks, block * bits // 8)
        scales = (rng.random(7 * blocks) * 0.1).astype(np.float32)
        packed = ints(np.uint8, 7 * (-(-blocks * bits // 8)))
        base = {"a": f32(2, 3, size), "b": weight, "s": scales}
        for tag, zeros, bias in (("plain", None, None), ("zero", packed, None), ("bias", packed, f32(7))):
            yield Case(f"matmulnbits_{bits}_{block}_{tag}", "MatMulNBits",
                       {**base, "z": zeros, "g": None, "bias": bias}, {"y": "float32"}, domain=MS,
                       constant=("b", "s", "z", "bias"), K=size, N=7, bits=bits, block_size=block)


def fused():
    for op, operands, extra in (("Gelu", 1, {}), ("QuickGelu", 1, {"alpha": 1.5}), ("BiasGelu", 2, {}), ("FastGelu", 2, {})):
        both = {"x": f32(2, 3, 8), "b": f32(8)}
        yield Case(op.lower(), op, dict(list(both.items())[:operands]), {"y": "float32"}, domain=MS, **extra)
    yield Case("skiplayernorm", "SkipLayerNormalization",
               {"x": f32(2, 3, 8), "s": f32(2, 3, 8), "g": f32(8), "b": f32(8), "bias": f32(8)},
               {"y": "float32", "m": None, "v": None, "sum": "float32"}, domain=MS, data=2, epsilon=1e-5)
    for activation, parameters in (("Relu", []), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.7]), ("HardSigmoid", [0.3, 0.4]),
                                   ("Sigmoid", []), ("Tanh", [])):
        yield Case(f"fusedconv_{activation}", "FusedConv",
                   {"x": f32(1, 4, 6, 5), "w": f32(6, 2, 3, 3), "b": f32(6)}, {"y": "float32"}, domain=MS, group=2,
                   pads=[1, 1, 1, 1], activation=activation,
                   **({"activation_params": parameters} if parameters else {}))
        if activation == "Clip":
            continue
        yield Case(f"fusedgemm_{activation}", "FusedGemm", {"a": f32(5, 4), "b": f32(6, 5), "c": f32(6)},
                   {"y": "float32"}, domain=MS, transA=1, transB=1, alpha=0.6, beta=1.3, activation=activation,
                   **dict(zip(("activation_alpha", "activation_beta"), parameters)))
    yield Case("fusedmatmul", "FusedMatMul", {"a": f32(2, 3, 5, 4), "b": f32(2, 3, 6, 5)}, {"y": "float32"}, domain=MS,
               data=2, transA=1, transB=1, alpha=0.3)
    yield Case("fusedmatmul_batch", "FusedMatMul", {"a": f32(3, 2, 4, 5), "b": f32(2, 4, 5, 6)}, {"y": "float32"},
               domain=MS, data=2, transBatchA=1, alpha=0.3)


def attentions():
    masks = {"none": None, "ends": np.array([3, 5], np.int32), "both": np.array([4, 5, 1, 2], np.int32),
             "raw": (rng.random((2, 5)) < 0.7).astype(np.int32), "full": (rng.random((2, 5, 5)) < 0.7).astype(np.int32)}
    for tag, mask in masks.items():
        for causal in (0, 1):
            yield Case(f"attention_{tag}_{causal}", "Attention",
                       {"x": f32(2, 5, 8), "w": f32(8, 24, scale=0.5), "b": f32(24), "mask": mask}, {"y": "float32"},
                       domain=MS, num_heads=2, unidirectional=causal)
            if tag != "full":
                yield Case(f"qattention_{tag}_{causal}", "QAttention",
                           {"x": ints(np.uint8, 2, 5, 8), "w": ints(np.int8, 8, 24), "b": f32(24), "xs": scalar(0.02),
                            "ws": scalar(0.01), "mask": mask, "xz": zero(np.uint8), "wz": zero(np.int8)},
                           {"y": "float32"}, domain=MS, num_heads=2, unidirectional=causal)
    yield Case("attention_past", "Attention",
               {"x": f32(2, 3, 8), "w": f32(8, 24, scale=0.5), "b": f32(24), "mask": None, "past": f32(2, 2, 2, 4, 4)},
               {"y": "float32", "present": "float32"}, domain=MS, num_heads=2, unidirectional=1)
    yield Case("attention_bias", "Attention",
               {"x": f32(2, 5, 8), "w": f32(8, 20, scale=0.5), "b": f32(20), "mask": None, "past": None,
                "bias": f32(1, 2, 5, 5)}, {"y": "float32"}, domain=MS, num_heads=2, qkv_hidden_sizes=[6, 6, 8])


def transformers():
    """What ONNX Runtime's optimizers make of transformers, beside the fused products."""
    x = f32(2, 5, 8)
    yield Case("simplifiedlayernorm", "SimplifiedLayerNormalization", {"x": x, "g": f32(8)}, {"y": "float32"},
               axis=-1, epsilon=1e-5)
    for tag, bias in (("plain", None), ("bias", f32(8))):
        yield Case(f"skipsimplifiedlayernorm_{tag}", "SkipSimplifiedLayerNormalization",
                   {"x": x, "s": f32(2, 5, 8), "g": f32(8), "bias": bias},
                   {"y": "float32", "m": None, "v": None, "sum": "float32"}, domain=MS, data=2, epsilon=1e-5)
    ids, mask = rng.integers(0, 20, (2, 5)).astype(np.int32), (rng.random((2, 5)) < 0.6).astype(np.int32)
    tables = {"word": f32(20, 8), "position": f32(9, 8)}
    yield Case("embedlayernorm", "EmbedLayerNormalization",
               {"ids": ids, "segments": ids % 2, **tables, "segment": f32(2, 8), "g": f32(8), "b": f32(8), "mask": mask},
               {"y": "float32", "ends": "int32"}, domain=MS, data=2, epsilon=1e-6,
               constant=("word", "position", "segment", "g", "b"))
    yield Case("embedlayernorm_short", "EmbedLayerNormalization",
               {"ids": ids, "segments": None, **tables, "segment": None, "g": f32(8), "b": f32(8)},
               {"y": "float32", "ends": "int32"}, domain=MS, constant=("word", "position", "g", "b"))
    attend = {"q": x, "k": f32(2, 6, 8), "v": f32(2, 6, 8)}
    long = (rng.random((2, 6)) < 0.7).astype(np.int32)
    variants = {
        "plain": ({}, {}), "bias": ({"b": f32(24)}, {}), "mask": ({"b": None, "mask": long}, {"mask_filter_value": -50.0}),
        "attention_bias": ({"b": None, "mask": None, "ab": f32(1, 2, 5, 6)}, {"scale": 0.3}),
    }
    for tag, (operands, extra) in variants.items():
        yield Case(f"multiheadattention_{tag}", "MultiHeadAttention", {**attend, **operands}, {"y": "float32"}, domain=MS,
                   data=3, closed=True, num_heads=2, **extra)
    yield Case("multiheadattention_causal", "MultiHeadAttention", {"q": x, "k": x + 1, "v": x * 2}, {"y": "float32"},
               domain=MS, data=3, closed=True, num_heads=2, unidirectional=1)
    yield Case("multiheadattention_past", "MultiHeadAttention",
               {"q": x, "k": x + 1, "v": x * 2, "b": f32(24), "mask": None, "ab": None, "pk": f32(2, 2, 3, 4),
                "pv": f32(2, 2, 3, 4)}, {"y": "float32", "presentk": "float32", "presentv": "float32"},
               domain=MS, data=3, closed=True, num_heads=2)
    yield Case("multiheadattention_heads", "MultiHeadAttention",
               {"q": x, "k": f32(2, 2, 6, 4), "v": f32(2, 2, 6, 4)}, {"y": "float32"}, domain=MS, data=3, closed=True, num_heads=2)
    caches = {"cos": np.cos(f32(16, 2)), "sin": np.sin(f32(16, 2))}
    every, first = rng.integers(0, 16, (2, 5)).astype(np.int64), np.array([3], np.int64)
    for tag, positions in (("every", every), ("first", first)):
        for interleaved in (0, 1):
            yield Case(f"rotary_flat_{tag}_{interleaved}", "RotaryEmbedding", {"x": x, "p": positions, **caches},
                       {"y": "float32"}, domain=MS, data=2, closed=True, interleaved=interleaved)
            yield Case(f"rotary_heads_{tag}_{interleaved}", "RotaryEmbedding",
                       {"x": f32(2, 3, 5, 4), "p": positions, **caches}, {"y": "float32"}, domain=MS, data=2, closed=True,
                       interleaved=interleaved)
    yield Case("rotary_part", "RotaryEmbedding", {"x": f32(2, 5, 12), "p": every, **caches}, {"y": "float32"}, domain=MS,
               data=2, closed=True, num_heads=2, rotary_embedding_dim=4)
    yield from grouped()
    for kind in (np.uint8, np.int8):
        yield Case(f"nhwcmaxpool_{np.dtype(kind).name}", "NhwcMaxPool", {"x": ints(kind, 2, 6, 5, 3)},
                   {"y": np.dtype(kind).name}, domain=MS, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])


def grouped():
    """Attention of four heads that share two keys and values: prompts, later tokens, batches of other lengths."""
    angles = f32(16, 8)
    rotary = {"cos": np.cos(angles), "sin": np.sin(angles)}
    both = {"y": "float32", "pk_out": "float32", "pv_out": "float32"}

    def operands(tokens, past, lengths, more=None, packed=False):
        total = max(lengths) + 1
        parts = {"q": f32(2, tokens, 128), "k": None, "v": None} if packed else {
            "q": f32(2, tokens, 64), "k": f32(2, tokens, 32), "v": f32(2, tokens, 32)}
        cache = {"pk": f32(2, 2, past, 16) if past else None, "pv": f32(2, 2, past, 16) if past else None}
        return {**parts, **cache, "lengths": np.array(lengths, np.int32), "total": np.array(total, np.int32), **(more or {})}

    def case(tag, given, outputs=both, **attributes):
        return Case(f"groupquery_{tag}", "GroupQueryAttention", given, outputs, domain=MS, data=7, closed=True,
                    num_heads=4, kv_num_heads=2, **attributes)

    yield case("prompt", operands(5, 0, [4, 4]))
    yield case("packed", operands(5, 0, [4, 4], packed=True), scale=0.4)
    yield case("next", operands(1, 6, [6, 6]))
    yield case("window", operands(5, 0, [4, 4]), local_window_size=2)
    yield case("capped", operands(1, 6, [6, 6]), softcap=2.0)
    for interleaved in (0, 1):
        yield case(f"rotary_{interleaved}", operands(5, 0, [4, 4], rotary), do_rotary=1, rotary_interleaved=interleaved)
    yield case("rotary_next", operands(1, 6, [6, 6], rotary), do_rotary=1)
    # Batches of other lengths, and caches with room for more: zeros follow the last token of each.
    yield case("uneven", operands(1, 6, [6, 3]))
    yield case("uneven_rotary", operands(1, 6, [2, 5], rotary), do_rotary=1)
    yield case("prompt_room", operands(3, 6, [2, 2]))


def recurrent():
    settings = {
        "RNN": (1, {"plain": {}, "relu": {"activations": ["Relu"]}, "elu": {"activations": ["Elu"], "activation_alpha": [0.5]},
                    "clip": {"clip": 0.4}}),
        "GRU": (3, {"plain": {}, "linear": {"linear_before_reset": 1}, "clip": {"clip": 0.3},
                    "other": {"activations": ["HardSigmoid", "Softsign"], "activation_alpha": [0.3], "activation_beta": [0.4]}}),
        "LSTM": (4, {"plain": {}, "forget": {"input_forget": 1}, "clip": {"clip": 0.3},
                     "other": {"activations": ["Sigmoid", "Relu", "LeakyRelu"], "activation_alpha": [0.2]}}),
    }
    steps, batch, size, hidden = 6, 3, 4, 5
    for op, (gates, variants) in settings.items():
        for direction in ("forward", "reverse", "bidirectional"):
            count = 2 if direction == "bidirectional" else 1
            for tag, attributes in variants.items():
                for lens in (None, np.array([6, 2, 4], np.int32), np.array([3, 0, 4], np.int32)):
                    extra = {key: value * count if isinstance(value, list) else value for key, value in attributes.items()}
                    operands = {"x": f32(steps, batch, size), "w": f32(count, gates * hidden, size, scale=0.5),
                                "r": f32(count, gates * hidden, hidden, scale=0.5),
                                "b": f32(count, 2 * gates * hidden, scale=0.5), "lens": lens,
                                "h": f32(count, batch, hidden)}
                    outputs = {"y": "float32", "yh": "float32"}
                    if op == "LSTM":
                        operands.update(c=f32(count, batch, hidden), p=f32(count, 3 * hidden, scale=0.5))
                        outputs["yc"] = "float32"
                    label = "all" if lens is None else "lens" if lens[1] else "empty"
                    yield Case(f"{op.lower()}_{direction}_{tag}_{label}", op, operands, outputs,
                               hidden_size=hidden, direction=direction, **extra)
    for direction in ("forward", "reverse", "bidirectional"):
        count = 2 if direction == "bidirectional" else 1
        for kind in (np.uint8, np.int8):
            for column in (False, True):
                for lens in (None, np.array([6, 2, 4], np.int32)):
                    shape = (count, 4 * hidden) if column else (count,)
                    zeros = np.zeros(shape, kind) if column else ints(np.int8, *shape).astype(kind)
                    scales = (rng.random(shape) * 0.01 + 0.002).astype(np.float32)
                    yield Case(f"dynamicquantizelstm_{direction}_{np.dtype(kind).name}_{column}_{lens is None}",
                               "DynamicQuantizeLSTM",
                               {"x": f32(steps, batch, size), "w": ints(kind, count, size, 4 * hidden),
                                "r": ints(kind, count, hidden, 4 * hidden), "b": f32(count, 8 * hidden), "lens": lens,
                                "h": f32(count, batch, hidden), "c": f32(count, batch, hidden), "p": None,
                                "ws": scales, "wz": zeros, "rs": scales[..., ::-1].copy(), "rz": zeros},
                               {"y": "float32", "yh": "float32", "yc": "float32"}, domain=MS,
                               constant=("w", "r", "ws", "wz", "rs", "rz"),
                               hidden_size=hidden, direction=direction)


def write_case(folder, model, feeds, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for index, info in enumerate(model.graph.input):
        (data / f"input_{index}.pb").write_bytes(numpy_helper.from_array(feeds[info.name], info.name).SerializeToString())
    for index, (info, array) in enumerate(zip(model.graph.output, outputs)):
        (data / f"output_{index}.pb").write_bytes(numpy_helper.from_array(array, info.name).SerializeToString())


def all_cases():
    for make in (quantizers, round_trips, products, elementwise, gemms, fused, attentions, transformers, recurrent):
        yield from make()


def main():
    ort.require()
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(os.environ.get("ONNXQUANT_CASES") or temporary)
        jobs, cases = [], []
        for case in all_cases():
            for is_open in (False, True):
                name = case.name + ("_open" if is_open else "")
                if not re.search(pattern, name) or (is_open and getattr(case, "closed", False)):
                    continue
                model, feeds = case.model(is_open)
                (folder / "models").mkdir(parents=True, exist_ok=True)
                path = folder / "models" / f"{name}.onnx"
                onnx.save(model, path)
                jobs.append((path, feeds))
                cases.append((name, case, model, feeds))
        expected = {}
        for (name, case, model, feeds), record in zip(cases, ort.outputs_of(folder, jobs, "extended")):
            # Where weights are constant the runtime can be made exact on every processor.
            record = expected.setdefault(case.name, record) if "arrays" in expected.get(case.name, record) else record
            if "arrays" not in record:
                print(f"refused by ONNX Runtime: {name}: {record['refusal'][:150]}")
                continue
            write_case(folder / "cases" / name, model, feeds, record["arrays"])
        require_tools()
        process = subprocess.run([ONNXQ, "test", str(folder / "cases"), "--filter", "."], capture_output=True, text=True)
        sys.stdout.write(process.stdout)
        sys.stderr.write(process.stderr)
        sys.exit(process.returncode)


if __name__ == "__main__":
    main()
