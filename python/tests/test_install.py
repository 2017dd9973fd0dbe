"""`pip install .` offline, in a virtual environment that sees the system's NumPy."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_pip_install(tmp_path, model):
    # Ninja's dry run always wants to look for new files, so times tell whether something is to be built first.
    built = min((ROOT / "build" / name).stat().st_mtime for name in ("bin/onnxq", "bin/onnxq-opt"))
    sources = [path for folder in ("include", "lib", "python/src", "tools") for path in (ROOT / folder).rglob("*.*")]
    if max(path.stat().st_mtime for path in sources) > built:
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
    # With all that its verbs start.
    subprocess.run([str(venv / "bin" / "onnxq"), "bench", model, "--seconds", "0.1"], cwd=tmp_path, check=True)
