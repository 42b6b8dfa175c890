// How the page tells runs apart: the experiment that it opens on, legends, columns, chosen runs, findings, addresses.
#include <algorithm>
#include <chrono>
#include <functional>
#include <set>

#include "serve/page.h"

namespace eggroll::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The runs in the legend of the curves.
constexpr const char* kLegend = ".chart + .legend > span:not(.baselines)";

class PageChoiceTest : public PageTest {
 protected:
  // Adds a run whose folder and sweep have this name.
  void add_run(const std::string& name, SyntheticRun run, const std::function<void(RunRecord&)>& change = {}) {
    run.sweep = name;
    write_synthetic_run(results_ / name, run);
    RunRecord record = synthetic_record(run);
    if (change) change(record);
    write_record(results_ / name / "record.json", record);
  }
  void tick(const std::string& folder) {
    browser_->evaluate("document.querySelector('input[aria-label=" + quoted("choose " + folder) + "]').click()");
  }
  std::string address() { return browser_->evaluate("decodeURIComponent(location.hash)"); }
  std::string experiment() {
    return browser_->evaluate("document.querySelector('select[aria-label=experiment]').value");
  }
};

TEST_F(PageChoiceTest, ThePageOpensOnWhatRuns) {
  SyntheticRun run;
  run.started = "2026-01-02T09:00:00Z";
  add_run("newest", run);
  run.started = "2026-01-01T01:00:00Z";
  run.status = RunStatus::kRunning;
  run.steps = 20;
  add_run("at-work", run);
  const RunLock at_work(results_ / "at-work");
  // A run whose process hangs, so that nothing was written for an hour, is not at work.
  run.started = "2026-01-02T08:00:00Z";
  add_run("hangs", run);
  const RunLock hangs(results_ / "hangs");
  for (const char* file : {"record.json", "metrics.jsonl"}) {
    fs::last_write_time(results_ / "hangs" / file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  open();
  EXPECT_EQ(experiment(), "at-work (sweep)");
  // A choice puts the experiment into the address, so that a newer one does not take its place.
  choose("over", "tokens");
  ASSERT_TRUE(browser_->wait_for("location.hash.includes('experiment=')"));
  EXPECT_THAT(address(), HasSubstr("experiment=at-work+(sweep)"));
}

TEST_F(PageChoiceTest, AnAddressThatMatchesNothingIsReported) {
  add_grid();
  open("#/?axis+train.population=77&axis+model.depth=3");
  EXPECT_THAT(text("#unknown"), HasSubstr("No run has train.population=77"));
  EXPECT_THAT(text("#unknown"), HasSubstr("The runs do not differ in \u201cmodel.depth\u201d"));
  browser_->evaluate("location.hash = '#/nowhere'");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#unknown').innerText.includes('There is no page /nowhere')"));
  browser_->evaluate("location.hash = '#/?run=sweeps/grid/points/512-0&run=gone'");
  EXPECT_TRUE(
      browser_->wait_for("document.querySelector('#unknown').innerText === "
                         "'No run is in gone, which the address of this page names.'"));
}

TEST_F(PageChoiceTest, LegendsNameWhatDiffers) {
  for (const uint64_t seed : {0U, 1U}) {
    for (const int rank : {1, 4}) {
      SyntheticRun run;
      run.seed = seed;
      run.axes = {{"model.width", "64"},
                  {"noise.rank+noise.sigma_shift",
                   {{"noise.rank", std::to_string(rank)}, {"noise.sigma_shift", std::to_string(rank + 2)}}}};
      run.final_bits = 3.0 + rank + 0.25 * static_cast<double>(seed);
      RunRecord record = synthetic_record(run);
      record.config["noise"] = {{"rank", rank}, {"sigma_shift", rank + 2}};
      const std::string folder = add_point(std::to_string(rank) + "-" + std::to_string(seed), run);
      write_record(results_ / folder / "record.json", record);
    }
  }
  open();
  ASSERT_TRUE(wait_for_chart("#curves"));
  // The width is equal in all, so it is in no legend; both keys of an axis of two are named.
  EXPECT_THAT(texts(kLegend), ElementsAre("rank=1, sigma_shift=3, seed=0", "rank=1, sigma_shift=3, seed=1",
                                          "rank=4, sigma_shift=6, seed=0", "rank=4, sigma_shift=6, seed=1"));
  EXPECT_THAT(column("rank+sigma_shift"), ElementsAre("1, 3", "1, 3", "4, 6", "4, 6"));
}

TEST_F(PageChoiceTest, LegendsNameThreeAxesThatDifferTogether) {
  const auto add = [&](const std::string& name, const ordered_json& axes) {
    SyntheticRun run;
    run.axes = axes;
    add_point(name, run);
  };
  add("1", {{"train.population", "512"}, {"model.width", "64"}, {"noise.rank", "1"}});
  add("2", {{"train.population", "256"}, {"model.width", "64"}, {"noise.rank", "2"}});
  add("3", {{"model.a", "1"}, {"model.b", "1"}, {"model.c", "1"}, {"model.d", "1"}});
  add("4", {{"model.a", "2"}, {"model.b", "2"}, {"model.c", "2"}, {"model.d", "2"}});
  const auto labels_of = [&](const std::string& first, const std::string& second) {
    open("#/?run=sweeps/grid/points/" + first + "&run=sweeps/grid/points/" + second);
    EXPECT_TRUE(wait_for_chart("#curves"));
    const std::vector<std::string> legend = texts(kLegend);
    browser_->open("about:blank");
    return legend;
  };
  EXPECT_THAT(labels_of("1", "2"), ElementsAre("population=512, rank=1", "population=256, rank=2"));
  // There is room for three of four.
  EXPECT_THAT(labels_of("3", "4"), ElementsAre("a=1, b=1, c=1", "a=2, b=2, c=2"));
}

TEST_F(PageChoiceTest, RunsThatAreEqualInAllAreNamedByTheirFolder) {
  add_point("0001-a-1a2b3c4d", {});
  add_point("0002-a-1a2b3c4d", {});
  open();
  ASSERT_TRUE(wait_for_chart("#curves"));
  EXPECT_THAT(texts(kLegend), ElementsAre("grid, point 0001", "grid, point 0002"));
}

TEST_F(PageChoiceTest, NoTwoColumnsHaveOneName) {
  for (const char* value : {"1", "2"}) {
    SyntheticRun run;
    run.axes = {{"dataset.seed", value}, {"model.width", value}, {"noise.width", value}, {"train.status", value}};
    add_point(value, run);
  }
  open();
  const std::vector<std::string> names = texts("#leaderboard thead th");
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size()) << ::testing::PrintToString(names);
  EXPECT_THAT(names, Contains("dataset.seed"));
  EXPECT_THAT(names, Contains("model.width"));
  EXPECT_THAT(names, Contains("noise.width"));
  const auto labels = browser_->evaluate("[...document.querySelectorAll('#filters select')].map((s) => s.ariaLabel)");
  EXPECT_EQ(std::set<std::string>(labels.begin(), labels.end()).size(), labels.size()) << labels;
}

TEST_F(PageChoiceTest, ManyAxesDoNotPushTheFiguresAway) {
  for (const char* value : {"1", "2"}) {
    SyntheticRun run;
    for (int i = 0; i < 10; ++i) run.axes["model.a" + std::to_string(i)] = value;
    add_point(value, run);
  }
  open();
  const std::vector<std::string> names = texts("#leaderboard thead th");
  EXPECT_LT(std::find(names.begin(), names.end(), "final bits"), std::find(names.begin(), names.end(), "a0"));
  EXPECT_EQ(text("#filters summary"), "2 more axes");
  EXPECT_EQ(browser_->evaluate("document.querySelector('#filters details').open"), false);
  choose("a9", "2");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#leaderboard tbody tr').length === 1"));
  EXPECT_EQ(browser_->evaluate("document.querySelector('#filters details').open"), true);
}

TEST_F(PageChoiceTest, BitsOfOtherDataOrUnitsAreRankedApart) {
  const auto text_of = [](const std::string& hash, const std::string& unit) {
    return [hash, unit](RunRecord& record) {
      record.config["dataset"] = {{"name", "text"}, {"path", "a.txt"}};
      record.dataset->name = "text";
      record.dataset->sha256 = hash + std::string(64 - hash.size(), '0');
      record.dataset->unit = unit;
    };
  };
  SyntheticRun run;
  run.final_bits = 2.0;
  add_run("first", run, text_of("aaaa", "byte"));
  run.final_bits = 1.0;
  add_run("other-text", run, text_of("bbbb", "byte"));  // a file of the same name with another text
  run.final_bits = 3.0;
  add_run("same-text", run, text_of("aaaa", "byte"));
  run.final_bits = 0.5;
  add_run("other-unit", run, text_of("aaaa", "token"));
  open("#/?experiment=*");
  EXPECT_THAT(texts("#leaderboard tr.data"), ElementsAre("on text a.txt, sha256 aaaa00000000, bits per byte",
                                                         "on text a.txt, sha256 aaaa00000000, bits per token",
                                                         "on text a.txt, sha256 bbbb00000000, bits per byte"));
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('#leaderboard tbody tr:not(.data)')].map((row) => "
                               "row.cells[2].innerText.trim()).join(' ')"),
            "first same-text other-unit other-text");
  // Curves on different data are not drawn together, and the note says so.
  ASSERT_TRUE(wait_for_chart("#curves"));
  EXPECT_THAT(text("#curves-note"), HasSubstr("All 2 runs below on text a.txt, sha256 aaaa"));
}

