"""The live page, used as people use it: 100,000 agents, a browser, a daemon that dies. Conditions are waited for; what
they take is not asserted."""
import json
import re
import sys
import time
import traceback
import urllib.error
import urllib.request

from page_checks import be_readable, lie_apart, name_everything
from page_colours import EYES, contrast, nearest
from page_daemon import TOKEN, Browser, Daemon, wait
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

daemon = Daemon()
browser = None


def ask(path):
    with urllib.request.urlopen(daemon.address + path, timeout=60) as answer:
        return json.load(answer)


def world():
    return ask("/v1/worlds/main")


def shown(name):
    return browser.module("map.js", f"return it.shown.{name}")


def number(text):
    return float(text.replace(",", "") or "nan")


def tile(title):
    """The figure under a title."""
    return number(browser.script(
        "return [...document.querySelectorAll('#tiles dt')].find((at) => at.textContent === arguments[0])"
        ".nextSibling.textContent.replace(/[^0-9.,]/g, '')", title))


def legend_of(line):
    """The newest value of a line of the plots."""
    return number(browser.script(
        "return [...document.querySelectorAll('#plots li')].find((at) => at.textContent.startsWith(arguments[0]))"
        ".lastChild.textContent", line))


def at_level(level):
    """Agents of all types at a level, out of the table."""
    cells = browser.script("return [...document.querySelectorAll(`#types tr[data-level='${arguments[0]}'] td:nth-child(2)`)]"
                           ".map((cell) => cell.textContent)", level)
    return sum(number(cell) for cell in cells)


def in_band(band, column):
    """A figure out of the table of bands: 0 agents, 2 by the rule, 3 got."""
    return browser.script("return document.querySelectorAll(`#bands tr[data-band='${arguments[0]}'] .number`)"
                          "[arguments[1]].textContent", band, column)


def watched(x, y):
    """How many agents within 15 m of a place run above their cheapest level, by the map's data."""
    return browser.module("api.js", """
      const [x, y] = given, query = { x0: x - 15, y0: y - 15, x1: x + 15, y1: y + 15, max: 60000 };
      const map = await it.getMap("main", query);
      let above = 0;
      for (let i = 0; i < map.records; i++) above += ((map.words[i * map.stride + 7] >>> 16) & 255) < 2;
      return above;""", x, y)


def observers():
    return {one["observer"]: one["position"] for one in ask("/v1/worlds/main/observers")["observers"]}


# ----------------------------------------------------------------------------------------------------------- the tests


def shows_all_agents_and_goes_on():
    wait("the map shows 95,000 agents", lambda: shown("map && it.shown.map.agents") and shown("map.agents") > 95000)
    wait("the figures show them", lambda: tile("Agents") > 95000)
    before = shown("maps")
    wait("maps follow one another", lambda: shown("maps") > before + 30)
    assert not shown("map.isAgents"), "so many are shown as a raster"
    assert "the shortest in each spot" in browser.find("legend").get_attribute("aria-label"), "and the legend says of whom"
    wait("every type is in the table", lambda: at_level(2) > 90000)
    wait("every band is in its table", lambda: sum(number(in_band(band, 0)) for band in range(5)) > 95000)
    wait("and who ran says how often", lambda: all(in_band(0, column)[0].isdigit() for column in (2, 3)))
    assert browser.script("return document.querySelector('#bands tr th').textContent") == "up to 1"
    assert not browser.find("land").is_displayed(), "it is in no cluster"
    assert sum("/v1/zones/map" in url for url in browser.asked()) == 1, "and that is asked once"
    print(f"maps a second: {shown('rate'):.1f}")


def names_everything_that_can_be_used():
    name_everything(browser)


def is_readable_in_the_dark_and_in_the_light():
    be_readable(browser, 80)


