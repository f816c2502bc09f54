/* map.js - the map: asks for what is in view, draws it, and asks again only after that, at most FASTEST_HZ times a
 * second and never while the page is hidden; so a slow page shows an old picture, and the daemon never waits for it. */
import { getAll, getMap, worldPath } from "./api.js";
import { count } from "./format.js";
import { MapPainter } from "./map_draw.js";
import { MapView } from "./map_view.js";
import { Colouring, onSchemeChange } from "./palette.js";

const FASTEST_HZ = 15, AGENTS_MAX = 12000, CELL_PIXELS = 5, CELLS_MAX = 60000, MARGIN = 0.05;
const HERDS_MS = 500, HERDS_MAX = 4000, PICK_PIXELS = 14;
const NEAR_SCALE = 0.5; /* pixels per metre at which single agents are seen in most worlds */

const canvas = document.getElementById("map-canvas");
const stateText = document.getElementById("map-state"), legend = document.getElementById("legend");
const partitionField = document.getElementById("partition"), colourField = document.getElementById("colour");

export const view = new MapView(canvas);
const painter = new MapPainter(canvas, view);

/* What is shown; others read it. `maps` counts those that were drawn. */
export const shown = { world: null, map: null, maps: 0, rate: 0, partition: 0, field: null, observers: [], herds: [],
  chosen: null };
let colouring = new Colouring(colourField.value), isLost = true, hasHerds = false, isAwaited = false;

/* ---------------------------------------------------------------------------------------------------------- drawing */

function paint() {
  isAwaited = false;
  const extras = {
    field: shown.field,
    observers: shown.observers,
    herds: shown.herds,
    chosen: shown.chosen,
    cross: canvas.matches(":focus-visible"),
  };
  painter.paint(shown.map, colouring, extras);
  document.getElementById("scale-text").textContent = painter.scaleText ?? "";
  document.getElementById("scale-bar").style.width = `${Math.round(painter.scalePixels ?? 0)}px`;
}

/* Draws at the next opportunity. */
export function repaint() {
  if (!isAwaited) requestAnimationFrame(paint);
  isAwaited = true;
}

function take(map) {
  shown.map = map;
  shown.maps++;
  if (colouring.look(map)) colouring.render(legend);
  repaint();
}

/* ----------------------------------------------------------------------------------------------------------- asking */

/* What is in view and a little more, on a raster that stays where it is while the view is panned. */
function query() {
  const common = { partition: shown.partition, max: AGENTS_MAX };
  if (!view.scale) return { ...common, width: 160, height: 100 };
  const wide = view.width * (1 + 2 * MARGIN), high = view.height * (1 + 2 * MARGIN);
  const pixels = Math.max(CELL_PIXELS, Math.sqrt((wide * high) / CELLS_MAX)), cell = pixels / view.scale;
  const width = Math.ceil(wide / pixels), height = Math.ceil(high / pixels);
  const x0 = Math.floor((view.x - (width * cell) / 2) / cell) * cell;
  const y0 = Math.floor((view.y - (height * cell) / 2) / cell) * cell;
  return { ...common, x0, y0, x1: x0 + width * cell, y1: y0 + height * cell, width, height };
}

