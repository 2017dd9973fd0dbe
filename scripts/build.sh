#!/usr/bin/env bash
# Configures and builds one preset (default: release) and says how long it took.
#   scripts/build.sh [PRESET] [TARGET]...
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

preset=${1:-release}
shift || true
targets=()
[ $# -eq 0 ] || targets=(--target "$@")

start=$SECONDS
cmake --preset "$preset"
cmake --build --preset "$preset" "${targets[@]}"
took=$((SECONDS - start))
echo "built preset $preset in $((took / 60)) min $((took % 60)) s"
