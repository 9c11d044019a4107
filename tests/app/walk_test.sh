#!/usr/bin/env bash
# walk_test.sh PROGRAM MAKE_DATA: the first hour of a new user with photos of several sizes, by the defaults: train, eval, predict,
# resume, the same again, a grid of one's own, and what goes wrong on the way.
set -euo pipefail
program=$(readlink -f "$1") make_data=$(readlink -f "$2") source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
regroup() { timeout --kill-after=5 600 "$program" "$@" </dev/null; }

# does WHAT PATTERN COMMAND...: it ends well, and says the pattern.
does() {
  local what=$1 pattern=$2
  shift 2
  "$@" >out 2>err || fail "$what: exit code $?: $(tail -n 2 err)"
  [ -z "$pattern" ] || grep -qE -- "$pattern" out err || fail "$what: no '$pattern' in: $(cat out err)"
}
# refused PATTERN ARGUMENTS...: exit code 2 and one sentence.
refused() {
  local pattern=$1 status=0
  shift
  regroup "$@" >out 2>err || status=$?
  [ $status = 2 ] && [ "$(grep -c '^regroup: ' err)" = 1 ] && grep -qE -- "$pattern" err || fail "regroup $*: exit code $status: $(cat err)"
}

"$make_data" photos 'my photos/Train' 8
"$make_data" photos 'my photos/Validation' 3
"$make_data" photos 'my photos/test' 5
echo hello > 'my photos/README.txt'
echo hello > 'my photos/Train/hat/notes.heic'

does 'training by the defaults of the fast recipe' 'The run is in runs/my photos-rml-1' regroup train --data 'folder:my photos' --recipe fast
cp err said
for word in '3 classes' 'Train/ 24 images' 'Validation/ 9' 'test/ 15' '1 \.heic' '96x96.*--image-size' 'MB of memory'; do
  grep -qE "$word" said || fail "training does not say '$word': $(cat said)"
done
run='runs/my photos-rml-1'
does 'eval' '% of 15 test images' regroup eval "$run"
does 'predict' '' regroup predict "$run" 'my photos/test' --out predictions.csv
[ "$(wc -l < predictions.csv)" = 16 ] || fail "predictions.csv has $(wc -l < predictions.csv) lines for 15 photos"
# What is exported says the same of the same pixels; photos of the network's own size are not scaled, so that nobody scales otherwise.
mkdir pixels
/usr/bin/python3 -c '
import glob
from PIL import Image
for number, file in enumerate(sorted(glob.glob("my photos/test/*/*"))):
    Image.open(file).convert("RGB").resize((96, 96)).save(f"pixels/{number:02}.png")'
