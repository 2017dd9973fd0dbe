#!/usr/bin/env -S /usr/bin/python3
"""ESP-DL: published files evaluated and written again to the bit, the old toolkit's files, bad input.

Reads test/Inputs/esp, and the folder that ONNXQUANT_ESP_DATA names, if it does. Prints a line per
failure, then the totals.
"""

import hashlib
import json
import os
import pathlib
import pickle
import random
import re
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import esp_cases
from support import esp_files
from support import esp_improve
from support import esp_operators
from support import esp_refusals
from support.esp_operators import espdl
from support.esp_reference import Reference
from support.harness import ONNXQ, ROOT, Tally, require_tools, run

INPUTS = ROOT / "test" / "Inputs" / "esp"
KEY = "000102030405060708090a0b0c0d0e0f"


def esp(*arguments, timeout=120):
    return run([ONNXQ, "esp", *arguments], timeout=timeout)


def problem_of(outcome, status=0, message=""):
    if outcome.status != status:
        return f"{outcome.ended()}: {outcome.stderr.strip()[-300:]}"
    if message not in outcome.stderr:
        return f"says '{outcome.stderr.strip()[-300:]}', not '{message}'"
    return None


def info(path, *options):
    return json.loads(esp("info", path, "--json", *options).stdout)["models"][0]


def evaluate_published(tally):
    """Every file with test values is equal: int8 to the bit, int16 within 1, floats within 2e-5."""
    folders = [INPUTS] + [pathlib.Path(p) for p in [os.environ.get("ONNXQUANT_ESP_DATA")] if p]
    for folder in folders:
        for path in sorted(folder.rglob("*.espdl")):
            described = json.loads(esp("info", path, "--json").stdout)
            if not described["models"][0]["test_outputs"]:
                continue
            outcome = esp("evaluate", path, "--test-values", "--json")
            problem = problem_of(outcome)
            if not problem:
                result = json.loads(outcome.stdout)
                for output in result["outputs"]:
                    if output["type"] == "int8" and output["different"]:
                        problem = f"{output['different']} values of {output['name']} differ"
            tally.result(f"evaluate {path.name}", problem)


def evaluate_other_rounding(tally):
    """A file of the esp32s3 isn't equal with the rounding of the esp32p4."""
    path = INPUTS / "ops" / "s3_mul2d_s8_ishap_1_10_10_100.espdl"
    outcome = esp("evaluate", path, "--test-values", "--chip", "esp32p4", "--json")
    problem = problem_of(outcome, 1, "differs, first at [")
    if not problem:
        count = json.loads(outcome.stdout)["outputs"][0]["different"]
        problem = None if count == 103 else f"{count} values differ, not 103"
    tally.result("other rounding", problem)


def per_channel(path):
    """A convolution with an exponent per output, which doesn't say its chip."""
    rng = np.random.default_rng(3)
    model = esp_files.Model(None)
    model.inputs, model.outputs = [model.value("x", np.int8, (1, 4, 4, 8), -5)], [model.value("y", np.int8, (1, 4, 4, 16), -2)]
    filters = rng.integers(-128, 128, (1, 1, 8, 16)).astype(np.int8)
    model.constants["w"] = esp_files.constant(filters, *range(-14, 2), layout="(N/16)HWC16")
    model.node("Conv", ["x", "w"], ["y"], quant_type="S8")
    model.tests = {"x": np.zeros((1, 4, 4, 8), np.int8), "y": np.zeros((1, 4, 4, 16), np.int8)}
    path.write_bytes(model.bytes(b"EDL2"))


