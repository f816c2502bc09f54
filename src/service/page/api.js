/* api.js - requests to the daemon: JSON in and out (service/api.h), maps in binary (service/live.h). A failed request
 * throws an Error with the daemon's own message. A 401 asks for the token once, and tries again. A change is sent again
 * when its world's process ended before it answered: it has a key, with which it is made once.
 *
 * The token stays in this document's own entry of the tab's history: it is there after a reload, and no other document
 * of this origin can read it, as it could a storage. */

const dialog = document.getElementById("token-dialog");
const field = document.getElementById("token");
let token = history.state?.token ?? "";

function keepToken(given, path = location.href) {
  token = given;
  history.replaceState({ ...history.state, token }, "", path);
}

/* Decodes percent signs; returns the text unchanged when they are invalid. */
export function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/* A link may contain the token, #token=...: browsers do not send the part after #, and it is removed from the address
 * bar. */
if (location.hash.startsWith("#token=")) {
  keepToken(unescaped(location.hash.slice("#token=".length)), location.pathname);
}

let asked = null; /* the dialog's answer, while it is open: all refused requests wait for the same one */

function askForToken() {
  asked ??= new Promise((resolve) => {
    field.value = "";
    document.getElementById("token-refused").hidden = !token;
    dialog.returnValue = "cancel";
    dialog.showModal();
    dialog.addEventListener("close", () => {
      asked = null;
      if (dialog.returnValue !== "send") return resolve(false);
      keepToken(field.value.trim());
      field.value = "";
      resolve(true);
    }, { once: true });
  });
  return asked;
}

/* Browsers name this error differently; the user need not know. */
async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch {
    throw new Error("The daemon does not answer.");
  }
}

const PATIENCE_S = 10; /* how long a change is sent again */

function makeKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/* In how many seconds the daemon wants to be asked again; 0: it does not. */
function pauseAfter(response) {
  return [409, 503].includes(response.status) ? Number(response.headers.get("Retry-After")) || 0 : 0;
}

function send(method, path, body, key) {
  const headers = {};
  if (key) headers["Idempotency-Key"] = key;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token && method !== "GET") headers.Authorization = `Bearer ${token}`;
  return reach(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
}

async function refusal(response) {
  const error = (await response.json().catch(() => ({}))).error ?? {};
  const failure = new Error(error.message ?? `the daemon answered ${response.status}`);
  failure.status = response.status;
  return failure;
}

export async function ask(method, path, body) {
  const key = method === "GET" ? "" : makeKey();
  for (let waited = 0;;) {
    const response = await send(method, path, body, key), pause = key ? pauseAfter(response) : 0;
    if (response.ok) return response.json();
    if (response.status === 401 && (await askForToken())) continue;
    waited += pause;
    if (!pause || waited > PATIENCE_S) throw await refusal(response);
    await new Promise((done) => setTimeout(done, pause * 1000));
  }
}

export const get = (path) => ask("GET", path);

/* A map of what a query asks for; `what`: "map" of agents, or "cells" of the observer grid. */
export async function getMap(world, query, what = "map") {
  const response = await reach(`${worldPath(world)}/${what}?${new URLSearchParams(query)}`);
  if (!response.ok) throw await refusal(response);
  return readMap(await response.arrayBuffer());
}

export const worldPath = (world) => `/v1/worlds/${encodeURIComponent(world)}`;

/* Page after page of a list, up to `most` entries. */
export async function getAll(path, name, most) {
  const all = [];
  for (let cursor = 0; cursor !== null && cursor !== undefined && all.length < most;) {
    const page = await get(`${path}${path.includes("?") ? "&" : "?"}cursor=${cursor}&limit=1000`);
    all.push(...page[name]);
    cursor = page.next;
  }
  return all;
}

const AGENTS = 1;

/* Typed arrays over the received bytes; `at(i)` is the position of record i. */
function readMap(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < 88 || view.getUint32(0, true) !== 0x50414d4d || view.getUint16(4, true) !== 2)
    throw new Error("the map is of a version that this page does not know: reload it");
  const head = view.getUint32(8, true);
  return {
    isAgents: view.getUint16(6, true) === AGENTS,
    stride: view.getUint32(12, true) / 4, /* in words */
    records: view.getUint32(16, true),
    columns: view.getUint32(20, true),
    rows: view.getUint32(24, true),
    x0: view.getFloat64(40, true),
    y0: view.getFloat64(48, true),
    x1: view.getFloat64(56, true),
    y1: view.getFloat64(64, true),
    frame: Number(view.getBigUint64(72, true)),
    agents: Number(view.getBigUint64(80, true)), /* or known cells of the observer grid */
    edge: head >= 96 ? view.getFloat64(88, true) : 0,
    words: new Uint32Array(buffer, head),
    floats: new Float32Array(buffer, head),
  };
}
