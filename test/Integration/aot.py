#!/usr/bin/python3
"""Models compiled ahead of time: every kind of output, plain C programs, every target, and what is refused.

What compiled code gives is compared with ONNX Runtime where that is there, and with what the
same model gives in process. Prints a line per failure, then the totals.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import harness
from support import ort

SECONDS = 300
TARGETS = {
    "native": None, "x86-64-v2": "x86-64", "x86-64-v3": "x86-64", "x86-64-v4": "x86-64", "aarch64": "aarch64",
    "aarch64+dotprod": "aarch64", "aarch64+i8mm": "aarch64", "riscv64": "RISC-V", "riscv64+v": "RISC-V",
}
# What a compiled model may call: libc without its allocator, and libm.
LIBC = {"memcpy", "memmove", "memset", "_setjmp", "longjmp"}
ALLOCATOR = {"malloc", "free", "calloc", "realloc", "aligned_alloc", "posix_memalign"}
CLS = harness.MODELS / "@gutenye" / "ocr-models" / "assets" / "ch_ppocr_mobile_v2.0_cls_infer.onnx"
rng = np.random.default_rng(3)

MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include "%(name)s.h"

static float x[%(upper)s_INPUT_0_ELEMENTS], y[%(upper)s_OUTPUT_0_ELEMENTS];
static _Alignas(ONNXQ_WORKSPACE_ALIGNMENT) char workspace[%(upper)s_WORKSPACE_BYTES + 1];

int main(void) {
  const char *error = "";
  if (fread(x, sizeof(float), %(upper)s_INPUT_0_ELEMENTS, stdin) != %(upper)s_INPUT_0_ELEMENTS)
    return 3;
  if (%(name)s_call(x, y, NULL, &error) != ONNXQ_RUN_FAILED || %(upper)s_WORKSPACE_BYTES == 0)
    return 4;
  if (%(name)s_call(x, y, workspace, &error) != ONNXQ_OK) {
    puts(error);
    return 5;
  }
  return fwrite(y, sizeof(float), %(upper)s_OUTPUT_0_ELEMENTS, stdout) != %(upper)s_OUTPUT_0_ELEMENTS;
}
"""


def uniform(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def save(path, nodes, inputs, outputs, initializers=(), opset=13):
    graph = helper.make_graph(
        nodes, "graph", [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(*o) for o in outputs], [numpy_helper.from_array(a, n) for n, a in dict(initializers).items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), str(path))
    return path


def conv_model(path, batch):
    """A small classifier: convolution, pooling, product, softmax."""
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", pads=[1] * 4, strides=[2, 2]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["g"], "pool"),
        helper.make_node("Flatten", ["g"], ["f"], "flat"),
        helper.make_node("MatMul", ["f", "m"], ["p"], "product"),
        helper.make_node("Softmax", ["p"], ["y"], "softmax"),
    ]
    return save(path, nodes, [("x", TensorProto.FLOAT, [batch, 3, 16, 16])], [("y", TensorProto.FLOAT, [batch, 10])],
                {"w": uniform(8, 3, 3, 3), "b": uniform(8), "m": uniform(8, 10)})


def quantized_model(path):
    """A convolution on 8 bits, from floats and back to them."""
    scales = {name: np.float32(value) for name, value in (("xs", 0.01), ("ws", 0.02), ("ys", 0.05))}
    weights = dict(xz=np.uint8(120), wz=np.int8(0), yz=np.uint8(3), w=rng.integers(-127, 128, (5, 3, 3, 3)).astype(np.int8),
                   b=rng.integers(-900, 900, 5).astype(np.int32))
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"], "quantize"),
        helper.make_node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["c"], "conv", pads=[1] * 4),
        helper.make_node("DequantizeLinear", ["c", "ys", "yz"], ["y"], "dequantize"),
    ]
    return save(path, nodes, [("x", TensorProto.FLOAT, ["n", 3, 16, 16])], [("y", TensorProto.FLOAT, ["n", 5, 16, 16])],
                {name: np.asarray(value) for name, value in {**scales, **weights}.items()})


def integer_model(path):
    nodes = [helper.make_node("ConvInteger", ["x", "w", "z"], ["y"], "conv")]
    return save(path, nodes, [("x", TensorProto.UINT8, ["n", 3, 9, 9])], [("y", TensorProto.INT32, ["n", 4, 7, 7])],
                {"w": rng.integers(-128, 128, (4, 3, 3, 3)).astype(np.int8), "z": np.uint8(128)}, opset=10)


