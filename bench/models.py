#!/usr/bin/env -S /usr/bin/python3
"""The models that speed is measured with: ResNet-50, MobileNetV2 and a BERT-base encoder layer with seeded weights,
and real ones (text detection, recognition and direction, YOLOX, digits) at fixed sizes.

    bench/models.py [--list] [NAME]...

Files are made once in the cache folder (~/.cache/onnxquant/bench) and printed with their sizes; both runtimes read
the same file. Seeded weights keep the variance of activations from layer to layer, so that values are bell-shaped
and quantize like those of trained networks; batch normalizations are folded, as exporters leave them.
"""

import argparse
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "test" / "Integration"))

from support import quantized_models  # noqa: E402
from support.harness import CACHE  # noqa: E402

FOLDER = CACHE / "bench"
# Part of the file names: a change of a generator needs another number.
VERSION = 1


class Graph:
    """Nodes and initializers under construction; operators are methods that return the name of their result."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers = [], []

    def constant(self, array):
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def normal(self, shape, deviation):
        return (self.random.standard_normal(shape) * deviation).astype(np.float32)

    def __getattr__(self, op_type):
        def build(*inputs, **attributes):
            name = f"{op_type.lower()}_{len(self.nodes)}"
            self.nodes.append(helper.make_node(op_type, list(inputs), [name], name, **attributes))
            return name

        return build

    def convolution(self, x, inputs, outputs, size, stride=1, group=1, gain=2.0):
        """A convolution with bias. Channels differ in scale, as after folding a batch normalization."""
        deviation = np.sqrt(gain / (inputs // group * size * size))
        weights = self.normal((outputs, inputs // group, size, size), deviation)
        weights *= np.exp(self.normal((outputs, 1, 1, 1), 0.25))
        pad = size // 2
        return self.Conv(x, self.constant(weights), self.constant(self.normal((outputs,), 0.1)), kernel_shape=[size] * 2,
                         strides=[stride] * 2, pads=[pad] * 4, group=group)

    def dense(self, x, inputs, outputs, gain=1.0):
        product = self.MatMul(x, self.constant(self.normal((inputs, outputs), np.sqrt(gain / inputs))))
        return self.Add(product, self.constant(self.normal((outputs,), 0.05)))

    def normalization(self, x, width):
        """LayerNormalization as exporters write it."""
        centred = self.Sub(x, self.ReduceMean(x, axes=[-1]))
        variance = self.ReduceMean(self.Pow(centred, self.constant(np.float32(2))), axes=[-1])
        scaled = self.Div(centred, self.Sqrt(self.Add(variance, self.constant(np.float32(1e-12)))))
        scaled = self.Mul(scaled, self.constant(1 + self.normal((width,), 0.1)))
        return self.Add(scaled, self.constant(self.normal((width,), 0.05)))

    def gelu(self, x):
        """Gelu as exporters write it."""
        error = self.Erf(self.Div(x, self.constant(np.float32(np.sqrt(2)))))
        return self.Mul(self.Mul(x, self.Add(error, self.constant(np.float32(1)))), self.constant(np.float32(0.5)))

    def model(self, name, shape, result, dims):
        graph = helper.make_graph(self.nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info(result, TensorProto.FLOAT, dims)], self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)


def resnet50():
    g = Graph(50)
    x = g.Relu(g.convolution("x", 3, 64, 7, 2))
    x = g.MaxPool(x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for width, blocks, first_stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            y = g.Relu(g.convolution(x, channels, width, 1))
            y = g.Relu(g.convolution(y, width, width, 3, stride))
            y = g.convolution(y, width, 4 * width, 1, gain=0.4)
            if block == 0:
                x = g.convolution(x, channels, 4 * width, 1, stride, gain=1.0)
            x, channels = g.Relu(g.Add(y, x)), 4 * width
    x = g.Flatten(g.GlobalAveragePool(x))
    y = g.Gemm(x, g.constant(g.normal((1000, 2048), 0.03)), g.constant(g.normal((1000,), 0.1)), transB=1)
    return g.model("resnet50", [1, 3, 224, 224], y, [1, 1000])


def mobilenet_v2():
    g = Graph(2)
    limits = [g.constant(np.float32(0)), g.constant(np.float32(6))]
    x = g.Clip(g.convolution("x", 3, 32, 3, 2), *limits)
    channels = 32
    for expand, outputs, blocks, first_stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                                  (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            stride, width, y = first_stride if block == 0 else 1, channels * expand, x
            if expand > 1:
                y = g.Clip(g.convolution(y, channels, width, 1), *limits)
            y = g.Clip(g.convolution(y, width, width, 3, stride, group=width), *limits)
            residual = stride == 1 and channels == outputs
            y = g.convolution(y, width, outputs, 1, gain=0.4 if residual else 1.0)
            x, channels = g.Add(x, y) if residual else y, outputs
    x = g.Clip(g.convolution(x, channels, 1280, 1), *limits)
    x = g.Flatten(g.GlobalAveragePool(x))
    y = g.Gemm(x, g.constant(g.normal((1000, 1280), 0.04)), g.constant(g.normal((1000,), 0.1)), transB=1)
    return g.model("mobilenet_v2", [1, 3, 224, 224], y, [1, 1000])


def bert_layer(tokens=128, width=768, heads=12, inner=3072):
    g = Graph(12)
    split = g.constant(np.array([1, tokens, heads, width // heads], np.int64))

    def head(x, perm):
        return g.Transpose(g.Reshape(g.dense(x, width, width), split), perm=perm)

    query, key, value = head("x", [0, 2, 1, 3]), head("x", [0, 2, 3, 1]), head("x", [0, 2, 1, 3])
    scores = g.Div(g.MatMul(query, key), g.constant(np.float32(np.sqrt(width // heads))))
    mixed = g.Transpose(g.MatMul(g.Softmax(scores, axis=-1), value), perm=[0, 2, 1, 3])
    mixed = g.Reshape(mixed, g.constant(np.array([1, tokens, width], np.int64)))
    x = g.normalization(g.Add(g.dense(mixed, width, width), "x"), width)
    y = g.dense(g.gelu(g.dense(x, width, inner)), inner, width)
    return g.model("bert_layer", [1, tokens, width], g.normalization(g.Add(y, x), width), [1, tokens, width])


def scenery(seed, size):
    """A normalized picture of smooth shapes at several scales, with noise."""
    random, picture = np.random.default_rng(seed), np.zeros((3, size, size))
    for cells in (4, 14, 56):
        coarse = random.standard_normal((3, cells, cells))
        picture += np.kron(coarse, np.ones((1, size // cells, size // cells)))
    return (picture / 1.8 + random.normal(0, 0.1, picture.shape)).astype(np.float32)


def words(seed, tokens=128, width=768):
    """Embeddings: normalized rows, some words repeated."""
    random = np.random.default_rng(seed)
    table = random.standard_normal((tokens // 2, width))
    return table[random.integers(0, len(table), tokens)].astype(np.float32)


class BenchModel:
    """A model at fixed sizes: `path()` makes the file, `sample(i)` gives input number i, batch included."""

    def __init__(self, name, make, sample, real=False):
        self.name, self.make, self.draw, self.real = name, make, sample, real

    def path(self):
        FOLDER.mkdir(parents=True, exist_ok=True)
        file = FOLDER / f"{self.name}-v{VERSION}.onnx"
        if not file.exists():
            partial = file.with_suffix(".partial")
            onnx.save(self.make(), str(partial))
            partial.rename(file)
        return file

    def feeds(self, number):
        graph = onnx.load(str(self.path())).graph
        stored = {tensor.name for tensor in graph.initializer}
        name = next(info.name for info in graph.input if info.name not in stored)
        return {name: np.ascontiguousarray(self.draw(number))[None]}


def at_size(subject):
    """A real model with its first input at the subject's size."""
    def make():
        if not pathlib.Path(subject.path).exists():
            raise FileNotFoundError(f"{subject.path} isn't there: run scripts/setup.sh --models")
        model = onnx.load(str(subject.path))
        shape = model.graph.input[0].type.tensor_type.shape
        for dim, size in zip(shape.dim, (1, *subject.shape)):
            dim.Clear()
            dim.dim_value = size
        # Sizes that were stated for other inputs no longer hold.
        del model.graph.value_info[:]
        for output in model.graph.output:
            for dim in output.type.tensor_type.shape.dim:
                if not dim.HasField("dim_value"):
                    dim.Clear()
        return model

    return make


