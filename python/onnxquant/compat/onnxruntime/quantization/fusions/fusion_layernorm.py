"""LayerNormalization: (x - mean) / sqrt(variance + epsilon) * weight + bias."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from ..onnx_model import ONNXModel
from .fusion import Fusion, Match, Pattern

_LARGEST_EPSILON = 1e-4


def _pattern(square: Any) -> Pattern:
    centered = ("Sub", "x", ("ReduceMean", "x"))
    deviation = ("Sqrt", ("Add", ("ReduceMean", square(centered)), "epsilon"))
    return ("Add", ("Mul", ("Div", centered, deviation), "weight"), "bias")


class FusionLayerNormalization(Fusion):
    patterns = [_pattern(lambda value: ("Pow", value, 2.0)), _pattern(lambda value: ("Pow", ("Cast", value), 2.0))]

    def __init__(self, model: ONNXModel) -> None:
        super().__init__(model, "LayerNormalization", "ReduceMean")

    def build(self, match: Match) -> Optional[Tuple[List[str], Dict[str, Any]]]:
        names = match.names
        epsilon, weight, bias = (self.constant(names[key]) for key in ("epsilon", "weight", "bias"))
        if epsilon is None or epsilon.size != 1 or not 0 < float(epsilon.ravel()[0]) <= _LARGEST_EPSILON:
            return None
        if weight is None or bias is None or weight.ndim != 1 or bias.ndim != 1:
            return None
        return [names["x"], names["weight"], names["bias"]], {"epsilon": float(epsilon.ravel()[0])}
