"""The machine that figures belong to: its name, what its vectors can do, its clock."""

import datetime
import functools
import os
import pathlib
import re
import subprocess
import tempfile

CLOCK = pathlib.Path(__file__).with_name("clock.c")
# What decides the speed of kernels, by the names in /proc/cpuinfo.
FEATURES = ("avx2", "fma", "avx512f", "avx512_vnni", "avx_vnni", "asimddp", "i8mm", "sve")


def field(name):
    found = re.search(rf"^{name}\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found.group(1).strip() if found else ""


def describe():
    """{processor, features, processors, clock_ghz, date}."""
    flags = set((field("flags") or field("Features")).split())
    return {"processor": field("model name") or os.uname().machine, "features": [f for f in FEATURES if f in flags],
            "processors": os.cpu_count(), "clock_ghz": round(clock(), 2), "date": datetime.date.today().isoformat()}


def sentence(machine):
    return (f"{machine['processor']} ({', '.join(machine['features']) or 'no vector features'}), {machine['processors']} "
            f"processors, {machine['clock_ghz']:.2f} GHz measured, {machine['date']}")


@functools.lru_cache(None)
def program():
    folder = tempfile.TemporaryDirectory()
    binary = pathlib.Path(folder.name) / "clock"
    subprocess.run(["cc", "-O1", str(CLOCK), "-o", str(binary)], check=True)
    # The folder lives as long as the cached pair.
    return folder, binary


def clock(cpus=None):
    """The frequency in GHz while a chain of dependent additions runs: the fastest of several short ones."""
    pin = ["taskset", "-c", cpus] if cpus else []
    return float(subprocess.run([*pin, str(program()[1])], check=True, capture_output=True, text=True).stdout)
