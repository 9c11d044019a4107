#!/usr/bin/env bash
# command_test.sh REGROUP: exit codes, one-sentence errors, help, what is printed and written, and the noise command.
set -euo pipefail
program=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

# A command that does not come to its end fails, and does not stay behind.
regroup() { timeout --kill-after=5 200 "$program" "$@"; }

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# expect CODE PATTERN ARGUMENTS...: the exit code, and an extended regular expression in what is printed.
expect() {
  local code=$1 pattern=$2 output status=0
  shift 2
  output=$(regroup "$@" 2>&1) || status=$?
  [ "$status" = "$code" ] || fail "regroup $*: exit code $status, expected $code: $output"
  grep -qE -- "$pattern" <<<"$output" || fail "regroup $*: no '$pattern' in: $output"
}

# mistake PATTERN ARGUMENTS...: exit code 2 and one line on standard error, nothing on standard output.
mistake() {
  local pattern=$1 output status=0
  shift
  output=$(regroup "$@" 2>error) || status=$?
  [ "$status" = 2 ] || fail "regroup $*: exit code $status, expected 2"
  [ -z "$output" ] || fail "regroup $*: printed on standard output: $output"
  [ "$(wc -l <error)" = 1 ] || fail "regroup $*: $(wc -l <error) lines on standard error"
  grep -qE -- "^regroup: .*$pattern" error || fail "regroup $*: no '$pattern' in: $(cat error)"
}

expect 0 'Start here' ; expect 0 'Start here' --help
version=$(regroup --version)
for line in 'regroup [0-9]+\.[0-9]+\.[0-9]+$' 'engine +[a-zA-Z]+ \([A-Za-z]+\) [0-9]+\.' 'device +(cpu|cuda)' \
  'precision +(bf16|fp32)' 'threads +[1-9]'; do
  grep -qE "^$line" <<<"$version" || fail "no '$line' in: $version"
done
lesser=$(REGROUP_CPU=baseline regroup --version)
grep -q '^precision *fp32' <<<"$lesser" || fail "a processor that is taken for a lesser one has bf16: $lesser"
mistake "'frobnicate' is not known here; the commands are train, audit, review, eval, predict, export, methods, presets, runs, reproduce, noise, reference, completion" frobnicate
mistake "'--bogus' is not known here.*regroup noise --help" noise --data fashion-mnist --noise none --out x.csv --bogus
mistake '--noise is required.*regroup noise --help' noise --data fashion-mnist --out x.csv
mistake "unknown noise 'pairflop'.*symmetric" noise --data fashion-mnist --noise pairflop:0.1 --out x.csv
mistake 'symmetric' noise --data fashion-mnist --noise symmetric:1.5 --out x.csv
mistake "unknown dataset 'fashion'.*fashion-mnist" noise --data fashion --noise none --out x.csv
mistake 'data-dir' noise --data fashion-mnist --data-dir "$work" --noise none --out x.csv
mistake 'nowhere' noise --data fashion-mnist --noise none --out nowhere/x.csv
mistake 'missing.csv' noise --data fashion-mnist --noise matrix:missing.csv --out x.csv
for seed in -1 18446744073709551616 9000000000000001; do
  mistake "--seed: $seed is out of bounds; it must be in 0 .. 9000000000000000$" \
    noise --data fashion-mnist --noise none --seed $seed --out x.csv
done
mistake "--seed: 'minus' is not a whole number" noise --data fashion-mnist --noise none --seed minus --out x.csv
[ ! -e x.csv ] || fail 'a mistake left a file behind'

expect 0 'realised rate +0\.4[45]' noise --data fashion-mnist --noise pairflip:0.45 --seed 7 --out labels.csv --transitions t.csv
[ "$(head -n 1 labels.csv)" = index,label,clean ] || fail 'labels.csv has no header'
[ "$(wc -l <labels.csv)" = 60001 ] || fail 'labels.csv has not one line per image'
awk -F, 'NR > 1 && ($1 != NR - 2 || ($2 != $3 && $2 != ($3 + 1) % 10)) { bad = 1 } END { exit bad }' labels.csv ||
  fail 'a label is neither the clean one nor the next'
