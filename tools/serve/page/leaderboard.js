// The table of runs, or of their means over seeds.
import { keyOf } from "./charts.js";
import { h, status } from "./dom.js";
import { axisValue, duration, formatOf } from "./format.js";
import { isOfBits, kSilent, nameOf, shortName } from "./select.js";
import { store } from "./store.js";
import { change, choose, chosenRuns, runAddress } from "./view.js";

const kShown = 200; // rows that are shown until the reader asks for all
const kAxes = 8; // more of them stand behind the numbers, which would lie far to the right

function heading(of, key, text, isNumber, hint = null) {
  const chosen = (of.get("sort") ?? "bits") === key;
  const down = chosen && of.get("down") !== null;
  const order = chosen ? (down ? "descending" : "ascending") : null;
  return h(
    "th",
    { scope: "col", class: isNumber ? "number" : null, "aria-sort": order },
    h("button", { title: hint, onclick: () => change({ sort: key, down: chosen && !down ? "1" : null }) }, text),
  );
}

// The statuses of a row's runs, each with its number of runs if there are several.
export function statusOf(row) {
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

// "2 of 3" of a mean's runs have ended.
export const seedsOf = (row) => (row.n === row.runs.length ? String(row.n) : `${row.n} of ${row.runs.length}`);

// below: a note under the number.
export function numberCell(row, number, below = null) {
  const { key } = number;
  const format = formatOf(number);
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
    below === null ? null : h("div", { class: "range" }, below),
  );
}

const valueCell = (value) => h("td", { class: "value" }, value || h("span", { class: "range" }, "(not set)"));

// With several data, each data's first row has a heading above it.
function dataHeading(row, before, columns) {
  if (row.axes.data === undefined || before?.axes.data === row.axes.data) return null;
  const title = h("span", {}, `on ${row.axes.data || "unknown data"}`);
  return h("tr", { class: "data" }, h("th", { colspan: columns }, title));
}

export function leaderboard(rows, allAxes, of, colourOf) {
  const byData = isOfBits(of.get("sort") ?? "bits");
  const axes = allAxes.filter(([axis]) => axis !== "data" || !byData); // headings say which data
  const inOrderOf = (ofAxes, ofSeed, ofNumbers) =>
    axes.length > kAxes ? [ofSeed, ofNumbers, ofAxes] : [ofAxes, ofSeed, ofNumbers];
  const means = of.get("rows") === "means";
  const shown = of.get("all") ? rows : rows.slice(0, kShown);
  const chosen = new Set(chosenRuns(of));
  const box = (row) => {
    const folders = row.runs.map((run) => run.folder);
    return h("input", {
      type: "checkbox", "aria-label": `compare ${row.folder}`, checked: folders.every((folder) => chosen.has(folder)),
      onchange: ({ target }) => choose(folders, target.checked),
    });
  };
  const table = h(
    "table",
    { id: "leaderboard" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, h("span", { class: "unseen" }, "compare")),
        heading(of, "status", "status"),
        heading(of, "folder", means ? "one of its runs" : "run"),
        inOrderOf(
          axes.map(([axis]) => heading(of, `axis ${axis}`, shortName(axis, allAxes))),
          means ? heading(of, "n", "n", true) : heading(of, "seed", "seed", true),
          store.numbers.map(({ key, title, hint }) => heading(of, key, title, true, hint)),
        ),
      ),
    ),
    h(
      "tbody",
      {},
      shown.map((row, i) => [
        byData ? dataHeading(row, shown[i - 1], 4 + axes.length + store.numbers.length) : null,
        h(
          "tr",
          {},
          h("td", {}, box(row)),
          h("td", {}, statusOf(row)),
          h(
            "td",
            { class: "name", title: row.folder },
            colourOf(row) ? keyOf(colourOf(row)) : null,
            h("a", { href: runAddress(row.folder) }, nameOf(row.folder)),
          ),
          inOrderOf(
            axes.map(([axis]) => valueCell(axisValue(row.axes[axis]))),
            h("td", { class: "number" }, means ? seedsOf(row) : String(row.seed ?? "")),
            store.numbers.map((number) => numberCell(row, number)),
          ),
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
  return { table, more };
}
