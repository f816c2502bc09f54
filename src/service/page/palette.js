/* palette.js - the colours of agents: one scale in the dark and in the light, from orange (runs most) over violet to
 * a dull blue. Every colour of it stands out from both grounds by 3 to 1, and levels stay apart for the colour-blind
 * (tests/service/page_colours.py). */
import { digits } from "./format.js";

const stops = [[249, 71, 0], [218, 101, 59], [169, 119, 174], [97, 101, 185], [48, 114, 124]];
export const STEPS = 64;

const prefersLight = matchMedia("(prefers-color-scheme: light)");

/* The scale, `words` as pixels and `css` as texts, 0 = runs most; and whether the ground is light. */
export const palette = { words: new Uint32Array(STEPS), css: [], isLight: prefersLight.matches };

for (let i = 0; i < STEPS; i++) {
  const at = (i / (STEPS - 1)) * (stops.length - 1), from = Math.min(Math.floor(at), stops.length - 2);
  const [r, g, b] = stops[from].map((value, k) => Math.round(value + (stops[from + 1][k] - value) * (at - from)));
  palette.words[i] = 0xff000000 | (b << 16) | (g << 8) | r;
  palette.css[i] = `rgb(${r} ${g} ${b})`;
}
prefersLight.addEventListener("change", () => (palette.isLight = prefersLight.matches));

/* The colour of a share 0 .. 1 of the scale. */
export const colourAt = (share) => palette.css[Math.round(share * (STEPS - 1))];

/* The colours of the nodes of a cluster, in both grounds as well; further nodes begin again with the first. */
export const nodes = [[47, 125, 225], [217, 100, 26], [173, 61, 128], [168, 132, 96], [120, 48, 252], [144, 132, 192]];

const nodeParts = (number) => nodes[Math.max(0, number) % nodes.length];

/* By the number of a node, as a text and as a pixel. */
export const nodeColour = (number) => `rgb(${nodeParts(number).join(" ")})`;
export const nodePixel = (number) => nodeParts(number).reduceRight((word, part) => (word << 8) | part, 0xff) >>> 0;

export const onSchemeChange = (listener) => prefersLight.addEventListener("change", listener);

/* ------------------------------------------------------------------------------------------------------------ modes */

export const LEVELS = 4;

/* `agent` and `cell`: the value of a record that begins at word `at`. `spot` says which agent's value a cell with many
 * shows: never a mean, in which the few that matter would be lost. Logarithmic modes take their range from the values
 * seen. */
const modes = {
  period: {
    title: "Period in force",
    agent: (map, at) => map.floats[at + 4],
    cell: (map, at) => map.floats[at + 3],
    spot: "the shortest in each spot",
    isLogarithmic: true,
    isFromLeast: true, /* few agents run most often, and users look for these */
  },
  level: {
    title: "Level",
    agent: (map, at) => (map.words[at + 7] >>> 16) & 255,
    cell: (map, at) => map.floats[at + 2],
    spot: "the best in each spot",
    low: 0,
    high: LEVELS - 1,
  },
  staleness: {
    title: "Time since the last update",
    agent: (map, at) => map.floats[at + 5],
    cell: (map, at) => map.floats[at + 4],
    spot: "of the agent that runs most often in each spot",
    isLogarithmic: true,
  },
  lateness: {
    title: "Staleness per period",
    agent: (map, at) => (map.floats[at + 4] > 0 ? map.floats[at + 5] / map.floats[at + 4] : 0),
    cell: (map, at) => map.floats[at + 5],
    spot: "the latest in each spot",
    low: 2, /* late agents stand out */
    high: 0,
  },
};

/* 1, 3, 10, 30, ... */
const stepBelow = (value) => Math.floor(2 * Math.log10(value) + 1e-6);
const stepValue = (step) => (step % 2 === 0 ? 10 ** (step / 2) : 3 * 10 ** ((step - 1) / 2));

