// The learning curves of some rows: each run's own, or the mean over seeds with a band from the lowest to the highest.
import { chartPanel, clear, colours, keyOf, themed } from "./charts.js";
import { h } from "./dom.js";
import { count, duration } from "./format.js";
import { curvesOf } from "./store.js";

export const rangeNames = { late: "late training", all: "all", log: "all, logarithmic" };

export const xNames = { step: "steps", tokens: "member tokens", seconds: "seconds in steps" };

// Interpolates linearly between the two nearest points; null beyond the ends.
function valueAt(line, column, step) {
  const steps = line.step;
  if (!steps.length || step < steps[0] || step > steps[steps.length - 1]) return null;
  let [low, high] = [0, steps.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (steps[middle] <= step) low = middle;
    else high = middle;
  }
  if (steps[low] === step || steps[high] === steps[low]) return line[column][low];
  const part = (step - steps[low]) / (steps[high] - steps[low]);
  return line[column][low] * (1 - part) + line[column][high] * part;
}

// {x, mean, low, high} at every step of the longest line, over the lines that reach the step.
function meanLine(lines, x) {
  const longest = lines.reduce((a, b) => (b.step.length > a.step.length ? b : a));
  return longest.step.map((step) => {
    const there = lines.filter((line) => valueAt(line, "bits", step) !== null);
    const values = there.map((line) => valueAt(line, "bits", step));
    const mean = (numbers) => numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
    return {
      x: x === "step" ? step : mean(there.map((line) => valueAt(line, x, step))),
      mean: mean(values),
      low: Math.min(...values),
      high: Math.max(...values),
    };
  });
}

function datasetsOf(lines, x, label, colour, held_out) {
  const points = meanLine(lines, x);
  const of = (key) => points.map((point) => ({ x: point.x, y: point[key] }));
  const hidden = { pointRadius: 0, pointHitRadius: 0, borderWidth: 0, label: "" };
  const band = lines.length < 2 || !held_out ? [] : [
    { ...hidden, data: of("low") },
    { ...hidden, data: of("high"), fill: "-1", backgroundColor: clear(colour, 0.22) },
  ];
  return [
    ...band,
    {
      label,
      held_out,
      data: of("mean"),
      borderColor: held_out ? colour : clear(colour, 0.55),
      backgroundColor: colour,
      borderWidth: held_out ? 2 : 1,
      pointRadius: held_out && points.length < 60 ? 2 : 0,
    },
  ];
}

// Each baseline is a line. If the runs' baselines differ, the line is at their mean and the label gives the range. Runs
// on different data have no baselines in common, so none is drawn.
function baselinesOf(runs, end) {
  if (new Set(runs.map((run) => run.data)).size > 1) return [];
  const values = new Map();
  for (const run of runs) {
    for (const [name, value] of Object.entries(run.baselines)) {
      if (Number.isFinite(value)) values.set(name, [...(values.get(name) ?? []), value]);
    }
  }
  return [...values].map(([name, list], i) => {
    const [low, high] = [Math.min(...list), Math.max(...list)];
    const y = list.reduce((sum, value) => sum + value, 0) / list.length;
    return {
      baseline: high - low < 5e-4 ? `${name} ${y.toFixed(3)}` : `${name} ${low.toFixed(3)} to ${high.toFixed(3)}`,
      data: [{ x: 0, y }, { x: end, y }],
      borderColor: themed("--quiet"),
      borderDash: [[7, 4], [2, 3], [10, 3, 2, 3], [4, 6]][i % 4],
      borderWidth: 1,
      pointRadius: 0,
      pointHitRadius: 0,
    };
  });
}

const kEarly = 0.25; // the share of a curve whose bits the late range leaves out

// The range of the lines' held-out bits after kEarly, and of the baselines within it or next to it.
function lateRange(datasets, baselines) {
  let [low, high] = [Infinity, -Infinity];
  for (const { data } of datasets.filter((set) => set.held_out)) {
    const from = data[0].x + kEarly * (data[data.length - 1].x - data[0].x);
    // With few points, at least the last half counts.
    const late = data.filter((point, i) => point.x >= from || 2 * i >= data.length);
    low = Math.min(low, ...late.map((point) => point.y));
    high = Math.max(high, ...late.map((point) => point.y));
  }
  if (!Number.isFinite(low)) return {};
  const room = Math.max(high - low, 0.05) / 2;
  const near = baselines.map(({ data: [{ y }] }) => y).filter((y) => y > low - room && y < high + room);
  const margin = room / 5;
  return { min: Math.min(low, ...near) - margin, max: Math.max(high, ...near) + margin };
}

export function curvesChart() {
  const panel = chartPanel("curves");
  const legend = h("div", { class: "legend" });
  // rows: each with its runs; labels: one for each. Returns how many rows have something to draw.
  async function show(rows, labels, x, range = "all") {
    const datasets = [];
    const entries = []; // for the legend
    let drawn = 0;
    const runs = rows.flatMap((row) => row.runs);
    const curves = new Map((await curvesOf(runs)).map((curve, i) => [runs[i].folder, curve]));
    rows.forEach((row, i) => {
      const colour = colours[i % colours.length];
      for (const kind of ["train", "held_out"]) {
        const lines = row.runs.map((run) => curves.get(run.folder)?.[kind]).filter((line) => line?.step.length);
        if (!lines.length) continue;
        if (kind === "held_out") {
          drawn += 1;
          entries.push(h("span", {}, keyOf(colour), labels[i]));
        }
        datasets.push(...datasetsOf(lines, x, labels[i], colour, kind === "held_out"));
      }
    });
    const end = Math.max(0, ...datasets.flatMap((set) => set.data.map((point) => point.x)));
    const units = new Set(runs.map((run) => run.unit).filter(Boolean));
    const baselines = drawn ? baselinesOf(runs, end) : [];
    const limits = range === "late" ? lateRange(datasets, baselines) : {};
    datasets.push(...baselines);
    panel.draw(
      datasets,
      {
        x: {
          type: "linear",
          min: 0,
          max: end || undefined,
          title: { text: xNames[x] },
          ticks: { maxRotation: 0, callback: x === "seconds" ? duration : count },
        },
        y: {
          type: range === "log" ? "logarithmic" : "linear",
          ...limits,
          title: { text: `bits per ${[...units].join(" or ") || "unit"}` },
          ticks: { callback: (value) => value.toPrecision(3), includeBounds: false },
        },
      },
    );
    legend.replaceChildren(...entries);
    return drawn;
  }
  return { box: h("div", {}, panel.box, legend), show, remove: panel.remove };
}