def evaluate_inputs(tally, folder):
    """Given inputs, of models without test values, too: the plain reference's integers, and a word on what is open."""
    models, channels = INPUTS / "models", folder / "channels.espdl"
    per_channel(channels)
    for path, options, even in (
        (models / "s3_tcn_streaming.espdl", [], None), (models / "s3_tcn_streaming.espdl", ["--chip", "esp32p4"], True),
        (models / "p4_tcn.espdl", [], None), (channels, [], True),
    ):
        model = espdl.Model(path)
        name = model.inputs[0]
        given = np.random.default_rng(2).integers(-128, 128, model.shapes[name]).astype(np.int8)
        np.save(folder / "given.npy", given)
        results = folder / "given"
        outcome = esp("evaluate", path, "--input", folder / "given.npy", "--output-dir", results, *options)
        said = "doesn't say its chip; results are rounded half up, --chip esp32p4 rounds half to even" if even is None else ""
        problem = problem_of(outcome, 0, said)
        if not problem and not said and outcome.stderr:
            problem = f"says '{outcome.stderr}'"
        if not problem:
            for output, array in Reference(model, bool(even), True).run({name: given}).items():
                got = np.load(results / f"{output}.npy")
                problem = problem or (None if np.array_equal(got, array) else f"{output}: {got.ravel()[:8]}, not {array.ravel()[:8]}")
        tally.result(f"evaluate {path.name} {' '.join(options)}", problem)


def quantize_pairs(tally, folder):
    """Published float models with published exponents give the published constants."""
    np.save(folder / "tcn.npy", np.random.default_rng(0).standard_normal((4, 16, 24)).astype(np.float32))
    for chip in ("s3", "p4"):
        published = INPUTS / "models" / f"{chip}_tcn.espdl"
        made = folder / f"{chip}_tcn.espdl"
        outcome = esp(
            "quantize", published.with_suffix(".onnx"), "--table", published, "--chip", f"esp32{chip}",
            "--granularity", "per-tensor", "--data", folder / "tcn.npy", "--test-values", "-o", made,
        )
        tally.result(f"quantize {chip}_tcn", problem_of(outcome))
        if outcome.status:
            continue
        ours = {c["name"]: c for c in info(made)["constants"]}
        for constant in info(published)["constants"]:
            own = ours.get(constant["name"], {})
            same = all(own.get(key) == constant[key] for key in ("type", "shape", "exponents", "hash"))
            layout = constant["layout"] in ("", own.get("layout"))
            tally.result(f"{chip}_tcn {constant['name']}", None if same and layout else f"{own} instead of {constant}")
        shapes = [{k: v[k] for k in ("name", "shape", "type", "exponents")} for v in info(made)["inputs"]]
        wanted = [{k: v[k] for k in ("name", "shape", "type", "exponents")} for v in info(published)["inputs"]]
        tally.result(f"{chip}_tcn inputs", None if shapes == wanted else f"{shapes} instead of {wanted}")
        tally.result(f"{chip}_tcn again", problem_of(esp("evaluate", made, "--test-values", "--exact")))


def quantize_kinds(tally, folder):
    """Written files evaluate to their own test values: chips, bits, granularity, methods."""
    model = INPUTS / "models" / "s3_tcn.onnx"
    kinds = [
        ("esp32s3", []), ("esp32p4", []), ("esp32c3", []), ("esp32s3", ["--bits", "16"]),
        ("esp32p4", ["--bits", "16"]), ("esp32p4", ["--granularity", "per-tensor", "--method", "minmax"]),
        ("esp32s3", ["--method", "percentile"]), ("esp32s3", ["--int16-nodes", "/out_conv/Conv"]),
    ]
    for chip, options in kinds:
        made = folder / "kind.espdl"
        outcome = esp(
            "quantize", model, "--data", folder / "tcn.npy", "--chip", chip, *options, "--test-values", "-o", made
        )
        problem = problem_of(outcome) or problem_of(esp("evaluate", made, "--test-values", "--exact", "--chip", chip))
        tally.result(f"quantize {chip} {' '.join(options)}", problem)
    first, second = folder / "first.espdl", folder / "second.espdl"
    for path in (first, second):
        esp("quantize", model, "--data", folder / "tcn.npy", "-o", path)
    tally.result("reproducible", None if first.read_bytes() == second.read_bytes() else "two runs differ")
    outcome = esp("evaluate", first, "--test-values")
    tally.result("no test values", problem_of(outcome, 1, "has no test values"))
    table = folder / "table.json"
    problem = problem_of(esp("calibrate", model, "--data", folder / "tcn.npy", "-o", table))
    problem = problem or problem_of(esp("quantize", model, "--table", table, "-o", second))
    same = problem or (None if first.read_bytes() == second.read_bytes() else "differs from --data")
    tally.result("calibrate, then quantize", same)


