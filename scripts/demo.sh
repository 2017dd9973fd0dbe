#!/usr/bin/env bash
# Shows what the project does, on a network that reads digits: prepare, calibrate,
# quantize, compile, evaluate beside the float network, and look where accuracy
# goes. Sets up and builds first. Needs nothing but the Debian packages.
#
#   scripts/demo.sh [--no-build]
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

case ${1-} in
  "") scripts/setup.sh && scripts/build.sh release onnxq ;;
  --no-build) ;;
  *) echo "usage: demo.sh [--no-build]" >&2; exit 2 ;;
esac
export PATH=$root/build/bin:$PATH

# What is made stays there, to be looked at.
work=$root/build/demo
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cp "$root"/examples/digits/{digits.onnx,calibration-images.idx.gz,test-images.idx.gz,test-labels.idx.gz} .
start=$(date +%s%N)

# The command is shown also where its output goes elsewhere.
exec 3>&1
step() {
  printf '$ onnxq %s\n' "$*" >&3
  onnxq "$@"
}

printf '\n== a network that reads digits, with 200 pictures to calibrate with\n'
step quantize digits.onnx --data calibration-images.idx.gz --scale 1/255 -o digits.int8.onnx | head -6
step compile digits.onnx --dim batch=1 --name digits -o digits.so &
step compile digits.int8.onnx --dim batch=1 --name digits -o digits.int8.so
wait $!

printf '\n== float and int8 on 1,000 other pictures\n'
step evaluate digits.int8.so --reference digits.so --data test-images.idx.gz --labels test-labels.idx.gz \
  --scale 1/255 --metric top1,sqnr --json >evaluation.json
step debug digits.onnx digits.int8.onnx --data test-images.idx.gz --limit 100 --scale 1/255 --top 5 --report report.html
took=$(( ($(date +%s%N) - start) / 10000000 ))

printf '\n'
"$python" - "$work" <<'END'
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
int8 = json.loads((folder / "evaluation.json").read_text())
print(f"{'':8}{'accuracy':>10}{'latency':>12}{'ONNX':>12}{'library':>12}{'speed-up':>10}")
for name, score, stem in (("float", int8["reference"], "digits"), ("int8", int8, "digits.int8")):
    sizes = [(folder / f"{stem}{end}").stat().st_size / 1000 for end in (".onnx", ".so")]
    latency = score["latency_ms"]["median"]
    speed = int8["reference"]["latency_ms"]["median"] / latency
    print(f"{name:8}{100 * score['top1']:>8.1f} %{latency:>9.3f} ms{sizes[0]:>9.1f} KB{sizes[1]:>9.1f} KB{speed:>8.2f} x")
END
printf '\nreport   %s\nlibrary  %s\n' "$work/report.html" "$work/digits.int8.so"
printf 'all of it took %d.%02d s\n' $((took / 100)) $((took % 100))
