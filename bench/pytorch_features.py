"""A linear classifier on vectors in plain PyTorch loops, to measure ours against.

Reads commands from standard input, one per line, and answers each with a number:
  prepare CLASSES BATCH THREADS FILE   loads the vectors of an NPY file into memory; answers their number
  dataloaderWORKERS STEPS              steps with TensorDataset and DataLoader; answers seconds per step
  plain STEPS                          steps with X[permutation[i:i + b]]; answers seconds per step
"""
import itertools
import sys
import time

import numpy
import torch
from torch.utils.data import DataLoader, TensorDataset


def plain_batches(X, y, batch):
    while True:
        permutation = torch.randperm(len(X))
        for i in range(0, len(X) - batch + 1, batch):
            chosen = permutation[i:i + batch]
            yield X[chosen], y[chosen]


def endless(loader):
    while True:
        yield from loader


def run(batches, model, optimizer, steps):
    """Seconds per step, after some that do not count."""
    warm_up = max(steps // 40, 2)
    for number, (x, y) in enumerate(itertools.islice(batches, warm_up + steps)):
        if number == warm_up:
            start = time.perf_counter()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return (time.perf_counter() - start) / steps


def main():
    for line in sys.stdin:
        command, *words = line.rstrip("\n").split(" ", 4)
        if command == "prepare":
            classes, batch, threads = map(int, words[:3])
            torch.set_num_threads(threads)
            X = torch.from_numpy(numpy.load(words[3]))
            y = torch.randint(classes, (len(X),))
            model = torch.nn.Linear(X.shape[1], classes)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4)
            answer = len(X)
        elif command == "plain":
            answer = run(plain_batches(X, y, batch), model, optimizer, int(words[0]))
        else:
            # Its workers end with it, so that they take nothing from whoever is measured next.
            loader = DataLoader(TensorDataset(X, y), batch, shuffle=True, drop_last=True,
                                num_workers=int(command.removeprefix("dataloader")))
            answer = run(endless(loader), model, optimizer, int(words[0]))
            del loader
        print(answer, flush=True)


main()
