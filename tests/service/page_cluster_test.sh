#!/bin/bash
# The demo of a cluster and its page: see page_test.sh for what it wants.
set -u
folder=$(dirname "$0")
PATH=$PATH:/usr/sbin
for program in /usr/bin/python3 /usr/bin/chromium /usr/bin/chromedriver; do
  [ -x "$program" ] || { echo "$program is missing: run tools/setup" >&2; exit 1; }
done
for program in nats-server etcd; do
  command -v "$program" >/dev/null || { echo "skipped: $program is not installed"; exit 0; }
done
exec /usr/bin/python3 "$folder/page_cluster_test.py"
