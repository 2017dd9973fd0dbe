"""Float ONNX models in, fast int8 programs for CPUs out.

    import onnxquant as oq

    table = oq.calibrate("model.onnx", images)
    quantized = oq.quantize("model.onnx", table=table)
    session = oq.compile(quantized)
    result = session.run({"x": array})

Importing this loads neither the compiler nor onnx; what is needed comes when it
is first used. `onnxquant.compat` answers for ONNX Runtime's quantization tools.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List

__version__ = "0.1.0"

# Where each name lives; looked up when it is first asked for.
_HOMES = {
    "errors": ("Error", "ModelError", "UnsupportedError", "DataError", "CalibrationError", "QuantizeError",
               "CompileError", "RunError"),
    "model": ("Model", "QuantizedModel", "TensorInfo", "load", "info", "preprocess"),
    "data": ("Images",),
    "table": ("Table", "calibrate", "merge"),
    "quantization": ("quantize", "options"),
    "session": ("Session", "compile", "open_library"),
    "report": ("Comparison", "Evaluation", "Report", "Sensitivity", "coco", "compare", "evaluate", "sensitivity"),
}
_WHERE = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("compat", "esp")

__all__ = sorted(_WHERE) + list(_MODULES)

if TYPE_CHECKING:
    from . import compat as compat
    from . import esp as esp
    from .data import Images as Images
    from .errors import CalibrationError as CalibrationError
    from .errors import CompileError as CompileError
    from .errors import DataError as DataError
    from .errors import Error as Error
    from .errors import ModelError as ModelError
    from .errors import QuantizeError as QuantizeError
    from .errors import RunError as RunError
    from .errors import UnsupportedError as UnsupportedError
    from .model import Model as Model
    from .model import QuantizedModel as QuantizedModel
    from .model import TensorInfo as TensorInfo
    from .model import info as info
    from .model import load as load
    from .model import preprocess as preprocess
    from .quantization import options as options
    from .quantization import quantize as quantize
    from .report import Comparison as Comparison
    from .report import Evaluation as Evaluation
    from .report import Report as Report
    from .report import Sensitivity as Sensitivity
    from .report import coco as coco
    from .report import compare as compare
    from .report import evaluate as evaluate
    from .report import sensitivity as sensitivity
    from .session import Session as Session
    from .session import compile as compile
    from .session import open_library as open_library
    from .table import Table as Table
    from .table import calibrate as calibrate
    from .table import merge as merge


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    home = _WHERE.get(name)
    if home is None:
        raise AttributeError(f"module 'onnxquant' has no attribute '{name}'")
    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(__all__))
