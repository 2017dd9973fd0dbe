"""Samples: whatever a person has, given to the C++ side one at a time."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .errors import DataError

Sample = List[Tuple[str, "np.ndarray[Any, Any]"]]


class Images:
    """A folder of images, or one image, with what turns them into tensors.

    The options are those of `onnxq calibrate`: size, crop, filter, layout,
    channels, mean, scale, letterbox, ..., or a named preprocessing.

    >>> Images("photos", size=(224, 224), mean=(123.7, 116.8, 103.9), scale=0.017)
    Images('photos', size=(224, 224), mean=(123.7, 116.8, 103.9), scale=0.017)
    """

    def __init__(self, folder: Union[str, "os.PathLike[str]", Sequence[Any]], **options: Any) -> None:
        from . import _options

        _options.check("Images", options, _options.data())
        self.folder = folder
        self.options = options

    def __repr__(self) -> str:
        parts = [repr(self.folder)] + [f"{name}={value!r}" for name, value in self.options.items()]
        return f"Images({', '.join(parts)})"


def to_array(value: Any, name: str = "") -> "np.ndarray[Any, Any]":
    """A contiguous array; the data isn't copied if it needn't be."""
    return _contiguous(_as_array(value, name))


def _contiguous(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    return np.ascontiguousarray(array).reshape(array.shape)


def _as_array(value: Any, name: str = "") -> "np.ndarray[Any, Any]":
    """An array of numbers as it lies in memory."""
    if not isinstance(value, np.ndarray):
        if hasattr(value, "detach"):
            value = value.detach()
        if hasattr(value, "__dlpack__"):
            try:
                value = np.from_dlpack(value)
            except (TypeError, RuntimeError, BufferError):
                value = np.asarray(value)
        else:
            value = np.asarray(value)
    if value.dtype.kind not in "fiub":
        where = f"input '{name}' expects" if name else "a sample expects"
        raise DataError(f"{where} numbers, but got {value.dtype}")
    array: "np.ndarray[Any, Any]" = value
    return array


def to_sample(item: Any) -> Sample:
    """A dictionary, a tuple or list of arrays, or one array."""
    if isinstance(item, Mapping):
        return [(str(name), to_array(value, str(name))) for name, value in item.items()]
    if isinstance(item, (tuple, list)) and not _is_numbers(item):
        return [("", to_array(value)) for value in item]
    return [("", to_array(item))]


def _is_numbers(item: Sequence[Any]) -> bool:
    return bool(item) and all(isinstance(value, (int, float)) for value in item)


def is_paths(data: Any) -> bool:
    if isinstance(data, (str, os.PathLike, Images)):
        return True
    return (
        isinstance(data, (list, tuple)) and bool(data) and all(isinstance(part, (str, os.PathLike)) for part in data)
    )


def paths(data: Any) -> Tuple[List[str], Dict[str, Any]]:
    """Paths as of --data, and the options that came with them."""
    options: Dict[str, Any] = {}
    if isinstance(data, Images):
        options = dict(data.options)
        data = data.folder
    if isinstance(data, (str, os.PathLike)):
        data = [data]
    result = [os.fspath(part) for part in data]
    for path in result:
        where = path.split("=", 1)[1] if "=" in path and not os.path.exists(path) else path
        if not os.path.exists(where):
            raise FileNotFoundError(f"{where}: no such file or folder")
    return result, options


def _rows(array: "np.ndarray[Any, Any]") -> Iterator[Sample]:
    for index in range(array.shape[0]):
        # Only this one is copied, if it lies in parts: all of them may be more than there is memory.
        yield [("", _contiguous(array[index : index + 1]))]


def _named_rows(arrays: Dict[str, "np.ndarray[Any, Any]"], count: int) -> Iterator[Sample]:
    for index in range(count):
        yield [(name, _contiguous(array[index : index + 1])) for name, array in arrays.items()]


def _reader(get_next: Callable[[], Any]) -> Iterator[Sample]:
    while True:
        item = get_next()
        # A reader ends with None, or with an empty dictionary.
        if item is None or (isinstance(item, Mapping) and not item):
            return
        if not isinstance(item, Mapping):
            raise DataError(
                f"get_next() expects a dictionary of arrays by input name, or None, but gave {type(item).__name__}"
            )
        yield to_sample(item)


def _length(data: Any) -> int:
    try:
        return len(data)
    except (TypeError, NotImplementedError, AttributeError):
        return 0


def samples(data: Any) -> Tuple[Iterator[Sample], int]:
    """An iterator over samples, and how many there are; 0 if nobody knows."""
    if hasattr(data, "get_next"):
        return _reader(data.get_next), _length(data)
    if isinstance(data, Mapping):
        return _split_arrays(data)
    if callable(data) and not hasattr(data, "__iter__") and not hasattr(data, "__array__"):
        return samples(data())
    if isinstance(data, np.ndarray) or hasattr(data, "__dlpack__") or hasattr(data, "__array__"):
        array = _as_array(data)
        if array.ndim == 0:
            raise DataError("data expects an array whose first axis counts samples, but got a single number")
        return _rows(array), array.shape[0]
    if hasattr(data, "__iter__"):
        return (to_sample(item) for item in data), _length(data)
    raise TypeError(
        "data expects a path, an array, a dictionary of arrays, an iterable of samples, a reader with get_next() "
        f"or a function, but got {type(data).__name__}"
    )


def _split_arrays(data: Mapping[str, Any]) -> Tuple[Iterator[Sample], int]:
    arrays = {str(name): _as_array(value, str(name)) for name, value in data.items()}
    if not arrays:
        raise DataError("data is an empty dictionary")
    counts = {name: array.shape[0] if array.ndim else 0 for name, array in arrays.items()}
    if len(set(counts.values())) != 1 or 0 in counts.values():
        raise DataError(
            "the first axes of arrays count samples and must agree, but got "
            + ", ".join(f"{count} for '{name}'" for name, count in counts.items())
        )
    count = next(iter(counts.values()))
    return _named_rows(arrays, count), count


def open_data(data: Any, keep: bool = False, limit: Optional[int] = None) -> Tuple[Any, int, Dict[str, Any]]:
    """(samples or None, how many, options) for the C++ side.

    `keep` asks for samples that can be read twice: they become a list.
    """
    if data is None:
        return None, 0, {}
    if is_paths(data):
        found, options = paths(data)
        return None, 0, {**options, "data": found}
    iterator, count = samples(data)
    if not keep:
        return iterator, count, {}
    listed = []
    for sample in iterator:
        listed.append(sample)
        if limit and len(listed) >= limit:
            break
    return listed, len(listed), {}
