#!/usr/bin/python3
"""Code for AArch64 and RISC-V with vectors, run under qemu on ONNX backend cases of every operator family.

Cases are chosen by rule: one of every operator, then more of each in turn, up to
CASES. Operators of com.microsoft have no backend cases; theirs come from
exec_quantized.py, with what ONNX Runtime gives as the expected outputs. Each case is
compiled to a library of the target and run by a runner of the target. At least 300
must pass on each machine, and some of every family. Prints a line per failure, the
families, and the totals.

qemu 7.2 ends on its own assertion at vfcvt.rtz.x.f.v and vfwcvt.rtz.x.f.v, which are valid
instructions. Cases in which that happens run again without vectorized loops, and if a kernel
has the instruction without vectors, and are named; more than a few of them are a failure.
"""

import collections
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import onnx

from support import harness
from support import ort

CASES = 330
LEAST = 300
MACHINES = {
    "aarch64": ("aarch64", ["qemu-aarch64"]),
    "riscv64+v": ("riscv64", ["qemu-riscv64", "-cpu", "rv64,v=true,vlen=128,vext_spec=v1.0"]),
}
MICROSOFT = (
    r"^(biasgelu|fastgelu|gelu|quickgelu|fusedmatmul|fusedconv_Relu|fusedgemm_Relu|skiplayernorm|attention_both_0"
    r"|qattention_both_0|dynamicquantizelstm_forward_int8_True_True|dynamicquantizematmul_uint8_True"
    r"|matmulintegertofloat_uint8_True|matmulnbits_4_16_zero|qgemm_uint8_True|qlinearaveragepool_uint8_0_1"
    r"|qlinear(add|mul|sigmoid|leakyrelu|concat|where)_uint8|qlinearglobalaveragepool_uint8_0"
    r"|qlinearsoftmax_uint8_13_-1|roundtrip_int4_blocks|roundtrip_e4m3fn_0)$"
)
EMULATOR_FAULT = "decode_save_opc: Assertion"
MOST_FAULTS = 8
# Not run anywhere: what they give can't be compared, or they are documented as out of scope.
UNCOMPARED = {
    "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Dropout",
    "StringNormalizer", "TfIdfVectorizer",
}


def families():
    """{(domain, operator): family}, from the dialect's definitions."""
    found = {}
    folder = harness.ROOT / "include" / "OnnxQuant" / "Dialect" / "ONNX" / "Ops"
    for path in sorted(folder.glob("*.td")):
        domain = "com.microsoft" if path.stem.startswith("Microsoft") else ""
        for name in re.findall(r"^def (?:ONNX|MS)_(\w+)Op\b", path.read_text(), re.M):
            found[domain, name] = path.stem
    return found


