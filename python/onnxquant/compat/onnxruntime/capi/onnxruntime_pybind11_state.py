"""The same names under the module's other name."""

from ._pybind_state import *  # noqa: F401,F403
from ._pybind_state import ExecutionMode, GraphOptimizationLevel, get_available_providers  # noqa: F401
from .onnxruntime_inference_collection import InferenceSession, NodeArg, RunOptions, SessionOptions  # noqa: F401
