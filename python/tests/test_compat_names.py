"""Files beside those that ONNX Runtime's own tool (1.21) writes of the same models: what nodes are called, what they
read and what they give."""

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


def listed(path):
    """'name: inputs > outputs' of each node; those without a name by their operator."""
    return {f"{node.name or node.op_type}: {' '.join(node.input)} > {' '.join(node.output)}"
            for node in onnx.load(path).graph.node}


DYNAMIC = """
Reshape: b1 c1_bias_reshape_shape > c1_bias_reshape_output
image_QuantizeLinear: image > image_quantized image_scale image_zero_point
conv1_quant_scales_mul: image_scale w1_scale > conv1_quant_scales_mul:0
conv1_quant: image_quantized w1_quantized image_zero_point w1_zero_point > c1_output_quantized
c1_output_quantized_cast: c1_output_quantized > c1_output_quantized_cast_output
conv1_quant_output_scale_mul: c1_output_quantized_cast_output conv1_quant_scales_mul:0 > c1quant_scaled_output
c1_bias_add: c1quant_scaled_output c1_bias_reshape_output > c1
relu1: c1 > r1
pool1: r1 > p1
gap: r2 > g
flatten: g > f
f_QuantizeLinear: f > f_quantized f_scale f_zero_point
fc_MatMul_quant_scales_mul: f_scale w3_scale > fc_MatMul_quant_scales_mul:0
fc_MatMul_quant: f_quantized w3_quantized f_zero_point w3_zero_point > scores_MatMul_output_quantized
scores_MatMul_output_quantized_cast: scores_MatMul_output_quantized > scores_MatMul_output_quantized_cast_output
fc_MatMul_quant_output_scale_mul: scores_MatMul_output_quantized_cast_output fc_MatMul_quant_scales_mul:0 > scores_MatMul
fc_Add: scores_MatMul b3 > scores
"""
PAIRS = """
b1_DequantizeLinear: b1_quantized b1_quantized_scale b1_quantized_zero_point > b1
conv1: image_DequantizeLinear_Output w1_DequantizeLinear_Output b1 > r1
r1_QuantizeLinear: r1 r1_scale r1_zero_point > r1_QuantizeLinear_Output
pool1: r1_DequantizeLinear_Output > p1
p1_QuantizeLinear: p1 r1_scale r1_zero_point > p1_QuantizeLinear_Output
p1_DequantizeLinear: p1_QuantizeLinear_Output r1_scale r1_zero_point > p1_DequantizeLinear_Output
conv2: p1_DequantizeLinear_Output w2_DequantizeLinear_Output b2 > r2
fc: f_DequantizeLinear_Output w3_DequantizeLinear_Output b3 > scores_QuantizeLinear_Input
"""
OPERATORS = """
conv1_quant: image_quantized image_scale image_zero_point w1_quantized w1_scale w1_zero_point c1_scale c1_zero_point \
b1_quantized > c1_quantized
pool1: c1_quantized > p1_quantized
conv2_quant: p1_quantized c1_scale c1_zero_point w2_quantized w2_scale w2_zero_point c2_scale c2_zero_point \
b2_quantized > c2_quantized
"""


def wanted(text):
    return set(text.replace("\\\n", "").strip().splitlines())


def test_dynamic():
    for per_channel in (False, True):
        quantize_dynamic("float.onnx", "q.onnx", per_channel=per_channel)
        if not per_channel:
            assert wanted(DYNAMIC) <= listed("q.onnx"), wanted(DYNAMIC) - listed("q.onnx")
        x = np.random.default_rng(0).uniform(0, 1, (2, 1, 28, 28)).astype(np.float32)
        real, mine = (onnxruntime.InferenceSession(name).run(None, {"image": x})[0] for name in ("float.onnx", "q.onnx"))
        assert np.abs(real - mine).max() < 0.05
    assert constants("q.onnx")["w3_scale"].shape == (10,)


def test_static(digits):
    samples = [{"image": digits}]
    quantize_static("float.onnx", "q.onnx", Reader(samples), activation_type=QuantType.QUInt8)
    assert wanted(PAIRS) <= listed("q.onnx"), wanted(PAIRS) - listed("q.onnx")
    assert "p1_scale" not in constants("q.onnx") and "b1" not in constants("q.onnx")
    quantize_static("float.onnx", "q.onnx", Reader(samples), quant_format=QuantFormat.QOperator,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QUInt8, per_channel=True)
    assert wanted(OPERATORS) <= listed("q.onnx"), wanted(OPERATORS) - listed("q.onnx")
    # Channels of filters are signed in any case.
    assert constants("q.onnx")["w1_quantized"].dtype == np.int8


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


def test_what_a_model_says_of_itself(digits):
    model = digits_model()
    model.producer_name, model.domain, model.doc_string, model.model_version = "someone", "here", "numbers", 3
    model.graph.doc_string = "a graph"
    helper.set_model_props(model, {"author": "me"})
    session = onnxruntime.InferenceSession(model.SerializeToString())
    told = session.get_modelmeta()
    assert (told.producer_name, told.domain, told.description, told.version) == ("someone", "here", "numbers", 3)
    assert told.graph_description == "a graph" and told.custom_metadata_map == {"author": "me"}


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
