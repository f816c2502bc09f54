"""What holds for the page whatever it shows: everything has a name, texts are readable, nothing lies over another."""

# For each text that is seen: how it stands out from the nearest ground behind it (WCAG 2, contrast ratio).
CONTRAST = """
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const groundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const weak = [];
  let seen = 0;
  for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!(hasText || element.matches("input")) || !element.checkVisibility()) continue;
    const [a, b] = [parse(getComputedStyle(element).color), groundOf(element)].map(light).sort((m, n) => n - m);
    seen++;
    if ((a + 0.05) / (b + 0.05) < 4.5) weak.push(`${element.outerHTML.slice(0, 80)}: ${(a + 0.05) / (b + 0.05)}`);
  }
  return { weak, seen };"""

# Controls that lie over one another; the handles lie over the map.
OVERLAPS = """
  const all = [...document.querySelectorAll("main button:not(.handle), .land button, header button, select, input, h1, h2, dt, dd")]
    .filter((element) => element.checkVisibility() && !element.matches(".unseen"));
  const rects = all.map((element) => element.getBoundingClientRect());
  const found = [];
  rects.forEach((a, i) => rects.forEach((b, k) => {
    if (i < k && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
      found.push([all[i].outerHTML.slice(0, 80), all[k].outerHTML.slice(0, 80)]);
  }));
  const page = document.documentElement;
  return { found, wide: page.scrollWidth - page.clientWidth, seen: all.length };"""


def name_everything(browser):
    roles = {"button", "checkbox", "combobox", "spinbutton", "slider", "textbox", "link", "application", "img", "region",
             "group"}
    for node in browser.command("Accessibility.getFullAXTree", {})["nodes"]:
        role = node.get("role", {}).get("value")
        if not node["ignored"] and role in roles:
            assert node.get("name", {}).get("value"), f"a {role} has no name: {node}"
    reachable = browser.script("return document.querySelectorAll('button, select, input, [tabindex=\"0\"]').length")
    assert reachable > 20, reachable
    order = browser.script("return [...document.querySelectorAll('h1, h2, h3')].map((head) => head.tagName)")
    assert order.count("H1") == 1 and "H3" not in order, order


def be_readable(browser, least):
    """In the dark and in the light; `least` texts are seen."""
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        browser.script("document.getElementById('token-dialog').showModal()")
        found = browser.script(CONTRAST)
        browser.script("document.getElementById('token-dialog').close('cancel')")
        assert found["seen"] > least and not found["weak"], (scheme, found)


def lie_apart(browser, width):
    """Controls and texts of a page that is so wide, and no wider."""
    result = browser.script(OVERLAPS)
    assert result["seen"] > 30 and not result["found"] and result["wide"] <= 0, (width, result)
