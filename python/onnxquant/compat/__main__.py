"""Runs a script, or a module of ONNX Runtime's, with this package behind it.

    python -m onnxquant.compat [--force] [--legacy] [--esp] script.py [arguments]
    python -m onnxquant.compat -m onnxruntime.quantization.preprocess [arguments]
"""

import importlib.util
import os
import runpy
import sys

from . import install, install_esp, install_legacy


def _is_missing(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is None
    except ModuleNotFoundError as error:
        # Something else that the module's package imports may be missing.
        return module == error.name or module.startswith(f"{error.name}.")


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
        if _is_missing(arguments[1]):
            sys.exit(f"onnxquant.compat: there is no module {arguments[1]}")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    if not os.path.exists(arguments[0]):
        sys.exit(f"onnxquant.compat: {arguments[0]}: no such script")
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
