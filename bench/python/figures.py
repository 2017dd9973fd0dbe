#!/usr/bin/python3
"""Figures of the Python package, as ratios within one run.

    bench/python/figures.py [MODEL]...

What a call of a session costs beside the C call, calibration through a reader
beside that of a file, and the memory of quantize_static.
"""

import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "build" / "python"), str(ROOT / "python" / "tests")]

import onnxquant as oq  # noqa: E402


def imports():
    """Seconds that importing takes: NumPy alone, and with the package."""

    def least(code):
        times = []
        for _ in range(7):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {sys.path[0]!r}); {code}"], check=True)
            times.append(time.perf_counter() - start)
        return min(times)

    plain, both = least("import numpy"), least("import numpy, onnxquant")
    print(f"import: numpy {plain:.3f} s, with onnxquant {both:.3f} s, {both - plain:+.3f} s")


def calls():
    """Microseconds that Session.run adds to the C call."""
    from conftest import digits_model

    session = oq.compile(digits_model(), dims={"N": 1})
    feeds = session.random_inputs()
    for _ in range(1000):
        session.run(feeds)
    inner = statistics.median(session._time(feeds, 20000))
    times = []
    for _ in range(20000):
        start = time.perf_counter()
        session.run(feeds)
        times.append(time.perf_counter() - start)
    empty = []
    for _ in range(20000):
        start = time.perf_counter()
        empty.append(time.perf_counter() - start)
    outer = statistics.median(times) - statistics.median(empty)
    print(f"run: C call {1e6 * inner:.2f} us, Session.run {1e6 * outer:.2f} us, {1e6 * (outer - inner):+.2f} us")


def reading(model, shape):
    """Calibration through a reader beside that of a file of arrays."""
    data = np.random.default_rng(0).normal(size=(8, *shape)).astype(np.float32)
    name = oq.load(model).inputs[0].name
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/data.npy", data)

        def file():
            oq.calibrate(model, f"{folder}/data.npy")

        def reader():
            oq.calibrate(model, ({name: row[None]} for row in data))

        times = {file: [], reader: []}
        for _ in range(3):
            for work in times:
                start = time.perf_counter()
                work()
                times[work].append(time.perf_counter() - start)
    ratio = min(times[reader]) / min(times[file])
    print(f"calibrate {pathlib.Path(model).name}: file {min(times[file]):.2f} s, reader {min(times[reader]):.2f} s, {ratio:.3f} x")


def memory(model, shape):
    """Peak of quantize_static with 8 samples, in a process of its own."""
    code = f"""
import sys, resource; sys.path.insert(0, {sys.path[0]!r})
import numpy as np
from onnxquant.compat.onnxruntime.quantization import quantize_static
import onnxquant as oq
name = oq.load({model!r}).inputs[0].name
random = np.random.default_rng(0)
data = ({{name: random.normal(size=(1, *{shape!r})).astype(np.float32)}} for _ in range(8))
quantize_static({model!r}, sys.argv[1] + "/q.onnx", data)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run([sys.executable, "-c", code, folder], check=True, stdout=subprocess.PIPE, text=True)
    print(f"quantize_static {pathlib.Path(model).name}: {result.stdout.strip()} MB at most")


def main():
    imports()
    calls()
    for argument in sys.argv[1:]:
        shape = (3, 640, 640)
        reading(argument, shape)
        memory(argument, shape)
    assert resource


if __name__ == "__main__":
    main()
