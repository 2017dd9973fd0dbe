"""What llvm-mca says of the inner loops of compiled layers, for processors that aren't there.

A layer is compiled to assembly; its innermost loop with the most multiply-add instructions goes to llvm-mca. The bound
is the time that these instructions alone need, by their throughput in the processor's model; the share of the bound is
that time by the simulated time of the whole loop. Two other bounds tell what more there is to do: the loads' alone, and
that of all instructions of the loop (llvm-mca's Block RThroughput: what the busiest unit needs, or the decoders), with
its share. A loop of few products per load or per result can't come closer to the first than to the last.

llvm-mca's simulation takes a cycle more for each vector instruction of sifive-x280 than their throughput says (its
units begin in their second cycle, which only the throughput allows for): with groups of one, two and four registers no
loop gets beyond 67, 80 and 89 %. Both RISC-V models finish instructions in order: a scalar one behind a vector one waits
for it.
"""

import json
import re
import subprocess

import onnx

from support.harness import ONNXQ, run

MCA = "/usr/lib/llvm-22/bin/llvm-mca"
# Target, processor as llvm-mca names it, triple, further features.
PROCESSORS = [
    ("aarch64+dotprod", "cortex-a76", "aarch64-linux-gnu"),
    ("aarch64+dotprod", "neoverse-n1", "aarch64-linux-gnu"),
    ("aarch64+i8mm", "neoverse-v1", "aarch64-linux-gnu"),
    ("riscv64+v", "sifive-x280", "riscv64-linux-gnu"),
    ("riscv64+v", "spacemit-x60", "riscv64-linux-gnu"),
]
# Products that a sum begins with, too: they have no sum to add to. Those of floats count in layers of floats only, as
# others have them in their epilogues.
MULTIPLY = re.compile(r"^\s*(fmla|fmadd|[su]mlal2?|[su]mull2?|vwmul(u|su)?\.\w+|(us|su|s|u)dot|[us]*mmla|mla|vf(n?m|w?m)acc\.\w+|vw?macc(u|su|us)?\.\w+|"
                      r"vfmadd\.\w+|vmadd\.\w+|vfmadd\d+[ps][sd]|vpmaddwd|vpmaddubsw|vpdpbusd)\b")
FLOAT_PRODUCT = re.compile(r"^\s*(fmul|vfmul\.\w+)\b")
LABEL = re.compile(r"^(\.?[A-Za-z_$][\w.$]*):")
BRANCH = re.compile(r"^\s*(b\.?\w*|cbn?z|tbn?z|j\w*|bnez?|beqz?|blt[uz]*|bge[uz]*|bgt[uz]*|ble[uz]*)\s+(.*)$")


def multiplies(line, kind):
    return bool(MULTIPLY.match(line) or kind == "float" and FLOAT_PRODUCT.match(line))


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


def main_loop(assembly, kind):
    """The loop with the most multiply-adds, and the vector setting it starts with (RISC-V), or None."""
    lines = assembly.splitlines()
    best, start = [], 0
    for first, body in loops(lines):
        count = sum(multiplies(line, kind) for line in body)
        if count > sum(multiplies(line, kind) for line in best):
            best, start = body, first
    # A turn begins with the setting that the one before ended with.
    before = [*reversed(best), *reversed(lines[:start])]
    setting = next((m for line in before if (m := re.search(r"vseti?vli.*\b(e\d+),\s*(mf?\d)", line))), None)
    return instructions(best), setting


def simulate(body, setting, processor, triple, kind):
    """Cycles per pass, and by throughput the time of the multiply-adds alone, of the loads alone and of all there is."""
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
    bound = sum(info["RThroughput"] for info, line in zip(infos, body) if multiplies(line, kind))
    loads = sum(info["RThroughput"] for info in infos if info["mayLoad"])
    summary = region["SummaryView"]
    return {"cycles": summary["TotalCycles"] / 200, "bound": bound, "loads": loads, "whole": summary["BlockRThroughput"]}


def row(layer, kind, target, processor, triple, folder):
    record = {"layer": layer.name, "kind": kind, "target": target, "processor": processor}
    model, _ = layer.float_model(True) if kind == "float" else layer.quantized_model(True)
    path, assembly = folder / "mca.onnx", folder / "mca.s"
    onnx.save(model, str(path))
    outcome = run([ONNXQ, "compile", path, "-o", assembly, "--target", target, "--cpu", processor], timeout=600)
    if outcome.status:
        said = outcome.stderr.strip().splitlines()
        return {**record, "problem": said[0][:200] if said else outcome.ended()}
    body, setting = main_loop(assembly.read_text(), kind)
    if not any(multiplies(line, kind) for line in body):
        return {**record, "problem": "no loop with multiply-add instructions"}
    try:
        times = simulate(body, setting, processor, triple, kind)
    except NoLoop as reason:
        return {**record, "problem": str(reason)}
    return {**record, "instructions": len(body), "multiply_adds": sum(multiplies(line, kind) for line in body),
            **times, "percent": 100 * times["bound"] / times["cycles"], "percent_of_whole": 100 * times["whole"] / times["cycles"]}


def rows(chosen, folder):
    return [row(layer, kind, target, processor, triple, folder)
            for layer, kind in chosen for target, processor, triple in PROCESSORS]


def table(records):
    lines = ["| layer | kind | processor | instructions | multiply-adds | cycles | bound | of bound | loads | whole loop | of whole |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for record in records:
        head = f"| {record['layer']} | {record['kind']} | {record['processor']} |"
        if "problem" in record:
            lines.append(f"{head} {record['problem']} |")
        else:
            lines.append(f"{head} {record['instructions']} | {record['multiply_adds']} | {record['cycles']:.1f} | "
                         f"{record['bound']:.1f} | {record['percent']:.0f}% | {record['loads']:.1f} | {record['whole']:.1f} | "
                         f"{record['percent_of_whole']:.0f}% |")
    return lines
