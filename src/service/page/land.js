/* land.js - the whole cluster, whose zones run on several nodes: where their agents stand, who has each zone, how laden
 * the nodes are, and what changed. The daemon that serves this page tells of all of them (service/zones/atlas.h, nodes.h);
 * a daemon that is in no cluster is asked once.
 *
 * A node that dies says nothing: its zones are silent, and stand still, until another node says that it starts them. */
import { get } from "./api.js";
import { count, digits } from "./format.js";
import { LandPainter } from "./land_draw.js";
import { nodeColour, onSchemeChange } from "./palette.js";

const LOOK_MS = 500, SILENT_NS = 2e9, LINES_MAX = 40, FIRST_MS = 3000, GAP_MS = 5000;

const section = document.getElementById("land"), canvas = document.getElementById("land-canvas");
const zonesBody = document.getElementById("land-zones"), nodesBody = document.getElementById("land-nodes");
const balancerText = document.getElementById("land-balancer");
const summary = document.getElementById("land-summary"), log = document.getElementById("land-log");

export const painter = new LandPainter(canvas);

/* Others read it. `names`: the nodes, in the order of their colours; `nodes`: those that are heard; `looks` counts the
 * answers. */
export const shown = { node: null, zones: [], names: [], nodes: [], looks: 0 };
let listener = null, began = 0, asking = null, before = null, looked = 0;
const seen = new Map(); /* by zone: what it was when it ran last */

/* ------------------------------------------------------------------------------------------------------------ states */

function stateOf(zone) {
  if (zone.heard_ns === null) return "unknown";
  return zone.heard_ns > SILENT_NS ? "silent" : zone.state;
}

const seconds = (ns) => `${digits(ns / 1e9)} s`;
const ago = (ns) => (ns > SILENT_NS ? `${Math.round(ns / 1e9)} s ago` : "now");

const words = {
  runs: () => "runs",
  silent: (zone) => `stands still, ${Math.round(zone.heard_ns / 1e9)} s`,
  stands_still: () => "stands still",
  starts: (zone) => (isTakeover(zone) ? `${zone.node} takes it over` : "starts"),
  ends: () => "is being stored",
  unknown: () => "no node tells of it",
};

/* Whether the node that starts a zone is another one than that which ran it last. */
const isTakeover = ({ zone, node }) => seen.has(zone) && seen.get(zone).node !== node;

const find = (world) => shown.zones.find((one) => one.world === world);

/* The other node that has a world, as far as that is known; else null. Such a world needs no help on this page. */
export function ownerElsewhere(world) {
  const zone = find(world), isNew = performance.now() - began < FIRST_MS;
  if (!zone) return null;
  if (zone.node === null) return isNew ? "another node" : null;
  return zone.node === shown.node ? null : zone.node;
}

/* --------------------------------------------------------------------------------------------------------------- log */

function note(text) {
  const line = document.createElement("li"), time = document.createElement("time");
  time.textContent = new Date().toLocaleTimeString("en-GB");
  line.append(time, text);
  log.prepend(line);
  while (log.children.length > LINES_MAX) log.lastChild.remove();
}

/* Zones that fell silent together are told together. */
function noteSilent(fallen) {
  for (const node of new Set(fallen.map((zone) => zone.node))) {
    const worlds = fallen.filter((zone) => zone.node === node).map((zone) => zone.world);
    note(`${node} is silent: ${worlds.join(", ")} stand${worlds.length === 1 ? "s" : ""} still`);
  }
}

function noteChange(zone) {
  const last = seen.get(zone.zone), now = performance.now(), state = stateOf(zone);
  const isFallen = last && last.state !== "silent" && state === "silent";
  if (last && state === "starts" && last.state !== "starts")
    note(`${zone.world}: ${zone.node} ${isTakeover(zone) ? `takes it over from ${last.node}` : "starts it again"}`);
  if (last && state === "runs" && last.epoch !== zone.epoch)
    note(`${zone.world} runs on ${zone.node}${last.at === null ? "" : `; it was not heard for ${seconds((now - last.at) * 1e6)}`}`);
  const at = state === "runs" ? now - zone.heard_ns / 1e6 : last ? last.at : now;
  seen.set(zone.zone, state === "runs" || !last ? { at, state, node: zone.node, epoch: zone.epoch } : { ...last, state });
  return isFallen;
}

/* ------------------------------------------------------------------------------------------------------------ tables */

/* Rows stay, so that a button can be pressed while figures change. */
class Table {
  constructor(body, columns, makeHead) {
    Object.assign(this, { body, columns, makeHead, rows: new Map() });
  }

  /* The row of a name. */
  row(name) {
    if (!this.rows.has(name)) {
      const row = document.createElement("tr"), head = document.createElement("th");
      head.scope = "row";
      head.append(this.makeHead(name));
      row.append(head, ...this.columns.map((className) => Object.assign(document.createElement("td"), { className })));
      this.rows.set(name, row);
    }
    return this.rows.get(name);
  }

  /* Shows rows of these names, in this order, and no others. */
  show(names) {
    const rows = names.map((name) => this.row(name));
    if (rows.some((row, i) => this.body.rows[i] !== row) || this.body.rows.length !== rows.length)
      this.body.replaceChildren(...rows);
  }
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function button(world) {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: world });
  made.addEventListener("click", () => choose(world));
  return made;
}

