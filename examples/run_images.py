#!/usr/bin/env python3
"""The images of a run as files, so that other runs can use exactly these and the same split.

    regroup audit RUN
    python3 examples/review_worst.py RUN 0.05 > reviewed.csv
    python3 examples/run_images.py RUN IMAGES given=RUN/labels.csv corrected=RUN/audit/corrected.csv reviewed=reviewed.csv
    regroup train --config RUN/config.toml --data csv:IMAGES/corrected.csv --data-dir "" --noise none --limit 0 --image-size 32 --output RETRAINED

For runs on CIFAR-10 or Fashion-MNIST (28 pixels). A run with --limit draws its images by their labels: with other labels it would draw
other images, and a comparison would say nothing about the labels. Writes IMAGES/train and IMAGES/test, and IMAGES/NAME.csv of
path,label,clean,split for each NAME=LABELS.
"""
import csv
import gzip
import struct
import sys
import tomllib
import zlib
from pathlib import Path

import numpy as np


def read_dataset(config):
    """Images and labels of the training and of the test part."""
    if config["data"] == "cifar10":
        folder = Path(config["data-dir"] or ".") / "cifar-10-batches-bin"
        read = lambda names: np.concatenate([np.fromfile(folder / f"{name}.bin", np.uint8).reshape(-1, 3073) for name in names])
        parts = read([f"data_batch_{i}" for i in range(1, 6)]), read(["test_batch"])
        return [(part[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), part[:, 0]) for part in parts]
    if config["data"] == "fashion-mnist":
        folder = Path(config["data-dir"] or "/usr/share/datasets/fashion-mnist")
        read = lambda name, head: np.frombuffer(gzip.decompress((folder / f"{name}-ubyte.gz").read_bytes()), np.uint8, offset=head)
        return [(read(f"{part}-images-idx3", 16).reshape(-1, 28, 28, 1), read(f"{part}-labels-idx1", 8)) for part in ("train", "t10k")]
    sys.exit(f"{config['data']}: only runs on cifar10 and fashion-mnist are known here")


def write_png(path, image):
    if path.exists():
        return
    height, width, channels = image.shape
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = np.hstack([np.zeros((height, 1), np.uint8), image.reshape(height, -1)]).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def read_csv(path):
    with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
        return list(csv.DictReader(file))


def run_images(run, folder):
    """Writes the images of a run. Returns index and split of each training and validation image, and the rows of the test images."""
    with open(f"{run}/config.toml", "rb") as file:
        train, test = read_dataset(tomllib.load(file))
    splits = {int(row["index"]): row["part"] for row in read_csv(f"{run}/audit/issues.csv") if row["part"] != "test"}
    for part in ("train", "test"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for index in splits:
        write_png(folder / f"train/{index}.png", train[0][index])
    for index, image in enumerate(test[0]):
        write_png(folder / f"test/{index}.png", image)
    return sorted(splits.items()), [[f"test/{index}.png", label, label, "test"] for index, label in enumerate(test[1])]


def write_rows(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["path", "label", "clean", "split"], *rows])


def main(run, folder, *label_files):
    folder = Path(folder)
    splits, test_rows = run_images(run, folder)
    for name, file in (entry.split("=", 1) for entry in label_files):
        labels = {int(row["index"]): row for row in read_csv(file)}
        rows = [[f"train/{index}.png", labels[index]["label"], labels[index]["clean"], split] for index, split in splits]
        write_rows(folder / f"{name}.csv", rows + test_rows)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
