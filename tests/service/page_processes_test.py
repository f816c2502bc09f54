"""The live page of three worlds in processes of their own, one of which crashes until it has failed. Conditions are
waited for; what they take is not asserted."""
import json
import os
import resource
import signal
import sys
import traceback
import urllib.request

from page_daemon import TOKEN, Browser, Daemon, wait
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

daemon = Daemon(["--isolation", "process", "--crash-limit", "1", "--allow", "network", "--budget", "5ms", "--world",
                 "forest=wildlife", "--agents", "300", "--budget", "5ms"])
browser = None
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
# To look at: the page in such states is saved there, one file a size and scheme.
PICTURES = os.environ.get("PICTURES")


def ask(path):
    with urllib.request.urlopen(daemon.address + path, timeout=60) as answer:
        return json.load(answer)


def process(world):
    return next(one for one in ask("/v1/worlds")["processes"] if one["world"] == world)


def runs(world):
    return process(world)["state"] == "running"


def kill(world):
    os.kill(wait(f"{world} runs", lambda: process(world)["process"] if runs(world) else None), signal.SIGABRT)


def fail(world):
    """With one end too many within the window."""
    before = process(world)
    while process(world)["state"] != "failed":
        if runs(world):
            kill(world)
            wait("its end is noticed", lambda: process(world)["process"] != before["process"])
        before = process(world)


def text(id_):
    return browser.script("const it = document.getElementById(arguments[0]); return it.checkVisibility() ? it.innerText : ''",
                          id_)


def picture(name):
    for width, height in ((390, 844), (1440, 900)) if PICTURES else ():
        for scheme in ("dark", "light"):
            browser.prefer(scheme)
            browser.resize(width, height)
            wait("it settles", lambda: browser.script("return innerWidth") == width)
            browser.save(f"{PICTURES}/{name}-{width}-{scheme}.png",
                         {"x": 0, "y": 0, "width": width, "height": height, "scale": 1})
    browser.resize(1440, 900)


# ----------------------------------------------------------------------------------------------------------- the tests


def shows_what_a_world_may_do():
    wait("frames come", lambda: browser.find("state").text == "running")
    wait("its right is shown", lambda: text("allowed").startswith("network allowed"))
    assert text("downs") == "" and not browser.find("verdict-restart").is_displayed(), "nothing is the matter"


def follows_a_world_whose_process_ends():
    """The stream ends with it; the page is connected to the next one by itself, and says so."""
    kill("main")
    wait("it says that it is another process", lambda: "main runs again, in a new process" in text("banner"))
    wait("frames come", lambda: browser.find("state").text == "running")
    assert "main" == browser.find("world").get_attribute("value")


def tells_of_another_world_that_failed():
    fail("forest")
    wait("it is told at once", lambda: "world forest has failed" in text("downs")
         and "it ended 2 times within 10 min, the last time because" in text("downs"))
    assert browser.find("state").text == "running", "the world that is shown goes on"
    frame = ask("/v1/worlds/main")["frames"]
    wait("and so do its frames", lambda: ask("/v1/worlds/main")["frames"] > frame + 10)
    wait("the list knows", lambda: "forest (failed)" in browser.find("world").text)
    picture("other")


def tells_of_the_shown_world_that_failed():
    Select(browser.find("world")).select_by_value("forest")
    wait("the verdict says it", lambda: "world forest has failed" in text("verdict")
         and browser.find("verdict").get_attribute("data-severity") == "alarm")
    assert "muster ctl restart forest" in text("verdict") and text("downs") == "", text("verdict")
    wait("so does its state", lambda: browser.find("state").text == "failed")
    overlap = browser.script("const page = document.documentElement; return page.scrollWidth - page.clientWidth")
    assert overlap <= 0, overlap
    assert text("tiles").count("–") == 9, "figures of another world are none of its own"
    picture("own")


def starts_it_again():
    browser.find("verdict-restart").click()
    wait("the page asks for the token", lambda: browser.find("token-dialog").get_attribute("open"))
    browser.find("token").send_keys(TOKEN, Keys.ENTER)
    wait("it runs", lambda: runs("forest"))
    wait("and is shown", lambda: browser.find("state").text == "running"
         and "forest" == browser.find("world").get_attribute("value"))
    wait("the button is gone", lambda: not browser.find("verdict-restart").is_displayed())
    assert text("allowed") == "", "it may do nothing beyond the usual"
    wait("the list knows", lambda: "failed" not in browser.find("world").text)


def keeps_the_token_to_itself():
    """No other page of its origin can read it, of which a world's module may have made one; a reload needs none."""
    kept = browser.script("return JSON.stringify([{...sessionStorage}, {...localStorage}, document.cookie, "
                          "document.documentElement.outerHTML, document.getElementById('token').value])")
    assert TOKEN not in kept, kept
    browser.driver.refresh()
    wait("frames come", lambda: browser.find("state").text == "running")
    observers = len(ask("/v1/worlds/forest/observers")["observers"])
    browser.find("add-observer").click()
    wait("there is one more", lambda: len(ask("/v1/worlds/forest/observers")["observers"]) == observers + 1)
    assert not browser.find("token-dialog").get_attribute("open"), "it has the token"
    browser.driver.get(f"{daemon.address}/v1/worlds")  # a page of the same origin, in the same tab
    assert browser.script("return [window.origin, history.state]") == ["null", None], "it is of no origin"


def main():
    global browser
    daemon.start(agents=2000)
    browser = Browser(daemon.folder)
    browser.resize(1440, 900)
    browser.driver.get(daemon.address)
    for test in (shows_what_a_world_may_do, follows_a_world_whose_process_ends, tells_of_another_world_that_failed,
                 tells_of_the_shown_world_that_failed, starts_it_again, keeps_the_token_to_itself):
        test()
        print(f"{test.__name__}: passed")


if __name__ == "__main__":
    status = 0
    try:
        main()
    except Exception:  # whatever it is: tell it, and leave nothing running
        traceback.print_exc()
        print(open(f"{daemon.folder}/log", encoding="utf-8").read()[-4000:])
        status = 1
    finally:
        if browser:
            browser.close()
        daemon.close()
    sys.exit(status)
