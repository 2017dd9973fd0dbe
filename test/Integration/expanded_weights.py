#!/usr/bin/python3
"""Weights that are stored in 8 bits and expanded when code is loaded: in process, in libraries, in programs.

Sums of integers are compared with numpy, to the bit. Prints a line per failure, then the totals.
"""

import json
import pathlib
import re
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import harness

SECONDS = 300
rng = np.random.default_rng(11)
# Channels and size of an input; columns, whether weights have a sign, and their zero point for each convolution.
LAYERS = {"small": (64, 20, [(40, True, 0), (64, False, 3)]), "large": (256, 14, [(256, True, 0), (256, True, 5), (240, False, 128)])}
# What compiled code may call; large memory asks for large pages.
LIBC = {"memcpy", "memmove", "memset"}

# Runs the models before main and in it, and writes the outputs of both.
PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include "small.h"
#include "large.h"

%(models)s

struct Early {
  Early() { all(); }
} early;

int main() { return all() ? 0 : 1; }
"""
MODEL = r"""
static uint8_t %(name)s_x[%(upper)s_INPUT_0_ELEMENTS];
alignas(64) static char %(name)s_workspace[%(upper)s_WORKSPACE_BYTES + 1];
%(arrays)s
static bool run_%(name)s() {
  FILE *file = fopen("%(name)s.bin", "rb");
  const char *error = "";
  bool isRead = file && fread(%(name)s_x, 1, sizeof(%(name)s_x), file) == sizeof(%(name)s_x);
  if (file)
    fclose(file);
  if (!isRead || %(name)s_call(%(name)s_x, %(outputs)s, %(name)s_workspace, &error) != ONNXQ_OK)
    return false;
  %(writes)s
  return true;
}
"""
# Eight threads open the library, run it and compare what each gets.
THREADS = r"""
#include "onnxquant-c/runtime.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 8, most = 4 };
static const char *path;
static onnxq_tensor outputs[threads][most];
static int failed[threads];
static unsigned char x[64 * 20 * 20];

