"""The compiler's module, loaded when it is first needed."""

from __future__ import annotations

from typing import Any


def compiler() -> Any:
    """`onnxquant._compiler`, or an error that says what is missing."""
    try:
        from . import _compiler
    except ImportError as error:
        if "libMLIR" in str(error) or "libLLVM" in str(error):
            raise ImportError(
                f"{error}: the compiler needs LLVM 22's libraries (Debian packages libmlir-22 and libllvm22); "
                "compiled models run without them, see onnxquant.open_library"
            ) from error
        raise
    return _compiler
