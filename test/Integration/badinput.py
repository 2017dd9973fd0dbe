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

import harness
import hostile

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
        valid_but_odd(folder, tally)
    tally.finish()


if __name__ == "__main__":
    main()