static void *work(void *number) {
  long i = (long)number;
  onnxq_error error;
  onnxq_library *library;
  failed[i] = 1;
  if (onnxq_open(path, &library, &error) != ONNXQ_OK)
    return NULL;
  onnxq_tensor input = {0};
  input.type = ONNXQ_UINT8, input.rank = 4;
  input.dims[0] = 1, input.dims[1] = 64, input.dims[2] = 20, input.dims[3] = 20;
  input.data = x, input.bytes = sizeof(x);
  const onnxq_model *model = onnxq_get(library);
  failed[i] = onnxq_run(model, NULL, &input, 1, outputs[i], model->num_outputs, &error) != ONNXQ_OK;
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t running[threads];
  path = argv[argc - 1];
  for (size_t i = 0; i < sizeof(x); ++i)
    x[i] = (unsigned char)(i * 7919 % 251);
  for (long i = 0; i < threads; ++i)
    pthread_create(&running[i], NULL, work, (void *)i);
  for (int i = 0; i < threads; ++i)
    pthread_join(running[i], NULL);
  for (int i = 0; i < threads; ++i)
    for (int j = 0; j < 2; ++j)
      if (failed[i] || memcmp(outputs[i][j].data, outputs[0][j].data, outputs[0][j].bytes))
        return printf("thread %d\n", i), 1;
  return 0;
}
"""


def run(*command, **options):
    return harness.run(command, timeout=SECONDS, **options)


def complaint(outcome):
    return f"{outcome.ended()}: {str(outcome.stderr).strip()[:200]}" if outcome.status else None


class Model:
    """Convolutions of one input, the input, and what numpy makes of them."""

    def __init__(self, name, folder):
        self.name, self.folder, self.path = name, folder, folder / f"{name}.onnx"
        channels, size, layers = LAYERS[name]
        self.x = rng.integers(0, 256, (1, channels, size, size)).astype(np.uint8)
        nodes, constants, self.expected, self.stored = [], {"xz": np.uint8(77)}, [], 0
        for index, (columns, signed, zero) in enumerate(layers):
            kind = np.int8 if signed else np.uint8
            limits = np.iinfo(kind)
            # Small ones next to the extremes: sums must fit, and eight bits be needed.
            weights = np.clip(np.round(rng.normal(zero, 25, (columns, channels, 3, 3))), limits.min, limits.max).astype(kind)
            weights.flat[:2] = limits.min, limits.max
            constants[f"w{index}"], constants[f"wz{index}"] = weights, kind(zero)
            nodes.append(helper.make_node("ConvInteger", ["x", f"w{index}", "xz", f"wz{index}"], [f"y{index}"], f"conv{index}", pads=[1] * 4))
            self.expected.append(self.convolve(weights.astype(np.int64) - zero))
            bits = 8 if limits.min - zero >= -128 and limits.max - zero <= 127 else 16
            self.stored += weights.size * bits // 8
        graph = helper.make_graph(
            nodes, name, [helper.make_tensor_value_info("x", TensorProto.UINT8, self.x.shape)],
            [helper.make_tensor_value_info(f"y{i}", TensorProto.INT32, y.shape) for i, y in enumerate(self.expected)],
            [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(self.path))
        np.save(folder / f"{name}.npy", self.x)
        (folder / f"{name}.bin").write_bytes(self.x.tobytes())

    def convolve(self, weights):
        x = np.pad(self.x.astype(np.int64) - 77, ((0, 0), (0, 0), (1, 1), (1, 1)))
        size = self.x.shape[2]
        return sum(np.einsum("oc,nchw->nohw", weights[:, :, r, s], x[:, :, r:r + size, s:s + size], optimize=True)
                   for r in range(3) for s in range(3)).astype(np.int32)

    def compile(self, out, *options):
        return complaint(run(harness.ONNXQ, "compile", self.path, "-o", out, "--name", self.name, *options))

    def check(self, subject, *options):
        """What is wrong with the outputs of `onnxq run`."""
        out = self.folder / "out"
        outcome = run(harness.ONNXQ, "run", subject, "--input", self.folder / f"{self.name}.npy", "--output-dir", out, "--quiet", *options)
        problem = complaint(outcome)
        for index, expected in enumerate(self.expected):
            problem = problem or self.differ(np.load(out / f"y{index}.npy"), index)
        return problem

    def differ(self, found, index):
        expected = self.expected[index]
        if found.shape != expected.shape or not np.array_equal(found, expected):
            return f"y{index} differs in {np.count_nonzero(found != expected) if found.shape == expected.shape else found.shape} numbers"
        return None


def in_process(model, tally):
    cache = model.folder / "cache"
    ways = {"plain": [], "two threads": ["--threads", "2"], "checked": ["--check-bounds"], "kept": ["--cache", cache], "found again": ["--cache", cache]}
    for way, options in ways.items():
        tally.result(f"{model.name}, in process, {way}", model.check(model.path, *options))
    outcome = run(harness.ONNXQ, "bench", model.path, "--profile", "--seconds", "0.2", "--json")
    problem = complaint(outcome) or (None if "expand" not in str(outcome.stdout) else "what is done at load is measured")
    tally.result(f"{model.name}, a profile", problem)


def libraries(model, tally):
    sizes = {}
    ways = {"default": [], "two threads": ["--threads", "2"], "v2": ["--target", "x86-64-v2"], "v3": ["--target", "x86-64-v3"], "plain": ["--no-winograd"]}
    for way, options in ways.items():
        library, again = model.folder / f"{way}.so", model.folder / "again.so"
        problem = model.compile(library, *options) or model.compile(again, *options) or model.check(library)
        if not problem and library.read_bytes() != again.read_bytes():
            problem = "isn't the same when made again"
        tally.result(f"{model.name}, a library, {way}", problem)
        sizes[way] = library.stat().st_size if library.exists() else 0
    code = 300_000
    tally.result(f"{model.name}, the library's size", None if model.stored < sizes["v3"] < model.stored + code else f"{sizes['v3']} bytes with weights of {model.stored}")
    symbols = subprocess.run(["nm", "-u", model.folder / "v3.so"], capture_output=True, text=True).stdout
    called = {line.split()[-1].split("@")[0] for line in symbols.splitlines() if "@" in line and "__" not in line}
    allowed = LIBC | ({"madvise"} if model.name == "large" else set())
    tally.result(f"{model.name}, what the library calls", f"calls {called - allowed}" if called - allowed else None)


def memory(model, tally):
    """What is told of memory is what the code has."""
    outcome = run(harness.ONNXQ, "info", model.path, "--memory", "--json")
    problem = complaint(outcome)
    if not problem:
        told = json.loads(outcome.stdout)["memory"]["load_bytes"]
        listing = subprocess.run(["nm", "-S", model.folder / "default.so"], capture_output=True, text=True).stdout
        size = re.search(rf"([0-9a-f]+) b {model.name}(?:_v\d+)?_onnxq_expanded", listing)
        problem = None if (int(size[1], 16) if size else 0) == told else f"{told} bytes are told, the code has {size and size[1]}"
    tally.result(f"{model.name}, memory at load", problem)
    outcome = run(harness.ONNXQ, "info", model.path, "--memory")
    text = outcome.stdout.decode() if isinstance(outcome.stdout, bytes) else outcome.stdout
    said = problem or not told or f"{told} bytes" in text
    tally.result(f"{model.name}, memory at load as text", complaint(outcome) or (None if said else text[:200]))


def programs(models, folder, tally):
    """Both models in one C++ program whose constructors run them, from each kind of file."""
    texts = []
    for model in models:
        outputs = [f"{model.name}_y{i}" for i in range(len(model.expected))]
        arrays = "".join(f"static int32_t {y}[{model.name.upper()}_OUTPUT_{i}_ELEMENTS];\n" for i, y in enumerate(outputs))
        writes = "\n  ".join(f"fwrite({y}, 1, sizeof({y}), stdout);" for y in outputs)
        texts.append(MODEL % {"name": model.name, "upper": model.name.upper(), "arrays": arrays, "outputs": ", ".join(outputs), "writes": writes})
    texts.append("static bool all() { return " + " && ".join(f"run_{model.name}()" for model in models) + "; }")
    (folder / "main.cpp").write_text(PROGRAM % {"models": "\n".join(texts)})
    makers = {"o": None, "s": ["cc", "-c"], "ll": ["/usr/lib/llvm-22/bin/llc", "-filetype=obj", "-relocation-model=pic"]}
    for extension, maker in makers.items():
        problem = None
        for model in models:
            problem = problem or model.compile(folder / f"{model.name}.{extension}")
            if maker and not problem:
                problem = complaint(run(*maker, folder / f"{model.name}.{extension}", "-o", folder / f"{model.name}.o"))
        # The program's own file is first, so that its constructors would be, too.
        built = run("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "main.cpp", "small.o", "large.o", "-lm", "-o", "program", cwd=folder)
        problem = problem or complaint(built)
        if not problem:
            process = subprocess.run([folder / "program"], cwd=folder, capture_output=True)
            once = b"".join(y.tobytes() for model in models for y in model.expected)
            if process.returncode or process.stdout != once + once:
                early = "" if process.stdout[:len(once)] == once else " before main"
                problem = f"exit status {process.returncode}, other numbers{early}"
        tally.result(f"a program with both models, .{extension}", problem)


def threads(model, tally):
    folder = model.folder
    (folder / "threads.c").write_text(THREADS)
    built = run("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{harness.ROOT}/include", folder / "threads.c",
                harness.BUILD / "lib" / "libOnnxQuantRuntime.a", "-ldl", "-lpthread", "-o", folder / "threads")
    problem = complaint(built)
    for attempt in range(20):
        outcome = None if problem else run(folder / "threads", folder / "default.so")
        if outcome and outcome.status:
            problem = f"{outcome.ended()}: {outcome.stdout[:200]}"
    tally.result("a library opened by eight threads", problem)


def main():
    harness.require_tools()
    tally = harness.Tally()
    with tempfile.TemporaryDirectory(prefix="onnxq-expanded-") as temporary:
        models = []
        for name in LAYERS:
            folder = pathlib.Path(temporary) / name
            folder.mkdir()
            models.append(Model(name, folder))
        for model in models:
            in_process(model, tally)
            libraries(model, tally)
            memory(model, tally)
        threads(models[0], tally)
        together = pathlib.Path(temporary) / "together"
        together.mkdir()
        for model in models:
            (together / f"{model.name}.bin").write_bytes(model.x.tobytes())
        programs(models, together, tally)
    tally.finish()


if __name__ == "__main__":
    main()