def run(*command, **options):
    return harness.run(command, timeout=SECONDS, **options)


def compile(model, out, *options):
    """Compiles and gives what went wrong."""
    outcome = run(harness.ONNXQ, "compile", model, "-o", out, *options)
    return f"{outcome.ended()}: {outcome.stderr.strip()[:200]}" if outcome.status else None


def outputs_of(model, x, folder, *options):
    """The outputs of `onnxq run`, or a text that says why there are none."""
    np.save(folder / "x.npy", x)
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    outcome = run(harness.ONNXQ, "run", model, "--input", folder / "x.npy", "--output-dir", out, "--quiet", *options)
    if outcome.status:
        return f"{outcome.ended()}: {outcome.stderr.strip()[:200]}"
    return [np.load(path) for path in sorted(out.iterdir())]


def differ(found, expected, exact=True):
    if isinstance(found, str):
        return found
    for a, b in zip(found, expected):
        if a.shape != b.shape or (not np.array_equal(a, b) if exact else not np.allclose(a, b, 1e-4, 1e-6)):
            return f"differs by {np.abs(a - b).max() if a.shape == b.shape else (a.shape, b.shape)}"
    return None


def undefined(path):
    listing = subprocess.run(["nm", "-u", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listing.splitlines()}


def libm():
    path = subprocess.run(["cc", "-print-file-name=libm.so.6"], capture_output=True, text=True, check=True).stdout.strip()
    listing = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listing.splitlines()}


def kinds(folder, tally):
    """Each kind of output is what it should be, and is the same to the byte when made again."""
    model = conv_model(folder / "kinds.onnx", "n")
    starts = {"so": b"\x7fELF", "o": b"\x7fELF", "s": b"\t", "ll": b"; ModuleID", "h": b"/* kinds:"}
    for tool in ("onnxq", "onnxq-opt"):
        for extension in ("so", "o", "s", "ll"):
            first, second = folder / f"kinds.{extension}", folder / "again" / f"kinds.{extension}"
            second.parent.mkdir(exist_ok=True)
            command = [harness.ONNXQ, "compile", model] if tool == "onnxq" else [harness.OPT, model, "--onnx-to-llvm=name=kinds"]
            for path in (first, second):
                outcome = run(*command, "-o", path)
                if outcome.status:
                    break
            problem = f"{outcome.ended()}: {outcome.stderr[:200]}" if outcome.status else None
            for suffix in (extension, "h") if extension == "o" else (extension,):
                if problem:
                    continue
                data = first.with_suffix("." + suffix).read_bytes()
                if not data.startswith(starts[suffix]):
                    problem = f"the .{suffix} begins with {data[:12]}"
                elif data != second.with_suffix("." + suffix).read_bytes():
                    problem = f"the .{suffix} isn't the same when made again"
            tally.result(f"{tool}: .{extension}", problem)
    left = [name for name in os.listdir(folder) if name.endswith(".tmp")]
    tally.result("no temporary file is left", f"left: {left}" if left else None)
    # Assembly and LLVM IR are what other tools can go on with.
    for source, tool in (("kinds.s", ["cc", "-c"]), ("kinds.ll", ["/usr/lib/llvm-22/bin/llc", "-filetype=obj", "-relocation-model=pic"])):
        outcome = run(*tool, folder / source, "-o", folder / "from.o")
        symbols = subprocess.run(["nm", folder / "from.o"], capture_output=True, text=True).stdout if not outcome.status else ""
        tally.result(f"{source} becomes an object", None if " T kinds_run" in symbols else outcome.stderr[:200] or "no kinds_run")


