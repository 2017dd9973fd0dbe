#!/usr/bin/env -S /usr/bin/python3
"""Trains the small networks that accuracy is judged by: numpy only, from a seed, a few minutes each.

    train.py digits|clothes OUT.onnx [--epochs N]

Two convolutions with Relu and MaxPool, two Gemm. The data are the npm packages that scripts/setup.sh --models
fetches. The committed models were made by this script; it need not run again.
"""

import argparse
import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test" / "Integration"))
from support import image_data  # noqa: E402


def columns(x, k):
    """Patches of [n, c, h, w] as [n, oh, ow, c * k * k], a view turned into rows."""
    n, c, h, w = x.shape
    s = x.strides
    view = np.lib.stride_tricks.as_strided(x, (n, h - k + 1, w - k + 1, c, k, k), (s[0], s[2], s[3], s[1], s[2], s[3]))
    return view.reshape(n, h - k + 1, w - k + 1, c * k * k)


class Conv:
    def __init__(self, rng, cin, cout, k):
        self.k, self.shape = k, (cout, cin, k, k)
        self.w = (rng.standard_normal((cout, cin * k * k)) * np.sqrt(2 / (cin * k * k))).astype(np.float32)
        self.b = np.zeros(cout, np.float32)

    def forward(self, x):
        self.x, self.cols = x, columns(x, self.k)
        return (self.cols @ self.w.T + self.b).transpose(0, 3, 1, 2)

    def backward(self, g):
        g = g.transpose(0, 2, 3, 1)
        flat = g.reshape(-1, g.shape[-1])
        self.gw, self.gb = flat.T @ self.cols.reshape(-1, self.cols.shape[-1]), flat.sum(0)
        n, oh, ow, _ = g.shape
        patches = (g @ self.w).reshape(n, oh, ow, self.shape[1], self.k, self.k)
        out = np.zeros_like(self.x)
        for i in range(self.k):
            for j in range(self.k):
                out[:, :, i:i + oh, j:j + ow] += patches[..., i, j].transpose(0, 3, 1, 2)
        return out


class Dense:
    def __init__(self, rng, cin, cout):
        self.w = (rng.standard_normal((cout, cin)) * np.sqrt(2 / cin)).astype(np.float32)
        self.b = np.zeros(cout, np.float32)

    def forward(self, x):
        self.x = x
        return x @ self.w.T + self.b

    def backward(self, g):
        self.gw, self.gb = g.T @ self.x, g.sum(0)
        return g @ self.w


class ReluPool:
    """Relu and the maximum of 2x2."""

    def forward(self, x):
        n, c, h, w = x.shape
        blocks = np.maximum(x, 0).reshape(n, c, h // 2, 2, w // 2, 2)
        out = blocks.max(axis=(3, 5))
        self.mask = (blocks == out[:, :, :, None, :, None]) & (blocks > 0)
        return out

    def backward(self, g):
        n, c, h, w = g.shape
        return (self.mask * g[:, :, :, None, :, None]).reshape(n, c, 2 * h, 2 * w)


class Network:
    def __init__(self, rng):
        self.layers = [Conv(rng, 1, 8, 5), Conv(rng, 8, 16, 3), Dense(rng, 400, 64), Dense(rng, 64, 10)]
        self.pools = [ReluPool(), ReluPool()]

    def forward(self, x):
        for layer, pool in zip(self.layers[:2], self.pools):
            x = pool.forward(layer.forward(x))
        self.hidden = self.layers[2].forward(x.reshape(len(x), -1))
        return self.layers[3].forward(np.maximum(self.hidden, 0))

    def backward(self, g):
        g = self.layers[3].backward(g) * (self.hidden > 0)
        g = self.layers[2].backward(g).reshape(-1, 16, 5, 5)
        for layer, pool in zip(self.layers[1::-1], self.pools[::-1]):
            g = layer.backward(pool.backward(g))


def train(network, x, y, epochs, rng):
    """Adam with a rate that falls to zero."""
    parameters = [(layer, name) for layer in network.layers for name in ("w", "b")]
    first = [np.zeros_like(getattr(*p)) for p in parameters]
    second = [np.zeros_like(getattr(*p)) for p in parameters]
    batch, step = 128, 0
    total = epochs * (len(x) // batch)
    for epoch in range(epochs):
        order = rng.permutation(len(x))
        for i in range(0, len(x) - batch + 1, batch):
            pick = order[i:i + batch]
            logits = network.forward(x[pick])
            p = np.exp(logits - logits.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            p[np.arange(batch), y[pick]] -= 1
            network.backward(p / batch)
            step += 1
            rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * step / total))
            for k, (layer, name) in enumerate(parameters):
                g = getattr(layer, "g" + name)
                first[k] = 0.9 * first[k] + 0.1 * g
                second[k] = 0.999 * second[k] + 0.001 * g * g
                update = first[k] / (1 - 0.9 ** step) / (np.sqrt(second[k] / (1 - 0.999 ** step)) + 1e-8)
                setattr(layer, name, (getattr(layer, name) - rate * update).astype(np.float32))
        print(f"epoch {epoch + 1} of {epochs}", flush=True)


def accuracy(network, x, y):
    hits = sum((network.forward(x[i:i + 500]).argmax(1) == y[i:i + 500]).sum() for i in range(0, len(x), 500))
    return hits / len(x)


def model(network, name):
    nodes, weights, value = [], [], "image"
    for index, layer in enumerate(network.layers):
        w = layer.w.reshape(layer.shape) if isinstance(layer, Conv) else layer.w
        weights += [numpy_helper.from_array(w, f"w{index}"), numpy_helper.from_array(layer.b, f"b{index}")]
        inputs, made = [value, f"w{index}", f"b{index}"], f"layer{index}"
        if isinstance(layer, Conv):
            nodes += [helper.make_node("Conv", inputs, [made], f"conv{index}", kernel_shape=[layer.k] * 2),
                      helper.make_node("Relu", [made], [f"relu{index}"], f"relu{index}"),
                      helper.make_node("MaxPool", [f"relu{index}"], [f"pool{index}"], f"pool{index}",
                                       kernel_shape=[2, 2], strides=[2, 2])]
            value = f"pool{index}"
            if index == 1:
                nodes.append(helper.make_node("Flatten", [value], ["flat"], "flat"))
                value = "flat"
        else:
            last = index == len(network.layers) - 1
            nodes.append(helper.make_node("Gemm", inputs, ["logits" if last else made], f"gemm{index}", transB=1))
            if not last:
                nodes.append(helper.make_node("Relu", [made], [f"relu{index}"], f"relu{index}"))
                value = f"relu{index}"
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 28, 28])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])], weights)
    result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7, producer_name="train.py")
    onnx.checker.check_model(result)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("digits", "clothes"))
    parser.add_argument("output")
    parser.add_argument("--epochs", type=int, default=6)
    options = parser.parse_args()
    (x, y), (tx, ty) = getattr(image_data, options.what)()
    rng = np.random.default_rng(1)
    network = Network(rng)
    train(network, x.astype(np.float32)[:, None] / 255, y, options.epochs, rng)
    score = accuracy(network, tx.astype(np.float32)[:, None] / 255, ty)
    print(json.dumps({"test_accuracy": round(float(score), 4)}))
    onnx.save(model(network, options.what), options.output)


if __name__ == "__main__":
    main()
