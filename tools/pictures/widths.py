#!/usr/bin/python3
"""Takes the whole live page as a phone, a laptop and a large screen show it, in the dark and in the light: six pictures
to look at after a change of the page. They are not kept in the tree.

Wants a build (BUILD, default build/release) and what service/page wants (tools/setup). Run it from the root:
tools/pictures/widths.py FOLDER [AGENTS [FLAGS OF MUSTERD...]]
"""
import os
import sys
import time

BUILD = os.environ.get("BUILD", "build/release")
os.environ.setdefault("MUSTERD", f"{BUILD}/musterd")
os.environ.setdefault("MUSTER_MODULES", f"{BUILD}/modules")
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tests/service"))
from page_daemon import Browser, Daemon  # noqa: E402, the path comes first

SIZES = ((390, 844), (1440, 900), (2560, 1440))
SETTLE_S = 2  # until plots and map fill a new size


def take(browser, folder, width, height, scheme):
    """The page from top to bottom; the map keeps the height that it has in such a window."""
    browser.prefer(scheme)
    browser.resize(width, height)
    time.sleep(SETTLE_S)
    page = browser.command("Page.getLayoutMetrics", {})["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": width, "height": page["height"], "scale": 1}
    browser.save(f"{folder}/page-{width}-{scheme}.png", clip)


def main():
    folder, agents, flags = sys.argv[1], int((sys.argv[2:] or ["100000"])[0]), sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    daemon = Daemon(["--observers", "12", *flags])
    browser = None
    try:
        daemon.start("desert=wildlife", agents)
        browser = Browser(daemon.folder)
        browser.resize(*SIZES[1])
        browser.driver.get(daemon.address)
        time.sleep(20)  # for plots with something in them
        for width, height in SIZES:
            for scheme in ("dark", "light"):
                take(browser, folder, width, height, scheme)
    finally:
        if browser:
            browser.close()
        daemon.close()


if __name__ == "__main__":
    main()
