"""What ONNX Runtime's newest tools add: opsets, caches, blocks, and modules that programs look for."""

import json

import numpy as np
import onnx
import pytest
from conftest import digits_model, make_model, tensor
from onnx import helper, numpy_helper
from test_compat import Reader, constants, nodes

import onnxquant as oq
import onnxruntime
from onnxruntime.quantization import (
    CalibrationMethod, QDQQuantizer, QuantType, TensorData, TensorsData,
    create_calibrator, get_qdq_config, quant_pre_process, quantize, quantize_dynamic, quantize_static,
    save_tensors_data)

MS = "com.microsoft"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def product(opset=20, **more):
    model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], [("x", [2, 64])], [("y", [2, 8])],
                       [tensor("w", 64, 8)], opset, **more)
    onnx.save(model, "float.onnx")
    return np.random.default_rng(0).normal(size=(2, 64)).astype(np.float32)


def opset(path):
    return next(entry.version for entry in onnx.load(path).opset_import if not entry.domain)


def quantizers(path):
    return [node for node in onnx.load(path).graph.node if node.op_type in ("QuantizeLinear", "DequantizeLinear")]


def test_16_bits_raise_the_opset():
    x = product()
    config = get_qdq_config("float.onnx", Reader([{"x": x}]), activation_type=QuantType.QUInt16)
    assert "UseQDQContribOps" not in config.extra_options
    quantize("float.onnx", "q.onnx", config)
    assert opset("q.onnx") == 21 and {node.domain for node in quantizers("q.onnx")} == {""}
    # Those of single tensors, and 4 bits, are of com.microsoft.
    for overrides in ({"x": [{"quant_type": QuantType.QUInt16}]}, {"w": [{"quant_type": QuantType.QInt4}]}):
        assert get_qdq_config("float.onnx", Reader([{"x": x}]), tensor_quant_overrides=overrides).extra_options[
            "UseQDQContribOps"]
        quantize_static("float.onnx", "q.onnx", Reader([{"x": x}]), extra_options={"TensorQuantOverrides": overrides})
        assert opset("q.onnx") == 20 and {node.domain for node in quantizers("q.onnx")} == {MS}
        # ONNX Runtime's own know no blocks.
        assert not any(node.attribute for node in quantizers("q.onnx"))


def test_what_initializers_and_quantizers_say():
    """Parameters come first, in the order of operands, in the fields that programs read; defaults aren't said."""
    x = product(21)
    quantize_static("float.onnx", "q.onnx", Reader([{"x": x}]), activation_type=QuantType.QUInt8,
                    weight_type=QuantType.QInt4, per_channel=True)
    tensors = list(onnx.load("q.onnx").graph.initializer)
    assert [t.name for t in tensors][:6] == [
        "x_zero_point", "x_scale", "w_zero_point", "w_scale", "y_zero_point", "y_scale"]
    by_name = {t.name: t for t in tensors}
    assert list(by_name["w_zero_point"].int32_data) == [0] * 4 and len(by_name["w_scale"].float_data) == 8
    assert {(node.name, *[a.name for a in node.attribute]) for node in quantizers("q.onnx")} == {
        ("x_QuantizeLinear",), ("x_DequantizeLinear",), ("w_DequantizeLinear", "axis"), ("y_QuantizeLinear",),
        ("y_DequantizeLinear",)}


def test_blocks():
    from onnxruntime.quantization.quant_utils import compute_scale_zp_blocked, quantize_onnx_initializer

    onnx.save(digits_model(), "float.onnx")
    sample = {"image": np.zeros((1, 1, 28, 28), np.float32)}
    with pytest.raises(NotImplementedError, match="'w1' of Conv 'conv1' has rank 4"):
        quantize_static("float.onnx", "q.onnx", Reader([sample]), extra_options={"BlockSize": 16})
    weight = np.random.default_rng(0).normal(size=(5, 12)).astype(np.float32)
    for axis, shape in ((0, (2, 12)), (1, (5, 3))):
        size = 3 if axis == 0 else 4
        for symmetric in (True, False):
            zeros, scales = compute_scale_zp_blocked(weight, 3, axis, size, symmetric)
            assert zeros.shape == scales.shape == shape and zeros.dtype == np.int8 and scales.dtype == np.float32
            stored = quantize_onnx_initializer(numpy_helper.from_array(weight, "w"), 3, zeros, scales, axis, block_size=size)
            wide = [np.repeat(v, size, axis).take(range(weight.shape[axis]), axis).astype(np.float32) for v in (zeros, scales)]
            back = (numpy_helper.to_array(stored).astype(np.float32) - wide[0]) * wide[1]
            assert np.abs(back - weight).max() <= 0.51 * scales.max()


