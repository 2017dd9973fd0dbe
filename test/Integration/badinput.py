#!/usr/bin/python3
"""Hostile models and impossible outputs: one clear error each, nothing written, little used.

For each: exit status 1 within 5 s and 500 MB, exactly one `error:` line, which
names the file and, where there is one, the node or tensor; no output file and
no temporary one left behind. What is wrong with the model is in hostile.py.
"""

import os
import pathlib
import resource
import tempfile

from support import harness
from support import hostile
import numpy

SECONDS = 5
MEGABYTES = 500
EXTENSIONS = ("onnx", "mlir", "mlirbc")


def judge(outcome, path, words, leftovers):
    errors = [line for line in outcome.stderr.splitlines() if "error:" in line]
    said = errors[0][:200] if errors else outcome.stderr.strip()[:200]
    if outcome.timed_out or outcome.status != 1:
        return f"expects exit status 1, but got {outcome.ended()}: {said}"
    if len(errors) != 1:
        return f"expects one error line, but got {len(errors)}: {outcome.stderr.strip()[:300]}"
    if path.name not in errors[0]:
        return f"the error doesn't name {path.name}: {said}"
    for word in words:
        if word not in errors[0]:
            return f"the error doesn't name {word}: {said}"
    if leftovers:
        return f"left behind: {', '.join(leftovers)}"
    if outcome.seconds >= SECONDS:
        return f"took {outcome.seconds:.1f} s"
    if outcome.megabytes >= MEGABYTES:
        return f"took {outcome.megabytes:.0f} MB"
    return None


def bad_models(folder, tally):
    out = folder / "out"
    out.mkdir()
    for case in hostile.cases(folder / "in"):
        outcome = harness.run([harness.OPT, case.path, "-o", out / "out.onnx"], timeout=SECONDS)
        left = sorted(os.listdir(out))
        for name in left:
            os.unlink(out / name)
        tally.result(f"onnxq-opt: {case.name}", judge(outcome, case.path, case.words, left))
        outcome = harness.run([harness.ONNXQ, "info", case.path], timeout=SECONDS)
        tally.result(f"onnxq info: {case.name}", judge(outcome, case.path, (), []))


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def bad_outputs(folder, tally):
    place = folder / "outputs"
    place.mkdir()
    good = place / "good.onnx"
    filler = hostile.tensor("weight", (64, 64), raw_data=bytes(64 * 64 * 4))
    shapes = [hostile.info("x", (64, 64))], [hostile.info("y", (64, 64))]
    model = hostile.model([hostile.node("Add", ["x", "weight"], ["y"])], *shapes, [filler])
    good.write_bytes(model.SerializeToString())

    # Root may write anywhere, so a folder of the kernel's stands for a read-only one.
    sealed = place / "sealed"
    sealed.mkdir()
    if os.geteuid() == 0:
        sealed = pathlib.Path("/proc")
    else:
        sealed.chmod(0o500)
    targets = {
        "a folder that isn't there": place / "nowhere" / "out.onnx",
        "a read-only folder": sealed / "out.onnx",
        "a file used as a folder": good / "out.onnx",
    }
    for name, target in targets.items():
        outcome = harness.run([harness.OPT, good, "-o", target], timeout=SECONDS)
        tally.result(f"output: {name}", judge(outcome, target, (), []))

    # The limit on file size acts like a full disk: a write comes back short, then fails.
    # Its signal stays ignored, as Python has it.
    full = place / "full"
    full.mkdir()
    for extension in EXTENSIONS:
        target = full / f"out.{extension}"
        old = full / f"kept.{extension}"
        old.write_bytes(b"old content")
        for path in (target, old):
            outcome = harness.run(
                [harness.OPT, good, "-o", path], timeout=SECONDS, preexec_fn=small_files, restore_signals=False
            )
            left = sorted(set(os.listdir(full)) - {f"kept.{e}" for e in EXTENSIONS})
            problem = judge(outcome, path, (), left)
            if not problem and path == old and old.read_bytes() != b"old content":
                problem = "the file that was there is gone"
            tally.result(f"output: full disk, {path.name}", problem)
            for name in left:
                os.unlink(full / name)


