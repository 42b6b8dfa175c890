// The table of runs, or of their means over seeds.
import { keyOf } from "./charts.js";
import { h, status } from "./dom.js";
import { axisValue, bits, count, duration, share } from "./format.js";
import { isOfBits, shortName } from "./select.js";
import { store } from "./store.js";
import { change, runAddress } from "./view.js";

const kShown = 200; // rows that are shown until the reader asks for all
const kSilent = 300; // seconds after which a running run may have died

// A run's folder without the folders above it. For a point of a sweep,
// "0003-optimizer=sign_es,population=512-1a2b3c4d", it is only the number, because the columns say the rest.
function nameOf(folder) {
  const last = folder.slice(folder.lastIndexOf("/") + 1);
  return /^(\d{4,})-.*-[0-9a-f]{8}$/.exec(last)?.[1] ?? last;
}

// [sort key, heading, format]
const numbers = [
  ["bits", "final bits", bits],
  ["best", "best bits", bits],
  ["tokens_per_second", "tokens/s", count],
  ["update_rate", "update rate", share],
  ["steps", "steps done", (value) => (Number.isFinite(value) ? String(Math.round(value)) : "")],
  ["wall_seconds", "wall time", duration],
];

const hints = {
  bits: "the unperturbed model on all that is held out, after the last step",
  best: "the lowest of the learning curve, whose evaluations all read one sample of what is held out",
  tokens_per_second: "member tokens, of the median step",
  update_rate: "share of the weights that a step changes, mean over the last quarter",
};

function heading(of, key, text, isNumber) {
  const chosen = (of.get("sort") ?? "bits") === key;
  const down = chosen && of.get("down") !== null;
  return h(
    "th",
    { class: isNumber ? "number" : null, "aria-sort": chosen ? (down ? "descending" : "ascending") : null },
    h("button", { title: hints[key], onclick: () => change({ sort: key, down: chosen && !down ? "1" : null }) }, text),
  );
}

// The statuses of a row's runs, each with its number of runs if there are several.
function statusCell(row) {
  const counts = new Map();
  for (const run of row.runs) counts.set(run.status, (counts.get(run.status) ?? 0) + 1);
  if (row.n === undefined) {
    const silent = row.status === "running" ? store.now - row.written : 0;
    const note = silent > kSilent ? h("span", { class: "range" }, ` silent for ${duration(silent)}`) : null;
    return [status(row.status), note].filter(Boolean);
  }
  if (counts.size === 1) return status(row.status);
  return [...counts].map(([name, n], i) => [i ? " " : "", h("span", { class: name }, `${n} ${name}`)]);
}

function numberCell(row, [key, , format]) {
  let text = format(row[key]);
  if (key === "steps" && row.status === "running" && row.planned_steps) text += ` of ${row.planned_steps}`;
  const range = row.ranges?.[key];
  return h(
    "td",
    { class: "number" },
    key === "bits" && row.bits_so_far ? h("span", { class: "range" }, "so far ") : null,
    text,
    range && range.high > range.low
      ? h("div", { class: "range" }, `${format(range.low)} to ${format(range.high)}`)
      : null,
  );
}

// With several data, each data's first row has a heading above it.
function dataHeading(row, before, columns) {
  if (row.axes.data === undefined || before?.axes.data === row.axes.data) return null;
  return h("tr", { class: "data" }, h("th", { colspan: columns }, `on ${row.axes.data || "unknown data"}`));
}

export function leaderboard(rows, axes, of, colourOf) {
  const byData = isOfBits(of.get("sort") ?? "bits");
  const means = of.get("rows") === "means";
  const shown = of.get("all") ? rows : rows.slice(0, kShown);
  const table = h(
    "table",
    { id: "leaderboard" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        heading(of, "status", "status"),
        heading(of, "folder", means ? "one of its runs" : "run"),
        axes.map(([axis]) => heading(of, `axis ${axis}`, shortName(axis, axes))),
        means ? heading(of, "n", "n", true) : heading(of, "seed", "seed", true),
        numbers.map(([key, text]) => heading(of, key, text, true)),
      ),
    ),
    h(
      "tbody",
      {},
      shown.map((row, i) => [
        byData ? dataHeading(row, shown[i - 1], 3 + axes.length + numbers.length) : null,
        h(
          "tr",
          {},
          h("td", {}, statusCell(row)),
          h(
            "td",
            { class: "name", title: row.folder },
            colourOf(row) ? keyOf(colourOf(row)) : null,
            h("a", { href: runAddress(row.folder) }, nameOf(row.folder)),
          ),
          axes.map(([axis]) => h("td", {}, axisValue(row.axes[axis]))),
          h("td", { class: "number" }, means ? (row.n === row.runs.length ? String(row.n) : `${row.n} of ${row.runs.length}`) : String(row.seed ?? "")),
          numbers.map((column) => numberCell(row, column)),
        ),
      ]),
    ),
  );
  const more =
    shown.length < rows.length
      ? h(
          "p",
          { class: "more" },
          h("button", { class: "plain", onclick: () => change({ all: "1" }) }, `Show all ${rows.length} rows`),
        )
      : null;
  return [h("div", { class: "wide" }, table), more];
}
