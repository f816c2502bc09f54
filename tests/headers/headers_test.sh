#!/bin/bash
# Every public header compiles by itself, in each language and by each compiler that a host may have, without a warning;
# and a host in C++ is built with them, linked with the shared library and run.
set -u
root=${MUSTER_SOURCE_DIR:?}
library=${MUSTER_LIBRARY:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
warnings="-pedantic -Wall -Wextra -Werror"
failed=0

# gcc and g++ come with tools/setup, and so does clang; where there is no clang, the test does without.
is_there() {
  command -v "$1" >/dev/null && return 0
  case $1 in
  clang*) echo "there is no $1: left out" ;;
  *) echo "there is no $1: run tools/setup" && failed=1 ;;
  esac
  return 1
}

# A program that includes the header alone, as a host's would. Two at a time.
check_headers() { # compiler, language, standard
  for header in "$root"/include/muster/*.h; do
    echo "#include <muster/${header##*/}>" >"$work/${header##*/}.$2"
  done
  # shellcheck disable=SC2086
  printf '%s\n' "$work"/*."$2" |
    xargs -P 2 -n 10 "$1" -x "$2" "-std=$3" $warnings -I "$root/include" -fsyntax-only || {
    echo "$1 -std=$3 refuses a header that is included alone"
    failed=1
  }
}

check_host() { # compiler, standard
  # shellcheck disable=SC2086
  if "$1" "-std=$2" $warnings -I "$root/include" "$root/tests/headers/host.cpp" -o "$work/host" "$library" \
    "-Wl,-rpath,$(dirname "$library")" && [ "$("$work/host")" = "all of it ran" ]; then
    return
  fi
  echo "$1 -std=$2: the host in C++ cannot be built, or fails"
  failed=1
}

for compiler in gcc clang; do
  is_there $compiler || continue
  for standard in c11 c17; do check_headers $compiler c $standard; done
done
for compiler in g++ clang++; do
  is_there $compiler || continue
  for standard in c++17 c++20; do
    check_headers $compiler c++ $standard
  done
  check_host $compiler c++17
done
exit $failed
