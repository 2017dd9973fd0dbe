#!/usr/bin/python3
"""The Python package's own tests, by pytest, on the package in the build folder."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    build = pathlib.Path(os.environ.get("ONNXQUANT_BUILD", ROOT / "build")).resolve()
    package = build / "python"
    if not (package / "onnxquant").exists():
        print(f"{package}: the package is not built")
        print("0 passed, 1 failed")
        sys.exit(1)
    environment = dict(os.environ, PYTHONPATH=f"{package}:{ROOT / 'python' / 'tests'}", PYTHONDONTWRITEBYTECODE="1")
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(ROOT / "python" / "tests"), *sys.argv[1:]],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    counts = {kind: int(number) for number, kind in re.findall(r"(\d+) (passed|failed|errors?|skipped)", result.stdout)}
    failed = counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0)
    failed = failed or int(result.returncode != 0)
    if failed:
        print(result.stdout)
    print(f"{counts.get('passed', 0)} passed, {failed} failed, {counts.get('skipped', 0)} skipped")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
