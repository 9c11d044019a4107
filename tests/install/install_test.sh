#!/usr/bin/env bash
# install_test.sh CMAKE BUILD TORCH COMPILER FLAGS: installs the build into a fresh folder and builds and runs projects on it.
set -euo pipefail
cmake=$1 build=$2 torch=$3 compiler=$4 flags=$5
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/prefix" >/dev/null
try() {  # try PROJECT
  "$cmake" -S "$here/$1" -B "$work/$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags" >"$work/log" || { cat "$work/log"; exit 1; }
  "$cmake" --build "$work/$1" >"$work/log" || { cat "$work/log"; exit 1; }
  "$work/$1/consumer"
}

try estimator
if readelf -d "$work/estimator/consumer" | grep -q 'NEEDED.*torch'; then
  echo 'the estimator needs torch'
  exit 1
fi
[ "$torch" = none ] || try engine
