"""Gelu: x * (1 + erf(x / sqrt(2))) / 2, however its factors are joined."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional, Tuple

from ..onnx_model import ONNXModel
from .fusion import Fusion, Match, Pattern


def _patterns() -> List[Pattern]:
    inner: List[Pattern] = [("Div", "x", math.sqrt(2)), ("Div", "x", ("Sqrt", 2.0)), ("Mul", "x", math.sqrt(0.5))]
    result: List[Pattern] = []
    for part in inner:
        sum_ = ("Add", ("Erf", part), 1.0)
        result += [("Mul", ("Mul", "x", 0.5), sum_), ("Mul", ("Mul", "x", sum_), 0.5), ("Mul", "x", ("Mul", sum_, 0.5))]
    return result


class FusionGelu(Fusion):
    patterns = _patterns()
    domain = "com.microsoft"

    def __init__(self, model: ONNXModel) -> None:
        super().__init__(model, "Gelu", "Erf")

    def build(self, match: Match) -> Optional[Tuple[List[str], Dict[str, Any]]]:
        return [match.names["x"]], {}
