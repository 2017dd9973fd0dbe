"""The drop-in beside ONNX Runtime's own tool: options, functions and sessions."""

import json
import logging
import os

import numpy as np
import onnx
import pytest
from conftest import digits_model, make_model, tensor
from onnx import helper, numpy_helper
from test_compat import Reader, constants

import onnxruntime
from onnxruntime.quantization import (
    QuantFormat, QuantType, calibrate, create_calibrator, quantize, quantize_dynamic, quantize_qat, quantize_static)
from onnxruntime.quantization.calibrate import HistogramCollector
from onnxruntime.quantization.matmul_nbits_quantizer import HQQWeightOnlyQuantConfig, MatMulNBitsQuantizer


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    onnx.save(digits_model(), "float.onnx")


def test_sigmoid_of_nnapi():
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"], "product"), helper.make_node("Sigmoid", ["m"], ["y"], "sigmoid")]
    onnx.save(make_model(nodes, [("x", [2, 8])], [("y", [2, 4])], [tensor("w", 8, 4)]), "s.onnx")
    x = np.random.default_rng(0).normal(size=(2, 8)).astype(np.float32)
    for nnapi in (True, False):
        quantize_static("s.onnx", "q.onnx", Reader([{"x": x}]), quant_format=QuantFormat.QOperator,
                        activation_type=QuantType.QUInt8, extra_options={"extra.Sigmoid.nnapi": nnapi})
        known = constants("q.onnx")
        assert (known["y_scale"] == 1 / 256 and known["y_zero_point"] == 0) == nnapi


def test_operators_without_a_quantized_form(digits, caplog):
    quantize_static("float.onnx", "q.onnx", Reader([{"image": digits}]), quant_format=QuantFormat.QOperator,
                    op_types_to_quantize=["Flatten"])
    assert [node.op_type for node in onnx.load("q.onnx").graph.node] == [node.op_type for node in digits_model().graph.node]
    assert "stays as it is" in caplog.text


def test_runner(digits, monkeypatch):
    """The command, with the samples beside a model."""
    from onnxruntime.quantization import static_quantize_runner

    for i in range(2):
        os.makedirs(f"test_data_set_{i}")
        with open(f"test_data_set_{i}/input_0.pb", "wb") as file:
            file.write(numpy_helper.from_array(digits[i : i + 1], "image").SerializeToString())
    with open("overrides.json", "w") as file:
        json.dump({"image": [{"scale": 0.5, "zero_point": 3}], "scores": [{"quant_type": "QUInt16"}]}, file)

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["runner", "-i", "float.onnx", "-o", "q.onnx", *arguments])
        static_quantize_runner.main()
        return constants("q.onnx")

    known = run("--per_channel", "--qdq_disable_weight_adjust_for_int32_bias", "--disable_quantize_bias")
    assert known["w1_scale"].shape == (8,) and "b1_quantized" not in known
    known = run("--tensor_quant_overrides", "overrides.json", "--nodes_to_exclude", "conv2")
    assert known["image_scale"] == 0.5 and known["image_zero_point"] == 3 and "w2_quantized" not in known
    assert known["scores_zero_point"].dtype == np.uint16
    assert "w3_quantized" in run("--op_types_to_exclude_output_quantization", "Gemm", "--calibration_method", "percentile")
    assert "scores_scale" not in constants("q.onnx")


@pytest.mark.parametrize("stride", [None, 2])
def test_moving_average(digits, stride):
    """Averages of one run of a reader, which move from one to the next."""

    class Parts(Reader):
        def __len__(self):
            return 4

        def set_range(self, start_index, end_index):
            self.items = iter([{"image": image[None]} for image in images[start_index:end_index]])

        def get_next(self):
            return next(self.items, None)

    images = digits[:4] * np.float32([1, 2, 3, 4]).reshape(-1, 1, 1, 1)
    highs = images.max((1, 2, 3)).astype(np.float64)
    right = highs.mean() if stride is None else highs[:2].mean() + 0.3 * (highs[2:].mean() - highs[:2].mean())
    reader = Parts([])
    reader.set_range(0, 4)
    quantize_static("float.onnx", "q.onnx", reader, activation_type=QuantType.QUInt8, extra_options={
        "CalibMovingAverage": True, "CalibMovingAverageConstant": 0.3, "CalibStridedMinMax": stride})
    assert np.isclose(constants("q.onnx")["image_scale"], right / 255, rtol=1e-6)
    calibrator = create_calibrator("float.onnx", extra_options={"moving_average": True, "averaging_constant": 0.3})
    for start in range(0, 4, stride or 4):
        reader.set_range(start, start + (stride or 4))
        calibrator.collect_data(reader)
    assert np.isclose(calibrator.compute_data()["image"].highest, right, rtol=1e-6)
    with pytest.raises(NotImplementedError, match="channels"):
        create_calibrator("float.onnx", extra_options={"moving_average": True, "per_channel": True})


