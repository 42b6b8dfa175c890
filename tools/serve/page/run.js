// The page of one run: its record, curve, what the monitor saw, samples, log and configuration.
import { curveChoices, curvesChart } from "./curves.js";
import { h, head, renew, status } from "./dom.js";
import { axisValue, bits, count, formatOf } from "./format.js";
import { monitorChart, monitorOf } from "./monitor.js";
import { experimentOf, isOfBits, labelsOf } from "./select.js";
import { details, store } from "./store.js";
import { experimentAddress, view } from "./view.js";

function factList(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "facts" }, known.map(([name, value, hint]) => h("div", {}, h("dt", { title: hint }, name), h("dd", {}, value))));
}

function factsOf(run, record) {
  const per = run.unit ? ` per ${run.unit}` : "";
  const evaluation = (value) => (value ? `${bits(value.bits_per_unit)} bits${per} at step ${value.step}, of ${count(value.tokens)} tokens` : null);
  const plugins = { model: run.model, optimizer: run.optimizer, backend: run.backend };
  return factList([
    ["status", status(run.status)],
    ["final, all that is held out", evaluation(record?.final) ?? (Number.isFinite(run.bits) ? `${bits(run.bits)} bits${per} so far` : null)],
    ["final, of the average of the weights", evaluation(record?.average?.final)],
    ["newest of the curve", evaluation(record?.newest)],
    ["best of the curve", evaluation(record?.best)],
    ["newest, of the average of the weights", evaluation(record?.average?.newest)],
    ["baselines", Object.entries(run.baselines).map(([name, value]) => `${name} ${value.toFixed(3)}`).join(", ")],
    ["steps", run.planned_steps ? `${run.steps} of ${run.planned_steps}` : run.steps],
    ["member tokens", count(run.member_tokens)],
    ...store.numbers.filter(({ key }) => !isOfBits(key) && key !== "steps")
      .map((number) => [number.title, formatOf(number)(run[number.key]), number.hint]),
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

function textOf(title, text, id, open) {
  if (!text) return null;
  return h("section", { id }, h("details", { open }, h("summary", {}, title), h("pre", {}, text)));
}

export function runPage(main, folder) {
  const above = h("div");
  const facts = h("div");
  const monitor = h("div");
  const texts = h("div");
  const curves = curvesChart(`Learning curve of ${folder}`);
  const overTime = monitorChart();
  const choices = h("div");
  const curvePanel = h("section", {}, head("Learning curve", choices, curves.tools), curves.box);
  main.replaceChildren(above, facts, curvePanel, overTime.box, monitor, texts);
  let known = null; // what the server told of the run, and which summary that was of
  let summary = "";

  async function show() {
    const { of } = view();
    const run = store.runs.get(folder);
    curvePanel.hidden = !run?.has_curve;
    if (!run) {
      renew(above,
        h("p", {}, h("a", { href: "#/" }, "← all runs")),
        h("p", { class: "bad" }, `No run is in ${folder}, which the address of this page names.`));
      for (const part of [facts, monitor, texts]) renew(part);
      overTime.show(null, of);
      return;
    }
    if (JSON.stringify(run) !== summary) {
      known = await details(folder);
      summary = JSON.stringify(run);
    }
    const { record, samples, log, config } = known;
    renew(above,
      h("p", {}, h("a", { href: experimentAddress(experimentOf(run)) }, `← all runs of ${experimentOf(run)}`)),
      h("h2", { class: "title", id: "title" }, run.name, " ", h("span", { class: "quiet" }, folder)),
      run.why ? h("p", { class: run.status === "stopped" ? "note" : "bad", id: "why" }, run.why) : null,
      run.problems?.map((text) => h("p", { class: "bad" }, text)));
    renew(facts, h("section", { id: "facts" }, factsOf(run, record)));
    renew(monitor, monitorOf(known.monitor));
    const parts = [
      textOf("Samples", samples, "samples", true),
      textOf("Log (its end)", log ?? record?.failure?.log?.join("\n"), "log", run.status === "failed"),
      textOf("Configuration", config ?? (record ? JSON.stringify(record.config, null, 2) : null), "config", false),
      textOf("Record", record ? JSON.stringify(record, null, 2) : null, "record", false),
    ].filter(Boolean);
    for (const part of parts) {
      const before = texts.querySelector(`#${part.id} details`);
      if (before) part.firstChild.open = before.open;
    }
    renew(texts, parts);
    overTime.show(known.monitor, of);
    const { x, range } = curveChoices(choices, of);
    if (!curvePanel.hidden) await curves.show([run], labelsOf([run], []), x, range);
  }
  return { show, remove: () => { curves.remove(); overTime.remove(); } };
}
