#!/usr/bin/env -S /usr/bin/python3
"""Code that is made in parts and runs in threads: the same bytes and the same bits whoever works on it.

Functions of floats against double precision on a net of all floats, threads against one thread, objects made on one core
against those made on all, the cache of compiled models, profiles and memory plans.
"""

import json
import math
import pathlib
import shutil
import struct
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import harness
from support import nn_reference
from support.harness import ONNXQ, Tally, require_tools

F32 = TensorProto.FLOAT
tally = Tally()
rng = np.random.default_rng(6)


def save(path, nodes, inputs, outputs, constants=(), opset=18):
    def infos(pairs):
        return [helper.make_tensor_value_info(name, F32, shape) for name, shape in pairs]
    graph = helper.make_graph(nodes, "graph", infos(inputs), infos(outputs),
                              [numpy_helper.from_array(array, name) for name, array in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, str(path))
    return path


def run(*command, timeout=300, **options):
    return harness.run([ONNXQ, *command], timeout=timeout, **options)


def complaint(outcome):
    return None if outcome.status == 0 else f"{outcome.ended()}: {outcome.stderr.strip()[:300]}"


# Functions ------------------------------------------------------------------

def ulps(got, want):
    """Distances in units of the last place; infinite where one is no number, or infinite, and the other isn't."""
    rounded = want.astype(np.float32)
    with np.errstate(all="ignore"):
        unit = np.spacing(np.maximum(np.abs(rounded), np.float32(2.0**-126)).astype(np.float32)).astype(np.float64)
        distance = np.abs(got.astype(np.float64) - want) / unit
    same = (got == rounded) | (np.isnan(got) & np.isnan(want))
    # The largest float is next to infinity.
    edge = np.isinf(rounded) & (np.abs(got) == np.finfo(np.float32).max) & (np.abs(want) < 2.0**128)
    return np.where(same, np.where(np.isfinite(rounded), distance, 0), np.where(edge, 1, np.where(np.isfinite(distance), distance, np.inf)))


def all_floats(step):
    """Every so many of all floats, and those at the ends of ranges."""
    bits = np.arange(0, 2**32, step, dtype=np.uint64).astype(np.uint32)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2**-149, -2**-149, 2**-126, 88.72284, -103.98, -87.34, 0.625, 1e-20], np.float32)
    return np.concatenate([bits.view(np.float32), special])


def sigmoid(x):
    with np.errstate(all="ignore"):
        return np.where(x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-x)))


FUNCTIONS = {
    "Exp": (np.exp, 1), "Log": (np.log, 1), "Tanh": (np.tanh, 2), "Sigmoid": (sigmoid, 2), "Erf": (np.vectorize(math.erf), 2),
}


def check_functions(folder):
    for name, (reference, limit) in FUNCTIONS.items():
        x = all_floats(40009 if name == "Erf" else 2003)
        path = save(folder / "function.onnx", [helper.make_node(name, ["x"], ["y"])], [("x", [len(x)])], [("y", [len(x)])])
        np.save(folder / "x.npy", x)
        outcome = run("run", path, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder, "--quiet")
        problem = complaint(outcome)
        if not problem:
            with np.errstate(all="ignore"):
                distances = ulps(np.load(folder / "y.npy"), reference(x.astype(np.float64)))
            worst = int(np.argmax(distances))
            if not distances[worst] <= limit:
                problem = f"{distances[worst]:.2f} ulp at {x[worst]!r}"
        tally.result(f"{name} on all floats", problem)


def check_powers(folder):
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 2**-149, 3.4e38, 8388609, 1.5, -1.5], np.float32)
    pairs = np.stack(np.meshgrid(special, special), -1).reshape(-1, 2)
    x = np.exp(rng.uniform(-60, 60, 200000)).astype(np.float32)
    y = (rng.uniform(-100, 100, x.size) / np.maximum(np.abs(np.log2(x)), 0.5)).astype(np.float32)
    x, y = np.concatenate([pairs[:, 0], x]), np.concatenate([pairs[:, 1], y])
    shape = [len(x)]
    path = save(folder / "pow.onnx", [helper.make_node("Pow", ["x", "e"], ["y"])], [("x", shape), ("e", shape)], [("y", shape)])
    np.save(folder / "x.npy", x)
    np.save(folder / "e.npy", y)
    outcome = run("run", path, "--input", f"x={folder / 'x.npy'}", "--input", f"e={folder / 'e.npy'}", "--output-dir", folder, "--quiet")
    problem = complaint(outcome)
    if not problem:
        with np.errstate(all="ignore"):
            distances = ulps(np.load(folder / "y.npy"), np.power(x.astype(np.float64), y.astype(np.float64)))
        worst = int(np.argmax(distances))
        if not distances[worst] <= 1:
            problem = f"{distances[worst]:.2f} ulp at {x[worst]!r}, {y[worst]!r}"
    tally.result("Pow of floats", problem)


