#!/usr/bin/env bash
# Runs every ONNX backend test case through compiled code, then again with every
# access to a buffer checked. Skipped are the documented categories; at least
# 960 cases must pass.
set -uo pipefail
onnxq=${ONNXQUANT_BUILD:?}/bin/onnxq
data=/usr/share/libonnx-testdata/data
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0

# run TITLE OPTION...
run() {
  local title=$1 good bad left
  shift
  "$onnxq" test "$data" "$@" >"$log" 2>&1
  echo "$title:"
  grep -v '^SKIP' "$log"
  read -r good _ bad _ left _ < <(tail -n 1 "$log")
  if [ "${good:-0}" -lt 960 ]; then
    echo "expected 960 cases or more to pass, but got ${good:-0}"
    bad=$((${bad:-0} + 1))
  fi
  passed=$((passed + ${good:-0}))
  failed=$((failed + ${bad:-1}))
  skipped=$((skipped + ${left:-0}))
}

run "as users run them"
echo "skipped, by category:"
grep -o 'category: [a-z0-9]*' "$log" | sort | uniq -c
run "with checked accesses" --check-bounds
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
