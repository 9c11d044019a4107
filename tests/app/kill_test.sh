#!/usr/bin/env bash
# A run that is killed at any moment, again and again, ends with the weights of a run that was not.
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

for method in ce rml; do
  "$program" train --method $method "${short[@]}" --output whole
  # The moments are spread over the run; a kill before the run folder is whole begins it anew.
  kills=0
  for moment in 0.05 0.3 0.4 0.55 0.35 0.7 0.45; do
    if [ -f parts/last/progress.json ]; then command=(--resume parts --quiet); else rm -rf parts; command=(--method $method "${short[@]}" --output parts); fi
    timeout --signal=KILL $moment "$program" train "${command[@]}" 2>/dev/null || kills=$((kills + 1))
    [ ! -f parts/summary.json ] || break
  done
  [ $kills -gt 0 ] || { echo "no run was killed: the moments are too late"; exit 1; }
  if [ ! -f parts/last/progress.json ]; then rm -rf parts; "$program" train --method $method "${short[@]}" --output parts; fi
  [ -f parts/summary.json ] || "$program" train --resume parts --quiet
  for file in model ema state; do
    cmp "whole/last/$file.safetensors" "parts/last/$file.safetensors" || { echo "$method: $file differs after $kills kills"; exit 1; }
  done
  rm -rf whole parts
done

# Ctrl-C finishes the step, saves and says how to go on.
"$program" train "${flags[@]}" --epochs 200 --output stopped 2> said &
pid=$!
for _ in $(seq 600); do [ ! -f stopped/last/progress.json ] || break; sleep 0.1; done
kill -INT $pid
wait $pid
grep -q 'Go on by: regroup train --resume stopped' said
"$program" runs . | grep -q 'stopped .*/200 epochs'
