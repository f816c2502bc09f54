#!/bin/bash
# What the page's plots keep and how its table of types is sorted, in a browser, by Debian's own Python, Chromium and
# driver: tools/setup installs them.
set -u
folder=$(dirname "$0")
for program in /usr/bin/python3 /usr/bin/chromium /usr/bin/chromedriver; do
  [ -x "$program" ] || { echo "$program is missing: run tools/setup" >&2; exit 1; }
done
exec /usr/bin/python3 "$folder/page_plots_test.py"