def as_json(tally, folder):
    """What the verbs say, as JSON and nothing else."""
    old, model = INPUTS / "old" / "mnist_model_example.onnx", INPUTS / "models" / "s3_tcn.onnx"
    np.save(folder / "old.npy", np.random.default_rng(2).random((2, 28, 28), dtype=np.float32))
    for words, keys in ((["check", model], {"model", "nodes"}),
                        (["calibrate", model, "--data", folder / "tcn.npy", "-o", folder / "j.json"], {"output", "tensors"}),
                        (["quantize", model, "--data", folder / "tcn.npy", "-o", folder / "j.espdl"], {"output", "bytes", "nodes"}),
                        (["quantize", model, "--data", folder / "tcn.npy", "--min-sqnr", "60", "-o", folder / "j.espdl"], {"int16", "nodes"}),
                        (["export", folder / "j.espdl", "-o", folder / "j.onnx"], {"output", "nodes"}),
                        (["export", old, "--data", folder / "old.npy", "--bits", "16", "-o", folder / "j.cpp"], {"output", "input_exponents",
                                                                                                                  "output_exponents"})):
        outcome = esp(*words, "--json")
        problem = problem_of(outcome)
        if not problem:
            told = json.loads(outcome.stdout)
            problem = None if keys | {"chip"} <= set(told) else f"has {sorted(told)}"
        tally.result(f"esp {words[0]} --json", problem)


def encryption(tally, folder):
    model, made = INPUTS / "models" / "s3_tcn.onnx", folder / "secret.espdl"
    outcome = esp("quantize", model, "--data", folder / "tcn.npy", "--test-values", "--key", KEY, "-o", made)
    tally.result("encrypt", problem_of(outcome))
    tally.result("decrypt", problem_of(esp("evaluate", made, "--test-values", "--key", KEY)))
    tally.result("no key", problem_of(esp("info", made), 1, "secret.espdl: is encrypted"))
    outcome = esp("info", made, "--key", KEY[::-1])
    tally.result("wrong key", problem_of(outcome, 1, "can't be decrypted with this key"))
    tally.result("half a key", problem_of(esp("info", made, "--key", "12"), 1, "32 hexadecimal digits"))


def refusals(tally, folder):
    """What the runtime lacks is told with the node and the reason, and nothing is written."""
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    shapes = {"w": (8, 2, 3, 3), "gw": (1, 12, 3), "gr": (1, 12, 4), "lw": (1, 16, 3), "lr": (1, 16, 4)}
    cases = {
        "groups": (helper.make_node("Conv", ["x", "w"], ["y"], name="conv", group=4), "has 4 groups"),
        "operator": (helper.make_node("Cos", ["x"], ["y"], name="cos"), "isn't an operator"),
        "reset": (
            helper.make_node("GRU", ["x", "gw", "gr"], ["y"], name="gru", hidden_size=4),
            "has linear_before_reset = 0; the runtime takes 1",
        ),
        "backwards": (
            helper.make_node("LSTM", ["x", "lw", "lr"], ["y"], name="lstm", hidden_size=4, direction="reverse"),
            "goes in the direction 'reverse'",
        ),
        "border": (
            helper.make_node("AveragePool", ["x"], ["y"], name="pool", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
            "count_include_pad",
        ),
    }
    for name, (node, reason) in cases.items():
        shape = [5, 1, 3] if node.op_type in ("GRU", "LSTM") else [1, 8, 4, 4]
        np.save(folder / "x.npy", np.ones([1] + shape if len(shape) == 3 else shape, np.float32))
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
        constants = [numpy_helper.from_array(np.ones(shapes[n], np.float32), n) for n in node.input if n in shapes]
        graph = helper.make_graph([node], "g", [x], [y], constants)
        path, made = folder / f"{name}.onnx", folder / f"{name}.espdl"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)
        outcome = esp("quantize", path, "--data", folder / "x.npy", "-o", made)
        problem = problem_of(outcome, 1, f"node '{node.name}'") or problem_of(outcome, 1, reason)
        tally.result(f"refuse {name}", problem or ("a file is left" if made.exists() else None))
    tally.result("wrong chip", problem_of(esp("check", path, "--chip", "esp99"), 2, "the chips are"))


