#!/bin/bash
# What is too long for every push was run a hundred commits ago or later: all long tests of this build, and things. Before
# that, in a tree of its own, check finds a line that is missing, too old or of another branch.
set -u

here=${MUSTER_SOURCE_DIR:?}/tests/seldom
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAILED: $1" >&2
  cat "$work/report" >&2
  failures=$((failures + 1))
}

tree=$work/tree
in_tree() { git -C "$tree" -c user.name=test -c user.email=test@example.org "$@"; }
commits() { # NUMBER
  local i
  for ((i = 0; i < $1; i++)); do echo "commit refs/heads/main
committer test <test@example.org> $((1000 + i)) +0000
data 0
${from:+from $from
}"; from=; done | in_tree fast-import --quiet --force
}

expect() { # STATUS TEXT NAME
  echo long/one | "$here/check" "$tree" >"$work/report" 2>&1
  local status=$?
  { [ $status -eq "$1" ] && grep -qF -- "$2" "$work/report"; } || fail "$3: $status instead of $1, or not: $2"
}

write() { # LINE
  printf '%s\n' '# a head' "$1" 'long/one_more 2026-01-01 0123456789ab owed' >"$tree/tests/seldom/last_runs"
}

mkdir -p "$tree/tests/seldom"
write 'long/one 2026-01-01 0123456789ab owed'
expect 0 'skipped: no working tree of git' 'a tree without git'
git init --quiet --initial-branch main "$tree"
from='' && commits 1
first=$(in_tree rev-parse HEAD)
write "long/one 2026-01-01 $first passed in 7 s: all well"
expect 0 '1 names, 0 failures' 'the commit itself'
from=$first && commits 100
expect 0 '1 names, 0 failures' 'a hundred commits ago'
from=refs/heads/main^0 && commits 1
expect 1 'long/one was last run on 2026-01-01, 101 commits ago: 100 are allowed' 'one more'
write "long/one 2026-01-01 $(in_tree rev-parse main~20) failed in 7 s: 66 of 100"
expect 0 'failed when they were run last: 1' 'twenty commits that it failed'
write "long/one 2026-01-01 $(in_tree rev-parse main~21) failed in 7 s: 66 of 100"
expect 1 'long/one was last run on 2026-01-01, failed first 21 commits ago: 20 are allowed' 'one more that it failed'
write 'long/other 2026-01-01 0123456789ab owed'
expect 1 'long/one has no line' 'a line that is missing'
write 'long/one 2026-01-01 0123456789ab owed'
expect 1 'long/one was last run on 2026-01-01 at 0123456789ab, which is no ancestor' 'a commit that is nowhere'
other=$(in_tree commit-tree -m other "$(in_tree mktree </dev/null)")
write "long/one 2026-01-01 $other owed"
expect 1 "no ancestor of this commit: tests/seldom/run long/one" 'a commit of another branch'
"$here/check" "$tree" </dev/null >"$work/report" 2>&1 && fail 'no name at all passes'
git clone --quiet --depth 1 "file://$tree" "$work/shallow" && mkdir -p "$work/shallow/tests/seldom"
tree=$work/shallow
expect 0 'skipped: a shallow clone' 'a shallow clone'

# What is run is written down, and replaces the line before; what fails again keeps the commit at which it failed first.
tree=$work/running
mkdir -p "$tree/tests/seldom" && git init --quiet --initial-branch main "$tree"
cp "$here/run" "$tree/tests/seldom/"
printf '%s\n' '# a head' 'good  echo begin; echo; printf "\033[1mall   well\033[0m\n\n"' 'set/bad  echo begin; false' \
  >"$tree/tests/seldom/things"
printf '%s\n' '# a head' 'good 2026-01-01 0123456789ab owed' 'set/bad 2026-01-01 0123456789ab owed' >"$tree/tests/seldom/last_runs"
in_tree add . && in_tree commit --quiet -m first
"$tree/tests/seldom/run" set/bad good no-such-thing >"$work/report" 2>&1 && fail 'what fails passes'
grep -q '^run: things does not name no-such-thing' "$work/report" || fail 'what there is not is named'
grep -Eqx "good +$(date +%Y-%m)-[0-9]+ $(in_tree rev-parse --short=12 HEAD) passed in [0-9]+ s: all well" \
  "$tree/tests/seldom/last_runs" || fail 'what passed is written down'
[ "$(grep -c . "$tree/tests/seldom/last_runs")" -eq 3 ] || fail 'each thing has one line'
failed="set/bad +$(date +%Y-%m)-[0-9]+ $(in_tree rev-parse --short=12 HEAD) failed in [0-9]+ s: begin"
grep -Eqx "$failed" "$tree/tests/seldom/last_runs" || fail 'what failed is written down'
in_tree commit --quiet -am second
"$tree/tests/seldom/run" set/bad >"$work/report" 2>&1 && fail 'what fails again passes'
grep -Eqx "$failed" "$tree/tests/seldom/last_runs" || fail 'what fails again has failed since the same commit'
"$tree/tests/seldom/run" good >"$work/report" 2>&1 || fail 'a second run beside the lines of the first'
touch "$tree/new"
"$tree/tests/seldom/run" good >"$work/report" 2>&1 && fail 'a tree that is no commit passes'
grep -q 'no commit' "$work/report" || fail 'and is told'

echo "$failures failures in planted trees"
[ "$failures" -eq 0 ] || exit 1

# And now this tree.
{
  ctest --test-dir "$(dirname "${MUSTER:?}")" -C long -N -L long | sed -n 's/^ *Test *#[0-9]*: \(long\/.*\)$/\1/p'
  sed -n 's/^\([^# ][^ ]*\)  .*/\1/p' "$here/things"
} | "$here/check" "$MUSTER_SOURCE_DIR"
