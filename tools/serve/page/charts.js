// Chart.js with this page's style: no animation, the page's colours, light or dark.

export const colours = [
  "#4e79a7", "#e8812b", "#3f9b6c", "#c9485b", "#8a6bbd", "#a0785a", "#d673a8", "#7b8794", "#b0a12f", "#2aa0b5",
];

export const clear = (colour, share) => `${colour}${Math.round(255 * share).toString(16).padStart(2, "0")}`;

// A small square of the colour. A script sets the colour, because the page's rules forbid styles within its text.
export function keyOf(colour) {
  const key = document.createElement("span");
  key.className = "key";
  key.style.color = colour;
  return key;
}

// The names of baselines to the right of the chart, each at its line's height where there is room, else below the one
// above it; an arrow says that the line lies beyond the range that is shown.
const kNameHeight = 13; // pixels
const baselineNames = {
  id: "baselineNames",
  afterDatasetsDraw({ ctx, chartArea, data, scales }) {
    const names = data.datasets
      .filter((set) => set.baseline)
      .map((set) => ({ text: set.baseline, y: scales.y.getPixelForValue(set.data[0].y) }))
      .sort((a, b) => a.y - b.y);
    let free = chartArea.top;
    for (const name of names) {
      if (name.y < chartArea.top) name.text = `↑ ${name.text}`;
      if (name.y > chartArea.bottom) name.text = `↓ ${name.text}`;
      name.y = Math.max(free, Math.min(name.y, chartArea.bottom));
      free = name.y + kNameHeight;
    }
    // Names that ran out of the bottom move up.
    let bottom = chartArea.bottom;
    for (const name of [...names].reverse()) {
      name.y = Math.min(name.y, bottom);
      bottom = name.y - kNameHeight;
    }
    ctx.save();
    ctx.font = nameFont();
    ctx.textBaseline = "middle";
    ctx.fillStyle = themed("--text");
    for (const name of names) ctx.fillText(name.text, chartArea.right + 6, name.y);
    ctx.restore();
  },
};

const nameFont = () => `11px ${getComputedStyle(document.body).fontFamily}`;

// The width of the longest name, in pixels.
function roomForNames(canvas, datasets) {
  const names = datasets.filter((set) => set.baseline).map((set) => `↑ ${set.baseline}`);
  if (!names.length) return 0;
  const ctx = canvas.getContext("2d");
  ctx.save();
  ctx.font = nameFont();
  const widest = Math.max(...names.map((name) => ctx.measureText(name).width));
  ctx.restore();
  return Math.ceil(widest) + 10;
}

export const themed = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A canvas in a box. draw(datasets, axes) shows the datasets, and may be called again.
export function chartPanel(id) {
  const canvas = document.createElement("canvas");
  canvas.id = id;
  const box = document.createElement("div");
  box.className = "chart";
  box.append(canvas);
  let chart = null;
  const draw = (datasets, scales) => {
    const grid = themed("--line");
    const text = themed("--quiet");
    for (const scale of Object.values(scales)) {
      scale.grid = { color: grid, borderColor: grid };
      scale.ticks = { color: text, ...scale.ticks };
      if (scale.title) Object.assign(scale.title, { display: true, color: text });
    }
    const options = {
      animation: false,
      layout: { padding: { right: roomForNames(canvas, datasets) } },
      maintainAspectRatio: false,
      parsing: false,
      normalized: true,
      interaction: { mode: "nearest", axis: "xy", intersect: false },
      scales,
      plugins: { legend: { display: false }, tooltip: { filter: (item) => Boolean(item.dataset.label) } },
    };
    if (chart === null) {
      chart = new Chart(canvas, { type: "line", data: { datasets }, options, plugins: [baselineNames] });
    } else {
      chart.data.datasets = datasets;
      chart.options = options;
      chart.update("none");
    }
  };
  const remove = () => chart?.destroy();
  return { box, draw, remove };
}
