"""Every file that the drop-in writes loads in ONNX Runtime itself, and gives what
our session gives."""

import pathlib
import sys

import numpy as np
import onnx
import pytest
from conftest import digits_model, make_model, tensor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test" / "Integration"))

from onnxquant import compat  # noqa: E402
from onnxquant.compat.onnxruntime.quantization import (  # noqa: E402
    QuantFormat, QuantType, quantize_dynamic, quantize_static)

assert compat


def test_files_load_and_agree(tmp_path, digits, monkeypatch):
    monkeypatch.setenv("ONNXQUANT_BUILD", str(pathlib.Path(__file__).resolve().parents[2] / "build"))
    from support import ort

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


def test_newer_files_load_and_agree(tmp_path, monkeypatch):
    """16 and 4 bits of opset 21, tables of bytes, and weights of bitsandbytes."""
    monkeypatch.setenv("ONNXQUANT_BUILD", str(pathlib.Path(__file__).resolve().parents[2] / "build"))
    from onnx import helper
    from support import ort

    if not ort.available():
        pytest.skip("ONNX Runtime isn't there")
    import onnxquant as oq
    from onnxquant.compat.onnxruntime.quantization.matmul_bnb4_quantizer import MatMulBnb4Quantizer

    random = np.random.default_rng(0)
    product = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], [("x", [2, 64])], [("y", [2, 32])],
                         [tensor("w", 64, 32)])
    sample = {"x": random.normal(size=(2, 64)).astype(np.float32)}
    runs = []
    for name, activation, weight in (("wide", QuantType.QUInt16, QuantType.QInt8), ("narrow", QuantType.QUInt16, QuantType.QInt4)):
        quantize_static(product, tmp_path / f"{name}.onnx", iter([sample]), activation_type=activation, weight_type=weight,
                        per_channel=True)
        runs.append((tmp_path / f"{name}.onnx", sample))
    for kind in (0, 1):
        quantizer = MatMulBnb4Quantizer(product, kind, 16)
        quantizer.process()
        quantizer.model.save_model_to_file(tmp_path / f"bnb{kind}.onnx")
        runs.append((tmp_path / f"bnb{kind}.onnx", sample))
    nodes = [helper.make_node("Gather", ["emb", "ids"], ["e"], "rows"),
             helper.make_node("MatMul", ["e", "w"], ["m"], "product"), helper.make_node("Add", ["e", "m"], ["y"], "sum")]
    table = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("ids", 7, [3])],
                              [helper.make_tensor_value_info("y", 1, [3, 8])], [tensor("emb", 40, 8), tensor("w", 8, 8)])
    for per_channel in (False, True):
        model = helper.make_model(table, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 7
        path = tmp_path / f"table{per_channel}.onnx"
        quantize_dynamic(model, path, per_channel=per_channel)
        runs.append((path, {"ids": np.array([3, 39, 3])}))
    for (path, feeds), result in zip(runs, ort.outputs_of(tmp_path, runs, level="disabled")):
        assert "arrays" in result, (path.name, result)
        mine = oq.compile(str(path)).run(feeds)["y"]
        np.testing.assert_allclose(mine, result["arrays"][0], atol=1e-3, rtol=1e-3, err_msg=path.name)
