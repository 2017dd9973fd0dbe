#!/usr/bin/python3
"""Runs the test suites of one build and adds them up.

    run_suites.py --build DIR [--jobs N] [SUITE]...

Suites: `lit` (everything lit finds), `unit` (each GoogleTest program below
DIR/unittests), and every executable .py or .sh in test/Integration by its stem, or
`integration` for all of those; `quick` is lit, unit and the smoke test, for the time
between an edit and a commit. An integration suite gets the build folder in
ONNXQUANT_BUILD and ends with `N passed, N failed`, perhaps with `, N skipped`; so many run
at a time as there are processors, and what one prints is shown when it has ended. The last line printed here is `N passed, N failed`; the exit status says whether anything failed.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIT = "/usr/lib/llvm-22/bin/lit"
PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}
LAST_LINE = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")


def run_lit(build):
    report = build / "test" / "lit-report.json"
    report.unlink(missing_ok=True)
    status = subprocess.run([LIT, "-sv", "-o", report, build / "test"]).returncode
    if not report.exists():
        print(f"lit left no report (exit status {status})")
        return 0, 1, 0
    codes = [test["code"] for test in json.loads(report.read_text())["tests"]]
    passed = sum(code in PASSED for code in codes)
    skipped = sum(code in SKIPPED for code in codes)
    failed = len(codes) - passed - skipped
    if not codes:
        print("lit found no tests")
    return passed, failed or int(status != 0 or not codes), skipped


def run_unit(build):
    totals = [0, 0, 0]
    folder = build / "unittests"
    programs = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and os.access(path, os.X_OK) and re.search(r"Tests?$", path.name)
    )
    for program in programs:
        report = program.with_suffix(".json")
        report.unlink(missing_ok=True)
        result = subprocess.run(
            [program, "--gtest_brief=1", f"--gtest_output=json:{report}"],
            cwd=program.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        suites = json.loads(report.read_text())["testsuites"] if report.exists() else []
        tests = [test for suite in suites for test in suite["testsuite"]]
        failed = sum("failures" in test for test in tests)
        skipped = sum(test["result"] != "COMPLETED" for test in tests)
        totals[0] += len(tests) - failed - skipped
        totals[2] += skipped
        # A crash leaves no report.
        totals[1] += failed or int(result.returncode != 0)
        if result.returncode:
            print(f"{program.name}: exit status {result.returncode}\n{result.stdout}")
    return tuple(totals)


def run_integration(script, build):
    environment = dict(os.environ, ONNXQUANT_BUILD=str(build))
    start = time.monotonic()
    process = subprocess.run([script], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, errors="replace")
    lines = process.stdout.splitlines()
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    match = LAST_LINE.match(last)
    if match:
        passed, failed, skipped = (int(group or 0) for group in match.groups())
        counts = passed, failed or int(process.returncode != 0), skipped
    else:
        lines.append(f"{script.name} ended without a result (exit status {process.returncode})")
        counts = 0, 1, 0
    print("\n".join([f"== {script.stem}", *("  " + line for line in lines)]), flush=True)
    return script.stem, *counts, time.monotonic() - start


def integration_suites():
    return {
        path.stem: path
        for path in sorted((ROOT / "test" / "Integration").iterdir())
        if path.suffix in (".py", ".sh") and os.access(path, os.X_OK)
    }


def main():
    # In the background, shells start programs that ignore interrupts; suites send some.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    scripts = integration_suites()
    names = ["lit", "unit", *scripts]
    groups = {"integration": list(scripts), "quick": ["lit", "unit", "smoke"]}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many integration suites run at a time")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join([*names, *groups]))
    arguments = parser.parse_args()
    chosen = [name for suite in arguments.suites for name in groups.get(suite, [suite])] or names
    unknown = set(chosen) - set(names)
    if unknown:
        parser.error(f"expects suites of {', '.join([*names, *groups])}, but got {', '.join(sorted(unknown))}")
    build = arguments.build.resolve()

    rows = []
    for name, run in (("lit", run_lit), ("unit", run_unit)):
        if name in chosen:
            print(f"== {name}", flush=True)
            start = time.monotonic()
            rows.append((name, *run(build), time.monotonic() - start))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        rows += pool.map(lambda name: run_integration(scripts[name], build), [name for name in chosen if name in scripts])

    print(f"\n{'suite':<20}{'passed':>8}{'failed':>8}{'skipped':>8}{'seconds':>9}")
    for name, passed, failed, skipped, seconds in rows:
        print(f"{name:<20}{passed:>8}{failed:>8}{skipped:>8}{seconds:>9.1f}")
    passed, failed = (sum(row[i] for row in rows) for i in (1, 2))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
