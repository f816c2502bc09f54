#!/bin/bash
# The alert rules for Prometheus: promtool accepts them, they fire when they should (alerts.yml beside this file), and
# each metric that they ask for is one that a running daemon exports.
set -eEu
. "$(dirname "$0")/consumer/found.bash"
rules=$MUSTER_SOURCE_DIR/src/service/dashboard/alerts.yml

if command -v promtool >/dev/null; then
  cp "$rules" "$work/rules.yml"
  cp "$MUSTER_SOURCE_DIR/tests/packages/alerts.yml" "$work"
  quietly promtool check rules "$work/rules.yml"
  quietly promtool test rules "$work/alerts.yml"
else
  echo "skipped: no promtool (tools/setup fetches it), so the rules were not judged"
fi

"$MUSTERD" --world main=wildlife --agents 100 --modules "$MUSTER_MODULES" --socket "$work/socket" \
  --snapshot-file "$work/worlds.snapshot" --log-level error &
daemon=$!
trap 'kill "$daemon" 2>/dev/null || :; wait "$daemon" || :; rm -rf "$work"' EXIT # it saves its world at its end
ask() { curl --silent --fail --unix-socket "$work/socket" "http://localhost/$1"; }
until ask readyz >/dev/null; do
  kill -0 "$daemon"
  sleep 0.1
done
ask metrics >"$work/metrics"
names=$(sed -n 's/^ *expr: //p' "$rules" | grep -o 'muster_[a-z_]*' | sort -u)
[ "$(wc -w <<<"$names")" -ge 10 ]
for name in $names; do
  case $name in muster_module_*) # of a module, which this world has not
    grep -qF "\"${name#muster_module_}\"" "$MUSTER_SOURCE_DIR"/src/*/metrics.c || fail "no module has the metric $name"
    continue ;;
  esac
  grep -q "^# TYPE $name " "$work/metrics" || fail "the rules ask for $name, which the daemon does not export"
done
# Labels that the texts name: the daemon's own, and those of the scrape.
for label in $(grep -o '\$labels\.[a-z]*' "$rules" | sort -u | cut -d. -f2); do
  case $label in instance | type) continue ;; esac # type: that of a crash
  grep -q "[{,]$label=\"" "$work/metrics" || fail "no metric has the label $label"
done
