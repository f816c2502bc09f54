/* map_draw.js - a map as pixels: single agents as dots, many as a smooth raster whose strength says how many they are;
 * below them a grid with a scale and the cells of the observer grid, above them herds, what observers see, and the
 * agent that was chosen. */
import { palette } from "./palette.js";
import { FieldPainter } from "./field_draw.js";
import { metres } from "./format.js";

const ROUND_DOTS_MAX = 2500; /* beyond, dots are small squares, written straight into the image */

const inks = {
  light: { ground: "#f5f2ea", grid: "#e0dacb", text: "#4c4636", mark: "#1a1a1a", herd: "#0b5c73" },
  dark: { ground: "#0e131d", grid: "#1d2636", text: "#aab4c5", mark: "#ffffff", herd: "#7cc7e0" },
};

export class MapPainter {
  constructor(canvas, view) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.view = view;
    this.layer = document.createElement("canvas"); /* of dots or of raster cells, brought onto the canvas as a whole */
    this.field = new FieldPainter();
    this.rastered = null;                          /* the map that the layer holds as cells */
  }

  paint(map, colouring, extras) {
    this.ratio = this.fitPixels();
    const context = this.context;
    this.ink = inks[palette.isLight ? "light" : "dark"];
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = this.ink.ground;
    context.fillRect(0, 0, this.view.width, this.view.height);
    if (!this.view.scale) return;
    this.grid();
    if (extras.field) this.field.paint(this.context, this.view, extras.field);
    if (map && !map.isAgents) this.cells(map, colouring, extras.field ? 0.4 : 1);
    else if (map && map.records > ROUND_DOTS_MAX) this.squares(map, colouring);
    else if (map) this.dots(map, colouring);
    for (const herd of extras.herds) this.herd(herd);
    for (const observer of extras.observers) this.sight(observer);
    if (extras.chosen) this.ring(...extras.chosen);
    if (extras.cross) this.cross();
  }

  /* As many pixels as the screen has there, two each way for one of CSS at most. */
  fitPixels() {
    const ratio = Math.min(2, devicePixelRatio), width = Math.round(this.view.width * ratio);
    const height = Math.round(this.view.height * ratio);
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    return ratio;
  }

  /* ------------------------------------------------------------------------------------------------------- ground */

  grid() {
    const { context, view } = this, raw = 90 / view.scale, ten = 10 ** Math.floor(Math.log10(raw));
    const step = ten * (raw / ten > 5 ? 10 : raw / ten > 2 ? 5 : 2);
    const [left, bottom] = view.toGround(0, view.height), [right, top] = view.toGround(view.width, 0);
    context.beginPath();
    for (let x = Math.ceil(left / step) * step; x <= right; x += step) {
      const px = Math.round(view.toScreen(x, 0)[0]) + 0.5;
      context.moveTo(px, 0);
      context.lineTo(px, view.height);
    }
    for (let y = Math.ceil(bottom / step) * step; y <= top; y += step) {
      const py = Math.round(view.toScreen(0, y)[1]) + 0.5;
      context.moveTo(0, py);
      context.lineTo(view.width, py);
    }
    context.lineWidth = 1;
    context.strokeStyle = this.ink.grid;
    context.stroke();
    this.scaleText = metres(step);
    this.scalePixels = step * view.scale;
  }

  /* ------------------------------------------------------------------------------------------------------- agents */

  /* One pixel for a cell, made once for a map and a colouring, and stretched over its place; paler over what else is to
   * be seen there. */
  cells(map, colouring, alpha) {
    if (this.rastered !== map || this.rasteredBy !== colouring || this.rasteredLight !== palette.isLight) {
      this.raster(map, colouring);
      [this.rastered, this.rasteredBy, this.rasteredLight] = [map, colouring, palette.isLight];
    }
    const [left, top] = this.view.toScreen(map.x0, map.y1), [right, bottom] = this.view.toScreen(map.x1, map.y0);
    this.context.imageSmoothingEnabled = true;
    this.context.globalAlpha = alpha;
    this.context.drawImage(this.layer, 0, 0, map.columns, map.rows, left, top, right - left, bottom - top);
    this.context.globalAlpha = 1;
  }

  raster(map, colouring) {
    const image = new ImageData(map.columns, map.rows), pixels = new Uint32Array(image.data.buffer);
    const value = colouring.readerFor(map), { words, stride, columns, rows } = map;
    const full = Math.log1p((2 * map.agents) / Math.max(1, map.records));
    for (let i = 0, at = 0; i < map.records; i++, at += stride) {
      const index = words[at], row = rows - 1 - Math.floor(index / columns); /* the image's first row is the last */
      const alpha = 255 * Math.min(1, 0.45 + (0.55 * Math.log1p(words[at + 1])) / full);
      const colour = palette.words[colouring.step(value(map, at))] & 0xffffff;
      pixels[row * columns + (index % columns)] = (alpha << 24) | colour;
    }
    Object.assign(this.layer, { width: columns, height: rows });
    this.layer.getContext("2d").putImageData(image, 0, 0);
  }

  squares(map, colouring) {
    const { ratio, view } = this, width = this.canvas.width, height = this.canvas.height;
    const image = new ImageData(width, height), pixels = new Uint32Array(image.data.buffer);
    const value = colouring.readerFor(map), { floats, stride } = map;
    const [originX, originY] = view.toScreen(map.x0, map.y0);
    const side = Math.round(ratio * Math.min(4, Math.max(2, view.scale * 1.2))), most = Math.min(width, height) - side;
    if (most <= 0) return;
    for (let i = 0, at = 0; i < map.records; i++, at += stride) {
      const px = Math.round((originX + floats[at + 2] * view.scale) * ratio - side / 2);
      const py = Math.round((originY - floats[at + 3] * view.scale) * ratio - side / 2);
      if (px < 0 || py < 0 || px + side > width || py + side > height) continue;
      const colour = palette.words[colouring.step(value(map, at))];
      for (let row = py; row < py + side; row++) pixels.fill(colour, row * width + px, row * width + px + side);
    }
    Object.assign(this.layer, { width, height });
    this.layer.getContext("2d").putImageData(image, 0, 0);
    this.rastered = null;
    this.context.drawImage(this.layer, 0, 0, width, height, 0, 0, view.width, view.height);
  }

  dots(map, colouring) {
    const { context, view } = this, value = colouring.readerFor(map), { floats, stride } = map;
    const [originX, originY] = view.toScreen(map.x0, map.y0), radius = Math.min(9, Math.max(2.2, view.scale * 0.8));
    for (let i = 0, at = 0; i < map.records; i++, at += stride) {
      context.beginPath();
      context.arc(originX + floats[at + 2] * view.scale, originY - floats[at + 3] * view.scale, radius, 0, 6.2832);
      context.fillStyle = palette.css[colouring.step(value(map, at))];
      context.fill();
    }
  }

  /* -------------------------------------------------------------------------------------------------------- marks */

  circle(x, y, radius) {
    const [px, py] = this.view.toScreen(x, y);
    this.context.beginPath();
    this.context.arc(px, py, radius, 0, 6.2832);
  }

  /* What an observer sees: all of it within the inner ring, nothing beyond the outer one. */
  sight(observer) {
    const { context, view } = this, { x, y } = observer.position;
    context.strokeStyle = this.ink.mark;
    context.lineWidth = 1.25;
    context.globalAlpha = 0.8;
    this.circle(x, y, observer.near_m * view.scale);
    context.stroke();
    context.setLineDash([5, 5]);
    this.circle(x, y, observer.far_m * view.scale);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  /* A folded herd is a disc that grows with its members; the membrane of another is the hull of its leaves. */
  herd(herd) {
    const { context, view } = this;
    context.strokeStyle = this.ink.herd;
    context.lineWidth = 1.5;
    if (herd.leaves === 0 || herd.membrane.length < 3) {
      const radius = Math.max(3, Math.sqrt(herd.members) * 0.6 * Math.min(1, view.scale));
      this.circle(herd.position.x, herd.position.y, radius);
    } else {
      context.beginPath();
      const places = hull(herd.membrane.map((leaf) => leaf.position));
      for (const place of places) context.lineTo(...view.toScreen(place.x, place.y));
      context.closePath();
    }
    context.stroke();
  }

  ring(x, y) {
    this.context.strokeStyle = this.ink.mark;
    this.context.lineWidth = 2;
    this.circle(x, y, 11);
    this.context.stroke();
  }

  cross() {
    const { context, view } = this, px = view.width / 2, py = view.height / 2;
    context.strokeStyle = this.ink.mark;
    context.lineWidth = 1;
    context.beginPath();
    for (const [x, y] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      context.moveTo(px + 4 * x, py + 4 * y);
      context.lineTo(px + 13 * x, py + 13 * y);
    }
    context.stroke();
  }
}

/* The convex hull of places, in order around it (Andrew's monotone chain). */
function hull(places) {
  const sorted = [...places].sort((a, b) => a.x - b.x || a.y - b.y);
  const half = (list) => {
    const chain = [];
    for (const at of list) {
      const turn = ([a, b]) => (b.x - a.x) * (at.y - a.y) - (b.y - a.y) * (at.x - a.x);
      while (chain.length > 1 && turn(chain.slice(-2)) <= 0) chain.pop();
      chain.push(at);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}
