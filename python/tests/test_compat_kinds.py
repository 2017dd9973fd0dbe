"""The drop-in: SmoothQuant, float8, embeddings in 4 bits, and what is fused."""

import numpy as np
import onnx
import pytest
from conftest import make_model, tensor
from onnx import helper, numpy_helper
from test_compat import Reader, constants

import onnxquant as oq

from onnxruntime.quantization import (
    CalibrationMethod, QuantFormat, QuantType, create_calibrator, quantize_dynamic, quantize_static)
from onnxruntime.quantization.matmul_nbits_quantizer import (
    DefaultWeightOnlyQuantConfig, GPTQWeightOnlyQuantConfig, MatMulNBitsQuantizer)

FLOAT8 = 17
#: How much the 254 numbers of float8 (E4M3FN) deviate from zero.
DEVIATION = np.std([s * (m / 8 * 2.0**-6 if e == 0 else (1 + m / 8) * 2.0 ** (e - 7))
                    for s in (1, -1) for e in range(16) for m in range(8) if (e, m) != (15, 7)])


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def operators(path):
    return [node.op_type for node in onnx.load(path).graph.node]


def distance(a, b):
    return np.sqrt(((a - b) ** 2).mean() / (a**2).mean())


def outliers():
    """A product whose input has a channel that is fifty times as wide as the others."""
    random = np.random.default_rng(3)
    gain = np.where(np.arange(32) == 5, 50, 1).astype(np.float32)
    weight = (random.normal(size=(32, 8)) / gain[:, None]).astype(np.float32)
    onnx.save(make_model([helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], [("x", ["N", 32])], [("y", ["N", 8])],
                         [numpy_helper.from_array(weight, "w")]), "float.onnx")
    return (random.normal(size=(64, 32)) * gain).astype(np.float32), weight


@pytest.mark.parametrize("alpha", [0.5, 0.8])
def test_smooth_quant(alpha):
    x, weight = outliers()
    extra = {"SmoothQuant": True, "SmoothQuantAlpha": alpha}
    quantize_static("float.onnx", "plain.onnx", Reader([{"x": x}]))
    quantize_static("float.onnx", "smooth.onnx", Reader([{"x": x}]), extra_options=extra)
    factors = np.abs(x).max(0) ** alpha / np.abs(weight).max(1) ** (1 - alpha)
    known = constants("smooth.onnx")
    smoothed = weight * factors[:, None]
    # int8 and symmetric.
    assert np.allclose(known["w_smoothed_scale"], np.abs(smoothed).max() / 127, rtol=1e-5)
    divided = x / factors
    assert np.allclose(known["x_smoothed_scale"], (divided.max() - divided.min()) / 255, rtol=1e-4)
    right = x @ weight
    plain, smooth = (oq.compile(path)(x) for path in ("plain.onnx", "smooth.onnx"))
    assert distance(right, smooth) < distance(right, plain) / 3


def products():
    onnx.save(make_model([helper.make_node("Gemm", ["x", "v", "b"], ["h"], name="first"),
                          helper.make_node("Relu", ["h"], ["r"], name="relu"),
                          helper.make_node("MatMul", ["r", "w"], ["y"], name="second")],
                         [("x", ["N", 32])], [("y", ["N", 8])], [tensor("v", 32, 24), tensor("b", 24), tensor("w", 24, 8)]),
              "float.onnx")
    return np.random.default_rng(5).normal(size=(64, 32)).astype(np.float32)


