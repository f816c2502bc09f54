#!/bin/bash
# tools/test on a tree of a few tests: one that passes, one that always fails, one that fails beside others only, one in
# which a sanitizer reported what does not come twice, one that leaks what it had when it failed, and one that leaks.
set -u

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree="$work/tree"
mkdir -p "$tree/tools"
cp "$MUSTER_SOURCE_DIR/tools/test" "$tree/tools/test"
printf '#!/bin/sh\n' >"$tree/tools/setup"
chmod +x "$tree/tools/setup"
cat >"$tree/CMakePresets.json" <<'END'
{"version": 4, "configurePresets": [
  {"name": "sound", "generator": "Ninja", "binaryDir": "${sourceDir}/build/sound"},
  {"name": "mixed", "generator": "Ninja", "binaryDir": "${sourceDir}/build/mixed"},
  {"name": "reported", "generator": "Ninja", "binaryDir": "${sourceDir}/build/reported"},
  {"name": "left", "generator": "Ninja", "binaryDir": "${sourceDir}/build/left"},
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
if(NOT kind STREQUAL "sound")
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

expect sound 0 '^sound +1 passed, 0 failed' '^1 passed, 0 failed$'
expect mixed 1 '^mixed +2 passed, 1 failed' '^ +some/busy: on a busy machine only' '^ +some/broken$' '^2 passed, 1 failed$'
expect mixed 1 '^mixed +2 passed, 1 failed'
expect reported 1 '^reported +1 passed, 2 failed' '^ +some/race$' '^ +some/busy$' '^1 passed, 2 failed$'
expect left 0 '^left +3 passed, 0 failed' '^ +some/left: on a busy machine only' '^ +some/busy: on a busy machine only'
expect leaky 1 '^leaky +1 passed, 2 failed' '^ +some/leak$' '^ +some/busy$'

exit $((failures > 0))