def judge_command(name, command, words, tally, **options):
    """One error line with these words, quickly, without a signal."""
    outcome = harness.run(command, timeout=SECONDS, **options)
    errors = [line for line in outcome.stderr.splitlines() if "error:" in line]
    problem = None
    if outcome.timed_out or outcome.status != 1 or len(errors) != 1:
        problem = f"expects exit status 1 and one error, but got {outcome.ended()}: {outcome.stderr.strip()[:200]}"
    elif not all(word in errors[0] for word in words):
        problem = f"the error doesn't say {words}: {errors[0][:200]}"
    elif outcome.megabytes >= MEGABYTES:
        problem = f"took {outcome.megabytes:.0f} MB"
    tally.result(name, problem)


def good_model(folder):
    good = folder / "good.onnx"
    weight = hostile.tensor("w", (3, 3), raw_data=bytes(36))
    good.write_bytes(hostile.model([hostile.node("MatMul", ["x", "w"], ["y"])], initializers=[weight]).SerializeToString())
    return good


def no_files(folder, tally):
    """Pipes, devices and files without end in the place of every kind of input."""
    place = folder / "files"
    place.mkdir()
    good = good_model(place)
    fifo, zero, huge = place / "fifo", place / "zero", place / "huge"
    os.mkfifo(fifo)
    zero.symlink_to("/dev/zero")
    with open(huge, "wb") as file:
        file.truncate(1 << 41)
    onnxq = harness.ONNXQ
    chip = [onnxq, "esp", "quantize", good, "--chip", "esp32s3", "-o", place / "q.espdl"]
    samples = place / "samples.npy"
    numpy.save(samples, numpy.zeros((2, 2, 3), "float32"))
    seeing = place / "seeing.onnx"
    images = [hostile.info("x", (1, 3, 8, 8))], [hostile.info("y", (1, 3, 8, 8))]
    seeing.write_bytes(hostile.model([hostile.relu()], *images).SerializeToString())
    uses = {
        "model.onnx": lambda path: [onnxq, "info", path],
        "model.mlir": lambda path: [onnxq, "info", path],
        "model.mlirbc": lambda path: [onnxq, "info", path],
        "opt.mlir": lambda path: [harness.OPT, path],
        "input.npy": lambda path: [onnxq, "run", good, "--input", f"x={path}"],
        "input.npz": lambda path: [onnxq, "run", good, "--input", f"x={path}"],
        "input.pb": lambda path: [onnxq, "run", good, "--input", f"x={path}"],
        "table.json": lambda path: [onnxq, "quantize", good, "-o", place / "q.onnx", "--table", path],
        "table.flatbuffers": lambda path: [onnxq, "quantize", good, "-o", place / "q.onnx", "--table", path],
        "options.yaml": lambda path: [onnxq, "quantize", good, "-o", place / "q.onnx", "--config", path],
        "image.png": lambda path: [onnxq, "calibrate", seeing, "-o", place / "t.json", "--data", path],
        "library.so": lambda path: [onnxq, "run", path, "--random-seed", "1"],
        "targets.so": lambda path: [onnxq, "info", path],
        "data.npy": lambda path: [onnxq, "calibrate", good, "-o", place / "t.json", "--data", path],
        "data.npz": lambda path: [onnxq, "calibrate", good, "-o", place / "t.json", "--data", path],
        "data.pb": lambda path: [onnxq, "calibrate", good, "-o", place / "t.json", "--data", path],
        "list.txt": lambda path: [onnxq, "calibrate", good, "-o", place / "t.json", "--data", path],
        "labels.npy": lambda path: [onnxq, "evaluate", good, "--data", samples, "--labels", path, "--metric", "top1"],
        "labels.txt": lambda path: [onnxq, "evaluate", good, "--data", samples, "--labels", path, "--metric", "top1"],
        "boxes.json": lambda path: [onnxq, "evaluate", good, "--data", samples, "--labels", path, "--metric", "coco", "--boxes", "yolox"],
        "other.json": lambda path: [onnxq, "debug", good, good, "--data", samples, "--compare", path],
        "merged.json": lambda path: [onnxq, "merge", path, "-o", place / "t.json"],
        "tokenizer.json": lambda path: [onnxq, "generate", good, "--tokenizer", path, "--prompt", "a"],
        "exponents.json": lambda path: chip + ["--table", path],
        "exponents.pickle": lambda path: chip + ["--table", path],
        "m.espdl": lambda path: [onnxq, "esp", "info", path],
        "cases.txt": lambda path: [onnxq, "test", place, "--list", path],
    }
    for name, command in uses.items():
        for kind, source in (("a pipe", fifo), ("a device", zero), ("a file of 2 TiB", huge)):
            path = place / name
            path.symlink_to(source)
            judge_command(f"{kind} as {name}", command(path), (name,), tally)
            path.unlink()
    left = [name for name in ("q.onnx", "t.json", "q.espdl") if (place / name).exists()]
    tally.result("no outputs of such inputs", f"left behind: {left}" if left else None)


