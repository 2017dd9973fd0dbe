#!/usr/bin/env -S /usr/bin/python3
"""Quantized models give the same bits on every machine: x86-64 here, with AVX2 and with all there is, AArch64 and RISC-V
under qemu.

usage: cross_models.py [--all] [NAME | FILE.onnx]...
Models are those of bench/models.py, quantized by `onnxq quantize` with 4 samples: digits and ppocr-cls by default, with
--all every one of them, or those that are named; files are taken as they are, with one float input of their own size.
Where qemu ends on its own assertion (see cross.py), the model runs again without RISC-V's vectors, and is named.
"""

import importlib.util
import pathlib
import shutil
import struct
import sys
import tempfile

import numpy as np
import onnx

import cross
from support import harness
from support.harness import ONNXQ, ROOT, Tally, require_tools

# There is another models.py next to this file.
spec = importlib.util.spec_from_file_location("bench_models", ROOT / "bench" / "models.py")
models = importlib.util.module_from_spec(spec)
spec.loader.exec_module(models)

DEFAULT = ["digits", "ppocr-cls"]
MACHINES = [
    ("aarch64+dotprod", "aarch64", ["-cpu", "max"]),
    ("aarch64+i8mm", "aarch64", ["-cpu", "max"]),
    ("riscv64+v", "riscv64", ["-cpu", "rv64,v=true,vlen=128,vext_spec=v1.0"]),
]


def quantized(name, folder):
    """The file of a quantized model, and an input."""
    if name.endswith(".onnx"):
        graph = onnx.load(name).graph
        stored = {tensor.name for tensor in graph.initializer}
        info = next(info for info in graph.input if info.name not in stored)
        shape = [max(dim.dim_value, 1) for dim in info.type.tensor_type.shape.dim]
        return pathlib.Path(name), np.random.default_rng(5).normal(0, 1, shape).astype(np.float32)
    model = models.chosen([name])[0]
    np.save(folder / "samples.npy", np.concatenate([next(iter(model.feeds(i).values())) for i in range(4)]))
    target = folder / f"{name}.onnx"
    outcome = harness.run([ONNXQ, "quantize", model.path(), "-o", target, "--quiet", "--data", folder / "samples.npy"], timeout=600)
    if outcome.status:
        raise RuntimeError(f"{outcome.ended()}: {outcome.stderr[:300]}")
    return target, next(iter(model.feeds(50).values()))


def run(path, target, runner, folder):
    """The bytes of the outputs, or what went wrong."""
    library = folder / f"{target}.so"
    for command in ([ONNXQ, "compile", path, "-o", library, "--target", target],
                    [*runner, "run", library, folder / "x.in", folder / "y.out"]):
        outcome = harness.run(command, timeout=1200)
        if outcome.status:
            return None, f"{outcome.ended()}: {outcome.stderr[:300]}"
    return (folder / "y.out").read_bytes(), None


def main():
    require_tools()
    names = [argument for argument in sys.argv[1:] if argument != "--all"]
    if not names:
        names = list(models.models()) if "--all" in sys.argv else DEFAULT
    tally, runners = Tally(), {}
    with tempfile.TemporaryDirectory(prefix="onnxq-cross-models-") as temporary:
        folder = pathlib.Path(temporary)
        for name in names:
            try:
                path, x = quantized(name, folder)
            except (FileNotFoundError, RuntimeError) as reason:
                tally.result(name, str(reason))
                continue
            (folder / "x.in").write_bytes(struct.pack("<ii", 1, x.ndim) + struct.pack(f"<{x.ndim + 1}q", *x.shape, x.nbytes) + x.tobytes())
            here = [harness.BUILD / "bin" / "onnxq-runner"]
            expected, problem = run(path, "x86-64-v3", here, folder)
            tally.result(f"{name} on x86-64-v3", problem)
            if expected:
                got, problem = run(path, "native", here, folder)
                problem = problem or (got != expected and "other bits than on x86-64-v3") or None
                print(f"{pathlib.Path(name).name} on this machine: {problem or 'the same bits'}", flush=True)
                tally.result(f"{name} on this machine", problem)
            for target, machine, options in MACHINES if expected else []:
                if not all(map(shutil.which, (f"qemu-{machine}", f"{machine}-linux-gnu-gcc"))):
                    print(f"skipped: {target}: qemu-{machine} or its compiler isn't there; scripts/setup.sh installs them")
                    tally.skipped += 1
                    continue
                if machine not in runners:
                    runners[machine] = cross.build_runner(machine, folder)
                emulator = [f"qemu-{machine}", *options, "-L", f"/usr/{machine}-linux-gnu", runners[machine]]
                got, problem = run(path, target, emulator, folder)
                if problem and cross.EMULATOR_FAULT in problem:
                    print(f"note: {name} on {target}: the emulator ends on an assertion; run without vectors")
                    got, problem = run(path, target.removesuffix("+v"), emulator, folder)
                if not problem and got != expected:
                    problem = "other bits than on x86-64-v3"
                print(f"{pathlib.Path(name).name} on {target}: {problem or 'the same bits'}", flush=True)
                tally.result(f"{name} on {target}", problem)
    tally.finish()


if __name__ == "__main__":
    main()
