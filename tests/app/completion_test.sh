#!/usr/bin/env bash
# completion_test.sh REGROUP: what bash and zsh offer for the words of a command line.
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p 'runs/first run' runs/second runs/grid/runs/cell 'my photos'
touch 'runs/first run/config.toml' runs/second/config.toml runs/grid/runs/cell/config.toml my-grid.toml matrix.csv
failures=0
"$program" completion bash >regroup.bash
"$program" completion zsh >regroup.zsh

# offers EXPECTED WORDS...: what bash offers for the last word. It takes words apart at = and at colons.
set +e  # as in the shell of a person
# shellcheck source=/dev/null
source regroup.bash
offers() {
  local expected=$1 found
  COMP_WORDS=("${@:2}")
  COMP_CWORD=$(($# - 2))
  _regroup
  found=$(printf '%s\n' "${COMPREPLY[@]}" | sort -u | paste -sd ' ')
  [ "$found" = "$expected" ] || { echo "FAILED: ${*:2}: offers '$found' and not '$expected'"; failures=$((failures + 1)); }
}
offers noise regroup no
offers --version regroup --v
offers --data-dir regroup noise --data-
offers '--mix-alpha --mix-alpha-late' regroup train --method ce --mix
offers zsh regroup completion z
offers methods regroup meth
offers fashion-mnist regroup noise --data fash
offers fashion-mnist regroup noise --data = fash
offers folder: regroup train --data fol
offers 'my photos' regroup train --data folder : my
offers matrix.csv regroup noise --noise matrix : mat
offers '' regroup train --noise symmetric :
offers symmetric-all: regroup train --noise symmetric-
offers rml-semi regroup train --method rml-
offers preact-resnet18 regroup train --quiet --model pre
offers 'auto fast features finetune paper photos' regroup train --recipe ''
offers 'auto cpu cuda' regroup predict --device ''
offers 'auto bf16 fp32' regroup eval x --precision ''
offers 'best last' regroup eval --checkpoint ''
offers 'refuse skip' regroup predict --on-bad-image ''
offers '' regroup train --epochs ''
offers cifar100-pair-0.45 regroup train --preset cifar100-p
offers cifar100-pair-0.45 regroup presets cifar100-p
offers 'ablation all audit' regroup reproduce --jobs 2 a
offers 'table1 table2 table3 table4 table5' regroup reproduce ablation table
offers my-grid.toml regroup reproduce my-
offers smoke regroup reproduce table1 --scale sm
offers sym-0.5 regroup reproduce table1 --noise sym-0.5
offers my-grid.toml regroup train --config my-
offers 'my photos' regroup train --data-dir my
for words in eval predict 'train --resume' 'train -b 8 --resume'; do
  # shellcheck disable=SC2086
  offers 'my photos runs runs/first run runs/grid/runs/cell runs/second' regroup $words ''
  # shellcheck disable=SC2086
  offers 'runs/first run' regroup $words 'runs/first\ '
done
offers 'my photos' regroup predict runs/second 'my p'

# The same for the functions of the zsh script, beside stand-ins for those of zsh's completion, which need a terminal.
zsh -f -c '
  compdef() { :; }
  compadd() { print -r -- "add ${(j:|:)@}"; }
  compset() { [[ $PREFIX == ${~2}* ]] && PREFIX=${PREFIX#${~2}}; }
  _files() { print -r -- "files $@"; }
  _arguments() { print -rl -- "$@"; }
  source ./regroup.zsh
  PREFIX= ; _regroup_runs
  PREFIX=folder:my; _regroup_behind_colon fashion-mnist folder: csv:
  PREFIX=csv:my; _regroup_behind_colon fashion-mnist folder: csv:
  PREFIX=f; _regroup_behind_colon fashion-mnist folder: csv:
  for command in train eval predict presets reproduce; do words=(regroup $command x) CURRENT=3; _regroup; done
' >zsh.said
while read -r line; do
  grep -qF -- "$line" zsh.said || { echo "FAILED: zsh does not say: $line"; failures=$((failures + 1)); }
done <<'END'
add -f|--|runs/first run|runs/second|runs/grid/runs/cell
files -/
files 
add --|fashion-mnist
add -S||--|folder:|csv:
]:value:(ce mixup co-teaching
]:value:(best last)
]:value:_regroup_runs
]:value:_regroup_behind_colon none symmetric\: 
:run:_regroup_runs
*:images:_files
:name:(cifar10-inst-0.2 
*:tables:{compadd -- ablation 
END

[ "$failures" = 0 ]
