#!/usr/bin/python3
"""What a live page costs the frames: 100,000 agents, own overrun per frame with a page open and without, in turns.

Wants a release build and what the page's test wants (tools/setup). Run it from the root:

    chrt -f 10 bench/page/overrun.py [WINDOWS [SECONDS]]       default 8 windows of each kind, of 10 s

The browser runs at the lowest priority, as if it were on another machine: it is the daemon that is measured.
"""
import os
import re
import statistics
import sys
import time
import urllib.request

BUILD = os.environ.get("BUILD", "build/release")
os.environ.setdefault("MUSTERD", f"{BUILD}/musterd")
os.environ.setdefault("MUSTER_MODULES", f"{BUILD}/modules")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "service"))
sys.dont_write_bytecode = True

from page_daemon import TOKEN, Browser, Daemon  # noqa: E402

FLAGS = ["--workers", "1", "--budget", "8ms", "--hz", "30", "--audit=yes"]


def sums(daemon):
    """Frames since the start, the sum of their own overruns in seconds, and those that overran by 0.1 ms at most."""
    with urllib.request.urlopen(f"{daemon.address}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    own = re.findall(r'^muster_overrun_own_seconds_(?:count|sum|bucket){world="main"(?:,le="0.0001")?} (\S+)$', text, re.M)
    kept, whole, frames = map(float, own)
    return frames, whole, kept


def window(daemon, seconds):
    """Mean own overrun of a frame, us, and the share of frames that overran by more than 0.1 ms."""
    before = sums(daemon)
    time.sleep(seconds)
    frames, own, kept = (after - first for after, first in zip(sums(daemon), before))
    return own / frames * 1e6, 1 - kept / frames


def open_browser(folder):
    """A browser that gets the processor only when no other program wants it."""
    policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    browser = Browser(folder)
    os.sched_setscheduler(0, policy, parameter)
    return browser


def look(browser, daemon, seconds):
    """A window with the page open; and its maps a second."""
    browser.driver.get(f"{daemon.address}/#token={TOKEN}")
    time.sleep(3)
    maps, begin = browser.module("map.js", "return it.shown.maps"), time.monotonic()
    overruns = window(daemon, seconds)
    maps = browser.module("map.js", "return it.shown.maps") - maps
    return overruns, maps / (time.monotonic() - begin)


def told(overrun):
    return f"{overrun[0]:7.1f} us ({overrun[1] * 100:4.1f} %)"


def median(overruns):
    return [statistics.median(values) for values in zip(*overruns)]


def main():
    windows = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    daemon = Daemon(FLAGS)
    browser = None
    closed, opened, rates = [], [], []
    try:
        daemon.start()
        browser = open_browser(daemon.folder)
        browser.resize(1440, 900)
        time.sleep(5)
        print("own overrun of a frame (frames with more than 0.1 ms): without a page | with one, its maps a second")
        for _ in range(windows):
            browser.driver.get("about:blank")
            time.sleep(3)
            closed.append(window(daemon, seconds))
            overruns, rate = look(browser, daemon, seconds)
            opened.append(overruns)
            rates.append(rate)
            print(f"{told(closed[-1])} | {told(opened[-1])}, {rate:.1f}", flush=True)
        print(f"medians: {told(median(closed))} | {told(median(opened))}, {statistics.median(rates):.1f}")
    finally:
        if browser:
            browser.close()
        daemon.close()


main()
