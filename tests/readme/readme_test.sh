#!/bin/bash
# Every file that README.md names exists.
set -u
root=${MUSTER_SOURCE_DIR:?}
failed=0

while read -r path; do
  [ -e "$root/$path" ] || { echo "README.md names $path, which does not exist"; failed=1; }
done < <(grep -oE '\b(src|include|tests|bench|tools)/[A-Za-z0-9_./-]*[A-Za-z0-9_]' "$root/README.md" | sort -u)
exit $failed
