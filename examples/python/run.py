"""Quantizes a model for images: calibrates, writes the result, times both.

    python -m onnxquant.compat run.py --input_model IN --output_model OUT --calibrate_dataset FOLDER
"""

import argparse
import time

import numpy as np
import onnxruntime
from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
from resnet50_data_reader import ResNet50DataReader


def benchmark(path):
    session = onnxruntime.InferenceSession(path)
    port = session.get_inputs()[0]
    shape = [size if isinstance(size, int) else 1 for size in port.shape]
    feeds = {port.name: np.zeros(shape, np.float32)}
    session.run([], feeds)
    times = []
    for _ in range(10):
        start = time.perf_counter()
        session.run([], feeds)
        times.append(1e3 * (time.perf_counter() - start))
    print(f"{path}: {sorted(times)[5]:.2f} ms")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--input_model", required=True)
    parser.add_argument("--output_model", required=True)
    parser.add_argument("--calibrate_dataset", default="./test_images")
    parser.add_argument("--quant_format", default=QuantFormat.QDQ, type=QuantFormat.from_string, choices=list(QuantFormat))
    parser.add_argument("--per_channel", default=False, type=lambda text: text.lower() in ("true", "1"))
    args = parser.parse_args()
    reader = ResNet50DataReader(args.calibrate_dataset, args.input_model)
    quantize_static(args.input_model, args.output_model, reader, quant_format=args.quant_format,
                    per_channel=args.per_channel, weight_type=QuantType.QInt8)
    print("Calibrated and quantized model saved.")
    for path in (args.input_model, args.output_model):
        benchmark(path)


if __name__ == "__main__":
    main()
