/* field_draw.js - the cells of the observer grid as pixels: coloured by what the least important agent in them gets
 * from observers, strong where that is much, clear where it is nothing. Cells that wait to be looked at have a frame,
 * empty ones a stroke; so they differ by more than colour. */
import { STEPS, palette } from "./palette.js";

const EMPTY = 1, WAITING = 2;
const marks = { /* as pixels are: alpha, blue, green, red */
  light: { empty: 0x806b5d55, waiting: 0xff30241e },
  dark: { empty: 0x90c1aea3, waiting: 0xfff4ece8 },
};
const SIDE_MIN = 8, SIDE_MAX = 32, PIXELS = 1200000; /* of the image, for a square and at most */

/* The opacity for an importance, 0..255. */
const alphaOf = (importance) => (importance > 0 ? Math.round(50 + 90 * importance) : 0);

const stepOf = (importance) => Math.round((1 - importance) * (STEPS - 1));

/* The colours of importance 1 .. 0, for a legend. */
export const fieldColours = () => palette.css.map((colour, step) =>
  colour.replace(")", ` / ${alphaOf(1 - step / (STEPS - 1)) / 255})`));

export class FieldPainter {
  constructor() {
    this.layer = document.createElement("canvas");
    this.drawn = null; /* the field that the layer holds */
  }

  paint(context, view, field) {
    if (field.records === 0) return;
    if (this.drawn !== field || this.drawnLight !== palette.isLight) this.draw(field);
    const [left, top] = view.toScreen(field.x0, field.y1), [right, bottom] = view.toScreen(field.x1, field.y0);
    const { width, height } = this.layer;
    context.imageSmoothingEnabled = true;
    context.drawImage(this.layer, 0, 0, width, height, left, top, right - left, bottom - top);
  }

  draw(field) {
    const { words, floats, stride, columns, rows } = field, ink = marks[palette.isLight ? "light" : "dark"];
    const side = Math.min(SIDE_MAX, Math.max(SIDE_MIN, Math.floor(Math.sqrt(PIXELS / (columns * rows)))));
    const width = columns * side, image = new ImageData(width, rows * side);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0, at = 0; i < field.records; i++, at += stride) {
      const index = words[at], row = rows - 1 - Math.floor(index / columns); /* the image's first row is the last */
      const square = { pixels, width, side, first: (row * width + (index % columns)) * side };
      fill(square, floats[at + 1]);
      if (words[at + 2] & EMPTY) stroke(square, ink.empty);
      if (words[at + 2] & WAITING) frame(square, ink.waiting);
    }
    Object.assign(this.layer, { width, height: image.height });
    this.layer.getContext("2d").putImageData(image, 0, 0);
    [this.drawn, this.drawnLight] = [field, palette.isLight];
  }
}

/* The last row and column of a square stay clear, so that single cells are visible. */
function fill({ pixels, width, side, first }, importance) {
  const colour = ((alphaOf(importance) << 24) | (palette.words[stepOf(importance)] & 0xffffff)) >>> 0;
  for (let y = 0, at = first; importance > 0 && y < side - 1; y++, at += width) pixels.fill(colour, at, at + side - 1);
}

function stroke({ pixels, width, side, first }, colour) {
  const margin = Math.floor(side / 4), last = side - 2;
  for (let y = margin; y <= last - margin; y++) pixels[first + y * width + last - y] = colour;
}

function frame({ pixels, width, side, first }, colour) {
  const last = side - 2;
  for (let k = 0; k < side / 10; k++)
    for (let i = k; i <= last - k; i++)
      for (const at of [k * width + i, (last - k) * width + i, i * width + k, i * width + last - k])
        pixels[first + at] = colour;
}