mistake 'labels.csv exists.*--overwrite' noise --data fashion-mnist --noise none --out labels.csv
cp labels.csv first.csv
regroup noise --data fashion-mnist --noise pairflip:0.45 --seed 7 --out labels.csv --overwrite --quiet
cmp -s labels.csv first.csv || fail 'the same seed gave other labels'
regroup noise --data fashion-mnist --noise pairflip:0.45 --seed 8 --out labels.csv --overwrite --quiet
! cmp -s labels.csv first.csv || fail 'another seed gave the same labels'
expect 0 'realised rate +0\.4[45]' noise --data fashion-mnist --noise matrix:t.csv --out from-matrix.csv

mistake 'fish' completion fish

regroup reference >"$work/settings.md"
cmp -s "$work/settings.md" "$source/docs/SETTINGS.md" || fail 'docs/SETTINGS.md is not what regroup reference prints'

expect 0 'cifar100-inst-0.4 +Table 1: CIFAR-100, Instance 0.4' presets
expect 0 '^ce \(images, vectors\)$' methods
expect 0 '^dividemix \(images; 2 networks; semi-supervised\)$' methods
expect 0 '^  .*Learning with Noisy Labels as Semi-supervised Learning, 2020$' methods
expect 0 'k = "200"' presets cifar10-sym-0.5
expect 0 'epochs = 320' presets cifar10-sym-0.5 --method joint-optim
mistake 'name the preset' presets --method joint-optim
mistake "unknown method 'pess'" presets cifar10-sym-0.5 --method pess
mistake "unknown preset 'x'; known: cifar10-inst-0.2" presets x
mistake 'there is no run here' train --resume nowhere
mistake "unknown 'vgg'; known: fast, resnet18" train --model vgg
mistake '--epochs: .many. is not a whole number' train --epochs many
mistake '--epochs is given twice; see' train --epochs 3 --epochs 4
mistake '--batch-size is given 3 times; see' train -b 3 --batch-size 4 -b 5
mistake '--quiet is given twice; see' predict -q a b --quiet
mistake '--epochs needs a value; see' train --epochs
mistake '--n: 130 is out of bounds; it must be in 2 .. 128$' train --n 130
# The help has the settings and defaults of one method: of the one that is given, or of RML.
# help_has ARGUMENTS, then a line each: an extended regular expression that is in the help, behind ! one that is not.
help_has() {
  local pattern help
  # shellcheck disable=SC2086
  help=$(regroup train $1 --help)
  while read -r pattern; do
    if [[ $pattern == !* ]]; then
      ! grep -qE -- "${pattern#!}" <<<"$help" || fail "the help of train $1 has '${pattern#!}'"
    else
      grep -qE -- "$pattern" <<<"$help" || fail "the help of train $1 has no '$pattern'"
    fi
  done
}
help_has '' <<'END'
^Method rml:$
--k TEXT .*\[auto\]$
!--mix-alpha|--semi-lr
--method NAME --help shows
^  mixup +MixUp: 
END
help_has '--method mixup' <<'END'
^Method mixup:$
--mix-alpha .*\[1\]$
--weight-decay .*\[0.0001\]$
!^  --k |^Method rml
END
help_has '--method=rml-semi --recipe fast' <<'END'
--mix-alpha .*\[4\]$
--epochs .*\[24\]$
--semi-lr .*\[0.03\]$
--nesterov .*\[on; --nesterov=false\]$
END
help_has '--preset cifar100-semi-sym-0.5' <<'END'
^Method rml-semi:$
--epochs .*\[400\]$
--k .*\[20\]$
END
help_has '--preset cifar10-sym-0.5 --method joint-optim' <<'END'
^Method joint-optim:$
--epochs .*\[320\]$
--joint-rate .*\[0.2\]$
END
mistake "--method: unknown 'rmll'; known: ce, mixup, .*rml, rml-semi$" train --method rmll --help
mistake "--mix-alpha: 'much' is not a number" train --mix-alpha much --method mixup
mistake '--k: belongs to the methods rml and rml-semi, and the method is ce' train --method ce --k 5
mistake 'labels and noise are both given' train --labels labels.csv --noise symmetric:0.1 --output never
mistake 'does not exist' predict nowhere image.png
mistake "'--nosie' is not known here" train --nosie symmetric:0.5

# A file that nests deeper than the stack.
{ printf 'a'; printf '.a%.0s' {1..100000}; echo ' = 1'; } >deep.toml
mistake 'deep.toml, line 1: nests deeper' train --config deep.toml
mistake 'line 1: nests deeper' reproduce deep.toml

