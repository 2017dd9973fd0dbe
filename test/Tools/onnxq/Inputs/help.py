"""Checks that the help of verbs fits a screen and has an example: help.py TOOL VERB...

TOOL may have a verb of its own: "onnxq esp".
"""

import subprocess
import sys

command = sys.argv[1].split()
tool = " ".join(["onnxq", *command[1:]])
for verb in sys.argv[2:]:
    result = subprocess.run([*command, verb, "--help"], capture_output=True, text=True)
    lines = result.stdout.splitlines()
    problems = []
    if result.returncode or result.stderr:
        problems.append(f"exit status {result.returncode}: {result.stderr}")
    if not lines or not lines[0].startswith(f"usage: {tool} {verb} "):
        problems.append("no usage")
    if not any(line.startswith(f"example: {tool} {verb} ") for line in lines):
        problems.append("no example")
    if len(lines) > 24 or max(map(len, lines), default=0) > 81:
        problems.append(f"{len(lines)} lines of up to {max(map(len, lines), default=0)} characters")
    if problems:
        sys.exit(f"{verb}: {', '.join(problems)}")