def test_functions_beside_modules():
    """Modules of the same name don't take the place of functions."""
    from onnxruntime import quantization
    from onnxruntime.quantization.quantize import QuantConfig

    assert QuantConfig and callable(quantization.quantize) and callable(quantization.calibrate)
    assert quantization.quantize is quantize and quantization.calibrate is calibrate


def test_what_has_no_effect_is_told(caplog, digits):
    sample = Reader([{"image": digits}])
    quantize_static("float.onnx", "q.onnx", sample, calibration_providers=["CUDAExecutionProvider"])
    assert "CUDAExecutionProvider is not available" in caplog.text
    quantize_dynamic("float.onnx", "q.onnx", extra_options={"ForceQuantizeNoInputCheck": True})
    assert "ForceQuantizeNoInputCheck changes nothing" in caplog.text
    quantize_static("float.onnx", "t.onnx", Reader([{"image": digits}]))
    quantize_qat("t.onnx", "q.onnx", per_channel=True)
    assert "takes over the quantizers" in caplog.text
    with pytest.raises(TypeError, match="anything"):
        quantize_qat("t.onnx", "q.onnx", anything=1)
    with pytest.raises(NotImplementedError, match="axis"):
        MatMulNBitsQuantizer(digits_model(), algo_config=HQQWeightOnlyQuantConfig(axis=0))
    options = onnxruntime.SessionOptions()
    with pytest.raises(AttributeError, match="intra_op_num_threads"):
        options.intra_op_threads = 2
    options.enable_profiling = True
    assert "no profile is written" in caplog.text


def test_verbose_weights(caplog):
    caplog.set_level(logging.INFO)
    quantizer = MatMulNBitsQuantizer(
        make_model([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], [("x", [2, 64])], [("y", [2, 8])],
                   [tensor("w", 64, 8)]), block_size=32)
    quantizer.process()
    assert "product: quantized" in caplog.text
    model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], [("x", [2, 64])], [("y", [2, 8])],
                       [tensor("w", 64, 8)])
    quantizer = MatMulNBitsQuantizer(model, block_size=32, quant_format=QuantFormat.QDQ)
    quantizer.process()
    assert [node.name for node in quantizer.model.nodes()] == ["product_DQ_Q4", "product_matmul_Q4"]


def test_binding(digits):
    session = onnxruntime.InferenceSession("float.onnx")
    right = session.run(None, {"image": digits})[0]
    binding = session.io_binding()
    binding.bind_cpu_input("image", digits)
    binding.bind_output("scores")
    session.run_with_iobinding(binding)
    assert np.array_equal(binding.copy_outputs_to_cpu()[0], right)
    place = onnxruntime.OrtValue.ortvalue_from_shape_and_type(right.shape, np.float32)
    binding.bind_ortvalue_output("scores", place)
    session.run_with_iobinding(binding)
    assert np.array_equal(place.numpy(), right) and place.data_type() == "tensor(float)"
    binding.bind_ortvalue_output("scores", onnxruntime.OrtValue.ortvalue_from_shape_and_type([1], np.float32))
    with pytest.raises(Exception, match="scores"):
        session.run_with_iobinding(binding)


@pytest.mark.parametrize("method", ["entropy", "percentile", "distribution"])
def test_histograms_of_arrays(method):
    """Figures of ONNX Runtime's HistogramCollector for the same arrays."""
    collector = HistogramCollector(method, False, 2048, 128, 97.0, "same")
    with pytest.raises(ValueError):
        collector.compute_collection_result()
    collector.collect({"a": [np.tanh(np.linspace(-9, 9, 3000, dtype=np.float32))]})
    found = collector.compute_collection_result()["a"]
    found = [float(v) for v in ((found.avg, found.std) if method == "distribution" else found[:2])]
    assert np.allclose(found, FIGURES[method], rtol=1e-4, atol=1e-4), found
    with pytest.raises(ValueError, match="method"):
        HistogramCollector("best", False, 2048, 128, 97.0)


FIGURES = {"entropy": (-1, 1), "percentile": (-1, 0.9990234), "distribution": (0, 0.9425779)}
