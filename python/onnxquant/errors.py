"""What can go wrong, as exceptions that name the file, the node or the tensor."""

from __future__ import annotations

import logging
import os
import re
from typing import Any, Optional, Tuple

logger = logging.getLogger("onnxquant")


class Error(Exception):
    """The root of all errors of this package.

    >>> try:
    ...     raise Error("no range is known of tensor 'x'", file="m.onnx")
    ... except Error as error:
    ...     print(error, error.tensor)
    m.onnx: no range is known of tensor 'x' x
    """

    def __init__(
        self,
        message: str = "",
        *,
        file: Optional[str] = None,
        node: Optional[str] = None,
        tensor: Optional[str] = None,
        hint: Optional[str] = None,
    ) -> None:
        self.message, self.file, self.node, self.hint = message, file or None, node or None, hint
        if tensor is None:
            found = re.search(r"(?:tensors?|input|output) '([^']*)'", message)
            tensor = found.group(1) if found else None
        self.tensor = tensor
        super().__init__(message)

    def __str__(self) -> str:
        text = self.message
        if self.node:
            text = f"node '{self.node}': {text}"
        if self.file and not text.startswith(self.file):
            text = f"{self.file}: {text}"
        return f"{text}\nhint: {self.hint}" if self.hint else text

    def __reduce__(self) -> Tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.file, self.node, self.tensor, self.hint)


def _rebuild(kind: type, message: str, *parts: Optional[str]) -> Error:
    file, node, tensor, hint = parts
    error: Error = kind(message, file=file, node=node, tensor=tensor, hint=hint)
    return error


class ModelError(Error, ValueError):
    """A model can't be read, or isn't right."""


class UnsupportedError(Error, NotImplementedError):
    """A model uses what isn't supported; `category` says what it belongs to."""

    category: Optional[str] = None


class DataError(Error, ValueError):
    """Samples or arrays that don't fit a model."""


class CalibrationError(Error, ValueError):
    """Ranges can't be found."""


class QuantizeError(Error, ValueError):
    """A model can't be quantized as asked."""


class CompileError(Error, RuntimeError):
    """A model can't be compiled."""


class RunError(Error, RuntimeError):
    """A run failed."""


_HINTS = (
    (r"expects elements of (\w+), but got", "convert the array: x.astype(numpy.{0})"),
    (r"looks like NHWC", "put the channels second: x.transpose(0, 3, 1, 2)"),
    (r"no ranges?\b.*(needs one|is known)", "give data=, table=, or dynamic=True"),
    (r"is quantized already", "use the float model, or mode='qat' for a model with trained quantizers"),
    (r"no samples are left", "the data gave nothing: look at its path, at limit and start, or at the reader"),
    (r"the model has \d+ inputs?, but a sample has", "labels are no part of samples: give (x for x, _ in data)"),
    (r"batch expects the first dimension", "give the samples one by one, or make the batch open: "
     "onnxquant.preprocess(model, batch='N')"),
)


def _hint(text: str) -> Optional[str]:
    for pattern, hint in _HINTS:
        found = re.search(pattern, text)
        if found:
            return hint.format(*found.groups())
    return None


def make(kind: str, text: str, file: str, node: str) -> Exception:
    """The exception for an error of the C++ side."""
    if kind == "Usage":
        return ValueError(text)
    if kind == "Output":
        return PermissionError(text) if "ermission" in text or "ead-only" in text else OSError(text)
    if kind == "ModelError" and file and not os.path.exists(file) and "cannot be opened" in text:
        error: Error = _MissingModel(text, file=file)
        return error
    category = re.search(r"\[category: ([^\]]*)\]", text)
    if category:
        unsupported = UnsupportedError(text, file=file, node=node)
        unsupported.category = category.group(1)
        return unsupported
    if re.search(r"^(sample \d+: )?(input '|sample|the model has no input|the model has \d+ inputs|no samples? )", text):
        kind = "DataError"
    cls = {each.__name__: each for each in _KINDS}.get(kind, Error)
    return cls(text, file=file, node=node, hint=_hint(text))


class _MissingModel(ModelError, FileNotFoundError):
    __qualname__ = "ModelError"
    __module__ = "onnxquant"


_KINDS = (ModelError, UnsupportedError, DataError, CalibrationError, QuantizeError, CompileError, RunError)


def log(severity: str, text: str, file: str, node: str) -> None:
    """Warnings and remarks go to the logger `onnxquant`."""
    place = "".join(f"{part}: " for part in (file, node and f"node '{node}'") if part)
    level = {"warning": logging.WARNING, "remark": logging.INFO}.get(severity, logging.INFO)
    logger.log(level, "%s%s", place, text)
