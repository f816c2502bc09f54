/* observers.js - observers as handles on the map: dragged, moved by arrow keys, added and removed. An observer that its
 * world moves is held by the daemon once it was dragged, until the user releases it. Between two requests to the daemon
 * a handle stays where the user left it. */
import { ask, getAll, worldPath } from "./api.js";
import { metres } from "./format.js";
import { repaint, shown, view } from "./map.js";

const LOOK_MS = 400, HANDLES_MAX = 64, HOLD_MS = 1500, STEP_PIXELS = 10;

const group = document.getElementById("handles"), chooser = document.getElementById("observer");
const handles = new Map(); /* id -> {button, observer, heldUntil, wish, isSending, isFresh, wanders} */
let say = () => {}, isLost = true;

const pathOf = (handle) => `${worldPath(shown.world)}/observers/${handle.observer.observer}`;

/* ----------------------------------------------------------------------------------------------------------- moving */

/* One request at a time; the newest wish wins. */
async function send(handle) {
  if (handle.isSending) return;
  handle.isSending = true;
  while (handle.wish) {
    const position = handle.wish;
    handle.wish = null;
    try {
      await ask("PUT", `${pathOf(handle)}/${handle.wanders ? "hold" : "position"}`, { position });
    } catch (error) {
      handle.wish = null;
      say(error.message);
    }
  }
  handle.isSending = false;
}

function move(handle, x, y) {
  handle.observer.position = { ...handle.observer.position, x, y };
  handle.heldUntil = performance.now() + HOLD_MS;
  handle.isFresh = true; /* the next answer may be older than the move */
  handle.wish = handle.observer.position;
  place(handle);
  repaint();
  send(handle);
}

function drag(handle) {
  const { button } = handle;
  let from = null; /* of the pointer to the middle of the handle */
  button.addEventListener("pointerdown", (event) => {
    const [px, py] = view.toScreen(handle.observer.position.x, handle.observer.position.y);
    from = [px - event.clientX, py - event.clientY];
    button.setPointerCapture(event.pointerId);
    event.stopPropagation();
  });
  button.addEventListener("pointermove", (event) => {
    if (from) move(handle, ...view.toGround(from[0] + event.clientX, from[1] + event.clientY));
  });
  for (const kind of ["pointerup", "pointercancel"]) button.addEventListener(kind, () => (from = null));
}

function key(handle, event) {
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (event.key === "Delete") remove(handle);
  if (event.key === "Escape" && handle.wanders) release(handle);
  if (!steps) return;
  event.preventDefault();
  const far = ((event.shiftKey ? 5 : 1) * STEP_PIXELS) / view.scale, { x, y } = handle.observer.position;
  move(handle, x + steps[0] * far, y + steps[1] * far);
}

/* Lets its world move it again, as before. */
async function release(handle) {
  try {
    await ask("DELETE", `${pathOf(handle)}/hold`);
    handle.heldUntil = 0;
  } catch (error) {
    say(error.message);
  }
}

async function remove(handle) {
  try {
    await ask("DELETE", pathOf(handle));
    chooser.focus();
  } catch (error) {
    say(error.message);
  }
}

/* ---------------------------------------------------------------------------------------------------------- handles */

const numberOf = (observer) => observer.observer.split(".")[0];

function create(observer) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "handle" });
  const handle = { button, observer, heldUntil: 0, wish: null, isSending: false, isFresh: true, wanders: false };
  button.textContent = numberOf(observer);
  button.addEventListener("keydown", (event) => key(handle, event));
  button.addEventListener("dblclick", () => handle.wanders && release(handle));
  drag(handle);
  group.append(button);
  handles.set(observer.observer, handle);
  chooser.append(new Option(`observer ${numberOf(observer)}`, observer.observer));
  return handle;
}

function place(handle) {
  const { button, observer } = handle, [px, py] = view.toScreen(observer.position.x, observer.position.y);
  button.hidden = !view.scale || px < 0 || py < 0 || px > view.width || py > view.height;
  button.style.transform = `translate(${Math.round(px)}px, ${Math.round(py)}px)`;
  const { x, y } = observer.position;
  const how = observer.held ? "held; Escape lets go" : `arrow keys move it${handle.wanders ? " and hold it" : ""}`;
  button.setAttribute("aria-label", `Observer ${numberOf(observer)} at ${metres(x)}, ${metres(y)}; ${how}`);
}

function placeAll() {
  for (const handle of handles.values()) place(handle);
}

function forget(handle) {
  handle.button.remove();
  handles.delete(handle.observer.observer);
  [...chooser.options].find((option) => option.value === handle.observer.observer)?.remove();
}

/* Another client or the world moved it since the last answer, not this page. */
function update(handle, observer) {
  const before = handle.observer.position, after = observer.position;
  if (observer.held) handle.wanders = true;
  if (!handle.isFresh && Math.hypot(after.x - before.x, after.y - before.y) > 1e-6) handle.wanders = true;
  handle.button.classList.toggle("wanders", handle.wanders && !observer.held);
  handle.isFresh = false;
  handle.observer = observer;
}

function take(list) {
  const now = performance.now(), present = new Set();
  for (const observer of list.filter((one) => one.partition === shown.partition).slice(0, HANDLES_MAX)) {
    present.add(observer.observer);
    const handle = handles.get(observer.observer) ?? create(observer);
    if (now > handle.heldUntil) update(handle, observer);
  }
  for (const [id, handle] of handles) if (!present.has(id)) forget(handle);
  shown.observers = [...handles.values()].map((handle) => handle.observer);
  placeAll();
  repaint();
}

async function look() {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    if (document.hidden || isLost || !shown.world) continue;
    const world = shown.world;
    const list = await getAll(`${worldPath(world)}/observers`, "observers", 1000).catch(() => null);
    if (list && world === shown.world) take(list);
  }
}

/* ------------------------------------------------------------------------------------------------------------ whole */

async function add() {
  const reach = Math.min(view.width, view.height) / view.scale;
  try {
    await ask("POST", `${worldPath(shown.world)}/observers`, {
      position: { x: view.x, y: view.y },
      partition: shown.partition,
      near_m: Math.min(20, reach / 10),
      far_m: Math.min(160, reach / 2),
    });
    say("The observer stands in the middle of the map.");
  } catch (error) {
    say(error.message);
  }
}

/* Observers of another world have the same ids. */
export function forgetAll() {
  for (const handle of [...handles.values()]) forget(handle);
}

export function setLost(lost) {
  isLost = lost;
}

/* Begins; `tell` shows a line of text to the user. */
export function begin(tell) {
  say = tell;
  view.addEventListener("change", placeAll);
  document.getElementById("add-observer").addEventListener("click", () => view.scale && add());
  chooser.addEventListener("change", () => {
    const handle = handles.get(chooser.value);
    chooser.value = "";
    if (!handle) return;
    view.centre(handle.observer.position.x, handle.observer.position.y);
    handle.button.focus();
  });
  look();
}
