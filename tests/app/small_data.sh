#!/usr/bin/env bash
# small_data.sh FOLDER: the first 512 training and test images of Fashion-MNIST, so that runs take seconds.
set -euo pipefail
folder=$1
source=/usr/share/datasets/fashion-mnist
mkdir "$folder"
for part in train t10k; do
  gzip -dc "$source/$part-images-idx3-ubyte.gz" > "$folder/images" 2>/dev/null || cp "$source/$part-images-idx3-ubyte" "$folder/images"
  gzip -dc "$source/$part-labels-idx1-ubyte.gz" > "$folder/labels" 2>/dev/null || cp "$source/$part-labels-idx1-ubyte" "$folder/labels"
  { printf '\0\0\10\3\0\0\2\0\0\0\0\34\0\0\0\34'; head -c $((16 + 512 * 784)) "$folder/images" | tail -c $((512 * 784)); } > "$folder/$part-images-idx3-ubyte"
  { printf '\0\0\10\1\0\0\2\0'; head -c $((8 + 512)) "$folder/labels" | tail -c 512; } > "$folder/$part-labels-idx1-ubyte"
  rm "$folder/images" "$folder/labels"
done