def test_cache_of_smooth_quant(caplog):
    x = product()
    data = TensorsData(CalibrationMethod.MinMax, {"z": TensorData(lowest=np.float32(-1), highest=np.float32(1))})
    save_tensors_data(data, "ranges.json", smooth_quant=True)
    with pytest.raises(ValueError, match="smooth_quant"):
        quantize_static("float.onnx", "q.onnx", None, calibration_cache_path="ranges.json")
    quantize_static("float.onnx", "q.onnx", Reader([{"x": x}]), calibration_cache_path="ranges.json")
    assert "smooth_quant=True" in caplog.text and json.load(open("ranges.json"))["smooth_quant"] is False
    quantize_static("float.onnx", "p.onnx", None, calibration_cache_path="ranges.json")
    assert open("p.onnx", "rb").read() == open("q.onnx", "rb").read()


@pytest.mark.parametrize("per_channel", [False, True])
def test_moving_average_of_parts(per_channel):
    """Each part of max_intermediate_outputs samples moves the average as a call of its own does."""
    onnx.save(make_model([helper.make_node("Identity", ["x"], ["y"], "same")], [("x", [1, 2])], [("y", [1, 2])], []), "i.onnx")
    samples = [{"x": np.float32([row])} for row in ((0, 0), (4, 8), (8, 12), (12, 16), (20, 24))]
    found = []
    for limit in (None, 2):
        calibrator = create_calibrator("i.onnx", extra_options={
            "max_intermediate_outputs": limit, "moving_average": True, "averaging_constant": 0.25, "per_channel": per_channel})
        for part in [samples[i : i + 2] for i in range(0, 5, 2)] if limit is None else [samples]:
            calibrator.collect_data(Reader(part))
        found.append(calibrator.compute_data()["x"].range_value)
    np.testing.assert_array_equal(found[0], found[1])
    means = [(2, 4), (10, 14), (20, 24)]
    right = np.float64(means[0])
    for mean in means[1:]:
        right += 0.25 * (np.float64(mean) - right)
    np.testing.assert_allclose(found[0], [right, right] if per_channel else right, rtol=1e-6)
    if not per_channel:
        onnx.save(make_model([helper.make_node("Sigmoid", ["x"], ["y"], "s")], [("x", [1, 2])], [("y", [1, 2])], []), "r.onnx")
        quantize_static("r.onnx", "q.onnx", Reader(samples), activation_type=QuantType.QUInt8, op_types_to_quantize=["Sigmoid"],
                        extra_options={"CalibMovingAverage": True, "CalibMovingAverageConstant": 0.25,
                                       "CalibMaxIntermediateOutputs": 2})
        assert np.isclose(constants("q.onnx")["x_scale"], right[1] / 255)


@pytest.mark.parametrize("quant_type", [0, 1], ids=["FP4", "NF4"])
def test_bitsandbytes(quant_type):
    from onnxruntime.capi._pybind_state import BNB4_VALUES
    from onnxruntime.quantization.matmul_bnb4_quantizer import MatMulBnb4Quantizer, main

    # Columns one behind the other; each block has all of the 16 values.
    weight = np.resize(BNB4_VALUES[quant_type], 24 * 16).reshape(16, 24).T * np.float32(0.5)
    model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], [("x", [2, 24])], [("y", [2, 16])],
                       [numpy_helper.from_array(np.ascontiguousarray(weight), "w")])
    quantizer = MatMulBnb4Quantizer(model, quant_type, 64)
    quantizer.process()
    assert [node.op_type for node in quantizer.model.nodes()] == ["MatMulBnb4"]
    codes = numpy_helper.to_array(quantizer.model.get_initializer("w_Bnb4"))
    values = BNB4_VALUES[quant_type][np.stack([codes >> 4, codes & 15], -1).reshape(-1)]
    np.testing.assert_array_equal(values.reshape(16, 24).T * 0.5, weight)
    x = np.random.default_rng(0).normal(size=(2, 24)).astype(np.float32)
    result = onnxruntime.InferenceSession(quantizer.model.model.SerializeToString()).run(None, {"x": x})[0]
    np.testing.assert_allclose(result, x @ weight, rtol=1e-5, atol=1e-6)
    onnx.save(model, "float.onnx")
    main(["--input_model", "float.onnx", "--output_model", "q.onnx", "--quant_type", str(quant_type)])
    assert nodes("q.onnx")[0][:2] == ("MatMulBnb4", "product_Bnb4")
    # What doesn't fit together is told.
    wrong = quantizer.model.model
    wrong.graph.node[0].attribute[0].i += 1
    with pytest.raises(Exception, match="expects B of"):
        onnxruntime.InferenceSession(wrong.SerializeToString())
    for argument, value in (("quant_type", 2), ("block_size", 20)):
        with pytest.raises(ValueError, match=argument):
            MatMulBnb4Quantizer(model, **{"quant_type": 0, "block_size": 64, argument: value})