def endless_data(folder, tally):
    """Folders whose links lead back or double with each step; a tensor whose size runs over."""
    place = folder / "endless"
    place.mkdir()
    good = good_model(place)
    steps = [place / f"step{i}" for i in range(30)]
    for step in steps:
        step.mkdir()
    for first, second in zip(steps, steps[1:]):
        for name in ("a", "b"):
            (first / name).symlink_to(second)
    for name in ("back", "again"):
        (steps[-1] / name).symlink_to(steps[0])
    numpy.save(steps[-1] / "x.npy", numpy.ones((2, 3), "float32"))
    command = [harness.ONNXQ, "calibrate", good, "--data", steps[0], "-o", place / "t.json"]
    outcome = harness.run(command, timeout=SECONDS)
    problem = None if outcome.status == 0 and b"samples      1:" in outcome.stdout else f"{outcome.ended()}: {outcome.stderr.strip()[:200]}"
    tally.result("folders with loops of links", problem)
    outcome = harness.run([harness.ONNXQ, "test", steps[0]], timeout=SECONDS)
    tally.result("test cases in such folders", outcome.ended() if outcome.timed_out or outcome.status < 0 else None)
    large = place / "large.pb"
    large.write_bytes(hostile.tensor("x", (1 << 62, 4), raw_data=b"").SerializeToString())
    command = [harness.ONNXQ, "calibrate", good, "--data", large, "-o", place / "t.json"]
    judge_command("a tensor of more bytes than can be counted", command, (large.name,), tally)


def deep_texts(folder, tally):
    """Texts nested far deeper than a parser's stack."""
    place = folder / "deep"
    place.mkdir()
    good = good_model(place)
    depth = 100_000
    quantize = [harness.ONNXQ, "quantize", good, "-o", place / "q.onnx"]
    samples = place / "samples.npy"
    numpy.save(samples, numpy.zeros((2, 2, 3), "float32"))
    debug = [harness.ONNXQ, "debug", good, good, "--data", samples]
    chip = [harness.ONNXQ, "esp", "quantize", good, "--chip", "esp32s3", "-o", place / "q.espdl"]
    generate = [harness.ONNXQ, "generate", good, "--prompt", "a"]
    texts = {
        "table.json": ("[" * depth, lambda path: quantize + ["--table", path]),
        "objects.json": ('{"a":' * depth, lambda path: quantize + ["--table", path]),
        "overrides.json": ('{"a":' * depth, lambda path: quantize + ["--tensor-overrides", path]),
        "result.json": ("[" * depth, lambda path: debug + ["--compare", path]),
        "exponents.json": ("[" * depth, lambda path: chip + ["--table", path]),
        "tokenizer.json": ("[" * depth, lambda path: generate + ["--tokenizer", path]),
        "flow.yaml": ("a: " + "[" * depth, lambda path: quantize + ["--config", path]),
        "block.yaml": ("- " * depth, lambda path: quantize + ["--config", path]),
        "attributes.mlir": ("module attributes {a = " + "[" * depth, lambda path: [harness.ONNXQ, "info", path]),
        "types.mlir": ("func.func private @f(" + "tuple<" * depth, lambda path: [harness.OPT, path]),
        "regions.mlir": ('"a.b"() ({' * depth, lambda path: [harness.OPT, path, "-o", place / "out.onnx"]),
        "signs.mlir": ("#m = affine_map<(d0) -> (" + "-" * depth, lambda path: [harness.OPT, path]),
    }
    for name, (text, command) in texts.items():
        path = place / name
        path.write_text(text)
        judge_command(f"deep {name}", command(path), ("nested deeper",), tally)