def keeps_its_colours_apart():
    """One scale in the dark and in the light, whoever looks at it; and marks of the plots and the verdict."""
    def colour(text):
        if text.startswith("#"):
            return [int(text[i:i + 2], 16) for i in (1, 3, 5)]
        return [int(part) for part in re.findall(r"\d+", text)[:3]]

    scales, grounds, marks = [], [], []
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        scales.append(browser.module("palette.js", "return it.palette.css"))
        style = "return getComputedStyle(document.documentElement).getPropertyValue(arguments[0])"
        grounds += [colour(browser.script(style, name).strip()) for name in ("--stage", "--card")]
        marks.append([browser.script(style, name).strip() for name in ("--good", "--warning", "--alarm")])
    assert scales[0] == scales[1] and marks[0] == marks[1], "the same in both"
    lines = browser.script("return [...document.querySelectorAll('#plots i')].map((one) => one.style.backgroundColor)")
    all_of_it = [colour(text) for text in scales[0]]
    nodes = browser.module("palette.js", "return it.nodes")
    for one in all_of_it + nodes + [colour(text) for text in marks[0] + lines]:
        weakest = min(contrast(one, ground) for ground in grounds)
        assert weakest >= 3, (one, weakest)
    for eye in EYES:
        levels, verdicts = [all_of_it[i] for i in (0, 21, 42, 63)], [colour(text) for text in marks[0]]
        assert nearest(nodes, eye) >= 20, (eye, nearest(nodes, eye))
        assert nearest(levels, eye) >= 20 and nearest(verdicts, eye) >= 15, (eye, nearest(levels, eye), nearest(verdicts, eye))


# Which share of its card's width each plot has.
PLOTS = """
  return [...document.querySelectorAll("#plots canvas")].map((canvas) =>
    canvas.getBoundingClientRect().width / canvas.closest(".card").clientWidth);"""


def resize(width, height, mobile=None):
    """Plots follow a window one picture later."""
    browser.resize(width, height, mobile)
    wait("the plots fit", lambda: all(0.85 < share < 1 for share in browser.script(PLOTS)))


def fits_a_phone_and_a_screen():
    for width, height in ((2560, 1440), (390, 844), (1440, 900)):
        resize(width, height)
        lie_apart(browser, width)
        if width == 390:
            tops = browser.script("return ['verdict', 'tiles', 'map-canvas', 'plots'].map((id) => "
                                  "document.getElementById(id).getBoundingClientRect().top)")
            assert tops == sorted(tops), "the figures come first"
    assert browser.script("return [...document.querySelectorAll('details')].every((one) => !one.open)"), "help is folded"


def follows_a_window_that_is_pulled():
    """Without a reload, there and back: plots have the room that there is, and the whole world stays in view."""
    browser.find("fit").click()
    for width in (390, 1440, 390, 1440):
        resize(width, 900, False)
        maps = shown("maps")
        wait("the next maps", lambda: shown("maps") > maps + 2)
        wait("the whole world is in view", lambda: shown("map.agents") > 0.95 * tile("Agents"))
        lie_apart(browser, width)
    browser.find("zoom-in").click()
    scale = browser.module("map.js", "return it.view.scale")
    browser.resize(1300, 900, False)
    maps = shown("maps")
    wait("the next maps", lambda: shown("maps") > maps + 2)
    assert browser.module("map.js", "return it.view.scale") == scale, "what was chosen by hand stays"
    browser.resize(1440, 900)
    browser.find("fit").click()


def asks_for_the_token_and_adds_an_observer():
    before = observers()
    browser.find("add-observer").click()
    wait("the page asks for the token", lambda: browser.find("token-dialog").get_attribute("open"))
    assert not browser.find("token-refused").is_displayed(), "it had none"
    browser.find("token").send_keys("not" + TOKEN, Keys.ENTER)
    wait("it says that this is not it", lambda: browser.find("token-refused").is_displayed())
    browser.find("token").send_keys(TOKEN, Keys.ENTER)
    wait("there is one more", lambda: len(observers()) == len(before) + 1)
    return next(iter(observers().keys() - before.keys()))


def handle_of(observer):
    label = f"Observer {observer.split('.')[0]} "
    for handle in browser.driver.find_elements("css selector", "#handles button"):
        if handle.get_attribute("aria-label").startswith(label) and handle.is_displayed():
            return handle
    return None


