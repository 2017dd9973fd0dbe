#!/usr/bin/env bash
# Runs every ONNX backend test case through compiled code. Skipped are the
# documented categories; at least 960 cases must pass.
set -uo pipefail
onnxq=${ONNXQUANT_BUILD:?}/bin/onnxq
data=/usr/share/libonnx-testdata/data
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$onnxq" test "$data" >"$log" 2>&1
grep -v '^SKIP' "$log"
echo "skipped, by category:"
grep -o 'category: [a-z0-9]*' "$log" | sort | uniq -c
read -r passed _ failed _ skipped _ < <(tail -n 1 "$log")
if [ "${passed:-0}" -lt 960 ]; then
  echo "expected 960 cases or more to pass, but got ${passed:-0}"
  failed=$((${failed:-0} + 1))
fi
echo "${passed:-0} passed, ${failed:-1} failed, ${skipped:-0} skipped"
[ "${failed:-1}" -eq 0 ]