does 'predicting in fp32' '' regroup predict "$run" pixels --precision fp32 --out pixels.csv
for file in model.safetensors model.pt model.onnx; do does "export to $file" 'gets +images: .samples, 3, 96, 96., RGB, 0 to 255' regroup export "$run" --out $file; done
does 'predicting by the exported weights' '' regroup predict model.safetensors pixels --precision fp32 --out again.csv
cmp pixels.csv again.csv || fail 'the exported weights predict otherwise'
/usr/bin/python3 "$source/examples/run_exported.py" model.pt pixels/*.png >exported
paste <(tail -n +2 pixels.csv | tr , '\t') exported | awk -F'\t' '
  $1 == $4 && $2 == $5 && ($3 - $6) ^ 2 < 1e-6 { same += 1 } END { exit same != 15 }' || fail "in Python the exported network says $(cat exported)"
refused 'model.onnx exists already|model.onnx.*--overwrite' export "$run" --out model.onnx
refused 'does not say which format' export "$run" --out model.bin
refused 'is not in a folder|cannot be written|does its folder exist' export "$run" --out nowhere/model.onnx
does 'audit' '33 labels of training and validation images: about' regroup audit "$run"
for file in issues.csv corrected.csv trusted.csv summary.json label-studio.json metadata.csv; do
  [ -s "$run/audit/$file" ] || fail "audit leaves no $file"
done
[ "$(wc -l < "$run/audit/issues.csv")" = 49 ] || fail "issues.csv has $(wc -l < "$run/audit/issues.csv") lines for 48 labels"
refused 'has findings already; give --overwrite' audit "$run"
does 'audit of a part' 'regroup review .* --findings part$' regroup audit "$run" --part test --out part
[ "$(wc -l < part/issues.csv)" = 16 ] || fail "issues.csv has $(wc -l < part/issues.csv) lines for 15 test labels"
does 'suspects in folders' 'suspects are in' regroup audit "$run" --sort-into suspects --link --overwrite --save-predictions
seq 33 | awk '{ print $1 % 3 }' > given.txt
does 'audit of predictions alone' '33 labels: about' regroup audit --from-probabilities "$run/audit/probabilities.npy" --labels given.txt
[ "$(wc -l < "$run/audit/probabilities.audit/issues.csv")" = 34 ] || fail 'the audit of predictions alone lists other labels'
does 'corrected labels are labels' '' regroup train --data 'folder:my photos' --recipe fast --epochs 1 \
  --labels "$run/audit/corrected.csv" --trusted "$run/audit/trusted.csv" --output corrected
refused 'is not the folder of a run' audit 'my photos'
refused 'give a run' audit
refused 'needs the given labels' audit --from-probabilities "$run/labels.csv" --out nothing
refused 'runs/gone: is not the folder of a run' audit runs/gone
does 'runs' 'my photos-rml-1 +rml +folder:my photos +none +fast +1 +16 epochs' regroup runs
does 'resuming a run that is done' 'test accuracy' regroup train --resume "$run"
does 'the same settings again' '' regroup train --config "$run/config.toml" --epochs 1 --output again
does 'its own labels.csv as the labels' '' regroup train --data 'folder:my photos' --recipe fast --epochs 1 --labels "$run/labels.csv" --output relabelled
cmp -s <(cut -d, -f 1-2 "$run/labels.csv") <(cut -d, -f 1-2 relabelled/labels.csv) || fail 'the labels are others'

# Labels that are made wrong beforehand are of the images that the run has, also where some become its test part and some are damaged.
mkdir apart
cp -r 'my photos/Train/hat' 'my photos/Train/shoes' apart
for photo in 1 3; do echo 'no image' > "apart/hat/photo $photo.JPG"; done
shared=(--data folder:apart --test-split 0.3 --on-bad-image skip)
does 'making labels wrong' 'index,label,clean,path for 10 images' regroup noise "${shared[@]}" --noise symmetric:0.5 --seed 3 --out wrong.csv
does 'training on them' '' regroup train "${shared[@]}" --recipe fast --epochs 1 --val-split 0 --labels wrong.csv --output wrong
cmp wrong.csv wrong/labels.csv || fail 'the run has other labels or images'

cat > grid.toml <<'G'
title = "My own comparison"
seeds = 1
settings = { data = "folder:my photos", recipe = "fast", epochs = 1 }

[[block]]
label = "Photos"
columns = [{ label = "as they are", noise = "none" }]
rows = [{ label = "CE", method = "ce" }, { label = "RML", method = "rml" }]
G
does 'a grid of my own' '2 of 2 runs are done' regroup reproduce grid.toml --output grid
grep -q 'My own comparison' grid/index.html || fail 'the page has another title'
[ "$(grep -rlx 'epochs = 1' grid --include=config.toml | wc -l)" = 2 ] || fail "the grid's own epochs were not used"

# Without test images there is nothing to measure on; images that were trained on do not count as such.
mkdir plain
cp -r 'my photos/test/hat' 'my photos/test/shoes' plain
does 'training without test images' 'The run is in' regroup train --data folder:plain/ --recipe fast --epochs 1 --test-split 0 --val-split 0
[ -d runs/plain-rml-1 ] || fail "folder:plain/ became $(ls runs)"
refused 'there are no test images' eval runs/plain-rml-1 --checkpoint last

refused 'holds a run; continue it by --resume' train --data 'folder:my photos' --recipe fast --output "$run"
refused 'no such folder' train --data folder:nowhere
refused "unknown 'rmll'; known: .*rml" train --method rmll
refused "'--epoch' is not known here" train --epoch 3
[ "$failures" = 0 ]
