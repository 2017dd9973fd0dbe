#!/usr/bin/env -S /usr/bin/python3
"""Memory of runs with open sizes: what nothing reads any more is free for what comes.

A chain of products is run with rows that are open. Its peak of resident memory must not grow with its length.

A cache that grows by Concat is run many times: a run must not take its memory from the system anew, page by page, and
what it computes is the caller's without a copy.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.harness import BUILD, ONNXQ, Tally, require_tools, run

ROWS, WIDTH = 8192, 256


def chain(path, length):
    """x -> (MatMul -> Tanh -> Softmax) times `length` -> y, and the first of them once more at the end."""
    weight = numpy_helper.from_array(np.eye(WIDTH, dtype=np.float32), "w")
    nodes, last = [], "x"
    for i in range(length):
        for op, inputs in (("MatMul", [last, "w"]), ("Tanh", [f"m{i}"]), ("Softmax", [f"t{i}"])):
            last = f"{op[0].lower()}{i}"
            nodes.append(helper.make_node(op, inputs, [last], name=last))
    nodes.append(helper.make_node("Add", [last, "m0"], ["y"], name="end"))
    graph = helper.make_graph(nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", WIDTH])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", WIDTH])], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def expected(x, length):
    y = x.astype(np.float64)
    for _ in range(length):
        y = np.exp(np.tanh(y))
        y /= y.sum(-1, keepdims=True)
    return (y + x).astype(np.float32)


def caches(path, count):
    """Outputs that join a past of open length with one step, twice each: as they are, and as a part of a larger one."""
    nodes, inputs, outputs = [], [helper.make_tensor_value_info("new", TensorProto.FLOAT, [1, 4, 1, 64])], []
    for i in range(count):
        inputs.append(helper.make_tensor_value_info(f"past{i}", TensorProto.FLOAT, [1, 4, "past", 64]))
        nodes.append(helper.make_node("Concat", [f"past{i}", "new"], [f"present{i}"], name=f"join{i}", axis=2))
        nodes.append(helper.make_node("Identity", [f"present{i}"], [f"again{i}"], name=f"again{i}"))
        nodes.append(helper.make_node("Slice", [f"present{i}", "from", "to", "axes"], [f"head{i}"], name=f"head{i}"))
        for name in ("present", "again", "head"):
            outputs.append(helper.make_tensor_value_info(f"{name}{i}", TensorProto.FLOAT,
                                                         [1, 1 if name == "head" else 4, "total", 64]))
    constants = [numpy_helper.from_array(np.array([value], np.int64), name)
                 for name, value in (("from", 0), ("to", 1), ("axes", 1))]
    graph = helper.make_graph(nodes, "caches", inputs, outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def write_tensors(path, arrays):
    """The inputs of `onnxq-runner serve`, of floats."""
    with open(path, "wb") as file:
        for array in arrays:
            file.write(struct.pack(f"ii{array.ndim + 1}q", 1, array.ndim, *array.shape, array.nbytes))
            file.write(array.tobytes())


def read_tensors(path):
    raw, place, arrays = pathlib.Path(path).read_bytes(), 0, []
    while place < len(raw):
        rank = struct.unpack_from("ii", raw, place)[1]
        *shape, size = struct.unpack_from(f"{rank + 1}q", raw, place + 8)
        place += 16 + 8 * rank
        arrays.append(np.frombuffer(raw, np.float32, size // 4, place).reshape(shape))
        place += size
    return arrays


def page_faults(process):
    """Those of the process that took no disk."""
    return int(pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[7])


def check_caches(tally, folder):
    """Runs with caches of 6 MB: their numbers, and how many pages a run takes from the system."""
    count, runs, length = 6, 20, 1000
    model, library = folder / "caches.onnx", folder / "caches.so"
    caches(model, count)
    done = run([ONNXQ, "compile", model, "-o", library, "--quiet"], timeout=300)
    tally.expect("compile caches", done.status == 0, done.stderr[:300])
    rng = np.random.default_rng(0)
    new, *pasts = [rng.standard_normal((1, 4, rows, 64)).astype(np.float32) for rows in [1] + count * [length]]
    write_tensors(folder / "in", [new, *pasts])
    with subprocess.Popen([BUILD / "bin" / "onnxq-runner", "serve", library, folder / "in", folder / "out"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        faults = []
        for _ in range(2):
            process.stdin.write(f"{runs}\n")
            process.stdin.flush()
            process.stdout.readline()
            faults.append(page_faults(process))
        process.stdin.close()
    wanted = []
    for past in pasts:
        joined = np.concatenate([past, new], 2)
        wanted += [joined, joined, joined[:, :1]]
    found = read_tensors(folder / "out")
    same = len(found) == len(wanted) and all(map(np.array_equal, found, wanted))
    tally.result("numbers of caches", None if same else "differ")
    # The outputs of a run are 3,400 pages.
    each = (faults[1] - faults[0]) / runs
    tally.result("pages of caches", None if each < 300 else f"a run takes {each:.0f} pages from the system")


def main():
    require_tools()
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        folder, peaks = pathlib.Path(temporary), {}
        for length in (3, 12):
            model, library = folder / f"{length}.onnx", folder / f"{length}.so"
            chain(model, length)
            done = run([ONNXQ, "compile", model, "-o", library, "--quiet"], timeout=300)
            tally.expect(f"compile {length}", done.status == 0, done.stderr[:300])
            x = np.random.default_rng(length).standard_normal((ROWS, WIDTH)).astype(np.float32)
            np.save(folder / "x.npy", x)
            done = run([ONNXQ, "run", library, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder], timeout=300)
            peaks[length] = done.megabytes
            same = done.status == 0 and np.allclose(np.load(folder / "y.npy"), expected(x, length), rtol=1e-4, atol=1e-6)
            tally.result(f"numbers {length}", None if same else f"{done.ended()} {done.stderr[:300]}")
        # A tensor has 8 MB; 27 more of them would take 216.
        grown = peaks[12] - peaks[3]
        tally.result("memory", None if grown < 40 else f"9 more layers take {grown:.0f} MB more")
        check_caches(tally, folder)
    tally.finish()


if __name__ == "__main__":
    sys.exit(main())
