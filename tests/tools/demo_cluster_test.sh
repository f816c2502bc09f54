#!/bin/bash
# tools/demo --cluster on what is built here: what it refuses, and that nothing is left of it however it ends. The browser
# test service/page_cluster runs it to its end. In a tree of its own, where nothing is installed or built.
set -u

work=$(mktemp -d)
demo=''
trap '[ -z "$demo" ] || kill -KILL -- "-$demo" 2>/dev/null; rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

program() { # FILE, its text on standard input
  { echo '#!/bin/sh' && cat; } >"$1" && chmod +x "$1"
}

make_tree() {
  mkdir -p "$work/tree/tools" "$work/tree/build/release" "$work/tree/src/service/etc" "$work/bin" "$work/tmp"
  cp "${MUSTER_SOURCE_DIR:?}/tools/demo" "$MUSTER_SOURCE_DIR/tools/demo-cluster" "$work/tree/tools/"
  cp "$MUSTER_SOURCE_DIR/src/service/etc/nats-server.conf" "$work/tree/src/service/etc/"
  ln -s "${MUSTER_MODULES:?}" "$work/tree/build/release/modules"
  ln -s "${MUSTERD:?}" "$work/tree/build/release/musterd"
  ln -s "${MUSTER:?}" "$work/tree/build/release/muster"
  program "$work/tree/tools/setup" <<<"echo setup >>'$work/called'"
  program "$work/bin/cmake" <<<"echo cmake >>'$work/called'"
  export TMPDIR=$work/tmp
}

run() { # ARGUMENT..., to its end
  PATH=$work/bin:$PATH "$work/tree/tools/demo" --cluster "$@" >"$work/log" 2>&1
}

expect_refusal() { # WORDS ARGUMENT...
  local words=$1
  shift
  run "$@" && fail "--cluster $* ends well"
  grep -qF -- "$words" "$work/log" || fail "--cluster $* does not say '$words': $(cat "$work/log")"
  [ -z "$(ls -A "$TMPDIR")" ] || fail "--cluster $*: left in the temporary folder: $(ls -A "$TMPDIR")"
}

check_options() {
  expect_refusal "--agents is 'many'" --agents many
  expect_refusal "--agents is ''" --agents
  expect_refusal '9 or more' --agents=8
  expect_refusal "--agents is '1000000'" --agents 1000000
  expect_refusal '1 to 65524' --port 65525
  expect_refusal '1 to 65524' --port=0
  expect_refusal 'no option --frames' --frames 3
  [ "$(sort "$work/called" | uniq -c | tr -s ' \n' ' ')" = ' 14 cmake 7 setup ' ] ||
    fail "it builds nothing, or something else: $(cat "$work/called")"
}

# With a PATH that has none of the brokers' programs; it looks in /usr/sbin all the same.
check_missing() {
  local name words='apt install'
  [ -x /usr/sbin/nats-server ] || words="$words nats-server"
  [ -x /usr/sbin/etcd ] || words="$words etcd-server"
  [ "$words" != 'apt install' ] || return 0
  mkdir "$work/few"
  for name in cat dirname mktemp rm sh; do ln -s "$(command -v $name)" "$work/few/$name"; done
  ln -s "$work/bin/cmake" "$work/few/cmake"
  PATH=$work/few /bin/sh "$work/tree/tools/demo" --cluster >"$work/log" 2>&1 && fail "it ends well without its brokers"
  grep -qx "tools/demo: install these Debian packages first: $words" "$work/log" ||
    fail "it does not say what to install ($words): $(cat "$work/log")"
}

free_ports() {
  python3 - <<'END'
import random, socket
while True:
    first = random.randrange(15000, 32000)
    try:
        for port in range(first, first + 12):
            with socket.socket() as one:
                one.bind(("127.0.0.1", port))
    except OSError:
        continue
    print(first)
    break
END
}

count_listeners() { # FIRST
  python3 -c 'import socket, sys
first = int(sys.argv[1])
print(sum(socket.socket().connect_ex(("127.0.0.1", port)) == 0 for port in range(first, first + 12)))' "$1"
}

# Waits for up to two minutes.
until_true() { # WHAT COMMAND...
  local what=$1 i
  shift
  for ((i = 0; i < 600; i++)); do
    "$@" && return
    sleep 0.2
  done
  fail "$what does not come true: $(cat "$work/log")"
}

is_silent() { # FIRST
  [ "$(count_listeners "$1")" = 0 ]
}

# Starts it, and waits until it has said that.
start_and_await() { # WORDS
  port=$(free_ports)
  : >"$work/log"
  env --default-signal=HUP,INT,TERM setsid "$work/tree/tools/demo-cluster" "$work/tree/build/release" --agents 90 \
    --port "$port" >"$work/log" 2>&1 &
  demo=$!
  until_true "'$1'" grep -q "$1" "$work/log"
}

check_end() { # WORDS SIGNAL PROCESS-OR-GROUP
  start_and_await "$1"
  kill -s "$2" -- "$3$demo"
  wait "$demo" 2>/dev/null
  demo=''
  until_true "silence after SIG$2 at '$1'" is_silent "$port"
  [ "$2" = KILL ] || [ -z "$(ls -A "$TMPDIR")" ] || fail "SIG$2 at '$1': left in the temporary folder: $(find "$TMPDIR")"
  rm -rf "${TMPDIR:?}"/*
}

check_taken_port() {
  port=$(free_ports)
  python3 -c 'import socket, sys, time
one = socket.socket()
one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
one.bind(("127.0.0.1", int(sys.argv[1])))
one.listen()
print("listens", flush=True)
time.sleep(600)' $((port + 4)) >"$work/taken" &
  local other=$!
  until_true 'a taken port' grep -q listens "$work/taken"
  expect_refusal "Ports $port to $((port + 11)) have to be free" --agents 90 --port "$port"
  kill "$other"
  wait "$other" 2>/dev/null
  until_true 'silence after a taken port' is_silent "$port"
}

make_tree
check_options
check_missing
if command -v nats-server >/dev/null && command -v etcd >/dev/null; then
  check_taken_port
  check_end 'starting three nats-server' TERM ''
  check_end 'of 9 zones run' INT -
  check_end '9 of 9 zones run' HUP ''
  check_end 'Ctrl-C ends all' KILL ''
else
  echo "nats-server and etcd are not installed: it is not started"
fi
echo "$failures failures"
[ "$failures" -eq 0 ]