def bundle(path, arrays):
    """Tensors as the runner reads them."""
    with open(path, "wb") as file:
        for array in arrays:
            file.write(struct.pack("<ii", F32, array.ndim) + struct.pack(f"<{array.ndim}q", *array.shape) + struct.pack("<q", array.nbytes))
            file.write(array.tobytes())


def make_runner(folder, system):
    """The command that runs libraries of a system, or None: it is told why."""
    if not system:
        return [str(harness.BUILD / "bin" / "onnxq-runner")]
    compiler, emulator = f"{system}-linux-gnu-gcc", f"qemu-{system}"
    if not shutil.which(compiler) or not shutil.which(emulator):
        print(f"  skipped: {system}: {compiler} or {emulator} isn't there")
        tally.skipped += 1
        return None
    built = subprocess.run([compiler, "-std=gnu11", f"-I{harness.ROOT}/include", f"{harness.ROOT}/tools/onnxq-runner/onnxq-runner.c",
                            f"{harness.ROOT}/lib/Runtime/Runtime.c", f"{harness.ROOT}/lib/Runtime/Processor.c", "-ldl", "-o", folder / f"runner-{system}"], capture_output=True, text=True)
    if built.returncode:
        tally.result(f"a runner for {system}", built.stderr[:300])
        return None
    cpu = ["-cpu", "rv64,v=true,vlen=128"] if system == "riscv64" else []
    return [emulator, *cpu, "-L", f"/usr/{system}-linux-gnu", str(folder / f"runner-{system}")]


def make_kernels(folder):
    """A model of kernels that sum in several ways: transformed, in blocks, in rows that fill no tile."""
    def weights(*shape):
        return (rng.normal(0, 1, shape) / np.sqrt(shape[-1])).astype(np.float32)
    nodes = [helper.make_node("Conv", ["x", "w0", "b"], ["a"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["a"], ["c"]),
             helper.make_node("Conv", ["c", "w1"], ["d"], strides=[2, 2], pads=[1, 1, 1, 1]),
             helper.make_node("Conv", ["d", "w2"], ["e"], group=40, pads=[1, 1, 1, 1]),
             helper.make_node("MatMul", ["e", "w3"], ["y"])]
    return save(folder / "kernels.onnx", nodes, [("x", [2, 32, 13, 14])], [("y", [2, 40, 7, 70])],
                [("w0", weights(40, 32, 3, 3)), ("b", weights(40)), ("w1", weights(40, 40, 3, 3)), ("w2", weights(40, 1, 3, 3)),
                 ("w3", weights(7, 70))])


def check_machines(folder):
    """Functions and kernels give the same bits on other machines."""
    x = np.concatenate([all_floats(1 << 16), rng.normal(0, 4, 1000).astype(np.float32)])
    names = list(FUNCTIONS) + ["Gelu"]
    nodes = [helper.make_node(name, ["x"], [f"y{i}"]) for i, name in enumerate(names)]
    nodes.append(helper.make_node("Pow", ["x", "e"], ["power"]))
    outputs = [f"y{i}" for i in range(len(names))] + ["power"]
    functions = save(folder / "machines.onnx", nodes, [("x", [len(x)])], [(name, [len(x)]) for name in outputs],
                     [("e", np.array(1.7, np.float32))], opset=20)
    products = save(folder / "products.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", [23, 600])], [("y", [23, 90])],
                    [("w", rng.normal(0, 1, (600, 90)).astype(np.float32))])
    cases = {"functions": (functions, x), "kernels": (make_kernels(folder), rng.normal(0, 1, (2, 32, 13, 14)).astype(np.float32)),
             "products": (products, rng.normal(0, 1, (23, 600)).astype(np.float32))}
    results = {}
    for target, system in (("x86-64-v3", None), ("aarch64", "aarch64"), ("riscv64+v", "riscv64")):
        runner = make_runner(folder, system)
        for name, (path, value) in cases.items() if runner else ():
            bundle(folder / "x.bundle", [value])
            library = folder / f"{name}-{target}.so"
            problem = complaint(run("compile", path, "-o", library, "--target", target))
            if not problem:
                problem = complaint(harness.run([*runner, "run", library, folder / "x.bundle", folder / "y.bundle"], timeout=300))
            if not problem:
                data = np.frombuffer((folder / "y.bundle").read_bytes(), np.uint32)
                # NaN has many forms.
                got = np.where(np.isnan(data.view(np.float32)), np.uint32(0x7fc00000), data).tobytes()
                problem = None if results.setdefault(name, got) == got else "other bits than on x86-64-v3"
            tally.result(f"{name} on {target}", problem)


