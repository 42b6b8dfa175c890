// The server's data: all runs, kept up to date, and the requested curves.

export const store = {
  runs: new Map(), // by folder
  numbers: [], // what is shown of a run, in this order: {key, title, unit, hint}
  sweeps: [],
  results: "",
  version: "",
  unread: 0,
  reading: null, // of the first look, until all runs are read: {read, of}, of null as long as nobody knows
  other_files: 0,
  now: 0, // the server's clock, in seconds
  problems: [],
};

const curves = new Map(); // by folder: {curve, train, held_out}

async function ask(path, parameters) {
  const reply = await fetch(`${path}?${new URLSearchParams(parameters)}`);
  if (!reply.ok) throw new Error((await reply.text()).trim());
  return reply.json();
}

// Returns whether anything changed.
export async function refresh() {
  const reply = await ask("api/runs", { since: store.version });
  const minute = (seconds) => Math.floor(seconds / 60); // a run's page shows how long the run has been silent
  const changed =
    reply.all || reply.version !== store.version || reply.unread !== store.unread || minute(reply.now) !== minute(store.now) ||
    JSON.stringify(reply.reading) !== JSON.stringify(store.reading);
  if (reply.all) store.runs.clear();
  for (const folder of reply.removed) store.runs.delete(folder);
  for (const run of reply.runs) store.runs.set(run.folder, run);
  for (const key of ["numbers", "sweeps", "results", "version", "unread", "reading", "other_files", "now", "problems"]) store[key] = reply[key];
  return changed;
}

// The curves of these runs. Asks only for those that have changed.
export async function curvesOf(runs) {
  await Promise.all(
    runs.map(async (run) => {
      if (curves.get(run.folder)?.curve === run.curve) return;
      try {
        curves.set(run.folder, await ask("api/curve", { folder: run.folder }));
      } catch {
        curves.delete(run.folder); // the run was deleted while we asked
      }
    }),
  );
  return runs.map((run) => curves.get(run.folder) ?? null);
}

export const details = (folder) => ask("api/run", { folder });
