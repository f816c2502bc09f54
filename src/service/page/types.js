/* types.js - the table of agent types: how many there are, what an update costs, and what share of all updates' time
 * they take; below each type its levels. A click on a column's head sorts the types by it. */
import { count, digits, duration } from "./format.js";

const table = document.getElementById("types"), byLevel = document.getElementById("types-levels");
const heads = [...table.querySelectorAll("thead button")];

/* What a type is sorted by, null where the table has no figure; and whether the greatest comes first. */
const measured = (name) => (row) => (row.levels.some(({ samples }) => samples) ? row[name] : null);
const keys = {
  name: { of: (row) => row.name, isDescending: false },
  agents: { of: (row) => row.agents, isDescending: true },
  share: { of: (row) => row.load, isDescending: true },
  mean: { of: measured("mean_ns"), isDescending: true },
  high: { of: measured("high_ns"), isDescending: true },
};
let sorted = "share", isDescending = true;

let bodies = new Map(); /* name of a type -> {body, rows} */
let costs = new Map();  /* name of a type -> loads of its levels, out of the newest ranking */
let newest = [];

/* --------------------------------------------------------------------------------------------------------- building */

function cell(kind, className) {
  return Object.assign(document.createElement(kind), { className: className ?? "" });
}

/* A row with the places that change. */
function addRow(body, name, level) {
  const row = document.createElement("tr"), share = cell("td", "share"), bar = document.createElement("span");
  const head = cell("th"), percent = cell("td", "number");
  head.scope = level === undefined ? "rowgroup" : "row";
  head.textContent = level === undefined ? name : `level ${level}`;
  share.append(bar);
  const cells = { row, agents: cell("td", "number"), percent, bar, mean: cell("td", "number"),
    high: cell("td", "number spare") };
  row.append(head, cells.agents, percent, share, cells.mean, cells.high);
  row.dataset.type = name;
  if (level !== undefined) row.dataset.level = level;
  row.className = level === undefined ? "first" : "level";
  body.append(row);
  return cells;
}

function bodyOf(type) {
  if (!bodies.has(type.name)) {
    const body = document.createElement("tbody");
    bodies.set(type.name, { body, whole: addRow(body, type.name), levels: new Map() });
    table.append(body);
  }
  return bodies.get(type.name);
}

/* ---------------------------------------------------------------------------------------------------------- showing */

function put(cells, { agents, load, mean_ns: mean, high_ns: high, samples }, all) {
  const share = all > 0 && load !== null ? load / all : null;
  cells.agents.textContent = count(agents);
  cells.percent.textContent = share === null ? "–" : `${digits(100 * share)} %`;
  cells.percent.title = share === null ? "" : `${digits(load)} processors`;
  cells.bar.style.width = `${100 * (share ?? 0)}%`;
  cells.mean.textContent = samples ? duration(mean) : "–";
  cells.high.textContent = samples ? duration(high) : "–";
}

/* Rows only come: a level that was used keeps its place. */
function showType(type, all) {
  const { whole, levels } = bodyOf(type), loads = costs.get(type.name);
  const samples = type.levels.reduce((sum, level) => sum + level.samples, 0);
  put(whole, { ...type, samples, load: loadOf(type.name) }, all);
  type.levels.forEach((level, i) => {
    if (!levels.has(i) && !level.agents && !level.samples) return;
    if (!levels.has(i)) levels.set(i, addRow(bodies.get(type.name).body, type.name, i));
    put(levels.get(i), { ...level, load: loads ? loads[i] : null }, all);
  });
}

const loadOf = (name) => costs.get(name)?.reduce((sum, load) => sum + load, 0) ?? null;

/* Types without a figure come last, whichever way the others are sorted; among equals the larger type is first. */
function compare(a, b) {
  const { of } = keys[sorted], left = of(a), right = of(b);
  if (left === null || right === null) return (left === null) - (right === null) || b.agents - a.agents;
  const order = left < right ? -1 : left > right ? 1 : 0;
  return (isDescending ? -order : order) || b.agents - a.agents;
}

function order() {
  const rows = newest.map((type) => ({ ...type, load: loadOf(type.name) })).sort(compare);
  const wanted = rows.map(({ name }) => bodies.get(name).body), now = [...table.tBodies];
  if (wanted.some((body, i) => body !== now[i])) table.append(...wanted);
}

function render() {
  const all = [...costs.keys()].reduce((sum, name) => sum + loadOf(name), 0);
  for (const type of newest) showType(type, all);
  order();
}

function sortBy(name) {
  isDescending = name === sorted ? !isDescending : keys[name].isDescending;
  sorted = name;
  for (const button of heads) {
    const head = button.closest("th");
    if (button.dataset.key === name) head.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  order();
}

/* Takes a types event. */
export function show({ types }) {
  newest = types;
  render();
}

/* Takes a ranking (service/ranking.h). */
export function rank({ types }) {
  costs = new Map(types.map(({ name, levels }) => [name, levels.map(({ load }) => load)]));
  render();
}

export function forgetAll() {
  bodies = new Map();
  costs = new Map();
  newest = [];
  for (const body of [...table.tBodies]) body.remove();
}

for (const button of heads) button.addEventListener("click", () => sortBy(button.dataset.key));
byLevel.addEventListener("change", () => table.classList.toggle("folded", !byLevel.checked));
