/* plots.js - the last minute, or ten, as lines by Chart.js. Each plot has a legend of its own beside it, in text, with
 * the newest values, or those under the crosshair, which all plots share. Lines break where nothing ran, and spikes
 * that would flatten everything else are cut off at the top and told. */
import { count, digits, duration } from "./format.js";
import { FRAMES_S, SECONDS_S, addFrame, forget, frames, refresh, seconds, showWorld as showHistory } from "./history.js";
import { colourAt, onSchemeChange } from "./palette.js";
import { crosshair, gaps, shared, spikes } from "./plot_marks.js";

export { frames as samples } from "./history.js";

const DRAW_MS = 250, BANDS = 5, LEVELS = 4;

/* Blue, orange and grey differ in hue for the colour-blind, too; the first two are as light on both grounds. */
const blue = "#3f7fd6", orange = "#d9641a", grey = "#808894";

const ms = (ns) => ns / 1e6;
const perFrame = (name) => (second) => second[name] / second.frames;
const importance = ["0", "¼", "½", "¾", "1"];

/* `frame` reads a line's value from a frame event, `second` from a second of the history. A line without `frame` has
 * seconds in both views. */
const plots = [
  {
    title: "Frame time, ms",
    lines: [
      { name: "used", colour: blue, frame: (f) => ms(f.wall_ns), second: (s) => ms(s.wall_p50_ns), isFilled: true },
      { name: "worst of a second", colour: grey, second: (s) => ms(s.wall_max_ns) },
      { name: "budget", colour: orange, frame: (f) => ms(f.budget_ns), second: (s) => ms(s.budget_ns), isStepped: true },
    ],
  },
  {
    title: "Load; above 1 it does not fit",
    least: 1,
    lines: [
      { name: "pressure", colour: blue, frame: (f) => f.pressure, second: (s) => s.pressure, isFilled: true },
      { name: "of the important", colour: orange, frame: (f) => f.important_load, second: (s) => s.important_load },
    ],
  },
  {
    title: "Updates in a frame",
    format: count,
    lines: [
      { name: "released", colour: grey, frame: (f) => f.released, second: perFrame("released") },
      { name: "completed", colour: blue, frame: (f) => f.completed, second: perFrame("completed") },
      { name: "carried", colour: orange, frame: (f) => f.carried, second: (s) => s.carried },
    ],
  },
  {
    title: "How often agents run, by importance up to …",
    format: (value) => duration(value * 1e9),
    isLogarithmic: true,
    lines: Array.from({ length: BANDS }, (_, i) => BANDS - 1 - i).map((band, i) => ({
      name: `${importance[band]}:`,
      colour: colourAt(i / (BANDS - 1)),
      second: (s) => s[`got_ns_${band}`] / 1e9 || NaN,
    })),
  },
  {
    title: "Agents by level",
    format: count,
    isStacked: true,
    lines: Array.from({ length: LEVELS }, (_, i) => ({
      name: `${i}:`,
      colour: colourAt(i / (LEVELS - 1)),
      frame: (f) => f.levels[i],
      second: (s) => s[`level_${i}`],
      isFilled: true,
    })),
  },
];

const ranges = { minute: FRAMES_S, history: SECONDS_S };
let range = "minute";

/* --------------------------------------------------------------------------------------------------------- building */

const rgba = (colour, alpha) => colour.startsWith("#")
  ? `${colour}${Math.round(alpha * 255).toString(16).padStart(2, "0")}` : colour.replace(")", ` / ${alpha})`);

function options(plot) {
  const ticks = { font: { size: 11 }, maxRotation: 0, autoSkipPadding: 16 };
  const short = (value) => (value >= 1000 ? `${+(value / 1000).toPrecision(3)}k` : +value.toPrecision(3));
  return {
    animation: false,
    parsing: false,
    responsive: true,
    maintainAspectRatio: false,
    events: [],
    plugins: { legend: { display: false }, tooltip: { enabled: false } },
    elements: { point: { radius: 0 }, line: { borderWidth: 1.5 } },
    scales: {
      x: {
        type: "linear",
        max: 0,
        grid: { drawBorder: false },
        ticks: { ...ticks, callback: (value) => (value === 0 ? "now" : range === "minute" ? `${value} s` : `${value / 60} min`) },
      },
      y: {
        type: plot.isLogarithmic ? "logarithmic" : "linear",
        beginAtZero: !plot.isLogarithmic,
        suggestedMax: plot.least,
        grid: { drawBorder: false },
        ticks: { ...ticks, maxTicksLimit: 4, callback: plot.isLogarithmic ? powersOfTen : short },
      },
    },
  };
}

