// The first page: progress, curves, the effect of each axis, the leaderboard.
import { colours } from "./charts.js";
import { curveChoices, curvesChart } from "./curves.js";
import { choice, h, head, renew, status } from "./dom.js";
import { effectsChart } from "./effects.js";
import { leaderboard } from "./leaderboard.js";
import {
  experimentOf, experiments, filtered, isOfBits, labelsOf, shortName, sortedRows, varyingAxes, withValues,
} from "./select.js";
import { store } from "./store.js";
import { addressOf, change, chosenRuns, experimentAddress, openedOn, view } from "./view.js";

const kCurves = 10; // rows with a curve: the first of the table
const kFilters = 8; // axes with a filter that is always seen

const statuses = ["completed", "stopped", "running", "interrupted", "failed", "unreadable", "waiting"];

const plural = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;

// Counts all runs of the experiment by status. Points that a sweep plans and that never began count as waiting.
function progress(runs, chosen, of) {
  const counts = new Map(statuses.map((name) => [name, runs.filter((run) => run.status === name).length]));
  const planned = store.sweeps.filter((sweep) => !chosen || chosen === `${sweep.name} (sweep)`);
  for (const sweep of planned) {
    const begun = runs.filter((run) => run.sweep === sweep.name).length;
    counts.set("waiting", counts.get("waiting") + Math.max(0, sweep.points - begun));
  }
  const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
  const ended = counts.get("completed") + counts.get("stopped") + counts.get("failed") + counts.get("unreadable");
  const bar = h("div", { class: "progress", "aria-hidden": "true" });
  for (const [name, n] of counts) {
    if (n === 0) continue;
    const part = h("span", { class: name });
    part.style.flexGrow = n;
    bar.append(part);
  }
  const isPicked = (name) => of.get("status") === name;
  const pick = (name) => change({ status: isPicked(name) ? null : name });
  return h(
    "section",
    { id: "progress" },
    head(`${ended} of ${plural(total, "run")} ended`,
      store.unread
        ? h("span", { class: "quiet" }, `still reading the metrics of ${plural(store.unread, "run")}`) : null),
    planned.map((sweep) => (sweep.question ? h("p", { class: "note" }, sweep.question) : null)),
    bar,
    h("div", { class: "counts" },
      [...counts].filter(([, n]) => n > 0).map(([name, n]) =>
        name === "waiting"
          ? h("span", {}, status(name), ` ${n}`)
          : h("button", { "aria-pressed": String(isPicked(name)), onclick: () => pick(name) }, status(name), ` ${n}`))),
    store.problems.length
      ? h("details", { class: "note" }, h("summary", {}, plural(store.problems.length, "problem")),
          h("ul", {}, store.problems.map((text) => h("li", { class: "bad" }, text))))
      : null,
  );
}

function filters(names, chosen, axes, of) {
  const find = h("input", {
    type: "search", value: of.get("find") ?? "", "aria-label": "find",
    onchange: () => change({ find: find.value }),
  });
  const shown = axes.filter(([axis]) => axis !== "experiment"); // which has a choice of its own
  const rest = shown.slice(kFilters);
  const filter = ([axis, values]) => {
    const options = [["*", "all"], ...values.map((value) => [value, value || "(not set)"])];
    return choice(shortName(axis, axes), options, of.get(`axis ${axis}`) ?? "*",
      (value) => change({ [`axis ${axis}`]: value === "*" ? null : value }));
  };
  const known = [...new Set([...names, chosen].filter(Boolean))].map((name) => [name, name]);
  return h(
    "section",
    { class: "filters", id: "filters" },
    names.length > 1 || (chosen && !names.includes(chosen))
      ? choice("experiment", [...known, ["*", "all"]], chosen || "*",
          // Filters of one experiment mean nothing in another; what was chosen to compare stays.
          (name) => {
            const kept = chosenRuns(of).map((folder) => ["run", folder]);
            location.hash = addressOf("/", new URLSearchParams([["experiment", name], ...kept]));
          })
      : null,
    h("label", {}, h("span", {}, "find"), find),
    shown.slice(0, kFilters).map(filter),
    choice("rows", [["runs", "runs"], ["means", "means over seeds"]], of.get("rows") ?? "runs",
      (rows) => change({ rows, sort: null, down: null })),
    rest.length
      ? h("details", { open: rest.some(([axis]) => of.has(`axis ${axis}`)) },
          h("summary", {}, `${rest.length} more ${rest.length === 1 ? "axis" : "axes"}`), h("div", { class: "filters" }, rest.map(filter)))
      : null,
  );
}

// Sentences about what the address asks for and the runs do not have.
function complaints(path, names, chosen, axes, of) {
  const sentences = [];
  if (path !== "/") sentences.push(`There is no page ${path}, which the address names; these are all runs.`);
  if (chosen && names.length && !names.includes(chosen)) {
    sentences.push([`No run is of the experiment “${chosen}”, which the address of this page names. There are: `,
      names.map((name, i) => [i ? ", " : "", h("a", { href: experimentAddress(name) }, name)])]);
    return sentences; // no run, no axis
  }
  for (const [name, wanted] of of) {
    if (!name.startsWith("axis ")) continue;
    const axis = name.slice(5);
    const values = axes.find(([other]) => other === axis)?.[1];
    if (!values) {
      sentences.push(`The runs do not differ in “${axis}”, by which the address filters them; all are shown.`);
    } else if (!values.includes(wanted)) {
      sentences.push(`No run has ${axis}=${wanted}, by which the address filters them.`);
    }
  }
  return sentences;
}