def drag(observer, x, y):
    handle = wait("its handle", lambda: handle_of(observer))
    ActionChains(browser.driver).drag_and_drop_by_offset(handle, x, y).perform()


def moves_an_observer_and_the_levels_follow():
    observer = asks_for_the_token_and_adds_an_observer()
    old = observers()[observer]
    wait("whoever is near runs at a better level", lambda: watched(old["x"], old["y"]) > 0)
    drag(observer, 140, 60)
    wait("it is elsewhere", lambda: abs(observers()[observer]["x"] - old["x"]) > 200)
    new = observers()[observer]
    wait("levels rise where it is now", lambda: watched(new["x"], new["y"]) > 0)
    wait("and fall where it was", lambda: watched(old["x"], old["y"]) == 0)
    best = wait("the table counts them", lambda: at_level(0) > 0 and at_level(0))
    drag(observer, 0, -400)
    best = max(best, at_level(0))
    wait("out of the world it lifts nobody: the table says so", lambda: at_level(0) < best * 0.8)
    assert handle_of(observer) is None, "it is out of view"
    before = observers()[observer]
    Select(browser.find("observer")).select_by_value(observer)
    wait("the list of observers leads to it", lambda: handle_of(observer)).send_keys(Keys.ARROW_LEFT)
    wait("a key moves it", lambda: observers()[observer]["x"] < before["x"])
    wait("its handle", lambda: handle_of(observer)).send_keys(Keys.DELETE)
    wait("a key removes it", lambda: observer not in observers())
    browser.find("fit").click()


def square_at(x, y):
    """What the page's layer of the observer grid says of a place."""
    return browser.module("map.js", """
      const field = it.shown.field, [x, y] = given, side = field ? (field.x1 - field.x0) / field.columns : 1;
      const index = field && Math.floor((y - field.y0) / side) * field.columns + Math.floor((x - field.x0) / side);
      for (let at = 0; field && at < field.records * field.stride; at += field.stride)
        if (field.words[at] === index) return { importance: field.floats[at + 1], flags: field.words[at + 2] };
      return null;""", x, y)


def is_lit(x, y):
    """Whether somebody is in the cells around a place, and everybody there matters to an observer."""
    around = [square_at(x + i, y + k) for i in (-6, 0, 6) for k in (-6, 0, 6)]
    return any(one and one["importance"] > 0.5 for one in around)


def layer_pixels():
    """How many pixels of the layer alone are seen, painted as the map paints it."""
    return browser.module("field_draw.js", """
      const { shown, view } = await import("/map.js"), canvas = document.createElement("canvas");
      Object.assign(canvas, { width: view.width, height: view.height });
      const context = canvas.getContext("2d");
      if (shown.field) new it.FieldPainter().paint(context, view, shown.field);
      return context.getImageData(0, 0, canvas.width, canvas.height).data.filter((v, i) => i % 4 === 3 && v > 0).length;
      """)


def shows_the_observer_grid_on_request():
    def asked():
        return sum("/cells?" in url for url in browser.asked())

    assert asked() == 0 and not browser.find("field-legend").is_displayed(), "only when it is switched on"
    before = observers()
    browser.find("add-observer").click()
    wait("there is one more", lambda: len(observers()) == len(before) + 1)
    observer = next(iter(observers().keys() - before.keys()))
    browser.find("field").send_keys(Keys.SPACE)
    old = observers()[observer]
    wait("cells around it appear", lambda: is_lit(old["x"], old["y"]))
    assert layer_pixels() > 1000, "and are seen"
    wait("the legend tells what they are", lambda: "known cells of" in browser.find("field-state").text)
    assert "from observers" in browser.find("field-legend").get_attribute("aria-label")
    is_readable_in_the_dark_and_in_the_light()
    fits_a_phone_and_a_screen()
    drag(observer, 140, 60)
    wait("it is elsewhere", lambda: abs(observers()[observer]["x"] - old["x"]) > 200)
    new = observers()[observer]
    wait("the cells follow", lambda: is_lit(new["x"], new["y"]) and not is_lit(old["x"], old["y"]))
    browser.find("field").send_keys(Keys.SPACE)
    wait("switched off they are gone", lambda: shown("field") is None)
    maps = shown("maps")
    asks = asked()
    wait("maps go on", lambda: shown("maps") > maps + 10)
    assert asks > 2 and asked() == asks, "but nobody asks for cells"
    wait("its handle", lambda: handle_of(observer)).send_keys(Keys.DELETE)
    wait("it is gone", lambda: observer not in observers())


