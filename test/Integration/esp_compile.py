#!/usr/bin/env -S /usr/bin/python3
"""ESP-DL models compiled for their chips: run by qemu, equal to the evaluation here to the bit; disassembled; refused.

Reads test/Inputs/esp, and the folder that ONNXQUANT_ESP_DATA names, if it does. Code is linked with a start of its own
(bare/) and run by qemu-riscv32 and qemu-xtensa; that of the esp32s3 is disassembled too. Debian's binutils-xtensa-lx106
links Xtensa's code; without it, or another program, what needs it is skipped. Prints a line per failure, what was
skipped, then the totals.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.harness import ONNXQ, ROOT, Tally, require_tools, run

INPUTS = ROOT / "test" / "Inputs" / "esp"
BARE = ROOT / "test" / "Integration" / "support" / "bare"
MACHINES = {"esp32c3": ("rv32imc", "ilp32"), "esp32p4": ("rv32imafc", "ilp32f")}
MEMORY = {"memcpy", "memmove", "memset"}
# What a C compiler's own library has for floats where there is no unit, and for 64 bits.
FLOATS = {
    "__addsf3", "__subsf3", "__mulsf3", "__divsf3", "__fixsfsi", "__fixsfdi", "__floatsisf", "__floatdisf", "__eqsf2",
    "__nesf2", "__ltsf2", "__lesf2", "__gtsf2", "__gesf2", "__unordsf2",
}
CALLS = {
    "esp32c3": MEMORY | FLOATS,
    "esp32p4": MEMORY | {"__floatdisf", "__fixsfdi"},
    "esp32s3": MEMORY | {"__divsf3", "__floatdisf", "__fixsfdi", "__ashldi3", "__ashrdi3", "__lshrdi3", "__muldi3"},
}


# Softmax of int16: a function of floats, which only the esp32p4's code computes.
NEEDS_EXP = {"s3_softmax_ishape_1_33_dim_-1_s8.espdl"}


def program(*names):
    return next((found for found in map(shutil.which, names) if found), None)


CLANG, LINKER, QEMU = program("clang-22"), program("ld.lld-22"), program("qemu-riscv32")
OBJDUMP, ASSEMBLER, LLC = program("llvm-objdump-22"), program("llvm-mc-22"), program("llc-22")
XTENSA_LINKER, XTENSA_QEMU = program("xtensa-lx106-elf-ld"), program("qemu-xtensa")
XTENSA_CORE = ["-mcpu=esp32", "-mattr=-dfpaccel"]


def esp(*arguments):
    return run([ONNXQ, "esp", *arguments], timeout=120)


def compile_model(path, chip, output, *options):
    return run([ONNXQ, "compile", path, "--target", chip, "--name", "model", "--json", *options, "-o", output], timeout=120)


def problem_of(outcome, status=0, message=""):
    if outcome.status != status:
        return f"{outcome.ended()}: {outcome.stderr.strip()[-300:]}"
    if message not in outcome.stderr:
        return f"says '{outcome.stderr.strip()[-300:]}', not '{message}'"
    return None


#===----------------------------------------------------------------------===#
# Models
#===----------------------------------------------------------------------===#


def network(kind, random):
    """A small float model that ends in `kind`, with convolutions of every kind before it."""
    nodes, constants = [], []

    def constant(array):
        constants.append(numpy_helper.from_array(np.asarray(array), f"c{len(constants)}"))
        return constants[-1].name

    def node(op, *inputs, **attributes):
        name = f"{op.lower()}_{len(nodes)}"
        nodes.append(helper.make_node(op, list(inputs), [name], name, **attributes))
        return name

    def conv(x, inputs, outputs, size, stride=1, group=1, dilation=1):
        weights = random.standard_normal((outputs, inputs // group, size, size)).astype(np.float32) / size
        pad = (size // 2) * dilation
        return node("Conv", x, constant(weights), constant(random.standard_normal(outputs).astype(np.float32)),
                    kernel_shape=[size] * 2, strides=[stride] * 2, pads=[pad] * 4, group=group, dilations=[dilation] * 2)

    x = node("Relu", conv("x", 3, 19, 3, 2))
    y = node("Relu", conv(x, 19, 19, 3, group=19, dilation=2))
    y = node("Add", x, conv(y, 19, 19, 1))
    if kind == "pools":
        y = node("MaxPool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        y = node("AveragePool", y, kernel_shape=[2, 2], strides=[1, 1])
    elif kind == "functions":
        y = node("Concat", node("Sigmoid", y), node("Tanh", node("Mul", y, x)), axis=1)
        y = conv(y, 38, 19, 1)
    y = node("Flatten", node("GlobalAveragePool", y))
    y = node("Gemm", y, constant(random.standard_normal((10, 19)).astype(np.float32)),
             constant(random.standard_normal(10).astype(np.float32)), transB=1)
    if kind == "softmax":
        y = node("Softmax", y, axis=-1)
    graph = helper.make_graph(
        nodes, "small", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 15, 15])],
        [helper.make_tensor_value_info(y, TensorProto.FLOAT, [1, 10])], constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def quantized(folder, kind, chip, *options):
    """A network as a .espdl file."""
    random = np.random.default_rng(len(kind))
    model, path = folder / f"{kind}.onnx", folder / "-".join([kind, chip, *(o.strip("-") for o in options)])
    path = path.with_name(path.name + ".espdl")
    onnx.save(network(kind, random), str(model))
    np.save(folder / "samples.npy", random.standard_normal((4, 3, 15, 15)).astype(np.float32))
    outcome = esp("quantize", model, "--data", folder / "samples.npy", "--chip", chip, *options, "--quiet", "-o", path)
    return path, problem_of(outcome)


#===----------------------------------------------------------------------===#
# Running
#===----------------------------------------------------------------------===#


class Machine:
    """Links a start with what is compiled for a chip, and runs it."""

    link = [LINKER, "-static", "-e", "_start"]
    emulate = [QEMU]

    def __init__(self, chip, folder):
        self.chip, self.objects = chip, []
        arch, abi = MACHINES[chip]
        for name in ("start", "softfloat"):
            self.objects.append(folder / f"{name}-{chip}.o")
            subprocess.run(
                [CLANG, "--target=riscv32-unknown-elf", f"-march={arch}", f"-mabi={abi}", "-O1", "-ffreestanding",
                 "-fno-builtin", f"-I{ROOT / 'include'}", "-DMODEL=model_model", "-c", BARE / f"{name}.c", "-o",
                 self.objects[-1]], check=True)

    def run(self, compiled, inputs):
        """The bytes of all outputs, or what went wrong."""
        linked = compiled.with_suffix(".elf")
        outcome = run([*self.link, "-o", linked, *self.objects, compiled])
        if outcome.status:
            return None, outcome.stderr.strip()[-300:]
        data = b"".join(array.tobytes() for array in inputs)
        done = subprocess.run([*self.emulate, str(linked)], input=data, capture_output=True, timeout=120)
        return done.stdout, None if done.returncode == 0 else f"the run ended with {done.returncode}: {done.stderr[-200:]}"


def aligned_literals(text):
    """Assembly of Xtensa with constants at multiples of 4, which LLVM's directive for them doesn't keep to."""
    lines = []
    for line in text.splitlines():
        if line.strip() == ".literal_position":
            lines += [f'\t.section .literal.start_{len(lines)},"ax",@progbits', "\t.p2align 2"]
        elif line.strip().startswith(".literal "):
            label, value = line.strip()[9:].split(",")
            lines += [f"{label}:", f"\t.long {value}"]
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


class XtensaMachine(Machine):
    """The same for the esp32s3, whose processor LLVM's C compiler has no name for."""

    def __init__(self, folder):
        self.chip, self.objects, texts = "esp32s3", [], [BARE / "start_xtensa.s"]
        for name in ("start", "softfloat"):
            code, text = folder / f"{name}.ll", folder / f"{name}.s"
            subprocess.run(
                [CLANG, "--target=xtensa", "-O1", "-ffreestanding", "-fno-builtin", f"-I{ROOT / 'include'}",
                 "-DMODEL=model_model", "-S", "-emit-llvm", BARE / f"{name}.c", "-o", code], check=True)
            code.write_text(re.sub(r'"target-(cpu|features)"="[^"]*"', "", code.read_text()))
            subprocess.run([LLC, "-mtriple=xtensa", *XTENSA_CORE, code, "-o", text], check=True)
            text.write_text(aligned_literals(text.read_text()))
            texts.append(text)
        for number, text in enumerate(texts):
            self.objects.append(folder / f"xtensa{number}.o")
            subprocess.run([ASSEMBLER, "-triple=xtensa", *XTENSA_CORE, text, "-filetype=obj", "-o", self.objects[-1]],
                           check=True)

    link = [XTENSA_LINKER, "-e", "_start"]
    emulate = [XTENSA_QEMU, "-cpu", "de233_fpu"]


