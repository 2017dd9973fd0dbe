#!/usr/bin/env -S /usr/bin/python3
"""Backend cases of several nodes give the expected outputs after `onnxq preprocess` too.

Each is prepared into a folder with its own data sets, and `onnxq test` compares the results. A
model that the importer refuses counts as skipped. Prints a line per failure, then the totals.
"""

import multiprocessing
import os
import pathlib
import re
import tempfile

import onnx

from support import harness


def prepare(job):
    """(name, problem, skipped)"""
    name, path, folder = job
    folder.mkdir(parents=True)
    for data in path.parent.glob("test_data_set_*"):
        os.symlink(data, folder / data.name)
    out = folder / "model.onnx"
    result = harness.run([harness.ONNXQ, "preprocess", path, "-o", out, "--quiet"])
    if result.status == 0:
        return name, None, False
    if result.status == 1 and "[category: " in result.stderr:
        return name, None, True
    return name, f"{result.ended()}: {result.stderr.strip()[:200]}", False


def main():
    harness.require_tools()
    tally = harness.Tally()
    data = harness.backend_data()
    with tempfile.TemporaryDirectory(prefix="onnxq-prepared-") as temporary:
        scratch, jobs = pathlib.Path(temporary), []
        for path in sorted(data.rglob("model.onnx")):
            if len(onnx.load(path, load_external_data=False).graph.node) > 1:
                name = str(path.parent.relative_to(data))
                jobs.append((name, path, scratch / name))
        with multiprocessing.Pool(2) as pool:
            for name, problem, skipped in pool.imap_unordered(prepare, jobs, chunksize=4):
                tally.skipped += skipped
                if problem:
                    tally.result(name, problem)
        tested = harness.run([harness.ONNXQ, "test", scratch], timeout=600)
        lines = tested.stdout.decode(errors="replace").splitlines()
        for line in lines[:-1]:
            if not line.startswith("SKIP"):
                print(line)
        totals = re.match(r"(\d+) passed, (\d+) failed, (\d+) skipped", lines[-1] if lines else "")
        if not totals:
            tally.result("onnxq test", tested.ended())
        else:
            tally.passed += int(totals[1])
            tally.failed += int(totals[2])
            tally.skipped += int(totals[3])
        if tally.passed < 120:
            tally.result("cases", f"expects 120 or more to pass, but got {tally.passed}")
    tally.finish()


if __name__ == "__main__":
    main()
