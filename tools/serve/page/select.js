// Chooses the runs that are shown from all runs: experiment, filters, order; and names them.
import { axisValue, inOrder } from "./format.js";
import { store } from "./store.js";

export const experimentOf = (run) => (run.sweep ? `${run.sweep} (sweep)` : run.name);

// A running run that wrote nothing for this many seconds may have died.
export const kSilent = 300;

// All experiments. One with a run at work comes first, then the one whose run began last. Among runs of the same
// second, the one that was written last counts. now: the server's clock.
export function experiments(runs, now) {
  const newest = new Map();
  for (const run of runs) {
    const name = experimentOf(run);
    const isAtWork = run.status === "running" && now - run.written <= kSilent;
    const begun = `${Number(isAtWork)} ${run.started_utc ?? ""} ${String(run.written ?? 0).padStart(12, "0")}`;
    if (begun >= (newest.get(name) ?? "")) newest.set(name, begun);
  }
  return [...newest].sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0)).map(([name]) => name);
}

const isBelow = (run, folder) => folder === "." || run.folder.startsWith(`${folder}/`);

// The folder whose findings are those of these runs: their sweep's, else the nearest one above all of them.
export function folderOf(runs) {
  const sweep = store.sweeps.find(({ name, folder }) => runs.every((run) => run.sweep === name && isBelow(run, folder)));
  if (sweep) return sweep.folder;
  const [first, ...others] = runs.map((run) => run.folder.split("/"));
  const end = first.findIndex((part, i) => others.some((parts) => parts[i] !== part));
  return (end < 0 ? first : first.slice(0, end)).join("/") || ".";
}

// Folders whose findings are those of these runs alone: one where it holds no others, because an address has room for
// about a hundred.
export function foldersOf(runs) {
  const folder = folderOf(runs);
  const inside = [...store.runs.values()].filter((run) => isBelow(run, folder));
  return inside.length === runs.length ? [folder] : runs.map((run) => run.folder);
}

// The run's value for the axis: the value that the run names, or that of its configuration (for a group, the option's
// name).
function valueOf(run, axis) {
  const own = axisValue(run.axes[axis]);
  const configured = (key) => run.config?.[key] ?? run.config?.[`${key}.name`];
  if (own !== "") {
    const same = configured(axis);
    return same !== undefined && same !== "" && Number(same) === Number(own) ? same : own;
  }
  const parts = axis.split("+").map(configured);
  return parts.includes(undefined) ? "" : parts.join(", ");
}

// The runs, each with a value for every axis that any of them names. If they are of different experiments, these are an
// axis. If they read different data, the data are an axis in place of the dataset's settings, because bits on different
// data cannot be compared.
export function withValues(runs) {
  const severalData = new Set(runs.filter((run) => Number.isFinite(run.bits)).map((run) => run.data)).size > 1;
  const severalExperiments = new Set(runs.map(experimentOf)).size > 1;
  const isShown = (axis) => !severalData || !/^dataset($|\.)/.test(axis) || axis === "dataset.seed";
  const axes = [...new Set(runs.flatMap((run) => Object.keys(run.axes)))].filter(isShown);
  return runs.map((run) => ({
    ...run,
    axes: {
      ...(severalExperiments ? { experiment: experimentOf(run) } : {}),
      ...(severalData ? { data: run.data ?? "" } : {}),
      ...Object.fromEntries(axes.map((axis) => [axis, valueOf(run, axis)])),
    },
  }));
}

// [axis, its values in order] of those with more than one value among the runs.
export function varyingAxes(runs) {
  const axes = new Map();
  for (const run of runs) {
    for (const axis of Object.keys(run.axes)) axes.set(axis, new Set());
  }
  for (const run of runs) {
    for (const [axis, values] of axes) values.add(axisValue(run.axes[axis]));
  }
  return [...axes].filter(([, values]) => values.size > 1).map(([axis, values]) => [axis, [...values].sort(inOrder)]);
}

