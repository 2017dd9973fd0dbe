"""Models and samples that the tests share."""

import os
import pathlib

import numpy as np
import pytest
from onnx import helper, numpy_helper, save


def tensor(name, *shape, seed=0, scale=0.3):
    random = np.random.default_rng([seed, *map(ord, name)])
    return numpy_helper.from_array((random.normal(size=shape) * scale).astype(np.float32), name)


def make_model(nodes, inputs, outputs, constants, opset=13, kind=1):
    graph = helper.make_graph(
        nodes, "graph",
        [helper.make_tensor_value_info(name, kind, shape) for name, shape in inputs],
        [helper.make_tensor_value_info(name, kind, shape) for name, shape in outputs],
        constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 7
    return model


def digits_model():
    """Two convolutions and a product, as for MNIST."""
    nodes = [
        helper.make_node("Conv", ["image", "w1", "b1"], ["c1"], name="conv1", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"], name="relu1"),
        helper.make_node("MaxPool", ["r1"], ["p1"], name="pool1", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p1", "w2", "b2"], ["c2"], name="conv2", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c2"], ["r2"], name="relu2"),
        helper.make_node("GlobalAveragePool", ["r2"], ["g"], name="gap"),
        helper.make_node("Flatten", ["g"], ["f"], name="flatten"),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["scores"], name="fc"),
    ]
    constants = [tensor("w1", 8, 1, 3, 3), tensor("b1", 8), tensor("w2", 16, 8, 3, 3), tensor("b2", 16),
                 tensor("w3", 16, 10), tensor("b3", 10)]
    return make_model(nodes, [("image", ["N", 1, 28, 28])], [("scores", ["N", 10])], constants)


@pytest.fixture(scope="session", autouse=True)
def code_cache(tmp_path_factory):
    """Models that several tests compile are compiled once."""
    os.environ["ONNXQUANT_CODE_CACHE"] = str(tmp_path_factory.mktemp("code"))


@pytest.fixture(scope="session")
def examples(tmp_path_factory):
    """A folder with the example model."""
    folder = tmp_path_factory.mktemp("examples")
    save(digits_model(), str(folder / "digits.onnx"))
    (folder / "annotations.json").write_text(
        '{"images": [{"id": 1, "file_name": "a.jpg", "width": 20, "height": 20}],'
        '"categories": [{"id": 1, "name": "thing"}],'
        '"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "area": 100,'
        '"iscrowd": 0}]}')
    return folder


@pytest.fixture(scope="session")
def digits():
    return np.random.default_rng(1).uniform(0, 1, (8, 1, 28, 28)).astype(np.float32)


@pytest.fixture
def model(examples):
    return str(examples / "digits.onnx")


@pytest.fixture(autouse=True)
def names_in_docstrings(doctest_namespace, examples, digits, tmp_path):
    doctest_namespace["example"] = lambda name: str(examples / name)
    doctest_namespace["digits"] = digits
    doctest_namespace["folder"] = pathlib.Path(tmp_path)
    doctest_namespace["annotations"] = examples / "annotations.json"