def rests(observer):
    before, frame = observers()[observer], world()["frames"]
    wait("frames go on", lambda: world()["frames"] > frame + 10)
    return observers()[observer] == before


def takes_a_camera_by_the_hand():
    """The world's own observer walks in each frame; where it was dragged to, it stays until it is let go."""
    camera = next(iter(observers()))
    label = wait("its handle", lambda: handle_of(camera))
    wait("the page sees that it walks", lambda: "and hold it" in label.get_attribute("aria-label"))
    old = observers()[camera]
    drag(camera, 90, 40)
    wait("it is elsewhere", lambda: abs(observers()[camera]["x"] - old["x"]) > 200)
    wait("it stays, while frames go on", lambda: rests(camera))  # the last steps of the drag may still arrive
    new = observers()[camera]
    wait("levels rise there", lambda: watched(new["x"], new["y"]) > 0)
    wait("its handle", lambda: handle_of(camera)).send_keys(Keys.ESCAPE)
    wait("it walks again", lambda: abs(observers()[camera]["x"] - old["x"]) < 100)


def moves_the_budget_and_the_frames_follow():
    was, pressure = world()["budget_ns"], world()["pressure"]
    slider = browser.driver.find_element("css selector", "input[type=range][name=budget_ns]")
    while float(slider.get_attribute("value")) > 3:
        slider.send_keys(Keys.PAGE_DOWN)
    wanted = round(float(slider.get_attribute("value")) * 1e6)
    assert wanted < was / 2, wanted
    wait("the world has it", lambda: world()["budget_ns"] == wanted)
    wait("the page shows frames within it", lambda: browser.script(
        "return parseFloat(document.querySelector('#plots b').textContent)") < was / 2e6)
    wait("and the pressure rises", lambda: tile("Pressure") > pressure * 1.05)
    field = browser.find("control-budget_ns")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("10", Keys.TAB)
    wait("a number is as good", lambda: world()["budget_ns"] == 10000000)


def verdict():
    return browser.script("const { code, severity } = document.getElementById('verdict').dataset; "
                          "return [code, severity, document.getElementById('verdict').innerText]")


def says_how_the_world_does():
    """The daemon's own verdict, whatever this machine makes of it; and what is cut to a tenth is overloaded."""
    wait("the page says what the daemon says", lambda: verdict()[:2] == [world()["verdict"][name]
                                                                         for name in ("code", "severity")])
    before = world()
    api = "const { ask } = await import('/api.js'); await ask('PATCH', '/v1/worlds/main', given[0]);"
    browser.module("format.js", api, {"budget_ns": 300000})
    wait("a tenth is not enough", lambda: verdict()[0] in ("overloaded", "late"))
    assert re.search(r"wants [\d.]+ processors, has [\d.]+", verdict()[2]), verdict()
    assert verdict()[1] == "warning", verdict()
    assert browser.script("return document.querySelector('#verdict .next').textContent"), "with a next step"
    browser.module("format.js", api, {"budget_ns": before["budget_ns"]})
    top = "const { put } = await import('/verdict.js'); const long = 'wants 12.8 processors, has 10.0; the most important "
    top += "NPCs every 117 ms (wanted: 57.5 ms), the least important every 13.5 s (wanted: 57.5 ms)'; "
    top += "put({ code: 'overloaded', severity: 'good', words: given[0] ? long : '', next: '' }); "
    top += "return document.getElementById('map-canvas').getBoundingClientRect().top;"
    assert browser.module("format.js", top, 0) == browser.module("format.js", top, 1), "the map stays where it is"


