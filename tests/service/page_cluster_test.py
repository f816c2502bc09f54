"""tools/demo --cluster with few animals, and its page: a node is killed, the page tells it, its zones come back on other
nodes, and no animal is missing. Conditions are waited for; what they take is not asserted."""
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import urllib.error
import urllib.request

from page_checks import be_readable, lie_apart, name_everything
from page_daemon import Browser, wait
from selenium.webdriver.common.keys import Keys

AGENTS, PORTS = 2700, 12
NODES = "abc"
# To look at: the page in such states is saved there.
PICTURES = os.environ.get("PICTURES")


def free_ports():
    """The first of twelve that are free now, below those that the system gives to others."""
    for _ in range(100):
        first = random.randrange(15000, 32000)
        try:
            for port in range(first, first + PORTS):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise AssertionError("no twelve ports are free")


class Demo:
    def __init__(self, agents=AGENTS):
        self.log = tempfile.NamedTemporaryFile(prefix="muster-demo-log-")
        self.port = free_ports()
        build = os.path.dirname(os.environ["MUSTERD"])
        self.process = subprocess.Popen(
            [f"{os.environ['MUSTER_SOURCE_DIR']}/tools/demo-cluster", build, "--agents", str(agents), "--port",
             str(self.port)], stdout=self.log, stderr=self.log, start_new_session=True)

    def said(self):
        with open(self.log.name, encoding="utf-8") as log:
            return log.read()

    def start(self):
        def ready():
            assert self.process.poll() is None, self.said()
            return "Ctrl-C ends all" in self.said()

        wait("the demo is ready", ready)
        self.address = re.search(r"open (http://\S+)/#token=(\w+)", self.said())[1]
        self.folder = re.search(r"--socket (\S+)/\$node/control", self.said())[1]
        assert self.address == f"http://127.0.0.1:{self.port}"
        self.victim = int(re.search(r"kill -KILL (\d+) ", self.said())[1])

    def end(self):
        """As Ctrl-C does; nothing is left."""
        os.killpg(self.process.pid, signal.SIGINT)
        status = self.process.wait()
        assert status == 130, status
        assert not os.path.exists(self.folder), os.listdir(self.folder)
        for port in range(self.port, self.port + PORTS):
            with socket.socket() as one:
                assert one.connect_ex(("127.0.0.1", port)) != 0, f"somebody still listens at {port}"

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait()


demo = browser = None


# --------------------------------------------------------------------------------------------------------- the animals


