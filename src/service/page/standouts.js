/* standouts.js - the agents that stand out (service/ranking.h), in three lists, and the search for an agent. A click
 * selects the agent, and the map goes there. Lists stand still while someone points at them or is in them by keyboard,
 * so that nobody clicks another agent than the one they see. */
import { get, worldPath } from "./api.js";
import { digits, duration } from "./format.js";

const LOOK_MS = 2000, ROWS = 8, FOUND = 8, TYPES_FOUND = 3, PAUSE_MS = 250;

const card = document.getElementById("standouts"), choice = document.getElementById("standouts-type");
const field = document.getElementById("search"), results = document.getElementById("found");
const foundText = document.getElementById("found-text");

const lists = [
  { name: "delayed", empty: "no agent is overdue", value: (agent) => duration(agent.late_ns) },
  { name: "expensive", empty: "no agent has a period", value: (agent) => `${duration(agent.load * 1e9)}/s` },
  { name: "important", empty: "no agent has any", value: (agent) => digits(agent.importance) },
];
for (const list of lists) list.body = document.getElementById(`most-${list.name}`);

let world = null, isLost = true, types = [], select = () => {}, heard = () => {};

const isHeld = () => lists.some(({ body }) => body.matches(":hover") || body.contains(document.activeElement));

/* ------------------------------------------------------------------------------------------------------------ lists */

function entry(agent, value) {
  const item = document.createElement("li"), button = document.createElement("button");
  button.type = "button";
  button.dataset.agent = agent.agent;
  const name = Object.assign(document.createElement("span"), { textContent: `${agent.type} ${agent.agent}` });
  const figure = Object.assign(document.createElement("b"), { textContent: value });
  button.append(name, " ", figure);
  button.addEventListener("click", () => select(agent));
  item.append(button);
  return item;
}

function showLists(ranking) {
  for (const { name, body, empty, value } of lists) {
    const none = Object.assign(document.createElement("li"), { className: "quiet", textContent: empty });
    const items = ranking[name].map((agent) => entry(agent, value(agent)));
    body.replaceChildren(...(items.length ? items : [none]));
  }
}

async function look() {
  const of = world, type = choice.value ? `&type=${encodeURIComponent(choice.value)}` : "";
  try {
    const ranking = await get(`${worldPath(of)}/ranking?limit=${ROWS}${type}`);
    if (of !== world) return;
    heard(ranking);
    if (!isHeld()) showLists(ranking);
  } catch {
    /* the banner says that the daemon is not there */
  }
}

/* All agents are looked at for a ranking: pauses leave the daemon most of the time for other requests. */
async function lookForever() {
  for (let took = 0; ; ) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(LOOK_MS, 4 * took)));
    if (!world || isLost || document.hidden) continue;
    const begin = performance.now();
    await look();
    took = performance.now() - begin;
  }
}

/* ----------------------------------------------------------------------------------------------------------- search */

/* The agents that a text means: by id, or else by how their type begins. */
async function find(text) {
  const agents = `${worldPath(world)}/agents`;
  if (/^\d+\.\d+$/.test(text)) return get(`${agents}/${text}`).then((agent) => [agent], () => []);
  if (/^\d+$/.test(text)) {
    const { agents: [first] } = await get(`${agents}?cursor=${text}&limit=1`);
    return first && first.agent.startsWith(`${text}.`) ? [first] : [];
  }
  const names = types.filter((name) => name.toLowerCase().startsWith(text.toLowerCase())).slice(0, TYPES_FOUND);
  const pages = await Promise.all(names.map((name) =>
    get(`${agents}?type=${encodeURIComponent(name)}&limit=${FOUND}`)));
  return pages.flatMap((page) => page.agents).slice(0, FOUND);
}

let asked = 0, timer = 0;

async function search() {
  const text = field.value.trim(), number = ++asked;
  clearTimeout(timer);
  let found = [], problem = null;
  if (text && world) found = await find(text).catch((error) => ((problem = error.message), []));
  if (number !== asked) return [];
  results.replaceChildren(...found.map((agent) => entry(agent, `importance ${digits(agent.importance)}`)));
  results.hidden = found.length === 0;
  foundText.textContent = !text || found.length ? "" : problem ?? `No agent has the id ${text}, and no type begins so.`;
  return found;
}

function close() {
  field.value = "";
  search();
}

/* ------------------------------------------------------------------------------------------------------------ whole */

/* Takes a types event. */
export function show(event) {
  const names = event.types.map(({ name }) => name);
  if (names.join() === types.join()) return;
  types = names;
  choice.replaceChildren(new Option("all types", ""), ...names.map((name) => new Option(name, name)));
}

export function showWorld(name) {
  world = name;
  types = [];
  for (const { body } of lists) body.replaceChildren();
  close();
  if (!isLost) look();
}

export function setLost(lost) {
  if (isLost && !lost && world) look();
  isLost = lost;
}

/* Begins; `chosen` is called with an agent that was clicked, and `ranked` with every ranking. */
export function begin(chosen, ranked) {
  heard = ranked;
  select = (agent) => {
    close();
    chosen(agent);
  };
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE_MS);
  });
  field.addEventListener("keydown", async (event) => {
    if (event.key === "Escape") close();
    if (event.key !== "Enter") return;
    event.preventDefault();
    const [first] = await search();
    if (first) select(first);
  });
  choice.addEventListener("change", look);
  lookForever();
}
