"""Groups of weights as integers of few bits: by rounding, and with scales searched for."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from .....errors import UnsupportedError

Groups = Tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]


def _groups(data: Any, group_size: int) -> "np.ndarray[Any, Any]":
    array = np.asarray(data)
    if group_size > 0 and array.size % group_size:
        raise ValueError(f"group_size expects a divisor of {array.size}, the number of weights, but got {group_size}")
    return array.reshape(-1, group_size) if group_size > 0 else array.reshape(len(array), -1)


def quant_tensor(data: Any, num_bits: int = 4, group_size: int = 32, scheme: str = "asym", dtype: str = "int",
                 ratio: float = 1.0) -> Groups:
    """(integers, scales, zero points) of groups, by their extremes."""
    if scheme not in ("asym", "sym") or dtype not in ("int", "uint"):
        raise ValueError(f"scheme expects asym or sym and dtype int or uint, but got {scheme!r} and {dtype!r}")
    x = _groups(data, group_size)
    steps = 2**num_bits - 1
    least = 0 if dtype == "uint" else -(2 ** (num_bits - 1))
    if scheme == "sym" and dtype == "int":
        steps, least = steps - 1, least + 1
    low = np.minimum(x.min(axis=1, keepdims=True), 0) * ratio
    high = np.maximum(x.max(axis=1, keepdims=True), 0) * ratio
    if scheme == "sym":
        high = np.maximum(np.abs(low), np.abs(high))
        scale = high * 2 / steps
        zero = np.full(scale.shape, 2 ** (num_bits - 1) if dtype == "uint" else 0)
    else:
        scale = (high - low) / steps
        zero = np.clip(np.round(-low / np.where(scale == 0, 1, scale)) + least, least, least + steps)
    scale = np.where(scale == 0, 1, scale)
    codes = np.clip(np.round(x / scale) + zero, least, least + steps)
    return codes, scale, zero.astype(np.uint8 if dtype == "uint" else np.int8)


def quant_tensor_k_quant_cpu(data: Any, num_bits: int = 4, group_size: int = 32) -> Groups:
    """(integers, scales, zero points) of groups, with the scale and zero point of the least error of some."""
    x = _groups(data, group_size).astype(np.float64)
    most = 2**num_bits - 1
    low = np.minimum(x.min(axis=1, keepdims=True), 0)
    high = np.maximum(x.max(axis=1, keepdims=True), 0)
    tiny = float(np.finfo(np.float32).tiny)
    span = (high - low) / most
    best = [np.zeros_like(x), np.ones_like(span), np.zeros_like(span), np.full(span.shape, np.inf)]
    best[2] = best[0][:, :1]
    # No number is cut off by more than half a step.
    for share in np.linspace(1 - 0.5 / most, 1 + 0.5 / most, 9):
        scale = np.where(span * share < tiny, 1.0, span * share)
        for shift in (-0.5, 0, 0.5):
            zero = np.clip(np.round(-low / scale + shift), 0, most)
            codes = np.clip(np.round(x / scale) + zero, 0, most)
            # The scale of the least squares for these integers.
            steps = codes - zero
            squares = (steps * steps).sum(axis=1, keepdims=True)
            fitted = np.divide((x * steps).sum(axis=1, keepdims=True), squares, out=scale.copy(), where=squares > 0)
            fitted = np.where(fitted < tiny, scale, fitted).astype(np.float32).astype(np.float64)
            codes = np.clip(np.round(x / fitted) + zero, 0, most)
            error = ((fitted * (codes - zero) - x) ** 2).sum(axis=1, keepdims=True)
            better = error < best[3]
            for index, found in enumerate((codes, fitted, zero, error)):
                best[index] = np.where(better, found, best[index])
    return best[0].astype(np.float32), best[1].astype(np.float32), best[2].astype(np.uint8)


def quant_tensor_k_quant_cuda(data: Any, num_bits: int = 4, group_size: int = 32) -> Groups:
    raise UnsupportedError("quant_tensor_k_quant_cuda needs CUDA, which this package doesn't use; "
                           "quant_tensor_k_quant_cpu gives the same")