def test_old_opsets_are_raised():
    x = helper.make_tensor_value_info("x", 1, [1, 1, 4, 4])
    for op, inputs, given, version, wanted in (
            ("Upsample", ["x", "s"], {"s": np.float32([1, 1, 2, 2])}, 10, "Resize"),
            ("Relu", ["x"], {}, 6, "Relu")):
        graph = helper.make_graph([helper.make_node(op, inputs, ["y"], "n")], "g", [x],
                                  [helper.make_tensor_value_info("y", 1, None)],
                                  [numpy_helper.from_array(value, name) for name, value in given.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
        quant_pre_process(model, "p.onnx", skip_optimization=True, skip_onnx_shape=True, skip_symbolic_shape=True)
        assert opset("p.onnx") == 11 and nodes("p.onnx")[0][:2] == (wanted, "n")
    assert oq.preprocess(digits_model(), min_opset=15).opset == 15 and oq.preprocess(digits_model(), min_opset=9).opset == 13
    assert oq.preprocess(digits_model(), max_opset=11).opset == 11
    with pytest.raises(ValueError, match="at most 23, but got 99"):
        oq.preprocess(digits_model(), min_opset=99)


def test_shapes_leave_nodes_alone(monkeypatch, capsys):
    """Fused nodes stay whole: they have quantized forms."""
    from onnxruntime.quantization.quant_utils import load_model_with_shape_infer
    from onnxruntime.tools import symbolic_shape_infer

    attention = helper.make_node("Attention", ["x", "w", "b"], ["a"], "attention", domain=MS, num_heads=2)
    fused = helper.make_node("FastGelu", ["a"], ["y"], "gelu", domain=MS)
    model = make_model([attention, fused], [("x", [1, "n", 8])], [("y", None)], [tensor("w", 8, 24), tensor("b", 24)])
    model.opset_import.append(helper.make_opsetid(MS, 1))
    onnx.save(model, "float.onnx")
    monkeypatch.setattr("sys.argv", ["x", "--input", "float.onnx", "--output", "shapes.onnx"])
    symbolic_shape_infer.main()
    for found in (symbolic_shape_infer.SymbolicShapeInference.infer_shapes(model), onnx.load("shapes.onnx"),
                  load_model_with_shape_infer("float.onnx")):
        assert [node.op_type for node in found.graph.node] == ["Attention", "FastGelu"]
        shapes = {info.name: [d.dim_param or d.dim_value for d in info.type.tensor_type.shape.dim]
                  for info in [*found.graph.value_info, *found.graph.output]}
        assert shapes == {"a": [1, "n", 8], "y": [1, "n", 8]}
    quant_pre_process("float.onnx", "p.onnx")
    quantize_dynamic("p.onnx", "q.onnx")
    assert "QAttention" in [node.op_type for node in onnx.load("q.onnx").graph.node]


def test_tables_of_dynamic_models():
    """Gather takes rows of bytes, which a product reads as they are."""
    body = [helper.make_node("Gather", ["emb", "ids"], ["e"], "rows"),
            helper.make_node("MatMul", ["e", "w"], ["m"], "product"), helper.make_node("Add", ["e", "m"], ["y"], "sum")]
    tables = [tensor("emb", 40, 8), tensor("w", 8, 8)]
    ids = helper.make_tensor_value_info("ids", 7, [3])
    result = helper.make_tensor_value_info("y", 1, [3, 8])
    numbers = numpy_helper.to_array(tables[0])
    at = np.array([3, 39, 3])

    def check(graph, feeds):
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 7
        onnx.save(model, "float.onnx")
        quantize_dynamic("float.onnx", "q.onnx", per_channel=True, extra_options={"EnableSubgraph": True})
        known = constants("q.onnx")
        assert known["emb_quantized"].dtype == np.uint8 and "emb" not in known
        assert known["emb_scale"] == np.float32((np.float64(numbers.max()) - numbers.min()) / 255)
        found, right = (onnxruntime.InferenceSession(name).run(None, feeds)[0] for name in ("q.onnx", "float.onnx"))
        assert np.abs(found - right).max() < 0.1
        return onnx.load("q.onnx").graph.node

    written = check(helper.make_graph(body, "g", [ids], [result], tables), {"ids": at})
    assert [(node.op_type, node.output[0]) for node in written] == [
        ("Gather", "e_quantized"), ("DequantizeLinear", "e"), ("Mul", "product_quant_scales_mul:0"),
        ("MatMulInteger", "m_output_quantized"), ("Cast", "m_output_quantized_cast_output"), ("Mul", "m"), ("Add", "y")]
    # A table that another node reads whole stays, and so does one that isn't asked for.
    for more, kinds in (([helper.make_node("Neg", ["emb"], ["n"], "negative")], None), ([], ["MatMul"])):
        outputs = [result] + [helper.make_tensor_value_info("n", 1, [40, 8])] * len(more)
        model = helper.make_model(helper.make_graph(body + more, "g", [ids], outputs, tables))
        onnx.save(model, "float.onnx")
        quantize_dynamic("float.onnx", "p.onnx", op_types_to_quantize=kinds)
        assert "emb" in constants("p.onnx") and "emb_quantized" not in constants("p.onnx")
    # Branches share the table of the graph around them.
    branches = [helper.make_graph(
        [helper.make_node("Gather", ["emb", "ids"], [f"e{i}"], f"rows{i}"),
         helper.make_node("MatMul", [f"e{i}", "w"], [f"y{i}"], f"product{i}")], f"b{i}", [],
        [helper.make_tensor_value_info(f"y{i}", 1, [3, 8])]) for i in range(2)]
    choice = helper.make_node("If", ["c"], ["y"], "if", then_branch=branches[0], else_branch=branches[1])
    c = helper.make_tensor_value_info("c", 9, [])
    written = check(helper.make_graph([choice], "g", [c, ids], [result], tables), {"ids": at, "c": np.array(True)})
    assert {"emb_zero_point", "w_scale", "w_zero_point"} <= set(constants("q.onnx"))
    for attribute in written[0].attribute:
        assert "Gather" in [node.op_type for node in attribute.g.node]
        assert not attribute.g.initializer


@pytest.mark.parametrize("per_channel", [False, True])
def test_names_of_recurrent_weights(per_channel):
    lstm = helper.make_node("LSTM", ["x", "w", "r", "b"], ["y"], "lstm", hidden_size=8)
    onnx.save(make_model([lstm], [("x", [3, 1, 4])], [("y", [3, 1, 1, 8])],
                         [tensor("w", 1, 32, 4), tensor("r", 1, 32, 8), tensor("b", 1, 64)]), "float.onnx")
    quantize_dynamic("float.onnx", "q.onnx", per_channel=per_channel)
    assert nodes("q.onnx")[0] == ("DynamicQuantizeLSTM", "lstm_quant", [
        "x", "w_quantized", "r_quantized", "b", "", "", "", "", "w_scale", "w_zero_point", "r_scale", "r_zero_point"], ["y"])


def test_gemm_as_product():
    from onnxruntime.quantization.onnx_model import ONNXModel

    for shared in (False, True):
        gemms = [helper.make_node("Gemm", ["x", "w"], [f"y{i}"], f"gemm{i}", transB=1 - i) for i in range(1 + shared)]
        model = make_model(gemms, [("x", [1, 4])], [(f"y{i}", [1, 4]) for i in range(1 + shared)],
                           [numpy_helper.from_array(np.zeros((4 if shared else 3, 4), np.float32), "w")])
        model.graph.value_info.append(helper.make_tensor_value_info("w", 1, [4 if shared else 3, 4]))
        ONNXModel(model).replace_gemm_with_matmul()
        assert {node.op_type for node in model.graph.node} == {"MatMul"}
        dims = {t.name: list(t.dims) for t in model.graph.initializer}
        said = [d.dim_value for d in model.graph.value_info[0].type.tensor_type.shape.dim]
        if shared:
            assert dims == {"w": [4, 4], "w_Transposed": [4, 4]}
        else:
            assert dims == {"w": [4, 3]} and said == [4, 3]


def test_names_that_programs_import(monkeypatch, capsys):
    from onnxruntime._onnx_shim import onnx as same
    from onnxruntime._onnx_shim.onnx.helper import make_node
    from onnxruntime.quantization import preprocess

    assert same is onnx and make_node is helper.make_node
    for value, right in (("tRuE", True), ("1", True), ("False", False), ("0", False), ("invalid", None)):
        monkeypatch.setattr("sys.argv", ["x", "--input", "a", "--output", "b", "--skip_onnx_shape", value])
        if right is None:
            with pytest.raises(SystemExit):
                preprocess.parse_arguments()
            assert "Expected true, false, 1, or 0" in capsys.readouterr().err
        else:
            assert preprocess.parse_arguments().skip_onnx_shape is right


def test_numbers_of_python():
    """Lists become what an input takes."""
    x = product()
    session = onnxruntime.InferenceSession("float.onnx")
    np.testing.assert_array_equal(session.run(None, {"x": x.tolist()})[0], session.run(None, {"x": x})[0])
    with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument, match="float64"):
        session.run(None, {"x": x.astype(np.float64)})
    onnx.save(digits_model(), "digits.onnx")
    session = onnxruntime.InferenceSession("digits.onnx")
    for shape in ((1, 28, 28), (1, 1, 28, 27)):
        with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument, match="image Got:.*Expected:"):
            session.run(None, {"image": np.zeros(shape, np.float32)})
    assert onnxruntime.get_version_string() == onnxruntime.__version__ and "onnxquant" in onnxruntime.get_build_info()


