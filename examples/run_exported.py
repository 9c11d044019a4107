#!/usr/bin/env python3
"""Runs a network that `regroup export` wrote, on photos or on vectors, without Regroup.

    python3 examples/run_exported.py model.onnx photo.jpg...     with onnxruntime, or OpenCV (cv2)
    python3 examples/run_exported.py model.pt photo.jpg...       with torch
    python3 examples/run_exported.py model.onnx vectors.npy      of a network for vectors

Prints the likeliest class of each and its probability, as `regroup predict` does. Needs numpy, and Pillow for photos.
"""
import json
import sys

import numpy


def load(file):
    """What is known of the network, its class names, and a function from samples to logits."""
    if file.endswith(".pt"):
        import torch

        extra = {"regroup.json": ""}
        module = torch.jit.load(file, _extra_files=extra).eval()
        with torch.no_grad():
            return json.loads(extra["regroup.json"]), module.class_names, lambda x: module(torch.from_numpy(x)).detach().numpy()
    try:
        import onnxruntime

        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        about = session.get_modelmeta().custom_metadata_map
        name = session.get_inputs()[0].name
        return json.loads(about["regroup"]), json.loads(about["class_names"]), lambda x: session.run(["logits"], {name: x})[0]
    except ModuleNotFoundError:
        import cv2
        import onnx

        about = {entry.key: entry.value for entry in onnx.load(file).metadata_props}
        net = cv2.dnn.readNetFromONNX(file)
        return json.loads(about["regroup"]), json.loads(about["class_names"]), lambda x: (net.setInput(x), net.forward())[1]


def pixels_of(photo, card):
    """The middle of the photo, its shorter side scaled, as numbers of 0 to 255: [channels][height][width]."""
    from PIL import Image, ImageOps

    image = ImageOps.exif_transpose(Image.open(photo)).convert("RGB")
    side, short = card["height"], card.get("resize") or card["height"]
    scale = short / min(image.size)
    image = image.resize([max(short, int(size * scale + 0.5)) for size in image.size], Image.BILINEAR)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    image = image.crop((left, top, left + side, top + side))
    pixels = numpy.asarray(image.convert("L") if card["channels"] == 1 else image, dtype=numpy.float32)
    return pixels.reshape(side, side, card["channels"]).transpose(2, 0, 1)


def main():
    card, names, logits_of = load(sys.argv[1])
    for file in sys.argv[2:]:
        samples = numpy.load(file).astype(numpy.float32) if file.endswith(".npy") else pixels_of(file, card)[None]
        logits = logits_of(numpy.ascontiguousarray(samples))
        shares = numpy.exp(logits - logits.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        for row, best in enumerate(shares.argmax(1)):
            print(f"{file}{f' {row}' if len(shares) > 1 else ''}\t{names[best]}\t{shares[row, best]:.4f}")


main()
