// Asks the server for changes every other second, and shows the page that the address names.
import { comparePage } from "./compare.js";
import { overview } from "./overview.js";
import { runPage } from "./run.js";
import { refresh, store } from "./store.js";
import { view } from "./view.js";

const kPause = 2000; // in ms

const main = document.getElementById("main");
const notice = document.getElementById("notice");
let page = null;
let pageOf = "";

async function show() {
  const { path, of } = view();
  const folder = of.get("folder") ?? "";
  const pages = { "/run": () => runPage(main, folder), "/compare": () => comparePage(main) };
  const wanted = pages[path] ? `${path} ${path === "/run" ? folder : ""}` : "/";
  if (wanted !== pageOf) {
    page?.remove();
    page = pages[path]?.() ?? overview(main);
    pageOf = wanted;
    scrollTo(0, 0);
  }
  document.getElementById("where").textContent = store.results;
  await page.show();
}

// One refresh at a time, because a late answer must not overtake a newer one.
let busy = Promise.resolve();
function soon(work) {
  busy = busy.then(work).catch((error) => {
    notice.textContent = `not up to date: ${error.message}`;
  });
  return busy;
}

async function poll() {
  await soon(async () => {
    const changed = await refresh();
    notice.textContent = "";
    if (changed || page === null) await show();
  });
  setTimeout(poll, kPause);
}

addEventListener("hashchange", () => soon(show));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => soon(show));
poll();
