/* types.js - the table of agent types: how many are at each level, and what an update costs there. */
import { count, duration } from "./format.js";

const body = document.getElementById("types");
let rows = new Map(); /* "type level" -> cells */

function cell(kind, className) {
  const element = document.createElement(kind);
  if (className) element.className = className;
  return element;
}

/* A row with the places that change. */
function addRow(type, level, span) {
  const row = document.createElement("tr"), share = cell("td", "share"), bar = document.createElement("span");
  if (span) {
    const head = cell("th");
    head.scope = "rowgroup";
    head.rowSpan = span;
    head.textContent = type.name;
    row.append(head);
    row.className = "first";
  }
  share.append(bar);
  const cells = { agents: cell("td", "number"), bar, mean: cell("td", "number"), high: cell("td", "number") };
  const of = cell("td");
  of.textContent = level;
  row.append(of, cells.agents, share, cells.mean, cells.high);
  row.dataset.type = type.name;
  row.dataset.level = level;
  body.append(row);
  rows.set(`${type.name} ${level}`, cells);
}

const indices = (type) => type.levels.map((_, level) => level);
const used = (type) => indices(type).filter((level) => type.levels[level].agents || type.levels[level].samples);

/* Rows only come: a level that was used keeps its place. */
function build(types) {
  const missing = types.some((type) => used(type).some((level) => !rows.has(`${type.name} ${level}`)));
  if (!missing) return;
  const known = rows;
  rows = new Map();
  body.replaceChildren();
  for (const type of types) {
    const own = indices(type).filter((i) => used(type).includes(i) || known.has(`${type.name} ${i}`));
    own.forEach((level, i) => addRow(type, level, i === 0 ? own.length : 0));
  }
}

/* Takes a types event. */
export function show({ types }) {
  build(types);
  for (const type of types)
    type.levels.forEach((level, i) => {
      const cells = rows.get(`${type.name} ${i}`);
      if (!cells) return;
      cells.agents.textContent = count(level.agents);
      cells.bar.style.width = `${type.agents ? (100 * level.agents) / type.agents : 0}%`;
      cells.mean.textContent = level.samples ? duration(level.mean_ns) : "–";
      cells.high.textContent = level.samples ? duration(level.high_ns) : "–";
    });
}

export function forgetAll() {
  rows = new Map();
  body.replaceChildren();
}
