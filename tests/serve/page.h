// The page in a browser, for tests of what it shows.
#ifndef EGGROLL_TESTS_SERVE_PAGE_H
#define EGGROLL_TESTS_SERVE_PAGE_H

#include "serve/browser.h"
#include "serve/results.h"
#include "serve/server.h"

namespace eggroll::test {

class PageTest : public ResultsTest {
 protected:
  void SetUp() override {
    const auto executable = Browser::find();
    if (!executable) {
      GTEST_SKIP() << "there is no Chromium (chromium-headless-shell, chromium or google-chrome) to show the page in";
    }
    browser_.emplace(*executable, folder_ / "browser");
  }

  // No script failed, and the page asked no other host.
  void TearDown() override {
    if (!browser_) return;
    EXPECT_THAT(browser_->exceptions(), ::testing::IsEmpty());
    EXPECT_FALSE(browser_->requested().empty());
    for (const std::string& address : browser_->requested()) {
      EXPECT_THAT(address, ::testing::StartsWith(address_));
    }
  }

  // Serves the results as they are, and opens the page once all of them are read.
  void open(const std::string& path = "#/") {
    if (!server_) server_.emplace(results_, 0);
    address_ = server_->address();
    browser_->open(address_ + path);
    ASSERT_TRUE(browser_->wait_for("document.querySelector('#progress, #facts')"));
    ASSERT_TRUE(browser_->wait_for("!document.body.innerText.includes('still reading')"));
  }

  std::string text(const std::string& selector) {
    return browser_->evaluate("document.querySelector(" + quoted(selector) + ").innerText");
  }
  // The text of the cell below this heading in each row of the leaderboard.
  std::vector<std::string> column(const std::string& heading) {
    const auto cells = browser_->evaluate(
        "(() => { const at = [...document.querySelectorAll('#leaderboard th')].findIndex((th) => "
        "th.innerText.trim().startsWith(" +
        quoted(heading) +
        ")); return [...document.querySelectorAll('#leaderboard tbody tr')].map((row) => "
        "row.cells[at].innerText.trim()); })()");
    return cells.get<std::vector<std::string>>();
  }
  void click_heading(const std::string& heading) {
    browser_->evaluate("[...document.querySelectorAll('#leaderboard th button')].find((b) => b.innerText === " +
                       quoted(heading) + ").click()");
  }
  void choose(const std::string& label, const std::string& value) {
    browser_->evaluate("(() => { const s = document.querySelector('select[aria-label=\"" + label +
                       "\"]'); s.value = " + quoted(value) + "; s.dispatchEvent(new Event('change')); })()");
  }
  // The number of the canvas' pixels that are not grey. Curves and marks have colours, the grid and the labels are
  // grey.
  int coloured_pixels(const std::string& canvas) {
    return browser_->evaluate(
        "(() => { const c = document.querySelector(" + quoted(canvas) +
        "); const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0;"
        "for (let i = 0; i < p.length; i += 4) {"
        "  if (p[i + 3] > 100 && Math.max(p[i], p[i + 1], p[i + 2]) - Math.min(p[i], p[i + 1], p[i + 2]) > 60) n += 1;"
        "} return n; })()");
  }
  // The texts of all elements that match, each trimmed.
  std::vector<std::string> texts(const std::string& selector) {
    return browser_
        ->evaluate("[...document.querySelectorAll(" + quoted(selector) + ")].map((one) => one.innerText.trim())")
        .get<std::vector<std::string>>();
  }
  void click(const std::string& selector) {
    browser_->evaluate("document.querySelector(" + quoted(selector) + ").click()");
  }
  // A property of a chart: "scales.y.max".
  Browser::Json of_chart(const std::string& canvas, const std::string& property) {
    return browser_->evaluate("Chart.getChart(document.querySelector(" + quoted(canvas) + "))." + property);
  }
  bool wait_for_chart(const std::string& canvas) {
    return browser_->wait_for("Chart.getChart(document.querySelector(" + quoted(canvas) + "))");
  }
  Browser::Json datasets(const std::string& canvas) {
    return browser_->evaluate("Chart.getChart(document.querySelector(" + quoted(canvas) +
                              ")).data.datasets.map((set) => ({label: set.label ?? '', data: set.data}))");
  }
  static std::string quoted(const std::string& text) { return ordered_json(text).dump(); }

  std::optional<Server> server_;
  std::string address_;
  std::optional<Browser> browser_;
};

}  // namespace eggroll::test

#endif