def rows(list_):
    return browser.script("return [...document.querySelectorAll(`#${arguments[0]} button`)]"
                          ".map((one) => [one.dataset.agent, one.textContent])", list_)


def is_chosen(agent):
    return browser.find("agent").is_displayed() and browser.find("agent-title").text.endswith(f" {agent}")


def is_there(agent):
    """Lists have whoever died in the last frames until they are asked for anew."""
    try:
        return bool(ask(f"/v1/worlds/main/agents/{agent}"))
    except urllib.error.HTTPError:
        return False


def is_in_the_middle(agent):
    """Of the map."""
    at = ask(f"/v1/worlds/main/agents/{agent}")["position"]
    x, y = browser.module("map.js", "return [it.view.x, it.view.y]")
    return abs(at["x"] - x) < 1 and abs(at["y"] - y) < 1


def lists_agents_that_stand_out_and_finds_others():
    """Paused, so that none is eaten meanwhile."""
    browser.find("pause").click()
    wait("it is paused", lambda: browser.find("state").text == "paused")
    frame = world()["frame"]["number"]
    lists_and_finds()
    assert world()["frame"]["number"] == frame
    browser.find("pause").click()
    wait("it goes on", lambda: browser.find("state").text == "running")


def lists_and_finds():
    wait("the lists are there", lambda: all(len(rows(f"most-{name}")) == 8 for name in ("expensive", "important")))
    wait("of agents that live", lambda: is_there(rows("most-important")[0][0]))
    agent = rows("most-important")[0][0]
    browser.script("document.querySelector(`#most-important button[data-agent='${arguments[0]}']`).click()", agent)
    wait("a click selects it", lambda: is_chosen(agent))
    wait("and the map goes there", lambda: is_in_the_middle(agent))
    wait("and marks it", lambda: shown("chosen"))
    browser.find("agent-close").click()
    search = browser.find("search")
    search.send_keys("bob")
    found = wait("agents of a type are found by how it begins", lambda: rows("found"))
    assert len(found) == 8 and all(text.startswith("bobcat ") for _, text in found), found
    search.send_keys(Keys.ESCAPE)
    wait("and let go", lambda: not rows("found"))
    agent = found[5][0]
    for text in (agent.split(".")[0], agent):
        search.send_keys(text)
        wait("one is found by its id", lambda: [one for one, _ in rows("found")] == [agent])
        search.send_keys(Keys.ENTER)
        wait("and chosen", lambda: is_chosen(agent) and is_in_the_middle(agent))
        browser.find("agent-close").click()
    search.send_keys("unicorn")
    wait("none is none", lambda: "No agent has the id unicorn" in browser.find("found-text").text)
    search.send_keys(Keys.ESCAPE)
    Select(browser.find("standouts-type")).select_by_value("bobcat")
    wait("lists of one type", lambda: rows("most-important")
         and all(text.startswith("bobcat ") for _, text in rows("most-important")))
    Select(browser.find("standouts-type")).select_by_value("")
    browser.find("fit").click()


def types_in_order(column):
    return browser.script("return [...document.querySelectorAll('#types tr.first')]"
                          ".map((row) => row.cells[arguments[0]].textContent)", column)


def sorts_types_by_what_they_cost():
    shares = wait("shares are known", lambda: "–" not in types_in_order(2) and types_in_order(2))
    shares = [float(text.split()[0]) for text in shares]
    assert len(shares) == 4 and shares == sorted(shares, reverse=True) and 98 < sum(shares) < 102, shares
    head = browser.driver.find_element("css selector", "#types button[data-key=name]")
    head.click()
    names = types_in_order(0)
    assert names == sorted(names) and head.find_element("xpath", "..").get_attribute("aria-sort") == "ascending", names
    head.click()
    assert types_in_order(0) == sorted(names, reverse=True)
    assert at_level(2) > 90000
    browser.find("types-levels").send_keys(Keys.SPACE)
    assert not browser.script("return document.querySelector('#types tr.level').checkVisibility()")
    browser.find("types-levels").send_keys(Keys.SPACE)
    browser.driver.find_element("css selector", "#types button[data-key=share]").click()


