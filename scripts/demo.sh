#!/usr/bin/env bash
# Shows what the project does, on a network that tells ten kinds of things in pictures: calibrate, quantize, compile,
# compare with the float network and with ONNX Runtime, find the fastest model that keeps a bound, and look where
# accuracy goes. Sets up and builds first. ONNX Runtime comes from npm; without it that part is left out.
#
#   scripts/demo.sh [--no-build]
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

case ${1-} in
  "") scripts/setup.sh && scripts/build.sh release onnxq onnxq-runner ;;
  --no-build) ;;
  *) echo "usage: demo.sh [--no-build]" >&2; exit 2 ;;
esac
status=0
scripts/setup.sh --runtime || status=$?
case $status in
  0) ;;
  3) echo "without ONNX Runtime, which npm didn't give" ;;
  *) exit $status ;;
esac
export PATH=$root/build/bin:$PATH

# What is made stays there, to be looked at.
work=$root/build/demo
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cp "$root"/examples/cifar/{cifar.onnx,calibration-images.idx.gz,test-images.idx.gz,test-labels.idx.gz} .
start=$(date +%s%N)

# The command is shown also where its output goes elsewhere.
exec 3>&1
step() {
  printf '$ onnxq %s\n' "$*" >&3
  onnxq "$@"
}
pixels=(--mean 127.5 --scale 1/127.5)

printf '\n== a network that tells what is in a picture, with 200 pictures to calibrate with\n'
step quantize cifar.onnx --data calibration-images.idx.gz "${pixels[@]}" -o cifar.int8.onnx | head -6
step compile cifar.onnx --dim batch=1 --name cifar -o cifar.so &
step compile cifar.int8.onnx --dim batch=1 --name cifar -o cifar.int8.so
wait $!

printf '\n== float and int8 on 1,000 other pictures\n'
step evaluate cifar.int8.so --reference cifar.so --data test-images.idx.gz --labels test-labels.idx.gz \
  "${pixels[@]}" --json >evaluation.json
printf '\n'
"$python" "$root/examples/cifar/compare.py" evaluation.json

printf '\n== the fastest model that is as near to the float one as asked for\n'
step quantize cifar.onnx --data calibration-images.idx.gz "${pixels[@]}" --min-sqnr 35 --report frontier.html \
  -o cifar.near.onnx | sed -n '/^budget/,/^mode/{/^mode/!p}'

printf '\n== where accuracy goes\n'
step debug cifar.onnx cifar.int8.onnx --data test-images.idx.gz --limit 50 "${pixels[@]}" --top 5 --report report.html
took=$(( ($(date +%s%N) - start) / 10000000 ))

printf '\npages    %s\n         %s\nlibrary  %s\n' "$work/frontier.html" "$work/report.html" "$work/cifar.int8.so"
printf 'all of it took %d.%02d s\n' $((took / 100)) $((took % 100))
