// The first page: progress, curves, the leaderboard.
import { colours } from "./charts.js";
import { curveChoices, curvesChart } from "./curves.js";
import { choice, h, head, renew, status } from "./dom.js";
import { leaderboard } from "./leaderboard.js";
import {
  experimentOf, experiments, filtered, folderOf, foldersOf, labelsOf, shortName, sorted, varyingAxes, withValues,
} from "./select.js";
import { store } from "./store.js";
import { addressOf, change, chosenRuns, experimentAddress, findingsAddress, openedOn, view } from "./view.js";

const kCurves = 10; // runs with a curve: the first of the table
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
      runs.length ? h("a", { href: findingsAddress([folderOf(runs)]) }, "Findings") : null,
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
          // Filters of one experiment mean nothing in another; the chosen runs stay.
          (name) => {
            const kept = chosenRuns(of).map((folder) => ["run", folder]);
            location.hash = addressOf("/", new URLSearchParams([["experiment", name], ...kept]));
          })
      : null,
    h("label", {}, h("span", {}, "find"), find),
    shown.slice(0, kFilters).map(filter),
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
  const missing = chosenRuns(of).filter((folder) => !store.runs.has(folder));
  sentences.push(...missing.map((folder) => `No run is in ${folder}, which the address of this page names.`));
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

// What can be done with the chosen runs, as long as there are some.
function chosenBar(folders, runs) {
  if (!folders.length) return null;
  return h("div", { class: "chosen", id: "chosen" },
    h("span", { role: "status" }, `${plural(folders.length, "run")} chosen, whose curves are drawn`),
    runs.length ? h("a", { class: "plain", href: findingsAddress(foldersOf(runs)) }, "Findings of these") : null,
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
  const curveChoice = h("div");
  const curveNote = h("p", { class: "note", id: "curves-note" });
  const curvePanel = h("section", {}, head("Learning curves", curveChoice, curves.tools), curves.box, curveNote);
  main.replaceChildren(
    parts.unknown, parts.progress, parts.filters, curvePanel,
    h("section", {}, head("Leaderboard", parts.count), parts.wide, parts.more, parts.chosen),
  );

  async function show() {
    const { path, of } = view();
    const all = [...store.runs.values()];
    const names = experiments(all, store.now);
    const asked = of.get("experiment");
    if (asked === null) openedOn(names[0] ?? "");
    const chosen = asked === "*" ? "" : asked ?? names[0] ?? "";
    const runs = withValues(all.filter((run) => !chosen || experimentOf(run) === chosen));
    const axes = varyingAxes(runs);
    const shown = sorted(filtered(runs, axes, of), of);
    const sentences = complaints(path, names, chosen, axes, of);
    renew(parts.unknown, sentences.length
      ? h("section", { id: "unknown" }, sentences.map((text) => h("p", { class: "bad" }, text))) : null);
    renew(parts.progress, progress(runs, chosen, of));
    renew(parts.filters, filters(names, chosen, axes, of));

    const { x, range } = curveChoices(curveChoice, of);
    // Curves on different data do not belong into one chart.
    const picked = withValues(chosenRuns(of).filter((folder) => store.runs.has(folder)).map((folder) => store.runs.get(folder)));
    const drawable = (picked.length ? picked : shown).filter((run) => run.has_curve);
    const comparable = drawable.filter((run) => run.data === drawable[0].data);
    const first = comparable.slice(0, kCurves);
    const places = new Map(first.map((run, i) => [run.folder, i]));
    const { table, more } = leaderboard(shown, axes, of, ({ folder }) => colours[places.get(folder)]);
    parts.count.textContent = plural(shown.length, "run");
    renew(parts.wide, table);
    renew(parts.more, more);
    renew(parts.chosen, chosenBar(chosenRuns(of), picked));

    curvePanel.hidden = first.length === 0;
    if (curvePanel.hidden) return;
    const drawn = await curves.show(first, labelsOf(first, varyingAxes(first)), x, range);
    const n = comparable.length;
    const which = drawn < n ? `The first ${drawn} of ${plural(n, "run")}` : n === 1 ? "The run" : `All ${n} runs`;
    const where = picked.length ? " that you chose" : " below" + (drawable.length < shown.length ? " with a curve" : "");
    const onData = n < drawable.length ? ` on ${first[0].data}` : "";
    curveNote.textContent = `${which}${where}${onData}: held-out bits thick, training bits thin.`;
  }
  return { show, remove: curves.remove };
}
