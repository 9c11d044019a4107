#!/usr/bin/env bash
# includes_test.sh SOURCE: each layer includes the layers that USES of its CMakeLists.txt names, all of them and no others, and names
# only layers below it. The compiler cannot tell: a layer sees what the layers that it names use as well.
set -euo pipefail
cd "$1/regroup"
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# What stands after USES, up to the next keyword or the end.
uses_of() { sed 's/)/ END /g' "$1/CMakeLists.txt" | tr -s ' ' '\n' | awk '/^[A-Z_]+$/ { inside = $0 == "USES"; next } inside' | sort; }

included_by() { find "$1" -type f -exec cat {} + | sed -nE 's,^ *# *include *["<]regroup/([a-z_]+)/.*,\1,p' | grep -vx "$1" | sort -u || true; }

below=''
for layer in $(sed -nE 's/^ *(add_subdirectory\(|foreach\(layer )([a-z_ ]+)\)$/\2/p' CMakeLists.txt); do
  uses=$(uses_of "$layer") included=$(included_by "$layer")
  for name in $included; do
    grep -qx "$name" <<<"$uses" || fail "regroup/$layer includes regroup/$name; name it in USES of regroup/$layer/CMakeLists.txt"
  done
  for name in $uses; do
    grep -qx "$name" <<<"$included" || fail "regroup/$layer/CMakeLists.txt: USES names $name, which no file of it includes; remove it"
    [[ " $below " == *" $name "* ]] || fail "regroup/$layer/CMakeLists.txt: USES names $name, which is not below it in regroup/CMakeLists.txt"
  done
  below+=" $layer"
done
for folder in */; do
  [[ " $below " == *" ${folder%/} "* ]] || fail "regroup/${folder%/} is not named in regroup/CMakeLists.txt"
done
[ "$failures" = 0 ]
