/* stream.js - the daemon's events of one world, for as long as the page is open.
 *
 *     connecting --event--> live --error, or silence--> waiting --backoff--> connecting
 *
 * Types come once a second even while a world is paused, so silence means that the daemon hangs. */
import { worldPath } from "./api.js";

const SILENCE_MS = 6000, FIRST_WAIT_MS = 500, LONGEST_WAIT_MS = 8000;

let source = null, world = null, timer = 0, wait = FIRST_WAIT_MS, heard = 0;
let listener = null;

function open() {
  clearTimeout(timer);
  source?.close();
  heard = performance.now();
  source = new EventSource(`${worldPath(world)}/stream?hz=10`);
  const of = source;
  for (const kind of ["frame", "types"])
    of.addEventListener(kind, (event) => {
      if (of !== source) return;
      heard = performance.now();
      wait = FIRST_WAIT_MS;
      listener.live();
      listener[kind](JSON.parse(event.data));
    });
  of.addEventListener("error", () => of === source && lose("The daemon does not answer."));
}

function lose(reason) {
  source.close();
  source = null;
  listener.lost(reason, wait);
  timer = setTimeout(open, wait);
  wait = Math.min(2 * wait, LONGEST_WAIT_MS);
}

setInterval(() => {
  if (source && performance.now() - heard > SILENCE_MS) lose("The daemon has been silent for some seconds.");
}, 1000);

/* Follows a world from now on. The listener has frame(event), types(event), live() and lost(reason, milliseconds). */
export function follow(name, to) {
  world = name;
  listener = to;
  wait = FIRST_WAIT_MS;
  open();
}

export const retry = open;
