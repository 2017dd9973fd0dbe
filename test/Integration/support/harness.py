"""What the integration suites share: the build's tools run and measured, results counted.

A suite is an executable script in the folder above that prints a line per failure and ends
with `N passed, N failed`.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("ONNXQUANT_BUILD", ROOT / "build")).resolve()
OPT = str(BUILD / "bin" / "onnxq-opt")
ONNXQ = str(BUILD / "bin" / "onnxq")
CACHE = pathlib.Path(
    os.environ.get("ONNXQUANT_CACHE")
    or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "onnxquant")
)
MODELS = CACHE / "node_modules"


def backend_data():
    """The folder of Debian's ONNX backend cases, from the package's own file list."""
    import onnx.backend.test

    listing = subprocess.run(["dpkg", "-L", "libonnx-testdata"], capture_output=True, text=True)
    for line in listing.stdout.splitlines():
        if line.endswith("/backend/test/data"):
            return pathlib.Path(line)
    return pathlib.Path(onnx.backend.test.__file__).parent / "data"


class Outcome:
    """How a program ended: status, what it wrote, seconds by the clock and of processors, peak resident megabytes."""

    def __init__(self, status, stdout, stderr, seconds, processor_seconds, megabytes, timed_out):
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.seconds = seconds
        self.processor_seconds = processor_seconds
        self.megabytes = megabytes
        self.timed_out = timed_out

    def ended(self):
        if self.timed_out:
            return f"stopped after {self.seconds:.0f} s"
        if self.status < 0:
            return f"killed by {signal.Signals(-self.status).name}"
        return f"exit status {self.status}"


def run(command, timeout=60, **options):
    """Runs a program and measures it by itself; its output goes to files, so that no pipe can fill up.

    Its peak memory is never below that of the calling suite, which it starts as: keep suites small.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=err, stdin=subprocess.DEVNULL, **options)
        # wait4 gives this child's own resource use; Popen.wait would not.
        pid, timed_out, pause = 0, False, 0.001
        while not pid:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if not timed_out and time.monotonic() - start > timeout:
                process.kill()
                timed_out = True
            time.sleep(pause)
            pause = min(pause * 1.5, 0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        return Outcome(
            process.returncode,
            out.read(),
            err.read().decode(errors="replace"),
            seconds,
            usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss / 1024,
            timed_out,
        )


class Tally:
    """Counts results, prints failures as they come, ends the program with the closing line."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0

    def result(self, name, problem=None):
        if problem:
            self.failed += 1
            print(f"FAIL {name}: {problem}", flush=True)
        else:
            self.passed += 1

    def expect(self, name, condition, problem):
        """A result; one that isn't as expected fails, also if nothing was printed that could tell why."""
        self.result(name, None if condition else problem or "isn't as expected, and nothing is said")

    def finish(self):
        line = f"{self.passed} passed, {self.failed} failed"
        print(line + (f", {self.skipped} skipped" if self.skipped else ""))
        sys.exit(1 if self.failed else 0)


def judge_cases(run_all, good, bad, *options):
    """Ends the program with what `run_all(folder, cases, *options)` says: good cases run, bad ones name their node."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        names, failures = run_all(pathlib.Path(folder, "good"), good, *options)
        for name in names:
            tally.result(name, failures.get(name))
        names, failures = run_all(pathlib.Path(folder, "bad"), bad)
        for name in names:
            message = failures.get(name, "ran without an error")
            tally.expect(f"bad {name}", message.startswith("node 'node': "), message)
    tally.finish()


def require_tools():
    missing = [tool for tool in (OPT, ONNXQ) if not os.access(tool, os.X_OK)]
    if missing:
        print(f"not built: {', '.join(missing)}")
        print("0 passed, 1 failed")
        sys.exit(1)
