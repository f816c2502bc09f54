/* plots.js - the last minute of frames as lines, by Chart.js. Each plot has a legend of its own beside it, in text,
 * that says the newest values. */
import { count, digits } from "./format.js";
import { LEVELS, STEPS, onSchemeChange, palette } from "./palette.js";

const SECONDS = 60, DRAW_MS = 250;

/* Colours that differ in lightness and hue, also for colour-blind users: blue, orange, and the grey of text. */
const tints = () => (palette.isLight
  ? { first: "#1d5fa8", second: "#b3541e", third: "#6b4c9a", quiet: "#5c5a52", grid: "#e3ded2" }
  : { first: "#6db3f2", second: "#ffb454", third: "#c9a6ff", quiet: "#9aa5b8", grid: "#232d3f" });
const level = (i) => () => palette.css[Math.round((i / (LEVELS - 1)) * (STEPS - 1))];

const ms = (ns) => ns / 1e6;
const plots = [
  {
    title: "Frame time, ms",
    lines: [
      { name: "used", colour: (t) => t.first, of: (frame) => ms(frame.wall_ns), isFilled: true },
      { name: "budget", colour: (t) => t.second, of: (frame) => ms(frame.budget_ns), isStepped: true },
    ],
  },
  {
    title: "Pressure; above 1, not even the longest periods fit the budget",
    lines: [{ name: "pressure", colour: (t) => t.third, of: (frame) => frame.pressure, isFilled: true }],
    least: 1,
  },
  {
    title: "Updates in a frame",
    format: count,
    lines: [
      { name: "released", colour: (t) => t.quiet, of: (frame) => frame.released },
      { name: "completed", colour: (t) => t.first, of: (frame) => frame.completed },
      { name: "carried", colour: (t) => t.second, of: (frame) => frame.carried },
    ],
  },
  {
    title: "Agents by level",
    format: count,
    isStacked: true,
    lines: Array.from({ length: LEVELS }, (_, i) => ({
      name: `${i}:`,
      colour: level(i),
      of: (frame) => frame.levels[i],
      isFilled: true,
    })),
  },
];

function colourAll() {
  const tint = tints();
  for (const { chart, lines, swatches } of plots) {
    lines.forEach((line, i) => {
      const colour = line.colour(tint);
      const set = chart.data.datasets[i];
      Object.assign(set, { borderColor: colour, backgroundColor: colour.replace(")", " / 0.35)") });
      if (colour.startsWith("#")) set.backgroundColor = `${colour}30`;
      swatches[i].style.backgroundColor = colour;
    });
    for (const axis of [chart.options.scales.x, chart.options.scales.y]) {
      axis.ticks.color = tint.quiet;
      axis.grid.color = tint.grid;
    }
  }
}

function options(plot) {
  const ticks = { font: { size: 11 }, maxRotation: 0, autoSkipPadding: 16 };
  return {
    animation: false,
    parsing: false,
    normalized: true,
    responsive: true,
    maintainAspectRatio: false,
    events: [],
    plugins: { legend: { display: false }, tooltip: { enabled: false } },
    elements: { point: { radius: 0 }, line: { borderWidth: 1.5 } },
    scales: {
      x: {
        type: "linear",
        min: -SECONDS,
        max: 0,
        grid: { drawBorder: false },
        ticks: { ...ticks, stepSize: 15, callback: (value) => (value === 0 ? "now" : `${value} s`) },
      },
      y: {
        stacked: plot.isStacked ?? false,
        beginAtZero: true,
        suggestedMax: plot.least,
        grid: { drawBorder: false },
        ticks: { ...ticks, maxTicksLimit: 4, callback: (value) => (value >= 1000 ? `${value / 1000}k` : value) },
      },
    },
  };
}

function build(plot) {
  const figure = document.createElement("figure"), caption = document.createElement("figcaption");
  const box = document.createElement("div"), canvas = document.createElement("canvas");
  const key = document.createElement("ul");
  caption.textContent = plot.title;
  plot.values = [];
  plot.swatches = [];
  for (const line of plot.lines) {
    const item = document.createElement("li"), swatch = document.createElement("i");
    const value = document.createElement("b");
    item.append(swatch, `${line.name} `, value);
    key.append(item);
    plot.values.push(value);
    plot.swatches.push(swatch);
  }
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${plot.title}, the last ${SECONDS} seconds; the newest values stand above`);
  box.className = "plot";
  box.append(canvas);
  figure.append(caption, key, box);
  document.getElementById("plots").append(figure);
  const datasets = plot.lines.map((line, i) => ({
    data: [],
    stepped: line.isStepped ?? false,
    fill: line.isFilled ? (plot.isStacked && i > 0 ? "-1" : "origin") : false,
  }));
  plot.chart = new Chart(canvas, { type: "line", data: { datasets }, options: options(plot) });
}

/* ---------------------------------------------------------------------------------------------------------- samples */

export const samples = []; /* {at: seconds, frame} */
let drawn = 0, awaited = 0; /* when it was drawn last; the timer of the next time */

function draw() {
  clearTimeout(awaited);
  awaited = 0;
  if (document.hidden) return;
  drawn = performance.now();
  const now = drawn / 1e3;
  for (const { chart, lines } of plots) {
    lines.forEach((line, i) => {
      chart.data.datasets[i].data = samples.map(({ at, frame }) => ({ x: at - now, y: line.of(frame) }));
    });
    chart.update("none");
  }
}

/* Takes a frame event. Old samples are dropped even while the page is hidden. The newest one is always drawn, though
 * not at once: it may be the last one for a long time. */
export function add(frame) {
  const now = performance.now();
  samples.push({ at: now / 1e3, frame });
  while (now / 1e3 - samples[0].at > SECONDS + 1) samples.shift();
  for (const { lines, values, format } of plots)
    lines.forEach((line, i) => (values[i].textContent = (format ?? digits)(line.of(frame))));
  if (!awaited) awaited = setTimeout(draw, Math.max(0, DRAW_MS - (now - drawn)));
}

export function forgetAll() {
  samples.length = 0;
}

for (const plot of plots) build(plot);
colourAll();
onSchemeChange(() => {
  colourAll();
  draw();
});
document.addEventListener("visibilitychange", draw);