// The way to the comparison, as long as runs are chosen.
function chosenBar(of) {
  const n = chosenRuns(of).length;
  if (!n) return null;
  return h("div", { class: "chosen", id: "chosen" },
    h("span", { role: "status" }, `${plural(n, "run")} chosen`),
    h("a", { class: "plain", href: addressOf("/compare", of) }, "Compare"),
    h("button", { class: "plain", onclick: () => change({ run: null }) }, "Choose none"));
}

// The page's parts live as long as it is shown, so that charts are updated rather than made anew.
export function overview(main) {
  const parts = {
    unknown: h("div"), progress: h("div"), filters: h("div"), count: h("span", { class: "quiet" }),
    wide: h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "leaderboard" }),
    more: h("div"), chosen: h("div", { class: "stays" }),
  };
  const curves = curvesChart("Learning curves");
  const effects = effectsChart();
  const curveChoice = h("div");
  const curveNote = h("p", { class: "note", id: "curves-note" });
  const effectChoice = h("div");
  const effectNote = h("p", { class: "note", id: "effects-note" });
  const curvePanel = h("section", {}, head("Learning curves", curveChoice, curves.tools), curves.box, curveNote);
  const effectPanel = h("section", {}, head("Effect of an axis", effectChoice, effects.tools), effects.box, effectNote);
  main.replaceChildren(
    parts.unknown, parts.progress, parts.filters,
    h("div", { class: "charts" }, curvePanel, effectPanel),
    h("section", {}, head("Leaderboard", parts.count), parts.wide, parts.more, parts.chosen),
  );

  function showEffects(rows, runs, axes, of) {
    const metric = (key) => store.numbers.find((number) => number.key === key);
    const number = metric(of.get("metric")) ?? metric("bits");
    const { data } = rows.find((row) => Number.isFinite(row[number.key]))?.axes ?? {};
    const comparable = (all) => (isOfBits(number.key) ? all.filter((one) => one.axes.data === data) : all);
    const tried = varyingAxes(comparable(runs)).filter(([name]) => name !== "data" && name !== "experiment");
    effectPanel.hidden = tried.length === 0;
    if (effectPanel.hidden) return;
    const [axis, values] = tried.find(([name]) => name === of.get("effect")) ?? tried[0];
    renew(effectChoice,
      choice("axis", tried.map(([name]) => [name, shortName(name, axes)]), axis, (to) => change({ effect: to })), " ",
      choice("on", store.numbers.map(({ key, title }) => [key, title]), number.key,
        (to) => change({ metric: to, "effects y": null })));
    const n = effects.show(comparable(rows), axis, values, number);
    effects.box.hidden = effects.tools.hidden = n === 0;
    const what = of.get("rows") === "means" ? "configuration" : "run";
    effectNote.textContent = n === 0 ? `No ${what} with this number has ended.` :
      `${plural(n, `final ${what}`)}; a line joins those that are equal in all else, diamonds are means.` +
      (comparable(rows).length === rows.length ? ""
        : ` Only runs on ${data}, because bits on different data cannot be compared.`);
  }

  async function show() {
    const { path, of } = view();
    const all = [...store.runs.values()];
    const names = experiments(all, store.now);
    const asked = of.get("experiment");
    if (asked === null) openedOn(names[0] ?? "");
    const chosen = asked === "*" ? "" : asked ?? names[0] ?? "";
    const runs = withValues(all.filter((run) => !chosen || experimentOf(run) === chosen));
    const axes = varyingAxes(runs);
    const rows = sortedRows(filtered(runs, axes, of), of);
    const sentences = complaints(path, names, chosen, axes, of);
    renew(parts.unknown, sentences.length
      ? h("section", { id: "unknown" }, sentences.map((text) => h("p", { class: "bad" }, text))) : null);
    renew(parts.progress, progress(runs, chosen, of));
    renew(parts.filters, filters(names, chosen, axes, of));

    const { x, range } = curveChoices(curveChoice, of);
    // Curves on different data do not belong into one chart.
    const drawable = rows.filter((row) => row.runs.some((run) => run.has_curve));
    const comparable = drawable.filter((row) => row.axes.data === drawable[0].axes.data);
    const first = comparable.slice(0, kCurves);
    const colourOf = (row) => (first.includes(row) ? colours[first.indexOf(row)] : null);
    showEffects(rows, runs, axes, of);
    const { table, more } = leaderboard(rows, axes, of, colourOf);
    parts.count.textContent = `${plural(rows.length, "row")} of ${plural(runs.length, "run")}`;
    renew(parts.wide, table);
    renew(parts.more, more);
    renew(parts.chosen, chosenBar(of));

    curvePanel.hidden = first.length === 0;
    if (curvePanel.hidden) return;
    const drawn = await curves.show(first, labelsOf(first, axes), x, range);
    const n = comparable.length;
    const which = drawn < n ? `The first ${drawn} of ${n} rows` : n === 1 ? "The row" : `All ${n} rows`;
    const withCurve = drawable.length < rows.length ? " with a curve" : "";
    const onData = n < drawable.length ? ` on ${first[0].axes.data}` : "";
    curveNote.textContent = `${which} below${withCurve}${onData}: held-out bits thick, training bits thin` +
      (of.get("rows") === "means" ? "; bands reach from the lowest seed to the highest." : ".");
  }
  return { show, remove: () => { curves.remove(); effects.remove(); } };
}
