"""A drop-in for ONNX Runtime's quantization tools, over this package's compiler.

    from onnxquant.compat import install
    install()
    from onnxruntime.quantization import quantize_static

or, for a script that stays as it is: `python -m onnxquant.compat script.py`.
Nothing is put into the way unless it is asked for.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any, Optional, Sequence

__all__ = ["install", "install_esp", "install_legacy", "uninstall"]

_HERE = __name__ + ".onnxruntime"
# What scripts for ESP-DL's v1.x toolkit import.
_ESP = ("calibrator", "evaluator", "onnxoptimizer", "optimizer")


class _Loader(importlib.abc.Loader):
    def __init__(self, real: str) -> None:
        self.real = real

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return importlib.import_module(self.real)

    def exec_module(self, module: ModuleType) -> None:
        # It has been run under its own name, and so has what it imported: importing that again would put modules in
        # the place of functions that have their names, such as `quantize`.
        for name, other in list(sys.modules.items()):
            if name == _HERE or name.startswith(_HERE + "."):
                sys.modules.setdefault("onnxruntime" + name[len(_HERE):], other)
        sys.modules[self.real.replace(_HERE, "onnxruntime")] = module

    def get_code(self, name: str) -> Any:
        """For `python -m`: the code of the module that answers."""
        spec = importlib.util.find_spec(self.real)
        assert spec is not None and spec.loader is not None
        return spec.loader.get_code(self.real)  # type: ignore[attr-defined]

    def is_package(self, name: str) -> bool:
        spec = importlib.util.find_spec(self.real)
        return spec is not None and spec.submodule_search_locations is not None


class _Finder(importlib.abc.MetaPathFinder):
    """Answers for `onnxruntime` and what is below it."""

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if fullname != "onnxruntime" and not fullname.startswith("onnxruntime."):
            return None
        real = _HERE + fullname[len("onnxruntime") :]
        try:
            found = importlib.util.find_spec(real)
        except ModuleNotFoundError:
            found = None
        if found is None:
            return None
        spec = importlib.machinery.ModuleSpec(
            fullname, _Loader(real), origin=found.origin, is_package=found.submodule_search_locations is not None
        )
        if found.submodule_search_locations is not None:
            spec.submodule_search_locations = list(found.submodule_search_locations)
        return spec


class _EspLoader(importlib.abc.Loader):
    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return importlib.import_module(f"{__name__}.esp.{spec.name}")

    def exec_module(self, module: ModuleType) -> None:
        # It has been run under its own name.
        sys.modules[module.__name__.rpartition(".")[2]] = module


class _EspFinder(importlib.abc.MetaPathFinder):
    """Answers for the modules of ESP-DL's v1.x toolkit."""

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if fullname not in _ESP or path is not None:
            return None
        return importlib.machinery.ModuleSpec(fullname, _EspLoader())


_finder = _Finder()
_esp_finder = _EspFinder()


def _real_one() -> bool:
    """Whether ONNX Runtime itself can be imported."""
    if "onnxruntime" in sys.modules:
        return not getattr(sys.modules["onnxruntime"], "__onnxquant__", False)
    return importlib.machinery.PathFinder.find_spec("onnxruntime") is not None


def install(force: bool = False) -> bool:
    """Lets `import onnxruntime` find this package's.

    Does nothing, and says so by False, where ONNX Runtime itself is installed;
    `force` puts this package before it.

    >>> from onnxquant.compat import install
    >>> install(force=True)
    True
    >>> from onnxruntime.quantization import QuantType
    >>> print(QuantType.QInt8)
    QInt8
    """
    if _esp_finder not in sys.meta_path:
        # Behind all others: a script's own modules of these names come first.
        sys.meta_path.append(_esp_finder)
    if _finder in sys.meta_path:
        return True
    if _real_one() and not force:
        return False
    for name in [name for name in sys.modules if name == "onnxruntime" or name.startswith("onnxruntime.")]:
        del sys.modules[name]
    sys.meta_path.insert(0, _finder)
    return True


def uninstall() -> None:
    """Takes back what `install` did."""
    for finder in (_finder, _esp_finder):
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
    for name in [name for name in sys.modules if name == "onnxruntime" or name.startswith("onnxruntime.")]:
        del sys.modules[name]


def install_esp() -> None:
    """Lets `import calibrator`, `evaluator`, `optimizer` and `onnxoptimizer` find
    this package's even where modules of these names are installed."""
    if _esp_finder in sys.meta_path:
        sys.meta_path.remove(_esp_finder)
    sys.meta_path.insert(0, _esp_finder)


def install_legacy() -> None:
    """Lets `import quantize`, `calibrate` and `data_preprocess` find the modules
    that were scripts before there was a package."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "legacy")
    if folder not in sys.path:
        sys.path.insert(0, folder)
