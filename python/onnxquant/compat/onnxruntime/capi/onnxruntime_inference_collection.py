"""InferenceSession over compiled code."""

from __future__ import annotations

import collections
import difflib
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
    ExecutionOrder,
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
_ELEMENT_TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
    "float64": 11, "uint32": 12, "uint64": 13,
}
_TYPE_NAMES = {
    "float32": "float", "float64": "double", "float8e4m3fn": "float8e4m3fn", "float8e5m2": "float8e5m2",
}


def warn_of_providers(providers: Any) -> None:
    """Says of each provider but the CPU that it isn't there."""
    for provider in [providers] if isinstance(providers, str) else providers or []:
        name = provider[0] if isinstance(provider, tuple) else provider
        if name != "CPUExecutionProvider":
            logger.warning("provider %s is not available: the CPU is used", name)


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

    _KNOWN = frozenset((
        "graph_optimization_level", "optimized_model_filepath", "intra_op_num_threads", "inter_op_num_threads",
        "execution_mode", "execution_order", "enable_profiling", "profile_file_prefix", "enable_mem_pattern",
        "enable_mem_reuse", "enable_cpu_mem_arena", "log_severity_level", "log_verbosity_level", "logid",
        "use_deterministic_compute"))

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._KNOWN and not name.startswith("_"):
            near = difflib.get_close_matches(name, self._KNOWN, 1)
            raise AttributeError(f"SessionOptions has no '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""))
        if name == "enable_profiling" and value:
            logger.warning("enable_profiling: no profile is written; a session of onnxquant.compile(model, profile=True) "
                           "tells the times of kernels by profile()")
        super().__setattr__(name, value)

    def __init__(self) -> None:
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.optimized_model_filepath = ""
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order = ExecutionOrder.DEFAULT
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
        self.producer_name = described["producer_name"]
        self.description, self.graph_description = described["description"], described["graph_description"]
        self.domain, self.version = described["domain"], described["model_version"]
        self.custom_metadata_map: Dict[str, str] = dict(described["metadata"])


class OrtValue:
    """An array in ORT's wrapping."""

    def __init__(self, array: "np.ndarray[Any, Any]") -> None:
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(array: "np.ndarray[Any, Any]", device_type: str = "cpu", device_id: int = 0) -> "OrtValue":
        return OrtValue(array)

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any, device_type: str = "cpu",
                                     device_id: int = 0) -> "OrtValue":
        return OrtValue(np.zeros(tuple(shape), element_type))

    def numpy(self) -> "np.ndarray[Any, Any]":
        return self._array

    def __array__(self, dtype: Any = None) -> "np.ndarray[Any, Any]":
        return self._array if dtype is None else self._array.astype(dtype)

    def shape(self) -> List[int]:
        return list(self._array.shape)

    def data_type(self) -> str:
        return f"tensor({_TYPE_NAMES.get(str(self._array.dtype), str(self._array.dtype))})"

    def element_type(self) -> int:
        return _ELEMENT_TYPES[str(self._array.dtype)]

    def device_name(self) -> str:
        return "cpu"

    def is_tensor(self) -> bool:
        return True

    def has_value(self) -> bool:
        return True

    def update_inplace(self, array: "np.ndarray[Any, Any]") -> None:
        np.copyto(self._array, array, casting="no")


class IOBinding:
    """Inputs and outputs that a session reads and fills by themselves."""

    def __init__(self, session: "InferenceSession") -> None:
        self._session = session
        self._feeds: Dict[str, Any] = {}
        self._wanted: Dict[str, Optional["np.ndarray[Any, Any]"]] = {}
        self._results: List["np.ndarray[Any, Any]"] = []

    def bind_cpu_input(self, name: str, array: Any) -> None:
        self._feeds[name] = array

    def bind_ortvalue_input(self, name: str, value: OrtValue) -> None:
        self._feeds[name] = value

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None,
                    shape: Any = None, buffer_ptr: Any = None) -> None:
        if device_type != "cpu" or buffer_ptr is not None:
            raise NotImplemented("bind_output binds outputs in the memory of the CPU; bind_ortvalue_output binds arrays")
        self._wanted[name] = None

    def bind_ortvalue_output(self, name: str, value: OrtValue) -> None:
        self._wanted[name] = value.numpy()

    def _run(self) -> None:
        names = list(self._wanted)
        self._results = []
        for name, result in zip(names, self._session.run(names, self._feeds)):
            place = self._wanted[name]
            if place is not None:
                if place.shape != result.shape or place.dtype != result.dtype:
                    raise InvalidArgument(f"output '{name}' is {result.dtype}{list(result.shape)}, but {place.dtype}"
                                          f"{list(place.shape)} is bound to it")
                np.copyto(place, result)
                result = place
            self._results.append(result)

    def copy_outputs_to_cpu(self) -> List["np.ndarray[Any, Any]"]:
        return list(self._results)

    def get_outputs(self) -> List[OrtValue]:
        return [OrtValue(array) for array in self._results]

    def clear_binding_inputs(self) -> None:
        self._feeds = {}

    def clear_binding_outputs(self) -> None:
        self._wanted = {}

    def synchronize_inputs(self) -> None:
        """Nothing waits: all is in the memory of the CPU."""

    def synchronize_outputs(self) -> None:
        """Nothing waits: all is in the memory of the CPU."""


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
        warn_of_providers(providers)
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
        known = {tensor.name: tensor.type for tensor in self._inputs}
        for name, value in given.items():
            if isinstance(value, OrtValue):
                value = value.numpy()
            # Numbers of Python take the type that is asked for.
            plain = isinstance(value, (list, tuple, int, float)) and known.get(name) in _ELEMENT_TYPES
            feeds[name] = value if hasattr(value, "__dlpack__") else np.asarray(value, known[name] if plain else None)
        for name in feeds:
            if name not in known:
                raise InvalidArgument(f"[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Invalid Feed Input Name:{name}")
        missing = [name for name in known if name not in feeds]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(feeds)}).")
        return feeds

    def _check_shapes(self, feeds: Mapping[str, Any]) -> None:
        """Before anything is compiled for them."""
        for tensor in self._inputs:
            given = getattr(feeds[tensor.name], "shape", None)
            if tensor.shape is None or given is None:
                continue
            fits = len(given) == len(tensor.shape) and all(
                not isinstance(size, int) or size == own for size, own in zip(tensor.shape, given))
            if not fits:
                raise InvalidArgument(
                    f"[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Got invalid dimensions for input: {tensor.name} Got: "
                    f"{list(given)} Expected: {list(tensor.shape)}")

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
                self._check_shapes(feeds)
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

    def io_binding(self) -> IOBinding:
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: Any = None) -> None:
        iobinding._run()

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
        """Sessions run on the CPU; what else is asked for is said not to be there."""
        warn_of_providers(providers)

    def get_provider_options(self) -> Dict[str, Any]:
        return {"CPUExecutionProvider": {}}

    def get_session_options(self) -> SessionOptions:
        return self._options

    def disable_fallback(self) -> None:
        """There is nothing to fall back to."""

    def enable_fallback(self) -> None:
        """There is nothing to fall back to."""
