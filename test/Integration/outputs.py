#!/usr/bin/python3
"""Outputs that are whole or not there, whatever happens while they are written.

An output may be several files: a model and its external data, an object and its
header, the arrays of a run. On disks of every size (small ones in memory, in a mount
namespace of this suite's own), and when the process is killed at any moment, there is
the old output or the new one, and nothing else beside it. `--full` takes every size in
steps of 4 KiB and 200 kills; without it, a few of each.
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from support import harness
from support import hostile
import numpy

PAGE = 4096
FULL = "--full" in sys.argv[1:]
KILLS = 200 if FULL else 24


def weights_model(path, seed, sizes=(3000, 9000, 20000)):
    """A model whose weights differ by the seed: external data of one isn't that of another."""
    rng = numpy.random.default_rng(seed)
    tensors = [
        hostile.tensor(f"w{i}", (size,), raw_data=rng.standard_normal(size).astype("<f4").tobytes())
        for i, size in enumerate(sizes)
    ]
    nodes = [hostile.node("Mul", [f"w{i}", "x"], [f"y{i}"], name=f"mul{i}") for i in range(len(sizes))]
    outputs = [hostile.info(f"y{i}", (size,)) for i, size in enumerate(sizes)]
    model = hostile.model(nodes, [hostile.info("x", (1,))], outputs, tensors)
    path.write_bytes(model.SerializeToString())


def product_model(path, seed, sizes=(64, 96)):
    """A product with weights, which can be quantized."""
    weight = numpy.random.default_rng(seed).standard_normal(sizes).astype("<f4")
    model = hostile.model(
        [hostile.node("Gemm", ["x", "w"], ["y"], name="gemm")],
        [hostile.info("x", (1, sizes[0]))],
        [hostile.info("y", (1, sizes[1]))],
        [hostile.tensor("w", sizes, raw_data=weight.tobytes())],
    )
    path.write_bytes(model.SerializeToString())


def contents(folder):
    """All files below a folder, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


class Case:
    """A command that writes to OUT, once with each of two inputs."""

    def __init__(self, name, command, old, new):
        self.name = name
        self.command = command
        self.old = old
        self.new = new

    def words(self, given, out):
        places = {"IN": str(given)}
        return [str(out / str(word)[4:]) if str(word).startswith("OUT/") else places.get(word, word) for word in self.command]

    def run(self, given, out):
        return harness.run(self.words(given, out))


def cases(folder):
    old, new = folder / "old.onnx", folder / "new.onnx"
    weights_model(old, 1)
    weights_model(new, 2)
    preprocess = [harness.ONNXQ, "preprocess", "IN", "-o", "OUT/m.onnx", "--quiet"]
    run = [harness.ONNXQ, "run", "IN", "--random-seed", "1", "--quiet", "--output-dir"]
    yield Case("external data", preprocess + ["--save-as-external-data"], old, new)
    yield Case(
        "a file per tensor", preprocess + ["--save-as-external-data", "--all-tensors-to-one-file=false"], old, new
    )
    yield Case("a plain model", preprocess, old, new)
    yield Case("bytecode", [harness.OPT, "IN", "-o", "OUT/m.mlirbc"], old, new)
    yield Case("outputs of a run", run + ["OUT/"], old, new)
    old, new, data = folder / "old-product.onnx", folder / "new-product.onnx", folder / "x.npy"
    product_model(old, 1)
    product_model(new, 2)
    numpy.save(data, numpy.random.default_rng(3).standard_normal((4, 1, 64)).astype("<f4"))
    given = ["--data", data, "--quiet", "-o"]
    yield Case(
        "quantized, with external data", [harness.ONNXQ, "quantize", "IN", "--external-data", *given, "OUT/m.onnx"], old, new
    )
    yield Case("three tables", [harness.ONNXQ, "calibrate", "IN", *given, "OUT/table"], old, new)
    yield Case(
        "a model for a chip, with its table",
        [harness.ONNXQ, "esp", "quantize", "IN", "--chip", "esp32s3", *given, "OUT/m.espdl"],
        old,
        new,
    )
    old, new = folder / "old.onnx", folder / "new.onnx"
    yield Case("an object and its header", [harness.ONNXQ, "compile", "IN", "-o", "OUT/m.o"], old, new)


def references(case, folder):
    """What the command writes for either input, with nothing in its way."""
    results = []
    for index, given in enumerate((case.old, case.new)):
        out = folder / f"reference{index}"
        out.mkdir()
        outcome = case.run(given, out)
        results.append(contents(out) if outcome.status == 0 else None)
    return results


def in_namespace(command):
    """Runs a shell command where mounts are its own; None if this system doesn't permit it."""
    probe = subprocess.run(["unshare", "-m", "true"], capture_output=True)
    if probe.returncode:
        probe = subprocess.run(["unshare", "-rm", "true"], capture_output=True)
        return None if probe.returncode else ["unshare", "-rm", *command]
    return ["unshare", "-m", *command]


