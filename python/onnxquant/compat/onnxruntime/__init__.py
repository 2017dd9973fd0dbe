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
from .capi._pybind_state import ExecutionMode, ExecutionOrder

__version__ = "1.30.0"
__onnxquant__ = True

__all__ = [
    "ExecutionMode", "ExecutionOrder", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "ModelMetadata", "NodeArg",
    "OrtValue", "RunOptions", "SessionOptions", "capi", "disable_telemetry_events", "enable_telemetry_events",
    "get_all_providers", "get_available_providers", "get_build_info", "get_device", "get_version_string",
    "set_default_logger_severity", "set_default_logger_verbosity", "set_seed",
]


def get_available_providers() -> list[str]:
    return ["CPUExecutionProvider"]


def get_all_providers() -> list[str]:
    return ["CPUExecutionProvider"]


def get_device() -> str:
    return "CPU"


def get_version_string() -> str:
    return __version__


def get_build_info() -> str:
    """What answers for ONNX Runtime."""
    from ... import __version__ as own

    return f"ORT Build Info: onnxquant={own}"


def enable_telemetry_events() -> None:
    """Nothing is ever sent."""


def disable_telemetry_events() -> None:
    """Nothing is ever sent."""


def set_default_logger_verbosity(level: int) -> None:
    """More is told by the logger `onnxquant` from 1 on."""
    set_default_logger_severity(1 if level > 0 else 2)


def set_default_logger_severity(severity: int) -> None:
    """ORT's levels 0 to 4 as those of the logger `onnxquant`."""
    from ...errors import logger

    logger.setLevel({0: 5, 1: 20, 2: 30, 3: 40, 4: 50}.get(severity, 30))


def set_seed(seed: int) -> None:
    """Runs are the same every time; there is nothing to seed."""
