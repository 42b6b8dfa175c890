// The learning curves of some rows: each run's own, or the mean over seeds with a band from the lowest to the highest.
import { baselineEntries, baselinesOf } from "./baselines.js";
import { chartPanel, clear, colours, keyOf } from "./charts.js";
import { choice, h, renew } from "./dom.js";
import { count, duration } from "./format.js";
import { curvesOf } from "./store.js";
import { ticksAs } from "./ticks.js";
import { change } from "./view.js";

const rangeNames = { late: "late training", all: "from the start" };

const xNames = { step: "steps", tokens: "member tokens", seconds: "seconds in steps" };

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
      named: held_out,
      data: of("mean"),
      borderColor: held_out ? colour : clear(colour, 0.55),
      backgroundColor: colour,
      borderWidth: held_out ? 2 : 1,
      pointRadius: held_out && points.length < 60 ? 2 : 0,
    },
  ];
}

const kEarly = 0.25; // the share of a curve's width whose bits the late range leaves out

// The line's value at x, linear between its two nearest points; null beyond the ends.
function heightAt(data, x) {
  const after = data.findIndex((point) => point.x >= x);
  if (after < 0 || (after === 0 && data[0].x > x)) return null;
  if (data[after].x === x) return data[after].y;
  const [a, b] = [data[after - 1], data[after]];
  return a.y + ((b.y - a.y) * (x - a.x)) / (b.x - a.x);
}

const asShown = (isLog) => (isLog ? [Math.log10, (place) => 10 ** place] : [Number, Number]);

// The bits that the late range shows: those after the first kEarly of the axis, with few points at least the last half.
function late(data, logX) {
  const [to, from] = asShown(logX);
  const places = data.map((point) => to(point.x)).filter(Number.isFinite);
  const begin = from(places[0] + kEarly * (places[places.length - 1] - places[0]));
  return data.filter((point, i) => point.x >= begin || 2 * i >= data.length).map((point) => point.y);
}

// The range of y that shows all bits, or the held-out bits well: those within the zoomed range of x, or else the late
// ones. A baseline within it or next to it is shown too. logs: the logarithmic axes.
function fitting(datasets, baselines, range, zoom, logs) {
  const all = range === "all" && !zoom;
  const heights = datasets.filter((set) => all || set.named).flatMap(({ data }) => {
    if (all) return data.map((point) => point.y);
    if (!zoom) return late(data, logs.includes("x"));
    const inside = data.filter((point) => point.x >= zoom.min && point.x <= zoom.max).map((point) => point.y);
    return [...inside, heightAt(data, zoom.min), heightAt(data, zoom.max)].filter((y) => y !== null);
  });
  const logY = logs.includes("y");
  const [to, from] = asShown(logY);
  const places = heights.map(to).filter(Number.isFinite);
  if (!places.length) return {};
  const [low, high] = [Math.min(...places), Math.max(...places)];
  const room = Math.max(high - low, logY ? 0.02 : 0.05) / 2;
  const near = baselines.map((set) => to(set.level)).filter((y) => y > low - room && y < high + room);
  const [bottom, top] = [from(Math.min(low, ...near) - room / 5), from(Math.max(high, ...near) + room / 5)];
  return { min: Math.max(bottom, 0), max: top }; // no bits are below 0
}

// The controls of what the axes show, in `parent`; returns what the address chooses.
export function curveChoices(parent, of) {
  const x = xNames[of.get("x")] ? of.get("x") : "step";
  const range = rangeNames[of.get("range")] ? of.get("range") : "late";
  renew(parent,
    choice("over", Object.entries(xNames), x, (to) => change({ x: to, "curves x": null, "curves y": null })), " ",
    choice("bits", Object.entries(rangeNames), range, (to) => change({ range: to, "curves y": null })));
  return { x, range };
}

// The chart of the canvas #curves and its legend. tools: the switches of its axes.
export function curvesChart(title) {
  const panel = chartPanel("curves", title);
  const legend = h("div", { class: "legend" });
  // rows: each with its runs; labels: one for each. Returns how many rows have something to draw.
  async function show(rows, labels, x, range) {
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
    const baselines = drawn && new Set(rows.map((row) => row.axes.data)).size === 1 ? baselinesOf(runs, end) : [];
    const format = x === "seconds" ? duration : count;
    const chart = panel.draw(
      [...datasets, ...baselines],
      {
        x: {
          min: 0,
          max: end || undefined,
          title: { text: xNames[x] },
          ticks: { maxRotation: 0, callback: ticksAs(format) },
        },
        y: { title: { text: `bits per ${[...units].join(" or ") || "unit"}` } },
      },
      (zoom, logs) => fitting(datasets, baselines, range, zoom, logs),
    );
    renew(legend, entries, baselineEntries(chart));
    return drawn;
  }
  return { box: h("div", {}, panel.box, legend), tools: panel.tools, show, remove: panel.remove };
}
