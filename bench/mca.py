"""What llvm-mca says of the inner loops of compiled layers, for processors that aren't there.

A layer is compiled to assembly; its innermost loop with the most multiply-add instructions goes to llvm-mca. The bound
is the time that these instructions alone need, by their throughput in the processor's model; the share of the bound is
that time by the simulated time of the whole loop.
"""

import json
import re
import subprocess

import onnx

from harness import ONNXQ, run

MCA = "/usr/lib/llvm-22/bin/llvm-mca"
# Target, processor as llvm-mca names it, triple, further features.
PROCESSORS = [
    ("aarch64+dotprod", "cortex-a76", "aarch64-linux-gnu"),
    ("aarch64+dotprod", "neoverse-n1", "aarch64-linux-gnu"),
    ("aarch64+i8mm", "neoverse-v1", "aarch64-linux-gnu"),
    ("riscv64+v", "sifive-x280", "riscv64-linux-gnu"),
    ("riscv64+v", "spacemit-x60", "riscv64-linux-gnu"),
]
MULTIPLY = re.compile(r"^\s*(fmla|fmadd|[su]mlal2?|(us|su|s|u)dot|[us]*mmla|mla|vf(n?m|w?m)acc\.\w+|vw?macc(u|su|us)?\.\w+|"
                      r"vfmadd\.\w+|vmadd\.\w+|vfmadd\d+[ps][sd]|vpmaddwd|vpmaddubsw|vpdpbusd)\b")
LABEL = re.compile(r"^(\.?[A-Za-z_$][\w.$]*):")
BRANCH = re.compile(r"^\s*(b\.?\w*|cbn?z|tbn?z|j\w*|bnez?|beqz?|blt[uz]*|bge[uz]*|bgt[uz]*|ble[uz]*)\s+(.*)$")


class NoLoop(Exception):
    """Why a layer has no row."""


def loops(lines):
    """Innermost loops as lists of lines: from a label to a branch back to it, with no other loop inside."""
    places = {match.group(1): number for number, line in enumerate(lines) if (match := LABEL.match(line))}
    spans = []
    for number, line in enumerate(lines):
        match = BRANCH.match(line)
        target = match and match.group(2).split("#")[0].split("//")[0].split(",")[-1].strip()
        if target in places and places[target] <= number:
            spans.append((places[target], number))
    for first, last in spans:
        if not any((a, b) != (first, last) and a >= first and b <= last for a, b in spans):
            yield first, [line for line in lines[first:last + 1]]


# What llvm-mca has no times for on some processors, and what it takes instead.
STAND_INS = [(re.compile(r"^\s*prefetch\.r\s+(.*)$"), r"\tlb\tzero, \1")]


def instructions(lines):
    kept = []
    for line in lines:
        text = re.sub(r"(\s//|\s#\s|;).*$", "", line)
        if text.strip() and not LABEL.match(text) and not text.strip().startswith((".", "#", "//")):
            for pattern, instead in STAND_INS:
                text = pattern.sub(instead, text)
            kept.append(text)
    return kept


def main_loop(assembly):
    """The loop with the most multiply-adds, and the vector setting it starts with (RISC-V), or None."""
    lines = assembly.splitlines()
    best, start = [], 0
    for first, body in loops(lines):
        count = sum(bool(MULTIPLY.match(line)) for line in body)
        if count > sum(bool(MULTIPLY.match(line)) for line in best):
            best, start = body, first
    setting = next((m for line in reversed(lines[:start]) if (m := re.search(r"vseti?vli.*\b(e\d+),\s*(mf?\d)", line))), None)
    return instructions(best), setting


def simulate(body, setting, processor, triple):
    """Cycles per pass, and the time that the multiply-adds alone need by their throughput."""
    text = "\n".join(body) + "\n"
    if setting and triple.startswith("riscv"):
        text = f"# LLVM-MCA-RISCV-LMUL {setting.group(2).upper()}\n# LLVM-MCA-RISCV-SEW {setting.group(1).upper()}\n" + text
    features = {"neoverse-v1": "+i8mm", "riscv64-linux-gnu": "+v"}
    attributes = features.get(processor) or ("+v,+m,+f,+d,+a,+c" if triple.startswith("riscv") else "+dotprod")
    command = [MCA, f"-mtriple={triple}", f"-mcpu={processor}", f"-mattr={attributes}", "-iterations=200", "-json",
               "-instruction-info"]
    process = subprocess.run(command, input=text, capture_output=True, text=True)
    if process.returncode:
        raise NoLoop(process.stderr.strip().splitlines()[0][:200])
    region = json.loads(process.stdout)["CodeRegions"][0]
    infos = region["InstructionInfoView"]["InstructionList"]
    bound = sum(info["RThroughput"] for info, line in zip(infos, body) if MULTIPLY.match(line))
    return region["SummaryView"]["TotalCycles"] / 200, bound


def row(layer, kind, target, processor, triple, folder):
    record = {"layer": layer.name, "kind": kind, "target": target, "processor": processor}
    model, _ = layer.float_model(True) if kind == "float" else layer.quantized_model(True)
    path, assembly = folder / "mca.onnx", folder / "mca.s"
    onnx.save(model, str(path))
    outcome = run([ONNXQ, "compile", path, "-o", assembly, "--target", target, "--cpu", processor], timeout=600)
    if outcome.status:
        said = outcome.stderr.strip().splitlines()
        return {**record, "problem": said[0][:200] if said else outcome.ended()}
    body, setting = main_loop(assembly.read_text())
    if not any(MULTIPLY.match(line) for line in body):
        return {**record, "problem": "no loop with multiply-add instructions"}
    try:
        cycles, bound = simulate(body, setting, processor, triple)
    except NoLoop as reason:
        return {**record, "problem": str(reason)}
    return {**record, "instructions": len(body), "multiply_adds": sum(bool(MULTIPLY.match(line)) for line in body),
            "cycles": cycles, "bound": bound, "percent": 100 * bound / cycles if cycles else 0.0}


def rows(chosen, folder):
    return [row(layer, kind, target, processor, triple, folder)
            for layer, kind in chosen for target, processor, triple in PROCESSORS]


def table(records):
    lines = ["| layer | kind | processor | instructions | multiply-adds | cycles | bound | of bound |", "|---|---|---|---|---|---|---|---|"]
    for record in records:
        head = f"| {record['layer']} | {record['kind']} | {record['processor']} |"
        if "problem" in record:
            lines.append(f"{head} {record['problem']} |")
        else:
            lines.append(f"{head} {record['instructions']} | {record['multiply_adds']} | {record['cycles']:.1f} | "
                         f"{record['bound']:.1f} | {record['percent']:.0f}% |")
    return lines
