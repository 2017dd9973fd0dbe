"""Annotations hold, and stubs say what the extension modules have."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_mypy():
    pytest.importorskip("mypy")
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-warn-unused-ignores", "--cache-dir", os.devnull, "--exclude",
         "compat", "--follow-imports=silent", "-p", "onnxquant"],
        cwd=ROOT / "python", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wrong = [line for line in result.stdout.splitlines() if "error:" in line and "compat" not in line]
    assert not wrong, result.stdout


def test_stubs(tmp_path):
    pytest.importorskip("mypy")
    # Classes of pybind11 have a metaclass of their own.
    (tmp_path / "allowed").write_text("onnxquant\\._runtime\\.Session\n")
    result = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "--allowlist", str(tmp_path / "allowed"), "onnxquant._runtime",
         "onnxquant._compiler"],
        cwd=tmp_path, env=dict(os.environ, MYPYPATH=str(ROOT / "python")), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True)
    assert result.returncode == 0, result.stdout
