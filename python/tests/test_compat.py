"""The drop-in for onnxruntime.quantization: arguments, names, numbers."""

import json
import os

import numpy as np
import onnx
import pytest
from conftest import digits_model, make_model, tensor
from onnx import helper, numpy_helper

from onnxquant import compat

compat.install(force=True)

import onnxruntime  # noqa: E402
from onnxruntime.quantization import (  # noqa: E402
    CalibrationDataReader, CalibrationMethod, DynamicQuantConfig, QuantFormat, QuantType, StaticQuantConfig, TensorData,
    TensorsData, create_calibrator, get_qdq_config, load_tensors_data, quant_pre_process, quantize, quantize_dynamic,
    quantize_static, save_tensors_data, write_calibration_table)
from onnxruntime.quantization.quant_utils import compute_scale_zp, get_qmin_qmax_for_qType  # noqa: E402


class Reader(CalibrationDataReader):
    def __init__(self, samples):
        self.samples, self.at = samples, 0

    def get_next(self):
        if self.at == len(self.samples):
            return None
        self.at += 1
        return self.samples[self.at - 1]

    def __len__(self):
        return len(self.samples)

    def rewind(self):
        self.at = 0


@pytest.fixture
def float_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    onnx.save(digits_model(), "float.onnx")
    return "float.onnx"


@pytest.fixture
def samples(digits):
    return [{"image": digits[i : i + 1]} for i in range(4)]


def constants(path):
    return {t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}


def nodes(path):
    return [(node.op_type, node.name, list(node.input), list(node.output)) for node in onnx.load(path).graph.node]


def ranges(samples):
    """The tensors' ranges by a session that gives all of them."""
    model = digits_model()
    for name in ("c1", "r1", "p1", "c2", "r2", "g", "f"):
        model.graph.output.append(helper.make_tensor_value_info(name, 1, None))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    found = {"image": [s["image"] for s in samples]}
    for sample in samples:
        for name, value in zip(names, session.run(None, sample)):
            found.setdefault(name, []).append(value)
    return {name: (min(v.min() for v in values), max(v.max() for v in values)) for name, values in found.items()}


TYPES = [(QuantType.QUInt8, QuantType.QUInt8), (QuantType.QUInt8, QuantType.QInt8), (QuantType.QInt8, QuantType.QInt8)]


@pytest.mark.parametrize("activation, weight", TYPES, ids=str)
@pytest.mark.parametrize("per_channel", [False, True])
def test_scales_by_the_published_rules(float_model, samples, activation, weight, per_channel):
    quantize_static(float_model, "q.onnx", Reader(samples), activation_type=activation, weight_type=weight,
                    per_channel=per_channel)
    found, expected = constants("q.onnx"), ranges(samples)
    # A Relu leaves its range to what it reads, and its name to what is read.
    for name in ("image", "r1", "r2", "g", "scores"):
        low, high = get_qmin_qmax_for_qType(activation)
        zero, scale = compute_scale_zp(*(np.float32(v) for v in expected[name]), low, high)
        assert found[f"{name}_zero_point"] == zero, name
        np.testing.assert_allclose(found[f"{name}_scale"], scale, rtol=2e-6)
    assert found["image_scale"] == compute_scale_zp(*expected["image"], *get_qmin_qmax_for_qType(activation))[1]
    w1 = numpy_helper.to_array(tensor("w1", 8, 1, 3, 3))
    symmetric = weight == QuantType.QInt8 or per_channel
    low, high = get_qmin_qmax_for_qType(weight, symmetric=symmetric)
    channels = w1 if per_channel else w1[None]
    pairs = [compute_scale_zp(c.min(), c.max(), low, high, symmetric) for c in channels]
    np.testing.assert_array_equal(found["w1_scale"].reshape(-1), [scale for _, scale in pairs])
    np.testing.assert_array_equal(found["w1_zero_point"].reshape(-1), [zero for zero, _ in pairs])
    assert found["w1_quantized"].dtype == (np.int8 if weight == QuantType.QInt8 else np.uint8)
    bias_scale = found["image_scale"].astype(np.float32) * found["w1_scale"]
    np.testing.assert_allclose(found["b1_quantized_scale"].reshape(-1), bias_scale.reshape(-1), rtol=1e-6)
    assert found["b1_quantized"].dtype == np.int32


