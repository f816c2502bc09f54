#!/bin/bash
# The live page where worlds run in processes of their own, one of which ends: see page_test.sh for what it wants.
set -u
folder=$(dirname "$0")
for program in /usr/bin/python3 /usr/bin/chromium /usr/bin/chromedriver; do
  [ -x "$program" ] || { echo "$program is missing: run tools/setup" >&2; exit 1; }
done
exec /usr/bin/python3 "$folder/page_processes_test.py"
