#!/bin/bash
# README.md and the book: links, named files, lengths, blocks of code; and spelling, that of comments and help texts, too.
set -u
root=${MUSTER_SOURCE_DIR:?}
failed=0

/usr/bin/python3 -B "$root/tests/readme/check_book" "$root" || failed=1

# codespell knows what is often mistyped. tools/docs/words has what it takes for a mistake here.
if ! command -v codespell >/dev/null; then
  echo "no codespell: tools/setup installs it"
  exit 1
fi
cd "$root" || exit
codespell --ignore-words tools/docs/words --skip '*.png,*.gif,*.svg,*.csv,*/mutate/equivalents' \
  README.md bench/*/*.[ch] include src tests/examples tools || failed=1
exit $failed
