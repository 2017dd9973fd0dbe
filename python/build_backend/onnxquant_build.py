"""Builds wheels of this package: PEP 517 and 660, with the standard library only.

The C++ parts are built by CMake into build/, which is used again if it is there.
Configuration: `pip install . -C self-contained=true` takes LLVM's libraries and
what else is needed into the wheel; `-C build=FOLDER` builds elsewhere.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from typing import Any, Dict, List, Optional, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME, VERSION = "onnxquant", "0.1.0"
INFO = f"{NAME}-{VERSION}.dist-info"
# What every machine with Python has.
SYSTEM = ("libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux", "linux-vdso", "libutil.so")
# The last one runs what the first one times.
PROGRAMS = ("onnxq", "onnxq-opt", "onnxq-runner")
# Entries of an archive have this time, so that the same tree gives the same wheel.
TIME = (2020, 1, 1, 0, 0, 0)

Config = Optional[Dict[str, Any]]


def _setting(config: Config, name: str, otherwise: str = "") -> str:
    value = (config or {}).get(name, otherwise)
    return str(value[-1] if isinstance(value, list) else value)


def _build(config: Config) -> pathlib.Path:
    """Builds what the package needs and returns the build folder."""
    build = pathlib.Path(_setting(config, "build", str(ROOT / "build"))).resolve()
    for tool in ("cmake", "ninja"):
        if shutil.which(tool) is None:
            raise RuntimeError(f"building {NAME} needs {tool}; scripts/setup.sh installs what is needed")
    if not (build / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release", "-B", str(build)], cwd=ROOT, check=True, stdout=sys.stderr)
    subprocess.run(
        ["cmake", "--build", str(build), "--target", "onnxquant_python", *PROGRAMS],
        check=True, stdout=sys.stderr,
    )
    return build


def _tag() -> str:
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform}"


def _metadata() -> str:
    lines = [
        "Metadata-Version: 2.1", f"Name: {NAME}", f"Version: {VERSION}",
        "Summary: Float ONNX models in, fast int8 programs for CPUs out", "Requires-Python: >=3.9",
        "Requires-Dist: numpy", "Provides-Extra: onnx", 'Requires-Dist: onnx; extra == "onnx"',
        "Provides-Extra: progress", 'Requires-Dist: tqdm; extra == "progress"',
        "Description-Content-Type: text/markdown", "",
    ]
    return "\n".join(lines) + (ROOT / "README.md").read_text()


def _info_files() -> Dict[str, bytes]:
    return {
        f"{INFO}/METADATA": _metadata().encode(),
        f"{INFO}/WHEEL": f"Wheel-Version: 1.0\nGenerator: onnxquant_build\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode(),
        f"{INFO}/entry_points.txt": (
            "[console_scripts]\nonnxq = onnxquant._cli:onnxq\nonnxq-opt = onnxquant._cli:onnxq_opt\n".encode()
        ),
        f"{INFO}/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }


def _write(path: pathlib.Path, files: Dict[str, Tuple[bytes, int]]) -> None:
    """Writes a wheel with its list of files."""
    rows: List[List[str]] = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name: str, data: bytes, mode: int) -> None:
            entry = zipfile.ZipInfo(name, TIME)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)

        for name in sorted(files):
            data, mode = files[name]
            add(name, data, mode)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append([name, f"sha256={digest}", str(len(data))])
        rows.append([f"{INFO}/RECORD", "", ""])
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        add(f"{INFO}/RECORD", text.getvalue().encode(), 0o644)


def _libraries(binary: pathlib.Path) -> Dict[str, pathlib.Path]:
    """The shared libraries that a program needs, without the system's."""
    output = subprocess.run(["ldd", str(binary)], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = {}
    for line in output.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if not arrow or name.startswith(SYSTEM):
            continue
        path = rest.split(" (")[0]
        if not path.startswith("/"):
            raise RuntimeError(f"{binary}: {name} is not found")
        found[name] = pathlib.Path(path)
    return found


def _stripped(path: pathlib.Path, folder: str, rpath: str) -> bytes:
    """A library or program without symbols that nobody needs at run time, which
    looks for others where the wheel has them."""
    copy = pathlib.Path(folder) / path.name
    shutil.copyfile(path, copy)
    copy.chmod(0o755)
    subprocess.run(["strip", "--strip-unneeded", str(copy)], check=True)
    if rpath:
        subprocess.run(["patchelf", "--force-rpath", "--set-rpath", rpath, str(copy)], check=True)
    return copy.read_bytes()


def _linker(build: pathlib.Path) -> Dict[str, pathlib.Path]:
    """LLVM's linker and OpenMP's library, for libraries on machines without a compiler and code of several threads."""
    cache = (build / "CMakeCache.txt").read_text()
    found = re.search(r"^MLIR_DIR:PATH=(.*)$", cache, re.M)
    if found is None:
        raise RuntimeError(f"{build}: CMake's cache doesn't say where LLVM is")
    llvm = pathlib.Path(found.group(1)).parents[2]
    return {f"{NAME}/bin/ld.lld": (llvm / "bin" / "ld.lld").resolve(),
            f"{NAME}/lib/libomp.so.5": (llvm / "lib" / "libomp.so.5").resolve()}


def _package_files(build: pathlib.Path, self_contained: bool) -> Dict[str, Tuple[bytes, int]]:
    package = ROOT / "python" / NAME
    files: Dict[str, Tuple[bytes, int]] = {}
    for path in package.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            files[str(path.relative_to(package.parent))] = (path.read_bytes(), 0o644)
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    binaries = {f"{NAME}/{name}{suffix}": build / "python" / NAME / f"{name}{suffix}" for name in ("_compiler", "_runtime")}
    binaries.update({f"{NAME}/bin/{name}": build / "bin" / name for name in PROGRAMS})
    if self_contained:
        binaries.update(_linker(build))
    with tempfile.TemporaryDirectory() as folder:
        libraries: Dict[str, pathlib.Path] = {}
        for name, path in binaries.items():
            if self_contained:
                libraries.update(_libraries(path))
            place = {"bin": "$ORIGIN/../lib", "lib": "$ORIGIN"}.get(name.split("/")[1], "$ORIGIN/lib")
            files[name] = (_stripped(path, folder, place if self_contained else ""), 0o755)
        for name, path in libraries.items():
            files[f"{NAME}/lib/{name}"] = (_stripped(path.resolve(), folder, "$ORIGIN"), 0o755)
    return files


def build_wheel(wheel_directory: str, config_settings: Config = None, metadata_directory: Optional[str] = None) -> str:
    build = _build(config_settings)
    self_contained = _setting(config_settings, "self-contained").lower() in ("true", "1", "yes")
    files = _package_files(build, self_contained)
    files.update({name: (data, 0o644) for name, data in _info_files().items()})
    name = f"{NAME}-{VERSION}-{_tag()}.whl"
    _write(pathlib.Path(wheel_directory) / name, files)
    return name


def build_editable(wheel_directory: str, config_settings: Config = None, metadata_directory: Optional[str] = None) -> str:
    """A wheel that points to the build folder, where sources are linked."""
    build = _build(config_settings)
    files = {name: (data, 0o644) for name, data in _info_files().items()}
    files[f"{NAME}.pth"] = (f"{build / 'python'}\n".encode(), 0o644)
    name = f"{NAME}-{VERSION}-{_tag()}.whl"
    _write(pathlib.Path(wheel_directory) / name, files)
    return name


def _prepare(metadata_directory: str) -> str:
    for name, data in _info_files().items():
        path = pathlib.Path(metadata_directory) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return INFO


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Config = None) -> str:
    return _prepare(metadata_directory)


def prepare_metadata_for_build_editable(metadata_directory: str, config_settings: Config = None) -> str:
    return _prepare(metadata_directory)


def get_requires_for_build_wheel(config_settings: Config = None) -> List[str]:
    return []


def get_requires_for_build_editable(config_settings: Config = None) -> List[str]:
    return []


def get_requires_for_build_sdist(config_settings: Config = None) -> List[str]:
    return []


def build_sdist(sdist_directory: str, config_settings: Config = None) -> str:
    """What git tracks."""
    name = f"{NAME}-{VERSION}"
    target = os.path.join(sdist_directory, f"{name}.tar.gz")
    subprocess.run(["git", "archive", "--format=tar.gz", f"--prefix={name}/", "-o", target, "HEAD"], cwd=ROOT, check=True)
    return os.path.basename(target)
