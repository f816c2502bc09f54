/* processes.js - the processes of the worlds (isolation = process): which worlds do not run, why, and a button that
 * starts one again. Of the world that is shown the verdict says it; the others have a line each below, but for those that
 * run on another node of the cluster. A daemon that runs all worlds in one process has none, and is asked only when the
 * page loses it. */
import { ask, get, worldPath } from "./api.js";
import { ownerElsewhere } from "./land.js";
import * as verdict from "./verdict.js";

const LOOK_MS = 2000;
const box = document.getElementById("downs"), allowed = document.getElementById("allowed");
const restart = document.getElementById("verdict-restart");
let world = null, isLost = true, listener = null, known = new Map(), starts = 0;

/* "world W has failed", "it ended 4 times ..." and what to do. */
function words(process) {
  const text = process.words ?? `world ${process.world} is ${process.state}`, failed = `world ${process.world} has failed`;
  const [what, ...next] = text.split("; ");
  if (!what.startsWith(`${failed}: `)) return { title: process.state, what, next: next.join("; ") };
  return { title: failed, what: what.slice(failed.length + 2), next: next.join("; ") };
}

async function start(name) {
  try {
    await ask("POST", `${worldPath(name)}/restart`);
    await look();
    if (name === world) listener.retry();
  } catch (error) {
    listener.note(error.message);
  }
}

/* ---------------------------------------------------------------------------------------------------------- showing */

function line(process) {
  const { title, what } = words(process), row = document.createElement("li"), text = document.createElement("p"), button = document.createElement("button");
  row.dataset.severity = process.state === "failed" ? "alarm" : "warning";
  text.append(Object.assign(document.createElement("span"), { className: "sign", ariaHidden: "true" }),
    Object.assign(document.createElement("strong"), { textContent: title }), what);
  button.type = "button";
  button.textContent = `Start ${process.world} again`;
  button.addEventListener("click", () => start(process.world));
  row.append(text, button);
  return row;
}

/* Rows are made anew only when they say something else, so that a button stays where it is. */
function showOthers() {
  const others = [...known.values()].filter((one) => one.words && one.world !== world && !ownerElsewhere(one.world));
  const key = JSON.stringify(others.map((one) => [one.world, one.state, one.reason, one.ends]));
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren(...others.map(line));
  box.hidden = others.length === 0;
}

function showOwn() {
  const own = known.get(world), isAway = isLost && own && own.state !== "running";
  restart.hidden = !(isAway && (own.state === "failed" || own.state === "waiting") && !ownerElsewhere(world));
  if (isAway) {
    const { title, what, next } = words(own);
    verdict.put({ code: own.state, title, severity: own.state === "failed" ? "alarm" : "warning", words: what,
      next: next && `${next}.` });
  }
  const notes = own?.allow === "network" ? ["network allowed"] : [];
  if (own?.refused_calls) notes.push(`${own.refused_calls} calls refused`);
  allowed.hidden = notes.length === 0;
  allowed.textContent = notes.join(", ");
  return isAway ? own : null;
}

/* Tells once when the world that is shown came back in another process. */
function tellOfRestart() {
  const own = known.get(world);
  if (!own || isLost || own.state !== "running") return;
  if (starts && own.starts > starts)
    listener.note(`World ${world} runs again, in a new process${own.reason ? `: ${own.reason}` : ""}.`);
  starts = own.starts;
}

/* ------------------------------------------------------------------------------------------------------------ whole */

/* Where a world is, for the list: "running" here, a state, or on another node. */
const placeOf = (name, state) => {
  const owner = state !== "running" && ownerElsewhere(name);
  return owner ? `on ${owner}` : state;
};

/* Asks the daemon; all its worlds, those that run here first, with the state of those that do not. */
export async function look() {
  const { worlds, processes = [] } = await get("/v1/worlds");
  known = new Map(processes.map((one) => [one.world, one]));
  showOthers();
  tellOfRestart();
  const all = (known.size ? processes : worlds).map(({ world: name, state = "running" }) =>
    ({ name, state: placeOf(name, state) }));
  listener.listed(all, showOwn());
  const runs = all.filter((one) => one.state === "running"), others = all.filter((one) => one.state !== "running");
  return [...runs, ...others].map((one) => one.name);
}

export function showWorld(name) {
  world = name;
  starts = known.get(name)?.starts ?? 0;
  showOthers();
  showOwn();
}

export function setLost(lost) {
  isLost = lost;
  showOwn();
  if (known.size) look().catch(() => {});
}

/* The listener has listed(worlds, own), own: the process of the shown world while that does not run, else null;
 * note(text) and retry(). */
export function begin(to) {
  listener = to;
  restart.addEventListener("click", () => start(world));
  setInterval(() => known.size && !document.hidden && look().catch(() => {}), LOOK_MS);
}
