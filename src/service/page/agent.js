/* agent.js - the agent that was clicked: the daemon's own explanation of when and how it runs, renewed once a
 * second. */
import { ask, get, worldPath } from "./api.js";
import { placeOf, repaint, shown, view } from "./map.js";

const LOOK_MS = 1000;

const panel = document.getElementById("agent"), title = document.getElementById("agent-title");
const words = document.getElementById("agent-words");
let id = null, seen = null, isLost = true, say = () => {};

const path = () => `${worldPath(shown.world)}/agents/${id}`;

/* The first line says what it does; each other line gives one reason, and begins with its subject. */
function write(text) {
  const [first, ...reasons] = text.trim().split("\n");
  const lead = Object.assign(document.createElement("p"), { className: "lead", textContent: first });
  const list = document.createElement("ul");
  for (const reason of reasons) {
    const item = document.createElement("li"), colon = reason.indexOf(":");
    if (colon > 0 && colon < 24) {
      item.append(Object.assign(document.createElement("b"), { textContent: reason.slice(0, colon).trim() }));
      item.append(reason.slice(colon));
    } else {
      item.textContent = reason.trim();
    }
    list.append(item);
  }
  words.replaceChildren(lead, list);
}

async function look() {
  const asked = id;
  try {
    const [explanation, agent] = await Promise.all([get(`${path()}/explain`), get(path())]);
    if (asked !== id) return;
    title.textContent = `${explanation.type} ${id}`;
    write(explanation.words);
    seen = agent;
  } catch (error) {
    if (asked !== id || !error.status) return;
    if (error.status !== 404) words.textContent = error.message;
    else close(`Agent ${id} is gone.`);
  }
}

async function lookForever() {
  for (;;) {
    if (id && !isLost && !document.hidden) await look();
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function mark() {
  shown.chosen = id ? (placeOf(id) ?? (seen && [seen.position.x, seen.position.y])) : null;
  repaint();
}

/* Shows an agent, or says that there is none. Resolves to the agent as it is now; to null when it is not shown. */
export async function open(chosen) {
  if (!chosen) {
    say("No agent is there.");
    return null;
  }
  id = chosen;
  seen = null;
  title.textContent = `Agent ${id}`;
  await look();
  if (id !== chosen) return null;
  panel.hidden = false;
  mark();
  title.focus({ preventScroll: matchMedia("(min-width: 60rem)").matches });
  return seen;
}

export function close(reason) {
  if (!id) return;
  id = null;
  const hadFocus = panel.contains(document.activeElement);
  panel.hidden = true;
  if (hadFocus) view.canvas.focus();
  if (reason) say(reason);
  mark();
}

export function setLost(lost) {
  isLost = lost;
}

/* Begins; `tell` shows a line of text to the user. */
export function begin(tell) {
  say = tell;
  document.getElementById("agent-close").addEventListener("click", () => close());
  document.getElementById("agent-show").addEventListener("click", () => shown.chosen && view.centre(...shown.chosen));
  document.getElementById("agent-wake").addEventListener("click", async () => {
    try {
      await ask("POST", `${path()}/wake`);
      await look();
    } catch (error) {
      say(error.message);
    }
  });
  panel.addEventListener("keydown", (event) => event.key === "Escape" && close());
  setInterval(() => id && !document.hidden && mark(), 200);
  lookForever();
}
