#!/usr/bin/env bash
# A run that is killed at any moment, again and again, ends with the weights and figures of a run that was not.
#   kill_test.sh PROGRAM
set -euo pipefail
program=$1
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
flags=(--noise symmetric:0.5 --limit 384 --val-split 0 --width 8 --eval-every 200 --threads 1 --checkpoint-every 0.2s --quiet)

# Without test images to score the runs take a second or two: most of Fashion-MNIST's are left out.
"$here/small_data.sh" data
flags+=(--data fashion-mnist --data-dir data)
short=("${flags[@]}" --epochs 3)

# figures RUN: metrics.csv and summary.json, but for what measures the machine, times and memory.
figures() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) keep[i] = $i !~ /second|memory/ }
    { for (i = 1; i <= NF; i++) if (keep[i]) printf "%s,", $i; print "" }' "$1/metrics.csv"
  grep -vE 'second|memory' "$1/summary.json"
}

for method in ce rml 'rml-semi --warmup-epochs 1 --model resnet18'; do
  # shellcheck disable=SC2206
  command=(--method $method "${short[@]}")
  "$program" train "${command[@]}" --output whole
  # The moments are spread over the run, its very beginning included.
  kills=0
  for moment in 0.05 0.3 0.4 0.55 0.35 0.7 0.45; do
    resume_or_begin=("${command[@]}" --output parts)
    [ ! -f parts/config.toml ] || resume_or_begin=(--resume parts --quiet)
    timeout --signal=KILL $moment "$program" train "${resume_or_begin[@]}" 2>/dev/null || kills=$((kills + 1))
    [ ! -f parts/summary.json ] || break
  done
  [ $kills -gt 0 ] || { echo "no run was killed: the moments are too late"; exit 1; }
  [ -f parts/config.toml ] || "$program" train "${command[@]}" --output parts
  [ -f parts/summary.json ] || "$program" train --resume parts --quiet
  for file in model ema state; do
    cmp "whole/last/$file.safetensors" "parts/last/$file.safetensors" || { echo "$method: $file differs after $kills kills"; exit 1; }
  done
  diff <(figures whole) <(figures parts) || { echo "$method: the figures differ after $kills kills"; exit 1; }
  rm -rf whole parts
done

# Ctrl-C or a request to terminate finishes the step, saves and says how to resume; the exit code tells which it was. While a run
# trains, nobody else can.
for how in 'INT 130' 'TERM 143'; do
  read -r signal code <<<"$how"
  # A shell starts what it puts into the background deaf to Ctrl-C, unless job control is on.
  set -m
  "$program" train "${flags[@]}" --epochs 200 --output "stopped $signal" 2> said &
  pid=$!
  set +m
  for _ in $(seq 600); do [ ! -f "stopped $signal/last/progress.json" ] || break; sleep 0.1; done
  status=0
  "$program" train --resume "stopped $signal" 2>error || status=$?
  [ $status = 2 ] && grep -q "process $pid on .* trains this run" error || { echo "a second process: $status, $(cat error)"; exit 1; }
  kill -"$signal" $pid
  status=0
  wait $pid || status=$?
  [ $status = "$code" ] || { echo "SIG$signal: exit code $status"; exit 1; }
  grep -q "Resume by: regroup train --resume 'stopped $signal'" said
  "$program" runs . | grep -q "stopped $signal .*/200 epochs"
done
