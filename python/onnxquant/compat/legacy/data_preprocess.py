"""Images as tensors, by the two ways of MLPerf 0.5."""

from __future__ import annotations

import os
from typing import Any, Callable

import numpy as np


def _pixels(image_filepath: Any, height: int, width: int) -> "np.ndarray[Any, Any]":
    from PIL import Image

    image = Image.open(image_filepath).convert("RGB")
    return np.asarray(image.resize((width, height)), dtype=np.float32)


def _nchw(image: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    return np.ascontiguousarray(image[None].transpose(0, 3, 1, 2))


def preprocess_method1(image_filepath: Any, height: int, width: int) -> "np.ndarray[Any, Any]":
    """To [-1, 1], then without the image's mean: [1, 3, height, width]."""
    image = np.float32(_pixels(image_filepath, height, width) / 127.5 - 1)
    return _nchw((image - image.mean()).astype(np.float32))


def preprocess_method2(image_filepath: Any, height: int, width: int) -> "np.ndarray[Any, Any]":
    """Without the mean color: [1, 3, height, width]."""
    mean = np.array([123.68, 116.78, 103.94], np.float32)
    return _nchw(_pixels(image_filepath, height, width) - mean)


def set_preprocess(preprocess_func_name: str) -> Callable[..., Any]:
    """The function of a name."""
    functions = {"preprocess_method1": preprocess_method1, "preprocess_method2": preprocess_method2}
    if preprocess_func_name not in functions:
        raise ValueError(f"data_preprocess expects {' or '.join(functions)}, but got '{preprocess_func_name}'")
    return functions[preprocess_func_name]


def load_batch(images_folder: Any, height: int, width: int, preprocess_func_name: str, size_limit: int = 0) -> Any:
    """All images of a folder, in the order of their names: [n, 1, 3, height, width]."""
    names = sorted(os.listdir(images_folder))
    if size_limit > 0:
        names = names[:size_limit]
    function = set_preprocess(preprocess_func_name)
    return np.array([function(os.path.join(images_folder, name), height, width) for name in names])
