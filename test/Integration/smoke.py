#!/usr/bin/env -S /usr/bin/python3
"""The main job once, in seconds: digits from float to int8 by both tools, compiled, and judged by labels.

1,000 pictures that calibration didn't see; the floor is half a point below what the float network reads.
"""

import json
import pathlib
import tempfile

from support.harness import ONNXQ, OPT, ROOT, Tally, require_tools, run

DIGITS = ROOT / "examples" / "digits"
CALIBRATION = ["--data", DIGITS / "calibration-images.idx.gz", "--scale", "1/255"]
TEST = ["--data", DIGITS / "test-images.idx.gz", "--labels", DIGITS / "test-labels.idx.gz", "--scale", "1/255"]


def do(*command):
    outcome = run([str(word) for word in command])
    if outcome.status:
        raise RuntimeError(f"{outcome.ended()}: {outcome.stderr.strip()[-300:]}")
    return outcome.stdout


def top1(model):
    return json.loads(do(ONNXQ, "evaluate", model, *TEST, "--metric", "top1", "--json"))["top1"]


def quantize_by_verb(folder):
    do(ONNXQ, "quantize", DIGITS / "digits.onnx", *CALIBRATION, "-o", folder / "verb.onnx", "--quiet")
    return folder / "verb.onnx"


def quantize_by_passes(folder):
    data = f"data={DIGITS / 'calibration-images.idx.gz'} scale=1/255"
    do(OPT, DIGITS / "digits.onnx", f"--onnx-calibrate={data}", "--onnx-quantize=mode=qlinear", "-o", folder / "passes.onnx")
    return folder / "passes.onnx"


def compile_library(folder):
    do(ONNXQ, "compile", folder / "verb.onnx", "--dim", "batch=1", "-o", folder / "verb.so", "--quiet")
    return folder / "verb.so"


def main():
    require_tools()
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        floor = top1(DIGITS / "digits.onnx") - 0.005
        for step in (quantize_by_verb, quantize_by_passes, compile_library):
            try:
                got = top1(step(folder))
                tally.result(step.__name__, None if got >= floor else f"reads {got:.3f} of the digits, at least {floor:.3f}")
            except RuntimeError as error:
                tally.result(step.__name__, str(error))
    tally.finish()


if __name__ == "__main__":
    main()
