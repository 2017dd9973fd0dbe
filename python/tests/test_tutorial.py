"""docs/Python.md and README's first example, executed."""

import pathlib
import re

import onnx
import pytest
from conftest import digits_model

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


@pytest.mark.parametrize("page", ["docs/Python.md", "README.md"])
def test_page(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    onnx.save(digits_model(), "model.onnx")
    if page.startswith("docs"):
        pytest.importorskip("matplotlib")
    names = {"__name__": "page"}
    found = blocks(page)
    assert found
    for block in found:
        exec(compile(block, page, "exec"), names)
    printed = capsys.readouterr().out
    if page.startswith("docs"):
        assert "image float32" in printed and "32 samples" in printed and "image - put the channels second" in printed
        assert (tmp_path / "report.html").exists() and (tmp_path / "lost.png").exists()
