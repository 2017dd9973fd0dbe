#!/usr/bin/env -S /usr/bin/python3
"""Writes docs/OpSupport.md from the built tools and the ONNX backend cases.

    scripts/gen-opsupport.py [--build DIR] [--output FILE] [--results LOG]

Which ops can be run is asked of the compiler (onnx-print-lowerings), families and
element types are read from docs/Ops.md, and every backend case is run with
`onnxq test --verbose`; LOG is the output of an earlier run. The committed page must
be what this writes; test/Integration/opsupport.py sees to it.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = pathlib.Path("/usr/share/libonnx-testdata/data")
# Ops that hold a graph together or stand for a value; there is nothing to run.
STRUCTURE = {"Constant", "Custom", "EntryPoint", "NoValue", "Return", "Yield"}
MICROSOFT = "com.microsoft."


def lowered_ops(build):
    """{name: whether there is a lowering} as the compiler tells."""
    output = subprocess.run([build / "bin" / "onnxq-opt", "-", "--onnx-print-lowerings", "-o", "/dev/null"],
                            input="module {}\n", capture_output=True, text=True, check=True).stdout
    lines = (line.split() for line in output.splitlines() if line.startswith("onnx."))
    return {name.removeprefix("onnx."): answer == "yes" for name, answer in lines}


def defined_ops():
    """{name: (family, element types)} from docs/Ops.md, in its order."""
    ops, family, name = {}, "", None
    for line in (ROOT / "docs" / "Ops.md").read_text().splitlines():
        if match := re.match(r"## (\w+)$", line):
            family = match[1]
        elif match := re.match(r"### `onnx\.([\w.]+)`", line):
            name = match[1]
            ops[name] = (family, [])
        elif name and (match := re.match(r"\| `\w+` \| (?:optional |variadic of )*tensor of (.*) values", line)):
            kinds = match[1].replace("-bit", " bit")
            if kinds not in ops[name][1]:
                ops[name][1].append(kinds)
    return ops


def all_nodes(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from all_nodes(attribute.g)


def ops_of(path):
    """The ops of a case's model, those of its functions included."""
    model = onnx.load(str(path / "model.onnx"), load_external_data=False)
    nodes = list(all_nodes(model.graph)) + [node for function in model.functions for node in function.node]
    return {(MICROSOFT if node.domain == "com.microsoft" else "") + node.op_type for node in nodes}


def count_cases(log):
    """Per op, cases by outcome; and the skipped by reason."""
    counts, reasons = collections.defaultdict(collections.Counter), collections.Counter()
    totals = collections.Counter()
    for line in log.splitlines():
        match = re.match(r"(PASS|FAIL|SKIP) ([\w/.-]+)(.*)$", line)
        if not match:
            continue
        outcome, name, rest = match.groups()
        totals[outcome] += 1
        if outcome == "SKIP":
            reasons[re.search(r"category: (\w+)", rest)[1]] += 1
        for op in ops_of(DATA / name):
            counts[op][outcome] += 1
    return counts, reasons, totals


def page(lowered, defined, counts, reasons, totals):
    can_run = sum(lowered.values())
    missing = sorted(name for name, yes in lowered.items() if not yes and name not in STRUCTURE)
    yield "# Operators that can be run"
    yield ""
    yield ("Written by `scripts/gen-opsupport.py` from the compiler's own list of lowerings, the definitions of the ops and the "
           "ONNX backend cases; don't edit it.")
    yield ""
    yield (f"{can_run} operators have a lowering" + (f"; without one: {', '.join(missing)}." if missing else "; none is without one.")
           + " All element types that an operator is defined for can be run, but for complex numbers: f16, bf16 and smaller floats are "
           "computed in f32.")
    yield ""
    yield "## Backend cases"
    yield ""
    yield (f"`onnxq test {DATA}` passes {totals['PASS']} of {sum(totals.values())} cases at ONNX's own tolerance, fails {totals['FAIL']} "
           f"and skips {totals['SKIP']}. Skipped are models that need what is out of scope:")
    yield ""
    yield "| reason | cases |"
    yield "|---|---|"
    explained = {
        "data": "the case's data contradicts its model", "optional": "values of optional type", "random": "random numbers",
        "sequence": "values of sequence type", "strings": "strings", "training": "training",
    }
    for reason, number in sorted(reasons.items()):
        yield f"| {explained.get(reason, reason)} | {number} |"
    yield ""
    yield ("Below, a case counts for every operator in its model. Many operators have a second case in which they are written as a "
           "function of others; that one counts for the others.")
    yield ""
    yield ("In the column of elements, `float` is f16, bf16, f32 and f64; `number` these and integers of 8 to 64 bits; `any` these, "
           "booleans, 4-bit integers and floats of 8 and 4 bits.")
    families = collections.defaultdict(list)
    for name, (family, kinds) in defined.items():
        if name not in STRUCTURE and name in lowered:
            families[family].append((name, kinds))
    for family, members in families.items():
        yield ""
        yield f"## {family}"
        yield ""
        yield "| operator | runs | elements | cases passed | skipped |"
        yield "|---|---|---|---|---|"
        for name, kinds in members:
            number = counts[name]
            failed = f", {number['FAIL']} failed" if number["FAIL"] else ""
            yield (f"| {name} | {'yes' if lowered[name] else 'no'} | {'; '.join(kinds)} | {number['PASS']}{failed} | {number['SKIP']} |")


def write(build, output, log):
    if log is None:
        log = subprocess.run([build / "bin" / "onnxq", "test", DATA, "--verbose"], capture_output=True, text=True).stdout
    text = "\n".join(page(lowered_ops(build), defined_ops(), *count_cases(log))) + "\n"
    output.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs" / "OpSupport.md")
    parser.add_argument("--results", type=pathlib.Path)
    options = parser.parse_args()
    write(options.build, options.output, options.results.read_text() if options.results else None)


if __name__ == "__main__":
    sys.exit(main())