const powersOfTen = (value) => (Number.isInteger(Math.log10(value)) ? duration(value * 1e9) : "");

function build(plot) {
  const figure = document.createElement("figure"), caption = document.createElement("figcaption");
  const box = document.createElement("div"), canvas = document.createElement("canvas");
  const key = document.createElement("ul");
  caption.textContent = plot.title;
  plot.values = plot.lines.map((line) => {
    const item = document.createElement("li"), swatch = document.createElement("i");
    const value = document.createElement("b");
    swatch.style.backgroundColor = line.colour;
    item.append(swatch, `${line.name} `, value);
    key.append(item);
    return value;
  });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${plot.title}; the newest values, or those under the crosshair, stand above`);
  box.className = "plot";
  box.append(canvas);
  figure.append(caption, key, box);
  document.getElementById("plots").append(figure);
  const datasets = plot.lines.map((line, i) => ({
    data: [],
    stepped: line.isStepped ?? false,
    fill: line.isFilled ? (plot.isStacked && i > 0 ? "-1" : "origin") : false,
    borderColor: line.colour,
    backgroundColor: rgba(line.colour, plot.isStacked ? 0.4 : 0.2),
  }));
  plot.chart = new Chart(canvas, { type: "line", data: { datasets }, options: options(plot),
    plugins: [gaps, spikes, crosshair] });
  listen(canvas, plot.chart);
}

function colourAxes() {
  const style = getComputedStyle(document.documentElement);
  for (const { chart } of plots)
    for (const axis of [chart.options.scales.x, chart.options.scales.y]) {
      axis.ticks.color = style.getPropertyValue("--quiet").trim();
      axis.grid.color = style.getPropertyValue("--line").trim();
    }
}

/* ---------------------------------------------------------------------------------------------------------- drawing */

/* Seconds, and from the first frame event on frames; in the long view seconds alone. */
function points(line, now) {
  const old = (second) => ({ x: second.at - now, y: line.second(second) });
  if (range === "history") return seconds.map(old);
  const recent = seconds.filter((second) => now - second.at <= FRAMES_S + 2);
  if (!line.frame || frames.length === 0) return recent.map(old);
  const events = frames.map(({ at, frame }) => ({ x: at - now, y: line.frame(frame) }));
  return [...recent.filter((second) => second.at < frames[0].at - 0.5).map(old), ...events];
}

/* What lies below is added to each line's values. Chart.js could do that, too, but it keeps what it has stacked at each
 * x for as long as the page is open, and each time that a plot is drawn all x are others. */
function stack(lines) {
  lines.forEach((line, i) => line.forEach((point, at) => {
    point.value = point.y;
    if (i > 0) point.y += lines[i - 1][at].y;
  }));
  return lines;
}

/* The next 1, 1.5, 2, 3, 5 or 7 of a power of ten: axes end at round values. */
function roundUp(value) {
  const ten = 10 ** Math.floor(Math.log10(value));
  return ten * ([1, 1.5, 2, 3, 5, 7].find((step) => step * ten >= value * 0.999) ?? 10);
}

/* Where the axis ends when a few values are far above all others, so that these stay readable; null = they are not. */
function limit({ isStacked, isLogarithmic, least = 0 }, datasets) {
  if (isStacked || isLogarithmic) return null;
  const values = datasets.flatMap(({ data }) => data.map(({ y }) => y)).filter(Number.isFinite).sort((a, b) => a - b);
  const usual = Math.max(least, 1.5 * (values[Math.floor(values.length * 0.97)] ?? 0));
  return values.length > 30 && values.at(-1) > 1.5 * usual ? roundUp(usual) : null;
}

let drawn = 0, awaited = 0; /* when it was drawn last; the timer of the next time */

function draw() {
  clearTimeout(awaited);
  awaited = 0;
  if (document.hidden) return;
  drawn = performance.now();
  const now = drawn / 1e3, period = (frames.at(-1)?.frame.period_ns ?? 0) / 1e9;
  shared.gap = Math.max(range === "minute" ? 1.6 : 2.5, 2.5 * period);
  for (const plot of plots) {
    const { chart, lines } = plot, { x, y } = chart.options.scales;
    const all = lines.map((line) => points(line, now));
    (plot.isStacked ? stack(all) : all).forEach((data, i) => {
      Object.assign(chart.data.datasets[i], { data, spanGaps: shared.gap });
    });
    chart.hasFrames = range === "minute" && frames.length > 0 && lines[0].frame !== undefined;
    x.min = -ranges[range];
    x.ticks.stepSize = ranges[range] / 4;
    y.max = limit(plot, chart.data.datasets) ?? undefined;
    chart.update("none");
  }
  showValues();
}

function drawSoon() {
  if (!awaited) awaited = setTimeout(draw, Math.max(0, DRAW_MS - (performance.now() - drawn)));
}

/* ----------------------------------------------------------------------------------------------------------- values */

/* The point nearest to the crosshair; null where there is none within a gap. */
function nearest(data, x) {
  let low = 0, high = data.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data[middle].x < x) low = middle + 1;
    else high = middle;
  }
  const [a, b] = [data[low - 1], data[low]], best = !a || (b && b.x - x < x - a.x) ? b : a;
  return best && Math.abs(best.x - x) <= shared.gap ? best : null;
}

const readout = document.getElementById("plots-at");
const asText = (plot, value) => (Number.isFinite(value) ? (plot.format ?? digits)(value) : "–");

function showValues() {
  const { cursor } = shared;
  for (const plot of plots)
    plot.lines.forEach((line, i) => {
      const { data } = plot.chart.data.datasets[i];
      const at = cursor === null ? (line.frame && frames.length ? null : data.at(-1)) : nearest(data, cursor);
      const isNewest = cursor === null && line.frame && frames.length > 0;
      plot.values[i].textContent = asText(plot, isNewest ? line.frame(frames.at(-1).frame) : at?.value ?? at?.y);
    });
  readout.textContent = cursor === null ? "" : `${(-cursor).toFixed(range === "minute" ? 1 : 0)} s ago`;
}

function setCursor(cursor) {
  shared.cursor = cursor === null ? null : Math.min(0, Math.max(-ranges[range], cursor));
  for (const { chart } of plots) chart.draw();
  showValues();
}

function listen(canvas, chart) {
  const follow = (event) => setCursor(chart.scales.x.getValueForPixel(event.offsetX));
  for (const kind of ["pointerdown", "pointermove"]) canvas.addEventListener(kind, follow);
  canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && setCursor(null));
}

/* The crosshair by keys, for all plots as one. */
function key(event) {
  const step = (ranges[range] / 60) * (event.shiftKey ? 10 : 1), from = shared.cursor ?? 0;
  const places = { ArrowLeft: from - step, ArrowRight: from + step, Home: -ranges[range], End: 0, Escape: null };
  if (!(event.key in places)) return;
  event.preventDefault();
  setCursor(places[event.key]);
}

/* ------------------------------------------------------------------------------------------------------------ whole */

/* Takes a frame event. The newest one is always drawn, though not at once: it may be the last one for a long time. */
export function add(frame) {
  addFrame(frame);
  if (shared.cursor === null)
    for (const plot of plots)
      plot.lines.forEach((line, i) => line.frame && (plot.values[i].textContent = asText(plot, line.frame(frame))));
  if (range === "minute") drawSoon();
}

/* Takes the seconds that are over; called once a second. */
export async function look() {
  if (!document.hidden) await refresh();
  drawSoon(); /* old lines move on even while nothing runs */
}

export function forgetAll() {
  forget();
  drawSoon();
}

export function showWorld(name) {
  showHistory(name);
  shared.cursor = null;
  look();
}

function choose(name) {
  range = name;
  for (const button of document.querySelectorAll("#plots-range button"))
    button.setAttribute("aria-pressed", button.dataset.range === name);
  setCursor(null);
  draw();
}

for (const plot of plots) build(plot);
colourAxes();
onSchemeChange(() => {
  colourAxes();
  draw();
});
for (const button of document.querySelectorAll("#plots-range button"))
  button.addEventListener("click", () => choose(button.dataset.range));
document.getElementById("plots").addEventListener("keydown", key);
document.getElementById("plots").addEventListener("blur", () => setCursor(null));
document.addEventListener("visibilitychange", () => (document.hidden ? null : look()));