def ask(node, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{demo.port + NODES.index(node)}{path}", timeout=60) as answer:
        return json.load(answer)


def zones():
    """By world, as node a tells."""
    return {one["world"]: one for one in ask("a", "/v1/zones/map")["zones"]}


def animals_of(world, node):
    """The ids of those that a zone has while this looks; fewer when it is moved meanwhile."""
    found, cursor = set(), 0
    try:
        while cursor is not None:
            page = ask(node, f"/v1/worlds/{world}/agents?limit=1000&cursor={cursor}")
            found |= {one["agent"] for one in page["agents"]}
            cursor = page.get("next")
    except urllib.error.HTTPError:
        pass
    return found


def find_animals(wanted):
    """Looks through all zones until so many were seen: one that walks from one to the next may be missed by a look."""
    found = set()

    def look():
        for world, zone in zones().items():
            if zone["state"] == "runs":
                found.update(animals_of(world, zone["node"]))
        return len(found) >= wanted

    wait(f"{wanted} animals are found", look)
    look()
    return found


# ------------------------------------------------------------------------------------------------------------ the page


def shown():
    return {one["world"]: one for one in browser.module("land.js", "return it.shown.zones.map((zone) => ({ ...zone }))")}


def rows():
    """What the table of zones says: the node and the state of each."""
    return browser.script("return Object.fromEntries([...document.querySelectorAll('#land-zones tr')].map((row) => "
                          "[row.dataset.world, [row.cells[1].innerText.trim(), row.dataset.state]]))")


def node_rows():
    """What the table of nodes says, by the name of each: a list of texts."""
    found = browser.script("return [...document.querySelectorAll('#land-nodes tr')].map((row) => "
                           "[...row.cells].map((cell) => cell.innerText.trim()))")
    return {cells[0].split(",")[0]: cells for cells in found}


def lines():
    """Of the log, the oldest first."""
    return browser.script("return [...document.querySelectorAll('#land-log li')].map((line) => line.lastChild.data)"
                          ".reverse()")


# The mean colour of what is drawn in each zone, out of its labels, as the painter paints what the page knows.
COLOURS = """
  const { painter, shown } = it, canvas = document.getElementById("land-canvas"), colours = {};
  const context = canvas.getContext("2d"), ratio = canvas.width / canvas.clientWidth;
  for (const { world, x, y, width, height } of painter.places) {
    const part = [x + 3, y + 3, width - 6, height / 5].map((at) => Math.round(at * ratio));
    const { data } = context.getImageData(...part), sum = [0, 0, 0];
    for (let i = 0; i < data.length; i++) if (i % 4 < 3) sum[i % 4] += data[i];
    colours[world] = sum.map((all) => (all * 4) / data.length);
  }
  return colours;"""


def drawn_as(world):
    """The node in whose colour a zone is drawn; "" = in grey."""
    ground = (14, 19, 29)
    colour = [part - base for part, base in zip(browser.module("land.js", COLOURS)[world], ground)]
    own = browser.module("land.js", """
      const { nodes } = await import("/palette.js");
      return Object.fromEntries(it.shown.names.map((name, i) => [name, nodes[i]]));""")
    own[""] = (107, 117, 133)

    def distance(name):
        one = [part - base for part, base in zip(own[name], ground)]
        scale = sum(a * b for a, b in zip(colour, one)) / sum(part * part for part in one)
        return sum((a - scale * b) ** 2 for a, b in zip(colour, one)) / max(1, sum(part * part for part in colour))

    return min(own, key=distance)


def picture(name):
    for width, height in ((390, 844), (1440, 1000)) if PICTURES else ():
        for scheme in ("light", "dark"):
            browser.prefer(scheme)
            browser.resize(width, height)
            wait("it settles", lambda: browser.script("return innerWidth") == width)
            browser.save(f"{PICTURES}/cluster-{name}-{width}-{scheme}.png",
                         {"x": 0, "y": 0, "width": width, "height": height, "scale": 1})
    browser.prefer("dark")
    browser.resize(1440, 1000)


# ----------------------------------------------------------------------------------------------------------- the tests


def shows_all_nodes():
    wait("all zones run", lambda: len(rows()) == 9 and all(state == "runs" for _, state in rows().values()))
    assert browser.find("land-title").text == "Cluster demo"
    assert {node for node, _ in rows().values()} == set(NODES), rows()
    for world, (node, _) in rows().items():
        assert shown()[world]["node"] == node
        wait(f"{world} is drawn in the colour of {node}", lambda: drawn_as(world) == node)
    wait("nodes are told", lambda: all(re.fullmatch(r"\d+(\.\d+)?", cells[3]) and cells[4] == "now"
                                       for cells in node_rows().values()) and set(node_rows()) == set(NODES))
    assert node_rows()["a"][0].startswith("a, this one")
    wait("one of them balances", lambda: re.match("[abc] balances", browser.find("land-balancer").text))
    for name, cells in node_rows().items():
        assert int(cells[1]) == sum(node == name for node, _ in rows().values()), (name, cells)
    wait("frames of a world come", lambda: browser.find("state").text == "running")
    assert rows()[browser.find("world").get_attribute("value")][0] == "a", "one that runs here is shown"
    assert browser.script("return document.getElementById('downs').childElementCount") == 0, "nothing is the matter"
    summary = browser.find("land-summary").text
    assert 0.95 * AGENTS < int(summary.split()[0].replace(",", "")) < 1.05 * AGENTS, summary
    wait("animals walk", lambda: "walk from one to another" in browser.find("land-summary").text)
    picture("runs")


def is_as_good_as_the_rest():
    name_everything(browser)
    be_readable(browser, 100)
    for width, height in ((2560, 1440), (390, 844), (1440, 1000)):
        browser.resize(width, height)
        wait("it settles", lambda: browser.script("return document.documentElement.scrollWidth") <= width)
        lie_apart(browser, width)


def leads_to_a_zone():
    here = sorted(world for world, (node, _) in rows().items() if node == "a")
    there = sorted(world for world, (node, _) in rows().items() if node == "b")
    other = next(world for world in here if world != browser.find("world").get_attribute("value"))

    def button(world):
        return browser.driver.find_element("css selector", f"#land-zones tr[data-world='{world}'] button")

    button(other).send_keys(Keys.ENTER)
    wait("it is shown", lambda: browser.find("world").get_attribute("value") == other)
    wait("and runs", lambda: browser.find("state").text == "running")
    button(there[0]).send_keys(Keys.ENTER)
    wait("it says where that one runs", lambda: f"{there[0]} runs on node b" in browser.find("banner-text").text)
    assert browser.find("world").get_attribute("value") == other


def tells_of_a_node_that_died_and_of_who_takes_over():
    owned = sorted(world for world, (node, _) in rows().items() if node == "b")
    assert owned, rows()
    before = find_animals(AGENTS)
    assert len(before) == AGENTS, len(before)
    epochs = {world: zone["epoch"] for world, zone in zones().items()}
    os.kill(demo.victim, signal.SIGKILL)
    wait("the page says that it is silent", lambda: any(line.startswith("b is silent: ") for line in lines()))
    wait("and that its zones stand still", lambda: all(rows()[world][1] != "runs" for world in owned))
    wait("and the node is gone", lambda: node_rows()["b"][3:] == ["–", "silent"])
    grey = [world for world in owned if rows()[world][1] == "silent"]
    for world in grey:
        assert drawn_as(world) == "" or rows()[world][1] != "silent", world
    picture("silent")
    wait("they run elsewhere", lambda: all(rows()[world][0] != "b" and rows()[world][1] == "runs" for world in owned))
    for world in owned:
        node = rows()[world][0]
        wait(f"{world} is drawn in the colour of {node}", lambda: drawn_as(world) == rows()[world][0])
    said = lines()
    for world in owned:
        fell = next(i for i, line in enumerate(said) if line.startswith("b is silent: ") and world in line)
        came = next(i for i, line in enumerate(said) if line.startswith(f"{world} runs on "))
        assert fell < came, said
    wait("all zones run", lambda: all(state == "runs" for _, state in rows().values()))
    after = zones()
    assert all(after[world]["epoch"] > epochs[world] for world in owned), after
    assert all(after[world]["epoch"] == epochs[world] for world in after if world not in owned), after
    picture("after")
    found = find_animals(AGENTS)
    assert found == before, (len(before - found), len(found - before))
    assert f"node b has ended" in demo.said(), "and the demo says so"


def main():
    global demo, browser
    demo = Demo()
    demo.start()
    browser = Browser(demo.folder)
    browser.prefer("dark")
    browser.resize(1440, 1000)
    browser.driver.get(demo.address)
    for test in (shows_all_nodes, is_as_good_as_the_rest, leads_to_a_zone, tells_of_a_node_that_died_and_of_who_takes_over):
        test()
        print(f"{test.__name__}: passed", flush=True)
        assert not browser.complaints(), browser.complaints()
    browser.close()
    browser = None
    demo.end()
    print("leaves nothing: passed")


if __name__ == "__main__":
    status = 0
    try:
        main()
    except Exception:  # whatever it is: tell it, and leave nothing running
        traceback.print_exc()
        if demo:
            print(demo.said())
        status = 1
    finally:
        if browser:
            browser.close()
        if demo:
            demo.close()
    sys.exit(status)
