"""Progress of long work: a callback, tqdm if it is there, or nothing."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Callable, Optional, Type, Union

Progress = Union[None, bool, Callable[[int, int], Any]]


class Bar:
    """What the C++ side calls with (label, unit, done, total)."""

    def __init__(self, progress: Progress) -> None:
        self._callback = progress if callable(progress) else None
        self._bar: Any = None
        self._make: Any = None
        if self._callback is None and (progress is True or (progress is None and _is_watched())):
            try:
                from tqdm.auto import tqdm  # type: ignore[import]

                self._make = tqdm
            except ImportError:
                pass

    def __call__(self, label: str, unit: str, done: int, total: int) -> None:
        if self._callback is not None:
            self._callback(done, total)
        elif self._make is not None:
            if self._bar is None:
                self._bar = self._make(desc=label, unit=f" {unit}", total=total or None)
            self._bar.update(done - self._bar.n)

    def wanted(self) -> Optional["Bar"]:
        return self if self._callback is not None or self._make is not None else None

    def __enter__(self) -> "Bar":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self._bar is not None:
            self._bar.close()


def _is_watched() -> bool:
    """Whether someone looks: a terminal, or a notebook."""
    if "ipykernel" in sys.modules:
        return True
    stream = sys.stderr
    return bool(stream is not None and hasattr(stream, "isatty") and stream.isatty())
