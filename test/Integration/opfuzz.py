#!/usr/bin/env -S /usr/bin/python3
"""Compiled code on inputs that nobody meant: ops of open sizes with random shapes, values and empty tensors.

Models of one node, all sizes open, come from the cases of the other suites; with `--all`, from the ONNX
backend data, too, which has every operator. Each is compiled with and
without `--check-bounds`. Both get the same inputs, which end at a page that can't be read: they must end
alike, with the same bytes or the same error, and never by a signal, by a check of a buffer that only one
of them has, or not at all. Results are compared with nothing else here.

    opfuzz.py [--runs N] [--seed N] [--filter TEXT] [--keep DIR] [--all]

A finding is kept as a folder with the model and its inputs as .npy files.
"""

import argparse
import ctypes
import mmap
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx.mapping import NP_TYPE_TO_TENSOR_TYPE

import badrun
import exec_nn
import exec_tensor
from support.harness import ONNXQ, ROOT, Tally, backend_data, require_tools

MAX_RANK, MESSAGE = 64, 512
SECONDS = 20
TOP, LOW = 2**63 - 1, -(2**63)
PAGE = mmap.PAGESIZE


class TensorView(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t),
        ("type", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("dims", ctypes.c_int64 * MAX_RANK),
        ("owned", ctypes.c_int32),
    ]


class RunError(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char * MESSAGE)]


def limits():
    """The header's numbers, which the structures above depend on."""
    text = "".join((ROOT / "include" / "onnxquant-c" / f"{name}.h").read_text() for name in ("model", "runtime"))
    return f"#define ONNXQ_MAX_RANK {MAX_RANK}" in text and f"#define ONNXQ_MESSAGE_BYTES {MESSAGE}" in text


