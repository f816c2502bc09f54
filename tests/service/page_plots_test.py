"""What the plots of the page keep, however often they are drawn; and the order of its table of types."""
import sys
import traceback
import urllib.request

from page_daemon import TOKEN, Browser, Daemon, wait

DRAWS = 300
daemon = Daemon()
browser = None

# All objects that the plots hold, without the page's own nodes; and the points that they show.
HELD = """
  const seen = new Set(), open = Object.values(Chart.instances);
  while (open.length) {
    const one = open.pop();
    if (one === null || (typeof one !== "object" && typeof one !== "function")) continue;
    if (seen.has(one) || one === window || one instanceof Node || ArrayBuffer.isView(one)) continue;
    seen.add(one);
    if (one instanceof Map) open.push(...one.keys(), ...one.values());
    if (one instanceof Set) open.push(...one);
    for (const name of Reflect.ownKeys(one)) {
      try {
        const own = Object.getOwnPropertyDescriptor(one, name);
        if (own && "value" in own) open.push(own.value);
      } catch { /* a proxy of the options, which says what it has not: they are held elsewhere, too */ }
    }
  }
  const points = Object.values(Chart.instances).flatMap((chart) => chart.data.datasets).map(({ data }) => data.length);
  return [seen.size, points.reduce((a, b) => a + b, 0)];
"""


def pause():
    asked = urllib.request.Request(f"{daemon.address}/v1/worlds/main", b'{"paused": true}', method="PATCH",
                                   headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        assert answer.status == 200


def keeps_no_more_however_often_it_draws():
    """The button of the range that is shown draws all plots at once; each time all points are a little further left."""
    wait("the plots have points", lambda: browser.script(HELD)[1] > 400)
    pause()
    wait("no frame comes any more", lambda: browser.find("state").text == "paused")
    before, points = browser.script(HELD)
    browser.script("""
      const button = document.querySelector("#plots-range [aria-pressed=true]");
      for (let i = 0; i < arguments[0]; i++) {
        for (const end = performance.now() + 1; performance.now() < end; ) continue;
        button.click();
      }""", DRAWS)
    after, more = browser.script(HELD)
    print(f"{before} objects for {points} points, after {DRAWS} drawings {after} for {more}")
    assert after - before < 3 * abs(more - points) + 1000, (before, points, after, more)


def stacks_levels_and_tells_each():
    """Each line lies on the one below; what stands beside it is the line's own value."""
    levels = browser.module("api.js", """
      const chart = Object.values(Chart.instances).find(({ data }) => data.datasets.some(({ fill }) => fill === "-1"));
      const at = chart.data.datasets.map(({ data }) => data.at(-1));
      return at.map(({ y, value }) => [y, value]);""")
    assert len(levels) == 4, levels
    below = 0
    for height, value in levels:
        below += value
        assert height == below, levels
    assert levels[-1][0] > 100, levels


# One whose updates were never measured, so that the table has no figure; one that the ranking does not know yet.
TYPES = """
  const level = (agents, samples) => ({ level: 0, agents, mean_ns: 1000, high_ns: 2000, samples });
  const type = (name, agents, samples, mean_ns) =>
    ({ name, agents, mean_ns, high_ns: 2 * mean_ns, levels: [level(agents, samples)] });
  it.forgetAll();
  it.show({ types: [type("guessed", 5, 0, 9000), type("cheap", 10, 99, 1000), type("dear", 20, 99, 5000),
                    type("new", 900, 99, 3000)] });
  it.rank({ types: [["guessed", 0.4], ["cheap", 0.1], ["dear", 0.3]].map(([name, load]) =>
    ({ name, levels: [{ agents: 1, load }] })) });
  for (let i = 0; i < given[1]; i++) document.querySelector(`#types button[data-key=${given[0]}]`).click();
  return [...document.querySelectorAll("#types tr.first th")].map((cell) => cell.textContent);
"""


def sorts_types_by_the_figures_that_it_shows():
    """What has no figure comes last, whichever way the others are sorted."""
    for key, clicks, wanted in (("share", 2, ["guessed", "dear", "cheap", "new"]), ("mean", 1, ["dear", "new", "cheap", "guessed"]),
                                ("mean", 1, ["cheap", "new", "dear", "guessed"]),
                                ("high", 1, ["dear", "new", "cheap", "guessed"]),
                                ("share", 1, ["guessed", "dear", "cheap", "new"]),
                                ("share", 1, ["cheap", "dear", "guessed", "new"])):
        found = browser.module("types.js", TYPES, key, clicks)
        assert found == wanted, (key, clicks, found)


def main():
    global browser
    daemon.start(agents=2000)
    browser = Browser(daemon.folder)
    browser.resize(1440, 900)
    browser.driver.get(daemon.address)
    for test in (keeps_no_more_however_often_it_draws, stacks_levels_and_tells_each,
                 sorts_types_by_the_figures_that_it_shows):
        test()
    assert not browser.complaints()


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