# A run, and what can be done with it. The image is a white pixel.
regroup train --limit 256 --val-split 0 --width 4 --epochs 1 --n 128 --checkpoint-every 5 --output run --quiet
expect 0 'run +rml +fashion-mnist +none +resnet18 +1 +1 epochs' runs .
expect 0 '^Ankle boot +[0-9.]+ % of 1000$' eval run
expect 0 '^run.*: [0-9.]+ % of 10000 test images  top-5 [0-9.]+ %$' eval run --top5
base64 -d >pixel.png <<<iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==
regroup predict run pixel.png --out predictions.csv --probabilities
[ "$(wc -l <predictions.csv)" = 2 ] || fail "predictions.csv: $(cat predictions.csv)"
grep -qE '^pixel.png,[^,]+,[01]\.[0-9]{4}(,[01]\.[0-9]{4}){10}$' predictions.csv || fail "predictions.csv: $(cat predictions.csv)"
mistake 'predictions.csv exists.*--overwrite' predict run pixel.png --out predictions.csv
mistake 'nothing.png: cannot be opened' predict run nothing.png --on-bad-image refuse
# Paths from standard input, one of them bad, which does not end it; the likeliest classes.
printf 'pixel.png\nnothing.png\npixel.png\n' | "$program" predict run - --top 3 >predictions.csv 2>said || fail "predict -: $(cat said)"
[ "$(head -n 1 predictions.csv)" = path,label,confidence,label_2,confidence_2,label_3,confidence_3 ] || fail "predict --top 3: $(cat predictions.csv)"
[ "$(wc -l <predictions.csv)" = 3 ] && grep -q 'nothing.png: cannot be opened' said || fail "predict -: $(cat predictions.csv said)"
cp pixel.png $'two\nlines.png'
printf 'two\nlines.png\0pixel.png\0' | "$program" predict run - --null --quiet >predictions.csv || fail 'predict - --null'
grep -q '^lines.png",' predictions.csv || fail "predict - --null: $(cat predictions.csv)"
mistake 'no image is named' predict run - </dev/null
mistake 'run holds a run; continue it by --resume run' train --output run
for flag in '--k 5' '--n 8' '--eps 2' '--select 0.5' '--estimate mean' --scale-k '--record-losses epoch-end' '--seed 3' '--lr 0.2'; do
  # shellcheck disable=SC2086
  mistake "${flag%% *}: --resume continues with the run.s own settings" train --resume run $flag
done
# More epochs, also for a run that is done: it continues with its schedule stretched.
cp -r run longer
mistake '--epochs: --resume can only add epochs, and longer has 1; give more than 1$' train --resume longer --epochs 1
expect 0 '^The run gets 2 epochs instead of 1\. .* schedule of 2 epochs: 0\.0501 instead of 0\.0001,' train --resume longer --epochs 2
mistake '--epochs: --resume can only add epochs, and longer has 2; give more than 2$' train --resume longer --epochs 1
expect 0 'test accuracy' train --resume longer
grep -q '^epochs = 2$' longer/config.toml && [ "$(wc -l <longer/metrics.csv)" = 3 ] && grep -q '"epochs": *2' longer/summary.json ||
  fail "a longer run: $(cat longer/metrics.csv longer/summary.json)"
rm -r longer
mistake '--output is empty' train --output ''
expect 0 '^k = "7"$' train --method rml --k 7 --dry-run

# What is printed is written to the end, or the exit code says so. A reader that has seen enough is no mistake.
for arguments in '' --version 'train --help' methods presets 'predict run pixel.png'; do
  status=0
  # shellcheck disable=SC2086
  regroup $arguments >/dev/full 2>error || status=$?
  [ "$status" = 2 ] && grep -q '^regroup: standard output could not be written: No space left on device$' error ||
    fail "regroup $arguments on a full disk: exit code $status, $(cat error)"
done
for errors in '2>/dev/full' '2>&-'; do
  status=0
  bash -c "'$program' frobnicate $errors" || status=$?
  [ "$status" = 2 ] || fail "regroup $errors: exit code $status"
done
regroup predict run pixel.png >&- 2>error && fail 'a closed standard output went unnoticed'
regroup reference 2>error | true || [ ! -s error ] || fail "a closed pipe: $(cat error)"

