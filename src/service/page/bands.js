/* bands.js - the table of bands of importance: how often agents of each importance run, by the rule and in fact. */
import { count, duration } from "./format.js";

/* The number of events that intervals are counted over: a minute, since one comes every second. */
const KEPT = 60;

const body = document.getElementById("bands");
const names = ["0", "up to ¼", "up to ½", "up to ¾", "up to 1"];
const columns = ["agents", "wanted", "period", "got", "age", "beyond"];
let events = [];

/* The most important first. */
const rows = names.map((name, number) => {
  const row = document.createElement("tr"), head = document.createElement("th"), cells = {};
  head.scope = "row";
  head.textContent = name;
  row.append(head);
  for (const column of columns) {
    cells[column] = Object.assign(document.createElement("td"), { className: "number" });
    row.append(cells[column]);
  }
  cells.wanted.classList.add("spare");
  cells.beyond.classList.add("spare");
  row.dataset.band = number;
  body.prepend(row);
  return cells;
});

/* Agents x time / updates since the oldest event that is kept; while none ran since then, since the world began. */
function interval(band, number) {
  const before = events[0][number], completed = band.completed - before.completed;
  return completed > 0 ? (band.agent_time - before.agent_time) / completed : band.interval;
}

const time = (known, ns) => (known ? duration(ns) : "–");

/* Takes a types event. */
export function show({ staleness_by_importance: bands }) {
  if (events.length && bands.some((band, i) => band.completed < events[0][i].completed)) events = [];
  events.push(bands);
  if (events.length > KEPT) events.shift();
  bands.forEach((band, i) => {
    const got = interval(band, i);
    rows[i].agents.textContent = count(band.agents);
    rows[i].wanted.textContent = time(band.agents, band.wanted);
    rows[i].period.textContent = time(band.agents, band.period);
    rows[i].got.textContent = time(got !== null, got);
    rows[i].age.textContent = time(band.age_max, band.age_p99);
    rows[i].beyond.textContent = count(band.beyond_wish);
  });
}

export function forgetAll() {
  events = [];
}