def place_old(old, out):
    out.mkdir(exist_ok=True)
    for name, data in old.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(data)


def used(files):
    return sum((len(data) + PAGE - 1) // PAGE for data in files.values())


def sweep(case, old, new, disk, tally):
    """Every size of disk between one that holds the old output only and one that holds both."""
    first, last = used(old) + 1, used(old) + used(new) + 8
    steps = range(first, last + 1) if FULL else sorted({first, last, *range(first, last, max(1, (last - first) // 6))})
    both = 0
    for pages in steps:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={pages * PAGE}", "tmpfs", disk], check=True)
        try:
            place_old(old, disk)
            outcome = case.run(case.new, disk)
            left = contents(disk)
        finally:
            subprocess.run(["umount", disk], check=True)
        expected = new if outcome.status == 0 else old
        problem = None
        if left != expected:
            problem = f"{outcome.ended()}, and {sorted(left)} is neither the old output nor the new one"
        elif outcome.status == 0:
            both += 1
        elif outcome.status != 1 or outcome.stderr.count("error:") != 1 or "cannot write" not in outcome.stderr:
            problem = f"{outcome.ended()}: {outcome.stderr.strip()[:200]}"
        tally.result(f"{case.name}: a disk of {pages * 4} KiB", problem)
    tally.result(f"{case.name}: the largest disk", None if both else "the output was never written")


def sweep_all(folder, tally):
    disk = folder / "disk"
    disk.mkdir()
    for index, case in enumerate(cases(folder)):
        scratch = folder / f"sweep{index}"
        scratch.mkdir()
        old, new = references(case, scratch)
        if old is None or new is None:
            tally.result(case.name, "can't be written at all")
            continue
        sweep(case, old, new, disk, tally)


def kills(folder, tally):
    """SIGKILL at any moment, most often near the end, where files are put into place."""
    chosen = [case for case in cases(folder) if case.name != "an object and its header"]
    rng = random.Random(21)
    for index, case in enumerate(chosen):
        scratch = folder / f"kill{index}"
        scratch.mkdir()
        start = time.monotonic()
        old, new = references(case, scratch)
        seconds = (time.monotonic() - start) / 2
        out = scratch / "out"
        seen = [0, 0]
        for attempt in range(KILLS // len(chosen) + 1):
            if not out.exists() or contents(out) != old:
                for path in list(out.rglob("*")) if out.exists() else []:
                    path.unlink()
                place_old(old, out)
            process = subprocess.Popen(case.words(case.new, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(seconds * rng.uniform(0.3, 1.1))
            process.kill()
            process.wait()
            # What puts the files into place may still be at it: it isn't killed with its parent.
            time.sleep(0.02)
            left = contents(out)
            seen[left == new] += 1
            problem = None if left in (old, new) else f"{sorted(left)} is neither the old output nor the new one"
            tally.result(f"{case.name}: killed, attempt {attempt}", problem)
        if FULL:
            print(f"{case.name}: killed {sum(seen)} times, {seen[1]} times the new output was there")


def full_streams(folder, tally):
    """Standard output on a full disk."""
    model = folder / "old.onnx"
    for name, command in {
        "info": [harness.ONNXQ, "info", model],
        "run --json": [harness.ONNXQ, "run", model, "--random-seed", "1", "--json"],
        "--help": [harness.ONNXQ, "--help"],
        "onnxq-opt": [harness.OPT, model],
    }.items():
        with open("/dev/full", "w") as full:
            result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
        problem = None
        # One program says it of the stream, the other of its file.
        said = "cannot write" in result.stderr or "cannot be written" in result.stderr
        if result.returncode != 1 or result.stderr.count("error:") != 1 or not said:
            problem = f"exit status {result.returncode}: {result.stderr.strip()[:200]}"
        tally.result(f"{name} to a full disk", problem)


def main():
    harness.require_tools()
    if "--in-namespace" not in sys.argv:
        command = in_namespace([sys.executable, __file__, "--in-namespace", *sys.argv[1:]])
        if command:
            os.execvp(command[0], command)
    tally = harness.Tally()
    with tempfile.TemporaryDirectory(prefix="onnxq-outputs-") as temporary:
        folder = pathlib.Path(temporary)
        if "--in-namespace" in sys.argv:
            sweep_all(folder, tally)
        else:
            tally.skipped += 1
            print("disks of other sizes are skipped: no mount namespaces here")
        kills(folder, tally)
        full_streams(folder, tally)
    tally.finish()


if __name__ == "__main__":
    main()
