#!/bin/bash
# run_document runs what a document shows as the text around it says, and each thing that does not work fails, by its line.
set -u

runner=${MUSTER_SOURCE_DIR:?}/tests/readme/run_document
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# Runs a document, given on standard input with ~ for each backquote, in a folder of its own.
run() { # OPTION...
  rm -rf "$work/tree" && mkdir -p "$work/tree/deep"
  tr '~' '`' >"$work/tree/text.md"
  (cd / && timeout 100 /usr/bin/python3 -B "$runner" "$@" "$work/tree/text.md") >"$work/report" 2>&1
  status=$?
}

fail() {
  echo "FAILED: $1" >&2
  cat "$work/report" >&2
  failures=$((failures + 1))
}

passes() { # NAME
  [ "$status" -eq 0 ] || fail "$1"
}

fails() { # NAME TEXT-OF-REPORT
  if [ "$status" -ne 1 ] || ! grep -qF -- "$2" "$work/report"; then fail "$1: expected: $2"; fi
}

run <<'M'
Save it as ~first.c~:

~~~c
int main(void) { return 0; }
~~~

Build it:

    cc first.c \
      -o first               # a comment, and a line that goes on
    export WHERE=$PWD

From ~deep~:

~~~sh
../first && touch here
[ "$PWD" = "$WHERE/deep" ]
~~~

- a list, and what belongs to it

      nonsense of the list

~~~python
nonsense of another language
~~~

    $ printf 'one\ntwo\nthree\n'
    one
    ...
    three

<!-- output of: printf -->

    two
    three

Type ~test -e deep/here~, ~mention~, ~--an option~, ~GET /a/page~ and
~test -e
first~.
M
passes "a document that is true"
grep -q ' 7 commands run, 0 not run' "$work/report" || fail "its commands are seven"

run --strict <<'M'
Save it as ~p.c~:

~~~c
#include <a.h>
#include <c.h>

/* A comment { that stays open. */
struct pair {
  int first;

  int second;
};

static const char *word(void) {
  return "}";
}

int main(void) { return 0; }
~~~

Replace ~struct pair~ in ~p.c~:

~~~c
struct pair {
  int both;
};
~~~

Put this below ~#include <a.h>~ in ~p.c~:

~~~c
#include <b.h>
~~~

Put this below ~#include <c.h>~ in ~p.c~:

~~~c
#include <d.h>
~~~

And then another one. Put this above ~main~ in
~p.c~:

~~~c
int three;
~~~

Put this below ~word~ in ~p.c~:

~~~c
int two;
~~~

    $ cat p.c
    #include <a.h>
    #include <b.h>
    #include <c.h>
    #include <d.h>

    struct pair {
      int both;
    };

    static const ... *word(void) {
      return "}";
    }

    int two;

    int three;

    int main(void) { return 0; }
M
passes "changes of a program"

for place in absent 'int a;'; do
  run <<<$'Save it as ~p.c~:\n\n~~~c\n{\n int a;\n int a;\n}\n~~~\n\nReplace ~'"$place"$'~ in ~p.c~:\n\n~~~c\n~~~\n\n    true'
  fails "a change of no single place" "cannot change p.c"
done

run <<<$'Text.\n\n~~~c\n~~~\n\n    true'
passes "a block that is only shown"
run --strict <<<$'Text.\n\n~~~c\n~~~\n\n    true'
fails "a block that belongs nowhere" "text.md:4: the text does not say where this block belongs"

run <<<'    no-such-program --at-all'
fails "a program that does not exist" "text.md:1: ended with 127: no-such-program --at-all"

run <<<$'Text.\n\n    true\n    false; true'
fails "a failure in the middle of a line" "text.md:4: ended with 1: false; true"

run <<<$'    $ echo one\n    two'
fails "other output" "text.md:1: printed something else: echo one"

run <<<$'    echo one\n\n<!-- output of: echo -->\n\n    two'
fails "an excerpt that is none" "echo did not print, in this place:"

run <<<$'From `absent`:\n\n    true'
fails "a folder that does not exist" "absent"

run <<<'See `false --now`.'
fails "a command in a sentence" "text.md:1: ended with 1: false --now"

run --limit 1 <<<'    sleep 1000'
fails "a command that hangs" "it did not end within 1 s"

run <<<'    if true'
fails "half a command" "1 failures"

# It ends before the document does: else the signal may be what ends it.
run <<<$'    (exit 3) &\n    while kill -0 $!; do sleep 0.05; done 2>/dev/null'
fails "something that ends badly" "what was started with & ended with 3"

run <<<'    sh -c "sleep 1000 &"'
fails "something that stays behind" "something that was started still runs"

run <<<$'    sleep 1000 &'
passes "something that ends by the signal"

printf '%s\n' '# rules' 'of (\w+)  => of \1 \1' '^rm  not run: it removes' >"$work/rules"
run --rules "$work/rules" <<<$'    [ "of one" = "of one one" ] || false\n    rm -rf deep\n    [ -d deep ]'
fails "a replacement" 'ended with 1: [ "of one" = "of one one" ]'
grep -q '2 commands run, 1 not run, 1 failures' "$work/report" || fail "only what is to be left out is left out"

run --rules "$work/rules" <<<$'    echo of one'
fails "a rule that matches nothing" "no command matches this rule: ^rm"

# Runs a command that prints "took 20.5 ms for 1,000 of a", of which the document shows something.
runs_shown() { # SHOWN RULE OPTION...
  printf '%s\n' "$2" >"$work/rules"
  run --rules "$work/rules" "${@:3}" <<<$'    echo "took 20.5 ms  for 1,000 of a"\n\n~~~text\n'"$1"$'\n~~~\n'
}

runs_shown 'took 20.5 ms  for 1,000 of a' '# no rule' --compared
passes "a block of text behind a command is what it prints"
grep -q 'compared: 1 with what the document shows, 0 with what rules say, 0 print nothing' "$work/report" ||
  fail "what was compared is counted"
runs_shown 'took 20.6 ms  for 1,000 of a' '# no rule'
fails "another figure" "text.md:1: printed something else: echo"
runs_shown 'took 0.021 s for 990 of a' '^echo  figures within 3 %: a test'
passes "figures within three percent, in another unit"
runs_shown 'took 21.5 ms for 1,000 of a' '^echo  figures within 3 %: a test'
fails "a figure beyond three percent" "printed something else"
runs_shown 'took 20.5 ms for 1,000 of b' '^echo  figures within 3 %: a test'
fails "another word" "printed something else"
runs_shown 'took 7 s for 0 of a' '^echo  figures differ: a test'
passes "figures that differ"
runs_shown 'took 7 s for some of a' '^echo  figures differ: a test'
fails "no figure" "printed something else"
runs_shown 'took ... of b' '^echo  figures differ: a test'
fails "a word behind what stands for anything" "printed something else"

printf '%s\n' '^echo one  prints: on...' '^echo two  prints: three' >"$work/rules"
run --rules "$work/rules" --compared <<<$'    echo one\n    echo two\n    echo four\n    true'
fails "a line that is absent" "text.md:2: did not print 'three': echo two"
grep -q 'compared: 0 with what the document shows, 2 with what rules say, 1 print nothing' "$work/report" ||
  fail "what rules say is counted"
grep -q 'text.md:3: nothing says what this prints: echo four' "$work/report" || fail "what nothing is said of"
grep -q ' 2 failures$' "$work/report" || fail "and nothing else"

run <<<'Text alone.'
[ "$status" -ne 0 ] || fail "a document without a command shows nothing"

echo "$failures failures"
[ "$failures" -eq 0 ]
