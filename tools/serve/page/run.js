// The page of one run: its record, curve, the monitor's newest look, samples, log and configuration.
import { curvesChart, xNames } from "./curves.js";
import { choice, h, status } from "./dom.js";
import { axisValue, bits, count, duration, share } from "./format.js";
import { details, store } from "./store.js";
import { change, view } from "./view.js";

function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "facts" }, known.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

function factsOf(run, record) {
  const per = run.unit ? ` per ${run.unit}` : "";
  const evaluation = (value) => (value ? `${bits(value.bits_per_unit)} bits${per} at step ${value.step}, of ${count(value.tokens)} tokens` : null);
  const plugins = { model: run.model, optimizer: run.optimizer, backend: run.backend };
  return facts([
    ["status", status(run.status)],
    ["final, all that is held out", evaluation(record?.final) ?? (Number.isFinite(run.bits) ? `${bits(run.bits)} bits${per} so far` : null)],
    ["final, of the average of the weights", evaluation(record?.average?.final)],
    ["newest of the curve", evaluation(record?.newest)],
    ["best of the curve", evaluation(record?.best)],
    ["newest, of the average of the weights", evaluation(record?.average?.newest)],
    ["baselines", Object.entries(run.baselines).map(([name, value]) => `${name} ${value.toFixed(3)}`).join(", ")],
    ["steps", run.planned_steps ? `${run.steps} of ${run.planned_steps}` : run.steps],
    ["member tokens", count(run.member_tokens)],
    ["tokens/s, median step", count(run.tokens_per_second)],
    ["update rate, last quarter", share(run.update_rate)],
    ["wall time", duration(run.wall_seconds)],
    ["begun", run.started_utc],
    ["ended", record?.ended_utc],
    ["last written", new Date(1000 * run.written).toISOString().replace(/\.\d+/, "")],
    ["seed", run.seed],
    ...Object.entries(run.axes).filter(([axis]) => !plugins[axis]).map(([axis, value]) => [axis, axisValue(value)]),
    ...Object.entries(plugins),
    ["device", record?.device],
    ["plan", record?.plan],
    ["built from", run.commit],
    ["configuration", record?.config_hash?.slice(0, 12)],
    ["weights sha256", record?.weights_sha256?.slice(0, 12)],
  ]);
}

// Shows an object of objects as a table: a row for each object, a column for each of their keys.
function tableOf(objects, first) {
  const rows = Object.entries(objects ?? {}).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((one, i) => [`${name} ${i}`, one]) : [[name, value]]);
  if (!rows.length) return null;
  const keys = [...new Set(rows.flatMap(([, value]) => Object.keys(value)))];
  const cell = (value) => (value === null || value === undefined ? "" : String(value));
  return h("div", { class: "wide" },
    h("table", {},
      h("thead", {}, h("tr", {}, h("th", {}, first), keys.map((key) => h("th", { class: key === "op" ? null : "number" }, key.replaceAll("_", " "))))),
      h("tbody", {}, rows.map(([name, value]) =>
        h("tr", {}, h("td", {}, name), keys.map((key) => h("td", { class: key === "op" ? null : "number" }, cell(value[key]))))))));
}

function monitorOf(look) {
  if (!look) return null;
  const { step, monitor } = look;
  const verdicts = monitor.verdicts ?? [];
  return h("section", { id: "monitor" },
    h("div", { class: "head" }, h("h2", {}, "Monitor"), h("span", { class: "quiet" }, `after step ${step}`)),
    verdicts.length
      ? h("ul", { class: "verdicts" }, verdicts.map((text) => h("li", { class: "bad" }, text)))
      : h("p", { class: "note" }, "no verdict: nothing looks wrong"),
    h("div", { class: "tables" },
      tableOf(monitor.values, "value"), tableOf(monitor.heads, "head"), tableOf(monitor.tensors, "tensor")));
}

function textOf(title, text, id, open) {
  if (!text) return null;
  return h("section", { id }, h("details", { open }, h("summary", {}, title), h("pre", {}, text)));
}

export function runPage(main, folder) {
  const above = h("div");
  const below = h("div");
  const curves = curvesChart();
  const head = h("div", { class: "head" });
  const curvePanel = h("section", {}, head, curves.box);
  main.replaceChildren(above, curvePanel, below);
  let shown = "";

  async function show() {
    const x = view().of.get("x") ?? "step";
    const run = store.runs.get(folder);
    if (!run) {
      curvePanel.hidden = true;
      above.replaceChildren(h("p", {}, h("a", { href: "#/" }, "← all runs")), h("p", { class: "bad" }, `No run is in ${folder}.`));
      below.replaceChildren();
      return;
    }
    const now = JSON.stringify([run, x]);
    if (now === shown) return;
    const { record, monitor, samples, log, config } = await details(folder);
    above.replaceChildren(
      h("p", {}, h("a", { href: "#/" }, "← all runs")),
      h("p", { class: "title", id: "title" }, h("strong", {}, run.name), ` ${folder}`),
      ...(run.why ? [h("p", { class: run.status === "stopped" ? "note" : "bad", id: "why" }, run.why)] : []),
      ...run.problems.map((text) => h("p", { class: "bad" }, text)),
      h("section", { id: "facts" }, factsOf(run, record)),
    );
    head.replaceChildren(
      h("h2", {}, "Learning curve"), choice("over", Object.entries(xNames), x, (to) => change({ x: to })));
    curvePanel.hidden = !run.has_curve;
    // Only a text that changed is made anew, so that the others stay open and scrolled as they are.
    const parts = [
      monitorOf(monitor),
      textOf("Samples", samples, "samples", true),
      textOf("Log (its end)", log ?? record?.failure?.log?.join("\n"), "log", run.status === "failed"),
      textOf("Configuration", config ?? (record ? JSON.stringify(record.config, null, 2) : null), "config", false),
      textOf("Record", record ? JSON.stringify(record, null, 2) : null, "record", false),
    ].filter(Boolean);
    for (const part of parts) {
      const before = below.querySelector(`#${part.id} details`);
      if (before) part.firstChild.open = before.open;
    }
    below.replaceChildren(...parts);
    if (!curvePanel.hidden) await curves.show([{ ...run, runs: [run] }], ["held-out (training thin)"], x);
    shown = now;
  }
  return { show, remove: curves.remove };
}
