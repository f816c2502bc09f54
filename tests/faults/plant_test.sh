#!/bin/bash
# plant finds the place of a fault by its function and its tokens, whatever the layout, and says what is wrong when it
# does not find it, or finds it twice.
set -u

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
mkdir -p "$work/src/plan" "$work/src/run"
touch -d 2000-01-01 "$work/places"

cat >"$work/src/plan/rank.c" <<'END'
#define RANK_MAX(a, b) \
  ((a) > (b) ? (a) \
             : (b))
static const int steps[] = {1, 2, 3}; /* take(void) { */
enum { RANKS = 3 };
typedef struct rank {
  int low, high;
} rank;
int rank_first(int count);

static int take(int count) {
  if (count > 2) return steps[0]; // one of steps[2]
#if RANKS > 2
  count++;
#endif
  for (int i = 0; i < count; i++) count += steps[i];
  puts("as long "
       "as this");
  return count;
}

int rank_first(int count) {
  return take(count) + take(count +
                            1);
}
END
cat >"$work/src/run/taking.c" <<'END'
static int take(void) { return 0; }
extern "C" {
int other_first(void) { return take(); }
}
END

# Plants what stands in fault.fault.
plant() { # SOURCE
  "${PLANT:?}" "$work" "$1" "$work/fault.fault" "$work/copy.c" "$work/places" >"$work/said" 2>&1
}

fail() {
  echo "FAILED: $*" >&2
  cat "$work/fault.fault" "$work/said" >&2
  failures=$((failures + 1))
}

changes() { # LINE WHAT-IS-IN-IT-THEN; the fault is read from the input
  { echo 'Something is wrong.' && cat; } >"$work/fault.fault"
  "$PLANT" "$work" --where "$work/fault.fault" >"$work/said" 2>&1
  [ "$(cat "$work/said")" = src/plan/rank.c ] || fail "where?"
  plant src/plan/rank.c || fail "nothing was planted"
  [ "$(sed -n "$1p" "$work/copy.c" | tr -s ' ' | sed 's/^ //; s/ $//')" = "$2" ] || fail "line $1 is not: $2"
  [ "$(wc -l <"$work/copy.c")" = "$(wc -l <"$work/src/plan/rank.c")" ] || fail 'the lines are others'
}

refused() { # WORDS; the fault is read from the input
  cat >"$work/fault.fault"
  if plant src/plan/rank.c || ! grep -qF -- "$1" "$work/said"; then fail "expected: $1"; fi
}

changes 12 'if (count > 3) return steps[0]; // one of steps[2]' <<'END'
in: take, plan
- count > 2
+ count > 3
END
changes 16 'for (int i = 0; i < count; i++) count -= steps[i];' <<'END'
test: plan/rank
in: take, plan/rank.c
- count+=steps
-     [i]; /* in other words */
+ count -= steps[i];
END
changes 23 'return take(count + 1);' <<'END'
in: rank_first
- return $1 + take($2);
+ return take($2);
END
changes 17 'puts("short");' <<'END'
in: take, rank.c
- puts("as long as this");
+ puts("short");
END
changes 4 'static const int steps[] = {1, 4, 3}; /* take(void) { */' <<'END'
in: steps
- 2
+ 4
END
changes 7 'int low, low;' <<'END'
in: rank
- high
+ low
END
changes 2 '((a) < (b) ? (a) : (b)\' <<'END'
in: RANK_MAX
- > (b) ? (a) : (b)
+ < (b) ? (a)
+ : (b)
END
changes 22 'int rank_first(int number) {' <<'END'
in: rank_first
- return take(count) +
+ return 1 +
in: rank_first
- rank_first(int count)
+ rank_first(int number)
END

refused 'nothing defines lost: name' <<<$'Wrong.\nin: lost\n- count\n+ 0'
refused 'nothing defines take in observe: name' <<<$'Wrong.\nin: take, observe\n- count\n+ 0'
refused 'no match in ' <<<$'Wrong.\nin: rank_first\n- count + 2\n+ 0'
refused 'no match in ' <<<$'Wrong.\nin: rank_first\n- steps[0]\n+ 0'
refused 'two matches in take (src/plan/rank.c), lines 12 and 16' <<<$'Wrong.\nin: take, plan\n- steps[\n+ [0'
refused 'nothing defines take in ank.c: name' <<<$'Wrong.\nin: take, ank.c\n- count\n+ 0'
refused 'no match in ' <<<$'Wrong.\nin: take, plan\n- count++; for\n+ for'
refused 'no match in ' <<<$'Wrong.\nin: take, plan\n- #if RANKS > 2\n- count++;\n+ 0;'
refused 'no match in ' <<<$'Wrong.\nin: take, plan\n- if (count > 2) $1 return count;\n+ $1'
refused 'places in rank_first overlap' <<<$'Wrong.\nin: rank_first\n- return take\n+ take\nin: rank_first\n- take(count) +\n+ 1 +'
refused "no line 'in: FUNCTION'" <<<$'Wrong.\ntest: plan/rank'
refused 'fault.fault:1: say here what is wrong' <<<''
refused "fault.fault:2: 'KEY: VALUE' is expected" <<<$'Wrong.\n---\ncount'
refused "fault.fault:4: a line after 'in:' begins with" <<<$'Wrong.\nin: rank_first\n- count\n0'
refused 'nothing is changed in rank_first' <<<$'Wrong.\nin: rank_first\n  count'
refused '$1 begins or ends the pattern' <<<$'Wrong.\nin: rank_first\n- take($1\n+ 0'
refused '$1 begins or ends the pattern' <<<$'Wrong.\nin: rank_first\n- take($1) + take($1)\n+ take($1)'
refused '$2 is planted in rank_first, and not in the pattern' <<<$'Wrong.\nin: rank_first\n- take($1) +\n+ take($2) +'

# Whichever source is meant must be said, and what has moved is found where it is.
refused 'has moved from src/plan/rank.c to src/run/taking.c: build once more' <<<$'Wrong.\nin: other_first\n- take()\n+ 0'
[ "$(stat -c %Y "$work/places")" -gt 1000000000 ] || fail 'CMake does not hear of it'
printf '%s\n' 'Wrong.' 'in: take' '- 0' '+ 1' >"$work/fault.fault"
"$PLANT" "$work" --where "$work/fault.fault" >"$work/said" 2>&1 && fail 'one of two was taken'
grep -q "take is defined in src/.* and in src/.*: name the file or its folder, such as 'in: take, src/" "$work/said" ||
  fail 'nobody says that there are two'

exit $((failures > 0))
