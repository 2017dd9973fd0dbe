"""The examples in docstrings, executed."""

import doctest
import importlib

import pytest

MODULES = ["errors", "data", "model", "table", "quantization", "session", "report", "compat"]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, doctest_namespace):
    from onnxquant import compat

    module = importlib.import_module(f"onnxquant.{name}")
    try:
        result = doctest.testmod(module, extraglobs=dict(doctest_namespace))
    finally:
        compat.uninstall()
    assert result.failed == 0
    assert result.attempted > 0


def test_every_function_has_one():
    import onnxquant as oq

    for name in ("load", "info", "preprocess", "calibrate", "merge", "quantize", "compile", "open_library", "compare",
                 "sensitivity", "evaluate", "coco"):
        assert ">>>" in getattr(oq, name).__doc__, name
