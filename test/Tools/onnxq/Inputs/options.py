"""Compares the options that Passes.td declares with what verbs say of them: options.py ROOT TEMPORARY

The declarations are read from llvm-tblgen's records. Options of groups that are for the pass only are no verb's.
"""

import json
import os
import re
import subprocess
import sys

root, temporary = sys.argv[1:]
PASSES = {"Quantize": "Quantize", "Calibrate": "Calibrate", "LoadCalibration": "Calibrate"}
DATA = ("data", "images")
# Verbs, and the groups of each pass that they take; None: all.
VERBS = {
    "quantize": {"Quantize": None, "Calibrate": (*DATA, "method"), "LoadCalibration": None},
    "sensitivity": {"Quantize": None, "Calibrate": (*DATA, "method"), "LoadCalibration": None},
    "calibrate": {"Calibrate": None},
    "debug": {"Calibrate": DATA},
    "evaluate": {"Calibrate": DATA},
}


def declared(name):
    """(group, name, help) of a pass's options."""
    mlir = os.path.join(os.environ.get("LLVM_PREFIX", "/usr/lib/llvm-22"), "include")
    output = subprocess.run(
        ["llvm-tblgen", "--dump-json", "-I", f"{root}/include", "-I", mlir,
         f"{root}/include/OnnxQuant/Transforms/{PASSES[name]}/Passes.td"], check=True, stdout=subprocess.PIPE).stdout
    records = json.loads(output)
    for group in (records[entry["def"]] for entry in records[name]["groups"]):
        if not group["isOfPassOnly"]:
            for option in (records[entry["def"]] for entry in group["options"]):
                yield group["name"], option["argument"], option.get("summary") or option["description"]


def run(*arguments):
    result = subprocess.run(["onnxq", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result.returncode, result.stdout


OPTIONS = {name: list(declared(name)) for name in PASSES}
COMPLETION = run("completion", "bash")[1]


def check(verb, passes):
    expected = {
        option: text
        for name, groups in reversed(list(passes.items()))
        for group, option, text in OPTIONS[name] if groups is None or group in groups
    }
    help_all = run(verb, "--help-all")[1]
    words = re.split(r"[\s,]+", help_all)
    page = run("man", verb)[1].replace("\\-", "-")
    completed = re.search(rf"^ +{verb}\) options='([^']*)'", COMPLETION, re.M).group(1).split()
    explained = " ".join(help_all.split())
    for option, text in expected.items():
        for place, there in (
            ("--help-all", f"--{option}" in words), ("its explanation", " ".join(text.split()) in explained),
            ("the manual page", f"--{option}" in page), ("completions", f"--{option}" in completed),
        ):
            if not there:
                yield f"{verb}: {place} has no --{option}"
    if verb in ("quantize", "calibrate") and f"'onnxq {verb} --help-all'" not in run(verb, "--help")[1]:
        yield f"{verb}: --help doesn't say where the rest is"
    # Names of a file are read in order; only the last one is unknown.
    config = f"{temporary}.{verb}.yaml"
    with open(config, "w", encoding="utf-8") as file:
        file.write("".join(f"{option}: 1\n" for option in [*expected, "zzz"]))
    status, output = run(verb, "--config", config)
    if status != 1 or "there is no option 'zzz'" not in output:
        yield f"{verb}: a configuration file is refused otherwise: {output}"


assert len(OPTIONS["Quantize"]) > 40 and len(OPTIONS["Calibrate"]) > 30
problems = [problem for verb, passes in VERBS.items() for problem in check(verb, passes)]
sys.exit("\n".join(problems) or 0)
