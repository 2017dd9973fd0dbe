#!/usr/bin/python3
"""How the tools end and what they say meanwhile: interrupts, crashes, full outputs, terminals, whole jobs.

Prints a line per failure, then the totals.
"""

import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import harness

# A second is what is promised; the rest is for machines with other work.
SOON = 2.5
LLVM_WORDS = ("LLVM ERROR", "PLEASE submit", "Stack dump")


def make_model(path, layers=12, channels=48):
    """Convolutions that take a while to compile and to run."""
    random = np.random.default_rng(0)
    nodes, weights, name, depth = [], [], "x", 3
    for layer in range(layers):
        weight = random.standard_normal((channels + layer % 5, depth, 3, 3)).astype(np.float32) / 20
        weights.append(numpy_helper.from_array(weight, f"w{layer}"))
        nodes += [helper.make_node("Conv", [name, f"w{layer}"], [f"c{layer}"], f"conv{layer}", pads=[1] * 4),
                  helper.make_node("Relu", [f"c{layer}"], [f"r{layer}"], f"relu{layer}")]
        name, depth = f"r{layer}", channels + layer % 5
    nodes.append(helper.make_node("GlobalAveragePool", [name], ["y"], "pool"))
    graph = helper.make_graph(nodes, "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 64, 64])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, depth, 1, 1])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))


class Setting:
    """A folder with a model and samples, and another for temporaries."""

    def __init__(self, folder):
        self.folder = folder
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.model, self.quantized, self.data = folder / "m.onnx", folder / "q.onnx", folder / "x.npy"
        make_model(self.model)
        np.save(self.data, np.random.default_rng(1).standard_normal((3000, 3, 64, 64)).astype(np.float32))
        self.few = folder / "few.npy"
        np.save(self.few, np.load(self.data)[:4])
        self.environment = dict(os.environ, TMPDIR=str(self.temporary))
        done = self.run("quantize", self.model, "--data", self.few, "-o", self.quantized, "--quiet")
        if done.returncode:
            raise SystemExit(f"the model can't be quantized: {done.stderr}")
        self.files = sorted(os.listdir(folder))

    def run(self, *arguments):
        return subprocess.run([harness.ONNXQ, *map(str, arguments)], capture_output=True, text=True, env=self.environment, cwd=self.folder)

    def start(self, command, **options):
        # A shell in the background would let its children ignore interrupts.
        return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.environment, cwd=self.folder, **options)

    def settle(self, process, seconds):
        """Waits until the tool takes signals itself, and then so long."""
        caught = 0
        while process.poll() is None and not caught >> (signal.SIGINT - 1) & 1:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            caught = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)
            time.sleep(0.02)
        time.sleep(seconds)

    def left(self):
        """What there is now that wasn't there before."""
        return sorted(set(os.listdir(self.folder)) - set(self.files)) + os.listdir(self.temporary)


