// Chart.js with our looks: no animation, the page's colours, light or dark.

export const colours = [
  "#4e79a7", "#e8812b", "#3f9b6c", "#c9485b", "#8a6bbd", "#a0785a", "#d673a8", "#7b8794", "#b0a12f", "#2aa0b5",
];

export const clear = (colour, share) => `${colour}${Math.round(255 * share).toString(16).padStart(2, "0")}`;

// A small square of the colour; set by script, because the page's rules forbid styles within its text.
export function keyOf(colour) {
  const key = document.createElement("span");
  key.className = "key";
  key.style.color = colour;
  return key;
}

// The name of a baseline on its line, each further to the left than the last: they may lie close together.
const baselineNames = {
  id: "baselineNames",
  afterDatasetsDraw({ ctx, chartArea, data, scales }) {
    ctx.save();
    ctx.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    ctx.textAlign = "right";
    ctx.fillStyle = themed("--text");
    data.datasets.filter((set) => set.baseline).forEach((set, i) => {
      const right = chartArea.right - 4 - 0.22 * i * chartArea.width;
      const x = Math.max(right, chartArea.left + 4 + ctx.measureText(set.baseline).width);
      ctx.fillText(set.baseline, x, scales.y.getPixelForValue(set.data[0].y) - 4);
    });
    ctx.restore();
  },
};

export const themed = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A canvas in a box; draw(datasets, axes) shows these, and again.
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