def nodes_of(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from nodes_of(attribute.g)


def operators(path):
    """The operators of a model, or nothing if it needs what is out of scope."""
    model = onnx.load(str(path), load_external_data=False)
    for info in [*model.graph.input, *model.graph.output]:
        kind = info.type
        if kind.WhichOneof("value") != "tensor_type" or kind.tensor_type.elem_type == onnx.TensorProto.STRING:
            return None
    found = {(node.domain.replace("ai.onnx", "", 1), node.op_type) for node in nodes_of(model.graph)}
    if any(name in UNCOMPARED or "Sequence" in name or "training" in domain for domain, name in found):
        return None
    return found


def choose(root, count):
    """Cases below a folder: one for every operator, then more of each operator in turn."""
    by_operator = collections.defaultdict(list)
    contents = {}
    for model in sorted(root.rglob("model.onnx")):
        found = operators(model)
        if found:
            name = str(model.parent.relative_to(root))
            contents[name] = found
            for operator in found:
                by_operator[operator].append(name)
    # A case of one operator tells more than one of many.
    for cases in by_operator.values():
        cases.sort(key=lambda name: (len(contents[name]), name))
    chosen = {}
    for row in itertools.zip_longest(*(by_operator[operator] for operator in sorted(by_operator))):
        for name in row:
            if name and len(chosen) < count:
                chosen.setdefault(name, contents[name])
    return chosen


def microsoft_cases(folder):
    environment = dict(os.environ, ONNXQUANT_BUILD=str(harness.BUILD), ONNXQUANT_CASES=str(folder))
    script = pathlib.Path(__file__).with_name("exec_quantized.py")
    process = subprocess.run(["/usr/bin/python3", script, MICROSOFT], capture_output=True, text=True, env=environment)
    if process.returncode:
        raise RuntimeError(f"exec_quantized.py failed: {(process.stdout + process.stderr)[-300:]}")
    return folder / "cases"


def build_runner(arch, folder):
    target = folder / f"onnxq-runner-{arch}"
    sources = [harness.ROOT / "tools" / "onnxq-runner" / "onnxq-runner.c", *(harness.ROOT / "lib" / "Runtime").glob("*.c")]
    subprocess.run([f"{arch}-linux-gnu-gcc", "-std=gnu11", "-O2", f"-I{harness.ROOT}/include", *sources, "-ldl", "-o", target],
                   check=True)
    return target


def test(name, root, cases, folder, runner, level):
    """What `onnxq test` says of cases: [(PASS, FAIL or SKIP, case, reason)]."""
    names = folder / "list"
    names.write_text("".join(case + "\n" for case in cases))
    outcome = harness.run([harness.ONNXQ, "test", root, "--list", names, "--target", name, "--runner", runner,
                           "--opt-level", str(level), "--verbose"], timeout=1800)
    results = re.findall(r"^(PASS|FAIL|SKIP) ([^:\n]+)(?:: (.*))?$", outcome.stdout.decode(), re.M)
    if len(results) != len(cases):
        return [("FAIL", case, f"{outcome.ended()}: {outcome.stderr[:300]}") for case in cases]
    return results


def run(name, root, chosen, folder, runner, tally):
    """Runs the chosen cases; gives the operators of those that passed, and how many passed."""
    # Level 2 is where plain loops become vector code.
    results = test(name, root, chosen, folder, runner, 2)
    for target, level, without in ((name, 1, "vectorized loops"), (name.removesuffix("+v"), 2, "vectors")):
        faults = [case for kind, case, reason in results if kind == "FAIL" and EMULATOR_FAULT in reason]
        if not 0 < len(faults) <= MOST_FAULTS:
            break
        for case in faults:
            print(f"note: {name}: {case}: the emulator ends on an assertion; run without {without}")
        results = [result for result in results if result[1] not in faults]
        results += test(target, root, faults, folder, runner, level)
    passed, count = set(), 0
    for kind, case, reason in results:
        if kind == "SKIP":
            tally.skipped += 1
            continue
        tally.result(f"{name}: {case}", reason if kind == "FAIL" else None)
        if kind == "PASS":
            passed |= chosen[case]
            count += 1
    return passed, count


def main():
    harness.require_tools()
    tally = harness.Tally()
    family_of = families()
    with tempfile.TemporaryDirectory(prefix="onnxq-cross-") as temporary:
        folder = pathlib.Path(temporary)
        data = harness.backend_data()
        suites = [(data, choose(data, CASES))]
        if ort.available():
            extra = microsoft_cases(folder / "microsoft")
            suites.append((extra, choose(extra, CASES)))
        else:
            print("skipped: the operators of com.microsoft: ONNX Runtime isn't there")
        wanted = {family_of.get(op) for _, chosen in suites for found in chosen.values() for op in found} - {None}
        for name, (arch, emulator) in MACHINES.items():
            missing = [tool for tool in (emulator[0], f"{arch}-linux-gnu-gcc") if not shutil.which(tool)]
            if missing:
                print(f"skipped: {name}: {', '.join(missing)} isn't there; scripts/setup.sh installs it")
                tally.skipped += 1
                continue
            runner = " ".join([*emulator, "-L", f"/usr/{arch}-linux-gnu", str(build_runner(arch, folder))])
            passed, count = set(), 0
            for root, chosen in suites:
                operators_passed, number = run(name, root, chosen, folder, runner, tally)
                passed |= operators_passed
                count += number
            ran = {family_of.get(op) for op in passed} - {None}
            print(f"{name}: {count} cases passed, {len(passed)} operators, families: {', '.join(sorted(ran))}")
            tally.result(f"{name}: families", f"nothing passed of {sorted(wanted - ran)}" if wanted - ran else None)
            tally.result(f"{name}: count", None if count >= LEAST else f"expects {LEAST} cases to pass, but got {count}")
    tally.finish()


if __name__ == "__main__":
    main()
