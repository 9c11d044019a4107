#!/usr/bin/env python3
"""A copy of a folder of images in which a share of the training files is in the wrong folder, to try an audit on.

    python3 examples/move_files.py PHOTOS WRONG --share 0.2 --seed 1
    regroup train --data folder:WRONG --budget 3m --output RUN
    regroup audit RUN --save-predictions
    python3 examples/move_files.py PHOTOS WRONG --judge RUN

PHOTOS has train/CLASS/image.jpg, and perhaps val or validation and test. The right folder of a file is in PHOTOS alone: neither the
training nor the audit sees it. Files of train are moved to another class, each class equally likely; links, no copies. The last command
prints how good the audit's list is, beside those of others if its predictions were saved; it needs cleanlab and safetensors.
"""
import argparse
import csv
import json
import random
from pathlib import Path

import numpy as np


def photo_files(photos):
    """Part, class and path of every image."""
    folders = sorted(path for path in photos.glob("*/*") if path.is_dir())
    return [(folder.parent.name, folder.name, file) for folder in folders for file in sorted(folder.iterdir())]


def make(photos, wrong, share, seed):
    generator = random.Random(seed)
    files = photo_files(photos)
    classes = sorted({name for _, name, _ in files})
    trained = [number for number, (part, _, _) in enumerate(files) if part == "train"]
    moved = set(generator.sample(trained, round(share * len(trained))))
    for number, (part, name, file) in enumerate(files):
        folder = wrong / part / (generator.choice([other for other in classes if other != name]) if number in moved else name)
        folder.mkdir(parents=True, exist_ok=True)
        # The name holds the right class, so that no two files meet; nothing reads it but this script.
        (folder / f"{name}-{file.name}").symlink_to(file.resolve())


def judge(photos, run):
    from compare_audit import figures

    right = {f"{part}/{name}-{file.name}": name for part, name, file in photo_files(photos)}
    with open(run / "audit/issues.csv", newline="", encoding="utf-8", errors="surrogateescape") as file:
        rows = sorted((row for row in csv.DictReader(file) if row["part"] != "test"), key=lambda row: int(row["index"]))
    name_of = lambda row: right["{}/{}".format(*np.array(Path(row["path"]).parts)[[-3, -1]])]
    wrong = np.array([row["given_label"] != name_of(row) for row in rows])
    score = np.array([float(row["label_score"]) for row in rows])
    rate = json.loads((run / "audit/summary.json").read_text())["noise_rate"]
    ranges = np.minimum((score * 10).astype(int), 9)
    error = sum(abs((1 - score[ranges == r]).sum() - wrong[ranges == r].sum()) for r in range(10)) / len(score)
    print(f"# training and validation: {len(rows)} files, {wrong.mean():.4f} wrong; estimated: {rate}; calibration error {error:.4f}")
    print("way,average_precision,precision_worst_1_percent,recall_at_noise_rate")
    show = lambda name, values: print(name, *(f"{figure:.4f}" for figure in figures(values, wrong)), sep=",")
    show("regroup audit, training and validation", score)
    trained = np.array([row["part"] == "train" for row in rows])
    rows, wrong = [row for row in rows if row["part"] == "train"], wrong[trained]
    show("regroup audit", score[trained])
    if not (run / "audit/probabilities.npy").exists():
        return
    from cleanlab.rank import get_label_quality_scores
    from safetensors.numpy import load_file

    place = {int(index): i for i, index in enumerate(np.load(run / "audit/indexes.npy"))}
    probabilities = np.load(run / "audit/probabilities.npy").astype(np.float64)[[place[int(row["index"])] for row in rows]]
    probabilities /= probabilities.sum(1, keepdims=True)
    names = sorted(set(right.values()))  # regroup has the classes in this order too
    given = np.array([names.index(row["given_label"]) for row in rows])
    for method in ("self_confidence", "normalized_margin"):
        show(f"cleanlab {method}", get_label_quality_scores(given, probabilities, method=method))
    margins = load_file(run / "last/state.safetensors").get("predictions.margins")
    if margins is not None and len(margins) == len(rows):
        show("AUM", margins)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path)
    parser.add_argument("wrong", type=Path)
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--judge", type=Path, metavar="RUN")
    options = parser.parse_args()
    if options.judge:
        judge(options.photos, options.judge)
    else:
        make(options.photos, options.wrong, options.share, options.seed)
