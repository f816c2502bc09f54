#!/usr/bin/python3
"""What the front costs a request: wrk against one world in musterd's own process, and in one of its own, in turns.

Wants a release build and wrk (Debian's package of that name). Run it from the root:

    bench/front/front.py [PAIRS [SECONDS [CONNECTIONS]]]       default 5 pairs of each route, of 5 s, by 16 connections

FLAGS in the environment are more flags of musterd, such as "--workers 1"; BUILD is the build's folder.

The daemon runs at real-time priority where that is allowed: its frames are not what is measured, and wrk takes what
they leave. Each pair starts both daemons anew and turns round which one begins.
"""
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("BUILD", "build/release")
ROUTES = ["/v1/worlds/main", "/v1/worlds/main/agents?limit=500"]
FLAGS = os.environ.get("FLAGS", "").split()
UNITS = {"us": 1e-3, "ms": 1, "s": 1e3}
PATIENCE_S = 60


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def real_time():
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(20))
    except PermissionError:
        pass


class Daemon:
    """A musterd with a world of 100,000 animals, ready when it is made."""

    def __init__(self, isolation):
        self.folder, self.port = tempfile.mkdtemp(prefix="muster-front-"), free_port()
        log = f"{self.folder}/log"
        with open(log, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen(  # pylint: disable=subprocess-popen-preexec-fn
                [f"{BUILD}/musterd", "--isolation", isolation, "--modules", f"{BUILD}/modules", "--world",
                 "main=wildlife", "--agents", "100000", "--budget", "4ms", "--hz", "30", *FLAGS, "--socket",
                 f"{self.folder}/control", "--listen", f"127.0.0.1:{self.port}"],
                stdout=out, stderr=out, preexec_fn=real_time)
        end = time.monotonic() + PATIENCE_S
        while "ready" not in open(log, encoding="utf-8").read():
            assert self.process.poll() is None and time.monotonic() < end, open(log, encoding="utf-8").read()
            time.sleep(0.05)
        time.sleep(2)  # the agents come in, and the first frames' costs are learnt

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)


def number(text, pattern):
    found = re.search(pattern, text)
    assert found, text
    return found


def measure(isolation, route, seconds, connections):
    """Requests a second, and the 99th percentile of their times in ms."""
    daemon = Daemon(isolation)
    try:
        text = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency",
                               f"http://127.0.0.1:{daemon.port}{route}"], check=True, capture_output=True,
                              text=True).stdout
    finally:
        daemon.close()
    assert "Non-2xx" not in text, text
    slow = number(text, r"99%\s+([\d.]+)(us|ms|s)")
    return float(number(text, r"Requests/sec:\s+([\d.]+)")[1]), float(slow[1]) * UNITS[slow[2]]


def compare(route, pairs, seconds, connections):
    found = {"none": [], "process": []}
    for pair in range(pairs):
        for isolation in sorted(found, reverse=pair % 2 == 1):
            found[isolation].append(measure(isolation, route, seconds, connections))
            print(f"  {isolation:8} {found[isolation][-1][0]:9.0f} requests/s, p99 {found[isolation][-1][1]:8.3f} ms",
                  flush=True)
    rate, slow = ({kind: statistics.median(run[part] for run in runs) for kind, runs in found.items()}
                  for part in (0, 1))
    print(f"{route}: medians {rate['none']:.0f} and {rate['process']:.0f} requests/s, "
          f"{rate['process'] / rate['none']:.2f} of them; p99 {slow['none']:.3f} and {slow['process']:.3f} ms, "
          f"{slow['process'] / slow['none']:.2f} times", flush=True)


def main():
    pairs, seconds, connections = ([int(text) for text in sys.argv[1:]] + [5, 5, 16][len(sys.argv) - 1:])[:3]
    for route in ROUTES:
        compare(route, pairs, seconds, connections)


main()
