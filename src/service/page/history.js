/* history.js - what the plots show: frames of the last minute as they come, and seconds of the last ten minutes as the
 * daemon keeps them, so that a page that was reloaded, hidden or cut off misses nothing.
 *
 * Times are seconds of this page's clock (performance.now). */
import { get, worldPath } from "./api.js";

export const FRAMES_S = 60, SECONDS_S = 600;

export const frames = [];  /* {at, frame}: frame events */
export const seconds = []; /* {at, second, frames, wall_p99_ns, ...}: the columns of GET .../history */

let world = null, offset = null, isAsking = false;

const now = () => performance.now() / 1e3;

/* Old frames are dropped even while the page is hidden. */
export function addFrame(frame) {
  frames.push({ at: now(), frame });
  while (now() - frames[0].at > FRAMES_S + 1) frames.shift();
}

/* The page's clock less the daemon's, as an answer shows it. */
const clockOf = (answer) => now() - answer.now_ns / 1e9;

/* The daemon's machine was started anew, or this one slept. */
const isOtherClock = (answer) => offset !== null && Math.abs(clockOf(answer) - offset) > 10;

function take(answer) {
  offset = Math.min(offset ?? Infinity, clockOf(answer)); /* the answer that came fastest tells it best */
  const columns = Object.keys(answer).filter((name) => Array.isArray(answer[name]));
  answer.second.forEach((second, i) => {
    if (seconds.length && second <= seconds.at(-1).second) return;
    const row = { at: second + 0.5 + offset };
    for (const name of columns) row[name] = answer[name][i];
    seconds.push(row);
  });
  while (seconds.length && now() - seconds[0].at > SECONDS_S + 1) seconds.shift();
}

/* Asks for the seconds that are new. True when there are some. */
export async function refresh() {
  if (isAsking || !world) return false;
  const of = world, last = seconds.at(-1)?.second ?? 0;
  isAsking = true;
  try {
    let answer = await get(`${worldPath(of)}/history?after=${last}`);
    if (isOtherClock(answer)) {
      seconds.length = 0;
      offset = null;
      answer = await get(`${worldPath(of)}/history`);
    }
    if (of !== world) return false;
    take(answer);
    return answer.second.length > 0;
  } catch {
    return false; /* the banner says that the daemon is not there; the next time brings all */
  } finally {
    isAsking = false;
  }
}

export function forget() {
  frames.length = seconds.length = 0;
}

export function showWorld(name) {
  world = name;
  forget();
}
