# found.sh - sourced by the tests of CMake packages: they build tests/packages/consumer and compare what its programs say.
: "${MUSTER_SOURCE_DIR:?names the tree}" "${MUSTER:?names the program}"
build=$(dirname "$MUSTER")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "$(basename "$0"): failed: $BASH_COMMAND" >&2' ERR

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

# Runs a command; shows what it printed only when it fails.
quietly() {
  "$@" >"$work/log" 2>&1 && return 0
  cat "$work/log" >&2
  return 1
}

# The one world, in C and C++, whatever it was linked with.
check_servers() { # FOLDER PROGRAM...
  local folder=$1 expected=
  shift
  for program; do
    "$folder/$program" 1 1 virtual >"$work/said"
    grep -q ' s: 2000 NPCs, ' "$work/said"
    [ -n "$expected" ] || expected=$(cat "$work/said")
    diff - "$work/said" <<<"$expected"
  done
}