def random_inputs(path, random):
    kinds = {"int8": np.int8, "int16": np.int16, "float32": np.float32, "int64": np.int64}
    described = json.loads(esp("info", path, "--json").stdout)["models"][0]
    constants = {c["name"] for c in described["constants"]}
    declared = {t["name"]: t for t in described["test_inputs"]}
    arrays = {}
    for value in described["inputs"]:
        if value["name"] in constants:
            continue
        kind = kinds[declared.get(value["name"], value)["type"]]
        if np.issubdtype(kind, np.integer):
            limits = np.iinfo(kind)
            array = random.integers(limits.min, limits.max, value["shape"], dtype=kind, endpoint=True)
        else:
            array = random.standard_normal(value["shape"]).astype(kind)
        arrays[value["name"]] = array
    return arrays, [value["name"] for value in described["outputs"]]


def evaluated(path, chip, arrays, names, folder):
    """What the evaluation here gives, as the bytes of all outputs."""
    options = []
    for number, (name, array) in enumerate(arrays.items()):
        np.save(folder / f"in{number}.npy", array)
        options += ["--input", f"{name}={folder / f'in{number}.npy'}"]
    results = folder / "results"
    shutil.rmtree(results, ignore_errors=True)
    outcome = esp("evaluate", path, "--chip", chip, *options, "--output-dir", results)
    if outcome.status:
        return None, problem_of(outcome)
    files = [results / (re.sub(r"[^A-Za-z0-9._+-]", "_", name) + ".npy") for name in names]
    return b"".join(np.load(file).tobytes() for file in files), None


