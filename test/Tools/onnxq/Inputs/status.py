"""Checks a command's exit status and that it says one line of error: status.py STATUS COMMAND..."""

import subprocess
import sys

result = subprocess.run(sys.argv[2:], capture_output=True, text=True)
if result.returncode != int(sys.argv[1]) or len(result.stderr.splitlines()) != 1 or result.stdout:
    sys.exit(f"exit status {result.returncode}, stderr: {result.stderr}, stdout: {result.stdout[:200]}")