# Links, pipes and devices are written through, and stay.
ln -s target.csv link.csv
regroup predict run pixel.png --out link.csv
[ -L link.csv ] && grep -q '^pixel.png,' target.csv || fail 'a link was replaced'
mistake 'link.csv exists.*--overwrite' predict run pixel.png --out link.csv
[ "$(regroup predict run pixel.png --out /dev/stdout | head -n 1)" = path,label,confidence ] || fail '--out /dev/stdout'
regroup predict run pixel.png --out /dev/stdout >printed.csv
cmp -s printed.csv target.csv || fail "--out /dev/stdout into a file: $(cat printed.csv)"
regroup predict run pixel.png --out /dev/null
regroup noise --data fashion-mnist --noise none --out /dev/null --transitions >(cat >transitions.csv) --quiet
[ -c /dev/null ] || fail '/dev/null was replaced'
mistake 'is a folder' predict run pixel.png --out run

# Paths that are too long or lead in a circle are the user's mistake, wherever they are given.
long=$(printf 'x%.0s' {1..300})
ln -s circle circle
for arguments in "eval $long" 'eval circle' "runs $long" 'runs circle' "predict $long pixel.png" 'predict run circle' \
  "predict run pixel.png --out $long" "train --config $long" "train --output $long" 'train --resume circle' \
  'train --data-dir circle' "train --data folder:$long" "reproduce $long.toml"; do
  # shellcheck disable=SC2086
  mistake "($long|circle)" $arguments
done

# What cannot be read is told, and the other runs are shown. Root may read everything, unless it gives that up.
mkdir -p several/secret several/broken
cp -r run several/run
ln -s config.toml several/broken/config.toml
ln -s ../several several/again
chmod 000 several/secret
without_powers=()
[ "$(id -u)" != 0 ] || without_powers=(setpriv --bounding-set=-all --inh-caps=-all)
"${without_powers[@]}" "$program" runs several >table 2>error || fail "runs with an unreadable folder: $(cat error)"
grep -q '^several/secret: .*Permission denied' error || fail "an unreadable folder is passed over: $(cat error)"
[ "$(wc -l <table)" = 3 ] && grep -q '^several/run .*1 epochs' table && grep -q '^several/broken .*cannot be opened' table ||
  fail "runs: $(cat table)"
chmod 700 several/secret

# Names from outside do not command the terminal. Programs get them as they are.
mkdir -p $'pictures/\e[31mcat' $'pictures/dog\n'
for i in {1..8}; do cp pixel.png $'pictures/\e[31mcat'/"$i.png"; cp pixel.png $'pictures/dog\n'/"$i.png"; done
regroup train --data folder:pictures --image-size 32 --width 4 --epochs 1 --batch-size 4 --output $'named\e[31m' --quiet
escape=$'\e\\['
for arguments in 'noise --data folder:pictures --noise none --out /dev/null' 'runs .' $'eval named\e[31m' \
  $'predict named\e[31m nothing\e[31m.png' $'runs nowhere\e[31m' $'train --model \e[31m' \
  $'\e[31m'; do
  # shellcheck disable=SC2086
  ! regroup $arguments 2>&1 | grep -q "$escape" || fail "regroup $arguments prints an escape code"
done
# Each test set is measured, and printed under its name.
mkdir -p squares/{train,test,test-other}/{a,b}
for part in train/{a,b} test/{a,b} test-other/b; do for i in {1..8}; do cp pixel.png "squares/$part/$i.png"; done; done
regroup train --data folder:squares --image-size 32 --width 4 --epochs 1 --batch-size 16 --output squares-run >printed 2>/dev/null
grep -q '^on test-other$' printed || fail "train with two test sets: $(cat printed)"
regroup eval squares-run --top5 >printed
! grep -q top-5 printed || fail "five of two classes: $(cat printed)"
grep -q ' 50.00 % of 16 test images$' printed && grep -qE ' (0|100).00 % of 8 images of test-other$' printed ||
  fail "eval of two test sets: $(cat printed)"
mistake 'nowhere.run' runs $'nowhere\nrun'
# Where there are no terminals, as in a bare container, this is not tried.
if script -qc true /dev/null &>/dev/null; then
  # `script` asks $SHELL, which need not know $'...'.
  shown=$(SHELL=$BASH script -qc "'$program' predict --quiet $'named\e[31m' $'pictures/\e[31mcat/1.png'" /dev/null)
  grep -q '^pictures/.*cat/1.png,' <<<"$shown" && ! grep -q "$escape" <<<"$shown" || fail "predict on a terminal: $shown"
fi
regroup predict --quiet $'named\e[31m' $'pictures/\e[31mcat/1.png' | grep -q $'^pictures/\e\\[31mcat/1.png,' ||
  fail 'predict changed the name of a file'

[ "$failures" = 0 ]