TEST_F(PageChoiceTest, TheCurvesOfChosenRunsAreDrawn) {
  add_grid();
  open();
  ASSERT_TRUE(wait_for_chart("#curves"));
  EXPECT_THAT(text("#curves-note"), HasSubstr("All 4 runs below"));
  for (const char* point : {"512-0", "2048-1"}) {
    tick(std::string("sweeps/grid/points/") + point);
    ASSERT_TRUE(browser_->wait_for("location.hash.includes('" + std::string(point) + "')"));
  }
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#chosen').innerText.includes('2 runs chosen')"));
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#curves-note').innerText.includes('that you chose')"));
  EXPECT_THAT(texts(kLegend), ElementsAre("population=512, seed=0", "population=2048, seed=1"));

  // The link shows the same in another window.
  const std::string link = browser_->evaluate("location.hash");
  browser_->open("about:blank");
  open(link);
  ASSERT_TRUE(wait_for_chart("#curves"));
  EXPECT_THAT(texts(kLegend), ElementsAre("population=512, seed=0", "population=2048, seed=1"));
  EXPECT_EQ(browser_->evaluate("document.querySelectorAll('#leaderboard input:checked').length"), 2);
  tick("sweeps/grid/points/512-0");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#chosen').innerText.includes('1 run chosen')"));
  EXPECT_THAT(address(), Not(HasSubstr("512-0")));
  click("#chosen button");
  ASSERT_TRUE(browser_->wait_for("!document.querySelector('#chosen')"));
}