def seconds_kept():
    return browser.module("history.js", "return it.seconds.map(({ second }) => second)")


def forgets_nothing_when_it_is_loaded_again():
    kept = wait("some seconds are over", lambda: len(seconds_kept()) > 5 and seconds_kept())
    browser.driver.refresh()
    after = wait("the page has them again", lambda: seconds_kept())
    assert set(kept) <= set(after), (kept, after)
    drawn = "return Chart.getChart(document.querySelector('#plots canvas')).data.datasets[0].data.length"
    wait("and draws them", lambda: browser.script(drawn) > len(kept))
    browser.driver.find_element("css selector", "#plots-range [data-range=history]").click()
    wait("ten minutes are seconds", lambda: browser.script(drawn) == len(seconds_kept()))
    assert browser.script("return Chart.getChart(document.querySelector('#plots canvas')).scales.x.min") == -600
    browser.driver.find_element("css selector", "#plots-range [data-range=minute]").click()


# The values beside all lines, and those of the points nearest to the crosshair.
UNDER_THE_CROSSHAIR = """
  const { shared } = await import("/plot_marks.js");
  const plots = [...document.querySelectorAll("#plots figure")].map((figure) => {
    const { datasets } = Chart.getChart(figure.querySelector("canvas")).data;
    const near = datasets.map(({ data }) => data.reduce((best, one) =>
      Math.abs(one.x - shared.cursor) < Math.abs(best.x - shared.cursor) ? one : best)).map((best) => best.value ?? best.y);
    return { texts: [...figure.querySelectorAll("b")].map((one) => one.textContent), near };
  });
  return { cursor: shared.cursor, plots };"""


def tells_the_values_of_a_moment():
    """Paused, so that no plot moves between two looks at it."""
    browser.find("pause").click()
    wait("it is paused", lambda: browser.find("state").text == "paused")
    canvas = browser.driver.find_element("css selector", "#plots canvas")
    browser.script("arguments[0].scrollIntoView({ block: 'center' })", canvas)
    for part in (0.4, 0.3, 0.2, 0.1, 0.45):  # on a busy machine there are moments of which the page knows nothing
        ActionChains(browser.driver).move_to_element_with_offset(canvas, int(part * canvas.size["width"]), 0).perform()
        wait("the page says when", lambda: browser.find("plots-at").text.endswith("s ago"))
        found = browser.module("format.js", UNDER_THE_CROSSHAIR)
        if not any("–" in found["plots"][plot]["texts"] for plot in (1, 2)):
            break
    assert -60 < found["cursor"] < 0, found
    for plot in (1, 2):  # whose values are told as they are, and as whole numbers
        for text, near in zip(found["plots"][plot]["texts"], found["plots"][plot]["near"]):
            assert abs(number(text) - near) <= max(0.5, abs(near) * 0.01), (text, near, found)
    ActionChains(browser.driver).move_to_element(browser.find("plots-title")).perform()
    wait("without a pointer the newest are told", lambda: browser.find("plots-at").text == "")
    browser.find("plots").send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    wait("keys do it, too", lambda: browser.find("plots-at").text == "2.0 s ago")
    browser.find("plots").send_keys(Keys.ESCAPE)
    assert browser.find("plots-at").text == ""
    gap = "const chart = Chart.getChart(document.querySelector('#plots canvas')); return chart.gaps.some(([from, to]) => to - from > 2);"
    wait("where nothing ran, the plots are shaded", lambda: browser.script(gap))
    browser.find("pause").click()
    wait("it goes on", lambda: browser.find("state").text == "running")
    wait("and the line is broken there", lambda: browser.script(
        "return Chart.getChart(document.querySelector('#plots canvas')).getDatasetMeta(0).data.some((point) => point.stop)"))


