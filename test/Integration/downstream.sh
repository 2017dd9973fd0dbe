#!/usr/bin/env bash
# shellcheck disable=SC2317 # functions are called by name
# Installs the build, and builds and runs examples/downstream against what was
# installed: the way another compiler integrates this one. Only the prefix and a
# copy of the example are used, nothing of the source or build tree.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(realpath "${ONNXQUANT_BUILD:-$root/build}")
data=/usr/lib/python3/dist-packages/onnx/backend/test/data
work=$(mktemp -d "${TMPDIR:-/tmp}/onnxq-downstream.XXXXXX")
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
passed=0 failed=0

# check NAME COMMAND...: counts it; shows what it printed if it fails.
check() {
  local name=$1 status=0
  shift
  "$@" >"$work/log" 2>&1 || status=$?
  if [ $status -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $name: exit status $status"
    tail -n 20 "$work/log"
  fi
}

# expect STATUS TEXT COMMAND...: the command's exit status, and a line it prints.
expect() {
  local wanted=$1 text=$2 status=0
  shift 2
  "$@" >"$work/out" 2>&1 || status=$?
  [ "$status" -eq "$wanted" ] || {
    echo "expects exit status $wanted, but got $status"
    cat "$work/out"
    return 1
  }
  grep -qF -- "$text" "$work/out" || {
    echo "expects '$text' in:"
    cat "$work/out"
    return 1
  }
}

finish() {
  echo "$passed passed, $failed failed"
  exit $((failed > 0))
}

cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

# What is found below the prefix must not be said to be in these trees.
names_no_tree() {
  ! grep -rnF -e "$root" -e "$build" "$prefix/include" "$prefix"/lib*/cmake
}

# Headers for consumers include no protobuf, and all compile.
headers_are_whole() {
  local package flags=()
  ! grep -rnE 'google/protobuf|\.pb\.h' "$prefix/include" || return 1
  (cd "$prefix/include" && find . -name '*.h' | sort) | sed 's/.*/#include "&"/' >"$work/all.cpp"
  for package in $(cached MLIR_DIR) $(cached LLVM_DIR); do
    flags+=(-isystem "${package%/lib/cmake/*}/include")
  done
  "$compiler" -std=c++17 -fsyntax-only -I"$prefix/include" "${flags[@]}" "$work/all.cpp"
}

compiler=$(cached CMAKE_CXX_COMPILER)
sanitize=
[ "$(cached ONNXQUANT_SANITIZE)" != ON ] ||
  sanitize="-fsanitize=address,undefined -fno-sanitize=vptr,function"

check "install" cmake --install "$build" --prefix "$prefix"
[ "$failed" -eq 0 ] || finish
check "the package names no source or build folder" names_no_tree
check "the installed headers" headers_are_whole
check "installed pages" test -f "$prefix/share/man/man1/onnxq-compile.1" -a -f "$prefix/share/bash-completion/completions/onnxq"
driver=$(cached LLVM_DIR)
driver=${driver%/cmake*}
driver=${driver%/lib}/bin/mlir-opt
plugin=$(echo "$prefix"/lib*/OnnxQuantPlugin.so)
[ -n "$sanitize" ] || check "the installed plug-in" expect 0 "onnx.Gemm" "$driver" "--load-dialect-plugin=$plugin" \
  "--load-pass-plugin=$plugin" "--pass-pipeline=builtin.module(onnx-preprocess)" "$root/test/Tools/plugin.mlir"
check "the installed tool" expect 0 "onnxq " "$prefix/bin/onnxq" --version

cp -r "$root/examples/downstream" "$work/source"
check "configure" cmake -G Ninja -S "$work/source" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_BUILD_TYPE="$(cached CMAKE_BUILD_TYPE)" -DCMAKE_CXX_FLAGS="$sanitize" \
  -DCMAKE_C_COMPILER="$(cached CMAKE_C_COMPILER)" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$(cached CMAKE_CXX_COMPILER_LAUNCHER)"
[ "$failed" -eq 0 ] || finish
check "build" cmake --build "$work/build" --parallel 2
[ "$failed" -eq 0 ] || finish

program=$work/build/downstream
model=$data/pytorch-converted/test_Conv2d_groups/model.onnx
check "its own pass" expect 0 "Conv: 1 nodes, 1 of 1 results static" "$program" "$model"
check "the result" expect 0 "-> (tensor<2x6x4x4xf32>" "$program" "$model"
check "a pipeline by name" expect 0 "Conv: 1 nodes" "$program" "$model" "canonicalize,report-nodes"
check "an unknown pass" expect 2 "no-such-pass" "$program" "$model" "no-such-pass"
check "a missing model" expect 1 "error: missing.onnx: " "$program" missing.onnx
finish
