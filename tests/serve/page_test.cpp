// The page in a browser. It shows the runs, sorts, filters and draws them, follows them, treats their texts as plain
// text, and asks only its server.
#include "serve/page.h"

namespace eggroll::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(PageTest, ItShowsTheRunsAndHowFarTheyAre) {
  add_grid();
  add_running();
  SyntheticRun failed;
  failed.axes = {{"train.population", "512"}};
  failed.seed = 2;
  failed.status = RunStatus::kFailed;
  add_point("512-2", failed);
  write_sweep_file({{"question", "Which is best?"}, {"points", 9}});
  open();
  EXPECT_THAT(text("#progress"), HasSubstr("5 of 9 runs ended"));
  EXPECT_THAT(text("#progress"), HasSubstr("Which is best?"));
  EXPECT_EQ(text("#progress .counts"), "completed 4\nrunning 1\nfailed 1\nwaiting 3");
  EXPECT_THAT(column("run"), ElementsAre("2048-0", "2048-1", "512-0", "512-1", "512-2", "2048-2"));
  EXPECT_THAT(column("final bits"),
              ElementsAre("3.0000", "3.2500", "3.5000", "3.7500", "so far 4.0000", "so far 4.0000"));
  EXPECT_THAT(column("population"), ElementsAre("2048", "2048", "512", "512", "512", "2048"));
  EXPECT_THAT(column("steps"), ElementsAre("100", "100", "100", "100", "100", "20 of 20"));
}

