"""Training as a plain, well-written PyTorch script does it, to measure ours against.

Reads commands from standard input, one a line, and answers each with a number:
  threads N                   sets the threads; answers N
  prepare KIND WIDTH PRECISION    makes network, loader and optimizer; answers 0
  run KIND WIDTH PRECISION STEPS  trains so many steps; answers the seconds
KIND is `ce`, or `rml`: what the paper's published code does for Regroup Median Loss, an extra pass to record losses (a forward
pass for each batch here) and a loop of multinomial draws for each batch.
"""
import sys
import time

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

IMAGES, CLASSES, BATCH, GROUPS, PER_GROUP = 50_000, 10, 128, 6, 200


class Images(Dataset):
    def __init__(self):
        random = numpy.random.default_rng(1)
        self.pixels = random.integers(0, 256, (IMAGES, 32, 32, 3), dtype=numpy.uint8)
        self.labels = random.integers(0, CLASSES, IMAGES)
        self.transform = transforms.Compose([
            transforms.RandomCrop(32, padding=4), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
            transforms.Normalize((0.49, 0.48, 0.45), (0.25, 0.24, 0.26))])

    def __len__(self):
        return IMAGES

    def __getitem__(self, index):
        return self.transform(Image.fromarray(self.pixels[index])), int(self.labels[index]), index


class Block(torch.nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(outputs)
        self.conv2 = torch.nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(outputs)
        self.relu = torch.nn.ReLU(inplace=True)
        self.shortcut = torch.nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = torch.nn.Sequential(
                torch.nn.Conv2d(inputs, outputs, 1, stride, bias=False), torch.nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


def resnet18(width):
    layers = [torch.nn.Conv2d(3, width, 3, 1, 1, bias=False), torch.nn.BatchNorm2d(width), torch.nn.ReLU(inplace=True)]
    inputs = width
    for stage in range(4):
        for depth in range(2):
            outputs = width << stage
            layers.append(Block(inputs, outputs, 2 if stage > 0 and depth == 0 else 1))
            inputs = outputs
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                               torch.nn.Linear(inputs, CLASSES)).to(memory_format=torch.channels_last)


class Training:
    def __init__(self, images, kind, width, precision):
        self.images, self.kind, self.bf16 = images, kind, precision == "bf16"
        self.network = resnet18(width)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
        self.labels = torch.from_numpy(images.labels)
        self.members = [torch.nonzero(self.labels == y).flatten() for y in range(CLASSES)]
        self.losses = torch.rand(IMAGES)
        self.workers = self.best_workers()
        self.batches = self.endless()

    def endless(self):
        while True:
            yield from DataLoader(self.images, BATCH, shuffle=True, num_workers=self.workers, drop_last=True)

    def best_workers(self):
        """The fastest of 0 to 2 for a few batches: more than the cores do not help."""
        seconds = {}
        for workers in (0, 1, 2):
            self.workers = workers
            self.batches = self.endless()
            self.run(2)
            seconds[workers] = self.run(4)
        return min(seconds, key=seconds.get)

    def weights(self, indexes, losses):
        """The robust loss of each sample of a batch over its own loss."""
        weights = []
        for index, loss in zip(indexes, losses):
            members = self.members[self.labels[index]]
            own = self.losses[members]
            drawn = own[torch.multinomial(torch.exp(-own * (own + 1)), GROUPS * PER_GROUP)]
            groups = drawn.view(GROUPS, PER_GROUP).mean(1)
            weights.append(torch.clamp(torch.cat([groups, loss[None]]).median() / loss, max=1))
        return torch.stack(weights)

    def run(self, steps):
        start = time.perf_counter()
        for _ in range(steps):
            images, labels, indexes = next(self.batches)
            images = images.contiguous(memory_format=torch.channels_last)
            if self.kind == "rml":
                self.network.eval()
                with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, self.bf16):
                    recorded = torch.nn.functional.cross_entropy(self.network(images).float(), labels, reduction="none")
                self.losses[indexes] = recorded.clamp(max=3)
                self.network.train()
            with torch.autocast("cpu", torch.bfloat16, self.bf16):
                logits = self.network(images)
            losses = torch.nn.functional.cross_entropy(logits.float(), labels, reduction="none")
            if self.kind == "rml":
                losses = losses * self.weights(indexes, losses.detach())
            self.optimizer.zero_grad(set_to_none=True)
            losses.mean().backward()
            self.optimizer.step()
        return time.perf_counter() - start


def main():
    images, trainings = Images(), {}
    for line in sys.stdin:
        command, *words = line.split()
        if command == "threads":
            torch.set_num_threads(int(words[0]))
            answer = int(words[0])
        elif command == "prepare":
            trainings[tuple(words)] = Training(images, words[0], int(words[1]), words[2])
            answer = 0
        else:
            answer = trainings[tuple(words[:3])].run(int(words[3]))
        print(answer, flush=True)


main()
