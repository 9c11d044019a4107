#!/usr/bin/env bash
# run_test.sh SOURCE: .ci/run with a make and a python3 that only pretend. Time is short from the beginning: bash takes its clock from
# the environment.
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p tree/.ci tree/build/tidy tree/regroup/nn bin
cp "$source/.ci/run" tree/.ci/run
cat >bin/make <<'END'
#!/usr/bin/env bash
case "$*" in
  '-s torch-sources') printf 'regroup/nn/%s.cpp\n' a b c ;;
  "$FAILS"*) exit 2 ;;
  "$HANGS"*) [[ "$*" != lint-torch* ]] || echo regroup/nn/b.cpp >build/tidy/checked; sleep 60 ;;
esac
END
printf '#!/bin/sh\nexit %s\n' '${NO_TORCH:-0}' >bin/python3
chmod +x bin/make bin/python3

# Two commits: b is the latest, c is older than a day, and old is no longer there.
git_here() { git -C tree -c user.name=test -c user.email=test@localhost "$@"; }
commit() {
  touch "${@/#/tree/regroup/nn/}"
  git_here add regroup
  GIT_COMMITTER_DATE="$day 12:00" git_here commit -q --allow-empty -m "$day"
}
git_here init -q
day=2024-02-17 commit c.cpp
day=2024-02-20 commit a.cpp old.cpp
echo more >tree/regroup/nn/b.cpp
day=2024-02-20 commit b.cpp

# expect CODE CLOCK LAST_LINES...: the exit code, and all that is said at the end. Cases run side by side, as some wait for the time to
# pass; what is wrong is left in a file for each.
cases=0
expect() {
  cases=$((cases + 1))
  cp -r tree "tree$cases"
  check "$cases" "$@" >"wrong$cases" 2>&1 &
}
check() {
  local number=$1 code=$2 clock=$3 status=0 output lines
  shift 3
  output=$(PATH="$work/bin:$PATH" FAILS=${FAILS:-none} HANGS=${HANGS:-none} SECONDS=$clock "tree$number/.ci/run" 2>&1) || status=$?
  lines=$(sed '0,/^$/d' <<<"$output")
  [ "$status" = "$code" ] || echo "exit code $status, expected $code: $output"
  diff <(printf '%s\n' "$@") - <<<"$lines" || echo "these are not the expected last lines of: $output"
}

soon=$((84 * 60 - 5))
lint_torch='make lint-torch FILES=regroup/nn/b.cpp regroup/nn/a.cpp'
unseen=('Of these, clang-tidy has not seen:' regroup/nn/b.cpp regroup/nn/a.cpp)
test_passed='passed in 0 min: make test WERROR=ON'
passed=("$test_passed" 'passed in 0 min: make lint' 'passed in 0 min: make test TORCH=python WERROR=ON'
  'passed in 0 min: make test-pretrained' 'passed in 0 min: make test-runtimes')

expect 0 0 "${passed[@]}" 'passed in 0 min: make sanitize' "passed in 0 min: $lint_torch"

# What must come to its end, and does not.
HANGS='test WERROR' expect 1 $soon 'NOT FINISHED in 0 min: make test WERROR=ON' 'Nothing after that was run.'
HANGS=lint expect 1 $soon "$test_passed" 'NOT FINISHED in 0 min: make lint' 'Nothing after that was run.'
expect 1 $((84 * 60)) 'NOT RUN, no time was left: make test WERROR=ON' 'Nothing after that was run.'

# What gets the time that is left.
HANGS='test TORCH' expect 0 $soon "${passed[@]:0:2}" 'NOT FINISHED in 0 min: make test TORCH=python WERROR=ON' \
  'NOT RUN, no time was left: make test-pretrained' 'NOT RUN, no time was left: make test-runtimes' 'NOT RUN, no time was left: make sanitize' "NOT RUN, no time was left: $lint_torch" "${unseen[@]}"
HANGS=lint-torch expect 0 $soon "${passed[@]}" 'passed in 0 min: make sanitize' "NOT FINISHED in 0 min: $lint_torch" \
  "${unseen[0]}" regroup/nn/a.cpp
NO_TORCH=1 expect 0 0 "${passed[@]:0:2}" 'NOT RUN, python3 has no PyTorch and pip cannot install it: make test TORCH=python, make test-pretrained' \
  'NOT RUN, pip cannot install onnxruntime: make test-runtimes' \
  'passed in 0 min: make sanitize' 'NOT RUN, python3 has no PyTorch and pip cannot install it: make lint-torch'

# What fails.
FAILS='test WERROR' expect 2 0 'FAILED after 0 min: make test WERROR=ON' 'Nothing after that was run.'
FAILS=sanitize expect 2 0 "${passed[@]}" 'FAILED after 0 min: make sanitize' 'Nothing after that was run.'
FAILS=lint-torch expect 0 0 "${passed[@]}" 'passed in 0 min: make sanitize' "FAILED after 0 min: $lint_torch"

wait
cat wrong*
[ -z "$(cat wrong*)" ]
