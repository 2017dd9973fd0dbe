#!/usr/bin/python3
"""Checks of the sources themselves, one per name; each prints what it refuses.

    lint.py CHECK ROOT

ROOT is walked (build folders and .git left out), so that a check also runs on
a source archive and on the small trees of the lint tests.
"""

import json
import os
import re
import shutil
import subprocess
import sys

SOURCE_SUFFIXES = (".cpp", ".h", ".c", ".td")
TEXT_SUFFIXES = SOURCE_SUFFIXES + (
    ".mlir", ".test", ".py", ".sh", ".js", ".md", ".txt", ".cmake", ".json", ".in", ".yaml", ".yml", ".toml",
)
MAX_LINES = 800
# Test folders that hold samples of what the checks refuse.
SAMPLES = os.path.join("test", "lint")


def walk(root, suffixes=TEXT_SUFFIXES, below=None):
    for top in below or ["."]:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders[:] = sorted(
                f for f in folders
                if f not in (".git", "__pycache__", "node_modules", ".cache") and not f.startswith("build")
            )
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), root)
                if name.endswith(suffixes) and not path.startswith(SAMPLES):
                    yield path


def lines(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


def each_line(root, suffixes, refuse):
    for path in walk(root, suffixes):
        for number, line in enumerate(lines(root, path), 1):
            reason = refuse(line)
            if reason:
                yield f"{path}:{number}: {reason}: {line.strip()[:120]}"


# FileCheck ignores a directive without its colon, and one it doesn't know. A
# prefix is whatever the file's RUN lines name, and CHECK.
WORD = re.compile(r"\s*(?://|#|;)\s*([A-Z][\w-]*(?:\{LITERAL\})?)(.?)")
KNOWN = re.compile(r"(?:-(?:LABEL|NEXT|SAME|DAG|NOT|EMPTY|COUNT-\d+))?(?:\{LITERAL\})?$")


# What a tool printed may be nothing, and a result without a problem has passed.
SILENT = re.compile(r"\.result\(.*\bNone if .* else \w+\.(?:stderr|stdout)\b(?!.* or )")


def check_lines(root):
    for path in walk(root, (".py",)):
        for number, line in enumerate(lines(root, path), 1):
            if SILENT.search(line):
                yield f"{path}:{number}: passes if nothing is printed; Tally.expect doesn't: {line.strip()[:120]}"
    for path in walk(root, (".mlir", ".test")):
        text = lines(root, path)
        named = re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", "\n".join(text))
        prefixes = {"CHECK", *(name for names in named for name in names.split(","))}
        for number, line in enumerate(text, 1):
            match = WORD.match(line)
            if not match:
                continue
            word, after = match.groups()
            rests = [word[len(p):] for p in prefixes if word == p or word.startswith((p + "-", p + "{"))]
            if not rests:
                continue
            known = any(KNOWN.match(rest) for rest in rests)
            if known and after != ":":
                yield f"{path}:{number}: {word} without its colon is ignored: {line.strip()}"
            elif not known and after == ":":
                yield f"{path}:{number}: {word} is no FileCheck directive: {line.strip()}"


def clang_format(root):
    tool = shutil.which("clang-format-22")
    if not tool:
        yield "clang-format-22 is not installed"
        return
    paths = list(walk(root, (".cpp", ".h", ".c"), ("lib", "include", "tools", "unittests", "bench", "examples")))
    if not paths:
        return
    result = subprocess.run([tool, "--dry-run", "-Werror", *paths], cwd=root, capture_output=True, text=True)
    if result.returncode:
        seen = re.findall(r"^(\S+?):\d+:\d+: (?:error|warning)", result.stderr, re.M)
        for path in dict.fromkeys(seen):
            yield f"{path}: not as clang-format-22 writes it"
        if not seen:
            yield result.stderr.strip()


# Package sources are chosen by the user's configuration, so no file names a
# host. Names are spelt in parts here for the same reason.
HOSTS = re.compile(
    r"\b(?:registry\.[\w-]+\.\w+|(?:npm" r"js|py" r"pi|py" r"thonhosted|cra" r"tes|deb" r"ian|ubu" r"ntu)"
    r"\.(?:org|com|io)|apt\.\w+\.org|(?:gh" r"cr|qu" r"ay|doc" r"ker)\.io)",
    re.I,
)


def hosts(root):
    yield from each_line(root, TEXT_SUFFIXES, lambda line: HOSTS.search(line) and "names a package host")


WORDS = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b|\bnot (yet )?imple" r"mented\b|place" r"holder", re.I)


def unfinished(root):
    def refuse(line):
        match = WORDS.search(line)
        # Upper-case marks only: "hack" as an ordinary word stays allowed.
        if match and (match.group(1) is None or match.group(1).isupper()):
            return "marks something unfinished"

    yield from each_line(root, SOURCE_SUFFIXES + (".py", ".sh", ".js", ".cmake"), refuse)


def length(root):
    for path in walk(root, SOURCE_SUFFIXES + (".py", ".js", ".sh", ".mlir")):
        count = len(lines(root, path))
        if count > MAX_LINES:
            yield f"{path}: {count} lines, at most {MAX_LINES}"


# What libraries include is held to the table of this page.
INCLUDE_TABLE = os.path.join("docs", "Overview.md")
OWN = re.compile(r'#include "OnnxQuant/([^"]+)"')
PROTOBUF = re.compile(r"#include .*(?:google/protobuf|onnx_format\.pb)")
PROTOBUF_FOLDERS = ("Proto", "Import", "Export", "ESP")


def read_include_table(root):
    """Folders and what each may include besides itself, both as prefixes."""
    table = {}
    for line in lines(root, INCLUDE_TABLE):
        row = re.match(r"\| `([\w/]+)` \|([^|]*)\|", line)
        if row and not row.group(2).strip(" `").startswith("lib/"):
            table[row.group(1)] = re.findall(r"`([\w/.]+)`", row.group(2))
    return table


def within(path, folders):
    return any(path == folder or path.startswith(folder + "/") for folder in folders)


def includes(root):
    table = read_include_table(root)
    for path in walk(root, (".cpp", ".h", ".c"), ("lib", os.path.join("include", "OnnxQuant"))):
        inner = re.sub(r"^(?:lib|include/OnnxQuant)/", "", path.replace(os.sep, "/"))
        folder = next((name for name in table if within(inner, [name])), None)
        if folder is None:
            yield f"{path}: its folder is not in the table of {INCLUDE_TABLE}"
            continue
        for number, line in enumerate(lines(root, path), 1):
            own = OWN.match(line)
            if own and not within(own.group(1), [folder, *table[folder]]):
                yield f"{path}:{number}: {folder} may not include {own.group(1)}"
            elif PROTOBUF.match(line) and folder not in PROTOBUF_FOLDERS:
                yield f"{path}:{number}: {folder} may not include protobuf"
            elif folder == "Runtime" and re.match(r'#include "(?:mlir|llvm)/', line):
                yield f"{path}:{number}: Runtime may not include MLIR or LLVM"
            elif line.startswith('#include "../'):
                target = os.path.normpath(os.path.join(os.path.dirname(inner), line.split('"')[1]))
                if not within(target, [folder]):
                    yield f"{path}:{number}: includes by a path that leaves {folder}"


# The dialect refuses attributes of its name that its table doesn't have.
ATTRIBUTE_TABLE = os.path.join("lib", "Dialect", "ONNXQ", "Attributes.cpp")
ATTRIBUTE = re.compile(r'StringLiteral\s+(\w+Attr)\s*=\s*"onnxq\.')


def attributes(root):
    rules = set(re.findall(r"\{(?:\w+::)?(\w+Attr),", "\n".join(lines(root, ATTRIBUTE_TABLE))))
    for path in walk(root, (".cpp", ".h"), ("lib", os.path.join("include", "OnnxQuant"))):
        for name in ATTRIBUTE.findall("\n".join(lines(root, path))):
            if name not in rules:
                yield f"{path}: {name} is not in the table of {ATTRIBUTE_TABLE}"


# clang-tidy takes seconds for each file: only what was changed is looked at, and
# of a large change the first files.
MOST_TIDIED = 8


def changed_sources(root):
    """Sources that the last commit or the checkout changed; none outside of a repository."""
    paths = set()
    for range_ in (["HEAD"], ["HEAD~1", "HEAD"]):
        result = subprocess.run(
            ["git", "diff", "--name-only", "--diff-filter=d", *range_], cwd=root, capture_output=True, text=True
        )
        paths.update(result.stdout.split())
    return sorted(path for path in paths if path.endswith(".cpp") and path.startswith(("lib/", "tools/")))


def clang_tidy(root):
    """What clang-tidy says of changed files, with the flags of ROOT's build folder."""
    tool = shutil.which("clang-tidy-22")
    database = os.path.join(os.environ.get("ONNXQUANT_BUILD", os.path.join(root, "build")), "compile_commands.json")
    if not tool or not os.path.exists(database):
        yield "clang-tidy-22 is not installed" if not tool else f"{database} is missing: build first"
        return
    with open(database, encoding="utf-8") as file:
        known = {os.path.realpath(entry["file"]) for entry in json.load(file)}
    real = os.path.realpath(root)
    paths = [path for path in changed_sources(root) if os.path.join(real, path) in known][:MOST_TIDIED]
    if not paths:
        return
    command = [tool, "--quiet", "-p", os.path.dirname(database), *paths]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True)
    own = re.compile(rf"^{re.escape(real)}/(\S+:\d+:\d+: (?:warning|error): .*)", re.M)
    yield from dict.fromkeys(own.findall(result.stdout))
    if result.returncode and not own.search(result.stdout):
        yield result.stderr.strip() or result.stdout.strip()


CHECKS = {
    "attributes": attributes,
    "check-lines": check_lines,
    "clang-format": clang_format,
    "clang-tidy": clang_tidy,
    "hosts": hosts,
    "includes": includes,
    "length": length,
    "unfinished": unfinished,
}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in CHECKS:
        sys.exit(f"usage: lint.py {{{','.join(CHECKS)}}} ROOT")
    found = list(CHECKS[sys.argv[1]](sys.argv[2]))
    print("\n".join(found) if found else "clean")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
