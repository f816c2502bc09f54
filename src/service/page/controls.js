/* controls.js - what a PATCH of a world can set, as sliders and fields. A slider sends while it is moved, one request
 * at a time with all changes made meanwhile; fields that the user is not changing follow the daemon. */
import { ask, get, worldPath } from "./api.js";

const LOOK_MS = 3000, HOLD_MS = 1500;

const share = (name, title) => ({ name, title, min: 0, max: 1, step: 0.001, hasSlider: true });

/* Weights of importance, waiting, few runs and progress (muster/tune.h). */
const policies = {
  balanced: [1, 1, 1, 1],
  fair: [0, 1, 1, 0],
  importance_first: [1, 0.001, 0, 0],
  least_slack: [0, 1, 0, 1],
};

/* `factor`: from the field to the API's unit. */
const groups = [
  {
    title: "Pace",
    fields: [
      { name: "budget_ns", title: "Budget, ms", hint: "wall time that a frame may take", min: 0.1, max: 30, step: 0.1,
        factor: 1e6, hasSlider: true },
      { name: "hz", title: "Frames a second", min: 0.1, max: 10000, step: "any" },
      { name: "workers", title: "Workers", hint: "threads on this world's frames", min: 0, max: 1024, step: 1 },
    ],
  },
  {
    title: "Order of updates",
    fields: [
      { name: "policy", title: "Policy", hint: "sets all weights", options: Object.keys(policies) },
      share("weight_importance", "Weight of importance"),
      share("weight_wait", "Weight of waiting"),
      share("weight_runs", "Weight of few runs"),
      share("weight_progress", "Weight of progress"),
      share("weight_reduction", "Weight of reduction"),
    ],
  },
  {
    title: "Limits",
    fields: [
      { name: "guarantee_ns", title: "Guarantee, ms", hint: "agents that waited longer go first", min: 1, max: 3600000,
        step: 1, factor: 1e6 },
      { name: "updates_per_frame", title: "Updates per frame", hint: "0 = as many as fit", min: 0, max: 4294967293,
        step: 1 },
      { name: "level_pressure", title: "Levels drop from pressure", hint: "0 = never; else 0.05 and more", min: 0,
        max: 1, step: 0.05, hasSlider: true },
      { name: "cycles_max", title: "Cycles of the important", hint: "in one frame", min: 1, max: 8, step: 1 },
    ],
  },
  {
    title: "Factors of importance",
    isOptional: true,
    fields: [share("focus", "Players' focus"), share("designer", "Designer"), share("role", "Role"),
      share("company", "Company")],
  },
];

const form = document.getElementById("controls"), stateText = document.getElementById("controls-state");
const fields = new Map(); /* name -> {definition, inputs, heldUntil, isRefused} */
let world = null, isLost = true;

/* --------------------------------------------------------------------------------------------------------- sending */

let wishes = {}, isSending = false;

async function send() {
  if (isSending) return;
  isSending = true;
  while (Object.keys(wishes).length) {
    const change = wishes;
    wishes = {};
    try {
      await ask("PATCH", worldPath(world), change);
      stateText.textContent = "";
      stateText.classList.remove("wrong");
    } catch (error) {
      stateText.textContent = error.message;
      stateText.classList.add("wrong");
      for (const name of Object.keys(change))
        if (fields.has(name)) Object.assign(fields.get(name), { heldUntil: 0, isRefused: true });
      look();
    }
  }
  isSending = false;
}

function wish(field, value) {
  const { name, factor } = field.definition;
  Object.assign(field, { heldUntil: performance.now() + HOLD_MS, isRefused: false });
  if (name.startsWith("weight_") && wishes.policy) delete wishes.policy; /* the newer wish wins */
  if (name === "policy") /* it sets all weights, and may not be sent with one */
    for (const other of fields.keys()) if (other.startsWith("weight_")) delete wishes[other];
  wishes[name] = factor ? Math.round(value * factor) : value;
  send().then(() => name === "policy" && look());
}

/* --------------------------------------------------------------------------------------------------------- showing */

/* A field that the user is typing into is left alone from the first key until the focus leaves it; but a refused value
 * is replaced by the daemon's value, until the user types again. */
