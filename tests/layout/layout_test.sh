#!/bin/bash
# What layout.json says of the public interface is what C does; and a language that knows only that can drive the library.
set -u
root=${MUSTER_SOURCE_DIR:?}
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$root/tests/layout/layout_test.py" "$root" "${MUSTER_LIBRARY:?}" "${MUSTER_LAYOUT:?}" "${COMPILER:-cc}"
