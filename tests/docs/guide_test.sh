#!/bin/bash
# The guide (tools/docs/guide), word by word: its commands work, its blocks go where the text says, each chapter's program
# compiles with all warnings and prints what the page says, and the last one is tests/examples/server.c. The scripts of the
# last chapter print what it says. Its pictures are those that their script draws, its links lead somewhere, and mistakes
# that are planted into it are found.
set -u

source=${MUSTER_SOURCE_DIR:?}
guide=$source/tools/docs/guide
export BUILD=$(dirname "${MUSTER:?}") WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export HOME=$WORK PREFIX=$WORK/prefix
# What the machine knows by itself after an installation to /usr/local.
export PATH=$PREFIX/bin:$PATH LD_LIBRARY_PATH=$PREFIX/lib PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig
export PORT=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

follow() { # OPTION... DOCUMENT...
  /usr/bin/python3 -B "$source/tests/readme/run_document" --strict --limit 120 "$@"
}

# Runs the first two chapters with a mistake in them, which must be found.
plant() { # CHAPTER MISTAKE-AS-SED TEXT-OF-REPORT
  rm -rf "$WORK/guide" "$WORK/planted"
  cp -r "$guide" "$WORK/guide"
  mkdir "$WORK/planted"
  sed -i "$2" "$WORK/guide/$1"
  if cmp -s "$guide/$1" "$WORK/guide/$1"; then fail "'$2' changes nothing"; fi
  follow --tree "$WORK/planted" --rules "$WORK/compile.rules" "$WORK"/guide/[12]-*.md >"$WORK/report" 2>&1 &&
    fail "nobody noticed '$2' in $1"
  grep -qF -- "$3" "$WORK/report" || { fail "expected of '$2': $3"; cat "$WORK/report"; }
}

follow --tree "$source" --rules "$source/tests/docs/guide_begin.rules" "$guide/README.md" || fail "the introduction"
follow --tree "$WORK/pasture" --rules "$source/tests/docs/guide.rules" --rules "$source/tests/docs/guide_short.rules" \
  "$guide"/[1-6]-*.md || fail "the chapters"
diff "$WORK/pasture/server.c" "$source/tests/examples/server.c" || fail "the guide's program is not tests/examples/server.c"

mkdir "$WORK/hamlet"
follow --tree "$WORK/hamlet" --rules "$source/tests/docs/guide_scripts.rules" "$guide"/7-scripts.md || fail "the chapter on scripts"

grep '^#\|^^cc' "$source/tests/docs/guide_short.rules" >"$WORK/compile.rules"
plant 1-types.md 's/muster_update_move(update, to)/muster_update_move(update)/' 'too few arguments'
plant 1-types.md 's/^  double part = .*/&\n  int unused;/' 'unused variable'
plant 1-types.md 's/0\.3);/3.0);/; s/2 s: 2000 agents, 20000 updates/2 s: 2000 agents, 20001 updates/' 'printed something else'
plant 1-types.md 's/^Save this as .*/Now comes the program:/' 'the text does not say where this block belongs'
plant 2-observers.md 's/^Add the numbers. Replace `enum`/Add the numbers. Replace `numbers`/' 'no places are `numbers`'
plant 2-observers.md 's/  player.far_m = 80;/  player.far_m = 90;/' 'printed something else: ./server'

rm -rf "$WORK/planted"
mkdir "$WORK/planted"
sed 's/^  self.hunger = (self.hunger or 0.5) .*/  self.hunger = 2/' "$guide/7-scripts.md" >"$WORK/7-scripts.md"
follow --tree "$WORK/planted" --rules "$source/tests/docs/guide_scripts.rules" "$WORK/7-scripts.md" >"$WORK/report" 2>&1 &&
  fail "nobody noticed wolves that are always hungry"
grep -qF 'printed something else' "$WORK/report" || { fail "expected other figures"; cat "$WORK/report"; }

/usr/bin/python3 -B "$source/tools/pictures/diagrams.py" --check || fail "the pictures"
while IFS=: read -r file link; do
  [ -e "$guide/$link" ] || fail "$file leads to $link, which does not exist"
done < <(cd "$guide" && grep -oE '\]\([^)#:]+' ./*.md | sed 's/](//')

echo "$failures failures"
[ "$failures" -eq 0 ]
