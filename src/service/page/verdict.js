/* verdict.js - the daemon's own line on how a world does (service/verdict.h), and what to do next. Severities differ in
 * sign and word, not in colour alone. */
const box = document.getElementById("verdict"), word = box.querySelector("strong");
const words = box.querySelector(".words"), next = box.querySelector(".next");
const spoken = document.getElementById("verdict-spoken");

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/* Shows one. Figures change every second: only another verdict is spoken. */
export function put({ code, title = code, severity, words: text, next: advice }) {
  box.dataset.severity = severity;
  box.dataset.code = code;
  box.hidden = false;
  write(word, title);
  write(words, text);
  write(next, advice);
  write(spoken, `The world is ${code}.`);
}

/* Takes a types event. */
export function show({ verdict }) {
  put(verdict);
}

export function setLost(lost) {
  if (lost)
    put({ code: "away", severity: "alarm", words: "what is shown is old", next: "See whether musterd runs, and its log." });
}

export function forget() {
  box.hidden = true;
}
