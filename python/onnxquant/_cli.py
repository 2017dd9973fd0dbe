"""The console scripts: the tools that were built with the package."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def _run(tool: str) -> NoReturn:
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.path.join(here, "bin", tool), os.path.join(here, "..", "..", "bin", tool)]
    for path in places:
        if os.path.exists(path):
            os.execv(path, [tool, *sys.argv[1:]])
    sys.exit(f"{tool}: not part of this installation; it is looked for in {os.path.dirname(places[0])}")


def onnxq() -> NoReturn:
    _run("onnxq")


def onnxq_opt() -> NoReturn:
    _run("onnxq-opt")
