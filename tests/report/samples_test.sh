#!/usr/bin/env bash
# samples_test.sh REPORT_TEST: tables with ordinary and with hostile texts are compiled by LaTeX and shown by a browser.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
REGROUP_SAMPLES=$work "$1" --gtest_filter='*Samples*'
"$here/latex_test.sh" "$work"/*.tex
"$here/page_test.sh" "$work/page.html"
