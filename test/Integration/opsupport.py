#!/usr/bin/env -S /usr/bin/python3
"""docs/OpSupport.md is what scripts/gen-opsupport.py writes now, and every op that it lists can be run."""

import difflib
import pathlib
import subprocess
import sys
import tempfile

from support.harness import BUILD, ROOT, Tally, require_tools


def main():
    require_tools()
    tally = Tally()
    committed = (ROOT / "docs" / "OpSupport.md").read_text()
    with tempfile.TemporaryDirectory() as folder:
        fresh = pathlib.Path(folder, "OpSupport.md")
        command = [sys.executable, ROOT / "scripts" / "gen-opsupport.py", "--build", BUILD, "--output", fresh]
        process = subprocess.run(command, capture_output=True, text=True)
        written = fresh.read_text() if fresh.exists() else ""
    tally.result("written", process.stderr.strip() or None)
    difference = list(difflib.unified_diff(committed.splitlines(), written.splitlines(), lineterm="", n=0))[2:]
    tally.result("as committed", f"run scripts/gen-opsupport.py: {' / '.join(difference[:6])}" if difference else None)
    rows = [line.split(" | ") for line in written.splitlines() if line.startswith("| ") and line.count(" | ") == 4]
    for row in rows[1:]:
        if row[0] != "| operator":
            tally.result(row[0], None if row[1] == "yes" else "has no lowering")
    tally.finish()


if __name__ == "__main__":
    main()
