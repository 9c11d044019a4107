#!/usr/bin/env bash
# reproduce_test.sh REGROUP: a grid of scale smoke end to end, killed and taken up again, with a cell that fails, by two processes at once.
set -euo pipefail
program=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$here/small_data.sh" data
regroup() { timeout --kill-after=5 200 "$program" "$@"; }
fail() { echo "FAILED: $*"; exit 1; }

cat > grid.toml <<'END'
title = "Small"
caption = "Tiny runs of cross-entropy and RML"
seeds = 5
settings = { data = "fashion-mnist", epochs = 200, model = "resnet18", val-split = 0.0 }
show = ["accuracy", "curves", "losses", "cost", "audit"]
[[block]]
label = "Fashion-MNIST"
columns = [{ id = "sym", label = "Symmetric 0.5", noise = "symmetric:0.5" }]
rows = [
  { label = "CE", method = "ce", paper = ["75.51 ± 1.24"] },
  { label = "RML", method = "rml", paper = ["89.13 ± 0.21"] },
  { label = "RML from CE", id = "rml-from-ce", method = "rml", after = "ce" },
  { label = "To come", method = "to-come", paper = ["77.92 ± 0.66"] },
]
END
command=(reproduce grid.toml --scale smoke --data-dir data --threads 1)

# The plan is made without leaving anything behind.
regroup "${command[@]}" --output never --dry-run > plan
grep -qE '^6 runs, about ' plan || fail "the plan: $(cat plan)"
grep -q '^Times are measured: 6 on a few steps' plan || fail "the plan: $(cat plan)"
[ ! -e never ] || fail 'a dry run left a folder'

# Killed, children and all, and taken up again.
regroup "${command[@]}" --output whole --jobs 2 2> said
tail -n 2 said | grep -q '^done .* (6 of 6 runs' || fail "the last run that ended was not counted: $(cat said)"
setsid "$program" "${command[@]}" --output parts 2> /dev/null &
pid=$!
for _ in $(seq 300); do [ ! -f "$(echo parts/runs/*-s1/last/progress.json | cut -d' ' -f1)" ] || break; sleep 0.1; done
# By their ids: other tests may run the same program.
children=$(ps -o pid= --ppid $pid)
[ -n "$children" ] || fail 'there was no run to kill'
kill -KILL $pid $children
wait $pid || true

# Two at once share what is left: every run has one owner.
"$program" "${command[@]}" --output parts --quiet 2> first & a=$!
"$program" "${command[@]}" --output parts --quiet 2> second & b=$!
wait $a || fail "the first of two: $(cat first)"
wait $b || fail "the second of two: $(cat second)"
for run in whole/runs/*-s?; do
  for file in model ema; do
    cmp "$run/last/$file.safetensors" "parts/runs/$(basename "$run")/last/$file.safetensors" || fail "$run differs"
  done
done
[ "$(ls -d parts/runs/*-s? | wc -l)" = 6 ] || fail 'a run was done twice or not at all'
! ls parts/runs/*.failed 2> /dev/null || fail 'a run failed'

# What is known from runs need not be measured.
regroup "${command[@]}" --output whole --seeds 1 --dry-run > plan
! grep -q 'a few steps' plan || fail "the plan: $(cat plan)"

# What is done is not done again, and a changed setting is a new run.
touch -d '2001-01-01' whole/runs/*/summary.json
regroup "${command[@]}" --output whole --quiet 2> /dev/null
[ -z "$(find whole/runs -maxdepth 2 -name summary.json -newermt 2002-01-01)" ] || fail 'a run that was done was done again'
sed -i 's/val-split = 0.0/val-split = 0.1/' grid.toml
regroup "${command[@]}" --output whole --only ce --seeds 1 --quiet 2> /dev/null
[ "$(find whole/runs -maxdepth 2 -name summary.json -newermt 2002-01-01 | wc -l)" = 1 ] || fail 'a changed setting was not a new run'

for file in index.html tables/grid.md tables/grid-model.md tables/grid-ema.md tables/grid-cost.md tables/grid-audit.md tables/grid-audit-rate.md tables/grid.csv tables/grid.tex tables/grid-runs.csv; do
  [ -s "parts/$file" ] || fail "$file is missing"
done
grep -q '89.13' parts/tables/grid.md || fail "the paper's figure is not in the table"
grep -q 'minutes' parts/tables/grid-cost.md || fail 'there is no time in the table of time and memory'
! grep -q '89.13' parts/tables/grid-cost.md || fail "the paper's accuracy is taken for a time"
grep -q 'not built yet' parts/tables/grid.md || fail 'a method that is not built has no row'
[ "$(wc -l < parts/tables/grid-runs.csv)" = 13 ] || fail "grid-runs.csv: $(cat parts/tables/grid-runs.csv)"
[ "$(ls parts/figures/*.svg | wc -l)" = 6 ] || fail 'the figures are not one curve, three histograms, time and memory'

"$here/../report/latex_test.sh" parts/tables/grid.tex
"$here/../report/page_test.sh" parts/index.html

# A cell that fails is reported, and the rest goes on.
echo 'no labels' > bad.csv
cat > failing.toml <<'END'
settings = { data = "fashion-mnist", epochs = 1, limit = 128, width = 4, model = "resnet18", noise = "symmetric:0.5" }
[[block]]
label = "F"
columns = [{ id = "bad", label = "bad", labels = "bad.csv", noise = "none" }, { id = "good", label = "good" }]
rows = [{ label = "CE", method = "ce" }]
END
status=0
regroup reproduce failing.toml --scale paper --data-dir data --threads 1 --output failing 2> said || status=$?
[ $status = 2 ] || fail "exit code $status after a failure"
grep -q 'FAILED fashion-mnist-none-ce-.*bad.csv' said || fail "the failure is not told: $(cat said)"
grep -q 'failed: .*bad.csv' failing/tables/failing.md || fail "the failure is not in the table: $(cat failing/tables/failing.md)"
[ "$(ls -d failing/runs/*/summary.json | wc -l)" = 1 ] || fail 'the rest did not go on'

