// The table of runs.
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

function statusOf(run) {
  const silent = run.status === "running" ? store.now - run.written : 0;
  return [status(run.status), silent > kSilent ? h("span", { class: "range" }, ` silent for ${duration(silent)}`) : null];
}

function numberCell(run, number) {
  const { key } = number;
  let text = formatOf(number)(run[key]);
  if (key === "steps" && run.status === "running" && run.planned_steps) text += ` of ${run.planned_steps}`;
  const soFar = key === "bits" && run.bits_so_far ? h("span", { class: "range" }, "so far ") : null;
  return h("td", { class: "number" }, soFar, text);
}

const valueCell = (value) => h("td", { class: "value" }, value || h("span", { class: "range" }, "(not set)"));

// With several data, each data's first row has a heading above it.
function dataHeading(run, before, columns) {
  if (run.axes.data === undefined || before?.axes.data === run.axes.data) return null;
  const title = h("span", {}, `on ${run.axes.data || "unknown data"}`);
  return h("tr", { class: "data" }, h("th", { colspan: columns }, title));
}

export function leaderboard(runs, allAxes, of, colourOf) {
  const byData = isOfBits(of.get("sort") ?? "bits");
  const axes = allAxes.filter(([axis]) => axis !== "data" || !byData); // headings say which data
  const inOrderOf = (ofAxes, ofSeed, ofNumbers) =>
    axes.length > kAxes ? [ofSeed, ofNumbers, ofAxes] : [ofAxes, ofSeed, ofNumbers];
  const shown = of.get("all") ? runs : runs.slice(0, kShown);
  const chosen = new Set(chosenRuns(of));
  const box = ({ folder }) => h("input", {
    type: "checkbox", "aria-label": `choose ${folder}`, checked: chosen.has(folder),
    onchange: ({ target }) => choose(folder, target.checked),
  });
  const table = h(
    "table",
    { id: "leaderboard" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, h("span", { class: "unseen" }, "choose")),
        heading(of, "status", "status"),
        heading(of, "folder", "run"),
        inOrderOf(
          axes.map(([axis]) => heading(of, `axis ${axis}`, shortName(axis, allAxes))),
          heading(of, "seed", "seed", true),
          store.numbers.map(({ key, title, hint }) => heading(of, key, title, true, hint)),
        ),
      ),
    ),
    h(
      "tbody",
      {},
      shown.map((run, i) => [
        byData ? dataHeading(run, shown[i - 1], 4 + axes.length + store.numbers.length) : null,
        h(
          "tr",
          {},
          h("td", {}, box(run)),
          h("td", {}, statusOf(run)),
          h(
            "td",
            { class: "name", title: run.folder },
            colourOf(run) ? keyOf(colourOf(run)) : null,
            h("a", { href: runAddress(run.folder) }, nameOf(run.folder)),
          ),
          inOrderOf(
            axes.map(([axis]) => valueCell(axisValue(run.axes[axis]))),
            h("td", { class: "number" }, String(run.seed ?? "")),
            store.numbers.map((number) => numberCell(run, number)),
          ),
        ),
      ]),
    ),
  );
  const more =
    shown.length < runs.length
      ? h(
          "p",
          { class: "more" },
          h("button", { class: "plain", onclick: () => change({ all: "1" }) }, `Show all ${runs.length} runs`),
        )
      : null;
  return { table, more };
}
