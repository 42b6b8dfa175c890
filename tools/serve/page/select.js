// Chooses the rows that are shown from all runs: experiment, filters, seeds, order.
import { axisValue, inOrder } from "./format.js";

export const experimentOf = (run) => (run.sweep ? `${run.sweep} (sweep)` : run.name);

// All experiments; the one whose run began last comes first. Among runs of the same second, the one that was written
// last counts.
export function experiments(runs) {
  const newest = new Map();
  for (const run of runs) {
    const name = experimentOf(run);
    const begun = `${run.started_utc ?? ""} ${String(run.written ?? 0).padStart(12, "0")}`;
    if (begun >= (newest.get(name) ?? "")) newest.set(name, begun);
  }
  return [...newest].sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0)).map(([name]) => name);
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

// The runs, each with a value for every axis that any of them names. If they read different data, the data are an axis
// too, because bits on different data cannot be compared.
export function withValues(runs) {
  const axes = [...new Set(runs.flatMap((run) => Object.keys(run.axes)))];
  const severalData = new Set(runs.map((run) => run.data).filter(Boolean)).size > 1;
  return runs.map((run) => ({
    ...run,
    axes: {
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

// "train.population" is "population" where no other axis is called so.
export function shortName(axis, axes) {
  const last = (name) => name.slice(name.lastIndexOf(".") + 1);
  return axes.filter(([other]) => last(other) === last(axis)).length > 1 ? axis : last(axis);
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

const kMeans = ["bits", "best", "tokens_per_second", "update_rate", "wall_seconds", "steps"];
const kRanges = ["bits", "best", "tokens_per_second"];

// Final figures are those of a run that made all its steps, or that a stop rule ended.
export const isFinal = (run) => run.status === "completed" || run.status === "stopped";

// Joins runs that differ only in the seed. A row has the means over the n final ones among them, with ranges.
function grouped(runs) {
  const groups = new Map();
  for (const run of runs) {
    const key = JSON.stringify([experimentOf(run), Object.entries(run.axes).sort()]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(run);
  }
  return [...groups.values()].map((members) => {
    const ended = members.filter(isFinal);
    const row = { ...members[0], runs: members, n: ended.length, ranges: {}, bits_so_far: false };
    for (const name of kMeans) {
      const values = ended.map((run) => run[name]).filter(Number.isFinite);
      row[name] = values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
      if (kRanges.includes(name)) row.ranges[name] = { low: Math.min(...values), high: Math.max(...values) };
    }
    return row;
  });
}

// Sorts by the order in the address; without one, the lowest final bits come first. Bits are compared only among rows
// on the same data.
export function rowsOf(runs, of) {
  const rows = of.get("rows") === "means" ? grouped(runs) : runs.map((run) => ({ ...run, runs: [run] }));
  const sort = of.get("sort") ?? "bits";
  const sorted = (row) => (sort.startsWith("axis ") ? axisValue(row.axes[sort.slice(5)]) : row[sort]);
  const sign = of.get("down") ? -1 : 1;
  return rows.sort((a, b) => {
    if (isOfBits(sort) && a.axes.data !== b.axes.data) return inOrder(a.axes.data, b.axes.data);
    const [x, y] = [sorted(a), sorted(b)];
    const missing = (value) => value === null || value === undefined || value === "";
    if (missing(x) || missing(y)) return Number(missing(x)) - Number(missing(y));
    return sign * inOrder(x, y) || inOrder(a.folder, b.folder);
  });
}

// The axes in which these rows differ, without those that change with an earlier axis.
export function tellingAxes(rows, axes) {
  let keys = rows.map(() => "");
  return axes.filter(([axis]) => {
    const finer = rows.map((row, i) => JSON.stringify([keys[i], axisValue(row.axes[axis])]));
    const tells = new Set(finer).size > new Set(keys).size;
    if (tells) keys = finer;
    return tells;
  });
}

export const isOfBits = (key) => key === "bits" || key === "best";

// The text that tells a row from the others: "population=2048, optimizer=sign_es, seed 0".
export function labelOf(row, axes) {
  const values = axes
    .map(([axis]) => [shortName(axis, axes), axisValue(row.axes[axis])])
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${value}`);
  if (row.n === undefined) values.push(`seed ${row.seed ?? "?"}`);
  return values.join(", ") || row.name;
}
