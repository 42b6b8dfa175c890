// The effect of one axis on a number. A line joins runs that are equal in everything else, also in the seed; diamonds are
// means. Only final runs are shown.
import { chartPanel, clear, colours } from "./charts.js";
import { axisValue, formatOf } from "./format.js";
import { experimentOf, isFinal, isOfBits } from "./select.js";
import { ticksAs } from "./ticks.js";

export function effectsChart() {
  const panel = chartPanel("effects", "Effect of an axis", ["y"]);
  // values: the axis' values in order. Returns how many runs have the number.
  function show(rows, axis, values, number) {
    const place = new Map(values.map((value, i) => [value, i]));
    const sets = new Map();
    const byValue = values.map(() => []);
    for (const row of rows) {
      if (!Number.isFinite(row[number.key]) || !row.runs.some(isFinal)) continue;
      const others = Object.entries(row.axes).filter(([name]) => name !== axis).sort();
      const key = JSON.stringify([experimentOf(row), row.n === undefined ? row.seed : null, others]);
      const point = { x: place.get(axisValue(row.axes[axis])), y: row[number.key] };
      if (!sets.has(key)) sets.set(key, []);
      sets.get(key).push(point);
      byValue[point.x].push(point.y);
    }
    // All sets are one line with gaps, because thousands of lines would be slow.
    const lines = [...sets.values()].flatMap((points) => [
      ...points.sort((a, b) => a.x - b.x),
      { x: points[points.length - 1].x, y: NaN },
    ]);
    const means = byValue
      .map((list, x) => ({ x, y: list.reduce((sum, value) => sum + value, 0) / list.length }))
      .filter((point) => Number.isFinite(point.y));
    panel.draw(
      [
        {
          data: means,
          showLine: false,
          pointStyle: "rectRot",
          radius: 8,
          backgroundColor: colours[1],
          borderColor: colours[1],
        },
        {
          data: lines,
          borderColor: clear(colours[0], Math.max(0.05, Math.min(0.4, 25 / sets.size))),
          backgroundColor: colours[0],
          borderWidth: 1,
          pointRadius: lines.length > 1000 ? 1.5 : 3,
          pointBorderWidth: 0,
        },
      ],
      {
        x: {
          min: -0.4,
          max: values.length - 0.6,
          title: { text: axis },
          afterBuildTicks: (scale) => {
            const each = Math.ceil(values.length / 12);
            scale.ticks = values.map((_, i) => ({ value: i })).filter(({ value }) => value % each === 0);
          },
          ticks: { autoSkip: false, callback: (at) => values[at] || "(not set)" },
        },
        y: { title: { text: number.title }, ticks: isOfBits(number.key) ? {} : { callback: ticksAs(formatOf(number)) } },
      },
    );
    return means.length ? [...sets.values()].reduce((sum, points) => sum + points.length, 0) : 0;
  }
  return { box: panel.box, tools: panel.tools, show, remove: panel.remove };
}