def c_program(model, name, x, folder, tally, *options):
    """`cc main.c model.o -lm` runs, calls libc and libm only, and allocates nothing."""
    object = folder / f"{name}.o"
    problem = compile(model, object, *options)
    if problem:
        tally.result(f"{name}: object", problem)
        return
    symbols = undefined(object)
    tally.result(f"{name}: allocates nothing", f"calls {symbols & ALLOCATOR}" if symbols & ALLOCATOR else None)
    foreign = symbols - LIBC - libm()
    tally.result(f"{name}: needs libc and libm only", f"calls {foreign}" if foreign else None)
    (folder / "main.c").write_text(MAIN % {"name": name, "upper": name.upper()})
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "main.c", object.name, "-lm", "-o", "program"]
    built = run(*command, cwd=folder)
    if built.status:
        tally.result(f"{name}: C program", built.stderr[:300])
        return
    process = subprocess.run([folder / "program"], input=x.tobytes(), capture_output=True)
    shapes = [option for option in options if "=" in option]
    expected = outputs_of(model, x, folder, *(["--input-shape", shapes[0]] if shapes else []))
    found = f"exit status {process.returncode}: {process.stdout[:100]}"
    if process.returncode == 0 and not isinstance(expected, str):
        found = [np.frombuffer(process.stdout, np.float32).reshape(expected[0].shape)]
    tally.result(f"{name}: C program gives what onnxq run gives", differ(found, expected))


def c_programs(folder, tally):
    c_program(conv_model(folder / "small.onnx", 1), "small", uniform(1, 3, 16, 16), folder, tally)
    if CLS.exists():
        c_program(CLS, "cls", uniform(1, 3, 48, 192), folder, tally, "--name", "cls", "--input-shape", "x=1x3x48x192")
    else:
        print("skipped: PP-OCR isn't there; scripts/setup.sh --models fetches it")
        tally.skipped += 1
    header = subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-x", "c++", "-fsyntax-only", "-"],
                            input='#include "small.h"\nint main() { return small_model.num_inputs != 1; }\n',
                            cwd=folder, capture_output=True, text=True)
    tally.result("the header is C++ too", header.stderr[:200] or None)