def interrupts(setting, tally):
    verbs = {
        "calibrate": ["calibrate", setting.model, "--data", setting.data, "-o", "t.json"],
        "quantize": ["quantize", setting.model, "--data", setting.data, "-o", "new.onnx"],
        # Code for many layers is being compiled then.
        "quantize within bounds": ["quantize", setting.model, "--data", setting.few, "-o", "new.onnx", "--min-sqnr", "30", "--target", "x86-64-v3"],
        "evaluate": ["evaluate", setting.quantized, "--reference", setting.model, "--data", setting.data],
        "debug": ["debug", setting.model, setting.quantized, "--data", setting.data],
        "sensitivity": ["sensitivity", setting.model, "--data", setting.data],
        "bench": ["bench", setting.model, "--seconds", "60"],
        "test": ["test", setting.folder / "cases"],
    }
    case = setting.folder / "cases" / "one" / "test_data_set_0"
    case.mkdir(parents=True)
    layers = 200
    make_model(case.parent / "model.onnx", layers=layers, channels=96)
    # With an input, so that it is compiled: that takes longer than the wait below.
    for name, shape in (("input_0", (1, 3, 64, 64)), ("output_0", (1, 96 + (layers - 1) % 5, 1, 1))):
        (case / f"{name}.pb").write_bytes(numpy_helper.from_array(np.zeros(shape, np.float32), name).SerializeToString())
    setting.files.append("cases")
    for name, words in verbs.items():
        for again in (False, True):
            process = setting.start([harness.ONNXQ, *words])
            setting.settle(process, 0.8)
            process.send_signal(signal.SIGINT)
            if again:
                time.sleep(0.05)
                process.send_signal(signal.SIGINT)
            start = time.monotonic()
            try:
                out, err = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
            seconds = time.monotonic() - start
            problem = None
            if process.returncode != 130:
                problem = f"exit status {process.returncode}: {err[-300:]}"
            elif seconds > SOON:
                problem = f"took {seconds:.1f} s"
            elif setting.left():
                problem = f"left {setting.left()}"
            elif any(word in err for word in LLVM_WORDS):
                problem = err
            tally.result(f"{name}, interrupted{' twice' if again else ''}", problem)
    process = setting.start([harness.ONNXQ, *verbs["bench"]])
    setting.settle(process, 0.8)
    process.terminate()
    out, err = process.communicate()
    tally.result("terminated", None if process.returncode == 143 and not setting.left() else f"exit status {process.returncode}, left {setting.left()}")


def crashes(setting, tally):
    """A crash that the tests can make: the signal comes from outside."""
    commands = {"onnxq": [harness.ONNXQ, "bench", setting.model, "--seconds", "60"], "onnxq-opt": [harness.OPT, "-"]}
    for tool, command in commands.items():
        for number in (signal.SIGSEGV, signal.SIGILL, signal.SIGBUS, signal.SIGABRT):
            process = setting.start(command, stdin=subprocess.PIPE)
            setting.settle(process, 0.5)
            process.send_signal(number)
            out, err = process.communicate()
            problem = None
            if process.returncode != -number:
                problem = f"exit status {process.returncode}"
            elif any(word in err for word in LLVM_WORDS):
                problem = f"shows LLVM's words: {err}"
            elif not err.startswith(f"error: {tool}") or number.name not in err or "report it" not in err or "0.1.0" not in err:
                problem = f"says {err!r}"
            elif setting.left():
                problem = f"left {setting.left()}"
            tally.result(f"{tool}: {number.name}", problem)
    full = subprocess.run([harness.ONNXQ, "info", str(setting.model)], stdout=open("/dev/full", "w"), stderr=subprocess.PIPE, text=True)
    tally.result("standard output is full", None if full.returncode == 1 and "standard output cannot be written" in full.stderr
                 and not any(word in full.stderr for word in LLVM_WORDS) else f"{full.returncode}: {full.stderr}")


def on_terminal(command, environment, cwd):
    """What a program writes to a terminal."""
    reader, writer = pty.openpty()
    process = subprocess.Popen([str(word) for word in command], stdout=writer, stderr=writer, env=environment, cwd=cwd)
    os.close(writer)
    text = b""
    while True:
        ready, _, _ = select.select([reader], [], [], 60)
        try:
            piece = os.read(reader, 65536) if ready else b""
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(reader)
    return process.wait(), text.decode(errors="replace")


