"""Keywords as options of the C++ side: names with `_`, values as text."""

from __future__ import annotations

import difflib
import functools
import json
import os
from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, NamedTuple, Tuple


class Option(NamedTuple):
    """An option of a pass, as Passes.td declares it."""

    name: str
    group: str
    is_flag: bool
    shown: str
    help: str


@functools.lru_cache(maxsize=None)
def tables() -> Mapping[str, Mapping[str, Option]]:
    """The options of each pass by keyword."""
    from ._load import compiler

    return {
        name: {entry[0].replace("-", "_"): Option(*entry) for entry in entries}
        for name, entries in compiler().option_tables().items()
    }


def quantize_options() -> Mapping[str, Option]:
    """The options of the quantize pass by keyword."""
    return tables()["quantize"]


def calibration(*groups: str) -> FrozenSet[str]:
    """Keywords of calibration, of some groups of its pass's options."""
    return frozenset(name for name, option in tables()["calibrate"].items() if option.group in groups)


def data() -> FrozenSet[str]:
    """Keywords of samples."""
    return calibration("data", "images") - {"data"}


def ranges() -> FrozenSet[str]:
    """Keywords of ranges, by samples or by a table."""
    return (calibration("method") | frozenset(tables()["load_calibration"])) - {"table"}


SHAPES = frozenset(("dims", "input_shapes"))


def unknown(function: str, name: str, known: Iterable[str]) -> TypeError:
    """What is raised for a keyword that there is not."""
    near = difflib.get_close_matches(name, list(known), 1)
    return TypeError(
        f"{function}() has no option '{name}'" + (f"; did you mean '{near[0]}'?" if near else "")
    )


def check(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    known = set(known)
    for name in given:
        if name not in known:
            raise unknown(function, name, known)


def plain(value: Any) -> Any:
    """Numbers of NumPy and the like as those of Python, for JSON."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "item"):
        return value.item()
    return value


def text(value: Any) -> str:
    """A value as the command line spells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return json.dumps(plain(value))
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(text(entry) for entry in value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return text(value.item())
    return str(value)


def dims(value: Any) -> List[str]:
    """{"batch": 1} or ["batch=1"]."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [f"{name}={shape(size)}" for name, size in value.items()]
    return [str(entry) for entry in value]


def shape(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "x".join(str(int(size)) for size in value)
    return str(value)


def split(
    function: str, keywords: Dict[str, Any], groups: Iterable[Iterable[str]], also_quantize: bool
) -> Tuple[Dict[str, Any], List[Tuple[str, str]]]:
    """Keywords for the call, and those of the quantize pass as (name, text)."""
    known = {name for group in groups for name in group}
    passes = quantize_options() if also_quantize else {}
    options: Dict[str, Any] = {}
    values: List[Tuple[str, str]] = []
    for name, value in keywords.items():
        if name in known:
            options[name] = value
        elif name in passes:
            if value is None:
                continue
            if isinstance(value, (list, tuple, set, frozenset)) and not isinstance(value, str):
                values += [(name.replace("_", "-"), text(entry)) for entry in value]
            else:
                values.append((name.replace("_", "-"), text(value)))
        else:
            raise unknown(function, name, known | set(passes))
    for name in SHAPES:
        if name in options:
            options[name] = dims(options[name])
    return {name: value for name, value in options.items() if value is not None}, values
