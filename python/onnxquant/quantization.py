"""Quantization: a float model in, a quantized one out."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _options
from ._load import compiler
from ._progress import Bar, Progress
from .data import open_data
from .model import Model, ModelLike, QuantizedModel
from .report import Report
from .table import Table

_BOUNDS = ("min_sqnr", "min_agreement", "max_drop", "max_latency")
_EXPORT = frozenset(("external_data", "external_data_location", "external_data_size_threshold"))


def options() -> List[str]:
    """The keywords of `quantize` that are options of the quantize pass.

    >>> import onnxquant as oq
    >>> "per_channel" in oq.options()
    True
    """
    return list(_options.quantize_options())




def quantize(
    model: ModelLike,
    data: Any = None,
    *,
    table: Union[Table, str, "os.PathLike[str]", Dict[str, Tuple[float, float]], None] = None,
    out: Optional[Union[str, "os.PathLike[str]"]] = None,
    skip_preprocess: bool = False,
    progress: Progress = None,
    **keywords: Any,
) -> QuantizedModel:
    """Quantizes a model by samples, by a table, or dynamically.

    Options are those of `onnxq quantize` with `_`: mode ('qdq', 'qlinear',
    'integer', 'qat'), dynamic, activation_type, weight_type, per_channel,
    nodes_to_exclude, ... and those of calibration. With min_sqnr,
    min_agreement, max_drop (and labels) or max_latency, the fastest model
    within these bounds is searched for. With only_where_faster, what 8 bits
    make slower stays float. The result is in memory unless `out`
    names a file; its `report` tells what was done and why not.

    >>> import onnxquant as oq
    >>> quantized = oq.quantize(example("digits.onnx"), digits)
    >>> quantized.report.quantized > 0
    True
    """
    from .report import label_file

    labels, labels_are_temporary = label_file(keywords.pop("labels", None))
    if labels:
        keywords["labels"] = labels
    searches = any(keywords.get(name) is not None for name in _BOUNDS) or bool(keywords.get("only_where_faster"))
    given, values = _options.split(
        "quantize", keywords, (_options.data(), _options.ranges(), _options.SHAPES, _EXPORT), also_quantize=True
    )
    if data is not None and table is not None:
        raise ValueError("quantize expects data or a table, but got both")
    given["preprocess_model"] = not skip_preprocess
    # These run samples again.
    samples, size, more = open_data(data, keep=searches, limit=given.get("limit") if searches else None)
    where = os.fspath(out) if out is not None else ""
    source = Model(model)
    file, temporary = _table_file(table)
    try:
        with Bar(progress) as bar:
            content, report, summary = compiler().quantize(
                source._argument(), values, {**more, **given}, samples, size, file, where, bar.wanted()
            )
    finally:
        if temporary:
            os.unlink(file)
        if labels_are_temporary:
            os.unlink(labels)
    result = QuantizedModel(content if content is not None else where)
    result.report = Report(json.loads(report) if report else {}, summary)
    return result


def _table_file(table: Any) -> Tuple[str, bool]:
    """A table as a file, and whether it is to be removed again."""
    if table is None:
        return "", False
    if isinstance(table, (str, os.PathLike)):
        if not os.path.exists(table):
            raise FileNotFoundError(f"{os.fspath(table)}: no such table")
        return os.fspath(table), False
    if not isinstance(table, Table):
        table = Table(table)
    handle, name = tempfile.mkstemp(suffix=".json")
    os.close(handle)
    table.save(name)
    return name, True