def damaged(tally, folder):
    """No bytes make the reader crash; every error is one line that names the file."""
    rng = random.Random(7)
    whole = (INPUTS / "ops" / "c_linear_ishap_1_16_kshap_16_16_relu_s8.espdl").read_bytes()
    old = (INPUTS / "ops" / "s3_add2d_s8_ishap_1_96_1_1.espdl").read_bytes()
    path = folder / "bad.espdl"
    cases = [whole[:n] for n in (0, 3, 4, 11, 16, 20, 40, len(whole) // 2, len(whole) - 1)]
    for number in range(160):
        data = bytearray(rng.choice((whole, old)))
        for _ in range(rng.choice((1, 1, 2, 8))):
            data[rng.randrange(4, len(data))] = rng.randrange(256)
        cases.append(bytes(data))
    for magic in (b"PDL1", b"PDL2", b"PDL3"):
        cases += [magic, magic + b"\xff" * 8, magic + b"\1\0\0\0" + b"\xff" * 64]
    for number, data in enumerate(cases):
        path.write_bytes(data)
        outcome = esp("info", path)
        problem = None
        if outcome.status not in (0, 1) or outcome.timed_out:
            problem = outcome.ended()
        elif outcome.status == 1 and not re.fullmatch(r"error: \S*bad\.espdl: [^\n]+\n", outcome.stderr):
            problem = f"says '{outcome.stderr[-200:]}'"
        tally.result(f"damaged {number}", problem)


def fnv(values):
    result = 0x811C9DC5
    for byte in np.asarray(values, "<i2").tobytes():
        result = (result ^ byte) * 0x01000193 & 0xFFFFFFFF
    return result


def old_mnist(tally, folder):
    """The old toolkit's example: published files to the byte, published scores."""
    facts = json.loads((INPUTS / "old_mnist_facts.json").read_text())
    model, published = INPUTS / "old" / facts["model"], facts["published_cpp"]
    exponents = {facts["input"]["name"]: facts["input"]["exponent"]}
    names = ["sequential/dense/Relu:0", "sequential/dense_1/Relu:0", "output"]
    exponents.update({name: layer["output_exponent"] for name, layer in zip(names, facts["layers"])})
    exponents["sequential/flatten/Reshape:0"] = facts["input"]["exponent"]
    table = folder / "mnist.pickle"
    table.write_bytes(pickle.dumps({name: 2.0**e for name, e in exponents.items()}))
    made = folder / f"{published['name']}.cpp"
    outcome = esp("export", model, "--table", table, "--bits", "16", "--chip", published["target"], "-o", made)
    tally.result("mnist export", problem_of(outcome))
    for kind in ("cpp", "hpp"):
        path = made.with_suffix("." + kind)
        own = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "no file"
        tally.expect(f"mnist {kind}", own == published[f"{kind}_sha256"], own)
    pixels = np.array(facts["input"]["pixels_0_255"], np.float64) / 255 * 2**15
    np.save(folder / "digit.npy", np.minimum(np.trunc(pixels), 32767).astype(np.int16).reshape(1, 28, 28))
    outcome = esp(
        "evaluate", model, "--table", table, "--bits", "16", "--input", folder / "digit.npy", "--output-dir", folder
    )
    problem = problem_of(outcome)
    if not problem:
        scores = np.load(folder / "output.npy").ravel().tolist()
        problem = None if scores == facts["published_output_esp32s3"] else f"scores {scores}"
    tally.result("mnist scores", problem)


def old_tables(tally, folder):
    """Tables are Python's pickles; what isn't a table is refused, and nothing in it runs."""
    model = INPUTS / "old" / "mnist_model_example.onnx"
    np.save(folder / "digits.npy", np.random.default_rng(1).random((4, 28, 28), dtype=np.float32))
    made = folder / "own.pickle"
    outcome = esp("calibrate", model, "--data", folder / "digits.npy", "--bits", "16", "-o", made)
    problem = problem_of(outcome)
    if not problem:
        scales = pickle.loads(made.read_bytes())
        problem = None if scales["input"] == 2.0**-15 else f"input has {scales['input']}"
    tally.result("pickle written", problem)
    for protocol in (0, 2, 4):
        arrays = {name: np.array([scale]) if isinstance(scale, float) else np.array(scale) for name, scale in scales.items()}
        path = folder / "numpy.pickle"
        path.write_bytes(pickle.dumps(arrays, protocol=protocol))
        outcome = esp("export", model, "--table", path, "--bits", "16", "-o", folder / "p.cpp")
        status = 0 if protocol else 1
        tally.result(f"pickle of numpy, protocol {protocol}", problem_of(outcome, status))

    class Bad:
        def __reduce__(self):
            return (os.system, ("touch " + str(folder / "ran"),))

    path = folder / "hostile.pickle"
    path.write_bytes(pickle.dumps({"input": Bad()}))
    outcome = esp("export", model, "--table", path, "-o", folder / "p.cpp")
    problem = problem_of(outcome, 1, "hostile.pickle: is no quantization table")
    tally.result("hostile pickle", problem or ("it ran" if (folder / "ran").exists() else None))


def elements(source, name):
    body = re.search(rf"{name}_element\[\] = {{(.*?)}};", source, re.S)
    return [int(v) for v in body.group(1).split(",")] if body else []


def old_convert(tally, folder):
    """The convert tool's example: coefficients for the four chips, and the published scores."""
    facts = json.loads((INPUTS / "old_convert_facts.json").read_text())
    source = folder / "net.cpp"
    outcome = esp("export", INPUTS / "old" / "npy", "--chip", "esp32s3", "-o", source)
    tally.result("convert", problem_of(outcome))
    text = source.read_text() if source.exists() else ""
    for layer in facts["layers"]:
        if "filter_count" not in layer:
            continue
        values = elements(text, layer["name"] + "_filter")[: layer["filter_count"]]
        tally.expect(f"convert {layer['name']}", fnv(values) == layer["filter_fnv1a32_le16"], values[:8])


def old_layouts(tally, folder):
    """Element orders of all chips, as the published calibrator writes them."""
    for number, case in enumerate(json.loads((INPUTS / "old_layout_cases.json").read_text())["cases"]):
        o, i, h, w = case["oihw"]
        place = folder / f"layout{number}"
        place.mkdir()
        # Values that int8 can hold; neighbours in any order differ.
        values = (np.arange(o * i * h * w) % 127).reshape(o, i, h, w).astype(np.float32)
        depthwise = case["op"].startswith("depthwise")
        np.save(place / "f_filter.npy", values.transpose(2, 3, 0, 1) if depthwise else values.transpose(2, 3, 1, 0))
        operation = "fully_connected" if case["op"] == "gemm" else case["op"]
        config = {"f": {"operation": operation, "feature_type": f"s{case['bits']}", "filter_exponent": 0}}
        (place / "config.json").write_text(json.dumps(config))
        for chip in case["chips"]:
            outcome = esp("export", place, "--chip", chip, "-o", place / "c.cpp")
            text = (place / "c.cpp").read_text() if outcome.status == 0 else ""
            wanted = [k % 127 for k in case["order"]]
            wanted += [0] * (case["exported_count"] - len(wanted))
            shape = "{" + ", ".join(map(str, case["declared_shape"])) + "}"
            problem = problem_of(outcome) or (None if elements(text, "f_filter") == wanted else "another order")
            tally.result(f"layout {number} {chip}", problem or (None if shape in text else "another shape"))


def main():
    require_tools()
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        evaluate_published(tally)
        evaluate_other_rounding(tally)
        evaluate_inputs(tally, folder)
        quantize_pairs(tally, folder)
        quantize_kinds(tally, folder)
        as_json(tally, folder)
        encryption(tally, folder)
        refusals(tally, folder)
        damaged(tally, folder)
        old_mnist(tally, folder)
        old_tables(tally, folder)
        old_convert(tally, folder)
        old_layouts(tally, folder)
        esp_operators.hand_made(tally, folder)
        esp_operators.written(tally, folder, "esp32s3", 8, list(esp_cases.PARTS))
        esp_operators.written(tally, folder, "esp32p4", 8, ["products"])
        esp_operators.written(tally, folder, "esp32c3", 8, ["products"])
        esp_improve.improvements(tally, folder)
        esp_refusals.refusals(tally, folder)
        esp_refusals.notes(tally, folder)
        esp_refusals.doubts(tally, folder)
    tally.finish()


if __name__ == "__main__":
    main()
