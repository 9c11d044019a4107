#!/usr/bin/env python3
"""How well cleanlab finds the wrong labels of a run with cross-validated probabilities: the same network, trained once per fold.

    pip install cleanlab safetensors
    regroup audit RUN --save-predictions
    python3 examples/cross_validate.py RUN IMAGES FOLDS [--regroup build/regroup] [--jobs 1]

For runs on CIFAR-10 or Fashion-MNIST with known true labels, of which the training images are judged, as by compare_audit.py. Each of
five runs in FOLDS trains on four fifths of them, with the settings of RUN, and predicts the rest: the fold is its validation part.
Images are written to IMAGES, as by run_images.py. Prints what compare_audit.py prints, with the seconds of the trainings, and what
find_label_issues finds.
"""
import argparse
import csv
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores

from compare_audit import figures
from run_images import read_csv, run_images, write_rows


def train_fold(options, rows, test_rows, folds, fold):
    """Probabilities of the images of a fold by a network that has not seen them, and the seconds of its training."""
    name = f"{options.run.name}-{fold}"
    out = options.folds / name
    if not (out / "audit/summary.json").exists():
        data = options.images / f"{name}.csv"
        write_rows(data, [[*row, "val" if folds[i] == fold else "train"] for i, row in enumerate(rows)] + test_rows)
        size = "28" if options.run.name.startswith("fashion") else "32"
        settings = ["--data", f"csv:{data}", "--data-dir", "", "--noise", "none", "--limit", "0", "--image-size", size, "--threads", "1"]
        subprocess.run([options.regroup, "train", "--config", options.run / "config.toml", *settings, "--output", out, "-q"], check=True)
        subprocess.run([options.regroup, "audit", out, "--save-predictions", "--part", "val", "-q"], check=True)
    held_out = int((folds == fold).sum())  # the last rows, in the order of the images
    return np.load(out / "audit/probabilities.npy")[-held_out:], json.loads((out / "summary.json").read_text())["seconds"]


def main(options):
    splits, test_rows = run_images(options.run, options.images)
    test_rows = [[path, label, "", split] for path, label, _, split in test_rows[:100]]  # not judged here
    labels = {int(row["index"]): row for row in read_csv(options.run / "labels.csv")}
    trained = [index for index, split in splits if split == "train"]
    rows = [[f"train/{index}.png", labels[index]["label"], labels[index]["clean"]] for index in trained]
    given = np.array([int(row[1]) for row in rows])
    wrong = np.array([row[1] != row[2] for row in rows])
    folds = np.empty(len(rows), int)
    generator = np.random.default_rng(1)
    for label in np.unique(given):
        places = generator.permutation(np.flatnonzero(given == label))
        folds[places] = (np.arange(len(places)) + label) % 5
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda fold: train_fold(options, rows, test_rows, folds, fold), range(5)))
    probabilities = np.empty((len(rows), results[0][0].shape[1]))
    for fold, (predicted, _) in enumerate(results):
        probabilities[folds == fold] = predicted
    probabilities /= probabilities.sum(1, keepdims=True)
    seconds = sum(seconds for _, seconds in results)

    out = csv.writer(sys.stdout, lineterminator="\n")
    accuracy = np.mean(probabilities.argmax(1) == [int(row[2]) for row in rows])
    for method in ("self_confidence", "normalized_margin"):
        score = get_label_quality_scores(given, probabilities, method=method)
        out.writerow([options.run, f"cleanlab {method}, 5 folds", *(f"{figure:.4f}" for figure in figures(score, wrong)), f"{seconds:.1f}"])
    found = find_label_issues(given, probabilities)
    print(f"# find_label_issues: {found.sum()} of {len(rows)}, precision {wrong[found].mean():.4f}, recall {found[wrong].mean():.4f}; "
          f"{wrong.sum()} are wrong; held-out accuracy {accuracy:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("run", "images", "folds"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--regroup", default="regroup")
    parser.add_argument("--jobs", type=int, default=1)
    main(parser.parse_args())