def cuts_spikes_off():
    """One frame of five seconds among those of ten milliseconds."""
    def axis():
        return browser.script("const chart = Chart.getChart(document.querySelector('#plots canvas')); return [chart.scales.y.max, chart.cutOff]")

    wait("there are frames", lambda: browser.module("plots.js", "return it.samples.length") > 40)
    browser.module("plots.js", "const { frame } = it.samples.at(-1); it.add({ ...frame, wall_ns: 5e9 }); it.add(frame);")
    wait("the axis leaves it out, and it is told", lambda: axis()[0] < 2500 and axis()[1] == 5000)


def looks_at_weights():
    return sum(url.endswith("/weights") for url in browser.asked())


def type_slowly(name, text, follows):
    """Into a field that nobody touched before; between any two keys the page learns all values anew."""
    field = browser.find(f"control-{name}")
    field.click()
    field.send_keys(Keys.CONTROL, "a")
    for key in text:
        field.send_keys(key)
        frame, looks = tile("Frame"), looks_at_weights()
        wait("frames go on", lambda: tile("Frame") > frame + 10)
        if follows == "looks":
            wait("the page looked again", lambda: looks_at_weights() > looks + 1)
    assert field.get_attribute("value") == text, (name, field.get_attribute("value"))
    field.send_keys(Keys.ENTER)
    return field


def takes_what_is_typed_slowly():
    def guarantee_ms():
        return ask("/v1/worlds/main/weights")["guarantee_ns"] / 1e6

    before = guarantee_ms()
    field = type_slowly("guarantee_ns", "70", "looks")
    wait("the world has it", lambda: guarantee_ms() == 70)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(f"{before:.0f}", Keys.TAB)
    wait("and what it had before", lambda: guarantee_ms() == before)
    type_slowly("hz", "25", "frames")
    wait("the world has that, too", lambda: world()["hz"] == 25)
    field = type_slowly("hz", "9000", "frames")
    wait("what is refused gives way, though the cursor is in it", lambda: field.get_attribute("value") == "25")
    assert world()["hz"] == 25
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("30", Keys.TAB)
    wait("and is held again from the next key on", lambda: world()["hz"] == 30)


def pauses_and_steps():
    browser.find("pause").click()
    wait("it is paused", lambda: browser.find("state").text == "paused")
    frame = world()["frame"]["number"]
    browser.find("step").click()
    wait("one frame was run", lambda: tile("Frame") == frame + 1)
    assert world()["frame"]["number"] == frame + 1
    assert tile("Updates") == legend_of("completed") and tile("Carried") == legend_of("carried"), "all show the same"
    wait("the plots have it, too", lambda: browser.script(
        "return Chart.getChart(document.querySelectorAll('#plots canvas')[2]).data.datasets[2].data.at(-1).y")
        == tile("Carried"))
    browser.find("pause").click()
    wait("it goes on", lambda: browser.find("state").text == "running" and tile("Frame") > frame + 5)


def explains_an_agent():
    canvas = browser.find("map-canvas")
    for _ in range(20):
        if shown("map.isAgents"):
            break
        canvas.send_keys("+")
        maps = shown("maps")
        wait("the next map", lambda: shown("maps") > maps + 1)

    def picked():
        browser.module("map.js", """
          const map = it.shown.map, at = 8 * Math.floor(map.records / 2);
          it.view.centre(map.x0 + map.floats[at + 2], map.y0 + map.floats[at + 3]);""")
        canvas.send_keys(Keys.ENTER)
        return browser.find("agent").is_displayed()

    wait("an agent is found under the cross", picked)
    wait("it is explained", lambda: "runs every" in browser.find("agent-words").text)
    assert "Importance" in browser.find("agent-words").text
    browser.find("agent-close").click()
    browser.find("fit").click()


def survives_the_daemon():
    daemon.kill()
    wait("the banner tells", lambda: browser.find("banner").is_displayed()
         and "does not answer" in browser.find("banner").text)
    assert browser.find("state").text == "away"
    daemon.start()
    wait("the banner goes", lambda: not browser.find("banner").is_displayed())
    before = shown("maps")
    wait("the map goes on", lambda: shown("maps") > before + 5)
    wait("and the figures", lambda: tile("Agents") > 95000 and browser.find("state").text == "running")