// Names of the table's other columns and of the controls above it.
const kTaken = ["data", "experiment", "find", "run", "seed", "status"];

// "train.population" is "population", and "noise.rank+noise.sigma_shift" is "rank+sigma_shift", where nothing else is
// called so.
export function shortName(axis, axes) {
  const short = (name) => name.split("+").map((key) => key.slice(key.lastIndexOf(".") + 1)).join("+");
  const isTaken = kTaken.includes(short(axis)) || store.numbers.some(({ title }) => title === short(axis)) ||
    axes.filter(([other]) => short(other) === short(axis)).length > 1;
  return isTaken ? axis : short(axis);
}

export function filtered(runs, axes, of) {
  const words = (of.get("find") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter((run) => {
    if (of.get("status") && run.status !== of.get("status")) return false;
    for (const [axis] of axes) {
      const wanted = of.get(`axis ${axis}`);
      if (wanted !== null && axisValue(run.axes[axis]) !== wanted) return false;
    }
    const text = `${run.folder} ${run.status} ${Object.values(run.axes).map(axisValue).join(" ")}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

// Sorts by the order in the address; without one, the lowest final bits come first. Bits are compared only among runs
// on the same data.
export function sorted(runs, of) {
  const sort = of.get("sort") ?? "bits";
  const keyOf = (run) => (sort.startsWith("axis ") ? axisValue(run.axes[sort.slice(5)]) : run[sort]);
  const sign = of.get("down") ? -1 : 1;
  return [...runs].sort((a, b) => {
    if (isOfBits(sort) && a.axes.data !== b.axes.data) return inOrder(a.axes.data, b.axes.data);
    const [x, y] = [keyOf(a), keyOf(b)];
    const missing = (value) => value === null || value === undefined || value === "";
    if (missing(x) || missing(y)) return Number(missing(x)) - Number(missing(y));
    return sign * inOrder(x, y) || inOrder(a.folder, b.folder);
  });
}

export const isOfBits = (key) => key === "bits" || key === "best";

// A run's folder, or its published record, without the folders above it. For a point of a sweep,
// "0003-optimizer=sign_es,population=512-1a2b3c4d", it is only the number, because the axes say the rest.
export function nameOf(folder) {
  const last = folder.slice(folder.lastIndexOf("/") + 1).replace(/\.json$/, "");
  return /^(\d{4,})-.*-[0-9a-f]{8}$/.exec(last)?.[1] ?? last;
}

// "population=2048"; "rank=4, sigma_shift=6" for keys that change together.
function valueText(run, axis, axes) {
  const value = axisValue(run.axes[axis]) || "(not set)";
  const [names, values] = [shortName(axis, axes).split("+"), value.split(", ")];
  if (names.length !== values.length) return `${names.join("+")}=${value}`;
  return names.map((name, i) => `${name}=${values[i]}`).join(", ");
}

const kNamed = 3; // axes that a label has room for

// For each run, the text that tells it from the others: "population=2048, optimizer=sign_es, seed=0". Runs that are
// equal in all of it have their name too.
export function labelsOf(runs, axes) {
  const differs = (value) => runs.some((run) => value(run) !== value(runs[0]));
  const named = axes.filter(([axis]) => differs((run) => axisValue(run.axes[axis]))).slice(0, kNamed);
  const texts = runs.map((run) => [
    ...named.map(([axis]) => valueText(run, axis, axes)),
    ...(differs(({ seed }) => seed) ? [`seed=${run.seed ?? "?"}`] : []),
  ].join(", "));
  return texts.map((text, i) => {
    if (text && texts.filter((other) => other === text).length === 1) return text;
    const name = nameOf(runs[i].folder);
    return [text, runs[i].sweep ? `${runs[i].sweep}, point ${name}` : name].filter(Boolean).join(", ");
  });
}
