#!/usr/bin/python3
"""Makes the README's pictures of the live page: tools/pictures/live.png, and live.gif, in which an observer walks.

Wants a release build, Debian's chromium-driver and python3-selenium (tools/setup), and imagemagick for the second. Run it
from the root: tools/pictures/live.py [FOLDER]. Every figure in the pictures is the machine's of the moment.
"""
import os
import subprocess
import sys
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

PORT = 7718
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


def main():
    pictures = sys.argv[1] if len(sys.argv) > 1 else "tools/pictures"
    build = os.environ.get("BUILD", "build/release")
    with tempfile.TemporaryDirectory() as folder:
        token = f"{folder}/token"
        with open(token, "w", encoding="ascii", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write("the-token-of-the-pictures\n")
        daemon = subprocess.Popen([f"{build}/musterd", "--modules", f"{build}/modules", "--socket", f"{folder}/control",
                                   "--listen", f"127.0.0.1:{PORT}", "--token-file", token, "--world", "desert=wildlife",
                                   "--agents", "20000", "--observers", "12", "--budget", "8ms", "--hz", "30"])
        page = None
        try:
            time.sleep(3)
            page = browser()
            page.get(f"http://127.0.0.1:{PORT}/#token=the-token-of-the-pictures")
            time.sleep(2)
            Select(page.find_element(By.ID, "colour")).select_by_visible_text("level")
            time.sleep(40)
            page.save_screenshot(f"{pictures}/live.png")
            names = walk(page, folder)
            subprocess.run(["convert", "-delay", "25", "-resize", "640x", *names, "-layers", "optimize", "-colors", "48",
                            f"{pictures}/live.gif"], check=True)
        finally:
            if page:
                page.quit()
            daemon.terminate()
            daemon.wait()


main()