// The server's answers say that it is still reading, until the test lets them.
TEST_F(PageTest, UntilAllRunsAreReadItShowsNoResult) {
  add_grid();
  browser_->call("Page.addScriptToEvaluateOnNewDocument", {{"source", R"(
    const ask = window.fetch;
    window.isRead = false;
    window.fetch = async (address, ...rest) => {
      const reply = await ask(address, ...rest);
      if (window.isRead || !String(address).startsWith("api/runs")) return reply;
      return new Response(JSON.stringify({...await reply.json(), reading: {read: 3, of: 9}}));
    };)"}});
  server_.emplace(results_, 0);
  address_ = server_->address();
  browser_->open(address_ + "#/");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#reading')"));
  EXPECT_THAT(text("#main"), AllOf(HasSubstr("Reading " + results_.string()), HasSubstr("3 of 9 runs")));
  EXPECT_TRUE(browser_->evaluate("document.querySelector('#progress, #leaderboard, #curves') === null"));
  browser_->evaluate("window.isRead = true");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#progress')"));
  EXPECT_THAT(text("#progress"), HasSubstr("4 of 4 runs ended"));
  EXPECT_TRUE(browser_->evaluate("document.querySelector('#reading') === null"));
}

TEST_F(PageTest, ItSorts) {
  add_grid();
  open();
  click_heading("final bits");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('th[aria-sort=descending]')"));
  EXPECT_THAT(column("run"), ElementsAre("512-1", "512-0", "2048-1", "2048-0"));
  click_heading("seed");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('th[aria-sort=ascending]')"));
  EXPECT_THAT(column("seed"), ElementsAre("0", "0", "1", "1"));
  click_heading("population");  // sorted as numbers: the text 2048 comes before 512
  ASSERT_TRUE(
      browser_->wait_for("document.querySelector('th[aria-sort=ascending]').innerText.startsWith('population')"));
  EXPECT_THAT(column("population"), ElementsAre("512", "512", "2048", "2048"));
}

TEST_F(PageTest, ItFilters) {
  add_grid();
  add_running();
  open();
  choose("population", "2048");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#leaderboard tbody tr').length === 3"));
  EXPECT_THAT(column("run"), ElementsAre("2048-0", "2048-1", "2048-2"));
  browser_->evaluate(
      "[...document.querySelectorAll('.counts button')].find((b) => b.innerText.includes('running')).click()");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#leaderboard tbody tr').length === 1"));
  EXPECT_THAT(column("status"), ElementsAre("running"));
  browser_->evaluate("location.hash = '#/?find=512-1'");
  EXPECT_TRUE(browser_->wait_for("document.querySelectorAll('#leaderboard tbody tr').length === 1"));
  EXPECT_THAT(column("run"), ElementsAre("512-1"));
}

TEST_F(PageTest, ItDrawsCurvesAndBaselines) {
  add_grid();
  open();
  ASSERT_TRUE(wait_for_chart("#curves"));
  EXPECT_GT(coloured_pixels("#curves"), 500);
  EXPECT_EQ(text(".legend .baselines"), "dashed: unigram 5.000, bigram 4.500, gzip 4.250, entropy rate 0.500");
  std::map<std::string, Browser::Json> lines;
  // The held-out line is drawn last, so that it lies above the training line.
  for (const auto& set : datasets("#curves")) lines[set.at("label")] = set.at("data");
  for (const auto& [name, level] :
       {std::pair{"unigram", 5.0}, {"bigram", 4.5}, {"gzip", 4.25}, {"entropy rate", 0.5}}) {
    EXPECT_EQ(lines.at(name).front().at("y"), level) << name;
  }
  const Browser::Json& held_out = lines.at("population=2048, seed=1");
  ASSERT_EQ(held_out.size(), 11U);
  EXPECT_EQ(held_out.back(), Browser::Json::parse(R"({"x": 100, "y": 3.25})"));
  choose("over", "tokens");
  EXPECT_TRUE(browser_->wait_for(
      "Chart.getChart(document.querySelector('#curves')).options.scales.x.title.text === 'member tokens'"));
}

TEST_F(PageTest, ItFollowsARunThatWrites) {
  const std::string running = add_running();
  open();
  ASSERT_TRUE(browser_->wait_for("Chart.getChart(document.querySelector('#curves'))"));
  EXPECT_THAT(column("final bits"), ElementsAre("so far 4.0000"));
  const std::string image = browser_->evaluate("document.querySelector('#curves').toDataURL()");
  append_evaluation(running, 30, 2.5);
  EXPECT_TRUE(browser_->wait_for("document.querySelector('#leaderboard').innerText.includes('2.5000')"));
  EXPECT_TRUE(browser_->wait_for("document.querySelector('#curves').toDataURL() !== " + quoted(image)));
  EXPECT_EQ(datasets("#curves").at(1).at("data").back(), Browser::Json::parse(R"({"x": 30, "y": 2.5})"));
  // A new run appears, and a deleted one disappears.
  add_point("another", {});
  EXPECT_TRUE(browser_->wait_for("document.querySelectorAll('#leaderboard tbody tr').length === 2"));
  fs::remove_all(results_ / running);
  EXPECT_TRUE(browser_->wait_for("document.querySelectorAll('#leaderboard tbody tr').length === 1"));
  EXPECT_THAT(column("run"), ElementsAre("another"));
  // When the server ends, the page says so.
  server_.reset();
  EXPECT_TRUE(browser_->wait_for("document.querySelector('#notice').innerText.includes('not up to date')"));
}

TEST_F(PageTest, ARunsPageShowsAllThereIsOfIt) {
  SyntheticRun run;
  run.axes = {{"train.population", "512"}};
  run.status = RunStatus::kFailed;
  run.monitor_every = 50;
  const std::string folder = add_point("0", run);
  write_plainly(results_ / folder / "samples.txt", "the sampled text");
  write_plainly(results_ / folder / "log.txt", "the end of the log");
  write_plainly(results_ / folder / "config.yaml", "seed: 0  # of the file\n");
  open();
  browser_->evaluate("document.querySelector('#leaderboard a').click()");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#record')"));
  EXPECT_THAT(text("#title"), HasSubstr(folder));
  EXPECT_EQ(text("#why"), "the process died");
  EXPECT_THAT(text("#facts"), HasSubstr("4.0000 bits per token so far"));
  EXPECT_THAT(text("#monitor"), HasSubstr("after step 100"));
  EXPECT_THAT(text("#monitor li"), HasSubstr("head: 40 % of values at \u00b1127"));
  EXPECT_THAT(text("#samples pre"), HasSubstr("the sampled text"));
  EXPECT_THAT(text("#log pre"), HasSubstr("the end of the log"));
  for (const char* closed : {"#config", "#record"}) {
    browser_->evaluate("document.querySelector('" + std::string(closed) + " details').open = true");
  }
  EXPECT_THAT(text("#config pre"), HasSubstr("# of the file"));
  EXPECT_THAT(text("#record pre"), HasSubstr("\"detail\": \"SIGSEGV\""));
  EXPECT_GT(coloured_pixels("#curves"), 200);
  browser_->evaluate("location.hash = '#/run?folder=none'");
  EXPECT_TRUE(browser_->wait_for("document.body.innerText.includes('No run is in none, which the address')"));
}

TEST_F(PageTest, TextOfFilesIsNeverMarkup) {
  const std::string attack = "<img src=x onerror=window.attacked=1>";
  SyntheticRun run;
  run.axes = {{"model.name", attack}};
  const std::string folder = add_point(attack, run);
  run.axes = {{"model.name", "other"}};
  add_point("other", run);
  RunRecord record = synthetic_record(run);
  record.name = attack;
  record.sweep->name = attack;
  record.sweep->axes = {{attack, attack}, {"model.name", attack}};
  record.status = RunStatus::kFailed;
  record.error = attack;
  record.device = attack;
  record.verdicts = Verdicts{1, {attack}};
  write_record(results_ / folder / "record.json", record);
  for (const char* name : {"samples.txt", "log.txt", "config.yaml"}) write_plainly(results_ / folder / name, attack);
  write_plainly(
      results_ / folder / "metrics.jsonl",
      sealed_line({{"step", 1},
                   {"held_out_bits_per_unit", 3.0},
                   {"monitor",
                    {{"verdicts", {attack}},
                     {"values", {{attack, {{"op", attack}, {attack, attack}, {"saturated", 0.1}, {"constant", 0.1}}}}},
                     {"heads", ordered_json::object()},
                     {"vote_deviations", nullptr},
                     {"tensors", {{attack, {{"saturated", 0.1}}}}}}}}) +
          "\n");
  write_sweep_file({{"name", attack}, {"question", attack}, {"points", 2}});
  open("#/?experiment=*");
  EXPECT_THAT(column("run"), ::testing::Contains(attack));
  EXPECT_THAT(text("#progress"), HasSubstr(attack));
  browser_->evaluate(
      "[...document.querySelectorAll('#leaderboard a')].find((a) => a.innerText.includes('img')).click()");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#record')"));
  for (const char* part : {"#title", "#why", "#facts", "#monitor", "#samples", "#log"}) {
    EXPECT_THAT(text(part), HasSubstr(attack)) << part;
  }
  EXPECT_EQ(browser_->evaluate("document.querySelectorAll('img').length"), 0);
  EXPECT_EQ(browser_->evaluate("window.attacked ?? null"), nullptr);
}

TEST_F(PageTest, StepsDoneHaveAHeadingOfTheirOwn) {
  for (const uint64_t steps : {100U, 200U}) {
    SyntheticRun run;
    run.steps = steps;
    run.axes = {{"train.steps", std::to_string(steps)}};
    add_point(std::to_string(steps), run);
  }
  open();
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('#leaderboard th')].map((th) => th.innerText.trim())"
                               ".filter((text) => text.startsWith('steps')).join()"),
            "steps,steps done");
}