def forgets_in_time_what_nobody_looks_at():
    """Frames of ten minutes come to a page in the background: it keeps a minute of them."""
    kept = browser.module("plots.js", """
      const now = performance.now.bind(performance), begin = now(), frame = it.samples.at(-1).frame;
      Object.defineProperty(document, "hidden", { value: true, configurable: true });
      for (let i = 0; i < 6000; i++) {
        performance.now = () => begin + 100 * i;
        it.add(frame);
      }
      const kept = it.samples.length;
      delete performance.now;
      delete document.hidden;
      it.forgetAll();
      return kept;""")
    assert 600 <= kept <= 620, kept


def finds_the_worlds_of_another_daemon():
    daemon.kill()
    daemon.start("other=herd", 3000)
    wait("the page shows what there is now", lambda: browser.find("state").text == "running"
         and browser.find("world").get_attribute("value") == "other" and not browser.find("banner").is_displayed())
    before = shown("maps")
    wait("its map goes on", lambda: shown("maps") > before + 5)
    herds = ask("/v1/worlds/other/herds?limit=1000")["herds"]
    assert len(herds) > 50 and sum(herd["leaves"] == 0 for herd in herds) > 30, "most are folded: they are no agents"
    wait("the whole world has them all", lambda: browser.module("map.js", """
      return given[0].every(({ position }) => {
        const [px, py] = it.view.toScreen(position.x, position.y);
        return px > -20 && py > -20 && px < it.view.width + 20 && py < it.view.height + 20;
      });""", herds))
    wait("and shows them", lambda: shown("herds.length") > 50)
    browser.driver.get("about:blank")
    browser.driver.get(daemon.address + "/#%zz")
    wait("an address that means nothing leads to a world", lambda: browser.find("state").text == "running")


def is_quiet(excused):
    loud = [line for line in browser.complaints() if not any(word in line for word in excused)]
    assert not loud, loud


def run(test):
    begin = time.monotonic()
    test()
    print(f"{time.monotonic() - begin:5.1f} s  {test.__name__}", flush=True)


def main():
    global browser
    daemon.start()
    browser = Browser(daemon.folder)
    browser.resize(1440, 900)
    browser.driver.get(daemon.address)
    for test in (shows_all_agents_and_goes_on, names_everything_that_can_be_used,
                 is_readable_in_the_dark_and_in_the_light, keeps_its_colours_apart, fits_a_phone_and_a_screen,
                 follows_a_window_that_is_pulled, moves_an_observer_and_the_levels_follow,
                 shows_the_observer_grid_on_request, takes_a_camera_by_the_hand,
                 takes_what_is_typed_slowly, moves_the_budget_and_the_frames_follow, pauses_and_steps,
                 explains_an_agent, lists_agents_that_stand_out_and_finds_others, sorts_types_by_what_they_cost,
                 tells_the_values_of_a_moment, cuts_spikes_off, says_how_the_world_does,
                 forgets_nothing_when_it_is_loaded_again, forgets_in_time_what_nobody_looks_at):
        run(test)
        is_quiet(["401 (Unauthorized)",  # by which the page learns that a token is wanted
                  "400 (Bad Request)"])  # a pace that no processor has
    for test in (survives_the_daemon, finds_the_worlds_of_another_daemon):
        run(test)
    is_quiet(["404 (Not Found)",  # of the world that is gone
              "ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_INCOMPLETE_CHUNKED_ENCODING",
              "ERR_EMPTY_RESPONSE", "ERR_SOCKET_NOT_CONNECTED"])
    asked = browser.asked()
    outside = [url for url in asked if not url.startswith((daemon.address + "/", "data:", "blob:", "chrome:"))]
    assert len(asked) > 50 and not outside, outside


if __name__ == "__main__":
    status = 0
    try:
        main()
    except Exception:  # whatever it is: tell it, and leave nothing running
        traceback.print_exc()
        status = 1
    finally:
        if browser:
            browser.close()
        daemon.close()
    sys.exit(status)
