// Baselines in a chart: dashed lines, which do not stretch the axis, and their names beside the curves.
import { h, themed } from "./dom.js";

const kNameHeight = 13; // pixels
const kDashes = [[7, 4], [2, 3], [10, 3, 2, 3], [4, 6]];

const isNarrow = () => matchMedia("(max-width: 600px)").matches;
const nameFont = () => `11px ${getComputedStyle(document.body).fontFamily}`;

// Each baseline is a line. If the runs' baselines differ, the line is at their mean and the name gives the range. Runs
// on different data have no baselines in common, so none is drawn.
export function baselinesOf(runs, end) {
  const values = new Map();
  for (const run of runs) {
    for (const [name, value] of Object.entries(run.baselines)) {
      if (Number.isFinite(value)) values.set(name, [...(values.get(name) ?? []), value]);
    }
  }
  return [...values].map(([name, list], i) => {
    const [low, high] = [Math.min(...list), Math.max(...list)];
    const level = list.reduce((sum, value) => sum + value, 0) / list.length;
    return {
      baseline: high - low < 5e-4 ? `${name} ${level.toFixed(3)}` : `${name} ${low.toFixed(3)} to ${high.toFixed(3)}`,
      level,
      data: [{ x: 0, y: level }, { x: end, y: level }],
      borderColor: themed("--quiet"),
      borderDash: kDashes[i % kDashes.length],
      borderWidth: 1,
      pointRadius: 0,
      pointHitRadius: 0,
    };
  });
}

// "↑ " or "↓ " where the line lies beyond the range that is shown.
const beyond = ({ level }, { min, max }) => (level > max ? "↑ " : level < min ? "↓ " : "");

// The names stand to the right of the chart, each at its line's height where there is room, else below the one above.
// On a narrow screen they stand in the legend instead.
export const baselineNames = {
  id: "baselineNames",
  afterDatasetsDraw({ ctx, chartArea, data, scales }) {
    if (isNarrow()) return;
    const heightOf = (set) => {
      const where = beyond(set, scales.y);
      return where === "" ? scales.y.getPixelForValue(set.level) : where === "↑ " ? chartArea.top : chartArea.bottom;
    };
    const names = data.datasets
      .filter((set) => set.baseline)
      .sort((a, b) => b.level - a.level)
      .map((set) => ({ text: beyond(set, scales.y) + set.baseline, y: heightOf(set) }));
    let free = chartArea.top;
    for (const name of names) {
      name.y = Math.max(free, name.y);
      free = name.y + kNameHeight;
    }
    // Names that ran out of the bottom move up.
    let bottom = chartArea.bottom;
    for (const name of [...names].reverse()) {
      name.y = Math.min(name.y, bottom);
      bottom = name.y - kNameHeight;
    }
    ctx.save();
    ctx.font = nameFont();
    ctx.textBaseline = "middle";
    ctx.fillStyle = themed("--text");
    for (const name of names) ctx.fillText(name.text, chartArea.right + 6, name.y);
    ctx.restore();
  },
};

// The width of the longest name, in pixels.
export function roomForNames(canvas, datasets) {
  const names = datasets.filter((set) => set.baseline).map((set) => `↑ ${set.baseline}`);
  if (!names.length || isNarrow()) return 8;
  const ctx = canvas.getContext("2d");
  ctx.save();
  ctx.font = nameFont();
  const widest = Math.max(...names.map((name) => ctx.measureText(name).width));
  ctx.restore();
  return Math.ceil(widest) + 10;
}

// For the legend on a narrow screen: each name with its dashes.
export function baselineEntries(chart) {
  return chart.data.datasets.filter((set) => set.baseline).map((set) => {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    line.setAttribute("class", "dashes");
    line.setAttribute("viewBox", "0 0 24 6");
    line.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", "M0 3H24");
    path.setAttribute("stroke-dasharray", set.borderDash.join(" "));
    line.append(path);
    return h("span", { class: "narrow" }, line, beyond(set, chart.scales.y) + set.baseline);
  });
}
