#!/usr/bin/env bash
# readme_test.sh PROGRAM MAKE_DATA: every command of README.md and of the examples in the help texts runs as it stands, one after the
# other, on data that lies where the text says. What takes long is ended by Ctrl-C after its first steps, and resumed.
set -euo pipefail
program=$(readlink -f "$1") make_data=$(readlink -f "$2")
readme=$(cd "$(dirname "$0")/../.." && pwd)/README.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

mkdir build
ln -s "$program" build/regroup
PATH="$work/build:$PATH"

# What README speaks of: photos/CLASS/image.jpg, new photos, CIFAR, and the grid that it shows.
"$make_data" photos photos 20
"$make_data" photos new-photos 2
"$make_data" cifar cifar
# Weights of a network that was trained before.
regroup train --data folder:new-photos --model efficientnet-lite0 --image-size 32 --epochs 1 --output before --quiet > /dev/null ||
  fail 'EfficientNet-Lite0 is not trained'
cp before/last/model.safetensors lite0.safetensors
echo index,part,path,decision,label > decisions.csv
# Vectors, the first number of which tells their class, with a text each.
vectors() {
  perl -e 'my $rows = shift; srand(1);
    my $head = "{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: ($rows, 4), }";
    $head .= " " x (117 - length $head) . "\n"; print "\x93NUMPY\x01\x00", pack("v", 118), $head;
    print pack("f<4", $_ % 3 + rand() / 3, rand(), rand(), rand()) for 1 .. $rows' "$1"
}
mkdir vectors
for part in train:240 test:60; do
  rows=${part#*:}
  vectors "$rows" > "vectors/${part%:*}.npy"
  { echo label; for row in $(seq "$rows"); do echo "class $((row % 3))"; done; } > "vectors/${part%:*}.csv"
done
cp vectors/train.npy x.npy
cp vectors/test.npy new.npy
tail -n +2 vectors/train.csv > y.csv
seq -f 'text %g' 240 > texts.txt
sed -n '/^```toml$/,/^```$/p' "$readme" | sed '1d;$d' > my-grid.toml
grep -q '^title' my-grid.toml || fail 'README has no grid any more'

# The commands: indented lines of README, the examples of --help; without what follows as a comment.
{
  grep -E '^    build/regroup ' "$readme"
  for command in '' train audit review eval predict export methods presets runs reproduce noise; do
    # shellcheck disable=SC2086
    regroup $command --help | grep -E '^  regroup ' || true
  done
} | sed -E 's/ +#.*//; s/^ +//; s#^build/regroup#regroup#' | awk '!seen[$0]++' > commands
[ "$(wc -l < commands)" -ge 15 ] || fail "only $(wc -l < commands) commands were found"

# begun COMMAND: whether what was started has come so far that it can be stopped: a training of photos to its first epoch, since more
# is done with it later; others to their first steps.
begun() {
  case $1 in
    *'--data folder:photos'*) grep -qE '^epoch +1/' err ;;
    *' review '*) grep -q 'http://127' out ;;
    *' reproduce '*) find runs -newer started -path '*/tables/*.toml' | grep -q . && sleep 3 ;;
    *train*) grep -q 'The run is' err && sleep 1 ;;
    *) sleep 4 ;;
  esac
}

# try COMMAND: it ends well, or stops by Ctrl-C and says how to resume.
try() {
  local pid status=0 step
  touch started
  set -m
  bash -c "exec timeout --foreground 200 $1" > out 2> err < /dev/null &
  pid=$!
  set +m
  case $1 in
    *--dry-run* | *--help*) ;;
    *' train '* | *' reproduce '* | *' review '* | *'audit --data'*)
      for step in $(seq 1000); do
        if ! kill -0 $pid 2>/dev/null || begun "$1"; then break; fi
        sleep 0.1
      done
      kill -INT $pid 2>/dev/null || true
      ;;
  esac
  wait $pid || status=$?
  case $status in
    0) ;;
    130) grep -q 'Stopped and saved' err || fail "$1: was stopped and does not say how to resume: $(tail -n 3 err)" ;;
    *) fail "$1: exit code $status: $(tail -n 3 err)" ;;
  esac
}

while IFS= read -r command; do
  # A run of the examples that is there already has shown that it can be made.
  case $command in
    *'--resume runs/photos'*) [ -d runs/photos ] || cp -r runs/photos-rml-1 runs/photos 2>/dev/null || true ;;
    *'--out labels.csv'*) rm -f labels.csv ;;
    *'--out predictions.csv'*) rm -f predictions.csv ;;
    *'--out model.'*) rm -f model.* ;;
    *'predict model.safetensors'*) regroup export runs/photos-rml-1 --out model.safetensors --overwrite > /dev/null || true ;;
    *'--output runs/photos'*) rm -rf runs/photos ;;
    # Without a number of epochs the speed of the machine is measured first.
    *'--output runs/tuned'*) command+=' --image-size 64' ;;
    *'audit runs/photos-rml-1') rm -rf runs/photos-rml-1/audit ;;
    *'--sort-into suspects'*) rm -rf suspects ;;
    # Two classes, a hundred labels, and what another tool made of them.
    *'--from-probabilities'*)
      rm -rf findings
      perl -e 'print "index,label\n"; print "$_,", $_ % 2, "\n" for 0 .. 99' > labels.csv
      perl -e 'my $head = "{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: (100, 2), }";
        $head .= " " x (117 - length $head) . "\n"; print "\x93NUMPY\x01\x00", pack("v", 118), $head;
        print pack("f<2", $_ % 2 ? (0.1, 0.9) : (0.8, 0.2)) for 0 .. 99' > p.npy
      ;;
  esac
  try "$command"
  resume=$(sed -n 's/^Stopped and saved\. Resume by: //p' err)
  [ -z "$resume" ] || try "$resume"
done < commands

# Every photo is judged, and each as a photo of its class.
[ "$(wc -l < runs/photos-rml-1/audit/issues.csv)" = 61 ] &&
  sed -n 2p runs/photos-rml-1/audit/issues.csv | grep -qE '^[0-9]+,(train|val|test),(hat|shoes|dress)/photo.*,(hat|shoes|dress),' ||
  fail "issues.csv: $(head -n 2 runs/photos-rml-1/audit/issues.csv)"

[ "$failures" = 0 ] || { echo 'The commands were:'; cat commands; exit 1; }
