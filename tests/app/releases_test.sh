#!/usr/bin/env bash
# releases_test.sh REGROUP MAKE_DATA: Tables 4 and 5 at scale smoke, end to end, on small sets in the layouts of Clothing1M and WebVision.
set -euo pipefail
program=$1
make_data=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
regroup() { timeout --kill-after=5 200 "$program" "$@"; }
fail() { echo "FAILED: $*"; exit 1; }

"$make_data" clothing1m data/clothing1m
"$make_data" webvision data/webvision
regroup reproduce table4 table5 --scale smoke --data-dir data --threads 1 --output results 2> said || fail "$(cat said)"
! ls results/runs/*.failed 2> /dev/null || fail "a run failed: $(cat said)"

# Every row has a figure beside the paper's, on both test sets of WebVision from one training.
for row in CE Joint-Optim DMI MLNT PCIL RML DivideMix 'ELR\+' PES UNICON NCR RML-Semi; do
  grep -qE "^\| $row \| \**[0-9]+\.[0-9]+\** \(" results/tables/table4.md || fail "$row in Table 4: $(cat results/tables/table4.md)"
done
for row in Forward Meta-Net Iterative-CV Co-training RML DivideMix 'ELR\+' UNICON Sel-CL RML-Semi; do
  for table in table5 table5-top5; do
    grep -qE "^\| $row \| \**[0-9]+\.[0-9]+.*\| \**[0-9]+\.[0-9]+" results/tables/$table.md || fail "$row: $(cat results/tables/$table.md)"
  done
done
[ "$(ls -d results/runs/webvision-*-s1 | wc -l)" = 10 ] || fail "runs on WebVision: $(ls results/runs)"
! grep -q 'not built yet' results/tables/*.md || fail 'a method is not built'
for run in results/runs/webvision-*-s1; do
  head -n 1 "$run/metrics.csv" | grep -q 'test_top5_model,.*test-ilsvrc12_top5_model' || fail "no top-5 in $run"
done
for run in results/runs/clothing1m-*-rml-semi-*-s1; do
  cut -d, -f1-3 "$run/labels.csv" | grep -qx '2,1,0' || fail "the labels of people are not known: $(head -n 5 "$run/labels.csv")"
done

# An epoch of Clothing1M is a fresh draw; what a preset needs is told.
small=(--data-dir data --image-size 32 --resize 36 --width 4 --batch-size 14 --epoch-batches 3 --threads 1)
regroup train --preset clothing1m "${small[@]}" --epochs 2 --output run > out 2> said || fail "$(cat said)"
grep -q '^preset clothing1m: init-weights is not given' said || fail "the weights are not asked for: $(cat said)"

# Data that is not there is told before anything starts, without a look at any photo.
mkdir empty
status=0
regroup reproduce table4 --scale smoke --data-dir empty --output never 2> said || status=$?
[ $status = 2 ] && [ ! -e never/runs ] || fail "missing data: exit code $status, $(cat said)"
grep -q 'there is no category_names_eng.txt' said || fail "missing data: $(cat said)"
