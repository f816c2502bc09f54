#!/bin/bash
# The worlds in Lua that ship with Muster: they run by name without an error, all their types live and breed, and the same
# seed gives the same world in any process: with address randomisation and without, on 1, 2, 8 and 64 workers.
set -u

muster=${MUSTER:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

hash_of() { # COMMAND...: runs it, and prints the hashes of its world and of its scripts' tables
  "$@" --json report.json >said 2>&1 || { fail "$*"; cat said; }
  if grep -q 'muster lua' said; then fail "a script says something: $(grep -m1 -A3 'muster lua' said)"; fi
  /usr/bin/python3 - report.json <<'CODE'
import json, sys

def find(value, name):
    if isinstance(value, dict):
        for key, inner in value.items():
            found = inner if key == name else find(inner, name)
            if found is not None:
                return found
    return None

report = json.load(open(sys.argv[1]))
print(find(report, "world_hash"), find(report, "scripts_hash"))
CODE
}

without=(setarch -R)
if ! setarch -R true 2>/dev/null; then
  echo "setarch -R is refused here: all processes have random addresses"
  without=()
fi

for world in village.lua wildlife.lua; do
  first=""
  for workers in 1 2 8 64; do
    for way in random fixed random fixed; do
      run=("$muster" run "$world" --agents 800 --frames 90 --warm-up 5 --no-pace --virtual --workers $workers)
      if [ $way = fixed ]; then run=("${without[@]}" "${run[@]}"); fi
      now=$(hash_of "${run[@]}")
      first=${first:-$now}
      [ "$now" = "$first" ] || fail "$world on $workers workers, $way addresses: $now, at first $first"
    done
  done
  echo "$world: $first"
  [[ $first =~ ^[0-9a-f]{16}\ [0-9]{6,}$ ]] || fail "these are no hashes: $first"
  other=$(hash_of "$muster" run "$world" --agents 800 --frames 90 --warm-up 5 --no-pace --virtual --seed 2)
  [ "$other" != "$first" ] || fail "$world: another seed changes nothing"
done

lives() { # WORLD TYPE: there are such agents
  grep -q "^  $2 .* us$" said || { fail "$1 has no $2"; cat said; }
}
"$muster" run village.lua --agents 1000 --frames 2000 --no-pace --virtual >said 2>/dev/null || fail "the village"
for type in villager baker guard sheep wolf; do lives village.lua $type; done
"$muster" run wildlife.lua --agents 1000 --frames 300 --no-pace --virtual >said 2>/dev/null || fail "wildlife"
for type in hare javelina groundhog bobcat; do lives wildlife.lua $type; done

# A file of one's own with that name comes first; a name that is wrong is told.
echo 'muster.type { name = "mine" } muster.world { agents = 1, start = function() muster.spawn("mine", {x = 0, y = 0}) end }' >village.lua
"$muster" run village.lua --frames 1 --no-pace --virtual 2>/dev/null | grep -q '^  mine ' || fail "one's own village.lua"
"$muster" run village 2>&1 | grep -q "did you mean 'village.lua'" || fail "a wrong name"
"$muster" run vilage.lua 2>&1 | grep -q "vilage.lua" || fail "a file that is not there"

echo "$failures failures"
[ "$failures" -eq 0 ]
