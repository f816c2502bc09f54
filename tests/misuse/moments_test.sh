#!/bin/bash
# Every public function, called at every moment, answers as the words of its header say.
set -u
root=${MUSTER_SOURCE_DIR:?}
export PYTHONDONTWRITEBYTECODE=1
outcomes=$(mktemp)
trap 'rm -f "$outcomes"' EXIT
"${MUSTER_MOMENTS:?}" >"$outcomes" || exit 1
python3 "$root/tests/misuse/moments.py" "$root" --check "$outcomes"
