"""Photos decoded and augmented for training as torchvision does it, to measure ours against.

Reads commands from standard input, one per line, and answers each with a number:
  prepare FOLDER SIZE WORKERS     a loader of the photos in the folders of FOLDER, cropped to SIZE; answers their number
  run COUNT                       takes at least COUNT photos from it; answers seconds per photo
"""
import sys
import time

from torch.utils.data import DataLoader
from torchvision import datasets, transforms

BATCH = 32


def endless(photos, workers):
    loader = DataLoader(photos, BATCH, shuffle=True, num_workers=workers, drop_last=True, persistent_workers=workers > 0)
    while True:
        yield from loader


def main():
    batches = None
    for line in sys.stdin:
        command, *words = line.rstrip("\n").split(" ")
        if command == "prepare":
            *folder, size, workers = words
            photos = datasets.ImageFolder(" ".join(folder), transforms.Compose([
                transforms.RandomResizedCrop(int(size)), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
                transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]))
            batches = endless(photos, int(workers))
            answer = len(photos)
        else:
            count, start = 0, time.perf_counter()
            while count < int(words[0]):
                count += len(next(batches)[0])
            answer = (time.perf_counter() - start) / count
        print(answer, flush=True)


main()
