// Numbers and times in a form for people; "" for a missing one.

const known = (value) => typeof value === "number" && Number.isFinite(value);

export const bits = (value) => (known(value) ? value.toFixed(4) : "");

export const share = (value) => (known(value) ? `${(100 * value).toFixed(value < 0.1 ? 2 : 1)} %` : "");

// 1234567 as "1.23 M".
export function count(value) {
  if (!known(value)) return "";
  for (const [unit, size] of [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (Math.abs(value) >= size) return `${(value / size).toPrecision(3)} ${unit}`;
  }
  return Number.isInteger(value) ? String(value) : value.toPrecision(3);
}

export function duration(seconds) {
  if (!known(seconds)) return "";
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${Math.round(minutes / 1440)} days`;
}

// By the unit of a number, as the server names it.
const formats = { bits, share, per_second: count, seconds: duration,
  count: (value) => (known(value) ? String(Math.round(value)) : "") };
export const formatOf = (number) => formats[number.unit] ?? count;

// An axis' value: one text, or several that change together.
export function axisValue(value) {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? Object.values(value).join(", ") : String(value);
}

// Sorts numbers by size, then texts by the alphabet, then empty ones.
export function inOrder(a, b) {
  const empty = (value) => value === null || value === undefined || value === "" || Number.isNaN(value);
  if (empty(a) || empty(b)) return Number(empty(a)) - Number(empty(b));
  const [x, y] = [Number(a), Number(b)];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}