def targets(folder, tally):
    model = conv_model(folder / "targets.onnx", 1)
    for name, architecture in TARGETS.items():
        path = folder / "target.o"
        problem = compile(model, path, "--target", name)
        if not problem and architecture:
            said = subprocess.run(["file", "-b", path], capture_output=True, text=True).stdout
            problem = None if architecture in said else f"file says {said}"
        tally.result(f"{name}: object", problem)
    # The same code from any machine: nothing of this one's processor goes in.
    text = subprocess.run([harness.ONNXQ, "compile", model, "-o", folder / "v2.ll", "--target", "x86-64-v2"], capture_output=True)
    cpus = set(re.findall(r'"target-cpu"="([^"]*)"', (folder / "v2.ll").read_text())) if text.returncode == 0 else text.stderr
    tally.result("x86-64-v2: processor", None if cpus == {"x86-64-v2"} else f"is {cpus}")
    flags = set(re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)[1].split())
    levels = [("x86-64-v2", {"sse4_2"}), ("x86-64-v3", {"avx2", "fma", "bmi2"}),
              ("x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})]
    runnable = [level for level, needed in levels if needed <= flags]
    for level, needed in levels:
        if level not in runnable:
            print(f"skipped: {level}: this processor hasn't {', '.join(sorted(needed - flags))}")
            tally.skipped += 1
    floats = uniform(4, 3, 16, 16)
    models = {
        "float": (conv_model(folder / "float.onnx", "n"), floats),
        "quantized": (quantized_model(folder / "quantized.onnx"), floats),
        "integer": (integer_model(folder / "integer.onnx"), rng.integers(0, 256, (2, 3, 9, 9)).astype(np.uint8)),
    }
    for name, (model, x) in models.items():
        results = {}
        for level in runnable:
            library = folder / f"{name}-{level}.so"
            results[level] = compile(model, library, "--target", level) or outputs_of(library, x, folder)
            tally.result(f"{name}, {level}: runs", results[level] if isinstance(results[level], str) else None)
        # Before v3 there is no multiplication and addition in one rounding.
        first = "x86-64-v3" if name == "float" and len(runnable) > 1 else "x86-64-v2"
        for level in runnable:
            if level != first:
                tally.result(f"{name}, {level}: what {first} gives",
                             differ(results[level], results[first], exact=name != "float" or level != "x86-64-v2"))


def against_runtime(folder, tally):
    if not ort.available() or not CLS.exists():
        print("skipped: ONNX Runtime or PP-OCR isn't there; scripts/setup.sh --models fetches them")
        tally.skipped += 1
        return
    x = uniform(2, 3, 48, 192)
    runtime = folder / "runtime"
    runtime.mkdir()
    (runtime / "data.bin").write_bytes(x.tobytes())
    job = {"model": str(CLS), "inputs": [{"name": "x", "type": "float32", "dims": list(x.shape), "offset": 0, "bytes": x.nbytes}]}
    (runtime / "jobs.jsonl").write_text(json.dumps(job) + "\n")
    script = pathlib.Path(__file__).parent / "support" / "ort_run.js"
    process = subprocess.run(["node", script, runtime / "jobs.jsonl", runtime / "data.bin", runtime / "out.bin"],
                             capture_output=True, text=True, env=dict(os.environ, ONNXQUANT_CACHE=str(harness.CACHE)))
    record = json.loads(process.stdout.splitlines()[0])
    stored = record["outputs"][0]
    expected = [np.frombuffer((runtime / "out.bin").read_bytes(), np.float32)[:stored["bytes"] // 4].reshape(stored["dims"])]
    library = folder / "cls.so"
    problem = compile(CLS, library)
    for name, model in (("library of open sizes", library), ("in process", CLS)):
        found = problem or outputs_of(model, x, folder)
        tally.result(f"PP-OCR cls, {name}: what ONNX Runtime gives", differ(found, expected, exact=False))


def run_time_errors(folder, tally):
    """Bad values end the run of a compiled library with an error that names the node."""
    integers = TensorProto.INT64
    save(folder / "gather.onnx", [helper.make_node("Gather", ["x", "i"], ["y"], "pick")],
         [("x", TensorProto.FLOAT, [3, 2]), ("i", integers, ["n"])], [("y", TensorProto.FLOAT, ["n", 2])])
    save(folder / "div.onnx", [helper.make_node("Div", ["a", "b"], ["y"], "divide")],
         [("a", integers, ["n"]), ("b", integers, ["n"])], [("y", integers, ["n"])])
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Add", ["v", "v"], ["w"])], "body",
        [helper.make_tensor_value_info("i", integers, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
         helper.make_tensor_value_info("v", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("d", TensorProto.BOOL, []), helper.make_tensor_value_info("w", TensorProto.FLOAT, [2])])
    save(folder / "loop.onnx", [helper.make_node("Loop", ["", "c", "v"], ["y"], "spin", body=body)],
         [("c", TensorProto.BOOL, []), ("v", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])])
    save(folder / "expand.onnx", [helper.make_node("ConstantOfShape", ["s"], ["y"], "fill")],
         [("s", integers, [2])], [("y", TensorProto.FLOAT, ["n", "m"])])
    cases = {
        "an index out of range": ("gather", dict(x=uniform(3, 2), i=np.array([0, 3])), "node 'pick'"),
        "a negative index out of range": ("gather", dict(x=uniform(3, 2), i=np.array([-4])), "node 'pick'"),
        "division by zero": ("div", dict(a=np.array([1, 2]), b=np.array([1, 0])), "node 'divide'"),
        "sizes that differ": ("div", dict(a=np.array([1, 2]), b=np.array([1, 2, 3])), "node 'divide'"),
        "a loop without end": ("loop", dict(c=np.array(True), v=uniform(2)), "node 'spin': runs for more than 1000 iterations"),
        "more memory than there is": ("expand", dict(s=np.array([1 << 40, 1 << 40])), "memory"),
        "a negative size": ("expand", dict(s=np.array([-3, 2])), "node 'fill'"),
    }
    for name, (model, feeds, words) in cases.items():
        source, library = folder / f"{model}.onnx", folder / f"{model}.so"
        limit = ["--max-iterations", "1000"]
        problem = None if library.exists() else compile(source, library, *limit)
        arguments = []
        for key, array in feeds.items():
            np.save(folder / f"{key}.npy", array)
            arguments += ["--input", f"{key}={folder / f'{key}.npy'}"]
        for form, path, options in (("library", library, []), ("in process", source, limit),
                                    ("open sizes", source, [*limit, "--no-specialize"])):
            if not problem:
                outcome = run(harness.ONNXQ, "run", path, *arguments, *options)
                lines = outcome.stderr.strip().splitlines()
                if outcome.status != 1 or len(lines) != 1 or words not in lines[0]:
                    problem = f"{outcome.ended()}: {outcome.stderr.strip()[:200]}"
            tally.result(f"{name}, {form}", problem)


THREADS = r"""
#include "onnxquant-c/runtime.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 8, rounds = 60, elements = 3 * 16 * 16 };
static const onnxq_model *model;
static float inputs[count][2 * elements], expected[count][20];

static int run(int index, int batch, float *result) {
  onnxq_error error;
  onnxq_tensor x = {0}, y = {0};
  x.type = ONNXQ_FLOAT, x.rank = 4;
  x.dims[0] = batch, x.dims[1] = 3, x.dims[2] = 16, x.dims[3] = 16;
  x.data = inputs[index], x.bytes = sizeof(float) * elements * (size_t)batch;
  int32_t code = onnxq_run(model, NULL, &x, 1, &y, 1, &error);
  if (code != ONNXQ_OK)
    return puts(error.message), 0;
  memcpy(result, y.data, y.bytes);
  onnxq_release(&y);
  /* Errors don't disturb the others. */
  x.dims[1] = 4;
  return onnxq_run(model, NULL, &x, 1, &y, 1, &error) == ONNXQ_BAD_INPUT;
}

static void *work(void *argument) {
  int index = (int)(size_t)argument;
  float result[20];
  for (int i = 0; i < rounds; ++i) {
    int batch = 1 + (index + i) % 2;
    if (!run(index, batch, result) || memcmp(result, expected[index], sizeof(float) * 10 * (size_t)batch))
      return (void *)1;
  }
  return NULL;
}

int main(int argc, char **argv) {
  onnxq_library *library;
  onnxq_error error;
  pthread_t threads[count];
  if (argc != 2 || onnxq_open(argv[1], &library, &error) != ONNXQ_OK)
    return puts(error.message), 2;
  model = onnxq_get(library);
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < 2 * elements; ++k)
      inputs[i][k] = (float)((i * 7919 + k * 104729) % 2003) / 1000 - 1;
    if (!run(i, 2, expected[i]))
      return 3;
  }
  for (int i = 0; i < count; ++i)
    pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    void *result;
    pthread_join(threads[i], &result);
    wrong += result != NULL;
  }
  onnxq_close(library);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
"""


def concurrency(folder, tally):
    """One library in eight threads at once, through the C runtime."""
    library = folder / "threads.so"
    problem = compile(conv_model(folder / "threads.onnx", "n"), library)
    (folder / "threads.c").write_text(THREADS)
    if not problem:
        built = run("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{harness.ROOT}/include", folder / "threads.c",
                    harness.BUILD / "lib" / "libOnnxQuantRuntime.a", "-ldl", "-lpthread", "-o", folder / "threads")
        outcome = built if built.status else run(folder / "threads", library)
        problem = f"{outcome.ended()}: {outcome.stdout[:200]} {outcome.stderr[:200]}" if outcome.status else None
    tally.result("a library in eight threads", problem)


OVERLAP = r"""
#include <stdio.h>
#include <string.h>
#include "overlap.h"

enum { count = OVERLAP_INPUT_0_ELEMENTS };
static float room[4 * count], first[count], second[count];
static _Alignas(ONNXQ_WORKSPACE_ALIGNMENT) char workspace[OVERLAP_WORKSPACE_BYTES + 1];

/* Runs with the input and the outputs at these elements of the room. */
static int run(int x, int y, int z) {
  const char *error = "";
  for (int i = 0; i < count; ++i)
    room[x + i] = (float)(i * 7919 % 2003) / 1000 - 1;
  return overlap_call(room + x, room + y, room + z, workspace, &error) == ONNXQ_OK;
}

int main(void) {
  if (!run(0, count, 2 * count))
    return 2;
  memcpy(first, room + count, sizeof(first));
  memcpy(second, room + 2 * count, sizeof(second));
  static const int places[][3] = {{0, 0, count}, {0, count, 0}, {5, 0, 2 * count}, {0, 7, 2 * count},
                                  {0, count + 3, 2 * count + 5}, {count, 2 * count, 1}, {count, 2 * count - 1, 3 * count}};
  for (int i = 0; i < (int)(sizeof(places) / sizeof(*places)); ++i)
    if (!run(places[i][0], places[i][1], places[i][2]) || memcmp(room + places[i][1], first, sizeof(first)) ||
        memcmp(room + places[i][2], second, sizeof(second)))
      return printf("case %d\n", i), 1;
  return 0;
}
"""


def overlaps(folder, tally):
    """Outputs where the input lies, wholly or in part: large ones are computed in the caller's memory otherwise."""
    shape = [64, 128]
    model = save(folder / "overlap.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Neg", ["x"], ["n"]),
                                           helper.make_node("Mul", ["n", "y"], ["z"])],
                 [("x", TensorProto.FLOAT, shape)], [("y", TensorProto.FLOAT, shape), ("z", TensorProto.FLOAT, shape)],
                 {"w": uniform(128, 128)})
    problem = compile(model, folder / "overlap.o")
    (folder / "main.c").write_text(OVERLAP)
    if not problem:
        built = run("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{harness.ROOT}/include", f"-I{folder}",
                    folder / "main.c", folder / "overlap.o", "-lm", "-o", folder / "overlap")
        outcome = built if built.status else run(folder / "overlap")
        problem = f"{outcome.ended()}: {outcome.stdout[:200]} {outcome.stderr[:200]}" if outcome.status else None
    tally.result("outputs that overlap with the input", problem)


def long_loop(folder, tally):
    """A loop's memory doesn't grow with its iterations, though every tensor in it is of open size."""
    integers, floats = TensorProto.INT64, TensorProto.FLOAT
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Mul", ["v", "half"], ["h"]),
         helper.make_node("Concat", ["h", "h"], ["twice"], axis=0), helper.make_node("Slice", ["twice", "from", "to"], ["w"]),
         helper.make_node("ReduceSum", ["w"], ["s"], keepdims=1)], "body",
        [helper.make_tensor_value_info("i", integers, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
         helper.make_tensor_value_info("v", floats, ["n"])],
        [helper.make_tensor_value_info("d", TensorProto.BOOL, []), helper.make_tensor_value_info("w", floats, None),
         helper.make_tensor_value_info("s", floats, None)])
    model = save(folder / "long.onnx", [helper.make_node("Loop", ["m", "", "v"], ["y", "sums"], "long", body=body)],
                 [("m", integers, []), ("v", floats, ["n"]), ("to", integers, [1])], [("y", floats, ["k"]), ("sums", floats, None)],
                 {"half": np.float32(0.5), "from": np.array([0])})
    np.save(folder / "m.npy", np.array(20000))
    np.save(folder / "v.npy", np.full(4096, 8, np.float32))
    np.save(folder / "to.npy", np.array([4096]))
    arguments = [x for name in ("m", "v", "to") for x in ("--input", f"{name}={folder / name}.npy")]
    outcome = run(harness.ONNXQ, "run", model, *arguments, "--no-specialize", "--output-dir", folder / "out", "--quiet")
    problem = f"{outcome.ended()}: {outcome.stderr[:200]}" if outcome.status else None
    if not problem:
        sums = np.load(folder / "out" / "sums.npy")
        if sums.size != 20000 or not np.allclose(sums.ravel()[:3], [16384, 8192, 4096]) or np.load(folder / "out" / "y.npy").shape != (4096,):
            problem = f"gives {sums.shape} {sums.ravel()[:3]}"
        elif outcome.megabytes > 400:
            problem = f"takes {outcome.megabytes:.0f} MB for iterations of 48 KB"
    tally.result("a loop of 20,000 iterations", problem)


def refusals(folder, tally):
    """Wrong usage ends with 2, bad input with 1, each with one line; nothing is written."""
    model, library = conv_model(folder / "bad.onnx", "n"), folder / "bad.so"
    tally.result("library for refusals", compile(model, library))
    x = uniform(1, 3, 16, 16)
    np.save(folder / "good.npy", x)
    np.save(folder / "shape.npy", x[:, :2])
    np.save(folder / "rank.npy", x[0])
    np.save(folder / "complex.npy", x.astype(np.complex64))
    np.savez(folder / "two.npz", a=x, b=x)
    np.savez_compressed(folder / "packed.npz", x=x)
    whole = (folder / "packed.npz").read_bytes()
    (folder / "cut.npz").write_bytes(whole[:-30])
    (folder / "short.npz").write_bytes(whole[:600])
    (folder / "flipped.npz").write_bytes(whole[:600] + bytes([whole[600] ^ 255]) + whole[601:])
    (folder / "cut.npy").write_bytes((folder / "good.npy").read_bytes()[:500])
    (folder / "header.npy").write_bytes((folder / "good.npy").read_bytes()[:40])
    (folder / "cut.pb").write_bytes(numpy_helper.from_array(x).SerializeToString()[:500])
    (folder / "cut.onnx").write_bytes(model.read_bytes()[:300])
    (folder / "empty.so").write_bytes(b"")
    shutil.copy("/usr/bin/true", folder / "true.so")
    tally.result("library of another machine", compile(model, folder / "foreign.so", "--target", "aarch64"))
    sealed = "/proc" if os.geteuid() == 0 else folder / "sealed"
    if sealed != "/proc":
        sealed.mkdir(mode=0o500)
    good = ["--input", f"x={folder}/good.npy"]
    files = {
        "missing.npy": "missing.npy", "shape.npy": "'x'", "rank.npy": "'x'", "complex.npy": "complex.npy",
        "cut.npy": "cut.npy", "header.npy": "header.npy", "cut.npz": "cut.npz", "short.npz": "short.npz",
        "flipped.npz": "flipped.npz", "two.npz": "two.npz", "cut.pb": "cut.pb", "x.txt": "x.txt",
    }
    cases = []
    for form, path in (("model", model), ("library", library)):
        for file, words in files.items():
            cases.append((f"run {form}: {file}", 1, ["run", path, "--input", f"x={folder}/{file}"], words))
        cases += [
            (f"run {form}: unknown input", 1, ["run", path, "--input", f"z={folder}/good.npy"], "'z'"),
            (f"run {form}: input twice", 1, ["run", path, *good, *good], "'x'"),
            (f"run {form}: too many", 1, ["run", path, "--input", folder / "good.npy", "--input", folder / "good.npy"], "inputs"),
            (f"run {form}: input missing", 1, ["run", path], "'x'"),
            (f"run {form}: seed", 2, ["run", path, "--random-seed", "x"], "--random-seed"),
            (f"run {form}: sealed folder", 1, ["run", path, *good, "--output-dir", f"{sealed}/out"], "out"),
            (f"run {form}: folder is a file", 1, ["run", path, *good, "--output-dir", folder / "good.npy"], "good.npy"),
            (f"bench {form}: threads", 2, ["bench", path, "--threads", "0"], "--threads"),
            (f"bench {form}: seconds", 2, ["bench", path, "--seconds", "-1"], "--seconds"),
            (f"bench {form}: foreign target", 2, ["bench", path, "--target", "aarch64"], "aarch64"),
        ]
    for verb in ("run", "bench"):
        for name in ("missing.so", "empty.so", "true.so", "foreign.so", "cut.onnx", "missing.onnx"):
            cases.append((f"{verb}: {name}", 1, [verb, folder / name], name))
        cases.append((f"{verb}: sizes of a library", 2, [verb, library, "--dim", "n=2"], "--dim"))
        cases.append((f"{verb}: unknown dimension", 1, [verb, model, "--dim", "q=2"], "'q'"))
        cases.append((f"{verb}: no model", 2, [verb], "MODEL"))
    out = folder / "refused.o"
    cases += [
        ("run: iterations", 2, ["run", model, "--max-iterations", "-1"], "--max-iterations"),
        ("compile: no output", 2, ["compile", model], "-o"),
        ("compile: extension", 2, ["compile", model, "-o", folder / "x.obj"], "x.obj"),
        ("compile: target", 2, ["compile", model, "-o", out, "--target", "vax"], "vax"),
        ("compile: cpu", 2, ["compile", model, "-o", out, "--cpu", "vax"], "vax"),
        ("compile: features", 2, ["compile", model, "-o", out, "--features", "+vax"], "vax"),
        ("compile: features without sign", 2, ["compile", model, "-o", out, "--features", "avx2"], "avx2"),
        ("compile: threads", 2, ["compile", model, "-o", out, "--threads", "257"], "--threads"),
        ("compile: name", 2, ["compile", model, "-o", out, "--name", "1st"], "1st"),
        ("compile: input shape", 1, ["compile", model, "-o", out, "--input-shape", "x=1x4x16x16"], "'x'"),
        ("compile: unknown input", 1, ["compile", model, "-o", out, "--input-shape", "z=1"], "'z'"),
        ("compile: no such model", 1, ["compile", folder / "missing.onnx", "-o", out], "missing.onnx"),
        ("compile: cut model", 1, ["compile", folder / "cut.onnx", "-o", out], "cut.onnx"),
        ("compile: sealed folder", 1, ["compile", model, "-o", f"{sealed}/x.o"], "x.o"),
        ("compile: sealed folder, library", 1, ["compile", model, "-o", f"{sealed}/x.so"], "x.so"),
        ("compile: no such folder", 1, ["compile", model, "-o", folder / "nowhere" / "x.ll"], "x.ll"),
    ]
    before = set(os.listdir(folder))
    for name, status, arguments, words in cases:
        outcome = run(harness.ONNXQ, *arguments)
        lines = outcome.stderr.strip().splitlines()
        problem = None
        if outcome.status != status:
            problem = f"expects exit status {status}, but got {outcome.ended()}: {outcome.stderr.strip()[:200]}"
        elif len(lines) != 1 or not lines[0].startswith("error: ") or words not in lines[0]:
            problem = f"expects one error with {words}, but got {outcome.stderr.strip()[:300]}"
        tally.result(name, problem)
    left = set(os.listdir(folder)) - before
    tally.result("nothing is written by what is refused", f"left: {left}" if left else None)


def formats(folder, tally):
    """Inputs from every kind of file, and in Fortran order, give the same."""
    model, x = conv_model(folder / "formats.onnx", "n"), uniform(2, 3, 16, 16)
    expected = outputs_of(model, x, folder)
    tally.result("open sizes give the same", differ(outputs_of(model, x, folder, "--no-specialize"), expected, exact=False))
    np.save(folder / "f.npy", np.asfortranarray(x))
    np.save(folder / "w.npy", x.astype(np.float64))
    np.savez(folder / "s.npz", x=x, other=x[:1])
    np.savez_compressed(folder / "d.npz", x=x)
    (folder / "p.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
    for argument in ("x={}/f.npy", "x={}/w.npy", "x={}/s.npz", "{}/d.npz", "x={}/p.pb", "{}/p.pb", "{}/x.npy"):
        shutil.rmtree(folder / "out", ignore_errors=True)
        outcome = run(harness.ONNXQ, "run", model, "--input", argument.format(folder), "--output-dir", folder / "out", "--json")
        problem = f"{outcome.ended()}: {outcome.stderr.strip()[:200]}"
        if outcome.status == 0:
            told = json.loads(outcome.stdout)["outputs"][0]
            found = [np.load(told["file"])]
            problem = differ(found, expected) or (None if told["shape"] == [2, 10] and told["type"] == "float32" else str(told))
        tally.result(f"input {argument}", problem)
    runs = [run(harness.ONNXQ, "run", model, "--random-seed", seed, "--quiet", "--output-dir", folder / f"seed{n}")
            for n, seed in enumerate("112")]
    made = [(folder / f"seed{n}" / "y.npy").read_bytes() for n in range(3) if runs[n].status == 0]
    tally.result("a seed makes the same inputs", None if len(made) == 3 and made[0] == made[1] != made[2] else "differ")


def bench(folder, tally):
    model, library = conv_model(folder / "bench.onnx", "n"), folder / "bench.so"
    keys = {"median_ms", "min_ms", "p90_ms", "runs", "compile_s", "load_ms", "peak_rss_mib", "lib_bytes"}
    problem = compile(model, library)
    for name, path in (("model", model), ("library", library)):
        if not problem:
            outcome = run(harness.ONNXQ, "bench", path, "--seconds", "0.2", "--json", "--threads", "1")
            told = json.loads(outcome.stdout) if outcome.status == 0 else {}
            ordered = told and 0 < told["min_ms"] <= told["median_ms"] <= told["p90_ms"]
            if set(told) != keys or not ordered or told["runs"] < 3 or not 0 < told["peak_rss_mib"] < 64:
                problem = f"{outcome.ended()}: {told} {outcome.stderr[:200]}"
            elif (told["compile_s"] > 0) != (name == "model") or (name == "library" and told["lib_bytes"] != library.stat().st_size):
                problem = f"compile_s or lib_bytes: {told}"
        tally.result(f"bench of a {name}", problem)


def main():
    harness.require_tools()
    tally = harness.Tally()
    for suite in (kinds, c_programs, targets, against_runtime, run_time_errors, concurrency, overlaps,
                  long_loop, formats, bench, refusals):
        with tempfile.TemporaryDirectory(prefix="onnxq-aot-") as temporary:
            suite(pathlib.Path(temporary), tally)
    tally.finish()


if __name__ == "__main__":
    main()
