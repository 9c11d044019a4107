#!/usr/bin/env bash
# latex_test.sh FILE.tex...: each file, a piece of LaTeX, is compiled inside an article that loads booktabs only.
set -euo pipefail
command -v pdflatex >/dev/null || { echo "there is no pdflatex; scripts/setup test installs it"; exit 1; }
[ $# -gt 0 ] || { echo "usage: latex_test.sh FILE.tex..."; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for file in "$@"; do
  {
    echo '\documentclass{article}'
    echo '\usepackage{booktabs}'
    echo '\begin{document}'
    cat "$file"
    echo '\end{document}'
  } >"$work/article.tex"
  rm -f "$work/article.pdf"
  # openin_any=p: a table has no business with files outside its folder.
  if ! (cd "$work" && openin_any=p timeout 60 pdflatex -no-shell-escape -interaction=nonstopmode -halt-on-error article.tex >log 2>&1) ||
    [ ! -s "$work/article.pdf" ]; then
    echo "FAILED: $file"
    grep -A3 '^!' "$work/log" || tail -5 "$work/log"
    exit 1
  fi
  echo "compiled: $file"
done