class Fence:
    """Memory whose last byte is before a page that can't be touched."""

    def __init__(self, size=1 << 20):
        self.room = (size + PAGE - 1) // PAGE * PAGE
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.mmap.restype = ctypes.c_void_p
        self.libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
        self.base = self.libc.mmap(None, self.room + PAGE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        self.libc.mprotect(ctypes.c_void_p(self.base + self.room), PAGE, 0)

    def put(self, array):
        place = self.base + self.room - array.nbytes
        ctypes.memmove(place, array.tobytes(), array.nbytes)
        return place


class Library:
    def __init__(self, runtime, path):
        self.runtime = runtime
        self.handle = ctypes.c_void_p()
        error = RunError()
        if runtime.onnxq_open(str(path).encode(), ctypes.byref(self.handle), ctypes.byref(error)):
            raise RuntimeError(error.message.decode())
        runtime.onnxq_get.restype = ctypes.c_void_p
        self.model = ctypes.c_void_p(runtime.onnxq_get(self.handle))

    def run(self, arrays, fences, count):
        """The message of an error, or the outputs' shapes and bytes."""
        inputs = (TensorView * max(len(arrays), 1))()
        for view, array, fence in zip(inputs, arrays, fences):
            view.data, view.bytes = fence.put(array), array.nbytes
            view.type, view.rank = NP_TYPE_TO_TENSOR_TYPE[array.dtype], array.ndim
            for axis, size in enumerate(array.shape):
                view.dims[axis] = size
        outputs, error = (TensorView * count)(), RunError()
        if self.runtime.onnxq_run(self.model, None, inputs, len(arrays), outputs, count, ctypes.byref(error)):
            return error.message.decode(errors="replace")
        results = []
        for view in outputs:
            results.append((tuple(view.dims[: view.rank]), ctypes.string_at(view.data, view.bytes) if view.bytes else b""))
            self.runtime.onnxq_release(ctypes.byref(view))
        return results


def mutate(array, rng):
    """Another tensor of the same type and rank."""
    shape, kind = list(array.shape), array.dtype
    choice = rng.integers(8)
    if choice >= 4:
        for axis in range(len(shape)):
            if rng.integers(3) == 0:
                shape[axis] = int(rng.choice([0, 0, 1, 2, 3, shape[axis], shape[axis] + 1]))
    if choice == 7 and shape:
        shape[int(rng.integers(len(shape)))] = 0
    if choice in (0, 4) and list(array.shape) == shape:
        return array
    size = int(np.prod(shape)) if shape else 1
    flat = np.resize(array.ravel(), size) if array.size else np.zeros(size, kind)
    flat = flat.copy()
    for _ in range(int(rng.integers(4)) if size else 0):
        at = int(rng.integers(size))
        if kind.kind == "f":
            with np.errstate(all="ignore"):
                flat[at] = rng.choice([0, 1, -1, np.nan, np.inf, -np.inf, 1e30, 0.5, 100])
        elif kind == bool:
            flat[at] = rng.integers(2)
        else:
            values = [0, 1, 2, 3, 7, -1, -2, -5, 1000, 2**31, 2**33, TOP, LOW]
            value = values[int(rng.integers(len(values)))]
            flat[at] = max(np.iinfo(kind).min, min(np.iinfo(kind).max, value))
    return flat.reshape(shape).astype(kind)


def fuzz(runtime, folder, case, runs, seed):
    """In a process of its own: runs mutants, and keeps the one at work in a file."""
    arrays = [array for array in case.operands if array is not None]
    plain, checked = (Library(runtime, folder / f"{name}.so") for name in ("plain", "checked"))
    fences = [Fence() for _ in arrays]
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    for number in range(runs):
        rng = np.random.default_rng([seed, number])
        given = [mutate(np.asarray(array), rng) for array in arrays]
        if any(array.nbytes > 1 << 19 for array in given):
            continue
        (folder / "number").write_text(str(number))
        signal.alarm(SECONDS)
        first = plain.run(given, fences, len(case.results))
        second = checked.run(given, fences, len(case.results))
        signal.alarm(0)
        if first != second or (isinstance(second, str) and "buffer" in second):
            said = [one if isinstance(one, str) else [shape for shape, _ in one] for one in (first, second)]
            (folder / "finding").write_text(f"run {number}: {said[0]} but checked {said[1]}")
            os._exit(1)
    os._exit(0)


def keep(folder, case, seed, place):
    """The model and the inputs of the run that ended."""
    number = int((folder / "number").read_text()) if (folder / "number").exists() else 0
    rng = np.random.default_rng([seed, number])
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "case" / "model.onnx", place)
    for index, array in enumerate(array for array in case.operands if array is not None):
        np.save(place / f"{index}.npy", mutate(np.asarray(array), rng))


class BackendCase:
    """A model of one node of the backend data, with its inputs."""

    def __init__(self, path):
        self.model = onnx.load(str(path / "model.onnx"))
        self.op = self.model.graph.node[0].op_type
        data = path / "test_data_set_0"
        self.operands = [self.read(data / f"input_{i}.pb") for i in range(len(self.model.graph.input))]
        self.results = [self.read(data / f"output_{i}.pb") for i in range(len(self.model.graph.output))]

    @staticmethod
    def read(path):
        return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))

    def write(self, folder, form):
        ends = [*self.model.graph.input, *self.model.graph.output]
        for index, (info, array) in enumerate(zip(ends, [*self.operands, *self.results])):
            del info.type.tensor_type.shape.dim[:]
            for axis in range(array.ndim):
                info.type.tensor_type.shape.dim.add().dim_param = f"d{index}_{axis}"
        folder.mkdir(parents=True)
        onnx.save(self.model, str(folder / "model.onnx"))

    def fits(self):
        """Whether the node is alone, and all of its tensors are of types that NumPy has."""
        ends = [*self.model.graph.input, *self.model.graph.output]
        return len(self.model.graph.node) == 1 and all(
            info.type.WhichOneof("value") == "tensor_type"
            and array.dtype in NP_TYPE_TO_TENSOR_TYPE
            and NP_TYPE_TO_TENSOR_TYPE[array.dtype] == info.type.tensor_type.elem_type
            and array.nbytes < 1 << 16
            for info, array in zip(ends, [*self.operands, *self.results])
        )


