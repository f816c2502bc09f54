/* field_draw.js - the cells of the observer grid as pixels: coloured by what the least important agent in them gets
 * from observers, strong where that is much, clear where it is nothing. Those that are listed have a frame, the empty
 * ones a stroke; so colour is not all that tells them apart. */
import { STEPS, palette } from "./palette.js";

const EMPTY = 1, WAITING = 2;
const marks = { /* as pixels are: alpha, blue, green, red */
  light: { empty: 0x806b5d55, waiting: 0xff30241e },
  dark: { empty: 0x90c1aea3, waiting: 0xfff4ece8 },
};
const SIDE = 8; /* pixels of the image for a square, the last row and column of which stay clear: so cells are seen */

/* How much is seen of an importance, 0..255. */
const alphaOf = (importance) => (importance > 0 ? Math.round(60 + 110 * importance) : 0);

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
    context.imageSmoothingEnabled = right - left < 2 * width; /* larger ones have sharp edges */
    context.drawImage(this.layer, 0, 0, width, height, left, top, right - left, bottom - top);
  }

  draw(field) {
    const ink = marks[palette.isLight ? "light" : "dark"];
    const width = field.columns * SIDE, image = new ImageData(width, field.rows * SIDE);
    const pixels = new Uint32Array(image.data.buffer);
    const { words, floats, stride, columns, rows } = field;
    for (let i = 0, at = 0; i < field.records; i++, at += stride) {
      const index = words[at], row = rows - 1 - Math.floor(index / columns); /* the image's first row is the last */
      this.square(pixels, width, (row * width + (index % columns)) * SIDE, floats[at + 1], words[at + 2], ink);
    }
    Object.assign(this.layer, { width, height: image.height });
    this.layer.getContext("2d").putImageData(image, 0, 0);
    [this.drawn, this.drawnLight] = [field, palette.isLight];
  }

  square(pixels, width, first, importance, flags, ink) {
    const last = SIDE - 2, colour = palette.words[stepOf(importance)] & 0xffffff;
    const fill = ((alphaOf(importance) << 24) | colour) >>> 0;
    for (let y = 0, at = first; importance > 0 && y <= last; y++, at += width) pixels.fill(fill, at, at + SIDE - 1);
    for (let y = 1; flags & EMPTY && y < last; y++) pixels[first + y * width + last - y] = ink.empty;
    for (let i = 0; flags & WAITING && i <= last; i++)
      for (const at of [i, last * width + i, i * width, i * width + last]) pixels[first + at] = ink.waiting;
  }
}
