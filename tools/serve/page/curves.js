// The learning curves of some runs, and the baselines.
import { chartPanel, clear, colours, keyOf } from "./charts.js";
import { choice, h, renew, themed } from "./dom.js";
import { count, duration } from "./format.js";
import { curvesOf } from "./store.js";
import { ticksAs } from "./ticks.js";
import { change } from "./view.js";

const rangeNames = { late: "late training", all: "from the start" };

const xNames = { step: "steps", tokens: "member tokens", seconds: "seconds in steps" };

function datasetOf(line, x, label, colour, held_out) {
  return {
    label,
    named: held_out,
    data: line.step.map((_, i) => ({ x: line[x][i], y: line.bits[i] })),
    borderColor: held_out ? colour : clear(colour, 0.55),
    backgroundColor: colour,
    borderWidth: held_out ? 2 : 1,
    pointRadius: held_out && line.step.length < 60 ? 2 : 0,
  };
}

// The baselines as dashed lines across the chart, if all runs have the same baselines.
function baselinesOf(runs, datasets) {
  const places = datasets.flatMap((set) => set.data.map((point) => point.x)).filter((x) => x > 0);
  const texts = new Set(runs.map((run) => JSON.stringify(run.baselines)));
  if (!places.length || texts.size > 1) return [];
  const ends = [Math.min(...places), Math.max(...places)];
  const style = { borderColor: themed("--quiet"), borderDash: [7, 4], borderWidth: 1, pointRadius: 0 };
  return Object.entries(runs[0].baselines).filter(([, level]) => Number.isFinite(level))
    .map(([label, level]) => ({ ...style, label, level, data: ends.map((x) => ({ x, y: level })) }));
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
  // labels: one for each run. Returns how many runs have something to draw.
  async function show(runs, labels, x, range) {
    const datasets = [];
    const entries = []; // for the legend
    (await curvesOf(runs)).forEach((curve, i) => {
      const colour = colours[i % colours.length];
      for (const kind of ["train", "held_out"]) {
        if (!curve?.[kind].step.length) continue;
        if (kind === "held_out") entries.push(h("span", {}, keyOf(colour), labels[i]));
        datasets.push(datasetOf(curve[kind], x, labels[i], colour, kind === "held_out"));
      }
    });
    const drawn = entries.length;
    const end = Math.max(0, ...datasets.flatMap((set) => set.data.map((point) => point.x)));
    const units = new Set(runs.map((run) => run.unit).filter(Boolean));
    const baselines = drawn ? baselinesOf(runs, datasets) : [];
    const format = x === "seconds" ? duration : count;
    panel.draw(
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
    const levels = baselines.map(({ label, level }) => `${label} ${level.toFixed(3)}`);
    renew(legend, entries, levels.length ? h("span", { class: "baselines" }, `dashed: ${levels.join(", ")}`) : null);
    return drawn;
  }
  return { box: h("div", {}, panel.box, legend), tools: panel.tools, show, remove: panel.remove };
}
