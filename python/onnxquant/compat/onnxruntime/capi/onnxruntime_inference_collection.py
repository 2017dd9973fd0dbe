"""InferenceSession over compiled code."""

from __future__ import annotations

import collections
import logging
import os
import threading
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from .... import model as _model
from .... import session as _session
from ....errors import DataError, Error, ModelError, RunError, UnsupportedError
from ._pybind_state import (
    ExecutionMode,
    Fail,
    GraphOptimizationLevel,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    NoSuchFile,
    NotImplemented,
)

logger = logging.getLogger("onnxquant")

# How ORT writes element types.
_TYPE_NAMES = {
    "float32": "float", "float64": "double", "float8e4m3fn": "float8e4m3fn", "float8e5m2": "float8e5m2",
}


class NodeArg:
    """An input or output: name, type such as 'tensor(float)', shape."""

    def __init__(self, tensor: _model.TensorInfo) -> None:
        self.name = tensor.name
        self.type = f"tensor({_TYPE_NAMES.get(tensor.type, tensor.type)})"
        self.shape = list(tensor.shape or [])

    def __repr__(self) -> str:
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class SessionOptions:
    """Options that have a meaning here are used; the rest change no result."""

    def __init__(self) -> None:
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.optimized_model_filepath = ""
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.enable_profiling = False
        self.profile_file_prefix = ""
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.enable_cpu_mem_arena = True
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.use_deterministic_compute = False
        self._entries: Dict[str, str] = {}

    def add_session_config_entry(self, key: str, value: str) -> None:
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        return self._entries[key]

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        self._entries[f"dim:{name}"] = str(size)

    def register_custom_ops_library(self, path: str) -> None:
        raise NotImplemented(f"custom operators in {path} can't be used: compiled code has no place for them")


class RunOptions:
    def __init__(self) -> None:
        self.log_severity_level = -1
        self.terminate = False
        self.logid = ""


class ModelMetadata:
    def __init__(self, described: Mapping[str, Any]) -> None:
        self.graph_name = described["graph"]
        self.producer_name = described["producer"]
        self.description = self.graph_description = self.domain = ""
        self.version = 0
        self.custom_metadata_map: Dict[str, str] = {}


class OrtValue:
    """An array in ORT's wrapping."""

    def __init__(self, array: "np.ndarray[Any, Any]") -> None:
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(array: "np.ndarray[Any, Any]", device_type: str = "cpu", device_id: int = 0) -> "OrtValue":
        return OrtValue(array)

    def numpy(self) -> "np.ndarray[Any, Any]":
        return self._array

    def shape(self) -> List[int]:
        return list(self._array.shape)