@pytest.mark.parametrize("bits", [4, 8])
def test_k_quant_of_groups(bits):
    from onnxruntime.quantization.neural_compressor.weight_only import quant_tensor, quant_tensor_k_quant_cpu

    data = (np.random.default_rng(0).standard_t(4, size=(16, 64)) * 0.02).astype(np.float32)

    def error(codes, scale, zero):
        return np.sum(((codes - zero.astype(np.float64)) * scale - data.reshape(-1, 32)) ** 2)

    codes, scale, zero = found = quant_tensor_k_quant_cpu(data, bits, 32)
    assert codes.shape == (32, 32) and scale.shape == zero.shape == (32, 1) and codes.max() <= 2**bits - 1
    assert error(*found) < 0.97 * error(*quant_tensor(data, bits, 32, "asym", "uint"))
    for shift in (-64.0, 64.0):
        other = quant_tensor_k_quant_cpu(data * np.float32(2**shift), bits, 32)
        assert np.array_equal(other[0], codes) and np.array_equal(other[1], scale * 2**shift)
    flat = quant_tensor_k_quant_cpu(np.full((1, 32), 3e-39, np.float32), bits, 32)
    assert flat[1] >= np.finfo(np.float32).tiny and np.all(flat[0] == flat[2])
    with pytest.raises(ValueError, match="group_size"):
        quant_tensor(data, bits, 33)