def compare(tally, machine, path, folder, random):
    """Compiled for its chip, a model gives the bits of the evaluation here; its calls are the stated ones."""
    compiled = folder / ("model.a" if len(path.name) % 2 else "model.o")
    outcome = compile_model(path, machine.chip, compiled)
    if "streaming" in path.name:
        problem = problem_of(outcome, 1, "(StreamingCache) keeps frames from run to run")
        tally.result(f"{machine.chip} {path.name}", problem)
        return
    problem = problem_of(outcome)
    if not problem:
        calls = set(json.loads(outcome.stdout)["calls"]) - CALLS[machine.chip]
        problem = f"calls {', '.join(sorted(calls))}" if calls else None
    if not problem:
        arrays, names = random_inputs(path, random)
        wanted, problem = evaluated(path, machine.chip, arrays, names, folder)
    if not problem:
        got, problem = machine.run(compiled, arrays.values())
        if not problem and got != wanted:
            count = sum(a != b for a, b in zip(got, wanted))
            problem = f"{count} of {len(wanted)} bytes differ" if len(got) == len(wanted) else f"{len(got)} bytes"
    tally.result(f"{machine.chip} {path.name}", problem)


def run_models(tally, folder):
    if not (CLANG and LINKER and QEMU):
        print("SKIP runs: clang-22, ld.lld-22 or qemu-riscv32 isn't there")
        tally.skipped += 1
        return
    random = np.random.default_rng(23)
    machines = {chip: Machine(chip, folder) for chip in MACHINES}
    if XTENSA_LINKER and XTENSA_QEMU and LLC and ASSEMBLER:
        machines["esp32s3"] = XtensaMachine(folder)
    else:
        print("SKIP runs of the esp32s3's code: xtensa-lx106-elf-ld, qemu-xtensa, llc-22 or llvm-mc-22 isn't there")
        tally.skipped += 1
    folders = [INPUTS] + [pathlib.Path(p) for p in [os.environ.get("ONNXQUANT_ESP_DATA")] if p]
    if len(folders) == 1:
        print("SKIP published files beyond test/Inputs/esp: ONNXQUANT_ESP_DATA isn't set")
    seen = set()
    for path in sorted(p for f in folders for p in f.rglob("*.espdl")):
        chip = {"p4": "esp32p4", "s3": "esp32s3", "c": "esp32c3"}.get(path.name.split("_")[0])
        if chip in machines and path.name not in NEEDS_EXP and path.name not in seen and path.stat().st_size < 200_000:
            seen.add(path.name)
            compare(tally, machines[chip], path, folder, random)
    kinds = [(kind, chip, []) for kind in ("plain", "pools", "functions", "softmax") for chip in machines]
    kinds += [("plain", "esp32c3", ["--bits", "16"]), ("pools", "esp32p4", ["--bits", "16"])]
    for kind, chip, options in kinds:
        path, problem = quantized(folder, kind, chip, *options)
        if problem:
            tally.result(f"quantize {path.name}", problem)
        else:
            compare(tally, machines[chip], path, folder, random)


