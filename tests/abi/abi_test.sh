#!/bin/bash
# The binary interface is the one that tests/abi/muster.abi keeps, but for additions; and tools/abi can tell.
set -u
root=${MUSTER_SOURCE_DIR:?}
export PYTHONDONTWRITEBYTECODE=1
"$root/tools/abi" --root "$root" || exit 1
exec python3 "$root/tests/abi/plants.py" "$root"
