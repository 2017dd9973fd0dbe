"""Runs a script, or a module of ONNX Runtime's, with this package behind it.

    python -m onnxquant.compat [--force] [--legacy] [--esp] script.py [arguments]
    python -m onnxquant.compat -m onnxruntime.quantization.preprocess [arguments]
"""

import os
import runpy
import sys

from . import install, install_esp, install_legacy


def main() -> None:
    arguments = sys.argv[1:]
    force = legacy = esp = False
    while arguments and arguments[0] in ("--force", "--legacy", "--esp"):
        force |= arguments[0] == "--force"
        legacy |= arguments[0] == "--legacy"
        esp |= arguments[0] == "--esp"
        arguments.pop(0)
    if arguments and arguments[0].startswith("--") and arguments[0] != "--help":
        sys.exit(f"onnxquant.compat has no option {arguments[0]}; it has --force, --legacy and --esp")
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        sys.exit(0 if arguments else 2)
    if not install(force):
        print("onnxquant.compat: ONNX Runtime itself is installed and is used; --force takes this package",
              file=sys.stderr)
    if legacy:
        install_legacy()
    if esp:
        install_esp()
    if arguments[0] == "-m":
        if len(arguments) < 2:
            sys.exit("-m expects a module")
        sys.argv = arguments[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
