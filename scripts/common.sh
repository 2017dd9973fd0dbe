# shellcheck shell=bash disable=SC2034
# Sourced by the other scripts: where the project and its cache are, and one way to fail.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${ONNXQUANT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/onnxquant}
# Debian's own Python has the onnx and numpy packages; another one may come first on PATH.
python=/usr/bin/python3

fail() {
  echo "error: $*" >&2
  exit 1
}
