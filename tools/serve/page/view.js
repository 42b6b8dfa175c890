// The page's address says what is shown, "#/?sort=best&status=failed", so that it can be kept, sent and gone back from.

export function view() {
  const [path, query] = location.hash.replace(/^#/, "").split("?");
  return { path: path || "/", of: new URLSearchParams(query) };
}

// Changes some of the address's parameters; null removes one.
export function change(values) {
  const { path, of } = view();
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === "") of.delete(name);
    else of.set(name, value);
  }
  location.hash = `${path}?${of}`;
}

export const runAddress = (folder) => `#/run?${new URLSearchParams({ folder })}`;
