#!/usr/bin/python3
"""Checks that links between the pages lead somewhere.

    links.py ROOT

A link into the repository names a file that is there and, after `#`, a heading
of it. Links to the web are left alone.
"""

import pathlib
import re
import sys

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)


def anchors(path):
    """The anchors that a page's headings get."""
    headings = re.findall(r"^#+ +(.*)$", FENCED.sub("", path.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def problems(root):
    pages = [path for path in [root / "README.md", *sorted(root.glob("docs/**/*.md"))] if path.exists()]
    for page in pages:
        for target in LINK.findall(FENCED.sub("", page.read_text())):
            if re.match(r"\w+:", target):
                continue
            name, _, anchor = target.partition("#")
            path = page.parent / name if name else page
            if not path.exists():
                yield f"{page.relative_to(root)}: no file {target}"
            elif anchor and anchor not in anchors(path):
                yield f"{page.relative_to(root)}: no heading {target}"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: links.py ROOT")
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "clean")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