/* The rectangle of that, for the other layers shown there. */
export function inView() {
  const { x0, y0, x1, y1, partition } = query();
  return { x0, y0, x1, y1, partition };
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

/* Shows the daemon's reason; when the daemon is not there at all, the banner says so. */
async function complain(error) {
  stateText.textContent = error.status ? error.message : "";
  await sleep(1000);
}

async function askOnce() {
  const world = shown.world, partition = shown.partition, hadView = view.scale > 0;
  const map = await getMap(world, query()).catch(complain);
  if (!map || world !== shown.world || partition !== shown.partition) return;
  if (!hadView && !view.scale) await fitAll(map);
  if (world === shown.world) take(map);
  await nextFrame();
}

async function askForever() {
  let second = performance.now(), before = 0;
  for (;;) {
    const begin = performance.now();
    if (document.hidden || isLost || !shown.world || !view.width) {
      await sleep(200);
      continue;
    }
    await askOnce();
    const now = performance.now();
    if (now - second >= 1000) {
      shown.rate = ((shown.maps - before) * 1000) / (now - second);
      [second, before] = [now, shown.maps];
      if (shown.map) describe();
    }
    await sleep(Math.ceil(1000 / FASTEST_HZ) - (now - begin));
  }
}

function describe() {
  const how = shown.map.isAgents ? "one by one" : "in spots";
  const many = shown.herds.length >= HERDS_MAX ? `; the first ${count(HERDS_MAX)} herds` : "";
  const agents = `${count(shown.map.agents)} agents in view, ${how}`;
  stateText.textContent = `${agents}; ${shown.rate.toFixed(0)} maps a second${many}`;
}

/* Many herds are long lists, so pauses leave the daemon most of the time for other requests. */
async function askForHerds() {
  for (let start = 0, took = 0; ; took = performance.now() - start) {
    await sleep(Math.max(HERDS_MS, 4 * took));
    start = performance.now();
    if (document.hidden || isLost || !hasHerds || !view.scale) continue;
    const world = shown.world, path = `${worldPath(world)}/herds?${new URLSearchParams(inView())}`;
    const herds = await getAll(path, "herds", HERDS_MAX).catch(() => []);
    if (world === shown.world) shown.herds = herds;
  }
}

/* ---------------------------------------------------------------------------------------------------------- picking */

/* The id and place of the agent nearest to a pixel; null where none is near. */
async function nearest(px, py) {
  const [x, y] = view.toGround(px, py), reach = PICK_PIXELS / view.scale;
  let map = shown.map;
  if (!map?.isAgents) {
    const rectangle = { x0: x - reach, y0: y - reach, x1: x + reach, y1: y + reach };
    map = await getMap(shown.world, { ...rectangle, partition: shown.partition, max: 4096 });
  }
  let best = null, least = reach;
  for (let at = 0; map.isAgents && at < map.records * map.stride; at += map.stride) {
    const distance = Math.hypot(map.x0 + map.floats[at + 2] - x, map.y0 + map.floats[at + 3] - y);
    if (distance > least) continue;
    least = distance;
    best = `${map.words[at]}.${map.words[at + 1]}`;
  }
  return best;
}

/* Where an agent is drawn, if it is one by one; else null. */
export function placeOf(id) {
  const map = shown.map, index = parseInt(id, 10);
  for (let at = 0; map?.isAgents && at < map.records * map.stride; at += map.stride)
    if (map.words[at] === index) return [map.x0 + map.floats[at + 2], map.y0 + map.floats[at + 3]];
  return null;
}

/* ------------------------------------------------------------------------------------------------------------ whole */

/* Shows all agents of a map, and all herds: the members of those that are folded are no agents. */
async function fitAll(map) {
  const world = shown.world, path = `${worldPath(world)}/herds`;
  const herds = hasHerds ? await getAll(path, "herds", HERDS_MAX).catch(() => []) : [];
  if (world !== shown.world) return;
  const places = herds.filter((herd) => herd.partition === shown.partition).map((herd) => herd.position);
  const isEmpty = map.agents === 0 && places.length > 1;
  let [x0, y0, x1, y1] = isEmpty ? [Infinity, Infinity, -Infinity, -Infinity] : [map.x0, map.y0, map.x1, map.y1];
  for (const { x, y } of places)
    [x0, y0, x1, y1] = [Math.min(x0, x), Math.min(y0, y), Math.max(x1, x), Math.max(y1, y)];
  view.fit(x0, y0, x1, y1);
}

/* Shows all of the partition. */
export async function showWhole() {
  await fitAll(await getMap(shown.world, { partition: shown.partition, max: 0, width: 16, height: 10 }));
}

export function showWorld(name) {
  Object.assign(shown, { world: name, map: null, field: null, observers: [], herds: [], chosen: null, partition: 0 });
  partitionField.value = 0;
  recolour();
  view.forget();
}

export function setLost(lost) {
  isLost = lost;
}

/* Shows an agent's place: in its partition, and as near as it is seen among others. */
export function goTo({ partition, position }) {
  if (partition !== shown.partition) {
    partitionField.value = partition;
    choosePartition();
  }
  view.scale = Math.max(view.scale, NEAR_SCALE);
  view.centre(position.x, position.y);
}

/* Whether a world has herds at all; none are asked for where there are none. */
export function setHerds(some) {
  const areNew = some && !hasHerds;
  hasHerds = some;
  if (areNew && view.fitted) showWhole().catch(() => {}); /* it was fitted before they were known */
  if (!some) shown.herds = [];
}

function choosePartition() {
  shown.partition = Math.round(partitionField.valueAsNumber) || 0;
  shown.field = null;
  view.forget();
}

function recolour() {
  colouring = new Colouring(colourField.value);
  if (shown.map) colouring.look(shown.map);
  colouring.render(legend);
  repaint();
}

/* Begins; `picked` is called with the id of an agent that was clicked, or with null. */
export function begin(picked) {
  view.addEventListener("change", repaint);
  view.addEventListener("whole", () => showWhole().catch(() => {}));
  view.addEventListener("pick", async ({ detail }) => {
    if (view.scale) picked(await nearest(detail.px, detail.py).catch(() => null));
  });
  for (const kind of ["focus", "blur"]) canvas.addEventListener(kind, repaint);
  new ResizeObserver(() => view.resized()).observe(canvas);
  onSchemeChange(recolour);
  colourField.addEventListener("change", recolour);
  partitionField.addEventListener("change", choosePartition);
  document.getElementById("zoom-in").addEventListener("click", () => view.zoomIn());
  document.getElementById("zoom-out").addEventListener("click", () => view.zoomOut());
  document.getElementById("fit").addEventListener("click", () => showWhole().catch(() => {}));
  recolour();
  askForever();
  askForHerds();
}