/* The least value of all records except 0, which means none; 1 when all are 0. */
function leastOf(map, value) {
  let least = Infinity;
  for (let i = 0, at = 0; i < map.records; i++, at += map.stride) {
    const one = value(map, at);
    if (one > 0 && one < least) least = one;
  }
  return least === Infinity ? 1 : least;
}

export class Colouring {
  constructor(name) {
    this.mode = modes[name];
    this.low = this.mode.low ?? null;
    this.high = this.mode.high ?? null;
    this.hasSpots = false;
  }

  /* The function that reads the value from a record of this map. */
  readerFor(map) {
    return map.isAgents ? this.mode.agent : this.mode.cell;
  }

  /* Whether the legend changes: how agents are shown, or the range. */
  look(map) {
    const hadSpots = this.hasSpots;
    this.hasSpots = !map.isAgents;
    const isWider = this.mode.isLogarithmic && map.records > 0 && this.widen(map);
    return isWider || hadSpots !== this.hasSpots;
  }

  /* Widens the range to what nearly all records of a map say; it never narrows, so that colours keep their meaning. */
  widen(map) {
    const value = this.readerFor(map), every = Math.max(1, Math.floor(map.records / 500)), seen = [];
    for (let i = 0; i < map.records; i += every) seen.push(value(map, i * map.stride));
    seen.sort((a, b) => a - b);
    const least = this.mode.isFromLeast ? leastOf(map, value) : seen[Math.floor(seen.length * 0.03)];
    const low = stepBelow(Math.max(1e-3, least));
    const high = Math.max(low + 2, stepBelow(Math.max(1e-3, seen[Math.floor(seen.length * 0.97)])) + 1);
    if (this.low !== null && low >= this.low && high <= this.high) return false;
    this.low = Math.min(low, this.low ?? low);
    this.high = Math.max(high, this.high ?? high);
    return true;
  }

  /* The palette's step for a value. */
  step(value) {
    if (this.low === null) return 0;
    const at = this.mode.isLogarithmic ? 2 * Math.log10(Math.max(value, 1e-3)) : value;
    const share = (at - this.low) / (this.high - this.low);
    return Math.round(Math.min(1, Math.max(0, share)) * (STEPS - 1));
  }

  /* ------------------------------------------------------------------------------------------------------- legend */

  /* Texts for both ends and between them. */
  labels() {
    if (this.mode === modes.level) return ["0: in full", "1", "2", "3: cheapest"];
    if (this.mode === modes.lateness) return ["late: 2", "due: 1", "0"];
    if (this.low === null) return [];
    const values = [this.low, Math.round((this.low + this.high) / 2), this.high].map(stepValue);
    return values.map((s) => (s < 1 ? `${digits(s * 1e3)} ms` : `${digits(s)} s`).replace(/\.0+(?= )/, ""));
  }

  render(element) {
    const isLevels = this.mode === modes.level;
    const colours = isLevels ? [...Array(LEVELS).keys()].map((i) => palette.css[this.step(i)]) : palette.css;
    const title = this.hasSpots ? `${this.mode.title}, ${this.mode.spot}` : this.mode.title;
    renderScale(element, title, this.labels(), colours, isLevels ? 2 : 0);
  }
}

/* A title and a bar of colours, `gap` pixels apart, with texts below it; then what else belongs to the legend. */
export function renderScale(element, title, labels, colours, gap = 0, ...others) {
  const span = (textContent) => Object.assign(document.createElement("span"), { textContent });
  const canvas = document.createElement("canvas"), scale = span(""), below = span("");
  canvas.width = 4 * STEPS;
  canvas.height = 12;
  const context = canvas.getContext("2d"), width = canvas.width / colours.length;
  colours.forEach((colour, i) => {
    context.fillStyle = colour;
    context.fillRect(i * width, 0, width - gap, canvas.height);
  });
  scale.className = "scale";
  below.className = "labels";
  below.append(...labels.map(span));
  scale.append(canvas, below);
  element.replaceChildren(span(title), scale, ...others);
  const more = others.map((other) => `; ${other.textContent}`).join("");
  element.setAttribute("aria-label", `Legend. ${title}: ${labels.join(", ")}${more}`);
}
