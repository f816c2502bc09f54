#!/bin/bash
# tools/test on a tree of a few tests: one that passes, one that always fails, one that fails beside others only, one in
# which a sanitizer reported what does not come twice, one that leaks what it had when it failed, one that leaks, and two
# that skip something. And its lists of what may be skipped, or may pass alone only.
set -u

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree="$work/tree"
mkdir -p "$tree/tools" "$tree/tests"
cp "$MUSTER_SOURCE_DIR/tools/test" "$tree/tools/test"
printf '#!/bin/sh\n' >"$tree/tools/setup"
chmod +x "$tree/tools/setup"
cat >"$tree/CMakePresets.json" <<'END'
{"version": 4, "configurePresets": [
  {"name": "sound", "generator": "Ninja", "binaryDir": "${sourceDir}/build/sound"},
  {"name": "mixed", "generator": "Ninja", "binaryDir": "${sourceDir}/build/mixed"},
  {"name": "reported", "generator": "Ninja", "binaryDir": "${sourceDir}/build/reported"},
  {"name": "left", "generator": "Ninja", "binaryDir": "${sourceDir}/build/left"},
  {"name": "lazy", "generator": "Ninja", "binaryDir": "${sourceDir}/build/lazy"},
  {"name": "leaky", "generator": "Ninja", "binaryDir": "${sourceDir}/build/leaky"}]}
END
cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(four NONE)
enable_testing()
get_filename_component(kind ${CMAKE_BINARY_DIR} NAME)
set(once "test -e ran || { touch ran")
set(leak "echo SUMMARY: AddressSanitizer: 8 byte leaked in 1 allocation; exit 1")
add_test(NAME some/sound COMMAND true)
if(kind STREQUAL "lazy")
  add_test(NAME some/lazy COMMAND echo "skipped: there is no broker")
  add_test(NAME some/lazier COMMAND echo "skipped: there is no browser")
elseif(NOT kind STREQUAL "sound")
  add_test(NAME some/busy COMMAND sh -c "${once}; exit 1; }")
endif()
if(kind STREQUAL "mixed")
  add_test(NAME some/broken COMMAND false)
elseif(kind STREQUAL "reported")
  add_test(NAME some/race COMMAND sh -c "test -e raced || { touch raced; echo SUMMARY: ThreadSanitizer: data race; exit 66; }")
elseif(kind STREQUAL "left")
  add_test(NAME some/left COMMAND sh -c "test -e left || { touch left; echo a_test.c:7: Assertion Failed; ${leak}; }")
elseif(kind STREQUAL "leaky")
  add_test(NAME some/leak COMMAND sh -c "test -e leaked || { touch leaked; ${leak}; }")
endif()
END
failures=0

expect() { # PRESET STATUS LINE...
  local preset=$1 status=$2 output got line
  shift 2
  output=$("$tree/tools/test" "$preset" 2>&1)
  got=$?
  [ "$got" -eq "$status" ] || { echo "FAILED: $preset ends with $got: $output" >&2 && failures=$((failures + 1)); }
  for line in "$@"; do
    grep -qE -- "$line" <<<"$output" && continue
    echo "FAILED: $preset says no '$line': $output" >&2
    failures=$((failures + 1))
  done
}

list() { # LIST LINE...
  local list=$1
  shift
  { echo "# some words"; printf '%s\n' "$@"; } >"$tree/tests/$list"
}

list skips
list unsteady
expect sound 0 '^sound +1 passed, 0 failed, 0 passed alone, 0 skipped; [0-9]+ s to build, [0-9]+ s to test$' \
  '^0 passed alone' '^1 passed, 0 failed, 0 skipped$'
expect mixed 1 '^mixed +1 passed, 2 failed, 1 passed alone' '^ +some/busy: passed alone.* not in tests/unsteady: failed$' \
  '^ +some/broken: failed$' '^1 passed, 2 failed, 0 skipped$'
expect mixed 1 '^mixed +2 passed, 1 failed, 0 passed alone'
expect reported 1 '^reported +1 passed, 2 failed' '^ +some/race: failed$' '^ +some/busy: failed$' '^1 passed, 2 failed'
today=$(date +%F)
list unsteady "some/busy | $today | a file is not there yet" "some/left | $today | so is this"
expect left 0 '^left +1 passed, 0 failed, 2 passed alone' '^ +some/left: passed alone, three times$' \
  '^ +some/busy: passed alone, three times$' '^2 passed alone' '^1 passed, 0 failed, 0 skipped$'
expect leaky 1 '^leaky +1 passed, 2 failed' '^ +some/leak: failed$' '^ +some/busy: failed$'
list unsteady "some/busy | $(date -d '31 days ago' +%F) | a file is not there yet"
expect sound 1 '^tests/unsteady +0 passed, 1 failed \(some/busy is in it for more than 30 days' '^1 passed, 1 failed'
mapfile -t eleven < <(for i in {1..11}; do echo "some/busy$i | $today | a file is not there yet"; done)
list unsteady "${eleven[@]}"
expect sound 1 '^tests/unsteady +0 passed, 1 failed \(it has 11 lines'
list unsteady
expect lazy 1 '^lazy +3 passed, 2 failed, 0 passed alone, 2 skipped' \
  '^ +some/lazy: skipped, and is not in tests/skips: there is no broker: failed$' '^3 passed, 2 failed, 2 skipped$'
list skips "some/lazy | no broker | none can be had here" "some/lazier | no broker | that is not its reason"
expect lazy 1 '^lazy +3 passed, 1 failed, 0 passed alone, 2 skipped' '^ +some/lazy: skipped: there is no broker$' \
  '^ +some/lazier: skipped, and is not in tests/skips: there is no browser: failed$'

exit $((failures > 0))
