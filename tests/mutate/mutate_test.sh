#!/bin/bash
# tools/mutate on the small tree in sample/: what it finds, what it leaves alone, who survives, and how it says so. And
# the entries in tools/mutate/equivalents match the sources. COMPILER names the compiler, MUSTER_SOURCE_DIR the tree.
set -u

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! /usr/bin/python3 -c 'import clang.cindex; clang.cindex.Index.create()' 2>/dev/null; then
  "$MUSTER_SOURCE_DIR/tools/mutate/run" --check --work "$work/own" || exit 1
  echo "skipped: no libclang of python: all but the words of the equivalents needs what 'tools/setup --mutate' installs"
  exit 0
fi

tree="$work/tree"
cp -r "$MUSTER_SOURCE_DIR/tests/mutate/sample" "$tree"
failures=0
unset MUSTER_MUTANT MUSTER_MUTANTS_SEEN MUSTER_MUTANT_LIMIT

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

mutate() { # ARGUMENTS... - leaves output and status
  output=$("$MUSTER_SOURCE_DIR/tools/mutate/run" --root "$tree" --work "$work/work" "$@" 2>&1)
  status=$?
}

says() { # WHAT TEXT
  grep -qF -- "$2" <<<"$output" || fail "$1: no '$2' in: $output"
}

# ------------------------------------------------------------------------------------------------------ what is found

mutate --folder plan --count 0 --list
[ "$status" -eq 0 ] || fail "the list exits with $status: $output"
says "the inline function of a header" "src/plan/weight.h:6 weight_of [arithmetic] axles * 8  ->  axles / 8"
says "a use of an enumerator" "src/plan/toll.c:16 toll_for [constant] LAST  ->  (LAST + 1)"
says "a statement" "toll_take [statement] left out: toll->passed++;"
for line in 8 9 10 11; do
  if grep -qF "src/plan/toll.c:$line " <<<"$output"; then fail "a mutant where the compiler wants a constant, line $line"; fi
done
if grep -F "src/plan/toll.c:15 " <<<"$output" | grep -qF "LAST"; then fail "a mutant in a case label"; fi
first=$output
mutate --folder plan --count 0 --list
[ "$output" = "$first" ] || fail "the same seed draws others"
mutate --folder plan --count 5 --list --seed 2
fifth=$output
mutate --folder plan --count 5 --list --seed 3
[ "$output" != "$fifth" ] || fail "another seed draws the same"
# A new function brings mutants of its own in, and moves none of the others.
drawn() { grep -o ' src/[^ ]* [a-z_]* \[.*' <<<"$output" | sed 's/:[0-9]*//' | grep -v newcomer; }
mutate --folder plan --count 8 --list --seed 2
before=$(drawn)
printf 'int newcomer(int axles);\nint newcomer(int axles) { return axles * 3 + 1; }\n' >>"$tree/src/plan/lorry.c"
mutate --folder plan --count 8 --list --seed 2
after=$(drawn)
[ "$(echo "$before" | head -n "$(echo "$after" | wc -l)")" = "$after" ] || fail "a new function moves what was drawn: $after"
cp "$MUSTER_SOURCE_DIR/tests/mutate/sample/src/plan/lorry.c" "$tree/src/plan/lorry.c"

# A room has the folders below its own, but those that are a room.
mutate --folder service --count 0 --list
says "a room" "src/service/booth.c:4 booth_opens"
says "a folder of a room" "src/service/lamps/lamp.c:4 lamp_burns"
if grep -qF "src/service/supervise" <<<"$output"; then fail "a room is drawn from twice: $output"; fi
mutate --folder supervise --count 0 --list
says "a room in another" "src/service/supervise/guard.c:4 guard_wakes"
if grep -qF "booth" <<<"$output"; then fail "a room has what is above it: $output"; fi

# ------------------------------------------------------------------------------------------------------- who survives

cat >"$work/expected" <<'E2'
equivalent toll_highest toll_for(axles[i]) > toll_for(axles[best])  ->  toll_for(axles[i]) >= toll_for(axles[best])
survived toll_forgotten 1  ->  (1 + 1)
survived toll_forgotten 1  ->  (1 - 1)
survived toll_forgotten axles + 1  ->  0
survived toll_forgotten axles + 1  ->  axles - 1
survived toll_highest 0  ->  (0 + 1)
survived toll_highest 0  ->  (0 + 1)
survived toll_take coins < toll_for(axles)  ->  coins <= toll_for(axles)
E2
mutate --folder plan --count 0 --json "$work/results.json" --least 99
[ "$status" -eq 1 ] || fail "more is asked for than killed, and the run exits with $status"
says "the untested" "no test reaches it"
says "the unnoticed" "reached by 1 tests"
says "the table" "killed of the rest"
/usr/bin/python3 - "$work/results.json" >"$work/lived" <<'E2'
import json, sys
rows = json.load(open(sys.argv[1]))["mutants"]
assert len(rows) > 40 and all(row["killed_by"] for row in rows if row["outcome"] == "killed")
print("\n".join(sorted(f"{r['outcome']} {r['function']} {r['change']}" for r in rows if r["outcome"] != "killed")))
E2
diff "$work/expected" "$work/lived" >&2 || fail "others survive than should"