def bytecode(folder, tally):
    """Bytecode that isn't as it was written is refused, unless it is trusted; it holds no paths."""
    place = folder / "bytecode"
    (place / "other").mkdir(parents=True)
    good = good_model(place)
    moved = place / "other" / "renamed.onnx"
    moved.write_bytes(good.read_bytes())
    path = place / "m.mlirbc"
    harness.run([harness.OPT, good, "-o", path])
    harness.run([harness.OPT, moved, "-o", place / "moved.mlirbc"])
    data = path.read_bytes()
    tally.result("bytecode of a copy", None if data == (place / "moved.mlirbc").read_bytes() else "differs")
    fine = harness.run([harness.ONNXQ, "info", path])
    tally.result("bytecode as it was written", fine.stderr if fine.status else None)
    for at in range(0, len(data), max(1, len(data) // 40)):
        damaged = bytearray(data)
        damaged[at] ^= 0x41
        path.write_bytes(bytes(damaged))
        judge_command(f"bytecode damaged at {at}", [harness.ONNXQ, "info", path], (path.name,), tally)
    plain = place / "plain.mlirbc"
    text = place / "plain.mlir"
    harness.run([harness.OPT, good, "-o", text])
    harness.run(["/usr/lib/llvm-22/bin/mlir-opt", "--allow-unregistered-dialect", "--emit-bytecode", text, "-o", plain])
    if plain.exists():
        judge_command("bytecode of others", [harness.ONNXQ, "info", plain], ("--trust-bytecode",), tally)


def cache_entries(folder, tally):
    """Entries of the code cache that aren't what was put there are as good as none."""
    place = folder / "cache"
    place.mkdir()
    good = good_model(place)
    cache = place / "code"
    command = [harness.ONNXQ, "run", good, "--random-seed", "1", "--cache", cache]
    first = harness.run(command)
    entries = list(cache.iterdir()) if cache.exists() else []
    tally.result("an entry is kept", None if first.status == 0 and len(entries) == 1 else f"{first.ended()}, {entries}")
    if not entries:
        return
    entry, data = entries[0], entries[0].read_bytes()

    def fifo():
        os.mkfifo(entry)

    def damaged():
        entry.write_bytes(data[: len(data) // 2] + b"x" + data[len(data) // 2 + 1 :])

    def foreign():
        entry.write_bytes(data)
        entry.chmod(0o666)

    for name, make in {
        "a pipe": fifo,
        "a device": lambda: entry.symlink_to("/dev/zero"),
        "a folder": entry.mkdir,
        "damaged": damaged,
        "open to all": foreign,
        "cut off": lambda: entry.write_bytes(data[:100]),
    }.items():
        entry.unlink()
        make()
        outcome = harness.run(command, timeout=SECONDS)
        problem = None
        if outcome.status != 0 or outcome.stdout != first.stdout:
            problem = f"{outcome.ended()}: {outcome.stderr.strip()[:200]}"
        tally.result(f"a cache entry that is {name}", problem)
        if entry.is_dir():
            entry.rmdir()
            entry.write_bytes(b"")


def little_memory(folder, tally):
    """Verbs under a limit of memory end with an error, not with a crash."""
    place = folder / "memory"
    place.mkdir()
    weight = hostile.tensor("w", (4096, 8192), raw_data=bytes(4096 * 8192 * 4))
    shapes = [hostile.info("x", (4096, 4096))], [hostile.info("y", (4096, 8192))]
    model = place / "large.onnx"
    model.write_bytes(hostile.model([hostile.node("MatMul", ["x", "w"], ["y"])], *shapes, [weight]).SerializeToString())
    small, data = place / "small.onnx", place / "x.npy"
    nodes = [hostile.node("Sin", [f"t{i}" if i else "x"], [f"t{i + 1}"], name=f"n{i}") for i in range(40)]
    small.write_bytes(hostile.model(nodes, outputs=[hostile.info("t40")]).SerializeToString())
    numpy.save(data, numpy.zeros((4, 2, 3), "float32"))

    def judge(title, command, limit, tool=harness.ONNXQ):
        outcome = harness.run(
            [tool, *command], cwd=place, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        )
        # Below what the libraries take, the system's loader has the word.
        loaded = outcome.status != 127
        refused = outcome.status == 1 and "error:" in outcome.stderr and "fault of OnnxQuant" not in outcome.stderr
        problem = None if outcome.status == 0 or refused or not loaded else f"{outcome.ended()}: {outcome.stderr.strip()[:200]}"
        tally.result(f"{title} in {limit >> 20} MiB", problem)

    for limit in (400 << 20, 600 << 20, 900 << 20):
        judge("info", ["info", model], limit)
        judge("preprocess", ["preprocess", model, "-o", place / "p.onnx"], limit)
        judge("compile", ["compile", model, "-o", place / "m.o"], limit)
        judge("run", ["run", model, "--random-seed", "1"], limit)
        judge("quantize", ["quantize", model, "-o", place / "q.onnx", "--dynamic"], limit)
    # Where the heap is full, where no stack can grow, and where there is no room for the stack of a thread.
    product, samples = place / "product.onnx", place / "samples.npy"
    weight = hostile.tensor("w", (16, 24), raw_data=numpy.random.default_rng(1).standard_normal((16, 24)).astype("<f4").tobytes())
    ends = [hostile.info("x", (1, 16))], [hostile.info("y", (1, 24))]
    product.write_bytes(hostile.model([hostile.node("Gemm", ["x", "w"], ["y"])], *ends, [weight]).SerializeToString())
    numpy.save(samples, numpy.random.default_rng(2).standard_normal((4, 1, 16)).astype("<f4"))
    given = [product, "--data", samples, "--quiet"]
    made = {"q.onnx": ["quantize"], "t.json": ["calibrate"], "m.espdl": ["esp", "quantize", "--chip", "esp32s3", "--test-values"]}
    for name, verb in made.items():
        outcome = harness.run([harness.ONNXQ, *verb, *given, "-o", place / name])
        tally.expect(f"{name} with enough memory", outcome.status == 0, outcome.stderr.strip()[:200])
    for megabytes in (356, 390, 488):
        limit = megabytes << 20
        judge("a small compile", ["compile", small, "-o", "s.o"], limit)
        judge("a small run", ["run", small, "--random-seed", "1"], limit)
        judge("a small calibrate", ["calibrate", small, "--data", data, "-o", "c.json"], limit)
        judge("a small sensitivity", ["sensitivity", *given], limit)
        judge("a small debug", ["debug", product, "q.onnx", "--data", samples, "--report", "r.html"], limit)
        judge("onnxq-opt", [product, "--onnx-to-llvm", "-o", "m.ll"], limit, harness.OPT)
    for title, command in {
        "quantize": ["quantize", *given, "-o", "q2.onnx"],
        "evaluate": ["evaluate", "q.onnx", "--reference", product, "--data", samples],
        "merge": ["merge", "t.json", "-o", "u.json"],
        "bench": ["bench", product, "--seconds", "0.01"],
        "esp quantize": ["esp", "quantize", *given, "--chip", "esp32s3", "-o", "m2.espdl"],
        "esp check": ["esp", "check", product, "--chip", "esp32s3"],
        "esp info": ["esp", "info", "m.espdl"],
        "esp evaluate": ["esp", "evaluate", "m.espdl", "--test-values"],
        "esp export": ["esp", "export", "m.espdl", "-o", "e.onnx"],
    }.items():
        judge(f"a small {title}", command, 356 << 20)


def unbounded(folder, tally):
    """Loops and tensors without bound: refused with the node's name, by run, preprocess and quantize."""
    place = folder / "unbounded"
    place.mkdir()
    onnxq = harness.ONNXQ
    trips = hostile.tensor("trips", (), hostile.TensorProto.INT64, int64_data=[1 << 62])
    yes = hostile.tensor("yes", (), hostile.TensorProto.BOOL, int32_data=[1])
    body = hostile.helper.make_graph(
        [
            hostile.node("Identity", ["go"], ["on"], name="inner"),
            hostile.node("Add", ["state", "state"], ["next"], name="twice"),
        ],
        "body",
        [
            hostile.info("i", (), hostile.TensorProto.INT64),
            hostile.info("go", (), hostile.TensorProto.BOOL),
            hostile.info("state", (1,)),
        ],
        [hostile.info("on", (), hostile.TensorProto.BOOL), hostile.info("next", (1,))],
    )
    loop = hostile.node("Loop", ["trips", "yes", "x"], ["y"], name="endless", body=body)
    one = [hostile.info("x", (1,))], [hostile.info("y", (1,))]
    path = place / "loop.onnx"
    path.write_bytes(hostile.model([loop], *one, [trips, yes]).SerializeToString())
    judge_command("an endless Loop", [onnxq, "run", path, "--random-seed", "1"], ("endless", "iterations"), tally)
    run = [onnxq, "run", path, "--random-seed", "1", "--max-iterations", "1000"]
    judge_command("a Loop of 1000 iterations", run, ("endless", "1000 iterations"), tally)
    # The same Loop over a constant: what can't be computed at once stays, or is refused when it runs.
    start = hostile.tensor("x", (1,), raw_data=bytes(4))
    path.write_bytes(hostile.model([loop], [], one[1], [trips, yes, start]).SerializeToString())
    outcome = harness.run([onnxq, "preprocess", path, "-o", place / "p.onnx"], timeout=SECONDS)
    tally.expect("preprocess of an endless Loop", outcome.status == 0, outcome.ended())

    side = 1 << 20
    big = [hostile.info("x", (side, 1)), hostile.info("w", (1, side))], [hostile.info("y", (side, side))]
    path = place / "matmul.onnx"
    path.write_bytes(hostile.model([hostile.node("MatMul", ["x", "w"], ["y"], name="huge")], *big).SerializeToString())
    judge_command("a product of 4 TiB", [onnxq, "run", path, "--random-seed", "1"], ("huge", "--max-memory"), tally)
    pool = hostile.node("AveragePool", ["x"], ["y"], name="wide", kernel_shape=[1], pads=[1 << 28, 1 << 28], strides=[1 << 20])
    ends = [hostile.info("x", (64, 64, 4))], [hostile.info("y", None)]
    path = place / "pool.onnx"
    path.write_bytes(hostile.model([pool], *ends).SerializeToString())
    judge_command("a pooling of wide pads", [onnxq, "run", path, "--random-seed", "1"], ("wide",), tally)
    side = 1 << 12
    small = [hostile.info("x", (side, 1)), hostile.info("w", (1, side))], [hostile.info("y", (side, side))]
    path = place / "small.onnx"
    path.write_bytes(hostile.model([hostile.node("MatMul", ["x", "w"], ["y"], name="tall")], *small).SerializeToString())
    run = [onnxq, "run", path, "--random-seed", "1", "--quiet"]
    judge_command("64 MiB in 32", run + ["--max-memory", "32M"], ("tall", "--max-memory"), tally)
    outcome = harness.run(run + ["--max-memory", "1G"])
    tally.result("64 MiB in 1 GiB", outcome.stderr if outcome.status else None)


def valid_but_odd(folder, tally):
    """Size alone is no fault, nor is the order of nodes; asking for a petabyte takes none of it at import."""
    names = ["x", *(f"t{i}" for i in range(19_999)), "y"]
    chain = [hostile.node("Relu", [a], [b], name=f"n{b}") for a, b in zip(names, names[1:])]
    shape = hostile.tensor("shape", (1,), hostile.TensorProto.INT64, int64_data=[1 << 48])
    fill = hostile.node("ConstantOfShape", ["shape"], ["t"])
    total = hostile.node("ReduceSum", ["t"], ["y"], name="total", keepdims=0)
    unsorted = [hostile.node("Relu", ["t"], ["y"]), hostile.node("Relu", ["x"], ["t"], name="late")]
    models = {
        "unsorted nodes": hostile.model(unsorted),
        "a chain of 20,000 nodes": hostile.model(chain),
        "a petabyte filled and summed": hostile.model([fill, total], [], [hostile.info("y", ())], [shape]),
    }
    for name, model in models.items():
        path = folder / (name.replace(" ", "-") + ".onnx")
        path.write_bytes(model.SerializeToString())
        for passes in ([], ["--onnx-shape-inference"]):
            outcome = harness.run([harness.OPT, path, *passes, "-o", folder / "valid.onnx"], timeout=SECONDS)
            problem = None
            if outcome.status or outcome.megabytes >= MEGABYTES:
                problem = f"{outcome.ended()}, {outcome.megabytes:.0f} MB: {outcome.stderr.strip()[:200]}"
            tally.result(" ".join([name, *passes]), problem)


def main():
    harness.require_tools()
    tally = harness.Tally()
    with tempfile.TemporaryDirectory(prefix="onnxq-bad-") as temporary:
        folder = pathlib.Path(temporary)
        bad_models(folder, tally)
        bad_outputs(folder, tally)
        no_files(folder, tally)
        endless_data(folder, tally)
        deep_texts(folder, tally)
        bytecode(folder, tally)
        cache_entries(folder, tally)
        little_memory(folder, tally)
        unbounded(folder, tally)
        valid_but_odd(folder, tally)
    tally.finish()


if __name__ == "__main__":
    main()
