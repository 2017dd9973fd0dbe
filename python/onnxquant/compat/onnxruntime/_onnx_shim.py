"""`onnx` by the name under which ONNX Runtime's newest tools import it."""

from __future__ import annotations

import importlib
import sys

onnx = importlib.import_module("onnx")

# `from onnxruntime._onnx_shim.onnx.helper import make_node` finds these; what an older onnx lacks is not there.
for _part in ("", ".backend", ".backend.base", ".checker", ".defs", ".external_data_helper", ".helper", ".mapping",
              ".numpy_helper", ".onnx_pb", ".parser", ".reference", ".reference.op_run", ".shape_inference", ".version"):
    try:
        sys.modules[f"onnxruntime._onnx_shim.onnx{_part}"] = importlib.import_module(f"onnx{_part}")
    except ImportError:
        pass

__all__ = ["onnx"]
