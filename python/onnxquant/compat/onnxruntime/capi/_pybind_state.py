"""Exceptions, enumerations and weight kernels by the names that ORT has."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from ....errors import Error


class OrtError(RuntimeError):
    """What sessions raise; keeps file, node, tensor and hint."""

    file = node = tensor = hint = None

    @classmethod
    def of(cls, error: BaseException) -> "OrtError":
        made = cls(f"[ONNXRuntimeError] : {cls.__name__} : {error}")
        if isinstance(error, Error):
            made.file, made.node, made.tensor, made.hint = (  # type: ignore[assignment]
                error.file, error.node, error.tensor, error.hint)
        return made


class Fail(OrtError):
    pass


class InvalidArgument(OrtError):
    pass


class InvalidGraph(OrtError):
    pass


class InvalidProtobuf(OrtError):
    pass


class NoModel(OrtError):
    pass


class NoSuchFile(OrtError, FileNotFoundError):
    pass


class NotImplemented(OrtError, NotImplementedError):  # noqa: A001
    pass


class RuntimeException(OrtError):
    pass


class EPFail(OrtError):
    pass


class GraphOptimizationLevel(enum.IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    DEFAULT = 0
    PRIORITY_BASED = 1


def get_available_providers() -> list[str]:
    return ["CPUExecutionProvider"]


def _pack(values: "np.ndarray[Any, Any]", bits: int, filler: int = 0) -> "np.ndarray[Any, Any]":
    """Small integers along the last axis in bytes, low bits first."""
    per_byte = 8 // bits
    short = -values.shape[-1] % per_byte
    if short:
        values = np.concatenate([values, np.full((*values.shape[:-1], short), filler, values.dtype)], axis=-1)
    grouped = values.reshape(*values.shape[:-1], -1, per_byte).astype(np.uint8)
    result = np.zeros(grouped.shape[:-1], np.uint8)
    for place in range(per_byte):
        result |= grouped[..., place] << (place * bits)
    return result


def block_parameters(
    blocks: "np.ndarray[Any, Any]", bits: int, symmetric: bool
) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    """(scale, zero point, integers) of blocks along the last axis."""
    from ...._load import compiler

    size = blocks.shape[-1]
    rows = blocks.size // size
    codes, scales, zeros = compiler().round_blocks(
        np.ascontiguousarray(blocks, np.float32).tobytes(), rows, size, bits, size, symmetric)
    return (np.frombuffer(scales, np.float32).reshape(blocks.shape[:-1]),
            np.frombuffer(zeros, np.float32).astype(np.uint8).reshape(blocks.shape[:-1]),
            np.frombuffer(codes, np.uint8).reshape(blocks.shape))


def _quantize_matmul(bits: int, dst: Any, src: Any, scales: Any, zero_points: Any, block_size: int, n: int, k: int,
                     symmetric: bool) -> None:
    count = (k + block_size - 1) // block_size
    padded = np.zeros((n, count * block_size), np.float32)
    padded[:, :k] = np.asarray(src, np.float32).reshape(k, n).T
    scale, zero, numbers = block_parameters(padded.reshape(n, count, block_size), bits, symmetric)
    packed = _pack(numbers, bits)
    dst[...] = packed.reshape(dst.shape)
    scales[...] = scale.reshape(scales.shape).astype(scales.dtype)
    if zero_points is not None and not symmetric:
        zero_points[...] = _pack(zero.reshape(n, count), bits, 1 << (bits - 1)).reshape(zero_points.shape)


def quantize_matmul_2bits(dst: Any, src: Any, scales: Any, zero_points: Any, block_size: int, n: int, k: int,
                          symmetric: bool) -> None:
    _quantize_matmul(2, dst, src, scales, zero_points, block_size, n, k, symmetric)


def quantize_matmul_4bits(dst: Any, src: Any, scales: Any, zero_points: Any, block_size: int, n: int, k: int,
                          symmetric: bool) -> None:
    _quantize_matmul(4, dst, src, scales, zero_points, block_size, n, k, symmetric)


def quantize_matmul_8bits(dst: Any, src: Any, scales: Any, zero_points: Any, block_size: int, n: int, k: int,
                          symmetric: bool) -> None:
    _quantize_matmul(8, dst, src, scales, zero_points, block_size, n, k, symmetric)


def quantize_qdq_matmul_4bits(dst: Any, src: Any, scales: Any, zero_points: Any, block_size: int, n: int, k: int,
                              symmetric: bool) -> bool:
    """Codes as DequantizeLinear has them: [k, n], signed if symmetric. True if they are signed."""
    count = (k + block_size - 1) // block_size
    padded = np.zeros((n, count * block_size), np.float32)
    padded[:, :k] = np.asarray(src, np.float32).reshape(k, n).T
    scale, zero, numbers = block_parameters(padded.reshape(n, count, block_size), 4, symmetric)
    codes = numbers.reshape(n, -1)[:, :k].T
    if symmetric:
        codes = (codes - 8) & 15
    dst[...] = _pack(np.ascontiguousarray(codes).reshape(-1), 4).reshape(dst.shape)
    scales[...] = scale.T.reshape(scales.shape).astype(scales.dtype)
    if zero_points is not None and not symmetric:
        zero_points[...] = _pack(np.ascontiguousarray(zero.T).reshape(-1), 4).reshape(zero_points.shape)
    return symmetric


# What the 16 codes of bitsandbytes' types stand for, by their numbers in MatMulBnb4.
BNB4_VALUES = {
    0: np.array([0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4, 0, -1 / 192, -2 / 3, -1, -1 / 3, -1 / 2, -1 / 6, -1 / 4],
                np.float32),
    1: np.array([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
                 -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
                 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0],
                np.float32),
}
# Between the magnitudes of FP4, with the digits that bitsandbytes has.
_FP4_BOUNDS = np.array([0.00260417, 0.0859375, 0.20833333, 0.29166667, 0.4166667, 0.583333, 0.8333333], np.float32)


def quantize_matmul_bnb4(dst: Any, src: Any, absmax: Any, block_size: int, quant_type: int, n: int, k: int) -> None:
    """Nearest codes of [n, k] in blocks that may go over rows, the first of each pair in the high bits."""
    flat = np.zeros(-(-n * k // block_size) * block_size, np.float32)
    flat[: n * k] = np.asarray(src, np.float32).reshape(-1)
    blocks = flat.reshape(-1, block_size)
    largest = np.abs(blocks).max(axis=1)
    unit = blocks * np.divide(np.float32(1), largest, out=np.zeros_like(largest), where=largest != 0)[:, None]
    if quant_type == 0:
        codes = np.array([0, 1, 6, 7, 4, 5, 2, 3])[np.searchsorted(_FP4_BOUNDS, np.abs(unit))] + (unit < 0) * 8
    else:
        values = BNB4_VALUES[1].astype(np.float64)
        codes = np.searchsorted(((values[1:] + values[:-1]) / 2).astype(np.float32), unit)
    codes = codes.astype(np.uint8).reshape(-1)
    dst[...] = ((codes[0::2] << 4) | codes[1::2])[: dst.size].reshape(dst.shape)
    absmax[...] = largest.reshape(absmax.shape).astype(absmax.dtype)
