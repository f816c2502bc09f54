/* map_view.js - which part of the ground the canvas shows, and the gestures that change it: drag, wheel, pinch, keys.
 * Metres on the ground (y up) against CSS pixels of the canvas (y down). */

const ZOOM_STEP = 1.5, CLICK_PIXELS = 5, LEAST_SCALE = 1e-4, MOST_SCALE = 200;

export class MapView extends EventTarget {
  constructor(canvas) {
    super();
    this.canvas = canvas;
    this.x = this.y = 0; /* metres, in the middle */
    this.scale = 0;      /* pixels per metre; 0 = nothing was seen yet: the whole world is to be shown */
    this.fitted = null;  /* the rectangle that is shown as large as it fits, until the view is moved by hand */
    this.pointers = new Map();
    this.listen();
  }

  get width() { return this.canvas.clientWidth; }
  get height() { return this.canvas.clientHeight; }

  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  toGround(px, py) {
    return [this.x + (px - this.width / 2) / this.scale, this.y - (py - this.height / 2) / this.scale];
  }

  changed() {
    this.dispatchEvent(new Event("change"));
  }

  /* Shows a rectangle of the ground as large as it fits. */
  fit(x0, y0, x1, y1) {
    this.x = (x0 + x1) / 2;
    this.y = (y0 + y1) / 2;
    this.scale = Math.min(MOST_SCALE, (this.width / (x1 - x0)) * 0.97, (this.height / (y1 - y0)) * 0.97);
    this.fitted = [x0, y0, x1, y1];
    this.changed();
  }

  /* The canvas has another size: what was shown as a whole stays whole. */
  resized() {
    if (this.fitted && this.width && this.height) this.fit(...this.fitted);
    else this.changed();
  }

  forget() {
    this.scale = 0;
    this.fitted = null;
  }

  centre(x, y) {
    this.fitted = null;
    this.x = x;
    this.y = y;
    this.changed();
  }

  pan(px, py) {
    if (!this.scale) return;
    this.fitted = null;
    this.x -= px / this.scale;
    this.y += py / this.scale;
    this.changed();
  }

  /* Zooms; what lies at (px, py) stays there. */
  zoom(factor, px = this.width / 2, py = this.height / 2) {
    if (!this.scale) return;
    this.fitted = null;
    const [x, y] = this.toGround(px, py);
    this.scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, this.scale * factor));
    this.x = x - (px - this.width / 2) / this.scale;
    this.y = y + (py - this.height / 2) / this.scale;
    this.changed();
  }

  zoomIn() { this.zoom(ZOOM_STEP); }
  zoomOut() { this.zoom(1 / ZOOM_STEP); }

  /* ----------------------------------------------------------------------------------------------------- gestures */

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel"])
      canvas.addEventListener(kind, (event) => this.release(event, kind === "pointerup"));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
      this.zoom(Math.exp(-0.0015 * event.deltaY * lines), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    this.walked = this.pointers.size > 1 ? Infinity : 0; /* pixels: whether it becomes a click */
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.offsetX, event.offsetY];
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.pointers.set(event.pointerId, now);
    this.walked += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (other) {
      const span = (at) => Math.max(1, Math.hypot(at[0] - other[0], at[1] - other[1]));
      this.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
      this.zoom(span(now) / span(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else if (this.walked > CLICK_PIXELS) {
      this.pan(now[0] - before[0], now[1] - before[1]);
    }
  }

  release(event, isUp) {
    if (!this.pointers.delete(event.pointerId)) return;
    if (isUp && this.walked <= CLICK_PIXELS) this.pick(event.offsetX, event.offsetY);
  }

  pick(px, py) {
    this.dispatchEvent(new CustomEvent("pick", { detail: { px, py } }));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const pixels = event.shiftKey ? 200 : 50;
    const actions = {
      ArrowLeft: () => this.pan(pixels, 0),
      ArrowRight: () => this.pan(-pixels, 0),
      ArrowUp: () => this.pan(0, pixels),
      ArrowDown: () => this.pan(0, -pixels),
      "+": () => this.zoomIn(),
      "=": () => this.zoomIn(),
      "-": () => this.zoomOut(),
      0: () => this.dispatchEvent(new Event("whole")),
      Home: () => this.dispatchEvent(new Event("whole")),
      Enter: () => this.pick(this.width / 2, this.height / 2),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }
}