def test_float8():
    x = products()
    kinds = dict(activation_type=QuantType.QFLOAT8E4M3FN, weight_type=QuantType.QFLOAT8E4M3FN)
    with pytest.raises(ValueError, match="Distribution"):
        quantize_static("float.onnx", "q.onnx", Reader([{"x": x}]), **kinds)
    with pytest.raises(ValueError, match="float8"):
        quantize_static("float.onnx", "q.onnx", Reader([{"x": x}]), weight_type=QuantType.QFLOAT8E4M3FN,
                        calibrate_method=CalibrationMethod.Distribution)
    with pytest.raises(NotImplementedError, match="QDQ"):
        quantize_static("float.onnx", "q.onnx", Reader([{"x": x}]), quant_format=QuantFormat.QOperator,
                        calibrate_method=CalibrationMethod.Distribution, **kinds)
    quantize_static("float.onnx", "q.onnx", Reader([{"x": x}]), calibrate_method=CalibrationMethod.Distribution, **kinds)
    model = onnx.load("q.onnx")
    assert model.opset_import[0].version >= 19
    stored = {t.name: t for t in model.graph.initializer}
    assert {t.name for t in model.graph.initializer if t.data_type == FLOAT8} >= {"v_quantized", "w_quantized", "x_zero_point"}
    scale = lambda name: numpy_helper.to_array(stored[f"{name}_scale"])
    weight = numpy_helper.to_array(tensor("v", 32, 24))
    assert np.allclose(scale("v"), weight.std() / DEVIATION, rtol=1e-5)
    # By the middles of a histogram's bins.
    assert np.allclose(scale("x"), x.std() / DEVIATION, rtol=1e-3)
    assert operators("q.onnx").count("Cast") == 1 and "b_quantized" in stored
    assert distance(oq.compile("float.onnx")(x), oq.compile("q.onnx")(x)) < 0.08


def test_distribution_of_integers():
    x = products()
    quantize_static("float.onnx", "q.onnx", Reader([{"x": x}]), calibrate_method=CalibrationMethod.Distribution)
    assert constants("q.onnx")["x_scale"] == np.float32(2 * np.float64(np.abs(x).max()) / 255)


@pytest.mark.parametrize("scenario", ["same", "p3"])
def test_distribution(scenario):
    x = products()
    calibrator = create_calibrator("float.onnx", calibrate_method=CalibrationMethod.Distribution,
                                   extra_options={"scenario": scenario})
    calibrator.collect_data(Reader([{"x": x}]))
    average, deviation = calibrator.compute_data()["x"].avg_std
    powers = x if scenario == "same" else np.cbrt(x)
    assert np.allclose(average, powers.mean(), atol=2e-3) and np.allclose(deviation, powers.std(), rtol=2e-3)


def test_ranges_of_channels():
    nodes = [helper.make_node("Relu", ["x"], ["y"], name="relu")]
    onnx.save(make_model(nodes, [("x", [1, 3, 4, 4])], [("y", [1, 3, 4, 4])], []), "float.onnx")
    x = np.random.default_rng(5).normal(size=(2, 1, 3, 4, 4)).astype(np.float32)
    calibrator = create_calibrator("float.onnx", extra_options={"per_channel": True})
    calibrator.collect_data(Reader([{"x": x[0]}, {"x": x[1]}]))
    low, high = calibrator.compute_data()["x"].range_value
    assert np.array_equal(low, x.min((0, 1, 3, 4))) and np.array_equal(high, x.max((0, 1, 3, 4)))


@pytest.mark.parametrize("symmetric", [True, False])
def test_embedding_of_few_bits(symmetric):
    table = tensor("table", 60, 40)
    graph = helper.make_graph([helper.make_node("Gather", ["table", "i"], ["y"], name="rows")], "g",
                              [helper.make_tensor_value_info("i", 7, [2, 5])], [helper.make_tensor_value_info("y", 1, [2, 5, 40])],
                              [table])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    config = DefaultWeightOnlyQuantConfig(block_size=16, is_symmetric=symmetric, op_types_to_quantize=("Gather",))
    quantizer = MatMulNBitsQuantizer(model, algo_config=config)
    quantizer.process()
    quantizer.model.save_model_to_file("q.onnx", False)
    node = onnx.load("q.onnx").graph.node[0]
    assert node.op_type == "GatherBlockQuantized" and node.domain == "com.microsoft"
    assert list(node.input) == ["table_Q4", "i", "table_scales"] + ([] if symmetric else ["table_zero_points"])
    indices = np.array([[0, 59, -1, 7, 7], [3, 4, -60, 8, 30]])
    right = numpy_helper.to_array(table)[indices]
    # No further off than half a step; of symmetric codes the last one is missing.
    scales = next(t for t in onnx.load("q.onnx").graph.initializer if t.name == "table_scales")
    steps = np.repeat(numpy_helper.to_array(scales), 16, axis=1)[:, :40][indices]
    error = np.abs(oq.compile("q.onnx")(indices) - right)
    assert (error <= np.abs(steps) * (1.001 if symmetric else 0.501)).all()


