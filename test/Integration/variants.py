#!/usr/bin/python3
"""Libraries and the processors that they run on: what a library needs is told before its code runs, and of
several variants the best that the processor has is chosen.

Processors that this machine isn't are emulated (qemu-x86_64, qemu-aarch64). Prints a line per failure, then the
totals.
"""

import json
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile

import numpy as np

import aot
from support import harness

RUNNER = harness.BUILD / "bin" / "onnxq-runner"
HOST = platform.machine() == "x86_64"
VARIANTS = "x86-64-v2,x86-64-v3,x86-64-v4"

# A program of a user's own, without the runtime: it takes the library as it is.
OWN = r"""
#include "onnxquant-c/model.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW);
  const onnxq_model *(*get)(void);
  if (!library)
    return puts(dlerror()), 2;
  *(void **)&get = dlsym(library, "onnxq_get_model");
  const onnxq_model *model = get();
  static float x[64 * 64], y[64 * 64];
  for (int i = 0; i < 64 * 64; ++i)
    x[i] = (float)(i %% 17) - 8;
  void *workspace = aligned_alloc(64, (size_t)model->workspace_bytes / 64 * 64 + 64);
  onnxq_buffer in = {x, NULL}, out = {y, NULL};
  const char *error = "no message";
  if (model->run(&in, &out, workspace, &error) != ONNXQ_OK)
    return puts(error), 1;
  printf("%%a %%a %%d %%s", y[0], y[1], (int)model->size, model->targets);
  return 0;
}
""".replace("%%", "%")


def compile(model, out, *options):
    result = harness.run([harness.ONNXQ, "compile", model, "-o", out, *options])
    return result.stdout.decode() if result.status == 0 else f"FAILED: {result.stderr}"


def refused(tally, name, command, words, status=1):
    result = harness.run(command)
    text = result.stdout.decode(errors="replace") + result.stderr
    problem = None
    if result.status != status:
        problem = f"{result.ended()}: {text}"
    elif not all(word in text for word in words) or "LLVM" in text:
        problem = f"says {text!r}"
    tally.result(name, problem)


def bundle(path, array):
    """An input as the runner reads it."""
    head = np.array([1, array.ndim], np.int32).tobytes() + np.array([*array.shape, array.nbytes], np.int64).tobytes()
    path.write_bytes(head + array.tobytes())


def features(folder, model, tally):
    """What every processor here lacks: AMX without the system's leave, or another maker's instructions."""
    library = folder / "foreign.so"
    told = compile(model, library, "--target", "x86-64-v3", "--features", "+fma4,+xop")
    tally.expect("compile tells its target", re.search(r"wrote .*foreign.so \(.* kB, for x86-64-v3: .*xop", told), told)
    needed = ["foreign.so", "x86-64-v3", "fma4 xop", "doesn't have"]
    for verb in (["run", library, "--random-seed", "1"], ["bench", library, "--seconds", "0.1"]):
        refused(tally, f"{verb[0]} of foreign features", [harness.ONNXQ, *verb], needed)
    samples = folder / "x.npy"
    np.save(samples, np.zeros((2, 3, 16, 16), np.float32))
    refused(tally, "evaluate of foreign features", [harness.ONNXQ, "evaluate", library, "--reference", model, "--data", samples], needed)
    refused(tally, "runner of foreign features", [RUNNER, "run", library, "/dev/null", folder / "y"], needed)
    refused(tally, "calibrate for another processor", [harness.ONNXQ, "calibrate", model, "--data", samples, "-o", folder / "t.json", "--target", "x86-64-v3", ], [], status=0)
    described = json.loads(harness.run([harness.ONNXQ, "compile", model, "-o", library, "--json", "--target", "x86-64-v3"]).stdout)
    tally.expect("compile as JSON", "avx2" in described["targets"][0]["features"] and described["bytes"] > 0, str(described))
    header = folder / "object.h"
    compile(model, folder / "object.o", "--target", VARIANTS, "--name", "net")
    tally.expect("header tells its targets", re.search(r'NET_TARGETS "x86-64-v4: .*; x86-64-v3: .*; x86-64-v2', header.read_text()), header.read_text()[:600])
    for wrong, words in {
        "x86-64-v3,aarch64": ["different machines"],
        "x86-64-v3,vax": ["unknown target 'vax'"],
    }.items():
        refused(tally, wrong, [harness.ONNXQ, "compile", model, "-o", library, "--target", wrong], words, status=2)
    refused(tally, "several as text", [harness.ONNXQ, "compile", model, "-o", folder / "x.ll", "--target", VARIANTS], [".so or .o"], status=2)


def own_program(folder):
    source, program = folder / "own.c", folder / "own"
    source.write_text(OWN)
    subprocess.run(["cc", "-I", harness.ROOT / "include", source, "-o", program, "-ldl"], check=True)
    return program


