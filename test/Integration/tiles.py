#!/usr/bin/python3
"""Code for AMX on any machine: tiles in software in the place of the instructions.

Products and convolutions of bytes are compiled to LLVM IR for a processor with tiles, with and without
`--check-bounds`; the IR's calls of instructions become calls of tiles_emulated.c, and clang makes a library
for this machine of both. The number of rows is open, so that LLVM can't prove the checks. Results are
compared with NumPy's; with checks, none fails.
"""

import pathlib
import re
import subprocess
import tempfile

import numpy as np

from support import harness
from support import hostile

CLANG = "clang-22"
INSTRUCTION = re.compile(r"@llvm\.x86\.(ldtilecfg|tilerelease|tilezero|tileloadd64|tilestored64|tdpb\w+)\b")
INT8, UINT8, INT32 = 3, 2, 6
KINDS = {INT8: np.int8, UINT8: np.uint8}


def product(rows, depth, columns, kinds):
    """A model of one product and what it gives on seeded inputs."""
    rng = np.random.default_rng([rows, depth, columns])
    left, right = (
        rng.integers(np.iinfo(KINDS[kind]).min, np.iinfo(KINDS[kind]).max, size, endpoint=True).astype(KINDS[kind])
        for kind, size in zip(kinds, ((rows, depth), (depth, columns)))
    )
    weights = hostile.tensor("w", right.shape, elem=kinds[1], raw_data=right.tobytes())
    node = hostile.node("MatMulInteger", ["x", "w"], ["y"], name="product")
    model = hostile.model([node], [hostile.info("x", ("n", depth), kinds[0])], [hostile.info("y", ("n", columns), INT32)], [weights])
    return model, left, left.astype(np.int32) @ right.astype(np.int32)


def build(folder, model, name, checked):
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    ir, library = folder / f"{name}.ll", folder / f"{name}.so"
    options = ["--check-bounds"] if checked else []
    outcome = harness.run([harness.ONNXQ, "compile", folder / "m.onnx", "-o", ir, "--quiet",
                           "--target", "x86-64-v4", "--features", "+amx-tile,+amx-int8", *options])
    if outcome.status:
        raise RuntimeError(outcome.stderr.strip())
    text = ir.read_text()
    tiles = len(INSTRUCTION.findall(text))
    text = INSTRUCTION.sub(r"@emulated_\1", text).replace(" immarg", "").replace("@syscall(", "@emulated_syscall(")
    text = re.sub(r'"target-cpu"="[^"]*"', '"target-cpu"="x86-64-v3"', text)
    text = re.sub(r'"target-features"="[^"]*"', '"target-features"=""', text)
    model_name = re.search(r"^@(\w+)_model = ", text, re.M).group(1)
    ir.write_text(text + f"\ndefine ptr @onnxq_get_model() {{\n  ret ptr @{model_name}_model\n}}\n")
    command = [CLANG, "-O1", "-mavx2", "-mfma", "-w", "-shared", "-fPIC", ir, pathlib.Path(__file__).parent / "support" / "tiles_emulated.c", "-o", library]
    subprocess.run(list(map(str, command)), check=True)
    return library, tiles, text.count("access out of a buffer's bounds")


def run(library, folder, array):
    np.save(folder / "x.npy", array)
    outcome = harness.run([harness.ONNXQ, "run", library, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / "out", "--quiet"])
    return outcome, np.load(folder / "out" / "y.npy") if outcome.status == 0 else None


def judge(folder, tally, size, kinds):
    title = f"{'x'.join(map(str, size))}, {' by '.join(KINDS[kind].__name__ for kind in kinds)}"
    model, array, expected = product(*size, kinds)
    for checked in (False, True):
        library, tiles, checks = build(folder, model, "checked" if checked else "plain", checked)
        outcome, result = run(library, folder, array)
        problem = None
        if tiles == 0:
            problem = "the code has no tiles"
        elif bool(checks) != checked:
            problem = f"{checks} checks"
        elif outcome.status or not np.array_equal(result, expected):
            problem = outcome.stderr.strip()[:200] or "another result than NumPy's"
        tally.result(f"{title}{', checked' if checked else ''}", problem)


def main():
    harness.require_tools()
    tally = harness.Tally()
    with tempfile.TemporaryDirectory(prefix="onnxq-tiles-") as temporary:
        folder = pathlib.Path(temporary)
        for size in ((64, 256, 64), (50, 100, 32), (33, 260, 40), (17, 1000, 96)):
            for kinds in ((UINT8, INT8), (INT8, INT8)):
                judge(folder, tally, size, kinds)
    tally.finish()


if __name__ == "__main__":
    main()
