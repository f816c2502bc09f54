#!/bin/bash
# tools/demo on what is built here: the page's address is told when the page answers, and nothing is left of it however it
# ends. MUSTERD names the daemon. In a tree of its own, where nothing is installed or built.
set -u

work=$(mktemp -d)
demo='' daemon=''
trap '[ -z "$demo" ] || kill -KILL -- "-$demo" 2>/dev/null; [ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null; rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

program() { # FILE, its text on standard input
  { echo '#!/bin/sh' && cat; } >"$1" && chmod +x "$1"
}

make_tree() {
  mkdir -p "$work/tree/tools" "$work/tree/build/release" "$work/bin" "$work/tmp"
  cp "${MUSTER_SOURCE_DIR:?}/tools/demo" "$work/tree/tools/"
  ln -s "${MUSTER_MODULES:?}" "$work/tree/build/release/modules"
  program "$work/tree/tools/setup" <<<"echo setup >>'$work/called'"
  program "$work/bin/cmake" <<<"echo cmake \"\$@\" >>'$work/called'"
  program "$work/tree/build/release/muster" <<<"echo muster \"\$@\" >>'$work/called'"
  program "$work/tree/build/release/musterd" <<<"echo \$\$ >'$work/pid'; exec '${MUSTERD:?}' \"\$@\""
  export TMPDIR=$work/tmp PATH=$work/bin:$PATH
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Starts it in a process group of its own, as a terminal does, and reads up to the address.
start_live() { # PORT
  local line
  rm -f "$work/output" "$work/pid"
  mkfifo "$work/output"
  env --default-signal=HUP,INT,TERM setsid "$work/tree/tools/demo" --live --agents 500 --listen "127.0.0.1:$1" \
    >"$work/output" 2>"$work/log" &
  demo=$! address=''
  exec 3<"$work/output"
  while read -r -t 100 -u 3 line; do
    case $line in *' open http://'*) address=${line#* open } && break ;; esac
  done
  daemon=$(cat "$work/pid")
}

# Waits until the demo has ended, of which nothing may be left.
expect_nothing_left() { # NAME
  wait "$demo"
  demo=''
  exec 3<&-
  if kill -0 "$daemon" 2>/dev/null; then fail "$1: the daemon goes on"; else daemon=''; fi
  [ -z "$(ls -A "$TMPDIR")" ] || fail "$1: left in the temporary folder: $(find "$TMPDIR")"
}

check_signal() { # SIGNAL PROCESS-OR-GROUP
  start_live "$(free_port)"
  [ -n "$address" ] || { fail "$1: no address; $(cat "$work/log")" && return; }
  curl --silent --show-error --fail --output /dev/null "${address%%#*}readyz" || fail "$1: $address is told, but does not answer"
  echo "${address##*=}" >"$work/token"
  "${MUSTER:?}" ctl --url "${address%%/#*}" --token-file "$work/token" pause >/dev/null ||
    fail "$1: the token of the address is another"
  kill -s "$1" -- "$2$demo"
  expect_nothing_left "SIG$1"
}

check_taken_port() {
  local port
  port=$(free_port)
  start_live "$port"
  local first=$demo first_daemon=$daemon
  start_live "$port"
  [ -z "$address" ] || fail "an address is told whose port is another's: $address"
  wait "$demo" && fail "it ends well without a page"
  grep -q "$port" "$work/log" || fail "it does not say which address is taken: $(cat "$work/log")"
  demo=$first daemon=$first_daemon
  kill "$demo"
  expect_nothing_left "after a taken port"
}

check_help() {
  local flag
  for flag in --help -h; do
    rm -f "$work/called"
    "$work/tree/tools/demo" $flag | grep -q 'tools/demo --live' || fail "$flag shows no help"
    [ ! -e "$work/called" ] || fail "$flag does more than that: $(cat "$work/called")"
  done
}

check_run() {
  rm -f "$work/called"
  "$work/tree/tools/demo" --frames 3 >/dev/null || fail "it ends with $?"
  [ "$(sed 's/^\(cmake\) .*/\1/' "$work/called" | tr '\n' ';')" = "setup;cmake;cmake;muster run wildlife --frames 3;" ] ||
    fail "it calls: $(cat "$work/called")"
  [ -z "$(ls -A "$TMPDIR")" ] || fail "a run leaves in the temporary folder: $(ls -A "$TMPDIR")"
}

make_tree
check_help
check_run
check_signal TERM ''
check_signal INT - # Ctrl-C: all processes of the terminal
check_signal HUP -
check_taken_port
echo "$failures failures"
[ "$failures" -eq 0 ]