def test_names_of_pairs(float_model, samples):
    quantize_static(float_model, "q.onnx", Reader(samples))
    all_nodes = nodes("q.onnx")
    by_name = {name: (op, ins, outs) for op, name, ins, outs in all_nodes}
    assert by_name["image_QuantizeLinear"] == (
        "QuantizeLinear", ["image", "image_scale", "image_zero_point"], ["image_QuantizeLinear_Output"])
    assert by_name["w1_DequantizeLinear"] == (
        "DequantizeLinear", ["w1_quantized", "w1_scale", "w1_zero_point"], ["w1_DequantizeLinear_Output"])
    assert by_name["conv1"][1] == ["image_DequantizeLinear_Output", "w1_DequantizeLinear_Output", "b1"]
    # The Relu is gone; what it read has its name.
    assert by_name["conv1"][2] == ["r1"] and "relu1" not in by_name
    assert by_name["fc"][2] == ["scores_QuantizeLinear_Input"]
    assert by_name["scores_DequantizeLinear"][2] == ["scores"]
    model = onnx.load("q.onnx")
    assert (model.producer_name, model.producer_version) == ("onnx.quantize", "0.1.0")
    assert [o.domain for o in model.opset_import] == [""]


def test_names_of_operators(float_model, samples):
    quantize_static(float_model, "q.onnx", Reader(samples), quant_format=QuantFormat.QOperator,
                    activation_type=QuantType.QUInt8)
    by_name = {name: (op, ins, outs) for op, name, ins, outs in nodes("q.onnx")}
    assert by_name["conv1_quant"][0] == "QLinearConv"
    assert by_name["conv1_quant"][1][0] == "image_quantized" and by_name["conv1_quant"][2] == ["c1_quantized"]
    assert by_name["pool1"][2] == ["p1_quantized"]
    assert by_name["scores_DequantizeLinear"][2] == ["scores"]


def test_names_of_integer_products(float_model):
    quantize_dynamic(float_model, "q.onnx")
    by_name = {name: (op, ins, outs) for op, name, ins, outs in nodes("q.onnx")}
    assert by_name["image_QuantizeLinear"][0] == "DynamicQuantizeLinear"
    assert by_name["image_QuantizeLinear"][2] == ["image_quantized", "image_scale", "image_zero_point"]
    assert by_name["conv1_quant"][2] == ["c1_output_quantized"]
    assert by_name["c1_output_quantized_cast"][2] == ["c1_output_quantized_cast_output"]
    assert by_name["conv1_quant_scales_mul"][0] == "Mul"
    assert by_name["c1_bias_add"][2] == ["c1"]


@pytest.mark.parametrize("quant_format", list(QuantFormat), ids=str)
def test_runs_alike(float_model, samples, quant_format):
    quantize_static(float_model, "q.onnx", Reader(samples), quant_format=quant_format, per_channel=True)
    real = onnxruntime.InferenceSession(float_model).run(None, samples[0])[0]
    mine = onnxruntime.InferenceSession("q.onnx").run(None, samples[0])[0]
    assert np.abs(real - mine).max() < 0.1


def test_arguments(float_model, samples):
    def refused(pattern, **keywords):
        with pytest.raises(ValueError, match=pattern):
            quantize_static(float_model, "q.onnx", keywords.pop("reader", Reader(samples)), **keywords)
        assert not os.path.exists("q.onnx")

    refused("QInt8", activation_type=QuantType.QInt8, weight_type=QuantType.QUInt8)
    refused("16-bit", activation_type=QuantType.QInt16, quant_format=QuantFormat.QOperator)
    refused("reader", reader=None)
    refused("No data", reader=Reader([]))
    with pytest.raises(FileNotFoundError):
        quantize_static("missing.onnx", "q.onnx", Reader(samples))
    with pytest.raises(TypeError):
        quantize(float_model, "q.onnx", object())


def test_excluded_nodes(float_model, samples, caplog):
    quantize_static(float_model, "q.onnx", Reader(samples), nodes_to_exclude=["conv1", "relu1", "conv9"],
                    op_types_to_quantize=["Conv", "Relu"])
    assert "w1_quantized" not in constants("q.onnx") and "w2_quantized" in constants("q.onnx")
    assert "conv9" in caplog.text and "conv" in caplog.text


def test_extra_options(float_model, samples, caplog):
    quantize_static(float_model, "q.onnx", Reader(samples),
                    extra_options={"ActivationSymmetric": True, "AddQDQPairToWeight": True, "Activationsymmetric": 1})
    assert constants("q.onnx")["image_zero_point"] == 0
    assert "w1_quantized" not in constants("q.onnx")
    assert "did you mean 'ActivationSymmetric'" in caplog.text
    quantize_static(float_model, "q.onnx", Reader(samples), activation_type=QuantType.QUInt8,
                    extra_options={"ActivationRestrictedAsymmetric": True})
    assert constants("q.onnx")["scores_zero_point"] in (0, 128)


