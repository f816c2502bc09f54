/* field.js - the layer of the observer grid: requested for the area in view while it is switched on, one request at a
 * time, with pauses that grow with the time that a request takes. */
import { getMap } from "./api.js";
import { fieldColours } from "./field_draw.js";
import { count, metres } from "./format.js";
import { inView, repaint, shown, view } from "./map.js";
import { onSchemeChange, renderScale } from "./palette.js";

const PAUSE_MS = 120, SQUARE_PIXELS = 6, SQUARES_MAX = 16384, SQUARES_MIN = 64, WAITING = 2;

const box = document.getElementById("field"), legend = document.getElementById("field-legend");
const stateText = document.getElementById("field-state");
let isLost = true;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function key(className, textContent) {
  return Object.assign(document.createElement("span"), { className: `key ${className}`, textContent });
}

function render() {
  renderScale(legend, "Least that anyone in a cell gets from observers", ["1", "0.5", "0, or nothing known"],
    fieldColours(), 0, key("waiting", "listed for a look"), key("empty", "empty"));
}

/* What a square is, and how many are listed. */
function describe(field) {
  const across = Math.round((field.x1 - field.x0) / field.columns / field.edge);
  const cells = `${count(field.agents)} known cells of ${metres(field.edge)}`;
  let listed = 0;
  for (let i = 0; i < field.records; i++) listed += (field.words[i * field.stride + 2] & WAITING) > 0;
  const squares = across > 1 ? `, shown ${across} × ${across} together` : "";
  stateText.textContent = `${cells}${squares}; ${count(listed)} listed`;
}

async function askOnce() {
  const { world, partition } = shown, pixels = view.width * view.height;
  const max = Math.floor(Math.min(SQUARES_MAX, Math.max(SQUARES_MIN, pixels / SQUARE_PIXELS ** 2)));
  try {
    const field = await getMap(world, { ...inView(), max }, "cells");
    if (!box.checked || world !== shown.world || partition !== shown.partition) return;
    shown.field = field;
    describe(field);
    repaint();
  } catch (error) {
    stateText.textContent = error.status ? error.message : ""; /* the banner says that the daemon is not there */
  }
}

async function askForever() {
  for (let took = 0; ; ) {
    await sleep(Math.max(PAUSE_MS, 4 * took));
    took = 0;
    if (!box.checked || document.hidden || isLost || !shown.world || !view.scale) continue;
    const begin = performance.now();
    await askOnce();
    took = performance.now() - begin;
  }
}

/* Switched on or off. */
function change() {
  legend.hidden = !box.checked;
  stateText.textContent = "";
  shown.field = null;
  repaint();
}

export function setLost(lost) {
  isLost = lost;
}

export function begin() {
  box.addEventListener("change", change);
  onSchemeChange(render);
  render();
  change();
  askForever();
}
