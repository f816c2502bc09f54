#!/bin/bash
# The first program of README.md is the one that is compiled and run here, and every file that README.md names exists.
set -u
root=${MUSTER_SOURCE_DIR:?}
failed=0

shown=$(awk '/^```c$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' "$root/README.md")
if [ "$shown" != "$(cat "$root/tests/readme/first_program.c")" ]; then
  echo "README.md does not show tests/readme/first_program.c as it is"
  failed=1
fi

while read -r path; do
  [ -e "$root/$path" ] || { echo "README.md names $path, which does not exist"; failed=1; }
done < <(grep -oE '\b(src|include|tests|bench|tools)/[A-Za-z0-9_./-]*[A-Za-z0-9_]' "$root/README.md" | sort -u)

lines=$("${FIRST_PROGRAM:?}" | grep -c 'ms since this NPC last ran')
if [ "$lines" -lt 1 ]; then # how often depends on the machine: a busy one stretches the period
  echo "the first program printed $lines lines, expected some"
  failed=1
fi
exit $failed