def test_overrides(float_model, samples):
    overrides = {"scores": [{"quant_type": QuantType.QUInt16}],
                 "image": [{"scale": np.array(0.5, np.float32), "zero_point": np.array(3, np.int8)}]}
    quantize_static(float_model, "q.onnx", Reader(samples),
                    extra_options={"TensorQuantOverrides": overrides, "UseQDQContribOps": True})
    found = constants("q.onnx")
    assert found["image_scale"] == 0.5 and found["image_zero_point"] == 3
    assert found["scores_zero_point"].dtype == np.uint16
    for wrong in ({"scores": {"quant_type": QuantType.QInt8}}, {"scores": [{"scale": 1.0}]}, {"nothing": [{}]}):
        with pytest.raises(ValueError):
            quantize_static(float_model, "p.onnx", Reader(samples), extra_options={"TensorQuantOverrides": wrong})


def test_configs(float_model, samples):
    quantize(float_model, "a.onnx", StaticQuantConfig(Reader(samples), per_channel=True))
    quantize_static(float_model, "b.onnx", Reader(samples), per_channel=True)
    assert open("a.onnx", "rb").read() == open("b.onnx", "rb").read()
    quantize(float_model, "c.onnx", DynamicQuantConfig())
    config = get_qdq_config(float_model, Reader(samples), nodes_to_exclude=lambda model, node: node.name == "fc")
    assert config.nodes_to_exclude == ["fc"] and "Conv" in config.op_types_to_quantize
    quantize(float_model, "d.onnx", config)
    assert "w3_quantized" not in constants("d.onnx")


@pytest.mark.parametrize("method", [CalibrationMethod.MinMax, CalibrationMethod.Entropy, CalibrationMethod.Percentile],
                         ids=str)
def test_calibrators(float_model, samples, method):
    calibrator = create_calibrator(float_model, ["Conv"], "augmented.onnx", method)
    assert os.path.exists("augmented.onnx")
    with pytest.raises(ValueError):
        calibrator.compute_data()
    calibrator.collect_data(Reader(samples[:2]))
    calibrator.collect_data(Reader(samples[2:]))
    data = calibrator.compute_data()
    assert set(data.keys()) == {"image", "c1", "p1", "c2"}
    assert data["image"].lowest.dtype == np.float32
    if method == CalibrationMethod.MinMax:
        expected = ranges(samples)
        for name in data:
            np.testing.assert_allclose(data[name].range_value, expected[name], rtol=1e-5)
        names = [node.name for node in onnx.load("augmented.onnx").graph.node]
        assert "c1_ReduceMin" in names and "c1_ReduceMin_Reshape" in names


def test_cache(float_model, samples):
    quantize_static(float_model, "a.onnx", Reader(samples), calibration_cache_path="cache/ranges.json")
    content = json.load(open("cache/ranges.json"))
    assert content["CLS"] == "TensorsData" and content["calibration_method"]["value"] == "CalibrationMethod.MinMax"
    quantize_static(float_model, "b.onnx", None, calibration_cache_path="cache/ranges.json")
    assert open("a.onnx", "rb").read() == open("b.onnx", "rb").read()
    with pytest.raises(ValueError, match="MinMax"):
        quantize_static(float_model, "c.onnx", None, calibrate_method=CalibrationMethod.Entropy,
                        calibration_cache_path="cache/ranges.json")
    data = TensorsData(CalibrationMethod.MinMax, {"x": (np.float32(1), np.float32(2))})
    save_tensors_data(data, "t.json")
    assert load_tensors_data("t.json")["x"].range_value == (1, 2)
    with pytest.raises(RuntimeError):
        data["y"] = data["x"]
    with pytest.raises(ValueError):
        TensorData(lowest=1.0)
    write_calibration_table(data, dir=".")
    assert json.load(open("calibration.json")) == {"x": [1, 2]}


def test_loss_debugger(float_model, samples):
    from onnxruntime.quantization.qdq_loss_debug import (
        collect_activations, compute_activation_error, compute_weight_error, create_activation_matching,
        create_weight_matching, modify_model_output_intermediate_tensors)

    quantize_static(float_model, "q.onnx", Reader(samples), extra_options={"QDQKeepRemovableActivations": True})
    for name in ("float", "q"):
        modify_model_output_intermediate_tensors(f"{name}.onnx", f"{name}_all.onnx")
    real = collect_activations("float_all.onnx", Reader(samples))
    mine = collect_activations("q_all.onnx", Reader(samples))
    errors = compute_activation_error(create_activation_matching(mine, real))
    assert errors["r1"]["qdq_err"] > 30 and errors["r1"]["xmodel_err"] > 20
    weights = compute_weight_error(create_weight_matching(float_model, "q.onnx"))
    assert weights["w1"] > 30


