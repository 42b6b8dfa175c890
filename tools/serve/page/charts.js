// Chart.js with this page's style: no animation, the page's colours, light or dark; and axes that zoom and turn
// logarithmic. The address keeps both.
import { h, themed } from "./dom.js";
import { logarithmicText, logarithmicTicks, plainTicks } from "./ticks.js";
import { change, view } from "./view.js";
import { axes, kKeys, rangeIn, zoomable } from "./zoom.js";

export const colours = [
  "#4e79a7", "#e8812b", "#3f9b6c", "#c9485b", "#8a6bbd", "#a0785a", "#d673a8", "#7b8794", "#b0a12f", "#2aa0b5",
];

export const clear = (colour, share) => `${colour}${Math.round(255 * share).toString(16).padStart(2, "0")}`;

// A small square of the colour. A script sets the colour, because the page's rules forbid styles within its text.
export function keyOf(colour) {
  const key = h("span", { class: "key" });
  key.style.color = colour;
  return key;
}

// A logarithmic axis has no place for what is not above 0: such points of x are left out, and y has a gap there.
function positive(datasets, name) {
  const dataOf = (data) => (name === "x" ? data.filter((point) => point.x > 0)
    : data.map((point) => ({ ...point, y: point.y > 0 ? point.y : NaN })));
  return datasets.map((set) => ({ ...set, data: dataOf(set.data) }));
}

function leastPositive(datasets, name) {
  const values = datasets.flatMap((set) => set.data.map((point) => point[name]));
  const least = Math.min(...values.filter((value) => value > 0));
  return Number.isFinite(least) ? least : undefined;
}

// A canvas in a box, and the switches of its axes as `tools`.
// draw(datasets, scales, fit) shows the datasets, and may be called again. fit(x's zoom or null, the names of the
// logarithmic axes) gives the range of y that is shown if the reader has not zoomed it.
export function chartPanel(id, title) {
  const canvas = h("canvas", { id, tabindex: "0", role: "img", "aria-describedby": `${id}-keys` });
  const frame = h("div", { class: "frame", hidden: true });
  const keys = h("p", { class: "keys", id: `${id}-keys` }, kKeys);
  const box = h("div", { class: "chart" }, canvas, frame, keys);
  let chart = null;

  const logsOf = () => axes.filter((name) => (view().of.get(`${id} log`) ?? "").includes(name));
  const switches = axes.map((name) => h("input", {
    type: "checkbox",
    onchange: ({ target }) => {
      const isLog = (axis) => (axis === name ? target.checked : logsOf().includes(axis));
      change({ [`${id} log`]: axes.filter(isLog).join("") });
    },
  }));
  const inAddress = (ranges) =>
    Object.fromEntries(Object.entries(ranges).map(([name, text]) => [`${id} ${name}`, text]));
  const reset = h("button", { class: "plain", onclick: () => {
    change(inAddress({ x: null, y: null }));
    canvas.focus();
  } }, "Reset zoom");
  const hint = h("span", { class: "quiet" }, "drag over a part to zoom");
  const tools = h("span", { class: "tools", role: "group", "aria-label": `axes of: ${title}` },
    switches.map((input, i) => h("label", { class: "check" }, input, `log ${axes[i]}`)), reset, hint);
  zoomable(canvas, frame, () => chart, (ranges, replace) => change(inAddress(ranges), replace));

  const draw = (sets, scales, fit = () => ({})) => {
    let datasets = sets;
    const { of } = view();
    const logs = logsOf();
    const zoom = Object.fromEntries(axes.map((name) => [name, rangeIn(of.get(`${id} ${name}`))]));
    switches.forEach((input, i) => { input.checked = logs.includes(axes[i]); });
    reset.hidden = !axes.some((name) => zoom[name]);
    hint.hidden = !reset.hidden;
    Object.assign(scales.y, fit(zoom.x ?? null, logs));
    const grid = themed("--line");
    const text = themed("--quiet");
    for (const [name, scale] of Object.entries(scales)) {
      const isLog = logs.includes(name);
      Object.assign(scale, { type: isLog ? "logarithmic" : "linear" }, zoom[name]);
      if (isLog) {
        if (!(scale.min > 0)) scale.min = leastPositive(sets, name);
        datasets = positive(datasets, name);
        scale.afterBuildTicks = logarithmicTicks;
        scale.ticks = { maxRotation: 0, callback: logarithmicText };
      }
      scale.grid = { color: grid, borderColor: grid };
      scale.ticks = { color: text, includeBounds: false, callback: plainTicks, ...scale.ticks };
      if (scale.title) Object.assign(scale.title, { display: true, color: text });
    }
    const options = {
      animation: false,
      layout: { padding: { right: 8 } },
      maintainAspectRatio: false,
      parsing: false,
      normalized: true,
      interaction: { mode: "nearest", axis: "xy", intersect: false },
      scales,
      plugins: {
        legend: { display: false },
        tooltip: {
          filter: (item) => Boolean(item.dataset.label),
          callbacks: {
            title: ([item]) => item && `${scales.x.title.text}: ${Number(item.parsed.x.toPrecision(6))}`,
            label: (item) => `${item.dataset.label}: ${Number(item.parsed.y.toPrecision(5))}`,
          },
        },
      },
    };
    if (chart === null) {
      chart = new Chart(canvas, { type: "line", data: { datasets }, options });
    } else {
      chart.data.datasets = datasets;
      chart.options = options;
      chart.update("none");
    }
    const lastOf = ({ data }) => data.filter((point) => Number.isFinite(point.y)).pop()?.y;
    const ends = sets
      .filter((set) => set.named)
      .map((set) => `${set.label} ends at ${Number(lastOf(set)?.toPrecision(4))}`);
    canvas.setAttribute("aria-label", [title, ...ends].join("; "));
  };
  return { box, tools, draw, remove: () => chart?.destroy() };
}
