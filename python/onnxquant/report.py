"""What was done, what was lost, and how good the result is."""

from __future__ import annotations

import html
import json
import os
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from . import _options
from ._load import compiler
from ._progress import Bar, Progress
from .data import open_data
from .model import Model, ModelLike


def _table(columns: List[str], rows: List[List[Any]]) -> str:
    def cell(value: Any) -> str:
        text = f"{value:.4g}" if isinstance(value, float) else str(value)
        return f"<td>{html.escape(text)}</td>"

    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(cell(value) for value in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


class _Result:
    """Figures as a dictionary, and as text."""

    def __init__(self, data: Dict[str, Any], text: str) -> None:
        self.data, self._text = data, text

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text)}</pre>"


class Report(_Result):
    """What quantization did with each node, and why not."""

    @property
    def nodes(self) -> List[Dict[str, Any]]:
        return list(self.data.get("nodes", []))

    @property
    def quantized(self) -> int:
        """How many nodes are quantized."""
        return sum(bool(node.get("quantized")) for node in self.nodes)

    @property
    def left(self) -> Dict[str, str]:
        """Nodes that stay float, with the reason."""
        return {node["name"]: node.get("reason", "") for node in self.nodes if not node.get("quantized")}

    def _repr_html_(self) -> str:
        rows = [
            [node["name"], node.get("op_type", node.get("op", "")), "yes" if node.get("quantized") else "no",
             node.get("reason", "")]
            for node in self.nodes
        ]
        return f"<pre>{html.escape(self._text)}</pre>" + _table(["node", "op", "quantized", "reason"], rows)


class Comparison(_Result):
    """A quantized model beside the float one, tensor by tensor."""

    def __init__(self, data: Dict[str, Any], text: str, page: str) -> None:
        super().__init__(data, text)
        self._page = page

    @property
    def tensors(self) -> List[Dict[str, Any]]:
        return list(self.data.get("tensors", []))

    @property
    def weights(self) -> List[Dict[str, Any]]:
        return list(self.data.get("weights", []))

    @property
    def advice(self) -> Dict[str, List[str]]:
        """What to try, by tensor."""
        return {tensor["name"]: tensor["advice"] for tensor in self.tensors if tensor.get("advice")}

    def arrays(self) -> Dict[str, "np.ndarray[Any, Any]"]:
        """The figures of tensors, an array for each: 'name', 'xmodel_err', ... What isn't known of one is NaN."""
        columns = dict.fromkeys(
            key for tensor in self.tensors for key, value in tensor.items() if isinstance(value, (int, float))
        )
        result = {"name": np.array([tensor["name"] for tensor in self.tensors])}
        for key in columns:
            values = [tensor.get(key) for tensor in self.tensors]
            result[key] = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        return result

    def to_html(self) -> str:
        """A page that needs nothing else."""
        return self._page

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        from .model import write_whole

        write_whole(os.fspath(path), self._page.encode())

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self._page)}" width="100%" height="600"></iframe>'


class Sensitivity(_Result):
    """What each layer's quantization costs at the outputs, in decibels."""

    @property
    def layers(self) -> List[Dict[str, Any]]:
        return list(self.data.get("layers", []))


class Evaluation(_Result):
    """How good a model is: figures by name, such as 'top1', 'sqnr' or 'ap'."""

    def __getitem__(self, key: str) -> Any:
        for place in (self.data, self.data.get("against_reference", {}), self.data.get("coco", {})):
            if key in place:
                return place[key]
        raise KeyError(key)


def compare(
    float_model: ModelLike, quantized: ModelLike, data: Any, *, progress: Progress = None, **options: Any
) -> Comparison:
    """Runs samples through both models and compares their tensors.

    >>> import onnxquant as oq
    >>> quantized = oq.quantize(example("digits.onnx"), digits)
    >>> comparison = oq.compare(example("digits.onnx"), quantized, digits[:2])
    >>> len(comparison.tensors) > 0
    True
    """
    given, _ = _options.split(
        "compare", options, (_options.data(), _options.SHAPES, ("as_is", "top")), also_quantize=False
    )
    first, second = Model(float_model), Model(quantized)
    samples, size, more = open_data(data, keep=True, limit=given.get("limit"))
    with Bar(progress) as bar:
        text, page, table = compiler().compare(
            first._argument(), second._argument(), {**more, **given}, samples, size,
            [first.path or "float model", second.path or "quantized model"], bar.wanted(),
        )
    return Comparison(json.loads(text), table, page)


