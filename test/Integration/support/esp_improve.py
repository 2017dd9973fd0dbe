"""What `esp quantize` does beyond its defaults, next to plain rules: channels made alike, biases corrected, 16 bits for some nodes."""

import json
import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.esp_operators import espdl
from support.esp_reference import plain_filter
from support.harness import ONNXQ, run


def network(rng):
    """Two convolutions whose channels between them are very unlike, then a third: what one exponent per filter can't hold."""
    gains = np.float32(2.0) ** rng.uniform(-5, 5, 16).astype(np.float32)
    weights = {
        "w1": rng.standard_normal((16, 3, 3, 3)).astype(np.float32) * gains[:, None, None, None],
        "b1": rng.standard_normal(16).astype(np.float32) * gains / 4,
        "w2": rng.standard_normal((12, 16, 3, 3)).astype(np.float32) / gains[None, :, None, None] / 12,
        "b2": rng.standard_normal(12).astype(np.float32) / 4,
        "w3": rng.standard_normal((8, 12, 1, 1)).astype(np.float32) / 3,
    }
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["s1"], name="first", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["s1"], ["r1"], name="relu1"),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["s2"], name="second", pads=[1, 1, 1, 1]),
        helper.make_node("Sigmoid", ["s2"], ["r2"], name="sigmoid"),
        helper.make_node("Conv", ["r2", "w3"], ["y"], name="third"),
    ]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 20, 24])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 20, 24])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), weights


def factors(weights, threshold, powers):
    """The factor of each channel after the first convolution, by one step of the rule: the second one finds nothing to do."""
    up, down = np.abs(weights["w1"]).max((1, 2, 3)), np.abs(weights["w2"]).max((0, 2, 3))
    found = np.where(up + down < threshold, 1, np.clip(1 / np.sqrt(up / down), 1 / 256, 256))
    return 2.0 ** np.round(np.log2(found)) if powers else found


def filter_of(model, name):
    """Real weights of a constant of the file, [H, W, I, O]."""
    tensor = model.constants[name]
    height, width, inputs, outputs = tensor.array.shape
    plain = plain_filter(tensor.array.ravel(), height * width, inputs, outputs, False, 16)
    return plain.reshape(tensor.array.shape) * 2.0 ** tensor.exponents[0], 2.0 ** tensor.exponents[0]


def improvements(tally, folder):
    rng = np.random.default_rng(11)
    model, weights = network(rng)
    path, data = folder / "uneven.onnx", folder / "uneven.npy"
    onnx.save(model, path)
    samples = rng.uniform(-1, 1, (6, 3, 20, 24)).astype(np.float32)
    np.save(data, samples)

    def quantize(*options):
        made = folder / "uneven.espdl"
        outcome = run([ONNXQ, "esp", "quantize", path, "--data", data, "--test-values", "-o", made, *options], timeout=120)
        if outcome.status:
            tally.result(f"quantize {' '.join(options)}", f"{outcome.ended()}: {outcome.stderr.strip()[-300:]}")
            return None, 0, outcome
        told = run([ONNXQ, "evaluate", made, "--reference", path, "--data", data, "--metric", "sqnr", "--json"], timeout=120)
        return espdl.Model(made), json.loads(told.stdout)["against_reference"]["sqnr"], outcome

    _, plain, _ = quantize()
    for option, threshold, powers in (("--equalize", 0.5, False), ("--scale-channels", 0, True)):
        made, db, _ = quantize(option)
        if made is None:
            continue
        wanted = factors(weights, threshold, powers)
        tally.result(f"{option} helps", None if db > plain + 6 else f"{db:.1f} dB after {plain:.1f}")
        for name, array in (("w1", weights["w1"] * wanted[:, None, None, None]), ("w2", weights["w2"] / wanted[None, :, None, None])):
            real, step = filter_of(made, name)
            apart = np.abs(real - array.transpose(2, 3, 1, 0)).max()
            tally.result(f"{option} {name}", None if apart <= 0.5001 * step else f"{apart / step:.2f} steps from the rule")

    # Corrected biases: outputs keep their mean, channel by channel.
    np.save(folder / "first.npy", samples[:1])
    run([ONNXQ, "run", path, "--input", f"x={folder / 'first.npy'}", "--output-dir", folder / "uneven", "--quiet"], timeout=60)
    real = np.load(folder / "uneven" / "y.npy")

    def drift(*options):
        made, _, _ = quantize(*options)
        y = made.test_outputs["y"].array * 2.0 ** made.exponents["y"][0]
        return np.abs((np.moveaxis(y, -1, 1) - real).mean((0, 2, 3))).mean()

    before, after = drift("--scale-channels"), drift("--scale-channels", "--bias-correction")
    tally.result("--bias-correction", None if after < 0.7 * before else f"means are off by {after:.4f}, {before:.4f} without")

    # Nodes of 16 bits: enough of them, and no more multiplications than allowed.
    work = {"first": 16 * 27 * 480, "second": 12 * 144 * 480, "third": 8 * 12 * 480}

    def wide_share(made):
        return sum(work[n.name] for n in made.nodes if n.name in work and n.attributes["quant_type"] == "S16") / sum(work.values())

    made, db, outcome = quantize("--min-sqnr", "35")
    if made is not None:
        tally.result("--min-sqnr reaches", None if db >= 34.9 and wide_share(made) > 0 else f"{db:.1f} dB")
        said = re.search(rb"([0-9]+) of ([0-9]+) nodes have 16 bits \(([0-9.]+)% of the multiplications\)", outcome.stdout)
        share = float(said.group(3)) if said else -1
        tally.expect("--min-sqnr tells", abs(share - 100 * wide_share(made)) < 0.1, f"{outcome.stdout}")
    for limit in (15, 60):
        made, db, outcome = quantize("--min-sqnr", "90", "--max-int16", f"{limit}%")
        if made is not None:
            share = 100 * wide_share(made)
            tally.result(f"--max-int16 {limit}%", None if share <= limit and db >= plain - 0.5 else f"{share:.1f}%, {db:.1f} dB")
            tally.expect(f"--max-int16 {limit}% warns", "not the 90.0 of --min-sqnr" in outcome.stderr, outcome.stderr)
    for options, message in (
        (["--equalize", "--scale-channels"], "exclude each other"), (["--min-sqnr", "40", "--bits", "16"], "--bits is 8"),
        (["--max-int16", "20%"], "with --min-sqnr"), (["--min-sqnr", "40", "--max-int16", "twenty"], "such as 20%"),
    ):
        outcome = run([ONNXQ, "esp", "quantize", path, "--data", data, "-o", folder / "none.espdl", *options], timeout=60)
        problem = None if outcome.status == 2 and message in outcome.stderr else f"{outcome.ended()}: {outcome.stderr[-200:]}"
        tally.result(f"refuse {' '.join(options)}", problem)