# A network --------------------------------------------------------------------

def network(path, size=64):
    """Convolutions, pools, a residual, normalization, softmax and a product."""
    def weights(*shape):
        return rng.normal(0, 0.2, shape).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["a"], name="first", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
        helper.make_node("MaxPool", ["b"], ["c"], name="pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["c", "w2"], ["d"], name="second", pads=[1, 1, 1, 1]),
        helper.make_node("Sigmoid", ["d"], ["e"], name="gate"),
        helper.make_node("Mul", ["e", "c"], ["f"], name="mul"),
        helper.make_node("Softmax", ["f"], ["g"], name="softmax", axis=1),
        helper.make_node("ReduceMean", ["g"], ["h"], name="mean", axes=[2], keepdims=0),
        helper.make_node("MatMul", ["h", "w3"], ["y"], name="product"),
    ]
    shape = ["n", 3, size, size]
    return save(path, nodes, [("x", shape)], [("y", ["n", 24, 50])],
                [("w1", weights(24, 3, 3, 3)), ("b1", weights(24)), ("w2", weights(24, 24, 3, 3)), ("w3", weights(size // 2, 50))], opset=13)


def check_threads(folder, model):
    expected = None
    for threads in (1, 2, 3, 7):
        for form in ((), ("--no-specialize",)):
            where = folder / f"t{threads}{len(form)}"
            outcome = run("run", model, "--random-seed", "3", "--dim", "n=3", "--threads", str(threads), *form, "--output-dir", where, "--quiet")
            problem = complaint(outcome)
            if not problem:
                got = (where / "y.npy").read_bytes()
                expected = expected or got
                problem = None if got == expected else "other bits than one thread"
            tally.result(f"{threads} threads {' '.join(form)}", problem)


def bytes_network(path, height, width):
    """A window per channel on bytes, with several readers, and a product behind it."""
    def quantized(name, scale, zero):
        return [helper.make_node("QuantizeLinear", [name, scale, zero], [f"{name}q"]),
                helper.make_node("DequantizeLinear", [f"{name}q", scale, zero], [f"{name}r"])]

    nodes = [*quantized("x", "s", "z"),
             helper.make_node("DequantizeLinear", ["w1", "ws", "wz"], ["w1r"]),
             helper.make_node("Conv", ["xr", "w1r"], ["a"], pads=[1, 1, 1, 1], group=40), *quantized("a", "s", "z"),
             helper.make_node("GlobalAveragePool", ["ar"], ["m"]),
             helper.make_node("Mul", ["ar", "m"], ["g"]),
             helper.make_node("Add", ["g", "ar"], ["b"]), *quantized("b", "s", "z"),
             helper.make_node("DequantizeLinear", ["w2", "ws", "wz"], ["w2r"]),
             helper.make_node("Conv", ["br", "w2r"], ["c"]), *quantized("c", "s", "z"),
             helper.make_node("Concat", ["cr", "br"], ["y"], axis=1)]
    random = np.random.default_rng(7)
    return save(path, nodes, [("x", [1, 40, height, width])], [("y", [1, 88, height, width])],
                [("s", np.array(0.011, np.float32)), ("z", np.array(131, np.uint8)), ("ws", np.array(0.004, np.float32)), ("wz", np.array(0, np.int8)),
                 ("w1", random.integers(-128, 128, (40, 1, 3, 3), np.int8)), ("w2", random.integers(-128, 128, (48, 40, 1, 1), np.int8))], opset=13)


def check_threads_of_bytes(folder):
    """Rows are shared where there are many, channels where there are few."""
    for height, width in ((3, 512), (41, 64)):
        model, expected = bytes_network(folder / f"bytes{height}.onnx", height, width), None
        for threads in (1, 2, 3, 7):
            where = folder / f"bytes{height}-{threads}"
            problem = complaint(run("run", model, "--random-seed", "5", "--threads", str(threads), "--output-dir", where, "--quiet"))
            if not problem:
                got = (where / "y.npy").read_bytes()
                expected = expected or got
                problem = None if got == expected else "other bits than one thread"
            tally.result(f"{height} rows of bytes in {threads} threads", problem)


def check_rows(folder):
    """Products of more and more rows, in tiles of one height or two, in blocks or not: a row's bits are the same in all."""
    for depth in (64, 1024, 3072):
        x, w = rng.standard_normal((131, depth)).astype(np.float32), rng.standard_normal((depth, 72)).astype(np.float32)
        expected = None
        for rows, threads in ((131, 1), (131, 2), (128, 1), (128, 3), (100, 2), (64, 1), (49, 1), (49, 2), (13, 1), (7, 1), (1, 1)):
            name = f"{rows} rows of {depth} products in {threads} threads"
            path, where = folder / f"rows{depth}-{rows}.onnx", folder / f"rows{depth}-{rows}-{threads}"
            save(path, [helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", [rows, depth])], [("y", [rows, 72])], [("w", w)])
            np.save(folder / "rows.npy", x[:rows])
            problem = complaint(run("run", path, "--input", f"x={folder / 'rows.npy'}", "--threads", str(threads), "--output-dir", where, "--quiet"))
            if not problem:
                got = np.load(where / "y.npy")
                if expected is None:
                    error = np.abs(got - x.astype(np.float64) @ w).max()
                    problem, expected = None if error < 1e-3 else f"off by {error}", got
                elif got.tobytes() != expected[:rows].tobytes():
                    problem = "other bits than with more rows"
            tally.result(name, problem)


def check_transformed(folder):
    """A transformed convolution whose columns fill no panel: shared by blocks and by columns, whatever the caches."""
    x, w = rng.standard_normal((2, 32, 15, 13)).astype(np.float32), rng.standard_normal((112, 32, 3, 3)).astype(np.float32) / 17
    path = save(folder / "transformed.onnx", [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])],
                [("x", list(x.shape))], [("y", [2, 112, 15, 13])], [("w", w)])
    np.save(folder / "image.npy", x)
    expected = None
    for options in ([], ["--threads", "2"], ["--threads", "3"], ["--threads", "8"], ["--target", "x86-64-v3"], ["--target", "x86-64-v3", "--threads", "2"]):
        where = folder / f"transformed{'-'.join(options)}"
        library = where.with_suffix(".so")
        problem = complaint(run("compile", path, "-o", library, *options)) or complaint(
            run("run", library, "--input", f"x={folder / 'image.npy'}", "--output-dir", where, "--quiet"))
        if not problem:
            got = np.load(where / "y.npy")
            if expected is None:
                error = np.abs(got - nn_reference.conv(x.astype(np.float64), w.astype(np.float64), pads=[1, 1, 1, 1])).max()
                problem, expected = None if error < 1e-5 else f"off by {error}", got.tobytes()
            elif got.tobytes() != expected:
                problem = "other bits than one thread"
        tally.result(f"a transformed convolution {' '.join(options)}", problem)


def symbols(path):
    return subprocess.run(["nm", str(path)], capture_output=True, text=True).stdout


def check_objects(folder, model):
    one, all_cores, several = folder / "one.o", folder / "all.o", folder / "several.o"
    first = harness.run(["taskset", "-c", "0", ONNXQ, "compile", model, "-o", one, "--name", "net", "--dim", "n=1"], timeout=300)
    second = run("compile", model, "-o", all_cores, "--name", "net", "--dim", "n=1")
    problem = complaint(first) or complaint(second)
    if not problem and one.read_bytes() != all_cores.read_bytes():
        problem = "the objects differ"
    tally.result("an object made on one core and on all", problem)
    problem = None if "__kmpc" not in symbols(one) else "it calls OpenMP"
    tally.result("an object of one thread", problem)
    problem = complaint(run("compile", model, "-o", several, "--name", "net", "--dim", "n=1", "--threads", "2"))
    if not problem and "__kmpc_fork_call" not in symbols(several):
        problem = "it starts no threads"
    if not problem and "-lomp" not in several.with_suffix(".h").read_text():
        problem = "the header doesn't tell that it needs OpenMP"
    tally.result("an object of two threads", problem)
    foreign = run("compile", model, "-o", folder / "foreign.so", "--target", "aarch64", "--dim", "n=1", "--threads", "2")
    tally.expect("a foreign library of two threads", foreign.status == 1 and "libomp" in foreign.stderr, foreign.stderr or foreign.ended())
    # Two models in one program share no symbol.
    other = folder / "other.o"
    problem = complaint(run("compile", model, "-o", other, "--name", "other", "--dim", "n=1"))
    if not problem:
        (folder / "main.c").write_text('#include "one.h"\n#include "other.h"\n#include <stdio.h>\nint main(void) {\n'
                                       '  printf("%s %s\\n", net_model.name, other_model.name);\n  return 0;\n}\n')
        built = subprocess.run(["cc", "-o", folder / "two", folder / "main.c", one, other, "-lm"], capture_output=True, text=True)
        said = subprocess.run([folder / "two"], capture_output=True, text=True).stdout if built.returncode == 0 else built.stderr[:300]
        problem = None if said == "net other\n" else said or "nothing is said"
    tally.result("two objects in one program", problem)


def check_cache(folder, model):
    cache = folder / "cache"
    outputs = []
    for attempt in ("filled", "used"):
        library = folder / f"{attempt}.so"
        problem = complaint(run("compile", model, "-o", library, "--cache", cache, "--name", "net", "--dim", "n=1"))
        entries = sorted(cache.glob("*")) if cache.exists() else []
        if not problem and len(entries) != 1:
            problem = f"{len(entries)} files in the cache"
        tally.result(f"a cache that is {attempt}", problem)
        outputs.append(library.read_bytes() if library.exists() else b"")
    tally.result("a library out of the cache", None if outputs[0] == outputs[1] else "it differs")
    entry = entries[0]
    data = bytearray(entry.read_bytes())
    for name, damaged in (("cut", data[: len(data) // 2]), ("changed", data[:-100] + bytes([data[-100] ^ 1]) + data[-99:]), ("empty", b"")):
        entry.write_bytes(damaged)
        library = folder / f"{name}.so"
        problem = complaint(run("compile", model, "-o", library, "--cache", cache, "--name", "net", "--dim", "n=1"))
        if not problem and library.read_bytes() != outputs[0]:
            problem = "the library differs"
        if not problem and entry.read_bytes() != data:
            problem = "the entry stays damaged"
        tally.result(f"a cache with a file that is {name}", problem)
    for name, more in (("another target", ["--target", "x86-64-v2"]), ("plain sums", ["--no-winograd"]), ("another size", ["--dim", "n=2"]), ("threads", ["--threads", "2"])):
        before = len(list(cache.glob("*")))
        problem = complaint(run("compile", model, "-o", folder / "more.so", "--cache", cache, "--name", "net", *(["--dim", "n=1"] if "--dim" not in more else []), *more))
        if not problem and len(list(cache.glob("*"))) != before + 1:
            problem = "no entry of its own"
        tally.result(f"a cache and {name}", problem)
    commands = [subprocess.Popen([ONNXQ, "run", str(model), "--random-seed", "1", "--cache", str(folder / "together"), "--output-dir", str(folder / f"p{i}"), "--quiet"])
                for i in range(3)]
    status = [command.wait() for command in commands]
    results = {(folder / f"p{i}" / "y.npy").read_bytes() for i in range(3)} if not any(status) else set()
    tally.result("a cache in three processes", None if len(results) == 1 else f"exit statuses {status}, {len(results)} results")
    outcome = run("run", model, "--random-seed", "1", "--output-dir", folder / "env", "--quiet", env={"PATH": "/usr/bin:/bin", "ONNXQUANT_CODE_CACHE": str(folder / "env-cache")})
    tally.result("a cache by the environment", complaint(outcome) or (None if list((folder / "env-cache").glob("*")) else "nothing was kept"))


def check_reports(folder, model):
    outcome = run("bench", model, "--profile", "--seconds", "0.1", "--json")
    problem = complaint(outcome)
    if not problem:
        report = json.loads(outcome.stdout)
        names = {line["node"] for line in report["nodes"]}
        times = [line["ms"] for line in report["nodes"]]
        second = [line for line in report["nodes"] if line["node"] == "second"]
        if times != sorted(times, reverse=True) or not {"first", "second", "softmax"} <= names:
            problem = f"nodes {sorted(names)}"
        elif not second or second[0]["op"] != "Conv" or not second[0]["gmac_s"] > 0:
            problem = f"no speed of the convolution: {second}"
        elif abs(sum(times) - report["total_ms"]) > 1e-6 * max(1, report["total_ms"]) or not report["clock_ghz"] > 0.1:
            problem = "the sum is wrong"
    tally.result("a profile", problem)
    outcome = run("bench", model, "--profile", "--seconds", "0.1")
    tally.result("a profile as text", complaint(outcome) or (None if b"second" in outcome.stdout else "no node"))
    loops = save(folder / "loops.onnx", [helper.make_node("Conv", ["x", "w"], ["y"], "mixer")],
                 [("x", [1, 8, 9, 9]), ("w", [4, 8, 3, 3])], [("y", [1, 4, 7, 7])])
    count = "remark: 1 node runs without a vectorized kernel (1 Conv)"
    reason = "'mixer': has no kernel: its weights aren't constant"
    # What is found in the cache is told as well.
    for options, told in ((["--verbose"], [reason, count]), ([], [count + "; --verbose"]), (["--quiet"], []),
                          (["--cache", folder / "loops"], [count]), (["--cache", folder / "loops"], [count])):
        outcome = run("compile", loops, "-o", folder / "loops.o", *options)
        fits = len(outcome.stderr.splitlines()) == len(told) and all(text in outcome.stderr for text in told)
        tally.result(" ".join(["what has no kernel", *map(str, options[:1])]), complaint(outcome) or (None if fits else outcome.stderr[:300] or "nothing is said"))
    outcome = run("info", model, "--memory", "--dim", "n=1", "--json")
    problem = complaint(outcome)
    if not problem:
        memory = json.loads(outcome.stdout)["memory"]
        ends = [buffer["offset"] + buffer["bytes"] for buffer in memory["buffers"]]
        sizes = [buffer["bytes"] for buffer in memory["buffers"]]
        if not ends or max(ends) != memory["workspace_bytes"] or sizes != sorted(sizes, reverse=True):
            problem = f"the plan doesn't fit: {memory['workspace_bytes']}, {ends[:3]}"
        elif sum(sizes) != memory["buffer_bytes"] or memory["open_buffers"]:
            problem = "the sums are wrong"
    tally.result("a memory plan", problem)
    header = folder / "plan.h"
    problem = problem or complaint(run("compile", model, "-o", folder / "plan.o", "--name", "net", "--dim", "n=1"))
    if not problem and f"NET_WORKSPACE_BYTES {memory['workspace_bytes']}\n" not in header.read_text():
        problem = "the compiled code has another workspace"
    tally.result("a memory plan as it is compiled", problem)
    outcome = run("info", model, "--memory", "--dim", "n=1")
    tally.result("a memory plan as text", complaint(outcome) or (None if b"workspace " in outcome.stdout else "no workspace"))


def main():
    require_tools()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_functions(folder)
        check_powers(folder)
        check_machines(folder)
        model = network(folder / "network.onnx")
        check_threads(folder, model)
        check_threads_of_bytes(folder)
        check_rows(folder)
        check_transformed(folder)
        check_objects(folder, model)
        check_cache(folder, model)
        check_reports(folder, model)
    tally.finish()


if __name__ == "__main__":
    main()
