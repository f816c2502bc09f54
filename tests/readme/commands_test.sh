#!/bin/bash
# The commands of README.md and of the book, in short forms, on what is built here: in a copy of the tree whose
# build/release leads there. What they print is compared with what the book shows, and with outputs.rules. The bare root
# of tools/test --long runs them word by word. The chapter on clusters has a test of its own (tests/docs).
set -eu

source=${MUSTER_SOURCE_DIR:?}
build=$(dirname "${MUSTER:?}")
export WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
mkdir -p "$WORK/tree/build/release"
# What the tree has, and what is built there; not what somebody who followed the book has left beside it.
for entry in CMakeLists.txt CMakePresets.json LICENSE README.md bench include src tests tools; do
  ln -s "$source/$entry" "$WORK/tree/"
done
find "$build" -mindepth 1 -maxdepth 1 \( -type d -o -executable -o -name '*.a' -o -name 'C*' -o -name '*.cmake' \
  -o -name '*.ninja' \) -exec ln -s -t "$WORK/tree/build/release/" '{}' +

export PREFIX=$WORK/prefix
# What the machine knows by itself after an installation to /usr/local.
export PATH=$PREFIX/bin:$PATH LD_LIBRARY_PATH=$PREFIX/lib PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig CPATH=$PREFIX/include
export TERM=${TERM:-xterm} # for muster top
/usr/bin/python3 -B "$source/tests/readme/run_document" --apart --compared --tree "$WORK/tree" \
  --rules "$source/tests/readme/any.rules" --rules "$source/tests/readme/outputs.rules" \
  --rules "$source/tests/readme/short.rules" "$source/README.md" $(ls "$source"/tools/docs/[[:lower:]]*.md | grep -v /clusters.md) \
  "$source/tools/packaging/README.md"
