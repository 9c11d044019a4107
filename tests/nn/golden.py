#!/usr/bin/python3
"""Prints the constants of network_test.cpp, computed by torchvision and, for the pre-activated network and EfficientNet-Lite0,
by the code below, in double precision.

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


class SameConv2d(torch.nn.Conv2d):
    """Pads as TensorFlow does, which PyTorch calls "same" and has for a stride of 1 only."""

    def forward(self, x):
        kernel, stride = self.kernel_size[0], self.stride[0]
        padding = []
        for size in (x.shape[3], x.shape[2]):
            total = max(0, (-(-size // stride) - 1) * stride + kernel - size)
            padding += [total // 2, total - total // 2]
        return super().forward(torch.nn.functional.pad(x, padding))


class LiteBlock(torch.nn.Module):
    def __init__(self, channels, width, kernel, stride, expansion):
        super().__init__()
        inner, self.residual = channels * expansion, stride == 1 and channels == width
        layers = [("conv_dw", SameConv2d(inner, inner, kernel, stride, groups=inner, bias=False)), (None, inner)]
        if expansion == 1:
            layers += [("conv_pw", SameConv2d(inner, width, 1, bias=False)), (None, width)]
        else:
            layers = [("conv_pw", SameConv2d(channels, inner, 1, bias=False)), (None, inner)] + layers
            layers += [("conv_pwl", SameConv2d(inner, width, 1, bias=False)), (None, width)]
        for i in range(0, len(layers), 2):
            setattr(self, *layers[i])
            setattr(self, f"bn{i // 2 + 1}", torch.nn.BatchNorm2d(layers[i + 1][1], eps=1e-3))
        self.layers = [name for name, _ in layers[::2]]

    def forward(self, x):
        y = x
        for i, name in enumerate(self.layers):
            y = getattr(self, f"bn{i + 1}")(getattr(self, name)(y))
            if i + 1 < len(self.layers):
                y = y.clamp(0, 6)
        return y + x if self.residual else y


class EfficientNetLite0(torch.nn.Module):
    """With timm's names."""

    def __init__(self, num_classes):
        super().__init__()
        self.conv_stem, self.bn1 = SameConv2d(3, 32, 3, 2, bias=False), torch.nn.BatchNorm2d(32, eps=1e-3)
        stages = [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112),
                  (4, 5, 2, 6, 192), (1, 3, 1, 6, 320)]
        self.blocks, channels = torch.nn.Sequential(), 32
        for count, kernel, stride, expansion, width in stages:
            stage = torch.nn.Sequential()
            for i in range(count):
                stage.append(LiteBlock(channels, width, kernel, stride if i == 0 else 1, expansion))
                channels = width
            self.blocks.append(stage)
        self.conv_head, self.bn2 = SameConv2d(320, 1280, 1, bias=False), torch.nn.BatchNorm2d(1280, eps=1e-3)
        self.classifier = torch.nn.Linear(1280, num_classes)

    def forward(self, x):
        x = self.blocks(self.bn1(self.conv_stem(x)).clamp(0, 6))
        return self.classifier(self.bn2(self.conv_head(x)).clamp(0, 6).mean((2, 3)))


def small_stem(network):
    network.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)
    network.maxpool = torch.nn.Identity()
    return network


def show(values):
    return "{" + ", ".join(f"{value:.8g}" for value in values) + "}"


models = torchvision.models
of_resnets = ["conv1.weight", "layer2.0.downsample.0.weight", "layer4.1.bn2.weight", "fc.bias"], "layer4.1.bn2"
of_lite = ["conv_stem.weight", "blocks.2.0.conv_dw.weight", "blocks.5.3.bn2.weight", "classifier.bias"], "blocks.5.3.bn2"
for title, network, size in [
    ("resnet18", small_stem(models.resnet18(num_classes=10)), (32, 32)),
    ("resnet34", small_stem(models.resnet34(num_classes=10)), (28, 28)),
    ("preact-resnet18", PreActResNet18(num_classes=10), (33, 47)),
    ("resnet50", models.resnet50(num_classes=10), (64, 64)),
    ("resnet18-imagenet", models.resnet18(num_classes=10), (64, 64)),
    ("resnet34-imagenet", models.resnet34(num_classes=10), (57, 64)),
    ("efficientnet-lite0", EfficientNetLite0(num_classes=10), (64, 75)),
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
    names, norm = of_lite if title == "efficientnet-lite0" else of_resnets
    print(title, "gradient norms:", show([tensors[name].grad.norm().item() for name in names]))
    last = network.get_submodule(norm)
    print(title, "running norms:", show([last.running_mean.norm().item(), last.running_var.norm().item()]))
    print(title, "parameters:", sum(parameter.numel() for parameter in network.parameters()))
