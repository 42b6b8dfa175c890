// The chosen runs side by side: their curves over each other, final numbers, and the configuration that differs.
import { colours, keyOf } from "./charts.js";
import { curvesChart, curveChoices } from "./curves.js";
import { h, head, renew } from "./dom.js";
import { bits, count } from "./format.js";
import { numberCell, seedsOf, statusOf } from "./leaderboard.js";
import { isOfBits, labelsOf, rowsOf, varyingAxes, withValues } from "./select.js";
import { store } from "./store.js";
import { addressOf, choose, chosenRuns, runAddress, view } from "./view.js";

// What a row's runs have there; in a mean over seeds several values.
const valuesOf = (row, value) => [...new Set(row.runs.map((run) => value(run) ?? ""))].join(" | ");

// [name, the value of each row] of all settings in which the rows differ, and of what computed them.
function differences(rows) {
  const keys = [...new Set(rows.flatMap((row) => row.runs.flatMap((run) => Object.keys(run.config ?? {}))))];
  const settings = keys.map((key) => [key, rows.map((row) => valuesOf(row, (run) => run.config?.[key]))]);
  const built = [["backend in use", "backend"], ["built from", "commit"], ["data, sha256", "data_hash"]]
    .map(([name, key]) => [name, rows.map((row) => valuesOf(row, (run) => run[key]))]);
  const all = [...settings, ...built];
  const differing = all.filter(([, values]) => new Set(values).size > 1);
  return { differing, equal: all.length - differing.length };
}

function sideBySide(rows, labels, means) {
  const sameData = new Set(rows.map((row) => row.axes.data)).size === 1;
  const { differing, equal } = differences(rows);
  // A long key may break after its dots.
  const broken = (name) => name.split(/(?<=[._])/).map((part) => [part, h("wbr")]);
  const line = (name, cells, hint) => h("tr", {}, h("th", { scope: "row", title: hint }, broken(name)), cells);
  const cell = (content, kind = "number") => h("td", { class: kind }, content);
  const part = (title) =>
    h("tr", { class: "data" }, h("th", { colspan: rows.length + 1, scope: "colgroup" }, h("span", {}, title)));
  // How far the row's bits are from the first row's; bits on different data have no difference.
  const beside = (row, key) => {
    const far = row[key] - rows[0][key];
    if (!isOfBits(key) || !sameData || row === rows[0] || row[key] === null || rows[0][key] === null) return null;
    return Number.isFinite(far) ? `${far < 0 ? "−" : "+"}${bits(Math.abs(far))}` : null;
  };
  return h("table", { id: "compare" },
    h("thead", {}, h("tr", {},
      h("th", { scope: "col" }, h("span", { class: "unseen" }, "what")),
      rows.map((row, i) => h("th", { scope: "col", class: "number" },
        i < colours.length ? keyOf(colours[i]) : null, h("a", { href: runAddress(row.folder) }, labels[i]), " ",
        h("button", { class: "plain", "aria-label": `leave out ${labels[i]}`, title: "leave out",
          onclick: () => choose(row.runs.map((run) => run.folder), false) }, "×"))))),
    h("tbody", {},
      part(sameData ? "Numbers" : "Numbers, on different data: their bits cannot be compared"),
      line("status", rows.map((row) => cell(statusOf(row)))),
      means ? line("seeds", rows.map((row) => cell(seedsOf(row)))) : null,
      store.numbers.map((number) =>
        line(number.title, rows.map((row) => numberCell(row, number, beside(row, number.key))), number.hint)),
      line("member tokens", rows.map((row) => cell(valuesOf(row, (run) => count(run.member_tokens))))),
      part(differing.length
        ? `Configuration: ${differing.length} differ, ${equal} are equal`
        : `Configuration: all ${equal} are equal`),
      differing.map(([name, values]) =>
        line(name, values.map((value) => cell(value || "(not set)", "number value"))))));
}

export function comparePage(main) {
  const above = h("div");
  const curves = curvesChart("Learning curves of the chosen runs");
  const choices = h("div");
  const note = h("p", { class: "note" });
  const curvePanel = h("section", {}, head("Learning curves", choices, curves.tools), curves.box, note);
  const wide = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "side by side" });
  const tablePanel = h("section", {}, head("Side by side"), wide);
  main.replaceChildren(above, curvePanel, tablePanel);

  async function show() {
    const { of } = view();
    const folders = chosenRuns(of);
    const missing = folders.filter((folder) => !store.runs.has(folder));
    const runs = withValues(folders.filter((folder) => store.runs.has(folder)).map((folder) => store.runs.get(folder)));
    const rows = rowsOf(runs, of);
    const labels = labelsOf(rows, varyingAxes(rows));
    renew(above,
      h("p", {}, h("a", { href: addressOf("/", of) }, "← all runs")),
      missing.map((folder) =>
        h("p", { class: "bad" }, `No run is in ${folder}, which the address of this page names.`)),
      rows.length ? null
        : h("p", { class: "note", id: "nothing" }, "No run is chosen: choose some by their boxes in the leaderboard."));
    tablePanel.hidden = rows.length === 0;
    curvePanel.hidden = !runs.some((run) => run.has_curve);
    if (!rows.length) return;
    renew(wide, sideBySide(rows, labels, of.get("rows") === "means"));
    if (curvePanel.hidden) return;
    const { x, range } = curveChoices(choices, of);
    const drawn = await curves.show(rows.slice(0, colours.length), labels, x, range);
    const which = rows.length > colours.length ? ` of the first ${drawn} of ${rows.length}` : "";
    const severalData = new Set(rows.map((row) => row.axes.data)).size > 1;
    note.textContent = `Held-out bits${which} thick, training bits thin` +
      (severalData ? "; they are on different data, so they cannot be compared." : ".");
  }
  return { show, remove: curves.remove };
}