// The code of `eggroll report` makes the page of findings and its numbers.
TEST_F(PageChoiceTest, FindingsAreThoseOfTheSweepsFolderAndLeadToRuns) {
  add_grid();
  write_sweep_file({{"points", 4}});
  open();
  browser_->open(browser_->evaluate("document.querySelector('#progress a').href"));
  ASSERT_TRUE(browser_->wait_for("document.querySelector('h1')?.innerText === 'Findings: grid'"));
  EXPECT_THAT(text("body"), HasSubstr("The best is population=2048: 3.125"));
  EXPECT_GT(browser_->evaluate("document.querySelectorAll('figure svg path').length").get<int>(), 10);
  // Its script sorts a table.
  EXPECT_TRUE(browser_->wait_for("document.querySelector('th').title === 'sort'"));
  browser_->open(
      browser_->evaluate("[...document.querySelectorAll('a')].find((a) => a.innerText === 'points/512-1').href"));
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#title')"));
  EXPECT_THAT(text("#title"), HasSubstr("sweeps/grid/points/512-1"));
}

TEST_F(PageChoiceTest, TheLinkToFindingsNamesAFolderThatHoldsOnlyChosenRuns) {
  add_grid();
  write_sweep_file({{"points", 4}});
  std::string chosen = "#/?";
  for (const char* point : {"512-0", "512-1", "2048-0", "2048-1"}) {
    chosen += std::string("&run=sweeps/grid/points/") + point;
  }
  open(chosen);
  const std::string query = "decodeURIComponent(document.querySelector('#chosen a').search)";
  EXPECT_EQ(browser_->evaluate(query), "?folder=sweeps/grid");
  browser_->evaluate("location.hash = '#/?run=sweeps/grid/points/512-0&run=sweeps/grid/points/512-1'");
  EXPECT_TRUE(browser_->wait_for(query + " === '?folder=sweeps/grid/points/512-0&folder=sweeps/grid/points/512-1'"));
  // The sweep now has runs in two folders, and neither folder holds all of them.
  SyntheticRun run;
  run.seed = 9;
  write_synthetic_run(results_ / "again/points/512-9", run);
  EXPECT_TRUE(browser_->wait_for("document.querySelector('#progress a').search === '?folder=.'"));
}

TEST_F(PageChoiceTest, ControlsHaveNamesAndKeepTheFocus) {
  const std::string running = add_running();
  add_grid();
  open();
  ASSERT_TRUE(wait_for_chart("#curves"));
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('a, button, input, select, canvas')].filter((one) => "
                               "!(one.ariaLabel || one.innerText || one.labels?.[0]?.innerText)).map((one) => "
                               "one.outerHTML).join()"),
            "");
  EXPECT_THAT(browser_->evaluate("document.querySelector('#curves').ariaLabel").get<std::string>(),
              HasSubstr("population=2048, seed=0 ends at 3"));
  // The table is made anew when a run writes, and the focus stays where it was.
  const std::string box = "document.querySelector('input[aria-label=\"choose sweeps/grid/points/512-0\"]')";
  browser_->evaluate("window.before = " + box + "; window.before.focus()");
  append_evaluation(running, 30, 2.5);
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#leaderboard').innerText.includes('2.5000')"));
  EXPECT_EQ(browser_->evaluate("document.activeElement === " + box + " && window.before !== " + box), true);
  // A focused control has an outline.
  browser_->call("Input.dispatchKeyEvent",
                 {{"type", "keyDown"}, {"key", "Tab"}, {"code", "Tab"}, {"windowsVirtualKeyCode", 9}});
  EXPECT_EQ(browser_->evaluate("getComputedStyle(document.activeElement).outlineStyle"), "solid");
}

}  // namespace
}  // namespace eggroll::test
