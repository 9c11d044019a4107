#!/usr/bin/env bash
# commands_test.sh REGROUP: every command of the documentation resolves: its flags, tables, presets and settings exist.
set -euo pipefail
program=$(realpath "$1")
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir empty
touch lite0.safetensors  # named by a grid
ln -s "$source/examples" examples
regroup() { timeout --kill-after=5 100 "$program" "$@"; }

# commands FILE...: a command a line, of indented and fenced code, of inline code, and of the comments of examples.
commands() {
  perl -0777 -ne '
    s/\\\n\s*/ /g;
    while (/^(?: {4}|#\s+)?(?:build\/)?regroup ([a-z]+ .*)$/mg) { print "$1\n" }
    while (/`(?:build\/)?regroup ([a-z]+ [^`]*)`/g) { (my $line = $1) =~ s/\s+/ /g; print "$line\n" }
  ' "$@" | sed 's/ *#.*//; s/FOLDER-OF-CIFAR-10/cifar/' | sort -u
}

# has_flags COMMAND ARGUMENTS...: each flag is in the help of the command, and of the method that is given.
has_flags() {
  local command=$1 word
  shift
  regroup "$command" "$@" --help >"help-$command" 2>said || { cat said; return 1; }
  for word in "$@"; do
    [[ $word != -* ]] || grep -qE -- "(^|[ ,])${word%%=*}([ ,=]|$)" "help-$command" || { echo "$word is not in the help"; return 1; }
  done
}

# resolves COMMAND ARGUMENTS...: without data, so that nothing is measured or trained.
resolves() {
  local status=0
  case " $* " in
    " reproduce "*)
      [[ " $* " == *" --data-dir "* ]] || set -- "$@" --data-dir empty
      [[ " $* " == *" --dry-run "* ]] || set -- "$@" --dry-run
      regroup "$@" >plan 2>said || status=$?
      # Data that is missing is a mistake too, but only after the plan.
      { [ $status = 0 ] || [ $status = 2 ]; } && grep -qE '^[0-9]+ runs?, about ' plan || { cat said; return 1; }
      ;;
    *)
      has_flags "$@" || return 1
      if [ "$1" = presets ] || { [ "$1" = train ] && [[ " $* " != *" --resume "* ]] && grep -q -- --dry-run help-train; }; then
        [ "$1" = presets ] || set -- "$@" --dry-run
        regroup "$@" >/dev/null 2>said || { cat said; return 1; }
      fi
      ;;
  esac
}

# The grid that the README shows.
sed -n '/^```toml$/,/^```$/p' "$source/README.md" | grep -v '^```' >my-grid.toml

failures=0
commands "$source"/README.md "$source"/docs/*.md "$source"/examples/*.toml >commands
[ "$(wc -l <commands)" -ge 20 ] || { echo "FAILED: only $(wc -l <commands) commands were found"; exit 1; }
while read -ra words <&3; do
  why=$(resolves "${words[@]}" 3<&-) || { echo "FAILED: regroup ${words[*]}: $why"; failures=$((failures + 1)); }
done 3<commands

# The check can fail.
for wrong in 'reproduce tabel1' 'reproduce table1 --noise sym-0.6' 'reproduce table1 --nosie sym-0.5' 'train --nosie none' 'train --method ce --k 5' \
  'reproduce examples/none.toml' 'presets none' 'tarin --epochs 2'; do
  read -ra words <<<"$wrong"
  ! resolves "${words[@]}" >/dev/null || { echo "FAILED: a wrong command was not noticed: regroup $wrong"; failures=$((failures + 1)); }
done
[ $failures = 0 ]
