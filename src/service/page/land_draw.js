/* land_draw.js - the zones of a cluster from above: each a raster in the colour of the node that runs it, the stronger
 * the more agents stand there; grey and hatched while it stands still. On each its name and its node, so that nothing
 * hangs on the colour alone. */
import { count } from "./format.js";
import { nodePixel, palette } from "./palette.js";

const MARGIN = 6, HATCH = 9, FONT = 12, LINE = 15, SMALL = 84; /* pixels; narrower zones have one line of text */

const inks = {
  light: { ground: "#f5f2ea", line: "#8f8876", grey: 0xff988f8b, hatch: "#555d6b66", text: "#1e2430", label: "#fffdf8d9" },
  dark: { ground: "#0e131d", line: "#4a566c", grey: 0xff85756b, hatch: "#a3aec166", text: "#e8ecf4", label: "#131a27d9" },
};

/* Numbers of two bytes, out of base64. */
export function readCounts(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Uint16Array(bytes.buffer);
}

/* One pixel for a cell. The image's first row is the last. */
function raster(zone, pixel, full) {
  const { side } = zone, image = new ImageData(side, side), pixels = new Uint32Array(image.data.buffer);
  const layer = Object.assign(document.createElement("canvas"), { width: side, height: side });
  zone.cells.forEach((agents, i) => {
    const alpha = agents && Math.round(255 * Math.min(1, 0.2 + (0.8 * agents) / full));
    pixels[(side - 1 - Math.floor(i / side)) * side + (i % side)] = ((alpha << 24) | (pixel & 0xffffff)) >>> 0;
  });
  layer.getContext("2d").putImageData(image, 0, 0);
  return layer;
}

export class LandPainter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.places = []; /* where each zone is drawn */
  }

  /* The world at a pixel; null where there is none. */
  worldAt(px, py) {
    return this.places.find(({ x, y, width, height }) => px >= x && py >= y && px < x + width && py < y + height)?.world
      ?? null;
  }

  /* Zones are as they are answered, with `is`, the state that they are shown in, and `colour`, the number of the node. */
  paint(zones) {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight, ratio = Math.min(2, devicePixelRatio);
    if (!width || zones.length === 0) return;
    this.ink = inks[palette.isLight ? "light" : "dark"];
    Object.assign(this.canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.fillStyle = this.ink.ground;
    this.context.fillRect(0, 0, width, height);
    this.place(zones, width, height);
    for (const zone of zones) zone.cells = readCounts(zone.counts);
    const filled = zones.flatMap((zone) => [...zone.cells].filter((agents) => agents > 0));
    const full = (2.2 * filled.reduce((sum, agents) => sum + agents, 0)) / Math.max(1, filled.length);
    zones.forEach((zone, i) => this.zone(zone, this.places[i], full));
    zones.forEach((zone, i) => this.label(zone, this.places[i]));
  }

  /* All of them as large as they fit, y up. */
  place(zones, width, height) {
    const edges = [0, 1, 2, 3].map((i) => zones.map((zone) => zone.rectangle[i]));
    const x0 = Math.min(...edges[0]), y0 = Math.min(...edges[1]), x1 = Math.max(...edges[2]), y1 = Math.max(...edges[3]);
    const scale = Math.min((width - 2 * MARGIN) / (x1 - x0), (height - 2 * MARGIN) / (y1 - y0));
    const left = (width - (x1 - x0) * scale) / 2, bottom = (height + (y1 - y0) * scale) / 2;
    this.places = zones.map(({ world, rectangle: [a, b, c, d] }) => ({
      world, x: left + (a - x0) * scale, y: bottom - (d - y0) * scale, width: (c - a) * scale, height: (d - b) * scale,
    }));
  }

  zone(zone, { x, y, width, height }, full) {
    const { context } = this, runs = zone.is === "runs";
    context.imageSmoothingEnabled = true;
    context.drawImage(raster(zone, runs ? nodePixel(zone.colour) : this.ink.grey, full), x, y, width, height);
    if (!runs) this.hatch(x, y, width, height);
    context.lineWidth = 1;
    context.strokeStyle = this.ink.line;
    context.strokeRect(Math.round(x) + 0.5, Math.round(y) + 0.5, Math.round(width) - 1, Math.round(height) - 1);
  }

  hatch(x, y, width, height) {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.beginPath();
    for (let at = -height; at < width; at += HATCH) {
      context.moveTo(x + at, y + height);
      context.lineTo(x + at + height, y);
    }
    context.lineWidth = 3;
    context.strokeStyle = this.ink.hatch;
    context.stroke();
    context.restore();
  }

  label(zone, { x, y, width, height }) {
    const { context } = this;
    const state = { starts: `${zone.node} takes over`, runs: `on ${zone.node}, ${count(zone.agents)}` };
    const lines = width < SMALL ? [zone.world] : [zone.world, state[zone.is] ?? "stands still"];
    context.font = `600 ${FONT}px system-ui, "DejaVu Sans", sans-serif`;
    const wide = Math.max(...lines.map((line) => context.measureText(line).width)) + 12, high = lines.length * LINE + 6;
    const left = x + (width - wide) / 2, top = y + (height - high) / 2;
    context.fillStyle = this.ink.label;
    context.beginPath();
    context.roundRect(left, top, wide, high, 6);
    context.fill();
    context.fillStyle = this.ink.text;
    context.textAlign = "center";
    context.textBaseline = "middle";
    lines.forEach((line, i) => context.fillText(line, x + width / 2, top + 3 + (i + 0.5) * LINE));
  }
}
