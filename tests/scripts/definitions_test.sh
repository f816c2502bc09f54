#!/bin/bash
# The definitions for the Lua language server name everything that the library offers, and nothing else; mistakes that are
# planted into them are found.
set -u

source=${MUSTER_SOURCE_DIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

check() { /usr/bin/python3 -B "$source/tests/scripts/definitions.py" "${MUSTER:?}" "$source" "$@"; }

plant() { # MISTAKE-AS-SED TEXT-OF-REPORT
  sed "$1" "$source/tools/lua/muster.lua" >"$work/muster.lua"
  if cmp -s "$work/muster.lua" "$source/tools/lua/muster.lua"; then echo "'$1' changes nothing"; failures=$((failures + 1)); fi
  if check "$work/muster.lua" >"$work/report" 2>&1 || ! grep -qF -- "$2" "$work/report"; then
    echo "expected of '$1': $2"
    cat "$work/report"
    failures=$((failures + 1))
  fi
}

check || failures=$((failures + 1))
plant '/^function muster.send/d' "muster: 'send' is not defined"
plant 's/^function muster.send(/function muster.sends(/' "muster: 'sends' is defined, and not offered"
plant '/^---@field cuts_max/d' "type: 'cuts_max' is not defined"
plant 's/^---@field wake_at /---@field woken_at /' "self: 'wake_at' is not defined"
plant 's/^function muster.now() end/function muster.now() ende/' 'the definitions are no Lua'

echo "$failures failures"
[ "$failures" -eq 0 ]