#===----------------------------------------------------------------------===#
# The esp32s3
#===----------------------------------------------------------------------===#


def assemble_models(tally, folder):
    """Code of the esp32s3 is of Xtensa's instructions, and calls what is stated."""
    if not OBJDUMP:
        print("SKIP disassembly: llvm-objdump-22 isn't there")
        tally.skipped += 1
        return
    paths = sorted(INPUTS.rglob("s3_*.espdl"))
    for kind in ("plain", "pools", "functions"):
        path, problem = quantized(folder, kind, "esp32s3")
        tally.result(f"quantize {path.name}", problem)
        paths.append(path)
    for path in paths:
        compiled = folder / "s3.o"
        outcome = compile_model(path, "esp32s3", compiled)
        if path.name in NEEDS_EXP:
            tally.result(f"esp32s3 {path.name}", problem_of(outcome, 1, "it computes exp of floats at run time"))
            continue
        problem = problem_of(outcome)
        if not problem:
            report = json.loads(outcome.stdout)
            text = run([OBJDUMP, "-d", "--mcpu=esp32", "--no-show-raw-insn", compiled]).stdout.decode()
            # What stands beside the code are constants.
            text = "".join(part for part in text.split("Disassembly of section ") if not part.startswith(".literal"))
            symbols = run([OBJDUMP, "-t", compiled]).stdout.decode()
            undefined = {line.split()[-1] for line in symbols.splitlines() if "*UND*" in line} - {"*UND*"}
            calls = undefined - CALLS["esp32s3"]
            if "elf32-xtensa" not in text or "retw" not in text or "entry" not in text:
                problem = "no code of Xtensa with windows"
            elif "<unknown>" in text:
                problem = f"{text.count('<unknown>')} places aren't instructions"
            elif calls or undefined != set(report["calls"]):
                problem = f"calls {sorted(undefined)}, says {report['calls']}"
            elif not report["flash"]["code"] or report["ram"]["static"]:
                problem = f"takes {report['flash']} and {report['ram']}"
        tally.result(f"esp32s3 {path.name}", problem)


#===----------------------------------------------------------------------===#
# Files, and what is refused
#===----------------------------------------------------------------------===#


