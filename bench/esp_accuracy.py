#!/usr/bin/env -S /usr/bin/python3
"""How near ESP-DL models are to float: dB of the outputs, run as the chip does.

    bench/esp_accuracy.py [--samples 16] [ppocr-cls mobilenet-v2]

For the esp32s3 and the esp32p4: by esp-ppq's rules (KL, per tensor on the S3, per channel on the P4), then with
channels scaled by powers of two and biases corrected, then with a fifth of the multiplications in 16 bits. Exponents
come from one half of the samples, the figures from the other.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import models

ROOT = pathlib.Path(__file__).resolve().parents[1]
ONNXQ = ROOT / "build" / "bin" / "onnxq"
KINDS = {
    "esp-ppq's rules": [],
    "scaled, corrected": ["--scale-channels", "--bias-correction"],
    "and 20% in int16": ["--scale-channels", "--bias-correction", "--min-sqnr", "60", "--max-int16", "20%"],
}


def onnxq(*arguments):
    result = subprocess.run([str(a) for a in (ONNXQ, *arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(f"error: {' '.join(map(str, arguments))}: {result.stderr.strip()}")
    return result.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("names", nargs="*", metavar="NAME", default=["ppocr-cls", "mobilenet-v2"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model in models.chosen(arguments.names):
            arrays = [next(iter(model.feeds(i).values())) for i in range(2 * arguments.samples)]
            np.save(folder / "measured.npy", np.concatenate(arrays[::2]))
            np.save(folder / "judged.npy", np.concatenate(arrays[1::2]))
            for chip in ("esp32s3", "esp32p4"):
                for kind, options in KINDS.items():
                    made = folder / "made.espdl"
                    onnxq("esp", "quantize", model.path(), "--data", folder / "measured.npy", "--chip", chip, *options,
                          "--quiet", "-o", made)
                    told = json.loads(onnxq("evaluate", made, "--reference", model.path(), "--data",
                                            folder / "judged.npy", "--metric", "sqnr", "--json"))
                    print(f"{model.name:14} {chip} {kind:18} {told['against_reference']['sqnr']:6.1f} dB", flush=True)


if __name__ == "__main__":
    main()
