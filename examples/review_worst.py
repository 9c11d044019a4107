#!/usr/bin/env python3
"""Labels as they are after somebody has looked at the worst of an audit's list and put each right.

    regroup audit RUN
    python3 examples/review_worst.py RUN 0.05 > reviewed.csv
    regroup train --config RUN/config.toml --noise none --labels reviewed.csv --output reviewed

The reviewer is simulated: the true labels of the run must be known. Labels of the 5 % with the lowest label_score become the true ones,
all others stay.
"""
import csv
import sys

run, share = sys.argv[1], float(sys.argv[2])
with open(f"{run}/audit/issues.csv", newline="", encoding="utf-8", errors="surrogateescape") as file:
    worst_first = [int(row["index"]) for row in csv.DictReader(file) if row["part"] in ("train", "val")]
looked_at = set(worst_first[: round(share * len(worst_first))])
with open(f"{run}/labels.csv", newline="", encoding="utf-8", errors="surrogateescape") as file:
    rows = list(csv.DictReader(file))
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(["index", "label", "clean"])
for row in rows:
    out.writerow([row["index"], row["clean"] if int(row["index"]) in looked_at else row["label"], row["clean"]])
