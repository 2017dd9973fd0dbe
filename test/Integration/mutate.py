#!/usr/bin/python3
"""5,000 mutated models under AddressSanitizer: no crash, hang, undefined behaviour or leak.

Builds the program `mutate-models` of the preset `debug`, which is instrumented,
and lets it import, infer and export mutants of the ONNX backend cases. A case
is known by the seed and its number; how to run it alone is printed with each
failure. A case that ends the process costs that case only: the rest goes on.

    mutate.py [--seed N] [--count N] [--jobs N] [--no-build]
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from support import harness

PROGRAM = harness.ROOT / "build-debug" / "bin" / "mutate-models"
SEED = 20240607
COUNT = 5000
# One process that dies again and again isn't worth more than this.
MAX_ENDS = 25
SECONDS = 1200

# The MLIR libraries aren't instrumented, so containers that they fill look
# wrong to the instrumented code; and no model here needs an allocation of 1 GB.
ASAN = (
    "detect_leaks=1:detect_container_overflow=0:max_allocation_size_mb=1024:"
    "allocator_may_return_null=0:quarantine_size_mb=32:hard_rss_limit_mb=3000:detect_odr_violation=0"
)
COUNTS = re.compile(r"^refused (\d+), imported (\d+), inferred (\d+), exported (\d+), problems (\d+)$", re.M)
PROBLEM = re.compile(r"^problem: case (\d+): (.*)$", re.M)
STAGES = ("refused", "imported", "inferred", "exported")
# The lines of a report that say what happened and where.
TELLING = re.compile(r"ERROR:|runtime error|SUMMARY|^error:|Assertion|^\s+#\d+ .*(?:lib|fuzz)/\S+\.(?:cpp|h):\d+", re.M)


def build():
    start = time.monotonic()
    for command in (
        ["cmake", "--preset", "debug"],
        ["cmake", "--build", "--preset", "debug", "--target", "mutate-models"],
    ):
        result = subprocess.run(
            command, cwd=harness.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        if result.returncode:
            print(result.stdout[-4000:])
            print(f"{' '.join(command)}: exit status {result.returncode}")
            print("0 passed, 1 failed")
            sys.exit(1)
    print(f"built mutate-models in {time.monotonic() - start:.0f} s", flush=True)


def environment():
    result = dict(os.environ, ASAN_OPTIONS=ASAN, UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1")
    symbolizer = pathlib.Path("/usr/lib/llvm-22/bin/llvm-symbolizer")
    if symbolizer.exists():
        result["ASAN_SYMBOLIZER_PATH"] = str(symbolizer)
    return result


def report(text):
    lines = [line.strip() for line in text.splitlines() if TELLING.search(line)]
    return "\n    ".join(lines[:8])


def run_range(arguments, folder, first, last):
    """Cases first..last-1: how many came how far, and failures as (case, text)."""
    counts, failures = collections.Counter(), []
    with tempfile.TemporaryDirectory() as scratch:
        state = pathlib.Path(scratch, "state")
        env = dict(environment(), TMPDIR=scratch)
        for _ in range(MAX_ENDS):
            if first >= last:
                return counts, failures
            state.write_text("")
            options = ["--seed", arguments.seed, "--first", first, "--count", last - first, "--state", state]
            outcome = harness.run([PROGRAM, *options, folder], timeout=SECONDS, env=env)
            stdout = outcome.stdout.decode(errors="replace")
            for case, text in PROBLEM.findall(stdout):
                failures.append((int(case), text))
            done = COUNTS.search(stdout)
            if done:
                counts.update(dict(zip(STAGES, map(int, done.groups()))))
            if done and (outcome.status == 0 or int(done.group(5))):
                return counts, failures
            # Ended by a report: what came before this case went well.
            case = int(state.read_text() or first)
            counts["before an end"] += case - first
            kind = "leak in this case or some before it" if "leak in cases" in stdout or done else outcome.ended()
            failures.append((case, f"{kind}\n    {report(outcome.stderr)}"))
            first = case + 1
    failures.append((first, f"{last - first} cases left after {MAX_ENDS} ends"))
    return counts, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--no-build", action="store_true")
    arguments = parser.parse_args()
    if not arguments.no_build:
        build()
    folder = harness.backend_data()
    start = time.monotonic()
    edges = [arguments.count * i // arguments.jobs for i in range(arguments.jobs + 1)]
    counts, failures = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for part, found in pool.map(lambda pair: run_range(arguments, folder, *pair), zip(edges, edges[1:])):
            counts += part
            failures += found

    print(f"seed {arguments.seed}, {arguments.count} mutants in {time.monotonic() - start:.0f} s")
    imported = counts["imported"] + counts["inferred"] + counts["exported"]
    print(f"{counts['refused']} refused, {imported} imported, {counts['exported']} of them exported", end="")
    print(f", {counts['before an end']} in processes that ended" if counts["before an end"] else "")
    tally = harness.Tally()
    for case, text in sorted(failures):
        tally.result(f"mutate-models --seed {arguments.seed} --case {case} {folder}", text)
    tally.passed = arguments.count - len({case for case, _ in failures})
    tally.finish()


if __name__ == "__main__":
    main()
