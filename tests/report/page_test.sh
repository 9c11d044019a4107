#!/usr/bin/env bash
# page_test.sh PAGE.html [FOLDER]: Chromium shows the page on a phone and on a desk; the pictures are kept in FOLDER.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: page_test.sh PAGE.html [FOLDER]"; exit 2; }
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo "there is no chromium; scripts/setup test installs it"; exit 1; }
[ -s "$1" ] || { echo "FAILED: $1 is not there, or empty"; exit 1; }
page=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=${2:-$work}

# chromium ARGUMENTS...: what it prints is in $work/out.
chromium() {
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --disable-web-security \
    --allow-file-access-from-files --user-data-dir="$work/profile" "$@" >"$work/out" 2>"$work/log" && return
  echo "FAILED: chromium $*"
  tail -5 "$work/log"
  exit 1
}

# A PNG starts with a signature; its width stands at bytes 16 to 19.
png_width() { od -An -tu1 -j16 -N4 "$1" | awk '{ print (($1 * 256 + $2) * 256 + $3) * 256 + $4 }'; }

# A window of Chromium is never narrower than 500 pixels, so the phone is a frame in a page.
cat >"$work/phone.html" <<END
<!DOCTYPE html><body style="margin:0">
<iframe src="file://$page" style="border:0;width:400px;height:2400px"></iframe>
<script>
onload = () => document.body.dataset.width = frames[0].document.documentElement.scrollWidth;
</script>
END

for width in 400 1200; do
  picture=$folder/page-$width.png
  rm -f "$picture"
  shown=$page
  [ "$width" = 1200 ] || shown=$work/phone.html
  chromium --window-size="$width,2400" --screenshot="$picture" "file://$shown"
  if [ ! -s "$picture" ] || [ "$(head -c 8 "$picture" | od -An -tx1 | tr -d ' \n')" != 89504e470d0a1a0a ]; then
    echo "FAILED: no picture at $width pixels"
    exit 1
  fi
  if [ "$(png_width "$picture")" != "$width" ]; then
    echo "FAILED: the picture is $(png_width "$picture") pixels wide, expected $width"
    exit 1
  fi
  echo "shown at $width pixels"
done

# Tables move inside their boxes; the page itself stays as wide as the phone.
chromium --dump-dom "file://$work/phone.html"
grep -q 'data-width="400"' "$work/out" || {
  echo "FAILED: on a phone of 400 pixels the page has $(grep -o 'data-width="[0-9]*"' "$work/out")"
  exit 1
}
echo "not wider than a phone"
