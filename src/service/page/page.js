/* page.js - puts the live page together: which world is shown, and whether the daemon is there.
 *
 *     stream.js --frame, types--> tiles, plots.js, types.js, bands.js, controls.js, verdict.js
 *     standouts.js asks for rankings and finds agents; history.js asks for the seconds that plots.js shows
 *     map.js <---- asks for itself, as fast as it draws; observers.js and agent.js lie on top of it, field.js below
 *     processes.js asks for the worlds: which there are, and why one does not run
 *     land.js asks for the whole cluster, where the daemon is in one
 *     api.js <---- all requests, the token */
import * as agent from "./agent.js";
import { ask, unescaped, worldPath } from "./api.js";
import * as bands from "./bands.js";
import * as controls from "./controls.js";
import { count, digits, duration } from "./format.js";
import * as field from "./field.js";
import * as land from "./land.js";
import * as map from "./map.js";
import * as observers from "./observers.js";
import * as plots from "./plots.js";
import * as processes from "./processes.js";
import { follow, retry } from "./stream.js";
import * as standouts from "./standouts.js";
import * as types from "./types.js";
import * as verdict from "./verdict.js";

const element = (id) => document.getElementById(id);
const worldField = element("world"), stateText = element("state"), pauseButton = element("pause");
const banner = element("banner"), bannerText = element("banner-text");
let world = null, isPaused = false, isLost = true;

/* A line for the user where it is seen: in the banner's place, without its alarm. */
let noteTimer = 0;
function note(text) {
  if (isLost) return;
  clearTimeout(noteTimer);
  bannerText.textContent = text;
  banner.className = "banner note";
  element("retry").hidden = true;
  banner.hidden = false;
  noteTimer = setTimeout(() => !isLost && (banner.hidden = true), 5000);
}

/* ------------------------------------------------------------------------------------------------------------ tiles */

const tiles = [
  ["Agents", (frame) => count(frame.agents)],
  ["Frame time", (frame) => duration(frame.wall_ns)],
  ["of its budget", (frame) => `${digits((100 * frame.wall_ns) / frame.budget_ns)} %`],
  ["Pressure", (frame) => digits(frame.pressure)],
  ["Important load", (frame) => `${digits(100 * frame.important_load)} %`],
  ["Updates", (frame) => count(frame.completed)],
  ["Carried", (frame) => count(frame.carried)],
  ["Quarantined", (frame) => count(frame.agents_quarantined)],
  ["Frame", (frame) => count(frame.frame)],
];

const values = tiles.map(([title]) => {
  const box = document.createElement("div"), value = document.createElement("dd");
  box.append(Object.assign(document.createElement("dt"), { textContent: title }), value);
  element("tiles").append(box);
  return value;
});

/* Those of another world are none of this one's. */
function forgetFigures() {
  for (const value of values) value.textContent = "–";
}

function showFrame(frame) {
  tiles.forEach(([, of], i) => (values[i].textContent = of(frame)));
  isPaused = frame.paused;
  pauseButton.textContent = isPaused ? "Resume" : "Pause";
  const state = frame.failed ? "failed" : isPaused ? "paused" : "running";
  if (stateText.textContent !== state) stateText.textContent = state;
  stateText.dataset.state = state;
  controls.show(frame);
  map.setHerds(frame.herds_folded + frame.herds_unfolded > 0);
  plots.add(frame);
}

/* ----------------------------------------------------------------------------------------------------------- daemon */

function setLost(lost) {
  isLost = lost;
  for (const part of [map, field, observers, agent, controls, standouts, verdict, processes]) part.setLost(lost);
  document.body.classList.toggle("lost", lost);
}

function warn(text) {
  if (bannerText.textContent !== text) bannerText.textContent = text;
  banner.className = "banner";
  element("retry").hidden = false;
  banner.hidden = false;
}

const listener = {
  frame: showFrame,
  types(event) {
    verdict.show(event);
    types.show(event);
    bands.show(event);
    standouts.show(event);
    plots.look();
  },
  live() {
    if (!isLost) return;
    setLost(false);
    banner.hidden = true;
    processes.look().catch(() => {});
  },
  lost(reason, wait) {
    setLost(true);
    clearTimeout(noteTimer);
    stateText.textContent = "away";
    stateText.dataset.state = "away";
    warn(`${reason} What is shown is old. The page tries again on its own.`);
    banner.title = `in ${digits(wait / 1000)} s`;
    leaveWorldThatIsGone().catch(() => {});
  },
};

/* ----------------------------------------------------------------------------------------------------------- worlds */

/* Worlds that do not run are in the list, too. */
function showNames(all) {
  const key = JSON.stringify(all);
  if (worldField.dataset.key === key) return;
  worldField.dataset.key = key;
  worldField.replaceChildren(...all.map(({ name, state }) =>
    new Option(state === "running" ? name : `${name} (${state})`, name, false, name === world)));
}

/* `own`: the process of this world while that does not run. The daemon is there then, and the verdict says what is the
 * matter. */
function showProcesses(all, own) {
  showNames(all);
  if (!own || !isLost) return;
  const owner = land.ownerElsewhere(own.world);
  stateText.textContent = stateText.dataset.state = own.state;
  warn(owner ? `World ${own.world} runs on node ${owner}: what is shown of it here is old. The page of that node shows it.`
    : `World ${own.world} does not run: its figures are old. The page goes on by itself once it runs.`);
  element("retry").hidden = own.state === "failed";
}

/* The daemon may be there, and host other worlds than before. */
async function leaveWorldThatIsGone() {
  if (!world) return;
  const names = await processes.look();
  if (isLost && names.length > 0 && !names.includes(world)) showWorld(names[0]);
}

function showWorld(name) {
  world = name;
  worldField.value = name;
  processes.showWorld(name);
  history.replaceState(history.state, "", `#${encodeURIComponent(name)}`);
  document.title = `${name} – Muster`;
  agent.close();
  forgetFigures();
  verdict.forget();
  plots.showWorld(name);
  types.forgetAll();
  bands.forgetAll();
  map.showWorld(name);
  observers.forgetAll();
  controls.showWorld(name);
  standouts.showWorld(name);
  follow(name, listener);
}

async function start() {
  try {
    await land.look(); /* it knows which worlds others have */
    const names = await processes.look(), wanted = unescaped(location.hash.slice(1));
    if (names.length === 0) throw new Error("The daemon hosts no world.");
    showWorld(names.includes(wanted) ? wanted : names[0]);
  } catch (error) {
    listener.lost(error.message, 2000);
    setTimeout(start, 2000);
  }
}

async function change(method, path, body) {
  try {
    await ask(method, path, body);
  } catch (error) {
    note(error.message);
  }
}

land.begin({ open: showWorld, note });
processes.begin({ listed: showProcesses, note, retry });
map.begin(agent.open);
field.begin();
observers.begin(note);
agent.begin(note);
standouts.begin(async (chosen) => {
  map.goTo((await agent.open(chosen.agent)) ?? chosen); /* it may have moved since it was listed */
}, types.rank);
worldField.addEventListener("change", () => showWorld(worldField.value));
pauseButton.addEventListener("click", () => change("PATCH", worldPath(world), { paused: !isPaused }));
element("step").addEventListener("click", () => change("POST", `${worldPath(world)}/step`, { frames: 1 }));
element("retry").addEventListener("click", () => (world ? retry() : start()));
start();
