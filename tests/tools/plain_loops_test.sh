#!/bin/bash
# Loops that are compiled twice give the same results on processors without wide vectors: worlds of herds, under the
# virtual clock, come to the same report, with the world's hash in it, in MUSTER and in MUSTER_PLAIN, which has the plain
# loops alone.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
  echo "FAILED: $*" >&2
  failed=1
}

# Or both would be the same program, and alike for no reason.
if nm "$MUSTER" | grep -q ' find_below\.avx2' && nm "$MUSTER_PLAIN" | grep -q ' find_below\.'; then
  fail "the plain program has loops for wide vectors, too"
fi

for seed in 7 8; do
  run="run herd --agents 65536 --observers 20 --frames 60 --hz 20 --budget 3ms --workers 2 --virtual --seed $seed"
  "$MUSTER" $run --json "$work/wide" >/dev/null || fail "cannot run: $run"
  "$MUSTER_PLAIN" $run --json "$work/plain" >/dev/null || fail "the plain program cannot run: $run"
  grep -q '"world_hash": "[0-9a-f]*[1-9a-f]' "$work/wide" || fail "the report has no hash"
  diff "$work/wide" "$work/plain" >&2 || fail "plain loops come to something else: $run"
  cp "$work/wide" "$work/seed$seed"
done
if cmp -s "$work/seed7" "$work/seed8"; then fail "the seed changes nothing"; fi
exit $failed
