#!/usr/bin/python3
"""Makes the picture of a cluster in the book, tools/pictures/cluster.png: tools/demo --cluster, some seconds after one of
its three nodes was killed.

Wants a release build, brokers, Debian's chromium-driver and python3-selenium (tools/setup). Run it from the root:
tools/pictures/cluster.py [FOLDER]. Every figure in the picture is the machine's of the moment.
"""
import os
import signal
import sys
import time

ROOT = os.path.abspath(f"{os.path.dirname(__file__)}/../..")
os.environ.setdefault("MUSTERD", f"{ROOT}/build/release/musterd")
os.environ.setdefault("MUSTER_SOURCE_DIR", ROOT)
sys.path.insert(0, f"{ROOT}/tests/service")

from page_cluster_test import Demo  # noqa: E402
from page_daemon import Browser, wait  # noqa: E402

WIDTH = 1080


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else f"{ROOT}/tools/pictures"
    demo, browser = Demo(100000), None
    try:
        demo.start()
        browser = Browser(demo.folder)
        browser.prefer("dark")
        browser.resize(WIDTH, 900)
        browser.driver.get(demo.address)
        wait("all zones are heard", lambda: browser.script(
            "return document.querySelectorAll('#land-zones tr[data-state=\"runs\"]').length") == 9)
        time.sleep(5)
        os.kill(demo.victim, signal.SIGKILL)
        time.sleep(8)
        top, high = browser.script("const box = document.getElementById('land').getBoundingClientRect();"
                                   "return [box.top + scrollY, box.height]")
        browser.save(f"{folder}/cluster.png", {"x": 0, "y": top - 8, "width": WIDTH, "height": high + 16, "scale": 1})
    finally:
        if browser:
            browser.close()
        demo.close()


if __name__ == "__main__":
    main()