def files(tally, folder):
    path, problem = quantized(folder, "plain", "esp32c3")
    tally.result("quantize", problem)
    outcome = run([ONNXQ, "compile", path, "--target", "esp32c3", "--name", "small", "-o", folder / "small.o"])
    text = outcome.stdout.decode()
    problem = problem_of(outcome) or next(
        (f"doesn't say '{part}'" for part in ("flash: ", "RAM: ", "calls: ", "small.h") if part not in text), None)
    tally.result("report", problem)
    header = (folder / "small.h").read_text()
    described = json.loads(esp("info", path, "--json").stdout)["models"][0]
    wanted = [f"#define SMALL_INPUT_0_EXPONENT {described['inputs'][0]['exponents'][0]}\n",
              f"#define SMALL_OUTPUT_0_EXPONENT {described['outputs'][0]['exponents'][0]}\n",
              "#define SMALL_INPUT_0_BYTES 675\n", "#define SMALL_WORKSPACE_BYTES "]
    tally.result("header", next((f"lacks '{line}'" for line in wanted if line not in header), None))
    numbers = json.loads(compile_model(path, "esp32c3", folder / "small.a").stdout)
    weights = sum(np.prod(c["shape"]) for c in described["constants"] if c["type"] == "int8")
    ram = numbers["ram"]
    largest = 8 * 8 * 19
    problem = None
    if not weights <= numbers["flash"]["constants"] < 3 * weights + 2000:
        problem = f"{numbers['flash']['constants']} bytes of constants for {weights} weights"
    elif ram["workspace"] > 4 * largest or ram["static"] or ram["stack"] > 2048:
        problem = f"takes {ram} where the largest tensor has {largest}"
    elif (folder / "small.a").read_bytes()[:8] != b"!<arch>\n":
        problem = "isn't an archive"
    tally.result("memory", problem)
    first, second = folder / "first.o", folder / "second.o"
    for output in (first, second):
        compile_model(path, "esp32c3", output)
    tally.result("reproducible", None if first.read_bytes() == second.read_bytes() else "two runs differ")
    outcome = run([ONNXQ, "compile", path, "-o", folder / "here.so"])
    tally.result("for this machine", problem_of(outcome))


def refusals(tally, folder):
    plain, _ = quantized(folder, "plain", "esp32c3")
    wide, _ = quantized(folder, "softmax", "esp32c3", "--bits", "16")
    other = INPUTS / "ops" / "s3_linear_ishap_1_16_kshap_16_16_relu_s8.espdl"
    model = folder / "plain.onnx"
    damaged = folder / "damaged.espdl"
    damaged.write_bytes(plain.read_bytes()[:300])
    cases = [
        ("another chip", 1, [other, "--target", "esp32c3"], "is a model for esp32s3"),
        ("plain filters", 1, [plain, "--target", "esp32p4"], "quantize it with --chip esp32p4"),
        ("function", 1, [wide, "--target", "esp32c3"], "softmax_"),
        ("float model", 2, [model, "--target", "esp32c3"], "expects a .espdl model"),
        ("library", 2, [plain, "--target", "esp32c3"], "expects OUT to end with .o, .a"),
        ("archive", 2, [model], "a static library (.a) is for a microcontroller"),
        ("threads", 2, [plain, "--target", "esp32c3", "--threads", "2"], "'--threads' doesn't go with"),
        ("targets", 2, [plain, "--target", "esp32c3,esp32p4"], "stands alone"),
        ("key", 2, [model, "--key", "00"], "is for .espdl models"),
        ("damaged", 1, [damaged, "--target", "esp32c3"], "damaged.espdl"),
        ("missing", 1, [folder / "none.espdl", "--target", "esp32c3"], "none.espdl"),
    ]
    for name, status, arguments, message in cases:
        output = folder / {"library": "bad.so", "archive": "bad.a"}.get(name, "bad.o")
        outcome = run([ONNXQ, "compile", *arguments, "-o", output])
        problem = problem_of(outcome, status, message)
        if not problem and (output.exists() or output.with_suffix(".h").exists()):
            problem = "leaves a file"
        tally.result(f"refuse {name}", problem)


def main():
    require_tools()
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files(tally, folder)
        refusals(tally, folder)
        assemble_models(tally, folder)
        run_models(tally, folder)
    tally.finish()


if __name__ == "__main__":
    main()