/* The colour and the name of a node. */
function mark(element, name) {
  element.classList.add("node");
  element.style.setProperty("--node", name ? nodeColour(shown.names.indexOf(name)) : "transparent");
}

const zoneTable = new Table(zonesBody, ["", "number", "state-words"], button);
const nodeTable = new Table(nodesBody, ["number", "number", "number", "number"], (name) => document.createTextNode(name));

function showZone(zone) {
  const row = zoneTable.row(zone.world), [, owner, agents, state] = row.cells;
  row.dataset.world = zone.world;
  row.dataset.state = stateOf(zone);
  write(owner, zone.node ?? "");
  mark(owner, zone.node);
  write(agents, count(zone.agents));
  write(state, words[stateOf(zone)](zone));
}

/* A node that is gone is in no answer, though zones may still be its own. */
function showNode(name) {
  const [head, zones, agents, pressure, heard] = nodeTable.row(name).cells;
  const told = shown.nodes.find((one) => one.node === name), own = shown.zones.filter((zone) => zone.node === name);
  const notes = [name === shown.node && "this one", told?.drains && "drains", told?.clock && "wall clock is off"];
  write(head, [name, ...notes.filter(Boolean)].join(", "));
  head.title = told?.clock ?? "";
  mark(head, name);
  write(zones, count(own.length));
  write(agents, count(own.reduce((sum, zone) => sum + zone.agents, 0)));
  write(pressure, told ? digits(told.pressure) : "–");
  write(heard, told ? ago(told.heard_ns) : "silent");
  nodeTable.row(name).dataset.heard = Boolean(told);
}

/* How many came from one zone to another in the last second or so. */
function crossings(now) {
  const arrived = new Map(shown.zones.map((zone) => [`${zone.zone}.${zone.epoch}`, zone.arrived]));
  if (!before || now - before.at > 3000) before = { at: now, arrived, rate: null };
  if (now - before.at < 1500) return before.rate;
  const sum = [...arrived].reduce((all, [key, value]) => all + Math.max(0, value - (before.arrived.get(key) ?? value)), 0);
  before = { at: now, arrived, rate: (sum * 1000) / (now - before.at) };
  return before.rate;
}

function describe() {
  const still = shown.zones.filter((zone) => stateOf(zone) !== "runs"), rate = crossings(performance.now());
  const agents = shown.zones.reduce((sum, zone) => sum + zone.agents, 0);
  const walks = rate === null ? "" : `; ${digits(rate)} walk from one to another in a second`;
  const halts = still.length ? `; ${still.map((zone) => zone.world).join(", ")}: not running` : "";
  summary.textContent = `${count(agents)} agents in ${shown.zones.length} zones${walks}${halts}`;
}

/* ----------------------------------------------------------------------------------------------------------- looking */

function paint() {
  painter.paint(shown.zones.map((zone) => ({ ...zone, is: stateOf(zone), colour: shown.names.indexOf(zone.node) })));
}

/* New nodes stand behind those that are known, so that these keep their colours. */
function nameNodes(zones, nodes) {
  const all = new Set([...zones.map((zone) => zone.node), ...nodes.map((one) => one.node)].filter(Boolean));
  return [...shown.names, ...[...all].filter((name) => !shown.names.includes(name)).sort()];
}

function take({ cluster, node, side, zones }, { nodes, balancer }) {
  document.getElementById("land-title").textContent = `Cluster ${cluster}`;
  for (const zone of zones) zone.side = side;
  zones.sort((a, b) => b.rectangle[1] - a.rectangle[1] || a.rectangle[0] - b.rectangle[0]); /* as on the map */
  Object.assign(shown, { node, zones, nodes, names: nameNodes(zones, nodes), looks: shown.looks + 1 });
  if (performance.now() - looked > GAP_MS) /* it was hidden, or the daemon away: who knows for how long */
    for (const last of seen.values()) last.at = null;
  looked = performance.now();
  noteSilent(zones.filter(noteChange));
  zoneTable.show(zones.map((zone) => zone.world));
  zones.forEach(showZone);
  nodeTable.show(shown.names);
  shown.names.forEach(showNode);
  write(balancerText, balancer.node === null ? "" : `${balancer.node} balances${balancer.words ? `: ${balancer.words}` : ""}`);
  describe();
  paint();
}

async function lookOnce() {
  began ||= performance.now();
  try {
    const answer = await get("/v1/zones/map");
    section.hidden = answer.cluster === null;
    if (answer.cluster !== null) take(answer, await get("/v1/nodes"));
    section.classList.remove("old");
    return answer.cluster !== null;
  } catch {
    section.classList.add("old"); /* the banner says that the daemon is not there */
    return true;
  }
}

/* Asks, unless it is asking. Whether this daemon is in a cluster, as far as is known. */
export function look() {
  asking ??= lookOnce().finally(() => (asking = null));
  return asking;
}

async function lookForever() {
  while (document.hidden || (await look())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

function choose(world) {
  const owner = ownerElsewhere(world);
  if (owner) listener.note(`World ${world} runs on node ${owner}: the page of that node shows it closer.`);
  else listener.open(world);
}

/* The listener has open(world), for one that runs here, and note(text). */
export function begin(to) {
  listener = to;
  new ResizeObserver(paint).observe(canvas);
  onSchemeChange(paint);
  canvas.addEventListener("click", (event) => {
    const world = painter.worldAt(event.offsetX, event.offsetY);
    if (world) choose(world);
  });
  lookForever();
}
