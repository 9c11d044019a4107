#!/usr/bin/env python3
"""What a vote of the nearest neighbours makes of a run's labels, to compare a training on vectors with.

    python3 examples/vote_of_neighbours.py DATA RUN...      DATA as in --data features:DATA, with a test part

Each test vector gets the label that most of its 11 nearest training vectors have (by the cosine; of equal ones that of the nearest).
Prints a line per run: the share of test labels that are met, and seconds. The run's own validation vectors vote too.
"""
import csv
import sys
import time
from pathlib import Path

import numpy

NEIGHBOURS = 11


def vectors_of(file):
    x = numpy.load(file).astype(numpy.float32)
    return x / numpy.linalg.norm(x, axis=1, keepdims=True)


def column(file, name):
    with open(file, newline="", encoding="utf-8", errors="surrogateescape") as lines:
        return [row[name] for row in csv.DictReader(lines)]


data = Path(sys.argv[1])
train, test = vectors_of(data / "train.npy"), vectors_of(data / "test.npy")
# A run numbers the classes: whole numbers by size, names by their bytes.
names = sorted(set(column(data / "train.csv", "label")), key=lambda name: int(name) if name.isdigit() else name.encode())
truth = numpy.array([names.index(name) for name in column(data / "test.csv", "label")])
print("run,accuracy,seconds")
for run in sys.argv[2:]:
    labels = numpy.array([int(label) for label in column(f"{run}/labels.csv", "label")])
    begin, right = time.time(), 0
    for first in range(0, len(test), 500):
        near = -(test[first:first + 500] @ train.T)
        nearest = numpy.argpartition(near, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
        for row, those in enumerate(nearest):
            those = those[numpy.argsort(near[row, those], kind="stable")]
            votes = numpy.bincount(labels[those], minlength=len(names))
            best = next(label for label in labels[those] if votes[label] == votes.max())
            right += best == truth[first + row]
    print(f"{run},{right / len(test):.4f},{time.time() - begin:.1f}", flush=True)
