// Chooses the rows that are shown from all runs: experiment, filters, seeds, order.
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

// What each run read, so that bits can be compared where the text is the same: where files of one name differ it has
// their hash, and where units differ the unit.
function dataOf(runs) {
  const kinds = new Map();
  for (const run of runs) {
    const kind = kinds.get(run.data) ?? { hashes: new Set(), units: new Set() };
    if (run.data_hash) kind.hashes.add(run.data_hash);
    if (run.unit) kind.units.add(run.unit);
    kinds.set(run.data, kind);
  }
  return runs.map((run) => [
    run.data ?? "",
    run.data_hash && kinds.get(run.data).hashes.size > 1 ? `sha256 ${run.data_hash}` : "",
    run.unit && kinds.get(run.data).units.size > 1 ? `bits per ${run.unit}` : "",
  ].filter(Boolean).join(", "));
}

// The runs, each with a value for every axis that any of them names. If they are of different experiments, these are an
// axis. If they read different data, the data are an axis in place of the dataset's settings, because bits on different
// data cannot be compared.
export function withValues(runs) {
  const data = dataOf(runs);
  const severalData = new Set(data.filter((_, i) => Number.isFinite(runs[i].bits))).size > 1;
  const severalExperiments = new Set(runs.map(experimentOf)).size > 1;
  const isShown = (axis) => !severalData || !/^dataset($|\.)/.test(axis) || axis === "dataset.seed";
  const axes = [...new Set(runs.flatMap((run) => Object.keys(run.axes)))].filter(isShown);
  return runs.map((run, i) => ({
    ...run,
    axes: {
      ...(severalExperiments ? { experiment: experimentOf(run) } : {}),
      ...(severalData ? { data: data[i] } : {}),
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
const kTaken = ["data", "experiment", "find", "n", "rows", "run", "seed", "status"];

// "train.population" is "population", and "noise.rank+noise.sigma_shift" is "rank+sigma_shift", where nothing else is
// called so.
export function shortName(axis, axes) {
  const short = (name) => name.split("+").map((key) => key.slice(key.lastIndexOf(".") + 1)).join("+");
  const isTaken = kTaken.includes(short(axis)) || store.numbers.some(({ title }) => title === short(axis)) || axes.filter(([other]) => short(other) === short(axis)).length > 1;
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

const kRanges = ["bits", "best", "tokens_per_second"];

// Final numbers are those of a run that made all its steps, or that a stop rule ended.
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
    for (const { key: name } of store.numbers) {
      const values = ended.map((run) => run[name]).filter(Number.isFinite);
      row[name] = values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
      if (kRanges.includes(name)) row.ranges[name] = { low: Math.min(...values), high: Math.max(...values) };
    }
    return row;
  });
}

// The runs, or their means over seeds, in the runs' order.
export const rowsOf = (runs, of) =>
  of.get("rows") === "means" ? grouped(runs) : runs.map((run) => ({ ...run, runs: [run] }));

// Sorts by the order in the address; without one, the lowest final bits come first. Bits are compared only among rows
// on the same data.
export function sortedRows(runs, of) {
  const rows = rowsOf(runs, of);
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
function tellingAxes(rows, axes) {
  let keys = rows.map(() => "");
  return axes.filter(([axis]) => {
    const finer = rows.map((row, i) => JSON.stringify([keys[i], axisValue(row.axes[axis])]));
    const tells = new Set(finer).size > new Set(keys).size;
    if (tells) keys = finer;
    return tells;
  });
}

const kNamed = 3; // axes that a label names, where fewer tell the rows apart

// Those that tell the rows apart, and of the others in which these differ as many as a label has room for.
function namedAxes(rows, axes) {
  const telling = tellingAxes(rows, axes);
  const differs = ([axis]) => rows.some((row) => axisValue(row.axes[axis]) !== axisValue(rows[0].axes[axis]));
  const others = axes.filter((axis) => !telling.includes(axis) && differs(axis));
  const named = [...telling, ...others.slice(0, Math.max(kNamed - telling.length, 0))];
  return axes.filter((axis) => named.includes(axis));
}

export const isOfBits = (key) => key === "bits" || key === "best";

// A run's folder, or its published record, without the folders above it. For a point of a sweep,
// "0003-optimizer=sign_es,population=512-1a2b3c4d", it is only the number, because the axes say the rest.
export function nameOf(folder) {
  const last = folder.slice(folder.lastIndexOf("/") + 1).replace(/\.json$/, "");
  return /^(\d{4,})-.*-[0-9a-f]{8}$/.exec(last)?.[1] ?? last;
}

// "population=2048"; "rank=4, sigma_shift=6" for keys that change together.
function valueText(row, axis, axes) {
  const value = axisValue(row.axes[axis]) || "(not set)";
  const [names, values] = [shortName(axis, axes).split("+"), value.split(", ")];
  if (names.length !== values.length) return `${names.join("+")}=${value}`;
  return names.map((name, i) => `${name}=${values[i]}`).join(", ");
}

// For each row, the text that tells it from the others: "population=2048, optimizer=sign_es, seed=0". Rows that are
// equal in all that have the run's name too.
export function labelsOf(rows, axes) {
  const named = namedAxes(rows, axes);
  const severalSeeds = rows.some((row) => row.n === undefined && row.seed !== rows[0].seed);
  const texts = rows.map((row) => [
    ...named.map(([axis]) => valueText(row, axis, axes)),
    ...(severalSeeds ? [`seed=${row.seed ?? "?"}`] : []),
  ].join(", "));
  return texts.map((text, i) => {
    if (text && texts.filter((other) => other === text).length === 1) return text;
    const name = nameOf(rows[i].folder);
    return [text, rows[i].sweep ? `${rows[i].sweep}, point ${name}` : name].filter(Boolean).join(", ");
  });
}
