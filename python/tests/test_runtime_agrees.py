"""Every file that the drop-in writes loads in ONNX Runtime itself, and gives what
our session gives."""

import pathlib
import sys

import numpy as np
import onnx
import pytest
from conftest import digits_model

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test" / "Integration"))

from onnxquant import compat  # noqa: E402
from onnxquant.compat.onnxruntime.quantization import (  # noqa: E402
    QuantFormat, QuantType, quantize_dynamic, quantize_static)

assert compat


def test_files_load_and_agree(tmp_path, digits, monkeypatch):
    monkeypatch.setenv("ONNXQUANT_BUILD", str(pathlib.Path(__file__).resolve().parents[2] / "build"))
    ort = pytest.importorskip("ort")
    if not ort.available():
        pytest.skip("ONNX Runtime isn't there")
    import onnxquant as oq

    onnx.save(digits_model(), str(tmp_path / "float.onnx"))
    samples = [{"image": digits[i : i + 1]} for i in range(4)]
    files = []
    unsigned, signed = QuantType.QUInt8, QuantType.QInt8
    for form, activation, weight, per_channel in (
            (QuantFormat.QDQ, unsigned, signed, True), (QuantFormat.QDQ, signed, signed, False),
            (QuantFormat.QOperator, unsigned, unsigned, False), (QuantFormat.QOperator, unsigned, signed, True),
            (QuantFormat.QOperator, signed, signed, True)):
        path = tmp_path / f"{form}_{activation}_{weight}_{per_channel}.onnx"
        quantize_static(tmp_path / "float.onnx", path, iter(samples), quant_format=form, activation_type=activation,
                        weight_type=weight, per_channel=per_channel)
        files.append(path)
    quantize_dynamic(tmp_path / "float.onnx", tmp_path / "dynamic.onnx", weight_type=QuantType.QUInt8)
    files.append(tmp_path / "dynamic.onnx")
    # At `extended` it refuses QLinearConv of signed numbers, for want of a kernel.
    plain = [path for path in files if "QInt8_QInt8" in path.name and "QUInt8" not in path.name]
    others = [path for path in files if path not in plain]
    results = []
    for group, level in ((plain, "disabled"), (others, "extended")):
        results += ort.outputs_of(tmp_path, [(path, samples[0]) for path in group], level=level)
    for path, result in zip(plain + others, results):
        assert "arrays" in result, (path.name, result)
        np.testing.assert_allclose(oq.compile(str(path))(samples[0]["image"]), result["arrays"][0], atol=0.05,
                                   err_msg=path.name)
