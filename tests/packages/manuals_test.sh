#!/bin/bash
# The manual pages: mandoc has nothing to say about them, and every command, option and setting of the programs stands in
# them, as the programs' own tables say.
set -eEu
. "$(dirname "$0")/consumer/found.bash"
command -v mandoc >/dev/null || fail "no mandoc; tools/setup installs it"

manuals=$build/manuals
mkdir -p "$work/man"
for page in muster.1 musterd.8 musterd.conf.5; do
  # Pages that are not installed here are looked for by the name that the build gave them.
  mandoc -Tlint "$manuals/$page" 2>/dev/null >"$work/lint" || :
  while read -r line; do
    read -r name section < <(sed -n 's/.*referenced manual not found: Xr \([^ ]*\) \([0-9]\).*/\1 \2/p' <<<"$line")
    [ -n "$name" ] && { [ -e "$manuals/$name.$section" ] || [ "$name" = systemctl ]; } && continue
    fail "$line"
  done <"$work/lint"
  # Rendered, one word a line, as a reader sees it.
  mandoc -Tutf8 "$manuals/$page" | sed 's/.\x08//g; s/[‐−]/-/g' | tr -s ' \n' '\n' >"$work/man/$page"
  gzip -dc "$manuals/$page.gz" | cmp - "$manuals/$page"
done
grep -q . <(mandoc -Tlint <<<'.Dd nothing' 2>/dev/null) || fail "mandoc says nothing of a page that is none"

# A word in a page, with what may stand around it.

stands() { # PAGE WORD
  grep -qE -e "^[([‘]*$2([],.:;)=’|].*)?$" "$work/man/$1" || fail "$1 does not name $2"
}

counted=0
expect() { # PAGE WORD...
  local page=$1 word
  shift
  for word; do
    stands "$page" "$word"
    counted=$((counted + 1))
  done
}

# By the tables that read the options, not by their help.
listed() { "$MUSTER" "$@" --help-options | tr -d = ; }
first() { # words of the list in a help text
  COLUMNS=80 "$MUSTER" "$@" --help | awk '/^usage:/ { on = 1; next } on && /^  [a-z]/ { print $1; some = 1 } some && /^$/ { exit }'
}
mapfile -t commands < <(first)
[ "${#commands[@]}" -ge 8 ]
for command in "${commands[@]}"; do
  expect muster.1 "$command"
  for option in $(listed "$command"); do
    # `muster explain` asks a daemon as `muster ctl` does, which takes its --agent for that.
    [ "$option" = --help ] || [ "$command $option" = "ctl --agent" ] ||
      COLUMNS=80 "$MUSTER" "$command" --help | grep -q -e "$option\b" || fail "muster $command --help does not name $option"
    expect muster.1 "$option"
  done
done
mapfile -t benches < <(first bench)
[ "${#benches[@]}" -gt 12 ]
for bench in "${benches[@]}"; do
  # shellcheck disable=SC2046
  expect muster.1 "$bench" $(listed bench "$bench")
done
# shellcheck disable=SC2046
expect muster.1 $(first ctl)

# A setting is a key of the file, and an option of the daemon; the shipped file names each key.
mapfile -t keys < <(sed -n 's/^# \([a-z_]*\) = .*/\1/p; s/^\([a-z_]*\) = .*/\1/p' "$MUSTER_SOURCE_DIR/src/service/etc/musterd.conf")
mapfile -t flags < <(COLUMNS=80 "$MUSTERD" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p')
[ "${#keys[@]}" -gt 25 ] && [ "${#flags[@]}" -gt 25 ]
expect musterd.conf.5 "${keys[@]}"
expect musterd.8 "${flags[@]}"
echo "$counted words"
