"""The part of ONNX Optimizer that the toolkit's users call: `optimize(model, passes)`."""

from typing import Any, List, Optional

from onnxquant import esp

__all__ = ["get_available_passes", "optimize"]


def get_available_passes() -> List[str]:
    """The passes that `optimize` takes."""
    return sorted(esp.PASSES)


def optimize(model: Any, passes: Optional[List[str]] = None, fixed_point: bool = False) -> Any:
    """Runs passes on a ModelProto and returns a new one; the given one stays."""
    result = esp.optimize(model, passes=list(passes) if passes is not None else list(esp.PASSES), batch="")
    if fixed_point:
        while any(change["count"] for change in result.changes):
            result = esp.optimize(result, passes=list(passes) if passes is not None else list(esp.PASSES), batch="")
    return result.to_onnx()