def test_pre_process(float_model):
    quant_pre_process(float_model, "p.onnx")
    assert onnxruntime.InferenceSession("p.onnx").get_inputs()[0].shape == ["N", 1, 28, 28]
    quant_pre_process(input_model_path=float_model, output_model_path="p2.onnx", skip_optimization=True)
    assert len(onnx.load("p2.onnx").graph.node) == 8


def test_session(float_model, samples):
    from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument, NoSuchFile

    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = "optimized.onnx"
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    session = onnxruntime.InferenceSession(float_model, options, providers=["CPUExecutionProvider"])
    assert os.path.exists("optimized.onnx")
    assert session.get_inputs()[0].type == "tensor(float)" and session.get_providers() == ["CPUExecutionProvider"]
    both = {"image": np.concatenate([samples[0]["image"]] * 2)}
    np.testing.assert_allclose(session.run([], both)[0][0], session.run(["scores"], samples[0])[0][0], rtol=1e-5)
    with pytest.raises(NoSuchFile):
        onnxruntime.InferenceSession("missing.onnx")
    with pytest.raises(InvalidArgument):
        session.run(None, {"image": samples[0]["image"].astype(np.float64)})
    with pytest.raises(ValueError):
        session.run(None, {})


def test_weights_of_four_bits(float_model):
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], [("x", [2, 64])],
                       [("y", [2, 8])], [tensor("w", 64, 8)])
    for symmetric in (False, True):
        quantizer = MatMulNBitsQuantizer(model, block_size=32, is_symmetric=symmetric)
        quantizer.process()
        quantizer.model.save_model_to_file("w4.onnx")
        node = onnx.load("w4.onnx").graph.node[0]
        assert (node.op_type, node.domain, node.name) == ("MatMulNBits", "com.microsoft", "product_Q4")
        assert constants("w4.onnx")["w_Q4"].shape == (8, 2, 16)
        x = np.random.default_rng(0).normal(size=(2, 64)).astype(np.float32)
        mine = onnxruntime.InferenceSession("w4.onnx").run(None, {"x": x})[0]
        assert np.abs(mine - x @ numpy_helper.to_array(tensor("w", 64, 8))).max() < 1


def test_algorithms_of_weights(float_model):
    from onnxruntime.quantization import QuantFormat
    from onnxruntime.quantization import matmul_nbits_quantizer as nbits

    model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], name="product"),
                        helper.make_node("MatMul", ["y", "v"], ["z"], name="next")], [("x", [2, 64])],
                       [("z", [2, 8])], [tensor("w", 64, 32), tensor("v", 32, 8)])
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 64)).astype(np.float32)

    class Reader:
        samples = iter([{"x": rng.normal(size=(2, 64)).astype(np.float32)} for _ in range(64)])

        def get_next(self):
            return next(self.samples, None)

    right = x @ numpy_helper.to_array(tensor("w", 64, 32)) @ numpy_helper.to_array(tensor("v", 32, 8))
    for config in (nbits.DefaultWeightOnlyQuantConfig(block_size=32, bits=8), nbits.HQQWeightOnlyQuantConfig(block_size=32),
                   nbits.RTNWeightOnlyQuantConfig(), nbits.KQuantWeightOnlyQuantConfig(),
                   nbits.GPTQWeightOnlyQuantConfig(Reader())):
        quantizer = nbits.MatMulNBitsQuantizer(model, block_size=32, algo_config=config)
        quantizer.process()
        assert [node.op_type for node in quantizer.model.nodes()] == ["MatMulNBits"] * 2, config.algorithm
        quantizer.model.save_model_to_file("codes.onnx")
        mine = onnxruntime.InferenceSession("codes.onnx").run(None, {"x": x})[0]
        assert np.linalg.norm(mine - right) < 0.2 * np.linalg.norm(right), config.algorithm
    # Bits of single nodes, nodes left out, and pairs.
    config = nbits.KQuantWeightOnlyQuantConfig(customized_weight_config={"next": {"bits": 8}})
    quantizer = nbits.MatMulNBitsQuantizer(model, block_size=32, algo_config=config)
    quantizer.process()
    assert sorted(node.name for node in quantizer.model.nodes()) == ["next_Q8", "product_Q4"]
    quantizer = nbits.MatMulNBitsQuantizer(model, block_size=32, nodes_to_exclude=["next", "unknown"],
                                           quant_format=QuantFormat.QDQ)
    quantizer.process()
    assert [node.op_type for node in quantizer.model.nodes()] == ["DequantizeLinear", "MatMul", "MatMul"]
    with pytest.raises(ValueError):
        nbits.MatMulNBitsQuantizer(model, block_size=24)
