"""Models: read, described, prepared, written."""

from __future__ import annotations

import html
import json
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _options
from ._load import compiler

ModelLike = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, "Model", Any]


class TensorInfo(NamedTuple):
    """An input or output: its name, its type such as 'float32', and its shape.

    A size is a number, a name, or None if it is open; the shape is None if the
    rank is open too.
    """

    name: str
    type: str
    shape: Optional[Tuple[Union[int, str, None], ...]]


def _tensors(entries: Sequence[Mapping[str, Any]]) -> List[TensorInfo]:
    result = []
    for entry in entries:
        shape = entry.get("shape")
        sizes = None if shape is None else tuple(None if size == "?" else size for size in shape)
        result.append(TensorInfo(entry["name"], entry["type"], sizes))
    return result


class Model:
    """An ONNX model in a file or in memory; made by `load`.

    >>> import onnxquant as oq
    >>> model = oq.load(example("digits.onnx"))
    >>> model.inputs
    [TensorInfo(name='image', type='float32', shape=('N', 1, 28, 28))]
    """

    #: What preparation did: a list of {"pass", "what", "count"}.
    changes: List[Dict[str, Any]]

    def __init__(self, source: ModelLike) -> None:
        self.changes = []
        self._path: Optional[str] = None
        self._bytes: Optional[bytes] = None
        self._folder = ""
        self._described: Optional[Dict[str, Any]] = None
        if isinstance(source, Model):
            self._path, self._bytes, self._folder = source._path, source._bytes, source._folder
        elif isinstance(source, (bytes, bytearray, memoryview)):
            self._bytes = bytes(source)
        elif isinstance(source, (str, os.PathLike)):
            self._path = os.fspath(source)
        elif hasattr(source, "SerializeToString"):
            # The message itself is never changed.
            self._bytes = source.SerializeToString()
        else:
            raise TypeError(
                "model expects a path, bytes, a ModelProto or a Model, but got "
                + (f"a tuple of {len(source)}: is there a comma too much?" if isinstance(source, tuple)
                   else type(source).__name__)
            )

    def _argument(self) -> Any:
        if self._path is not None:
            return self._path
        return (self._bytes, "model", self._folder)

    @property
    def path(self) -> Optional[str]:
        """The file that the model is in; None if it is in memory."""
        return self._path

    @property
    def name(self) -> str:
        return self._path or str(self._describe()["graph"]) or "model"

    def _describe(self) -> Dict[str, Any]:
        if self._described is None:
            described: Dict[str, Any] = json.loads(compiler().describe(self._argument(), {}))
            self._described = described
        return self._described

    @property
    def inputs(self) -> List[TensorInfo]:
        """What the model takes."""
        return _tensors(self._describe()["inputs"])

    @property
    def outputs(self) -> List[TensorInfo]:
        """What the model gives."""
        return _tensors(self._describe()["outputs"])

    @property
    def opset(self) -> int:
        """The version of ONNX's own operators."""
        opsets = self._describe()["opsets"]
        return int(opsets.get("", opsets.get("ai.onnx", 0)))

    @property
    def opsets(self) -> Dict[str, int]:
        return dict(self._describe()["opsets"])

    @property
    def nodes(self) -> List[Tuple[str, str]]:
        """(name, operator) of each node, in order."""
        return [(name, op) for name, op in self._describe()["nodes"]]

    def info(self) -> Dict[str, Any]:
        """What `onnxq info --json` tells: ops, parameters, MACs and more."""
        return {key: value for key, value in self._describe().items() if key != "nodes"}

    def to_bytes(self) -> bytes:
        """The model as a protobuf message."""
        if self._bytes is not None:
            return self._bytes
        result = compiler().export(self._argument(), {}, "")
        assert isinstance(result, bytes)
        return result

    def to_onnx(self) -> Any:
        """The model as onnx.ModelProto, which needs the package onnx."""
        import onnx  # type: ignore[import]

        if self._path is not None and not self._path.endswith((".mlir", ".mlirbc")):
            return onnx.load(self._path)
        return onnx.load_model_from_string(self.to_bytes())

    def mlir(self) -> str:
        """The model in MLIR's text form."""
        text = compiler().mlir(self._argument())
        assert isinstance(text, str)
        return text

    def save(self, path: Union[str, "os.PathLike[str]"], *, external_data: bool = False) -> None:
        """Writes .onnx, .mlir or .mlirbc; the file appears whole or not at all."""
        out = os.fspath(path)
        if self._bytes is not None and not external_data and not out.endswith((".mlir", ".mlirbc")):
            write_whole(out, self._bytes)
            return
        compiler().export(self._argument(), {"external_data": external_data}, out)

    def SerializeToString(self) -> bytes:
        """As a ModelProto has it, so that a Model goes where one is expected."""
        return self.to_bytes()

    def __repr__(self) -> str:
        where = self._path or f"{len(self._bytes or b'')} bytes"
        return f"{type(self).__name__}({where})"

    def _repr_html_(self) -> str:
        rows = [("input", tensor) for tensor in self.inputs] + [("output", tensor) for tensor in self.outputs]
        cells = "".join(
            f"<tr><td>{kind}</td><td>{html.escape(t.name)}</td><td>{t.type}</td><td>{t.shape}</td></tr>"
            for kind, t in rows
        )
        described = self._describe()
        return (
            f"<b>{html.escape(self.name)}</b>: {described['node_count']} nodes, "
            f"{described['parameters']:,} parameters, opset {self.opset}<table>{cells}</table>"
        )


