"""Programs that run a model in blocks, ours and ONNX Runtime's, taken in turns so that both meet the same machine.

Each sits in a process of its own and answers with the time of every run. Only one is awake at a time: threads that
wait actively after a run (OpenMP's and ONNX Runtime's do) would take the other's processor.
"""

import json
import math
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "test" / "Integration"))

from support.harness import BUILD, CACHE, ONNXQ, run  # noqa: E402

SERVE = pathlib.Path(__file__).with_name("ort_serve.js")
EXACT = {"session": {"x64quantprecision": "1"}}
# Numbers of element types in ONNX, those that models give and take.
TYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
         11: "float64", 12: "uint32", 13: "uint64"}
NUMBERS = {name: number for number, name in TYPES.items()}


class BenchError(Exception):
    """Why a model can't be measured."""


class Server:
    """A program that answers a number with so many times; asleep unless it runs."""

    def __init__(self, command, cpus=None, environment=None):
        pin = ["taskset", "-c", cpus] if cpus else []
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([*pin, *map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, env={**os.environ, **(environment or {})})
        self.peak_kib, self.times = 0, []

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.errors.seek(0)
            said = self.errors.read().decode(errors="replace").strip().splitlines()
            message = next((text for text in said if "rror" in text), said[-1] if said else "no message")
            raise BenchError(f"ended with {self.process.returncode}: {message[:300]}")
        return line

    def sleep(self):
        self.process.send_signal(signal.SIGSTOP)

    def block(self, runs):
        """Times of so many runs, one before them left out: it finds another's data in the caches."""
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(f"{runs + 1}\n")
        self.process.stdin.flush()
        peak, *times = self.line().split()
        self.sleep()
        self.peak_kib = max(self.peak_kib, int(peak))
        return [float(time) for time in times[1:]]

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.errors.close()

    @property
    def best(self):
        return min(self.times)

    @property
    def median(self):
        return float(np.median(self.times))


class Ours(Server):
    """A compiled library in onnxq-runner."""

    def __init__(self, library, feeds, folder, cpus=None):
        stem = folder / pathlib.Path(library).stem
        with open(f"{stem}.in", "wb") as file:
            for array in feeds.values():
                file.write(struct.pack("ii", NUMBERS[array.dtype.name], array.ndim))
                file.write(struct.pack(f"{array.ndim + 1}q", *array.shape, array.nbytes))
                file.write(np.ascontiguousarray(array).tobytes())
        super().__init__([BUILD / "bin" / "onnxq-runner", "serve", library, f"{stem}.in", f"{stem}.out"], cpus)
        self.load, self.first = map(float, self.line().split())
        self.outputs = self.read(f"{stem}.out")
        self.sleep()

    @staticmethod
    def read(path):
        raw, place, outputs = pathlib.Path(path).read_bytes(), 0, []
        while place < len(raw):
            kind, rank = struct.unpack_from("ii", raw, place)
            *dims, size = struct.unpack_from(f"{rank + 1}q", raw, place + 8)
            place += 16 + 8 * rank
            outputs.append(np.frombuffer(raw, TYPES[kind], size // np.dtype(TYPES[kind]).itemsize, place).reshape(dims))
            place += size
        return outputs


class Theirs(Server):
    """ONNX Runtime in node."""

    def __init__(self, model, feeds, folder, threads=1, extra=None, cpus=None):
        stem, inputs = folder / f"ort{id(self)}", []
        with open(f"{stem}.in", "wb") as file:
            for name, array in feeds.items():
                inputs.append({"name": name, "type": array.dtype.name, "dims": list(array.shape), "offset": file.tell(),
                               "bytes": array.nbytes})
                file.write(np.ascontiguousarray(array).tobytes())
        pathlib.Path(f"{stem}.json").write_text(json.dumps(
            {"model": str(model), "inputs": inputs, "threads": threads, "extra": extra or {}}))
        super().__init__(["node", SERVE, f"{stem}.json", f"{stem}.in", f"{stem}.out"], cpus, {"ONNXQUANT_CACHE": str(CACHE)})
        record = json.loads(self.line())
        self.load, self.first = record["load"], record["first"]
        raw = pathlib.Path(f"{stem}.out").read_bytes()
        self.outputs = [np.frombuffer(raw, t["type"], int(np.prod(t["dims"], dtype=int)), t["offset"]).reshape(t["dims"])
                        for t in record["outputs"]]
        self.sleep()


def alternate(servers, seconds, block_seconds=0.15, rounds=3):
    """Fills `times` of every server by blocks in turns, for about so many seconds in all."""
    lengths = []
    for server in servers:
        once = min(server.block(2))
        lengths.append(max(2, min(math.ceil(block_seconds * 1e3 / once), 5000)))
    spent, done = 0.0, 0
    while done < rounds or spent < seconds:
        for server, length in zip(servers, lengths):
            times = server.block(length)
            server.times += times
            spent += sum(times) * 1e-3
        done += 1


def compile_library(model, library, threads=1, options=()):
    """Compiles to a library: {compile_s, compile_mib, lib_bytes}; None if this build knows no such number of threads."""
    command = [ONNXQ, "compile", model, "-o", library, *options]
    if threads != 1:
        command += ["--threads", threads]
    outcome = run(command, timeout=1800)
    if outcome.status == 2 and "threads" in outcome.stderr:
        return None
    if outcome.status != 0:
        said = outcome.stderr.strip().splitlines()
        raise BenchError(f"onnxq compile: {outcome.ended()}: {said[0][:300] if said else ''}")
    return {"compile_s": outcome.seconds, "compile_mib": outcome.megabytes, "lib_bytes": pathlib.Path(library).stat().st_size}


def decibels(reference, other):
    """Signal to noise between two lists of outputs, the worst of them."""
    worst = math.inf
    for a, b in zip(reference, other):
        a, b = a.astype(np.float64), b.astype(np.float64)
        noise = np.linalg.norm(a - b)
        if noise > 0:
            worst = min(worst, 20 * math.log10(max(np.linalg.norm(a), 1e-300) / noise))
    return worst


def geometric_mean(values):
    values = [value for value in values if value]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None
