#!/bin/bash
# The live page in a browser, by Debian's own Python, Chromium and driver: tools/setup installs them.
set -u
folder=$(dirname "$0")
for program in /usr/bin/python3 /usr/bin/chromium /usr/bin/chromedriver; do
  [ -x "$program" ] || { echo "$program is missing: run tools/setup" >&2; exit 1; }
done
exec /usr/bin/python3 "$folder/page_test.py"