# What was found out is not asked again, and a test that is added is asked only about those that lived.
sed -i '$a\\nTest(toll, is_paid_by_those_who_have_just_enough) {\n  toll gate = {0};\n  cr_assert(toll_take(\&gate, 1, 1));\n}' \
  "$tree/tests/toll_test.c"
mutate --folder plan --count 0 --least 85
[ "$status" -eq 0 ] || fail "enough is killed, and the run exits with $status: $output"
says "one that the new test kills" "toll/is_paid_by_those_who_have_just_enough (failed)"
if grep -q '^  .* toll_take ' <<<"$output"; then fail "the new test did not kill what it should"; fi

# Where a test reaches a mutant only in a program that it starts.
mutate --folder tools/muster --count 0
[ "$status" -eq 0 ] || fail "the mutants of a program that a test starts: $status: $output"
says "a mutant of such a program" "tools/muster/say.c:6 main [arithmetic] atoi(words[1]) * 2  ->  atoi(words[1]) / 2 by tools/say (failed)"

# More equivalents than 5 % count as survivors.
cp "$tree/tools/mutate/equivalents" "$work/equivalents"
for change in 'axles + 1  ->  axles - 1' 'axles + 1  ->  0' '1  ->  (1 + 1)' '1  ->  (1 - 1)'; do
  printf '\n%s\n' "src/plan/toll.c toll_forgotten
in: return axles + 1;
$change
Nothing calls it."
done >>"$tree/tools/mutate/equivalents"
mutate --folder plan --count 0
grep -qE '^plan( +[0-9]+){4} +2 ' <<<"$output" || fail "no two of the equivalents are left out: $output"
cp "$work/equivalents" "$tree/tools/mutate/equivalents"

# ---------------------------------------------------------------------------------------------------- one, by its name

id=$(sed -n 's/^\([0-9a-f]*\) .* weight_of \[constant\] 8  ->  (8 + 1)$/\1/p' <<<"$first")
sed -i '1i /* A line more, and all others have moved. */' "$tree/src/plan/weight.h"
mutate --mutant "$id"
[ "$status" -eq 0 ] || fail "the mutant $id exits with $status: $output"
says "a mutant whose line has moved" "killed $id src/plan/weight.h:7 weight_of"
mutate --mutant 0123456789
[ "$status" -eq 2 ] || fail "an unknown mutant exits with $status"
says "an unknown mutant" "--list prints them"

# -------------------------------------------------------------------------------------------------------- equivalents

mutate --check
[ "$status" -eq 0 ] || fail "the sample's equivalents: $output"
sed -i 's/best = i;/best = i + 0;/' "$tree/src/plan/toll.c"
mutate --check
[ "$status" -eq 2 ] || fail "an equivalent whose line has changed exits with $status"
says "an equivalent whose line has changed" "argue it anew, or remove it"

# Without libclang their words are compared, and nothing else is done.
mkdir -p "$work/without/clang"
echo 'raise ImportError("planted")' >"$work/without/clang/__init__.py"
export PYTHONPATH="$work/without"
mutate --check
[ "$status" -eq 2 ] || fail "without libclang, an equivalent whose line has changed exits with $status"
says "an equivalent whose line has changed" "argue it anew, or remove it"
mutate --folder plan --count 1
[ "$status" -eq 2 ] || fail "without libclang a run exits with $status"
says "a run without libclang" "Install what it needs"
output=$("$MUSTER_SOURCE_DIR/tools/mutate/run" --check --work "$work/own" 2>&1) ||
  fail "the words of tools/mutate/equivalents: $output"
says "the words alone" "the words of each stand in the sources"
unset PYTHONPATH

output=$("$MUSTER_SOURCE_DIR/tools/mutate/run" --check --work "$work/own" 2>&1) || fail "tools/mutate/equivalents: $output"

if [ "$failures" -gt 0 ]; then
  echo "$failures checks failed" >&2
  exit 1
fi
