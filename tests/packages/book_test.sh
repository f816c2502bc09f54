#!/bin/bash
# What `cmake --install` brings has the book and the examples that it names: each link of the book leads to a file that is
# installed, with the headings and the examples of the tree, and a host finds them by pkg-config alone.
set -eEu
. "$(dirname "$0")/consumer/found.bash"

quietly cmake --install "$build" --prefix "$work/prefix" --component dev
quietly cmake --install "$build" --prefix "$work/prefix" --component shared
doc=$work/prefix/share/doc/muster
[ -d "$doc" ] || doc=$(dirname "$(find "$work/prefix" -name book -type d)")

cat >"$work/links.py" <<'PY'
import os, re, sys
book, links, dead = sys.argv[1], 0, []
for folder, _, names in os.walk(book):
    for name in (name for name in names if name.endswith(".md")):
        text = open(f"{folder}/{name}", encoding="utf-8").read()
        text = re.sub(r"^(```|~~~).*?^\1$|`[^`\n]+`(?!\])", "", text, flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)\s#]+)", text):
            links += 1
            if not re.match(r"[a-z]+:", link) and not os.path.exists(os.path.join(folder, link)):
                dead.append(f"{folder}/{name}: {link}")
print("\n".join(dead) or f"{links} links")
sys.exit(bool(dead) or links < 300)
PY
links() {
  /usr/bin/python3 -B "$work/links.py" "$doc/book"
}
links || fail "a link of the installed book leads nowhere"
for page in README.md docs/README.md docs/embedding.md docs/guide/6-deployment.md docs/packaging.md; do [ -s "$doc/book/$page" ]; done
for example in first_server.c first_server.cpp pasture_test.c autosave.c journal_host.c pool_alone.c; do
  cmp "$MUSTER_SOURCE_DIR/tests/examples/$example" "$doc/examples/$example"
done
if grep -rlE '\]\((\.\./)*(src|tests|bench)/' "$doc/book"; then fail "a link into the source stayed"; fi

# The examples are built from where they are installed.
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name muster.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
cc "$doc/examples/pasture_test.c" "$doc/examples/pasture.c" $(pkg-config --cflags --libs muster) \
  "-Wl,-rpath,$(pkg-config --variable=libdir muster)" -lm -o "$work/pasture_test"
[ "$("$work/pasture_test")" = "4 tests passed" ]
# shellcheck disable=SC2046
cc "$doc/examples/pool_alone.c" $(pkg-config --cflags muster) "$(pkg-config --variable=libdir muster)/libmuster.a" \
  -lck -lxxhash -pthread -lm -o "$work/pool_alone"
"$work/pool_alone" | grep -qx '42 steps, and projectile 9999 is at 0.5 m'
if ldd "$work/pool_alone" | grep -q libmuster; then fail "it is linked with the shared library"; fi

# The test must see a link that leads nowhere.
rm "$doc/examples/journal_host.c"
if links >/dev/null; then fail "an example was taken away, and its link was not missed"; fi
