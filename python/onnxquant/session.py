"""Compiled models that run."""

from __future__ import annotations

import html
import os
import statistics
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Union

import numpy as np

from . import _options, _runtime
from ._load import compiler
from .errors import RunError
from .model import Model, ModelLike, TensorInfo

_DTYPES = {"bfloat16": "uint16", "uint4": "uint8", "int4": "int8"}


class Session(_runtime.Session):
    """A compiled model; made by `compile` or `open_library`.

    `run({name: array})` gives a dictionary of arrays, `session(array, ...)` an
    array or a tuple. Any number of threads may run one session at once.
    Contiguous inputs are read where they are; outputs are new arrays, or those
    of `out={name: array}`.

    >>> import onnxquant as oq
    >>> session = oq.compile(example("digits.onnx"))
    >>> session(digits[:1]).shape
    (1, 10)
    """

    @property
    def inputs(self) -> List[TensorInfo]:
        """What a run takes."""
        return [TensorInfo(name, kind, tuple(dims)) for name, kind, dims in self._ports(True)]

    @property
    def outputs(self) -> List[TensorInfo]:
        """What a run gives."""
        return [TensorInfo(name, kind, tuple(dims)) for name, kind, dims in self._ports(False)]

    def random_inputs(self, seed: int = 0) -> Dict[str, "np.ndarray[Any, Any]"]:
        """Inputs to try a run with; open sizes are 1."""
        random = np.random.default_rng(seed)
        feeds = {}
        for port in self.inputs:
            shape = tuple(1 if size is None else int(size) for size in port.shape or ())
            kind = np.dtype("uint8" if port.type.startswith("float8") else _DTYPES.get(port.type, port.type))
            if kind.kind == "f":
                feeds[port.name] = random.uniform(-1, 1, shape).astype(kind)
            else:
                feeds[port.name] = random.integers(0, 2, shape).astype(kind)
        return feeds

    def bench(
        self, feeds: Optional[Mapping[str, Any]] = None, *, seconds: float = 1.0, runs: Optional[int] = None
    ) -> Dict[str, float]:
        """Times of runs in milliseconds: median, least, 90th percentile."""
        given = dict(feeds) if feeds is not None else self.random_inputs()
        warm = self._time(given, 3)
        count = runs or max(5, min(100000, int(seconds / max(min(warm), 1e-7))))
        times = sorted(1e3 * time for time in self._time(given, count))
        return {
            "median_ms": statistics.median(times),
            "min_ms": times[0],
            "p90_ms": times[int(0.9 * (len(times) - 1))],
            "runs": len(times),
        }

    def profile(self, feeds: Optional[Mapping[str, Any]] = None, *, runs: int = 10) -> List[Dict[str, Any]]:
        """How long each kernel takes, of a session compiled with profile=True."""
        if self._profile(True) is None:
            raise RunError("the session can't be measured: compile it with profile=True")
        given = dict(feeds) if feeds is not None else self.random_inputs()
        self._time(given, runs)
        rows = []
        for text, nanoseconds, calls in self._profile(True) or []:
            node, _, kind = text.partition("\t")
            rows.append({"node": node, "kind": kind, "ms": nanoseconds / 1e6 / runs, "calls": calls // runs})
        return sorted(rows, key=lambda row: -float(str(row["ms"])))

    def __repr__(self) -> str:
        ins = ", ".join(f"{port.name}: {port.type}{list(port.shape or ())}" for port in self.inputs)
        return f"Session({self.source}: {ins})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{kind}</td><td>{html.escape(port.name)}</td><td>{port.type}</td><td>{port.shape}</td></tr>"
            for kind, ports in (("input", self.inputs), ("output", self.outputs)) for port in ports
        )
        return f"<b>{html.escape(self.source)}</b><table>{rows}</table>"

    def __reduce__(self) -> Any:
        raise TypeError("a session can't be pickled: pickle the model, or use a library and open_library")


_COMPILE = frozenset(
    "target cpu features threads cache check_bounds winograd prepare max_iterations profile name dims input_shapes "
    "brief opt_level".split()
)


def compile(  # noqa: A001 - the name says what it does
    model: ModelLike, *, out: Optional[Union[str, "os.PathLike[str]"]] = None, **options: Any
) -> Optional[Session]:
    """Compiles a model: a Session in this process, or a file.

    Options are those of `onnxq compile`: target='native', cpu, features,
    threads=1, dims={'batch': 1}, input_shapes={'x': (1, 3, 224, 224)}, cache,
    ...; opt_level=0 or 1 compiles in less time, for code that runs slower. With `out` a library (.so), an object (.o), assembly (.s) or LLVM IR
    (.ll) is written; a library for this machine is opened too.

    >>> import onnxquant as oq
    >>> session = oq.compile(example("digits.onnx"), dims={"N": 1})
    >>> session.inputs[0].shape
    (1, 1, 28, 28)
    """
    _options.check("compile", options, _COMPILE)
    for name in ("dims", "input_shapes"):
        if options.get(name) is not None:
            options[name] = _options.dims(options[name])
    options.setdefault("cache", os.environ.get("ONNXQUANT_CODE_CACHE", ""))
    options["cache"] = os.fspath(options["cache"] or "")
    source = Model(model)
    name = source.path or "model"
    if out is not None:
        where = os.fspath(out)
        options.setdefault("name", os.path.splitext(os.path.basename(name))[0])
        compiler().compile_to(source._argument(), options, where)
        native = options.get("target", "native") == "native" and not options.get("cpu") and not options.get("features")
        return Session(where, where) if native and where.endswith(".so") else None
    if options.get("profile"):
        # Measurements are read from a library.
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "model.so")
            compiler().compile_to(source._argument(), options, library)
            return Session(library, name)
    return Session(compiler().compile(source._argument(), options), name)


def open_library(path: Union[str, "os.PathLike[str]"]) -> Session:
    """Opens a library that `compile` or `onnxq compile` wrote; needs no LLVM.

    >>> import onnxquant as oq
    >>> _ = oq.compile(example("digits.onnx"), out=folder / "digits.so")
    >>> oq.open_library(folder / "digits.so").outputs[0].name
    'scores'
    """
    where = os.fspath(path)
    return Session(where, where)
