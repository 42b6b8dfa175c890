// Asks the server for changes every other second, and shows the page that the address names.
import { h, renew } from "./dom.js";
import { overview } from "./overview.js";
import { runPage } from "./run.js";
import { refresh, store } from "./store.js";
import { view } from "./view.js";

const kPause = 2000; // in ms
const kShortPause = 250; // while the server reads the folders for the first time

const main = document.getElementById("main");
const notice = document.getElementById("notice");
let page = null;
let pageOf = "";

// In place of every page until all folders are read: what half of the runs say is no result.
function readingPage() {
  const text = h("p", { class: "quiet", id: "reading" });
  const problems = h("ul");
  main.replaceChildren(text, problems);
  const show = () => {
    const { read, of } = store.reading;
    text.textContent = of === null ? `Reading ${store.results} …` : `Reading ${store.results}, ${read} of ${of} runs …`;
    renew(problems, store.problems.map((problem) => h("li", { class: "bad" }, problem)));
  };
  return { show, remove: () => {} };
}

async function show() {
  const { path, of } = view();
  const folder = of.get("folder") ?? "";
  const isRun = path === "/run";
  const shown = isRun ? `${path} ${folder}` : "/";
  const wanted = store.reading ? "reading" : shown;
  if (wanted !== pageOf) {
    page?.remove();
    page = store.reading ? readingPage() : isRun ? runPage(main, folder) : overview(main);
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
  setTimeout(poll, store.reading ? kShortPause : kPause);
}

addEventListener("hashchange", () => soon(show));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => soon(show));
poll();
