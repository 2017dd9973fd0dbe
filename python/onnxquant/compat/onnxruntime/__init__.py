"""Answers for `onnxruntime`: sessions over compiled code, on the CPU."""

from __future__ import annotations

from . import capi
from .capi.onnxruntime_inference_collection import (
    GraphOptimizationLevel,
    InferenceSession,
    IOBinding,
    ModelMetadata,
    NodeArg,
    OrtValue,
    RunOptions,
    SessionOptions,
)
from .capi._pybind_state import ExecutionMode

__version__ = "1.30.0"
__onnxquant__ = True

__all__ = [
    "ExecutionMode", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "ModelMetadata", "NodeArg", "OrtValue",
    "RunOptions", "SessionOptions", "capi", "get_all_providers", "get_available_providers", "get_device",
    "set_default_logger_severity", "set_seed",
]


def get_available_providers() -> list[str]:
    return ["CPUExecutionProvider"]


def get_all_providers() -> list[str]:
    return ["CPUExecutionProvider"]


def get_device() -> str:
    return "CPU"


def set_default_logger_severity(severity: int) -> None:
    """ORT's levels 0 to 4 as those of the logger `onnxquant`."""
    from ...errors import logger

    logger.setLevel({0: 5, 1: 20, 2: 30, 3: 40, 4: 50}.get(severity, 30))


def set_seed(seed: int) -> None:
    """Runs are the same every time; there is nothing to seed."""
