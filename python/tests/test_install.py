"""`pip install .` offline, in a virtual environment that sees the system's NumPy."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_pip_install(tmp_path, model):
    build = ROOT / "build"
    pending = subprocess.run(["ninja", "-C", str(build), "-n", "_compiler", "_runtime", "onnxq", "onnxq-opt"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if pending.returncode or "no work to do" not in pending.stdout:
        pytest.skip("the build folder is not up to date")
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(venv)], check=True)
    subprocess.run([str(venv / "bin" / "pip"), "install", "--no-index", "-q", "."], cwd=ROOT, check=True)
    code = f"import onnxquant as oq; assert 'site-packages' in oq.__file__; print(oq.load({model!r}).opset)"
    printed = subprocess.run([str(venv / "bin" / "python"), "-c", code], cwd=tmp_path, check=True, env={},
                             stdout=subprocess.PIPE, text=True).stdout
    assert printed.strip() == "13"
    version = subprocess.run([str(venv / "bin" / "onnxq"), "--version"], check=True, stdout=subprocess.PIPE, text=True)
    assert version.stdout.startswith("onnxq ")
