#!/usr/bin/env bash
# Makes packages of a build: a self-contained wheel and a Debian package, in dist/.
#   scripts/package.sh [--no-build] [wheel] [deb]
# The wheel brings LLVM's and MLIR's libraries; it needs Python and NumPy only. The
# Debian package has the tools, the libraries, the headers, the CMake package, man
# pages and completions of bash.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

build=1 kinds=()
for argument in "$@"; do
  case $argument in
    --no-build) build=0 ;;
    wheel | deb) kinds+=("$argument") ;;
    *) echo "usage: package.sh [--no-build] [wheel] [deb]" >&2; exit 2 ;;
  esac
done
[ ${#kinds[@]} -gt 0 ] || kinds=(wheel deb)
[ $build -eq 0 ] || scripts/build.sh
mkdir -p dist

make_wheel() {
  PYTHONPATH=python/build_backend "$python" -c '
import onnxquant_build, sys
print(onnxquant_build.build_wheel(sys.argv[1], {"self-contained": "true"}))' dist
}

make_deb() {
  # Manual pages and completions are made by the tool, as a target of the build.
  (cd build && cpack -G DEB -B "$root/dist" >/dev/null)
  rm -rf dist/_CPack_Packages
}

for kind in "${kinds[@]}"; do
  "make_$kind"
done
du -h dist/*.whl dist/*.deb 2>/dev/null || true