const isHeld = (field) => performance.now() < field.heldUntil ||
  (!field.isRefused && field.inputs.includes(document.activeElement));

function showValue(field, value) {
  const { factor } = field.definition;
  const text = factor ? +(value / factor).toFixed(3) : typeof value === "number" ? +value.toFixed(3) : value;
  for (const input of field.inputs) if (String(input.value) !== String(text)) input.value = text;
}

function follow(values) {
  for (const [name, field] of fields)
    if (values[name] !== undefined && values[name] !== null && !isHeld(field))
      showValue(field, values[name]);
  for (const { isOptional, element, fields: own } of groups)
    if (isOptional && own[0].name in values) element.hidden = values[own[0].name] === null;
}

/* The name of the policy that the weights are; "" when they are none. */
function policyOf(weights) {
  const own = ["importance", "wait", "runs", "progress"].map((name) => weights[`weight_${name}`]);
  return Object.keys(policies).find((name) => policies[name].every((w, i) => Math.abs(w - own[i]) < 1e-6)) ?? "";
}

async function look() {
  const of = world;
  const weights = await get(`${worldPath(of)}/weights`).catch(() => null);
  if (weights && of === world) follow({ ...weights, policy: policyOf(weights) });
}

/* Takes a frame event. */
export function show(frame) {
  const budget = fields.get("budget_ns"), most = Math.max(1, Math.floor((frame.period_ns * 0.9) / 1e5) / 10);
  for (const input of budget.inputs) if (+input.max !== most) input.max = most;
  follow({ budget_ns: frame.budget_ns, hz: frame.hz });
}

/* -------------------------------------------------------------------------------------------------------- building */

function input(field, kind) {
  const { min, max, step, title } = field.definition;
  const element = Object.assign(document.createElement("input"), { type: kind, min, max, step });
  element.name = field.definition.name;
  if (kind === "range") element.setAttribute("aria-label", `${title}, slider`);
  const take = () => {
    if (!element.value || !element.checkValidity()) {
      if (element.validationMessage) element.reportValidity();
      return;
    }
    for (const other of field.inputs) if (other !== element) other.value = element.value;
    wish(field, +element.value);
  };
  element.addEventListener("input", () => { field.isRefused = false; });
  element.addEventListener(kind === "range" ? "input" : "change", take);
  field.inputs.push(element);
  return element;
}

function choice(field) {
  const element = document.createElement("select");
  element.name = field.definition.name;
  element.append(new Option("own weights", ""));
  for (const name of field.definition.options) element.append(new Option(name.replace("_", " "), name));
  element.options[0].disabled = true;
  element.addEventListener("change", () => wish(field, element.value));
  field.inputs.push(element);
  return element;
}

function build(definition) {
  const field = { definition, inputs: [], heldUntil: 0, isRefused: false };
  const label = document.createElement("label"), name = document.createElement("span");
  const row = document.createElement("div");
  row.className = "control";
  name.textContent = definition.title;
  label.append(name);
  if (definition.hint) label.append(Object.assign(document.createElement("small"), { textContent: definition.hint }));
  const main = definition.options ? choice(field) : input(field, "number");
  main.id = `control-${definition.name}`;
  label.htmlFor = main.id;
  row.append(label);
  if (definition.hasSlider) row.append(input(field, "range"));
  row.append(main);
  fields.set(definition.name, field);
  return row;
}

function buildGroup(group) {
  const element = document.createElement("fieldset");
  element.append(Object.assign(document.createElement("legend"), { textContent: group.title }));
  element.append(...group.fields.map(build));
  element.hidden = group.isOptional ?? false;
  group.element = element;
  return element;
}

/* ------------------------------------------------------------------------------------------------------------ whole */

export function showWorld(name) {
  world = name;
  wishes = {};
  look();
}

export function setLost(lost) {
  if (isLost && !lost && world) look();
  isLost = lost;
}

export function say(text) {
  stateText.classList.remove("wrong");
  stateText.textContent = text;
}

form.append(...groups.map(buildGroup));
form.addEventListener("submit", (event) => event.preventDefault());
setInterval(() => world && !isLost && !document.hidden && look(), LOOK_MS);