# A file that is not there is told before anything starts; a cell that was not asked for may miss its file.
mv bad.csv elsewhere.csv
status=0
regroup reproduce failing.toml --scale paper --data-dir data --threads 1 --output early 2> said || status=$?
[ $status = 2 ] && [ ! -e early ] || fail "a missing file: exit code $status, $(cat said)"
grep -q '^regroup: failing, CE, bad: bad.csv: is not a file that can be read' said || fail "a missing file: $(cat said)"
regroup reproduce failing.toml --noise good --scale paper --data-dir data --threads 1 --output failing --quiet 2> said || fail "$(cat said)"
grep -q 'bad.csv: is not a file' failing/tables/failing.md || fail "the missing file is not in the table: $(cat failing/tables/failing.md)"

# A file that a grid names may lie beside the grid, or with the data.
mkdir far
cp failing/runs/*-ce-*/last/model.safetensors far/first.safetensors
sed -e 's/columns = .*/columns = [{ label = "a" }]/' -e 's/method = "ce"/method = "ce", init-weights = "first.safetensors"/' failing.toml > far/tuned.toml
regroup reproduce far/tuned.toml --data-dir data --threads 1 --output tuned 2> said || fail "weights beside the grid: $(cat said)"
mv far/first.safetensors data
regroup reproduce far/tuned.toml --data-dir data --threads 1 --output tuned 2> said || fail "weights with the data: $(cat said)"
[ "$(ls -d tuned/runs/*/summary.json | wc -l)" = 1 ] || fail "weights that were moved: $(cat said)"

# A grid of one's own has its own sizes and seeds, and its own folder.
cat > own.toml <<'END'
title = "My grid"
seeds = 2
settings = { data = "fashion-mnist", epochs = 1, limit = 64, width = 4, model = "resnet18" }
[[block]]
label = "F"
columns = [{ label = "as they are" }]
rows = [{ label = "CE", method = "ce" }]
END
regroup reproduce own.toml --data-dir data --threads 1 --quiet 2> said || fail "$(cat said)"
[ "$(ls -d runs/own/runs/*-s? | wc -l)" = 2 ] || fail "not two seeds in runs/own: $(cat said)"
grep -q '^epochs = 1$' runs/own/runs/*-s1/config.toml || fail 'a grid of its own sizes was scaled'
grep -q '<h1>My grid</h1>' runs/own/index.html || fail 'the page has not the title of the grid'
! sed '1,/<\/style>/d' runs/own/index.html | grep -qi 'paper' || fail 'the page of a grid of its own speaks of the paper'
regroup reproduce own.toml --scale smoke --data-dir data --threads 1 --dry-run | grep -q ' 2 ' || fail 'a scale that is given does not count'
! regroup reproduce own.toml table1 --data-dir data 2> said || fail 'sizes of two kinds in one folder'
grep -q 'give a --scale' said || fail "$(cat said)"

# A dataset that --data-dir does not have is where its package puts it, if another one is there.
mkdir -p several && cp -r data several/mnist
sed 's/"fashion-mnist"/"mnist"/' own.toml > both.toml
cat >> both.toml <<'END'
[[block]]
label = "Clothes"
settings = { data = "fashion-mnist" }
columns = [{ label = "as they are" }]
rows = [{ label = "CE", method = "ce" }]
END
regroup reproduce both.toml --data-dir several --seeds 1 --threads 1 --dry-run > plan 2> said || fail "$(cat said)"
grep -q '^Times are measured: 2 on a few steps' plan || fail "the plan with data in two places: $(cat plan)"

# Data that is missing is told once, before anything starts; runs with other data go on.
mkdir empty
status=0
regroup reproduce own.toml --data-dir empty --output never --dry-run > plan 2> said || status=$?
[ $status = 2 ] && grep -q '^2 runs, about ?' plan && grep -q '^Time unknown: .*fashion-mnist' plan || fail "a plan without data: $status, $(cat plan said)"
status=0
regroup reproduce grid.toml --scale paper --data-dir empty --output missing 2> said || status=$?
[ $status = 2 ] && [ "$(wc -l < said)" = 1 ] && [ ! -e missing ] || fail "missing data: exit code $status, $(cat said)"
cat >> failing.toml <<'END'
[[block]]
label = "C"
settings = { data = "cifar10" }
columns = [{ label = "c" }]
rows = [{ label = "CE", method = "ce" }]
END
status=0
regroup reproduce failing.toml --noise good,c --scale paper --data-dir data --threads 1 --output failing 2> said || status=$?
[ $status = 2 ] && [ "$(grep -c '^1 run is left out: .*cifar' said)" = 1 ] || fail "some missing data: exit code $status, $(cat said)"
grep -q '0 of 1 runs done' failing/tables/failing.md || fail "what is missing is not in the table: $(cat failing/tables/failing.md)"

# Another scale does not go into the same folder; names that fit nothing are mistakes.
! regroup reproduce grid.toml --scale paper --data-dir data --output whole 2> said || fail 'two scales in one folder'
grep -q 'holds results of --scale smoke' said || fail "$(cat said)"
! regroup reproduce grid.toml --noise asym 2> said || fail 'an unknown column was taken'
grep -q 'there are sym' said || fail "$(cat said)"
