#!/bin/bash
# The daemon against its description, by Debian's own Python: tools/setup installs what it needs.
set -u
folder=$(dirname "$0")
for module in jsonschema yaml; do
  /usr/bin/python3 -c "import $module" 2>/dev/null || { echo "Python's $module is missing: run tools/setup" >&2; exit 1; }
done
for isolation in process none; do
  MUSTER_TEST_ISOLATION=$isolation /usr/bin/python3 "$folder/openapi_test.py" || exit 1
done