class InferenceSession:
    """Runs a model: run(names or None, {name: array}) gives a list of arrays."""

    #: Programs for different shapes that are kept.
    _MOST_PROGRAMS = 4

    def __init__(
        self,
        path_or_bytes: Any,
        sess_options: Optional[SessionOptions] = None,
        providers: Optional[Sequence[Any]] = None,
        provider_options: Optional[Sequence[Any]] = None,
        **kwargs: Any,
    ) -> None:
        self._options = sess_options or SessionOptions()
        for provider in providers or []:
            name = provider[0] if isinstance(provider, tuple) else provider
            if name != "CPUExecutionProvider":
                logger.warning("provider %s is not available: the CPU is used", name)
        if isinstance(path_or_bytes, (str, os.PathLike)):
            path = os.fspath(path_or_bytes)
            if not os.path.exists(path):
                raise NoSuchFile(f"[ONNXRuntimeError] : 3 : NO_SUCHFILE : Load model from {path} failed: "
                                 "File doesn't exist")
            self._model = _model.Model(path)
        elif isinstance(path_or_bytes, (bytes, bytearray, memoryview)) or hasattr(path_or_bytes, "SerializeToString"):
            self._model = _model.Model(path_or_bytes)
        else:
            raise TypeError(f"Unable to load from type '{type(path_or_bytes)}'")
        try:
            self._inputs, self._outputs = self._model.inputs, self._model.outputs
        except UnsupportedError as error:
            raise NotImplemented.of(error) from error
        except ModelError as error:
            kind = InvalidProtobuf if "cannot be parsed" in str(error) else InvalidGraph
            raise kind.of(error) from error
        self._lock = threading.Lock()
        self._programs: "collections.OrderedDict[Any, _session.Session]" = collections.OrderedDict()
        self._is_open = any(
            tensor.shape is None or any(not isinstance(size, int) for size in tensor.shape) for tensor in self._inputs
        )
        if not self._is_open:
            self._program(())
        if self._options.optimized_model_filepath:
            optimize = self._options.graph_optimization_level > GraphOptimizationLevel.ORT_DISABLE_ALL
            _model.preprocess(self._model, out=self._options.optimized_model_filepath, optimize=optimize)

    def _program(self, shapes: Tuple[Any, ...]) -> _session.Session:
        with self._lock:
            program = self._programs.get(shapes)
            if program is None:
                threads = max(1, self._options.intra_op_num_threads)
                options: Dict[str, Any] = {"threads": threads}
                if self._options.graph_optimization_level == GraphOptimizationLevel.ORT_DISABLE_ALL:
                    options["opt_level"] = 1
                dims = {key[4:]: value for key, value in self._options._entries.items() if key.startswith("dim:")}
                if dims:
                    options["dims"] = dims
                if shapes:
                    options["input_shapes"] = dict(shapes)
                try:
                    program = _session.compile(self._model, **options)
                except UnsupportedError as error:
                    raise NotImplemented.of(error) from error
                except Error as error:
                    raise Fail.of(error) from error
                assert program is not None
                self._programs[shapes] = program
                while len(self._programs) > self._MOST_PROGRAMS:
                    self._programs.popitem(last=False)
            self._programs.move_to_end(shapes)
            return program

    def _feeds(self, given: Mapping[str, Any]) -> Dict[str, "np.ndarray[Any, Any]"]:
        feeds = {}
        for name, value in given.items():
            if isinstance(value, OrtValue):
                value = value.numpy()
            feeds[name] = np.asarray(value) if not hasattr(value, "__dlpack__") else value
        known = {tensor.name for tensor in self._inputs}
        for name in feeds:
            if name not in known:
                raise InvalidArgument(f"[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Invalid Feed Input Name:{name}")
        missing = [name for name in known if name not in feeds]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(feeds)}).")
        return feeds

    def run(
        self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any], run_options: Any = None
    ) -> List["np.ndarray[Any, Any]"]:
        feeds = self._feeds(input_feed)
        names = list(output_names or []) or [tensor.name for tensor in self._outputs]
        known = {tensor.name for tensor in self._outputs}
        for name in names:
            if name not in known:
                raise InvalidArgument(f"[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Invalid output name:{name}")
        try:
            shapes: Tuple[Any, ...] = ()
            if self._is_open:
                # A scalar, or an input of open rank, has no shape to compile for.
                shapes = tuple(
                    (tensor.name, tuple(np.shape(feeds[tensor.name])))
                    for tensor in self._inputs
                    if tensor.shape and len(tensor.shape) == np.ndim(feeds[tensor.name])
                )
            results = self._program(shapes).run(feeds)
        except DataError as error:
            raise InvalidArgument.of(error) from error
        except RunError as error:
            raise Fail.of(error) from error
        return [results[name] for name in names]

    def run_with_ort_values(
        self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, OrtValue], run_options: Any = None
    ) -> List[OrtValue]:
        return [OrtValue(array) for array in self.run(output_names, input_feed)]

    def get_inputs(self) -> List[NodeArg]:
        return [NodeArg(tensor) for tensor in self._inputs]

    def get_outputs(self) -> List[NodeArg]:
        return [NodeArg(tensor) for tensor in self._outputs]

    def get_overridable_initializers(self) -> List[NodeArg]:
        return []

    def get_modelmeta(self) -> ModelMetadata:
        return ModelMetadata(self._model._describe())

    def get_providers(self) -> List[str]:
        return ["CPUExecutionProvider"]

    def set_providers(self, providers: Any = None, provider_options: Any = None) -> None:
        """Sessions run on the CPU whatever is asked for."""

    def get_provider_options(self) -> Dict[str, Any]:
        return {"CPUExecutionProvider": {}}

    def get_session_options(self) -> SessionOptions:
        return self._options

    def disable_fallback(self) -> None:
        """There is nothing to fall back to."""

    def enable_fallback(self) -> None:
        """There is nothing to fall back to."""