def models():
    """Every model by name, in the order of the tables."""
    real = quantized_models.subjects()
    listed = [BenchModel(name, at_size(real[key]), real[key].sample, real=True) for name, key in (
        ("digits", "digits"), ("ppocr-cls", "cls"), ("ppocr-rec", "rec"), ("ppocr-det", "det"), ("yolox", "yolox"))]
    listed += [BenchModel("mobilenet-v2", mobilenet_v2, lambda i: scenery(i, 224)),
               BenchModel("resnet-50", resnet50, lambda i: scenery(i, 224)),
               BenchModel("bert-layer", bert_layer, words)]
    return {model.name: model for model in listed}


def chosen(names):
    """Models by name, all if none is named; ends the program on an unknown one."""
    known = models()
    for name in names:
        if name not in known:
            sys.exit(f"error: no model '{name}': there are {', '.join(known)}")
    return [known[name] for name in names or known]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="names only")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    for model in chosen(arguments.names):
        if arguments.list:
            print(model.name)
            continue
        path = model.path()
        shapes = ", ".join(f"{name} {list(array.shape)}" for name, array in model.feeds(0).items())
        print(f"{model.name:14} {path.stat().st_size / 1e6:7.1f} MB  {shapes}  {path}")


if __name__ == "__main__":
    main()
