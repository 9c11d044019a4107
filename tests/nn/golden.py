#!/usr/bin/python3
"""Prints the constants of network_test.cpp, computed by torchvision and, for the pre-activated network, by the code
below, in double precision.

Needs Debian's python3-torchvision; the tests do not run it.
"""
import numpy
import torch
import torchvision


def noise(name, count):
    """Numbers in [-0.5, 0.5) by the name of a tensor; fill() of network_test.cpp makes the same."""
    mask = numpy.uint64(0xFFFFFFFF)
    word = numpy.arange(count, dtype=numpy.uint64) * 2654435761 + sum(name.encode()) * 374761393 & mask
    word = (word ^ word >> numpy.uint64(15)) * numpy.uint64(2246822519) & mask
    return torch.from_numpy((word ^ word >> numpy.uint64(13)) / 2.0**32 - 0.5)


def fill(network):
    for name, tensor in network.state_dict().items():
        values = noise(name, tensor.numel()).reshape(tensor.shape)
        if tensor.dim() > 1:
            tensor.copy_(values * (24 / tensor[0].numel()) ** 0.5)
        elif name.endswith(("weight", "running_var")):
            tensor.copy_(1 + values)
        elif tensor.is_floating_point():
            tensor.copy_(values)


class PreActBlock(torch.nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.bn1 = torch.nn.BatchNorm2d(channels)
        self.conv1 = torch.nn.Conv2d(channels, width, 3, stride, 1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(width)
        self.conv2 = torch.nn.Conv2d(width, width, 3, 1, 1, bias=False)
        # Without layers, the identity.
        self.downsample = torch.nn.Sequential()
        if stride != 1:
            self.downsample.append(torch.nn.Conv2d(channels, width, 1, stride, bias=False))

    def forward(self, x):
        active = self.bn1(x).relu()
        return self.conv2(self.bn2(self.conv1(active)).relu()) + self.downsample(active)


class PreActResNet18(torch.nn.Module):
    """As in the code of DivideMix, whose names for `downsample` and `fc` are `shortcut` and `linear`."""

    def __init__(self, num_classes):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(64)
        for stage, width in enumerate([64, 128, 256, 512]):
            blocks = PreActBlock(max(64, width // 2), width, 1 if stage == 0 else 2), PreActBlock(width, width, 1)
            setattr(self, f"layer{stage + 1}", torch.nn.Sequential(*blocks))
        self.fc = torch.nn.Linear(512, num_classes)

    def forward(self, x):
        x = self.bn1(self.conv1(x)).relu()
        return self.fc(self.layer4(self.layer3(self.layer2(self.layer1(x)))).mean((2, 3)))


def small_stem(network):
    network.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)
    network.maxpool = torch.nn.Identity()
    return network


def show(values):
    return "{" + ", ".join(f"{value:.8g}" for value in values) + "}"


models = torchvision.models
for title, network, size in [
    ("resnet18", small_stem(models.resnet18(num_classes=10)), (32, 32)),
    ("resnet34", small_stem(models.resnet34(num_classes=10)), (28, 28)),
    ("preact-resnet18", PreActResNet18(num_classes=10), (33, 47)),
    ("resnet50", models.resnet50(num_classes=10), (64, 64)),
]:
    network = network.double()
    with torch.no_grad():
        fill(network)
    images = 4 * noise("images", 4 * 3 * size[0] * size[1]).reshape(4, 3, *size)
    with torch.no_grad():
        logits = network.eval()(images)
    print(title, "evaluated:", show(logits[0, :4].tolist()))
    logits = network.train()(images)
    print(title, "trained:", show(logits[3, :4].tolist()))
    torch.nn.functional.cross_entropy(logits, torch.arange(4)).backward()
    tensors = dict(network.named_parameters())
    names = ["conv1.weight", "layer2.0.downsample.0.weight", "layer4.1.bn2.weight", "fc.bias"]
    print(title, "gradient norms:", show([tensors[name].grad.norm().item() for name in names]))
    last = network.layer4[1].bn2
    print(title, "running norms:", show([last.running_mean.norm().item(), last.running_var.norm().item()]))
    print(title, "parameters:", sum(parameter.numel() for parameter in network.parameters()))
