/* plot_marks.js - what lies over the lines of a plot, as plugins of Chart.js: shade where nothing ran, marks of values
 * that are cut off, and the crosshair. */
import { digits } from "./format.js";

/* What all plots share: the crosshair's place, as seconds to now (null = none), and how long without a point is a gap.
 * Where points are seconds, the last one that is over may be two seconds old. */
export const shared = { cursor: null, gap: 1.5 };
const TAIL_S = 2;

const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* The empty stretches between points of the first line, and before now. */
function emptyStretches(chart) {
  const points = chart.data.datasets[0].data, found = [];
  for (let i = 1; i <= points.length; i++) {
    const from = points[i - 1].x, to = points[i]?.x ?? 0;
    if (to - from > shared.gap + (i === points.length && !chart.hasFrames ? TAIL_S : 0)) found.push([from, to]);
  }
  return found;
}

export const gaps = {
  id: "gaps",
  beforeDatasetsDraw(chart) {
    const { ctx: context, chartArea: area, scales } = chart;
    chart.gaps = emptyStretches(chart);
    context.save();
    context.globalAlpha = 0.5;
    context.fillStyle = ink("--line");
    for (const [from, to] of chart.gaps) {
      const left = Math.max(area.left, scales.x.getPixelForValue(from)), right = scales.x.getPixelForValue(to);
      if (right > left) context.fillRect(left, area.top, right - left, area.height);
    }
    context.restore();
  },
};

/* The points above the axis: their places, and the greatest value. */
function clipped(chart) {
  const { x, y } = chart.scales, places = new Set();
  let most = null;
  if (chart.options.scales.y.max === undefined) return { places, most };
  for (const { data } of chart.data.datasets)
    for (const point of data)
      if (point.y > y.max && point.x >= x.min) {
        places.add(Math.round(x.getPixelForValue(point.x)));
        if (most === null || point.y > most.y) most = point;
      }
  return { places, most };
}

export const spikes = {
  id: "spikes",
  afterDatasetsDraw(chart) {
    const { ctx: context, chartArea: area, scales } = chart, { places, most } = clipped(chart);
    chart.cutOff = most?.y ?? null;
    if (!most) return;
    context.save();
    context.fillStyle = ink("--text");
    for (const px of places) {
      context.beginPath();
      context.moveTo(px, area.top);
      context.lineTo(px - 3, area.top + 6);
      context.lineTo(px + 3, area.top + 6);
      context.fill();
    }
    const px = scales.x.getPixelForValue(most.x), isRight = px > (area.left + area.right) / 2;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = isRight ? "right" : "left";
    context.textBaseline = "top";
    const text = `up to ${digits(most.y)}`, from = px + (isRight ? -6 : 6), width = context.measureText(text).width;
    context.globalAlpha = 0.8;
    context.fillStyle = ink("--card");
    context.fillRect(isRight ? from - width - 2 : from - 2, area.top, width + 4, 13);
    context.globalAlpha = 1;
    context.fillStyle = ink("--text");
    context.fillText(text, from, area.top + 1);
    context.restore();
  },
};

export const crosshair = {
  id: "crosshair",
  afterDatasetsDraw(chart) {
    const { cursor } = shared, { ctx: context, chartArea: area } = chart;
    if (cursor === null) return;
    const px = Math.round(chart.scales.x.getPixelForValue(cursor)) + 0.5;
    context.save();
    context.strokeStyle = ink("--text");
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(px, area.top);
    context.lineTo(px, area.bottom);
    context.stroke();
    context.restore();
  },
};
