// Zooms a chart: the reader drags over a part of it, or presses keys while it has the focus. A finger chooses only
// a range of x, because up and down scroll the page.

const kLeastDrag = 12; // pixels; a shorter one is a click

export const axes = ["x", "y"];

export const kKeys = "Keys: + and − zoom, arrows move, 0 shows all.";

// "2..3.5" as {min: 2, max: 3.5}; null for anything else.
export function rangeIn(text) {
  const [min, max] = (text ?? "").split("..").map((part) => (part.trim() === "" ? NaN : Number(part)));
  return Number.isFinite(min) && Number.isFinite(max) && min < max ? { min, max } : null;
}
const textOf = ({ min, max }) => `${Number(min.toPrecision(6))}..${Number(max.toPrecision(6))}`;

// Moves a scale's range by a share of its width and makes it `factor` times as wide, as it looks on the screen.
function changed(scale, shift, factor) {
  const [to, from] = scale.type === "logarithmic" ? [Math.log10, (value) => 10 ** value] : [Number, Number];
  const [low, high] = [to(scale.min), to(scale.max)];
  const middle = (low + high) / 2 + shift * (high - low);
  const half = (factor * (high - low)) / 2;
  return { min: from(middle - half), max: from(middle + half) };
}

const keys = {
  "+": { factor: 0.7 }, "=": { factor: 0.7 }, "-": { factor: 1 / 0.7 },
  ArrowLeft: { x: -0.15 }, ArrowRight: { x: 0.15 }, ArrowDown: { y: -0.15 }, ArrowUp: { y: 0.15 },
};

// frame: the element that shows what is dragged over. set({x: "2..3.5"}, replace) gets the new ranges, null for a whole
// axis.
export function zoomable(canvas, frame, chartOf, set) {
  let from = null; // where the drag began

  // The dragged part as {x: [left, right], y: [top, bottom]} in pixels, with the axes that it chooses.
  const partOf = (event) => {
    const { left, right, top, bottom } = chartOf().chartArea;
    const between = (value, low, high) => Math.max(low, Math.min(value, high));
    const sorted = (a, b) => [Math.min(a, b), Math.max(a, b)];
    const part = {
      x: sorted(from.x, between(event.offsetX, left, right)),
      y: sorted(from.y, between(event.offsetY, top, bottom)),
    };
    const isLong = ([a, b]) => b - a >= kLeastDrag;
    const chosen = axes.filter((name) => isLong(part[name]) && !(name === "y" && event.pointerType === "touch"));
    return { part, chosen };
  };
  const end = () => {
    from = null;
    frame.hidden = true;
  };

  canvas.addEventListener("pointerdown", (event) => {
    const area = chartOf()?.chartArea;
    if (event.button !== 0 || !area) return;
    const [x, y] = [event.offsetX, event.offsetY];
    if (x < area.left || x > area.right || y < area.top || y > area.bottom) return;
    from = { x, y };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    const { part, chosen } = partOf(event);
    const { left, right, top, bottom } = chartOf().chartArea;
    const [x, y] = [chosen.includes("x") ? part.x : [left, right], chosen.includes("y") ? part.y : [top, bottom]];
    frame.hidden = chosen.length === 0;
    Object.assign(frame.style, {
      left: `${x[0]}px`, width: `${x[1] - x[0]}px`, top: `${y[0]}px`, height: `${y[1] - y[0]}px`,
    });
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!from) return;
    const { part, chosen } = partOf(event);
    const { scales } = chartOf();
    end();
    if (!chosen.length) return;
    const valueAt = (name, pixel) => scales[name].getValueForPixel(pixel);
    set(Object.fromEntries(chosen.map((name) => {
      const values = part[name].map((pixel) => valueAt(name, pixel));
      return [name, textOf({ min: Math.min(...values), max: Math.max(...values) })];
    })), false);
  });
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "0" || event.key === "Escape") {
      end();
      set({ x: null, y: null }, true);
      return;
    }
    const key = keys[event.key];
    const moved = axes.filter((name) => key?.factor || key?.[name]);
    if (!moved.length || !chartOf()) return;
    event.preventDefault();
    const { scales } = chartOf();
    const rangeOf = (name) => textOf(changed(scales[name], key[name] ?? 0, key.factor ?? 1));
    set(Object.fromEntries(moved.map((name) => [name, rangeOf(name)])), true);
  });
}
