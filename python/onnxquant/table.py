"""Calibration: samples in, statistics and ranges out."""

from __future__ import annotations

import html
import json
import os
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

from . import _options
from ._load import compiler
from ._progress import Bar, Progress
from .data import open_data
from .model import Model, ModelLike, write_whole

Range = Tuple[float, float]


class Table(Mapping[str, Range]):
    """What calibration found: tensors' names to (min, max).

    A table of statistics gives the ranges of any method that its statistics
    suffice for, and merges with those of other samples.

    >>> table = Table({"x": (-1.0, 2.0)})
    >>> table["x"]
    (-1.0, 2.0)
    """

    def __init__(self, ranges: Optional[Mapping[str, Any]] = None, *, _statistics: Optional[str] = None,
                 **options: Any) -> None:
        self._statistics = _statistics
        self._options = options
        self._ranges: Optional[Dict[str, Range]] = None
        if ranges is not None:
            self._ranges = {str(name): _range(str(name), pair) for name, pair in ranges.items()}

    def _all(self) -> Dict[str, Range]:
        if self._ranges is None:
            self._ranges = compiler().table_ranges(self._statistics, self._options)
        assert self._ranges is not None
        return self._ranges

    def __getitem__(self, name: str) -> Range:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return f"Table({len(self)} tensors, {self.samples or 'unknown'} samples, {self.method})"

    @property
    def method(self) -> str:
        """The method that the table was made for."""
        return str(self.statistics().get("method", "ranges"))

    @property
    def samples(self) -> int:
        return int(self.statistics().get("samples", 0))

    def statistics(self) -> Dict[str, Any]:
        """All that is known, as in the JSON file; empty for plain ranges."""
        known: Dict[str, Any] = json.loads(self._statistics) if self._statistics else {}
        return known

    def ranges(self, method: Optional[str] = None, **options: Any) -> Dict[str, Range]:
        """The ranges by another method: minmax, average, moving-average,
        entropy, percentile, mse or distribution. Options: percentile, quantized_bins,
        symmetric."""
        _options.check("ranges", options, ("percentile", "quantized_bins", "symmetric"))
        if method is None and not options:
            return dict(self._all())
        if self._statistics is None:
            raise ValueError("a table of ranges has no statistics to compute others from")
        given = {**self._options, **options}
        if method is not None:
            given["method"] = method
        result: Dict[str, Range] = compiler().table_ranges(self._statistics, given)
        return result

    def merge(self, *others: "Table") -> "Table":
        """The table of all samples, as if calibrated at once."""
        return merge([self, *others])

    def save(self, path: Union[str, "os.PathLike[str]"], *, ranges: bool = False) -> None:
        """Writes .json (statistics, or plain ranges), .cache or .flatbuffers."""
        out = os.fspath(path)
        if out.endswith(".json") and self._statistics and not ranges:
            write_whole(out, (self._statistics.rstrip() + "\n").encode())
            return
        compiler().write_ranges(self._all(), out)

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "Table":
        """Reads a table of any of these formats."""
        name = os.fspath(path)
        if not os.path.exists(name):
            raise FileNotFoundError(f"{name}: no such table")
        statistics, ranges = compiler().read_table(name)
        return cls(ranges, _statistics=statistics)

    def __reduce__(self) -> Any:
        return _restore, (self._statistics, self._ranges if self._statistics is None else None, self._options)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{low:.6g}</td><td>{high:.6g}</td></tr>" for name, (low, high) in self.items()
        )
        return f"<table><tr><th>tensor</th><th>min</th><th>max</th></tr>{rows}</table>"


def _range(name: str, pair: Any) -> Range:
    try:
        low, high = pair
        return float(low), float(high)
    except (TypeError, ValueError):
        raise ValueError(f"the range of '{name}' expects two numbers, min and max, but got {pair!r}") from None


def _restore(statistics: Optional[str], ranges: Optional[Dict[str, Range]], options: Dict[str, Any]) -> Table:
    return Table(ranges, _statistics=statistics, **options)


def merge(tables: Iterable[Table]) -> Table:
    """Adds up the statistics of several tables.

    >>> import onnxquant as oq
    >>> parts = [oq.calibrate(example("digits.onnx"), digits[i::2]) for i in range(2)]
    >>> oq.merge(parts).samples == len(digits)
    True
    """
    listed = list(tables)
    texts: List[str] = []
    for table in listed:
        if table._statistics is None:
            raise ValueError("a table of ranges can't be merged: it has no statistics")
        texts.append(table._statistics)
    if not texts:
        raise ValueError("merge expects at least one table")
    return Table(_statistics=compiler().merge_tables(texts), **listed[0]._options)


def calibrate(model: ModelLike, data: Any, *, progress: Progress = None, **options: Any) -> Table:
    """Runs samples through a model and notes what its tensors hold.

    `data` is a path or paths as of --data, an array (its first axis counts
    samples), a dictionary of such arrays, an iterable or DataLoader of
    dictionaries, tuples or arrays, a reader with get_next(), a function that
    gives an iterator, or Images(...). Samples are asked for one at a time and
    let go of again. Options are those of `onnxq calibrate`: method, bins,
    percentile, symmetric, limit, threads, shard, checkpoint, ...

    >>> import onnxquant as oq
    >>> table = oq.calibrate(example("digits.onnx"), digits, method="percentile")
    >>> low, high = table["image"]
    >>> low < high
    True
    """
    known = _options.calibration("images", "data", "method", "observed") - {"data"}
    given, _ = _options.split("calibrate", options, (known, _options.SHAPES, ("names",)), also_quantize=False)
    if isinstance(given.get("names"), str):
        given["names"] = [part.strip() for part in given["names"].split(",")]
    samples, size, more = open_data(data)
    with Bar(progress) as bar:
        text = compiler().calibrate(Model(model)._argument(), {**more, **given}, samples, size, bar.wanted())
    keep = {name: given[name] for name in ("quantized_bins", "percentile", "symmetric") if name in given}
    return Table(_statistics=text, **keep)