class QuantizedModel(Model):
    """A quantized model, with a `report` of what was done."""

    report: Any

    def _repr_html_(self) -> str:
        return super()._repr_html_() + str(self.report._repr_html_())


def write_whole(path: str, data: bytes) -> None:
    """Writes a file that appears whole or not at all."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError):
            # People know the file, not the temporary one.
            raise type(error)(error.errno, error.strerror, path) from None
        raise


def load(model: ModelLike) -> Model:
    """Reads a model: a path, bytes, an onnx.ModelProto or a Model.

    >>> import onnxquant as oq
    >>> oq.load(example("digits.onnx")).opset
    13
    """
    result = model if isinstance(model, Model) else Model(model)
    result._describe()
    return result


def info(model: ModelLike) -> Dict[str, Any]:
    """What a model has: ops, parameters, MACs.

    >>> import onnxquant as oq
    >>> oq.info(example("digits.onnx"))["ops"]["Conv"]
    2
    """
    return load(model).info()


_PREPROCESS = frozenset(
    "skip passes dims input_shapes batch optimize static_shapes symbolic_shapes auto_merge guess_output_rank int_max "
    "keep_fused max_opset min_opset max_constant_bytes metadata external_data external_data_location external_data_size_threshold "
    "file_per_tensor".split()
)


def preprocess(model: ModelLike, *, out: Optional[Union[str, "os.PathLike[str]"]] = None, **options: Any) -> Model:
    """Infers shapes, computes constants, folds and fuses nodes.

    Options are those of `onnxq preprocess`: skip, passes, dims, input_shapes,
    batch, optimize, ... The result's `changes` tells what was done.

    >>> import onnxquant as oq
    >>> prepared = oq.preprocess(example("digits.onnx"))
    >>> isinstance(prepared.changes, list)
    True
    """
    _options.check("preprocess", options, _PREPROCESS)
    for name in ("dims", "input_shapes"):
        if options.get(name) is not None:
            options[name] = _options.dims(options[name])
    for name in ("skip", "passes"):
        if isinstance(options.get(name), str):
            options[name] = [part.strip() for part in options[name].split(",")]
    if isinstance(options.get("metadata"), dict):
        options["metadata"] = [f"{key}={value}" for key, value in options["metadata"].items()]
    source = Model(model)
    data, changes = compiler().preprocess(source._argument(), options, os.fspath(out) if out is not None else "")
    result = Model(data if data is not None else os.fspath(out))  # type: ignore[arg-type]
    result.changes = json.loads(changes)
    return result