def backend():
    """The cases whose files are tensors; others hold sequences."""
    found = {}
    for path in sorted((backend_data() / "node").iterdir()):
        try:
            case = BackendCase(path)
        except (OSError, ValueError, TypeError, IndexError, DecodeError):
            continue
        if case.fits():
            found[f"backend_{path.name}"] = case
    return found


def sources(everything):
    for add in (exec_tensor.add_types, exec_tensor.add_layout, exec_tensor.add_padding, exec_tensor.add_indexing,
                exec_tensor.add_resizes, exec_tensor.add_grids):
        add()
    for add in (exec_nn.add_convolutions, exec_nn.add_products, exec_nn.add_poolings, exec_nn.add_normalizations, exec_nn.add_attention):
        add()
    for add in (badrun.add_indices, badrun.add_counts, badrun.add_division, badrun.add_shapes, badrun.add_empties, badrun.add_unbounded):
        add()
    return {**exec_tensor.CASES, **exec_nn.CASES, **badrun.CASES, **(backend() if everything else {})}


def judge(runtime, folder, name, case, options, seed, runs):
    """What went wrong; an empty text if nothing did, None if the case can't be compiled with open sizes."""
    case.write(folder / "case", "ranked")
    for kind, flags in (("plain", []), ("checked", ["--check-bounds"])):
        command = [ONNXQ, "compile", folder / "case" / "model.onnx", "-o", folder / f"{kind}.so", "--max-iterations", "10000", *flags]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode < 0:
            return f"the compiler was killed by signal {-result.returncode}"
        if result.returncode:
            return None
    child = os.fork()
    if child == 0:
        try:
            fuzz(runtime, folder, case, runs, seed)
        except BaseException as error:
            (folder / "finding").write_text(f"the fuzzer failed: {error!r}")
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if status == 0:
        return ""
    if options.keep:
        keep(folder, case, seed, pathlib.Path(options.keep, name))
    if os.WIFSIGNALED(status):
        return f"run {(folder / 'number').read_text()} ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return (folder / "finding").read_text()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=6000)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--filter", default="")
    parser.add_argument("--keep", default="")
    parser.add_argument("--all", action="store_true", help="the backend data's operators, too")
    options = parser.parse_args()
    require_tools()
    tally = Tally()
    tally.result("the runtime's structures", None if limits() else "the header has other numbers")
    cases = {name: case for name, case in sources(options.all).items() if options.filter in name}
    chosen = list(cases)
    np.random.default_rng(options.seed).shuffle(chosen)
    # One case per op first, then others.
    first = {cases[name].op: name for name in reversed(chosen)}
    chosen = [*first.values(), *(name for name in chosen if name not in first.values())][: options.cases or None]
    done = 0
    with tempfile.TemporaryDirectory(prefix="onnxq-opfuzz-") as temporary:
        library = pathlib.Path(temporary, "runtime.so")
        parts = sorted((ROOT / "lib" / "Runtime").glob("*.c"))
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", f"-I{ROOT}/include", *parts, "-o", library, "-ldl"], check=True)
        runtime = ctypes.CDLL(str(library))
        each = max(1, options.runs // max(1, len(chosen)))
        for index, name in enumerate(chosen):
            folder = pathlib.Path(temporary, str(index))
            folder.mkdir()
            problem = judge(runtime, folder, name, cases[name], options, options.seed, each)
            shutil.rmtree(folder)
            if problem is None:
                tally.skipped += 1
                continue
            done += each
            tally.result(f"{name} ({cases[name].op})", problem or None)
    print(f"{done} runs of {len(chosen)} models")
    tally.finish()


if __name__ == "__main__":
    main()