TEST_F(PageTest, ThePageOpensOnTheNewestExperimentAndSaysWhereTheAddressNamesNone) {
  add_grid();
  for (const char* name : {"alpha", "zeta"}) {
    SyntheticRun run;
    run.sweep = name;
    RunRecord record = synthetic_record(run);
    record.started_utc = name == std::string("zeta") ? "2026-01-02T04:00:00Z" : "2026-01-02T01:00:00Z";
    fs::create_directories(results_ / name);
    write_record(results_ / name / "record.json", record);
  }
  open();
  EXPECT_EQ(browser_->evaluate("document.querySelector('select[aria-label=experiment]').value"), "zeta (sweep)");
  EXPECT_THAT(column("run"), ElementsAre("zeta"));
  EXPECT_EQ(browser_->evaluate("document.querySelector('#unknown')"), nullptr);
  browser_->evaluate("location.hash = '#/?experiment=none'");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#unknown')"));
  EXPECT_THAT(text("#unknown"), HasSubstr("No run is of the experiment \u201cnone\u201d"));
  EXPECT_THAT(text("#unknown"), HasSubstr("There are: zeta (sweep), grid (sweep), alpha (sweep)"));
  EXPECT_TRUE(column("run").empty());
  browser_->evaluate("[...document.querySelectorAll('#unknown a')].pop().click()");
  ASSERT_TRUE(browser_->wait_for("!document.querySelector('#unknown')"));
  EXPECT_THAT(column("run"), ElementsAre("alpha"));
}