def test_name_of_an_option_of_old(caplog):
    product()
    both = {}
    for name in ("OpTypesToExcludeOutputQuantizatioin", "OpTypesToExcludeOutputQuantization"):
        quantizer = QDQQuantizer(onnx.load("float.onnx"), False, False, QuantType.QInt8, QuantType.QInt8,
                                 {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}, [], [], ["MatMul"], {name: ["MatMul"]})
        both[name] = quantizer.quantize_model().SerializeToString()
    assert len(set(both.values())) == 1 and "did you mean" not in caplog.text


def test_arguments_of_other_kinds():
    """What would be taken for something else is an error."""
    x = product()
    for given in ({"quant_format": "QDQ"}, {"calibrate_method": "MinMax"}, {"op_types_to_quantize": "MatMul"},
                  {"op_types_to_quantize": (["MatMul"],)}, {"nodes_to_exclude": (["product"],)}, {"extra_options": ["a"]},
                  {"activation_type": "QInt8"}):
        with pytest.raises(ValueError, match=f"{next(iter(given))} expects"):
            quantize_static("float.onnx", "q.onnx", Reader([{"x": x}]), **given)
    with pytest.raises(ValueError, match="op_types_to_quantize expects"):
        quantize_dynamic("float.onnx", "q.onnx", op_types_to_quantize="MatMul")


def test_what_the_runner_is_not_given(monkeypatch):
    from onnxquant.compat import __main__ as runner

    for arguments, message in ((["nowhere.py"], "nowhere.py: no such script"),
                               (["-m", "onnxruntime.nothing"], "no module onnxruntime.nothing")):
        monkeypatch.setattr("sys.argv", ["compat", "--force", *arguments])
        with pytest.raises(SystemExit, match=message):
            runner.main()


def test_files_that_cannot_be_written():
    with pytest.raises(FileNotFoundError) as error:
        oq.load(digits_model()).save("nowhere/m.onnx")
    assert error.value.filename in (None, "nowhere/m.onnx") and ".tmp" not in str(error.value)

