#!/usr/bin/env -S /usr/bin/python3
"""The graphs of exec_integers.py for processors of every dot step, under qemu where the machine is another.

usage: exec_integers_cross.py [--all] [NUMBER]     random graphs per target (12), besides those of extremes
By default one target of each machine; with --all, of every step: x86-64 without and with AVX2, with AVX-VNNI, AVX-512 VNNI and AMX where this machine has them; AArch64 with products
of 16 bits, dot products and products of small matrices; RISC-V with vectors. Prints the totals.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import cross
from support import harness
from support.harness import ONNXQ, Tally, require_tools

SCRIPT = pathlib.Path(__file__).with_name("exec_integers.py")
# Name, options, machine, options of its emulator, features that this machine needs if it runs the code itself.
TARGETS = [
    ("x86-64-v2", ["--target", "x86-64-v2"], None, [], set()),
    ("x86-64-v3", ["--target", "x86-64-v3"], None, [], {"avx2"}),
    ("AVX-VNNI", ["--target", "x86-64-v3", "--features", "+avxvnni"], None, [], {"avx_vnni"}),
    ("AVX-512 VNNI", ["--target", "x86-64-v4", "--features", "+avx512vnni"], None, [], {"avx512_vnni", "avx512bw"}),
    ("AMX", ["--target", "x86-64-v4", "--features", "+avx512vnni,+amx-tile,+amx-int8"], None, [],
     {"avx512_vnni", "avx512bw", "amx_tile", "amx_int8"}),
    ("AMX without VNNI", ["--target", "x86-64-v4", "--features", "+amx-tile,+amx-int8"], None, [],
     {"avx512bw", "amx_tile", "amx_int8"}),
    ("aarch64", ["--target", "aarch64"], "aarch64", [], set()),
    ("aarch64+dotprod", ["--target", "aarch64+dotprod"], "aarch64", ["-cpu", "max"], set()),
    ("aarch64+i8mm", ["--target", "aarch64+i8mm"], "aarch64", ["-cpu", "max"], set()),
    ("riscv64+v", ["--target", "riscv64+v"], "riscv64", ["-cpu", "rv64,v=true,vlen=128,vext_spec=v1.0"], set()),
    ("riscv64+v, 256 bits", ["--target", "riscv64+v", "--features", "+zvl256b"], "riscv64",
     ["-cpu", "rv64,v=true,vlen=256,vext_spec=v1.0"], set()),
]
DEFAULT = ("x86-64-v2", "AVX-512 VNNI", "AMX", "aarch64+i8mm", "riscv64+v")


def this_machine():
    text = pathlib.Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""
    found = re.search(r"^flags\s*:(.*)$", text, re.M)
    return set(found.group(1).split()) if found else set()


def main():
    require_tools()
    chosen = TARGETS if "--all" in sys.argv else [target for target in TARGETS if target[0] in DEFAULT]
    count = next((argument for argument in sys.argv[1:] if argument.isdigit()), "12")
    tally, features, runners = Tally(), this_machine(), {}
    with tempfile.TemporaryDirectory(prefix="onnxq-integers-") as temporary:
        folder = pathlib.Path(temporary)
        environment = dict(os.environ, ONNXQUANT_CASES=str(folder / "cases"), ONNXQUANT_BUILD=str(harness.BUILD))
        made = subprocess.run([SCRIPT, count, "--target", "x86-64-v2"], env=environment, capture_output=True, text=True)
        for name, options, machine, emulator, needs in chosen:
            if missing := needs - features:
                print(f"skipped: {name}: this processor has no {', '.join(sorted(missing))}")
                tally.skipped += 1
                continue
            command = [ONNXQ, "test", folder / "cases", "--filter", ".", "--rtol", "0", "--atol", "0", *options]
            if machine:
                tools = [f"qemu-{machine}", f"{machine}-linux-gnu-gcc"]
                if not all(map(shutil.which, tools)):
                    print(f"skipped: {name}: {' or '.join(tools)} isn't there; scripts/setup.sh installs them")
                    tally.skipped += 1
                    continue
                runners.setdefault(machine, cross.build_runner(machine, folder))
                command += ["--runner", " ".join([tools[0], *emulator, "-L", f"/usr/{machine}-linux-gnu", str(runners[machine])])]
            outcome = made if name == "x86-64-v2" else subprocess.run(list(map(str, command)), capture_output=True, text=True)
            totals = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", outcome.stdout, re.M)
            whole = totals and totals.group(2) == totals.group(3) == "0" and int(totals.group(1)) >= int(count)
            print(f"{name}: {totals.group(0) if totals else 'no totals'}", flush=True)
            tally.expect(name, whole and outcome.returncode == 0, (outcome.stdout + outcome.stderr)[:600])
    tally.finish()


if __name__ == "__main__":
    main()
