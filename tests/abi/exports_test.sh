#!/bin/bash
# The shared library exports the functions that the public headers declare with MUSTER_API, all of them under its symbol
# version, and nothing else. Programs that load modules export them, too.
set -u
root=${MUSTER_SOURCE_DIR:?}
library=${MUSTER_LIBRARY:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# The dynamic symbols that a file defines, without the names of the versions themselves: name@@version.
exported() {
  nm --dynamic --defined-only --with-symbol-versions "$1" | awk '$2 != "A" { print $3 }' | sort
}

version_of() { # a part of MUSTER_VERSION
  sed -n "s/^#define MUSTER_VERSION_$1 //p" "$root/include/muster/common.h"
}

same() { # what is declared, what is exported
  diff "$1" "$2" >"$work/difference" && return 0
  sed -n 's/^< /declared and not exported: /p; s/^> /exported and not declared: /p' "$work/difference"
  return 1
}

exported "$library" >"$work/exported"
"$root/tools/layout/layout" --exported --root "$root" >"$work/names" || exit 1
sed "s/\$/@@MUSTER_$(version_of MAJOR).$(version_of MINOR)/" "$work/names" | sort >"$work/declared"
if [ ! -s "$work/declared" ] || ! same "$work/declared" "$work/exported"; then failed=1; fi

if [ -n "${MUSTERD:-}" ]; then
  nm --dynamic --defined-only "$MUSTERD" | awk '{ print $3 }' | grep '^muster_' | sort >"$work/daemon"
  sort -o "$work/names" "$work/names"
  same "$work/names" "$work/daemon" || { echo "in $MUSTERD"; failed=1; }
fi

# The test must see a function that is missing, one too many, and one without a version.
for plant in '1d' '1a muster_planted@@MUSTER_0.0' '1s/@@.*//'; do
  sed "$plant" "$work/exported" | sort >"$work/planted"
  if same "$work/declared" "$work/planted" >"$work/said"; then
    echo "'$plant' was planted into what is exported, and not seen"
    failed=1
  fi
done
mkdir -p "$work/copy/include"
cp -r "$root/include/muster" "$work/copy/include/"
echo 'MUSTER_API void muster_planted(void);' >>"$work/copy/include/muster/common.h"
if ! "$root/tools/layout/layout" --exported --root "$work/copy" | grep -qx muster_planted; then
  echo "a function that was added to a header was not found"
  failed=1
fi
exit $failed
