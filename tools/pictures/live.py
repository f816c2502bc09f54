#!/usr/bin/python3
"""Makes the README's pictures of the live page: tools/pictures/live.png, live.gif, in which an observer walks, and
tenth.png, a world that gets a tenth of the CPU that all would take.

Wants a release build, Debian's chromium-driver and python3-selenium (tools/setup), and imagemagick for the second. Run it
from the root: tools/pictures/live.py [FOLDER]; on a busy machine with LAUNCH="chrt -f 10", which starts the daemon. Every
figure in the pictures is the machine's of the moment.
"""
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

PORT = 7718
TOKEN = "the-token-of-the-pictures"
STEPS = 16


def browser():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--window-size=1440,900", "--hide-scrollbars"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def walk(page, folder):
    """Pictures of the map while the first observer is moved by its keys."""
    Select(page.find_element(By.ID, "observer")).select_by_index(1)
    for _ in range(3):
        page.find_element(By.ID, "zoom-in").click()
    time.sleep(2)
    handle = page.find_element(By.CSS_SELECTOR, "#handles button")
    names = []
    for step in range(STEPS):
        for _ in range(2):
            handle.send_keys(Keys.ARROW_RIGHT)
        time.sleep(0.6)
        names.append(f"{folder}/{step:02}.png")
        page.find_element(By.ID, "stage").screenshot(names[-1])
    return names


@contextlib.contextmanager
def hosted(folder, *flags):
    """The page of a daemon with a desert in it."""
    build = os.environ.get("BUILD", "build/release")
    token = f"{folder}/token"
    with open(token, "w", encoding="ascii", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(f"{TOKEN}\n")
    launch = os.environ.get("LAUNCH", "").split()
    daemon = subprocess.Popen([*launch, f"{build}/musterd", "--modules", f"{build}/modules", "--socket", f"{folder}/control",
                               "--listen", f"127.0.0.1:{PORT}", "--token-file", token, "--world", "desert=wildlife",
                               "--hz", "30", *flags])
    page = None
    try:
        time.sleep(3)
        page = browser()
        page.get(f"http://127.0.0.1:{PORT}/#token={TOKEN}")
        time.sleep(2)
        yield page
    finally:
        if page:
            page.quit()
        daemon.terminate()
        daemon.wait()


def ask(method, **body):
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}/v1/worlds/desert", json.dumps(body).encode() if body else None,
                                     {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
                                     method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def take_live(pictures, folder):
    with hosted(folder, "--agents", "20000", "--observers", "12", "--budget", "8ms") as page:
        Select(page.find_element(By.ID, "colour")).select_by_visible_text("level")
        time.sleep(40)
        page.save_screenshot(f"{pictures}/live.png")
        names = walk(page, folder)
        subprocess.run(["convert", "-delay", "25", "-resize", "640x", *names, "-layers", "optimize", "-colors", "48",
                        f"{pictures}/live.gif"], check=True)


def take_tenth(pictures, folder):
    """All of a world, coloured by period, when updates get a tenth of what all would take at their wanted periods."""
    workers = 2
    with hosted(folder, "--agents", "100000", "--observers", "12", "--budget", "10ms", "--workers", str(workers)) as page:
        time.sleep(20)
        for _ in range(8):  # what all take follows the levels, which follow the budget, and some of it is overhead
            world = ask("GET")
            wanted, given = (world["frame"][f"utilisation_{name}"] for name in ("nominal", "desired"))
            print(f"all would take {wanted:.3f} of a processor, and have {given:.3f}: a budget of {world['budget_ns']} ns")
            ask("PATCH", budget_ns=int(world["budget_ns"] + (wanted / 10 - given) * world["period_ns"] / workers / 2))
            time.sleep(4)
        page.refresh()  # the legend of what was before
        time.sleep(20)
        page.save_screenshot(f"{pictures}/tenth.png")


def main():
    pictures = sys.argv[1] if len(sys.argv) > 1 else "tools/pictures"
    for take in (take_live, take_tenth):
        with tempfile.TemporaryDirectory() as folder:
            take(pictures, folder)


main()
