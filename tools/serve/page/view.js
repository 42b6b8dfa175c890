// The page's address says what is shown, "#/?sort=best&status=failed", so that it can be kept, sent and gone back from.

export function view() {
  const [path, query] = location.hash.replace(/^#/, "").split("?");
  return { path: path || "/", of: new URLSearchParams(query) };
}

export const addressOf = (path, of) => `#${path}?${of}`;
export const runAddress = (folder) => addressOf("/run", new URLSearchParams({ folder }));
// The report on the runs in these folders, which the server makes.
export const findingsAddress = (folders) => `findings?${new URLSearchParams(folders.map((folder) => ["folder", folder]))}`;
export const experimentAddress = (experiment) => addressOf("/", new URLSearchParams({ experiment }));

// The experiment that is shown if the address names none. The first choice of the reader puts it into the address,
// so that the view stays what it is when a newer run begins.
let opened = "";
export const openedOn = (experiment) => { opened = experiment; };

function go(path, of, replace) {
  if (path !== "/run" && opened && !of.has("experiment")) of.set("experiment", opened);
  if (replace) location.replace(addressOf(path, of));
  else location.hash = addressOf(path, of);
}

// Changes some of the address's parameters; null removes one. replace: without a new entry in the browser's history.
export function change(values, replace = false) {
  const { path, of } = view();
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === "") of.delete(name);
    else of.set(name, value);
  }
  go(path, of, replace);
}

// The folders of the runs that the reader chose, and a change of them.
export const chosenRuns = (of) => of.getAll("run");
export function choose(folder, isChosen) {
  const { path, of } = view();
  const others = chosenRuns(of).filter((other) => other !== folder);
  of.delete("run");
  for (const one of isChosen ? [...others, folder] : others) of.append("run", one);
  go(path, of, false);
}
