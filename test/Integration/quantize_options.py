#!/usr/bin/env -S /usr/bin/python3
"""Every option of quantization in every form: it is refused with a reason that names it, or the model runs alike.

A small network of convolutions and products is quantized with each option in each form. What isn't refused loads in
ONNX Runtime, as it is and as users have it, and gives there what our code gives, to 45 dB, or to 90 dB from quantizer
to quantizer. Options that must change a file where they are taken are checked for that. By default each form meets
every third option; --all takes all. A pattern chooses cases by name.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

from support import ort
from support import quantized_models as q
import quantize_ops as ops
from support.harness import ONNXQ, Tally, require_tools

FORMS = {
    "qdq": ["--mode", "qdq"],
    "qdq-every-op": ["--mode", "qdq", "--placement", "every-op"],
    "qlinear": ["--mode", "qlinear"],
    "qlinear-every-op": ["--mode", "qlinear", "--placement", "every-op"],
    "integer": ["--mode", "integer"],
    "qdq-dynamic": ["--mode", "qdq", "--dynamic"],
    "qlinear-dynamic": ["--mode", "qlinear", "--dynamic"],
    "integer-dynamic": ["--mode", "integer", "--dynamic"],
}
# Forms with static scales where fused placement has them.
FUSED = ("qdq", "qlinear", "integer")
STATIC = (*FUSED, "qdq-every-op", "qlinear-every-op")
# Options, and whether a file that is made with them must differ from one without: in all forms, in some or in none.
OPTIONS = {
    "--per-channel=false": True, "--nbits 16": True, "--nbits 4": True, "--asymmetric-input-types=false": True,
    "--asymmetric-input-types=true": False, "--activation-type s8 --weight-type s8": True, "--activation-type u16": True,
    "--activation-type s16": True, "--weight-type u8": True, "--weight-type s16": True, "--weight-type u16": True,
    "--weight-type s4": True, "--weight-type u4": True, "--symmetric-activations": True,
    "--symmetric-weights=false --per-channel=false": True, "--symmetric-weights=true --weight-type u8": True,
    "--reduce-range": True, "--op-types-to-quantize Conv": True, "--op-types-to-quantize MatMul,Gemm": True,
    "--nodes-to-quantize second": True, "--nodes-to-exclude second": True, "--nodes-to-exclude (second|third)": True,
    '--input-quantization-params {"x":[120,0.05]}': True, '--output-quantization-params {"z":[3,0.07]}': False,
    '--tensor-overrides {"x":{"type":"s8","scale":0.06,"zero_point":2}}': True, '--tensor-overrides {"x":{"min":-3,"max":3}}': False,
    '--tensor-overrides {"w":{"scale":0.012}}': True, '--tensor-overrides {"w":{"axis":1}}': True,
    "--matmul-const-b-only=true": False, "--matmul-const-b-only=false": False, "--dedicated-qdq-pair": False,
    "--add-qdq-pair-to-weight": True, "--quantize-bias=false": False, "--minimum-real-range 4": True,
    "--keep-removable-activations": True, "--exclude-output-quantization": False, "--force-quantize-no-input-check": False,
    "--block-size 4": True, "--block-size 4 --weight-type s4": True, "--contrib-ops": False,
    "--contrib-qdq --activation-type u16": True, "--int16-first 2": True, "--int16-tensors pooled": True,
    "--weight-rounding sums": False, "--weight-rounding nearest": FUSED, "--channel-scaling none": False,
    "--channel-scaling none --keep-cheap-in-float=false": FUSED, "--channel-scaling depthwise": False, "--bias-correction none": FUSED,
    "--keep-cheap-in-float=false": FUSED, "--keep-cheap-in-float=true": False, "--smooth-quant": STATIC,
    "--smooth-quant --smooth-quant-alpha 0.9": STATIC, "--smooth-quant --smooth-quant-folding=false": STATIC,
}


def network(path):
    """Convolutions with a shortcut, a matrix, and a product of two activations."""
    b = ops.Builder()
    pooled = b.node("MaxPool", [b.node("Relu", [b.conv("x")])], kernel_shape=[2, 2])
    b.nodes[-1].output[0] = pooled = "pooled"
    b.constants["w"] = ops.f32(8, 8, 3, 3, scale=0.2)
    second = b.node("Conv", [pooled, "w", b.constant(ops.f32(8))], pads=[1, 1, 1, 1])
    b.nodes[-1].name = "second"
    third = b.conv(b.node("Sigmoid", [b.node("Add", [second, pooled])]))
    b.nodes[-1].name = "third"
    # Channels of very different ranges, read by a depthwise convolution.
    b.constants["spread"] = np.geomspace(0.05, 4, 8).astype(np.float32).reshape(8, 1, 1, 1) * ops.f32(8, 8, 1, 1, scale=0.3)
    third = b.node("Relu", [b.node("Conv", [third, "spread"])])
    third = b.node("Conv", [third, b.constant(ops.f32(8, 1, 3, 3))], group=8, pads=[1, 1, 1, 1])
    # A gate: one factor for each channel.
    gate = b.node("Conv", [b.node("GlobalAveragePool", [third]), b.constant(ops.f32(8, 8, 1, 1))])
    third = b.node("Mul", [third, b.node("Sigmoid", [gate])])
    rows = b.node("Gemm", [b.node("Flatten", [third]), b.constant(ops.f32(5, 200, scale=0.1)), b.constant(ops.f32(5))], transB=1)
    row = b.node("MatMul", [rows, b.constant(ops.f32(5, 6))])
    wide, tall = (b.node("Unsqueeze", [row, b.constant(np.array([axis]))]) for axis in (1, 2))
    b.output("y", b.node("MatMul", [wide, tall]))
    b.output("z", b.node("Relu", [third]))
    return ops.save(path, b)


def quantize(folder, ready, target, form, options):
    data = [] if form in ("qdq-dynamic", "integer-dynamic") else ["--table", folder / "table.json"]
    command = [ONNXQ, "quantize", ready, "--skip-preprocess", "-o", target, "--quiet", *FORMS[form], *data, *options]
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    return process.stderr.strip().splitlines()[-1] if process.returncode else None


def check(folder, target, x, options):
    """What is wrong with a quantized file, or None."""
    level = q.level_for(options)
    theirs, as_users = (q.run_ort(folder, [(target, {"x": x})], l)[0] for l in (level, "all"))
    for result in (theirs, as_users):
        if isinstance(result, str):
            return f"refused by ONNX Runtime: {result[:200]}"
    ours = q.run_ours(folder, target, {"x": x})
    worst = min(q.sqnr(theirs[name], ours[name]) for name in theirs)
    if worst < 45 and q.cut_at_quantizers(folder, target, {"x": x}, level) < 90:
        return f"{worst:.1f} dB between ONNX Runtime and our code"
    return None


def run(tally, folder, label, ready, form, text, changes, x):
    options, target = text.split(" ") if "{" not in text else text.split(" ", 1), folder / "option.onnx"
    refusal = quantize(folder, ready, target, form, options)
    if refusal:
        names = [option.split("=")[0].lstrip("-") for option in options if option.startswith("--")]
        named = any(name in refusal for name in names) or re.search("(activations|weights) of (16|other)|activation-type", refusal)
        return tally.result(label, None if named else f"refused without naming the option: {refusal[:200]}")
    if (changes is True or form in (changes or ())) and target.read_bytes() == (folder / f"{form}.onnx").read_bytes():
        return tally.result(label, "the option changes nothing")
    try:
        tally.result(label, check(folder, target, x, [*FORMS[form], *options]))
    except Exception as error:
        tally.result(label, str(error)[:300])


def main():
    require_tools()
    ort.require()
    pattern = next((a for a in sys.argv[1:] if not a.startswith("-")), "")
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        np.save(folder / "x.npy", ops.f32(16, *ops.SHAPE[1:]))
        ready, x = folder / "ready.onnx", ops.f32(*ops.SHAPE)
        q.onnxq("preprocess", network(folder / "network.onnx"), "-o", ready, "--quiet")
        q.onnxq("calibrate", ready, "--data", folder / "x.npy", "-o", folder / "table.json", "--quiet")
        for row, form in enumerate(FORMS):
            if problem := quantize(folder, ready, folder / f"{form}.onnx", form, []):
                tally.result(form, problem)
                continue
            for column, (text, changes) in enumerate(OPTIONS.items()):
                label = f"{form} {text}"
                if re.search(pattern, label) and ("--all" in sys.argv or pattern or (row + column) % 3 == 0):
                    run(tally, folder, label, ready, form, text, changes, x)
    tally.finish()


if __name__ == "__main__":
    main()