def fused(nodes, inputs, constants):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(*one) for one in inputs],
                              [helper.make_tensor_value_info("y", 1, None)], constants)
    sets = [helper.make_opsetid("", 14), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=sets, ir_version=7), "float.onnx")


@pytest.mark.parametrize("per_channel", [True, False])
def test_attention(per_channel):
    fused([helper.make_node("Attention", ["x", "w", "b"], ["a"], "attention", domain="com.microsoft", num_heads=2),
           helper.make_node("MatMul", ["a", "v"], ["y"], "product")], [("x", 1, [1, 5, 16])],
          [tensor("w", 16, 48), tensor("b", 48), tensor("v", 16, 4)])
    quantize_dynamic("float.onnx", "q.onnx", per_channel=per_channel)
    assert operators("q.onnx").count("QAttention") == 1 and "MatMulInteger" in operators("q.onnx")
    known = constants("q.onnx")
    assert known["w_quantized"].dtype == np.int8 and known["w_scale"].size == (48 if per_channel else 1)
    x = np.random.default_rng(0).normal(size=(1, 5, 16)).astype(np.float32)
    assert distance(oq.compile("float.onnx")(x), oq.compile("q.onnx")(x)) < 0.05
    quantize_dynamic("float.onnx", "left.onnx", nodes_to_exclude=["attention"])
    assert "Attention" in operators("left.onnx")
    quantize_dynamic("float.onnx", "only.onnx", op_types_to_quantize=["Attention"])
    assert "QAttention" in operators("only.onnx") and "MatMul" in operators("only.onnx")


def test_embedding_with_normalization():
    fused([helper.make_node("EmbedLayerNormalization", ["i", "", "word", "place", "", "gamma", "beta"], ["y", "index"],
                            "embedding", domain="com.microsoft")], [("i", 6, [2, 5])],
          [tensor("word", 20, 16), tensor("place", 8, 16), tensor("gamma", 16), tensor("beta", 16)])
    quantize_dynamic("float.onnx", "q.onnx")
    assert operators("q.onnx") == ["QEmbedLayerNormalization"]
    word = numpy_helper.to_array(tensor("word", 20, 16))
    known = constants("q.onnx")
    assert known["word_scale"] == np.float32((np.float64(word.max()) - word.min()) / 255) and known["word_quantized"].dtype == np.uint8
    ids = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 0]], np.int32)
    assert distance(oq.compile("float.onnx")(ids), oq.compile("q.onnx")(ids)) < 0.05


def test_gptq_options():
    x = products()
    codes = {}
    for actorder in (False, True):
        for mse in (False, True):
            config = GPTQWeightOnlyQuantConfig(Reader([{"x": x}]), actorder=actorder, mse=mse)
            quantizer = MatMulNBitsQuantizer(onnx.load("float.onnx"), 4, 16, algo_config=config)
            quantizer.process()
            quantizer.model.save_model_to_file("q.onnx", False)
            known = constants("q.onnx")
            codes[actorder, mse] = known["w_Q4"].tobytes() + known["w_scales"].tobytes()
    assert len(set(codes.values())) == 4
