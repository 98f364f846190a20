// The drawing's page: move and zoom, look at a box, fold away what is behind it.
"use strict";

const svg = document.querySelector("svg");
const told = JSON.parse(document.getElementById("told").textContent);
const boxes = new Map([...svg.querySelectorAll("[data-box]")].map((g) => [Number(g.dataset.box), g]));
const edges = [...svg.querySelectorAll("[data-near]")].map((g) => ({
  group: g,
  near: Number(g.dataset.near),
  far: Number(g.dataset.far),
}));
const labels = [...svg.querySelectorAll("[data-label]")];
const behind = new Map([...boxes.keys()].map((one) => [one, []]));
const before = new Map([...boxes.keys()].map((one) => [one, []]));
for (const { near, far } of edges) {
  behind.get(near).push(far);
  before.get(far).push(near);
}

// ---- folding

const folded = new Set();

function reached() {
  const seen = new Set([0]);
  for (const one of seen) {
    if (!folded.has(one)) for (const far of behind.get(one)) seen.add(far);
  }
  return seen;
}

function show() {
  const seen = reached();
  for (const [number, group] of boxes) {
    group.classList.toggle("away", !seen.has(number));
    group.classList.toggle("folded", folded.has(number) && seen.has(number));
    if (behind.get(number).length) group.setAttribute("aria-expanded", String(!folded.has(number)));
  }
  for (const { group, near, far } of edges) {
    group.classList.toggle("away", !seen.has(near) || !seen.has(far) || folded.has(near));
  }
  for (const label of labels) label.classList.toggle("away", !seen.has(Number(label.dataset.label)));
  const hidden = boxes.size - seen.size;
  document.getElementById("hidden").textContent = hidden ? `${hidden} boxes folded away` : "";
}

function fold(number) {
  if (!behind.get(number).length) return;
  if (!folded.delete(number)) folded.add(number);
  show();
}

// ---- looking

const tip = document.getElementById("tip");

function toCentre(number) {
  const way = new Set([number]);
  for (const one of way) for (const near of before.get(one)) way.add(near);
  return way;
}

function look(number) {
  const way = toCentre(number);
  const lit = new Set([...way, ...behind.get(number)]);
  svg.classList.add("looking");
  for (const [one, group] of boxes) group.classList.toggle("lit", lit.has(one));
  const shown = new Set();
  for (const { group, near, far } of edges) {
    const on = (way.has(near) && way.has(far)) || near === number;
    group.classList.toggle("lit", on);
    if (on) shown.add(far);
  }
  for (const label of labels) label.classList.toggle("lit", shown.has(Number(label.dataset.label)));
  tip.replaceChildren(
    ...told[number].map((line, at) => {
      const part = document.createElement(at ? "div" : "b");
      part.textContent = line;
      return part;
    }),
  );
  tip.hidden = false;
}

function unlook() {
  svg.classList.remove("looking");
  tip.hidden = true;
}

function place(x, y) {
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 18 + width > innerWidth ? x - 18 - width : x + 18;
  const top = Math.min(y + 14, innerHeight - height - 8);
  tip.style.left = `${Math.max(left, 8)}px`;
  tip.style.top = `${Math.max(top, 8)}px`;
}

// ---- moving

const whole = svg.viewBox.baseVal;
const all = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
let view = { ...all };

function set(next) {
  view = next;
  svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
}

function scale() {
  return Math.max(view.width / svg.clientWidth, view.height / svg.clientHeight);
}

function at(x, y) {
  const point = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse());
  return [point.x, point.y];
}

function zoom(by, x = innerWidth / 2, y = innerHeight / 2) {
  const width = Math.min(Math.max(view.width * by, all.width / 12), all.width * 3);
  const factor = width / view.width;
  const [px, py] = at(x, y);
  set({
    x: px - (px - view.x) * factor,
    y: py - (py - view.y) * factor,
    width,
    height: view.height * factor,
  });
}

let drag = null;
let moved = false;
svg.addEventListener("pointerdown", (event) => {
  drag = { x: event.clientX, y: event.clientY, view, scale: scale() };
  moved = false;
});
addEventListener("pointermove", (event) => {
  if (!tip.hidden) place(event.clientX, event.clientY);
  if (!drag) return;
  const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
  if (!moved && Math.hypot(x, y) < 4) return;
  moved = true;
  set({ ...drag.view, x: drag.view.x - x * drag.scale, y: drag.view.y - y * drag.scale });
});
addEventListener("pointerup", () => {
  drag = null;
});
svg.addEventListener(
  "wheel",
  (event) => {
    event.preventDefault();
    zoom(Math.exp(event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX, event.clientY);
  },
  { passive: false },
);

// ---- hands and keys

for (const [number, group] of boxes) {
  group.setAttribute("tabindex", "0");
  group.setAttribute("role", behind.get(number).length ? "button" : "img");
  group.setAttribute("aria-label", told[number].join(", "));
  // The page's own is shown at once and stays; two would be one too many.
  group.querySelector("title").remove();
  group.addEventListener("pointerenter", () => look(number));
  group.addEventListener("pointerleave", unlook);
  group.addEventListener("focus", () => {
    if (!group.matches(":focus-visible")) return;
    look(number);
    const { right, top } = group.getBoundingClientRect();
    place(right, top);
  });
  group.addEventListener("blur", unlook);
  group.addEventListener("click", () => {
    if (!moved) fold(number);
  });
  group.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      fold(number);
    }
  });
}

const root = document.documentElement;

function dark() {
  const chosen = root.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

const actions = {
  in: () => zoom(0.8),
  out: () => zoom(1.25),
  fit: () => set({ ...all }),
  fold: () => {
    if (folded.size) folded.clear();
    else for (const one of behind.get(0)) if (behind.get(one).length) folded.add(one);
    show();
  },
  theme: () => {
    root.dataset.theme = dark() ? "light" : "dark";
  },
};
for (const button of document.querySelectorAll("[data-do]")) {
  button.addEventListener("click", actions[button.dataset.do]);
}
const keys = { "+": "in", "=": "in", "-": "out", 0: "fit", f: "fold", t: "theme" };
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") unlook();
  else if (keys[event.key]) actions[keys[event.key]]();
});
show();
