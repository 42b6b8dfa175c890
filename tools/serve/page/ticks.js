// The numbers along an axis.
import { count } from "./format.js";

// The number of decimals that tells neighbouring ticks apart.
function plain(value, ticks) {
  const gaps = ticks.slice(1).map((tick, i) => Math.abs(tick.value - ticks[i].value)).filter((gap) => gap > 0);
  if (!gaps.length) return String(Number(value.toPrecision(4)));
  const decimals = Math.ceil(-Math.log10(Math.min(...gaps)) - 0.01);
  return value.toFixed(Math.max(0, Math.min(decimals, 8)));
}

// Ticks in this format if it tells them apart, else plain numbers.
export const ticksAs = (format) => (value, _, ticks) => {
  const texts = new Set(ticks.map((tick) => format(tick.value)));
  return texts.size === ticks.length ? format(value) : plain(value, ticks);
};
export const plainTicks = (value, _, ticks) => plain(value, ticks);

// A logarithmic axis numbers its powers of ten, with few of them also 2 and 5, and as a linear one within a power.
export function logarithmicTicks(scale) {
  const { min, max } = scale;
  const values = [];
  if (max / min > 10) {
    const within = max / min > 1e4 ? [1] : [1, 2, 5];
    for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); ++power) {
      values.push(...within.map((digit) => Number(`${digit}e${power}`)));
    }
  } else {
    const rough = (max - min) / 8;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough);
    for (let i = Math.ceil(min / step); i * step <= max; ++i) values.push(i * step);
  }
  scale.ticks = values.filter((value) => value >= min && value <= max).map((value) => ({ value }));
}
// Their texts: each number has the digits it needs.
export const logarithmicText = (value) => (value < 1e6 ? String(Number(value.toPrecision(4))) : count(value));
