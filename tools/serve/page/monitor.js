// What the monitor saw of one run: its newest look as tables, and each of its numbers over time as a chart.
import { chartPanel, clear, colours, keyOf } from "./charts.js";
import { choice, h, head, renew, themed } from "./dom.js";
import { count } from "./format.js";
import { ticksAs } from "./ticks.js";
import { change } from "./view.js";

// Shows an object of objects as a table: a row for each object, a column for each of their keys.
function tableOf(objects, first) {
  const rows = Object.entries(objects ?? {}).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((one, i) => [`${name} ${i}`, one]) : [[name, value]]);
  if (!rows.length) return null;
  const keys = [...new Set(rows.flatMap(([, value]) => Object.keys(value)))];
  const cell = (value) => (value === null || value === undefined ? "" : String(value));
  const kind = (key) => (key === "op" ? null : "number");
  const heading = (key) => h("th", { scope: "col", class: kind(key) }, key.replaceAll("_", " "));
  return h("div", { class: "wide" },
    h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, first), keys.map(heading))),
      h("tbody", {}, rows.map(([name, value]) => h("tr", {},
        h("th", { scope: "row" }, name),
        keys.map((key) => h("td", { class: kind(key) }, cell(value[key]))))))));
}

export function monitorOf(look) {
  if (!look) return null;
  const { step, monitor } = look;
  const verdicts = monitor.verdicts ?? [];
  return h("section", { id: "monitor" },
    head("Monitor", h("span", { class: "quiet" }, `after step ${step}`)),
    verdicts.length
      ? h("ul", { class: "verdicts" }, verdicts.map((text) => h("li", { class: "bad" }, text)))
      : h("p", { class: "note" }, "no verdict: nothing looks wrong"),
    h("div", { class: "tables" },
      tableOf(monitor.values, "value"), tableOf(monitor.heads, "head"), tableOf(monitor.tensors, "tensor")));
}

// The numbers by figure: "saturated of values" has a list of values for each value's name. A key is
// "values.layer0.norm1.saturated", "heads.layer0.mixed.0.largest", or "vote_deviations" of the whole model.
function figuresOf(series) {
  const figures = new Map();
  for (const [key, values] of series) {
    const parts = /^(values|heads|tensors)\.(.+)\.([^.]+)$/.exec(key);
    const [, of, name, figure] = parts ?? [key, "the model", "the model", key];
    const title = `${figure.replaceAll("_", " ")} of ${of}`;
    if (!figures.has(title)) figures.set(title, []);
    figures.get(title).push({ name: of === "heads" ? name.replace(/\.(\d+)$/, " head $1") : name, values });
  }
  return figures;
}

// How far the values range; those with the widest range get the colours.
function span({ values }) {
  const known = values.filter(Number.isFinite);
  return known.length ? Math.max(...known) - Math.min(...known) : -1;
}

export function monitorChart() {
  const panel = chartPanel("monitor-curves", "Monitor over time");
  const choices = h("div");
  const legend = h("div", { class: "legend" });
  const note = h("p", { class: "note" });
  const box = h("section", { id: "monitor-time", hidden: true },
    head("Monitor over time", choices, panel.tools), panel.box, legend, note);

  // look: the monitor's part of the reply about a run; null if it has none.
  function show(look, of) {
    const figures = figuresOf(look?.series ?? []);
    box.hidden = figures.size === 0;
    if (box.hidden) return;
    const chosen = [of.get("figure"), "std of values", ...figures.keys()].find((figure) => figures.has(figure));
    renew(choices, choice("figure", [...figures.keys()].map((title) => [title, title]), chosen,
      (figure) => change({ figure, "monitor-curves y": null })));
    const lines = [...figures.get(chosen)].sort((a, b) => span(b) - span(a));
    const grey = clear(themed("--waiting"), 0.7);
    const sets = lines.map(({ name, values }, i) => ({
      label: name,
      named: i < colours.length,
      data: look.steps.map((x, at) => ({ x, y: values[at] ?? NaN })),
      borderColor: colours[i] ?? grey,
      backgroundColor: colours[i] ?? grey,
      borderWidth: colours[i] ? 2 : 1,
      pointRadius: look.steps.length < 60 ? 2 : 0,
      order: i, // the coloured ones lie above
    }));
    const last = look.steps[look.steps.length - 1];
    panel.draw(sets, {
      x: {
        min: 0,
        max: last || undefined,
        title: { text: "steps" },
        ticks: { maxRotation: 0, callback: ticksAs(count) },
      },
      y: { title: { text: chosen } },
    });
    renew(legend, lines.slice(0, colours.length).map(({ name }, i) => h("span", {}, keyOf(colours[i]), name)));
    const looks = look.every > 1 ? `One of ${look.every} looks of the monitor.` : "Every look of the monitor.";
    const figure = chosen.slice(0, chosen.lastIndexOf(" of "));
    note.textContent = lines.length <= colours.length ? looks
      : `${looks} The ${colours.length} of ${lines.length} whose ${figure} changes most have a colour; others are grey.`;
  }
  return { box, show, remove: panel.remove };
}
