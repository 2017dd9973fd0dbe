"""Whatever is wrong becomes one clear exception, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import onnxquant as oq


def test_wrong_arrays(model, digits):
    session = oq.compile(model)
    cases = [
        ({"image": digits.astype(np.float64)}, "float32.*float64"),
        ({"image": digits[0]}, "shape"),
        ({"picture": digits}, "image"),
        ({"image": digits, "more": digits}, "'more'"),
        ({"image": "text"}, "image"),
        ({}, "missing"),
    ]
    for feeds, pattern in cases:
        with pytest.raises(oq.DataError, match=pattern):
            session.run(feeds)
    with pytest.raises(oq.DataError, match="1 inputs"):
        session(digits, digits)
    with pytest.raises(TypeError):
        session.run([digits])


def test_tensor_and_hint(model, digits):
    with pytest.raises(oq.DataError) as caught:
        oq.calibrate(model, digits.transpose(0, 2, 3, 1))
    assert caught.value.tensor == "image" and "transpose" in caught.value.hint


def test_samples(model, digits, tmp_path):
    out = tmp_path / "q.onnx"

    def raises():
        yield digits[:1]
        raise KeyError("mine")

    cases = [
        (iter([]), oq.DataError, "no samples"), ([], oq.DataError, "no samples"),
        (raises(), KeyError, "mine"), (iter([digits[:1], digits[:1, :, :5]]), oq.DataError, "shape"),
        ({"image": digits, "other": digits[:3]}, oq.DataError, "agree"),
        ({"picture": digits, "image": digits}, ValueError, "input"),
        ({"picture": digits}, oq.DataError, "no input 'picture'"),
        (iter([{"picture": digits[:1]}]), oq.DataError, "no input 'picture'"),
        (7, TypeError, "data expects"), ("nowhere", FileNotFoundError, "nowhere"), (["a.npy"], FileNotFoundError, "a.npy"),
        (iter([["text"]]), oq.DataError, "numbers"),
    ]
    for data, kind, pattern in cases:
        with pytest.raises(kind, match=pattern):
            oq.quantize(model, data, out=out)
        assert not os.listdir(tmp_path)


def test_samples_in_parts_are_copied_one_by_one(model, digits):
    """A view of 400 GB and what is behind a transposition."""
    endless = np.broadcast_to(digits[:1], (1 << 27, 1, 28, 28))
    assert oq.calibrate(model, endless, limit=2)["image"] == oq.calibrate(model, digits[:1])["image"]
    turned = np.ascontiguousarray(digits.transpose(0, 1, 3, 2)).transpose(0, 1, 3, 2)
    assert dict(oq.calibrate(model, {"image": turned})) == dict(oq.calibrate(model, digits))


def test_ranges_that_are_none():
    for pair in ((1,), (1, 2, 3), 5, ("a", "b"), None):
        with pytest.raises(ValueError, match="range of 'x' expects"):
            oq.Table({"x": pair})


def test_other_widths_are_told(model, digits, caplog):
    oq.calibrate(model, iter([digits[:1].astype(np.float64)]))
    assert "float64 is converted to float32" in caplog.text


def test_reader_of_wrong_things(model):
    class Reader:
        def get_next(self):
            return 5

    with pytest.raises(oq.DataError, match="get_next"):
        oq.calibrate(model, Reader())


def test_models(tmp_path, model):
    with pytest.raises(FileNotFoundError, match="missing.onnx"):
        oq.load(tmp_path / "missing.onnx")
    with pytest.raises(oq.ModelError, match="missing.onnx"):
        oq.load(tmp_path / "missing.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"garbage")
    with pytest.raises(oq.ModelError, match="bad.onnx"):
        oq.load(tmp_path / "bad.onnx")
    with pytest.raises(TypeError, match="comma"):
        oq.load((model,))
    with pytest.raises(TypeError, match="int"):
        oq.load(5)
    with pytest.raises(oq.ModelError):
        oq.open_library(model)


def test_options(model, digits):
    with pytest.raises(TypeError, match="did you mean 'per_channel'"):
        oq.quantize(model, digits, per_chanel=True)
    with pytest.raises(TypeError, match="did you mean 'method'"):
        oq.calibrate(model, digits, metod="minmax")
    with pytest.raises(TypeError, match="threads"):
        oq.compile(model, treads=2)
    for options in ({"method": "best"}, {"percentile": 200, "method": "percentile"}, {"threads": -1}, {"batch": 0}):
        with pytest.raises(ValueError):
            oq.calibrate(model, digits, **options)
    for options in ({"mode": "qdx"}, {"activation_type": "u9"}, {"nodes_to_exclude": ["conv9"]}):
        with pytest.raises(ValueError):
            oq.quantize(model, digits, **options)
    with pytest.raises(ValueError, match="threads"):
        oq.compile(model, threads=0)
    with pytest.raises(ValueError, match=r"\.so"):
        oq.compile(model, out="x.txt")
    with pytest.raises(ValueError, match="both"):
        oq.quantize(model, digits, table={"x": (0, 1)})
    with pytest.raises(oq.QuantizeError, match="range"):
        oq.quantize(model)


def test_output_that_cannot_be_written(model, digits, tmp_path):
    with pytest.raises(OSError):
        oq.quantize(model, digits, out=tmp_path / "no folder" / "q.onnx")
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
        with pytest.raises(OSError):
            oq.quantize(model, digits, out=tmp_path / "q.onnx")


def interrupt(code, model):
    """Runs code, sends it an interrupt when it says so, and returns its output."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", textwrap.dedent(code), model], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True)
    assert process.stdout.readline().strip() == "ready"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    return process.returncode, output


def test_interrupt_of_a_reader_without_end(model, tmp_path):
    status, output = interrupt(
        """
        import sys, numpy as np, onnxquant as oq
        def forever():
            for i in range(10**9):
                if i == 3:
                    print("ready")
                yield np.zeros((1, 1, 28, 28), np.float32)
        try:
            oq.calibrate(sys.argv[1], forever())
        except KeyboardInterrupt:
            print("ended")
        """, model)
    assert "ended" in output and status == 0, output


def test_fork_after_import(model, digits):
    """A child of a process that has compiled compiles too."""
    oq.compile(model)(digits)
    child = os.fork()
    if child == 0:
        try:
            oq.compile(model)(digits)
            oq.quantize(model, digits)
            os._exit(0)
        except BaseException:
            os._exit(1)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")
