// The first page: progress, curves, the effect of each axis, the leaderboard.
import { colours } from "./charts.js";
import { curvesChart, rangeNames, xNames } from "./curves.js";
import { choice, h, status } from "./dom.js";
import { effectsChart, metrics } from "./effects.js";
import { leaderboard } from "./leaderboard.js";
import { experimentOf, experiments, filtered, labelOf, rowsOf, shortName, tellingAxes, varyingAxes, withValues } from "./select.js";
import { store } from "./store.js";
import { change, view } from "./view.js";

const kCurves = 10; // rows with a curve: the first of the table

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
  const pick = (name) => change({ status: of.get("status") === name ? null : name });
  return h(
    "section",
    { id: "progress" },
    h("div", { class: "head" }, h("h2", {}, `${ended} of ${plural(total, "run")} ended`),
      store.unread ? h("span", { class: "quiet" }, `still reading the metrics of ${plural(store.unread, "run")}`) : null),
    planned.map((sweep) => (sweep.question ? h("p", { class: "note" }, sweep.question) : null)),
    bar,
    h("div", { class: "counts" },
      [...counts].filter(([, n]) => n > 0).map(([name, n]) =>
        name === "waiting"
          ? h("span", {}, status(name), ` ${n}`)
          : h("button", { "aria-pressed": String(of.get("status") === name), onclick: () => pick(name) }, status(name), ` ${n}`))),
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
  return h(
    "section",
    { class: "filters", id: "filters" },
    names.length > 1 || (chosen && !names.includes(chosen))
      ? choice("experiment", [...new Set([...names, chosen].filter(Boolean))].map((name) => [name, name]).concat([["*", "all"]]), chosen || "*",
          // Filters of one experiment mean nothing in another.
          (name) => { location.hash = `/?${new URLSearchParams({ experiment: name })}`; })
      : null,
    h("label", {}, h("span", {}, "find"), find),
    axes.map(([axis, values]) =>
      choice(shortName(axis, axes), [["*", "all"], ...values.map((value) => [value, value || "(not set)"])], of.get(`axis ${axis}`) ?? "*",
        (value) => change({ [`axis ${axis}`]: value === "*" ? null : value }))),
    choice("rows", [["runs", "runs"], ["means", "means over seeds"]], of.get("rows") ?? "runs",
      (rows) => change({ rows, sort: null, down: null })),
  );
}

// The page's parts live as long as it is shown, so that charts are updated rather than made anew.
export function overview(main) {
  const parts = { unknown: h("div"), progress: h("div"), filters: h("div"), table: h("div") };
  const curves = curvesChart();
  const effects = effectsChart();
  const curveHead = h("div", { class: "head" });
  const curveNote = h("p", { class: "note", id: "curves-note" });
  const effectHead = h("div", { class: "head" });
  const effectNote = h("p", { class: "note", id: "effects-note" });
  const curvePanel = h("section", {}, curveHead, curves.box, curveNote);
  const effectPanel = h("section", {}, effectHead, effects.box, effectNote);
  main.replaceChildren(
    parts.unknown, parts.progress, parts.filters,
    h("div", { class: "charts" }, curvePanel, effectPanel),
    parts.table,
  );
  let filtersShown = "";

  async function show() {
    const { of } = view();
    const all = [...store.runs.values()];
    const names = experiments(all);
    const asked = of.get("experiment");
    const chosen = asked === "*" ? "" : asked ?? names[0] ?? "";
    const runs = withValues(all.filter((run) => !chosen || experimentOf(run) === chosen));
    parts.unknown.replaceChildren(...(chosen && !names.includes(chosen)
      ? [h("section", { id: "unknown" },
          h("p", { class: "bad" }, `No run is of the experiment “${chosen}”, which the address of this page names.`),
          h("p", { class: "note" }, "There are: ", names.map((name, i) =>
            [i ? ", " : "", h("a", { href: `#/?${new URLSearchParams({ experiment: name })}` }, name)])))]
      : []));
    const axes = varyingAxes(runs);
    const rows = rowsOf(filtered(runs, axes, of), of);

    parts.progress.replaceChildren(progress(runs, chosen, of));
    // The filters are made anew only if they differ, because the reader may be using one.
    const filtersNow = JSON.stringify([names, chosen, axes, of.toString()]);
    if (filtersNow !== filtersShown) parts.filters.replaceChildren(filters(names, chosen, axes, of));
    filtersShown = filtersNow;

    const x = of.get("x") ?? "step";
    const range = rangeNames[of.get("range")] ? of.get("range") : "late";
    curveHead.replaceChildren(
      h("h2", {}, "Learning curves"), choice("over", Object.entries(xNames), x, (to) => change({ x: to })),
      choice("bits", Object.entries(rangeNames), range, (to) => change({ range: to })));
    const first = rows.filter((row) => row.runs.some((run) => run.has_curve)).slice(0, kCurves);
    const colourOf = (row) => (first.includes(row) ? colours[first.indexOf(row) % colours.length] : null);

    const tried = axes.filter(([name]) => name !== "data");
    const axis = tried.some(([name]) => name === of.get("effect")) ? of.get("effect") : tried[0]?.[0];
    const metric = metrics[of.get("metric")] ? of.get("metric") : "bits";
    effectPanel.hidden = axis === undefined;
    if (axis !== undefined) {
      effectHead.replaceChildren(
        h("h2", {}, "Effect of an axis"),
        choice("axis", tried.map(([name]) => [name, shortName(name, axes)]), axis, (to) => change({ effect: to })),
        choice("on", Object.entries(metrics).map(([key, [name]]) => [key, name]), metric, (to) => change({ metric: to })));
      const n = effects.show(rows, axis, axes.find(([name]) => name === axis)[1], metric);
      const what = of.get("rows") === "means" ? "configuration" : "run";
      effectNote.textContent =
        `${plural(n, `final ${what}`)}; a line joins those that are equal in all else, diamonds are means.` +
        (axes.some(([name]) => name === "data") ? " The means mix several data: choose one above to compare bits." : "");
    }
    parts.table.replaceChildren(
      h("section", {},
        h("div", { class: "head" }, h("h2", {}, "Leaderboard"),
          h("span", { class: "quiet" }, `${rows.length} rows of ${plural(runs.length, "run")}`)),
        leaderboard(rows, axes, of, colourOf)));

    curvePanel.hidden = first.length === 0;
    if (curvePanel.hidden) return;
    const telling = tellingAxes(first, axes);
    const drawn = await curves.show(first, first.map((row) => labelOf(row, telling)), x, range);
    curveNote.textContent =
      `The first ${drawn} of ${rows.length} rows below: held-out bits thick, training bits thin` +
      (of.get("rows") === "means" ? "; bands reach from the lowest seed to the highest." : ".");
  }
  return { show, remove: () => { curves.remove(); effects.remove(); } };
}
