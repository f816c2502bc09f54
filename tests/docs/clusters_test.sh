#!/bin/bash
# The chapter from one machine to two (tools/docs/clusters.md), word by word, with addresses of loopback of its own: each
# command works, and prints what the page says.
set -eu
source=${MUSTER_SOURCE_DIR:?}
for program in nats-server etcd etcdctl; do
  command -v $program >/dev/null || { echo "clusters_test: no $program: not run (tools/setup)"; exit; }
done
build=$(dirname "${MUSTER:?}")
export MODULES=$build/modules PATH=$build:$PATH WORK=$(mktemp -d)
trap 'kill -9 $(cat "$WORK"/land/*.pid "$WORK"/land/brokers/*.pid "$WORK"/land/lost/brokers/*.pid) 2>/dev/null || true
  rm -rf "$WORK"' EXIT
mkdir -m 700 "$WORK/land"
net=127.$((1 + $$ % 250)).$((1 + $$ / 250 % 250))
sed "s/127\.0\.1\./$net./g" "$source/tools/docs/clusters.md" >"$WORK/clusters.md"
/usr/bin/python3 -B "$source/tests/readme/run_document" --strict --limit 120 --tree "$WORK/land" \
  --rules "$source/tests/docs/clusters.rules" "$WORK/clusters.md"