def terminals(setting, tally):
    large = setting.folder / "cases" / "one" / "model.onnx"
    status, text = on_terminal([harness.ONNXQ, "compile", large, "-o", "p.so"], setting.environment, setting.folder)
    phases = [phase for phase in ("preparing the graph ...", "choosing kernels ...", "generating code ...") if phase in text]
    tally.expect("compile shows phases", status == 0 and phases and "wrote p.so (" in text, text[-400:])
    status, text = on_terminal([harness.ONNXQ, "compile", large, "-o", "p.so", "--quiet"], setting.environment, setting.folder)
    tally.expect("quiet is quiet", status == 0 and not text, text)
    (setting.folder / "p.so").unlink()
    status, text = on_terminal([harness.ONNXQ, "evaluate", large, "--reference", setting.model, "--data", setting.few], setting.environment,
                               setting.folder)
    tally.expect("evaluate tells compiling", "compiling ..." in text and ", 0 samples/s" not in text, text[-400:])
    status, text = on_terminal([harness.OPT, setting.model], setting.environment, setting.folder)
    tally.result("weights are elided", None if status == 0 and len(text) < 20000 and "dense_resource<" in text and '"0x' not in text else
                 f"{status}, {len(text)} characters: {text[:300]}")
    status, text = on_terminal([harness.OPT, setting.model, "--show-weights"], setting.environment, setting.folder)
    tally.result("weights are shown", None if status == 0 and len(text) > 200000 else f"{status}, {len(text)} characters")


JOB = """
model: m.onnx
output: job.onnx
data:
  path: few.npy
  limit: 3
per_channel: true
compile:
  output: job.so
evaluate:
  json: true
bench:
  seconds: 0.05
  quiet: true
"""


def jobs(setting, tally):
    config = setting.folder / "job.yaml"
    config.write_text(JOB.replace("  quiet: true\n", ""))
    done = setting.run("quantize", "--config", config)
    start = done.stdout.find("{")
    score = json.JSONDecoder().raw_decode(done.stdout[start:])[0] if start >= 0 else {}
    commands = [line.split()[2] for line in done.stderr.splitlines() if line.startswith("+ onnxq")]
    tally.result("a whole job", None if done.returncode == 0 and commands == ["quantize", "compile", "evaluate", "bench"] and score.get("samples") == 3
                 and (setting.folder / "job.so").exists() else f"{done.returncode}, {commands}, {done.stderr[-400:]} {done.stdout[-200:]}")
    # A metric of likeness is beside the float model, in both of YAML's forms.
    for metric in ("sqnr", "[cosine]"):
        config.write_text(JOB.replace("  json: true", f"  json: true\n  metric: {metric}").split("bench:")[0])
        done = setting.run("quantize", "--config", config)
        tally.expect(f"a job that measures {metric}", "--reference=m.onnx" in done.stderr, done.stderr[-400:])
    # The command line wins.
    done = setting.run("quantize", "--config", config, "-o", "other.onnx", "--limit", "2")
    tally.expect("the command line wins", "--limit" not in done.stderr.splitlines()[0] and (setting.folder / "other.onnx").exists(), done.stderr)
    for wrong, words in {
        "limt: 3": "no option 'limt'; did you mean 'limit'?",
        "compile: {ouput: x.so}": "no option 'ouput'; did you mean 'output'? (of compile)",
        "complie: x": "no option 'complie'; did you mean 'compile'?",
        "data: {pth: x}": "no option 'pth' of data; did you mean 'path'?",
        "data: {path: x, limt: 3}": "no option 'limt' of data; did you mean 'limit'?",
        "mode: qdq\nmode: qdq": "gives 'mode' twice",
        "- a": "expects a mapping",
    }.items():
        config.write_text(f"model: m.onnx\noutput: no.onnx\n{wrong}\n" if wrong != "- a" else wrong)
        done = setting.run("quantize", "--config", config)
        tally.expect(f"job with {wrong!r}", done.returncode == 1 and words in done.stderr and done.stderr.startswith(f"error: {config}"), done.stderr)
    config.write_text("output: c.so\ntarget: [x86-64-v2, x86-64-v3]\n")
    done = setting.run("compile", setting.model, "--config", config)
    tally.expect("compile from a file", done.returncode == 0 and "wrote c.so" in done.stdout and "x86-64-v3" in done.stdout, done.stderr)


def main():
    tally = harness.Tally()
    with tempfile.TemporaryDirectory() as folder:
        setting = Setting(pathlib.Path(folder).resolve())
        interrupts(setting, tally)
        crashes(setting, tally)
        terminals(setting, tally)
        jobs(setting, tally)
    tally.finish()


if __name__ == "__main__":
    main()
