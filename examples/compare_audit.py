#!/usr/bin/env python3
"""How well other ways of finding wrong labels do on the predictions of a run, beside regroup's own.

    pip install "cleanlab[datalab]" safetensors
    regroup audit RUN --save-predictions
    python3 examples/compare_audit.py RUN...

The true labels of the run must be known (made-up noise, or a column `clean`). All scores are of the training images alone, since the
margins over the epochs are known for them only. Prints a line per run and way: average precision, precision among the worst 1 %, recall
at the noise rate, seconds.
"""
import csv
import sys
import time

import numpy as np
from cleanlab.rank import get_label_quality_scores
from safetensors.numpy import load_file


def average_precision(score, wrong):
    """Of the list with the lowest score first; equal scores count as one step."""
    order = np.argsort(score, kind="stable")
    hits = np.cumsum(wrong[order])
    last = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
    found = np.diff(np.append(0, hits[last]))
    return float((found * hits[last] / (last + 1)).sum() / wrong.sum())


def figures(score, wrong):
    order = np.argsort(score, kind="stable")
    return (average_precision(score, wrong), wrong[order[: -(-len(wrong) // 100)]].mean(), wrong[order[: wrong.sum()]].mean())


def datalab_scores(labels, **material):
    from cleanlab import Datalab

    lab = Datalab({"label": labels}, label_name="label", verbosity=0)
    lab.find_issues(issue_types={"label": {}}, **material)
    return lab.get_issues("label")["label_score"].to_numpy()


def compare(run):
    with open(f"{run}/audit/issues.csv", newline="", encoding="utf-8", errors="surrogateescape") as file:
        rows = [row for row in csv.DictReader(file) if row["part"] == "train"]
    rows.sort(key=lambda row: int(row["index"]))
    wrong = np.array([row["given_label"] != row["true_label"] for row in rows])
    count = len(rows)
    assert (np.load(f"{run}/audit/indexes.npy")[:count] == [int(row["index"]) for row in rows]).all()
    # Columns are in the order of the run's classes, which the labels of its own file are numbers of.
    numbers = {row["index"]: int(row["label"]) for row in csv.DictReader(open(f"{run}/labels.csv", newline="", errors="surrogateescape"))}
    given = np.array([numbers[row["index"]] for row in rows])
    probabilities = np.load(f"{run}/audit/probabilities.npy")[:count].astype(np.float64)
    probabilities /= probabilities.sum(1, keepdims=True)
    features = np.load(f"{run}/audit/features.npy")[:count]

    ways = [("regroup audit", lambda: np.array([float(row["label_score"]) for row in rows]))]
    ways.append(("AUM, the mean margin", lambda: load_file(f"{run}/last/state.safetensors")["predictions.margins"]))
    for method in ("self_confidence", "normalized_margin"):
        ways.append((f"cleanlab {method}", lambda method=method: get_label_quality_scores(given, probabilities, method=method)))
    both = {"pred_probs": probabilities, "features": features}
    ways.append(("cleanlab Datalab(pred_probs, features)", lambda: datalab_scores(given, **both)))
    ways.append(("cleanlab Datalab(features)", lambda: datalab_scores(given, features=features)))
    for name, score in ways:
        start = time.time()
        values = score()
        figures_text = [f"{figure:.4f}" for figure in figures(values, wrong)]
        csv.writer(sys.stdout, lineterminator="\n").writerow([run, name, *figures_text, f"{time.time() - start:.1f}"])
        sys.stdout.flush()


if __name__ == "__main__":
    print("run,way,average_precision,precision_worst_1_percent,recall_at_noise_rate,seconds")
    for folder in sys.argv[1:]:
        compare(folder)
