#!/bin/bash
# check_book finds each thing that it is there to find, planted into a small book one at a time, and spelling is checked.
set -u

root=${MUSTER_SOURCE_DIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# A book without a mistake, given with ~ for each backquote.
write_book() {
  rm -rf "$work/tree" && mkdir -p "$work/tree/tools/docs" "$work/tree/src" "$work/tree/include"
  echo 'int muster_frame_run(void);' >"$work/tree/include/one.h"
  echo 'int one = 1;' >"$work/tree/src/one.c"
  tr '~' '`' >"$work/tree/README.md" <<'M'
# A name

See [the book](tools/docs/README.md#the-second-page), src/one.c and [the web](https://example.org/none).
M
  tr '~' '`' >"$work/tree/tools/docs/README.md" <<'M'
# The book

## The second `page`

[One](../../src/one.c), and [back](../../README.md). A span ~[none](none.md)~ is no link. ~muster_frame_run()~ exists.

<!-- part of: src/one.c -->

~~~c
  int one = 1;
~~~

Save it as ~two.c~:

~~~c
int two = 2;
~~~

~~~text
no code
~~~
M
}

check() {
  /usr/bin/python3 -B "$root/tests/readme/check_book" "$work/tree" >"$work/report" 2>&1
}

finds() { # TEXT-OF-REPORT
  if check || ! grep -qF -- "$1" "$work/report"; then
    echo "FAILED: expected: $1" >&2
    cat "$work/report" >&2
    failures=$((failures + 1))
  fi
  write_book
}

write_book
check || { cat "$work/report"; failures=1; }
readme=$work/tree/README.md book=$work/tree/tools/docs/README.md

echo '[no](tools/docs/no.md)' >>"$readme"
finds "README.md:4: the link tools/docs/no.md leads to no file"
echo '[no](tools/docs/README.md#no)' >>"$readme"
finds "tools/docs/README.md has no heading #no"
echo 'See `src/two.c`.' >>"$readme"
finds "README.md:4: src/two.c does not exist"
echo 'Call `muster_frame_walk()`.' >>"$readme"
finds "README.md:4: there is no muster_frame_walk"
printf '\n```text\nold_name  -> muster_frame_run  a remark\nother     -> muster_frame_walk\n```\n' >>"$book"
finds "there is no muster_frame_walk"
printf '\n%.0s' {1..148} >>"$readme"
finds "more than 150 lines"
echo '# Alone' >"$work/tree/tools/docs/alone.md"
finds "tools/docs/alone.md:1: no link leads here"
echo 'blank ' >>"$book"
finds "cut the blanks"
printf '\nText.\n\n```c\nint three;\n```\n' >>"$book"
finds "this block of c is not compiled"
sed -i 's/^  int one = 1/int one = 2/' "$book"
finds "tools/docs/README.md:10: src/one.c does not have these lines"
sed -i 's,part of: src/one.c,part of: src/three.c,' "$book"
finds "src/three.c does not exist"

echo 'It recieves a message.' >"$work/mistake.md"
if codespell --ignore-words "$root/tools/docs/words" "$work/mistake.md" >/dev/null; then
  echo "FAILED: codespell overlooks a mistake" >&2
  failures=$((failures + 1))
fi

echo "$failures failures"
[ "$failures" -eq 0 ]
