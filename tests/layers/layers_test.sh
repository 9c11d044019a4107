#!/usr/bin/env bash
# layers_test.sh COMPILER VIEWS: with core's include folder alone, a header of core is found and one of rml is not.
set -euo pipefail
compiler=$1 views=$2
compile() { echo "#include \"$1\"" | "$compiler" -std=c++20 -I"$views/core" -fsyntax-only -x c++ - 2>&1; }

compile regroup/core/random.h
if compile regroup/rml/regroup_median.h >/dev/null; then
  echo 'core can include rml'
  exit 1
fi
