#!/usr/bin/python3
"""Runs the commands of the documentation, and compares what they print.

    run-commands.py [--update] [--root ROOT] [PAGE]...

Every block fenced with ```sh in README.md and docs/*.md is run as a bash script
that stops at the first failing command. A page's blocks share one temporary
folder, in which `model.onnx` (example_model.py) lies. A ```text block right after
it is what it prints, a line `...` there stands for any lines; --update writes it.
Blocks fenced with ```sh skip are not run: they may only set up and build. The
tools must be on PATH.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BLOCK = re.compile(
    r"^```sh(?P<skip> skip)?\n(?P<script>.*?)^```\n(?:\n*^```text\n(?P<output>.*?)^```\n)?", re.M | re.S
)
SETUP = re.compile(r"\s*(#|cd |export |git clone |(sudo )?apt(-get)? |cmake |scripts/|\.ci/|test/Integration/|$)")
SECONDS = 120


def matches(expected, printed):
    """Whether the text is what was printed, with `...` for any lines."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", expected, flags=re.M)]
    return re.fullmatch("(?:.*\n)*".join(parts), printed) is not None


def run(script, folder):
    """What a script prints, and what is wrong with how it ended."""
    try:
        result = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return "", f"takes more than {SECONDS} s"
    return result.stdout, f"exit status {result.returncode}" if result.returncode else None


class Page:
    """One page: its blocks run in order, in one folder."""

    def __init__(self, path, folder, model):
        self.path = path
        self.text = path.read_text()
        self.folder = folder
        (folder / "model.onnx").write_bytes(model)
        self.passed = 0
        self.problems = []

    def problem(self, match, problem):
        line = self.text.count("\n", 0, match.start()) + 1
        self.problems.append(f"{self.path}:{line}: {problem}")
        return match.group()

    def visit(self, match):
        """Runs a block; gives the block with what it really prints."""
        script, expected = match["script"], match["output"]
        if match["skip"]:
            refused = [line for line in script.splitlines() if not SETUP.match(line)]
            if refused:
                return self.problem(match, f"is skipped, but does more than set up: {refused[0]}")
            return match.group()
        printed, problem = run(script, self.folder)
        if problem:
            return self.problem(match, f"{problem}\n{script}{printed}")
        if printed and not printed.endswith("\n"):
            printed += "\n"
        if expected is None or matches(expected, printed):
            self.passed += 1
            return match.group()
        self.problem(match, f"prints other than is shown\n{script}{printed}")
        start, end = (position - match.start() for position in match.span("output"))
        return match.group()[:start] + printed + match.group()[end:]

    def run(self):
        return BLOCK.sub(self.visit, self.text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parents[1])
    parser.add_argument("--update", action="store_true", help="write what the commands print into the pages")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    if not shutil.which("onnxq") or not shutil.which("onnxq-opt"):
        sys.exit("expects onnxq and onnxq-opt on PATH")
    pages = arguments.pages or [arguments.root / "README.md", *sorted(arguments.root.glob("docs/*.md"))]
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="onnxq-docs-") as temporary:
        source = pathlib.Path(temporary) / "model.onnx"
        subprocess.run(["/usr/bin/python3", HERE / "example_model.py", source], check=True)
        for number, path in enumerate(pages):
            folder = pathlib.Path(temporary) / str(number)
            folder.mkdir()
            page = Page(path, folder, source.read_bytes())
            real = page.run()
            if arguments.update and real != page.text:
                path.write_text(real)
            for problem in page.problems:
                print("FAIL", problem)
            passed += page.passed
            failed += len(page.problems)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