TEST_F(PageTest, AllExperimentsHaveTheirDefaultsAndEachDataItsOwnOrder) {
  add_grid();
  SyntheticRun plain;
  plain.sweep = "";
  plain.population = 1024;
  plain.final_bits = 9.0;
  write_synthetic_run(results_ / "plain", plain);
  SyntheticRun other;
  other.sweep = "other";
  other.axes = {{"dataset.path", "other.txt"}};
  other.final_bits = 1.0;
  write_synthetic_run(results_ / "other", other);
  open("#/?experiment=*");
  EXPECT_THAT(texts("#leaderboard tr.data"),
              ElementsAre("on count other.txt, bits per token", "on count, bits per token"));
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('#leaderboard tbody tr:not(.data)')].map((row) => "
                               "row.cells[2].innerText.trim()).join(' ')"),
            "other 2048-0 2048-1 512-0 512-1 plain");
  EXPECT_EQ(browser_->evaluate(
                "(() => { const at = [...document.querySelectorAll('#leaderboard thead th')].findIndex((th) => "
                "th.innerText.trim() === 'population'); return [...document.querySelectorAll('#leaderboard tbody "
                "tr:not(.data)')].map((row) => row.cells[at].innerText.trim()).join(' '); })()"),
            "512 2048 2048 512 512 1024");
}

TEST_F(PageTest, PointsOfASweepAreNamedByTheirNumber) {
  const std::string folder = add_point("0003-population=512,seed=0-1a2b3c4d", {});
  open();
  EXPECT_THAT(column("run"), ElementsAre("0003"));
  EXPECT_EQ(browser_->evaluate("document.querySelector('#leaderboard td.name').title"), folder);
  // A published record has the same name, with an ending.
  write_record(results_ / "0004-population=512,seed=0-1a2b3c4d.json", synthetic_record({}));
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#leaderboard tbody tr').length === 2"));
  EXPECT_THAT(column("run"), ::testing::UnorderedElementsAre("0003", "0004"));
}

TEST_F(PageTest, ManyRowsAreShownWhenAskedFor) {
  for (uint64_t i = 0; i < 210; ++i) {
    SyntheticRun run;
    run.seed = i;
    run.steps = 1;
    add_point(std::to_string(i), run);
  }
  open();
  ASSERT_TRUE(browser_->wait_for("document.querySelector('.more button')"));  // the server may still be reading
  EXPECT_EQ(column("run").size(), 200U);
  browser_->evaluate("document.querySelector('.more button').click()");
  EXPECT_TRUE(browser_->wait_for("document.querySelectorAll('#leaderboard tbody tr').length === 210"));
}

}  // namespace
}  // namespace eggroll::test
