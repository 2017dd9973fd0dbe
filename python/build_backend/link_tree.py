"""Links every file below a folder to the same place below another.

Files that are there and aren't links, such as extension modules, stay; links
whose source is gone go.
"""

import os
import pathlib
import sys


def link_tree(source: pathlib.Path, target: pathlib.Path) -> None:
    wanted = set()
    for folder, folders, files in os.walk(source):
        folders[:] = [name for name in folders if name != "__pycache__"]
        there = target / pathlib.Path(folder).relative_to(source)
        there.mkdir(parents=True, exist_ok=True)
        for name in files:
            link, origin = there / name, pathlib.Path(folder) / name
            wanted.add(link)
            if link.is_symlink() and link.readlink() == origin:
                continue
            link.unlink(missing_ok=True)
            link.symlink_to(origin)
    for folder, _, files in os.walk(target):
        for name in files:
            path = pathlib.Path(folder) / name
            if path.is_symlink() and path not in wanted:
                path.unlink()


if __name__ == "__main__":
    link_tree(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
