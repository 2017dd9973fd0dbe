"""Checks that the help of verbs fits a screen and has an example: help.py TOOL VERB..."""

import subprocess
import sys

for verb in sys.argv[2:]:
    result = subprocess.run([sys.argv[1], verb, "--help"], capture_output=True, text=True)
    lines = result.stdout.splitlines()
    problems = []
    if result.returncode or result.stderr:
        problems.append(f"exit status {result.returncode}: {result.stderr}")
    if not lines or not lines[0].startswith(f"usage: onnxq {verb} "):
        problems.append("no usage")
    if not any(line.startswith(f"example: onnxq {verb} ") for line in lines):
        problems.append("no example")
    if len(lines) > 24 or max(map(len, lines), default=0) > 81:
        problems.append(f"{len(lines)} lines of up to {max(map(len, lines), default=0)} characters")
    if problems:
        sys.exit(f"{verb}: {', '.join(problems)}")
