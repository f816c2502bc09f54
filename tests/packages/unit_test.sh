#!/bin/bash
# The unit for systemd: what its processes could do to the rest of the machine is at most 0.3 of 10 more than 1.2, which it
# was while all worlds ran in one process; and its file is understood.
set -eEu
. "$(dirname "$0")/consumer/found.bash"
if ! command -v systemd-analyze >/dev/null; then
  echo "skipped: no systemd-analyze (Debian: systemd), so the unit was not judged"
  exit
fi
sed "s|@CMAKE_INSTALL_FULL_BINDIR@|$build|; s|@CMAKE_INSTALL_FULL_SYSCONFDIR@|/etc|" \
  "$MUSTER_SOURCE_DIR/src/service/etc/musterd.service.in" >"$work/musterd.service"
judge() { systemd-analyze security --offline=true --no-pager --threshold="$1" "$work/musterd.service"; }
judge 15 >"$work/judged" || fail "the unit is exposed more than 1.5: $(tail -1 "$work/judged")"
if judge 5 >/dev/null; then fail "systemd-analyze judges nothing"; fi
systemd-analyze verify "$work/musterd.service" >"$work/verified" 2>&1 || fail "$(cat "$work/verified")"
if [ -s "$work/verified" ]; then fail "$(cat "$work/verified")"; fi

# With the drop-in of a cluster it is understood, too, reaches no other network, and may do nothing else more.
mkdir "$work/musterd.service.d"
cp "$MUSTER_SOURCE_DIR/src/service/etc/musterd-cluster.conf" "$work/musterd.service.d/cluster.conf"
systemd-analyze verify "$work/musterd.service" >"$work/verified" 2>&1 || fail "$(cat "$work/verified")"
if [ -s "$work/verified" ]; then fail "of the drop-in: $(cat "$work/verified")"; fi
sed -i 's/^IPAddressAllow=10/#&/; s/^LoadCredential=nats/Frobnicate=nats/' "$work/musterd.service.d/cluster.conf"
systemd-analyze verify "$work/musterd.service" >"$work/verified" 2>&1 || true
grep -q Frobnicate "$work/verified" || fail "systemd-analyze does not read the drop-in"
