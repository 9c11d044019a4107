#!/usr/bin/env bash
# runtimes_test.sh BIN: exported networks give their logits in PyTorch for Python and in OpenCV, and the checker of ONNX takes them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1/export_samples" "$folder"
"$1/opencv_check" "$folder"
"$(dirname "$0")/check.py" "$folder" torch onnx
