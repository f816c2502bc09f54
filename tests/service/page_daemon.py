"""A musterd with 100,000 agents, and a browser that looks at it, for page_test.py."""
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

PATIENCE_S = 100  # how long a condition may take to come true; nothing is asserted of how long it did take
TOKEN = "the-token-of-the-browser-test"


def wait(what, condition):
    """Until the condition holds; its value."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"did not come true: {what}")


class Daemon:
    def __init__(self, flags=()):
        self.flags = list(flags)
        self.folder = tempfile.mkdtemp(prefix="muster-page-")
        self.port = 0
        self.process = None
        path = f"{self.folder}/token"
        with open(path, "w", encoding="ascii", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(TOKEN + "\n")

    def start(self, world="main=wildlife", agents=100000):
        log = f"{self.folder}/log"
        with open(log, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen(
                [os.environ["MUSTERD"], "--world", world, "--agents", str(agents),
                 "--listen", f"127.0.0.1:{self.port}", "--socket", f"{self.folder}/control",
                 "--modules", os.environ["MUSTER_MODULES"], "--token-file", f"{self.folder}/token", *self.flags],
                stderr=out)

        def ready():
            assert self.process.poll() is None, open(log, encoding="utf-8").read()
            return re.search(r"port (\d+)[\s\S]*ready", open(log, encoding="utf-8").read())

        self.port = int(wait("the daemon is ready", ready)[1])
        self.address = f"http://127.0.0.1:{self.port}"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder)


class Browser:
    def __init__(self, folder):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", f"--user-data-dir={folder}/browser"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_script_timeout(PATIENCE_S)
        self.driver.set_page_load_timeout(PATIENCE_S)
        self.requests = []

    def resize(self, width, height, mobile=None):
        mobile = width < 600 if mobile is None else mobile
        self.command("Emulation.setDeviceMetricsOverride",
                     {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile})

    def prefer(self, scheme):
        self.command("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def command(self, name, arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def module(self, name, text, *arguments):
        """Runs text with `it`, one of the page's own modules, and returns what that returns."""
        result = self.driver.execute_async_script(
            f"const done = arguments[arguments.length - 1], given = [...arguments].slice(0, -1);"
            f"import('/{name}').then(async (it) => done({{value: await (async () => {{ {text} }})()}}))"
            f".catch((error) => done({{error: String(error)}}));", *arguments)
        assert "error" not in result, result
        return result.get("value")

    def find(self, id_):
        return self.driver.find_element("id", id_)

    def save(self, path, clip):
        """A picture of a part of the page, also of what is out of view."""
        picture = self.command("Page.captureScreenshot", {"format": "png", "clip": clip, "captureBeyondViewport": True})
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def complaints(self):
        """What the console was told that is an error, since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def asked(self):
        """The addresses of all requests so far."""
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                parameters = message["params"]
                self.requests.append(parameters.get("request", parameters)["url"])
        return self.requests

    def close(self):
        self.driver.quit()
