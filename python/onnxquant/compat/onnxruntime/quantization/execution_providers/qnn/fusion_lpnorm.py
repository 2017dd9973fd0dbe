"""LpNormalization with p = 2: x / max(norm of x, epsilon) along the last axis."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from ...fusions.fusion import Fusion, Match
from ...onnx_model import ONNXModel


class FusionLpNormalization(Fusion):
    patterns = [("Div", "x", ("Expand", ("Clip", ("ReduceL2", "x")), "shape"))]

    def __init__(self, model: ONNXModel, epsilon: float = 1e-12) -> None:
        super().__init__(model, "LpNormalization", "ReduceL2")
        self.epsilon = epsilon

    def build(self, match: Match) -> Optional[Tuple[List[str], Dict[str, Any]]]:
        clip, reduction = match.node("Clip"), match.node("ReduceL2")
        shape, bound = self.constant(match.names["shape"]), self.attribute(clip, "min")
        if bound is None and len(clip.input) > 1:
            bound = self.constant(clip.input[1])
        has_upper = self.attribute(clip, "max") is not None or len(clip.input) > 2
        known = self._shape(match.names["x"])
        if bound is None or has_upper or abs(float(bound) - self.epsilon) > 1e-13 or shape is None or known is None:
            return None
        axes = self.axes(reduction)
        if len(axes) != 1 or axes[0] not in (-1, len(known) - 1) or not self.attribute(reduction, "keepdims", 1):
            return None
        if list(shape) != known:
            return None
        return [match.names["x"]], {"axis": -1, "p": 2}

    def _shape(self, name: str) -> Optional[List[int]]:
        graph = self.model.graph()
        for info in [*graph.input, *graph.value_info, *graph.output]:
            if info.name == name and info.type.tensor_type.HasField("shape"):
                dims = info.type.tensor_type.shape.dim
                return [dim.dim_value for dim in dims] if all(dim.HasField("dim_value") for dim in dims) else None
        return None
