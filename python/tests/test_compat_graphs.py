"""Overrides, fusions and configurations of the drop-in."""

import math

import numpy as np
import onnx
import pytest
from conftest import make_model, tensor
from onnx import helper, numpy_helper

import onnxquant as oq
from onnxquant.compat.onnxruntime.quantization import QuantType
from onnxquant.compat.onnxruntime.quantization.calibrate import entropy
from onnxquant.compat.onnxruntime.quantization.execution_providers.qnn import get_qnn_qdq_config, qnn_preprocess_model
from onnxquant.compat.onnxruntime.quantization.fusions import FusionGelu, FusionLayerNormalization
from onnxquant.compat.onnxruntime.quantization.onnx_model import ONNXModel
from onnxquant.compat.onnxruntime.quantization.tensor_quant_overrides import TensorQuantOverridesHelper


def constant(name, value):
    return numpy_helper.from_array(np.array(value, np.float32), name)


def gelu_model(swapped):
    """x * (1 + erf(x / sqrt(2))) / 2, with the factors in another order."""
    last = (["half", "x"], ["h", "s"]) if swapped else (["s", "x"], ["half", "h"])
    nodes = [helper.make_node("Div", ["x", "root"], ["d"]), helper.make_node("Erf", ["d"], ["e"]),
             helper.make_node("Add", ["one", "e"], ["s"]), helper.make_node("Mul", last[0], ["h"]),
             helper.make_node("Mul", last[1], ["y"])]
    return make_model(nodes, [("x", [2, 8])], [("y", [2, 8])],
                      [constant("root", math.sqrt(2)), constant("one", 1), constant("half", 0.5)])


def agree(before, after, shape):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    np.testing.assert_allclose(oq.compile(after)(x), oq.compile(before)(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("swapped", [False, True])
def test_gelu(swapped):
    model = gelu_model(swapped)
    fused = ONNXModel(onnx.ModelProto.FromString(model.SerializeToString()))
    assert FusionGelu(fused).apply()
    assert [node.op_type for node in fused.nodes()] == ["Gelu"]
    agree(model, fused.model, (2, 8))


def test_what_others_read_is_not_fused():
    model = gelu_model(False)
    model.graph.output.append(helper.make_tensor_value_info("e", 1, [2, 8]))
    assert not FusionGelu(ONNXModel(model)).apply()


def test_layer_normalization():
    nodes = [helper.make_node("ReduceMean", ["x"], ["m"], axes=[-1]), helper.make_node("Sub", ["x", "m"], ["c"]),
             helper.make_node("Pow", ["c", "two"], ["p"]), helper.make_node("ReduceMean", ["p"], ["v"], axes=[-1]),
             helper.make_node("Add", ["v", "epsilon"], ["a"]), helper.make_node("Sqrt", ["a"], ["s"]),
             helper.make_node("Div", ["c", "s"], ["d"]), helper.make_node("Mul", ["w", "d"], ["n"]),
             helper.make_node("Add", ["n", "b"], ["y"])]
    model = make_model(nodes, [("x", [2, 8])], [("y", [2, 8])],
                       [constant("two", 2), constant("epsilon", 1e-5), tensor("w", 8), tensor("b", 8)], opset=17)
    fused = ONNXModel(onnx.ModelProto.FromString(model.SerializeToString()))
    assert FusionLayerNormalization(fused).apply()
    assert [node.op_type for node in fused.nodes()] == ["LayerNormalization"]
    agree(model, fused.model, (2, 8))


def test_channels_last(tmp_path):
    model = make_model([helper.make_node("Relu", ["x"], ["y"])], [("x", [1, 2, 3, 4])], [("y", [1, 2, 3, 4])], [])
    assert qnn_preprocess_model(model, tmp_path / "last.onnx", inputs_to_make_channel_last=["x"],
                                outputs_to_make_channel_last=["y"])
    x = np.random.default_rng(0).normal(size=(1, 2, 3, 4)).astype(np.float32)
    result = oq.compile(tmp_path / "last.onnx")(x.transpose(0, 2, 3, 1))
    np.testing.assert_array_equal(result.transpose(0, 3, 1, 2), oq.compile(model)(x))
    for name in ("z", "y"):
        with pytest.raises(ValueError, match=f"{name} is not a graph input"):
            qnn_preprocess_model(model, tmp_path / "no.onnx", inputs_to_make_channel_last=[name])
    assert not (tmp_path / "no.onnx").exists()


@pytest.mark.parametrize("overrides, reason", [
    ({"v": [{}]}, "not present"), ({"x": {}}, "not in a list"), ({"x": [5]}, "not in a dict"),
    ({"x": [{"scale": 1.0}]}, "both 'scale' and 'zero_point'"), ({"x": [{"rmin": 0}]}, "both 'rmin' and 'rmax'"),
    ({"x": [{"scale": 1.0, "zero_point": 0, "rmin": 0, "rmax": 1}]}, r"\[rmax, rmin\] are invalid"),
    ({"x": [{"axis": 0}]}, "not an initializer"), ({"x": [{"reduce_range": True}]}, "only supported for initializers"),
    ({"x": [{"convert": {}}]}, "must specify a 'quant_type'"),
    ({"x": [{"convert": {"quant_type": QuantType.QUInt8}}]}, "must differ"),
    ({"w": [{"convert": {"quant_type": QuantType.QInt16}}]}, "initializers, such as w"),
    ({"w": [{"axis": 2}]}, "out-of-bounds"), ({"w": [{"axis": 0}] * 3}, "expected 4, but found 3"),
    ({"w": [{}, {}, {}, {}]}, "missing an 'axis'"), ({"w": [{"axes": 0}]}, "no override 'axes'"),
])
def test_overrides_that_cannot_be(overrides, reason):
    import re

    valid, why = TensorQuantOverridesHelper(overrides).is_valid({"w": [4, 2]}, {"x"}, QuantType.QUInt8)
    assert not valid and re.search(reason, why), why


def test_qnn():
    """A tensor of 16 bits takes its neighbours with it; its function has QNN's
    scale."""
    nodes = [helper.make_node("Abs", ["x"], ["a"], name="abs"), helper.make_node("Sigmoid", ["a"], ["s"], name="sigmoid"),
             helper.make_node("Abs", ["s"], ["y"], name="last")]
    model = make_model(nodes, [("x", [2, 2])], [("y", [2, 2])], [])
    config = get_qnn_qdq_config(model, None, init_overrides={"s": [{"quant_type": QuantType.QUInt16}]})
    overrides = config.extra_options["TensorQuantOverrides"]
    assert overrides["a"] == [{"quant_type": QuantType.QUInt8,
                               "convert": {"quant_type": QuantType.QUInt16, "recv_nodes": {"sigmoid"}}}]
    assert overrides["s"][0]["scale"] == np.float32(1 / 65536) and overrides["s"][0]["zero_point"] == 0
    assert overrides["y"] == [{"quant_type": QuantType.QUInt16}]
    assert config.extra_options["UseQDQContribOps"] and set(config.op_types_to_quantize) == {"Abs", "Sigmoid"}


def test_entropy():
    p, q = np.array([1, 2, 1], np.float32), np.array([2, 1, 1], np.float32)
    assert entropy(p, q) == pytest.approx(0.25 * math.log(0.5) + 0.5 * math.log(2))
    assert entropy(p, np.array([0, 1, 1], np.float32)) == math.inf