def sensitivity(
    model: ModelLike, data: Any, *, table: Any = None, skip_preprocess: bool = False, progress: Progress = None,
    **keywords: Any,
) -> Sensitivity:
    """Quantizes each layer alone, and all but it: what that costs at the outputs.

    >>> import onnxquant as oq
    >>> result = oq.sensitivity(example("digits.onnx"), digits[:4])
    >>> result.layers[0]["node"] != ""
    True
    """
    from .quantization import _table_file

    given, values = _options.split(
        "sensitivity", keywords, (_options.data(), _options.ranges(), _options.SHAPES, ("top",)), also_quantize=True
    )
    given["preprocess_model"] = not skip_preprocess
    samples, size, more = open_data(data, keep=True, limit=given.get("limit"))
    file, temporary = _table_file(table)
    try:
        with Bar(progress) as bar:
            text, summary = compiler().sensitivity(
                Model(model)._argument(), values, {**more, **given}, samples, size, file, bar.wanted()
            )
    finally:
        if temporary:
            os.unlink(file)
    return Sensitivity(json.loads(text), summary)


def label_file(labels: Any) -> Tuple[str, bool]:
    """Labels as a file, empty for none, and whether it is to be removed again."""
    import tempfile

    if labels is None:
        return "", False
    if isinstance(labels, (str, os.PathLike)):
        return os.fspath(labels), False
    handle, path = tempfile.mkstemp(suffix=".txt")
    with os.fdopen(handle, "w") as file:
        file.writelines(f"{int(label)}\n" for label in labels)
    return path, True


def evaluate(
    model: ModelLike, data: Any, *, labels: Any = None, reference: Optional[ModelLike] = None,
    metric: Union[str, Tuple[str, ...], List[str], None] = None, progress: Progress = None, **options: Any,
) -> Evaluation:
    """Measures a model on samples: metric='top1,top5,coco,sqnr,cosine,agreement'.

    `labels` is a file, a list of classes, or None where folders are classes.

    >>> import onnxquant as oq
    >>> quantized = oq.quantize(example("digits.onnx"), digits)
    >>> result = oq.evaluate(quantized, digits, reference=example("digits.onnx"))
    >>> result["sqnr"] > 20
    True
    """
    given, _ = _options.split(
        "evaluate", options, (_options.data(), _options.SHAPES, ("output", "boxes", "score", "overlap")),
        also_quantize=False,
    )
    if metric is not None:
        given["metric"] = metric if isinstance(metric, str) else ",".join(metric)
    path, temporary = label_file(labels)
    if path:
        given["labels"] = path
    samples, size, more = open_data(data, keep=True, limit=given.get("limit"))
    first = Model(model)
    second = Model(reference) if reference is not None else None
    try:
        with Bar(progress) as bar:
            text, summary = compiler().evaluate(
                first._argument(), second._argument() if second else None, {**more, **given}, samples, size,
                [first.path or "model", (second.path if second else None) or "reference"], bar.wanted(),
            )
    finally:
        if temporary:
            os.unlink(path)
    return Evaluation(json.loads(text), summary)


def coco(detections: Any, annotations: Union[str, "os.PathLike[str]"]) -> Evaluation:
    """COCO's twelve figures of detections: a file, or a list of
    {image_id, category_id, bbox, score}.

    >>> import onnxquant as oq
    >>> boxes = [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "score": 0.9}]
    >>> round(oq.coco(boxes, annotations)["AP"], 6)
    1.0
    """
    import tempfile

    if isinstance(detections, (str, os.PathLike)):
        text, summary = compiler().coco(os.fspath(detections), os.fspath(annotations))
    else:
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "detections.json")
            with open(file, "w") as stream:
                json.dump(_options.plain(list(detections)), stream)
            text, summary = compiler().coco(file, os.fspath(annotations))
    return Evaluation(json.loads(text), summary)