def variants(folder, model, tally):
    library = folder / "several.so"
    told = compile(model, library, "--target", VARIANTS)
    tally.expect("compile tells its variants", re.search(r"x86-64-v4.*; x86-64-v3.*; x86-64-v2", told), told)
    info = json.loads(harness.run([harness.ONNXQ, "info", library, "--json"]).stdout)
    tally.expect("info tells the variants", [target["name"] for target in info["targets"]] == ["x86-64-v4", "x86-64-v3", "x86-64-v2"], str(info))
    program = own_program(folder)
    x = np.random.default_rng(1).standard_normal((1, 3, 16, 16)).astype(np.float32)
    bundle(folder / "inputs", x)
    ours = harness.run([program, library])
    tally.expect("a program of its own", ours.status == 0 and b" 64 x86-64-v4\t" in ours.stdout, ours.stdout.decode() + ours.stderr)
    if not shutil.which("qemu-x86_64"):
        print("skipped: qemu-x86_64 isn't there")
        tally.skipped += 1
        return
    # Each processor runs what a library for it alone gives, to the bit.
    for cpu, level in (("max", "x86-64-v3"), ("Nehalem", "x86-64-v2")):
        alone = folder / f"{level}.so"
        compile(model, alone, "--target", level)
        for name, path in (("several", library), ("alone", alone)):
            result = harness.run(["qemu-x86_64", "-cpu", cpu, RUNNER, "run", path, folder / "inputs", folder / name])
            tally.expect(f"{name} on {cpu}", result.status == 0, result.stderr)
        same = (folder / "several").read_bytes() == (folder / "alone").read_bytes()
        tally.result(f"variant of {level}", None if same else "gives something else than the library for it alone")
    refused(tally, "v4 on AVX2", ["qemu-x86_64", "-cpu", "max", RUNNER, "run", compiled(folder, model, "x86-64-v4"), folder / "inputs", folder / "y"],
            ["x86-64-v4", "avx512f avx512bw"])
    refused(tally, "none fits", ["qemu-x86_64", "-cpu", "qemu64", RUNNER, "run", compiled(folder, model, "x86-64-v3,x86-64-v4"), folder / "inputs", folder / "y"],
            ["none of its variants (x86-64-v4, x86-64-v3) fits", "avx2", "doesn't have"])
    # Without the runtime, the run itself says so.
    refused(tally, "none fits without the runtime", ["qemu-x86_64", "-cpu", "qemu64", program, compiled(folder, model, "x86-64-v3,x86-64-v4")],
            ["doesn't have what the code needs", "x86-64-v3", "avx2"])


def compiled(folder, model, targets):
    library = folder / (targets.replace(",", "_") + ".so")
    compile(model, library, "--target", targets)
    return library


def cross(folder, model, tally):
    """Variants for another machine, in a program linked with the object."""
    linker = shutil.which("aarch64-linux-gnu-gcc")
    if not linker or not shutil.which("qemu-aarch64"):
        print("skipped: no compiler or emulator of aarch64")
        tally.skipped += 1
        return
    main = folder / "cross.c"
    main.write_text(
        '#include "cross.h"\n#include <stdio.h>\n'
        "static float x[CROSS_INPUT_0_ELEMENTS], y[CROSS_OUTPUT_0_ELEMENTS];\n"
        "static _Alignas(64) char workspace[CROSS_WORKSPACE_BYTES + 1];\n"
        "int main(void) { const char *error; for (int i = 0; i < CROSS_INPUT_0_ELEMENTS; ++i) x[i] = i % 7;\n"
        "  if (cross_call(x, y, workspace, &error)) return puts(error), 1;\n"
        '  printf("%a %a\\n", y[0], y[9]); return 0; }\n'
    )

    def build(targets):
        compile(model, folder / "cross.o", "--target", targets, "--name", "cross")
        program = folder / "cross"
        subprocess.run([linker, main, folder / "cross.o", "-lm", "-o", program], check=True, cwd=folder)
        return program

    emulator = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-cpu"]
    program = build("aarch64,aarch64+dotprod")
    results = {cpu: harness.run([*emulator, cpu, program]) for cpu in ("cortex-a53", "max")}
    for cpu, result in results.items():
        tally.expect(f"aarch64 variants on {cpu}", result.status == 0, result.stdout.decode() + result.stderr)
    refused(tally, "dotprod on cortex-a53", [*emulator, "cortex-a53", build("aarch64+dotprod")], ["aarch64+dotprod", "dotprod", "doesn't have"])


def main():
    tally = harness.Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = folder / "model.onnx"
        aot.conv_model(model, 1)
        if HOST:
            features(folder, model, tally)
            variants(folder, model, tally)
        cross(folder, model, tally)
    tally.finish()


if __name__ == "__main__":
    main()
