// `eggroll sweep` of a search: whole, killed, shared by two runners and failing.
#include <fmt/format.h>

#include <regex>

#include "experiment/sweep_command.h"
#include "record/seal.h"

namespace eggroll::test {
namespace {

class SearchCommandTest : public SweepCommandTest {
 protected:
  SearchCommandTest() { write_search("hunt"); }

  void write_search(const std::string& name, const std::string& more = "") const {
    write_experiment(name,
                     "  seeds: [100, 101]\n"
                     "  search:\n"
                     "    params: [\"model.width=8,16,32\", \"noise.sigma_shift=int(interval(0, 4))\", "
                     "\"fitness=sign,zscore\"]\n"
                     "    sampler: tpe\n"
                     "    trials: 9\n"
                     "    startup: 5\n"
                     "    halving: {from: 5, by: 3}\n"
                     "    confirm: 2\n" +
                         more);
  }

  // The output from the table to its end.
  static std::string table_of(const Result& result) { return result.out.substr(result.out.find("trial  ")); }

  std::mt19937 random_{20261125};
};

TEST_F(SearchCommandTest, GoesOnFromCheckpointsAndConfirms) {
  EXPECT_THAT(list_points("hunt").out, HasSubstr("next in results/sweeps/hunt: 5 of 9 trials, to step 5\n"));
  const auto planned = nlohmann::json::parse(list_points("hunt", {"--json"}).out);
  EXPECT_EQ(planned.at("search").at("next"), "5 of 9 trials, to step 5");
  EXPECT_EQ(planned.at("left"), 10);
  const Result whole = good(sweep("hunt"));
  EXPECT_THAT(whole.out, HasSubstr("results/sweeps/hunt: 3 of 9 trials, to step 15\n"));
  EXPECT_THAT(whole.out, HasSubstr("on 2 fresh seeds: found "));
  size_t to_the_end = 0;
  for (const auto& entry : fs::directory_iterator(points("hunt"))) {
    const nlohmann::json record = record_in(entry.path());
    const uint64_t rung = record.at("sweep").at("search").at("rung");
    const uint64_t steps = record.at("steps");
    EXPECT_EQ(steps, (std::array<uint64_t, 3>{5, 15, 40}).at(rung)) << entry.path();
    // No step ran twice, and the measurement at a rung's end does not disturb the next rung.
    std::vector<uint64_t> lines = each_step_once(steps);
    if (steps < 40) lines.push_back(steps);  // a stopped run has one more line, for its stop
    EXPECT_EQ(steps_in(entry.path()), lines) << entry.path();
    EXPECT_EQ(record.at("final").at("step"), steps) << entry.path();
    // Trials that did not go on keep no checkpoint; their weights can be rebuilt from their journal.
    EXPECT_EQ(fs::is_empty(entry.path() / "checkpoints"), steps < 40) << entry.path();
    if (steps < 40) continue;
    ++to_the_end;
    // The same run without a search has the same weights.
    Arguments alone = {"run", "~sweep", "experiment=hunt", fmt::format("seed={}", record.at("seed").get<int>())};
    for (const auto& [axis, value] : record.at("sweep").at("axes").items()) {
      alone.push_back(axis + "=" + value.get<std::string>());
    }
    const Result run = own(alone);
    EXPECT_THAT(run.out, HasSubstr(record.at("weights_sha256").get<std::string>()));
  }
  EXPECT_EQ(to_the_end, 2U);
  const Result again = good(sweep("hunt"));
  EXPECT_EQ(table_of(again), table_of(whole));
  EXPECT_THAT(list_points("hunt").out, HasSubstr("the search in results/sweeps/hunt has ended"));
  const auto ended = nlohmann::json::parse(list_points("hunt", {"--json"}).out);
  EXPECT_EQ(ended.at("search").at("next"), nullptr);
  EXPECT_EQ(ended.at("folder"), "results/sweeps/hunt");
  EXPECT_EQ(ended.at("points").size(), 0U);
}

TEST_F(SearchCommandTest, KilledAndSharedItEndsWithTheSameTable) {
  const Result whole = good(sweep("hunt", {"results.sweeps=undisturbed"}));
  for (int kill = 0; kill < 8; ++kill) {
    Process first(work_, with_own({"sweep", "experiment=hunt", "--jobs", kill % 2 == 0 ? "2" : "1"}));
    Process second(work_, with_own({"sweep", "experiment=hunt"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(50 + random_() % 700));
    (kill % 2 == 0 ? first : second).signal(SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 200));
    (kill % 2 == 0 ? second : first).signal(SIGKILL);
    first.wait();
    second.wait();
  }
  Process first(work_, with_own({"sweep", "experiment=hunt"}));
  Process second(work_, with_own({"sweep", "experiment=hunt"}));
  const Result one = first.wait();
  const Result two = second.wait();
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(two.exit_code, 0) << two.err;
  const std::string table = std::regex_replace(table_of(whole), std::regex("undisturbed"), "results/sweeps");
  EXPECT_EQ(table_of(one), table);
  EXPECT_EQ(table_of(two), table);
  EXPECT_EQ(weights("hunt"), weights("hunt", "undisturbed"));
  EXPECT_EQ(read_file(work_ / "results/sweeps/hunt/search.jsonl"), read_file(work_ / "undisturbed/hunt/search.jsonl"));
}

TEST_F(SearchCommandTest, ABudgetEndsItAndMoreGoesOn) {
  write_search("spent", "  budget: {steps: 40}\n");
  const Result first = sweep("spent");
  expect_one_sentence(first, {"sweep.budget is spent (40 steps)", "raise it and run the same command to go on"});
  const Result still = sweep("spent");
  expect_one_sentence(still, {"sweep.budget is spent (40 steps)"});
  write_search("spent");
  const Result rest = good(sweep("spent"));
  EXPECT_EQ(table_of(rest), std::regex_replace(table_of(sweep("hunt")), std::regex("hunt"), "spent"));
}

TEST_F(SearchCommandTest, TrialsThatOtherArithmeticMadeAreNotDone) {
  ASSERT_EQ(sweep("hunt").exit_code, 0);
  const fs::path file = point("hunt", "0006-") / "record.json";
  nlohmann::ordered_json record = nlohmann::ordered_json::parse(read_file(file));
  record["rule_hash"] = "another";
  write_plainly(file, sealed(record).dump(2) + "\n");
  fs::remove_all(work_ / "results" / "sweeps" / "hunt" / "confirmation");  // so that the search goes on
  expect_one_sentence(sweep("hunt"), {"the run in results/sweeps/hunt/points/0006-", "made with another update rule"});
}

TEST_F(SearchCommandTest, ABudgetThatIsSpentAtTheEndHidesNothing) {
  ASSERT_EQ(sweep("hunt").exit_code, 0);
  write_search("hunt", "  budget: {steps: 1}\n");
  EXPECT_THAT(good(sweep("hunt")).out, HasSubstr("on 2 fresh seeds: found "));
}

TEST_F(SearchCommandTest, TheBreakerCountsOverRounds) {
  write_experiment(
      "breaking",
      "  seeds: [100]\n"
      "  search: {params: [\"model.width=8,16,24,32,40,48\"], sampler: tpe, trials: 6, startup: 1, batch: 1}\n");
  const Result result = sweep("breaking", {"optimizer=unruly", "optimizer.does=abort", "--breaker", "3"});
  expect_one_sentence(result, {"3 points failed in a row; the records in"});
  EXPECT_EQ(std::distance(fs::directory_iterator(points("breaking")), fs::directory_iterator()), 3);
}

// The range reaches beyond what the setting allows.
TEST_F(SearchCommandTest, TheEndsOfRangesAreCheckedFirst) {
  write_experiment("beyond",
                   "  search: {params: [\"optimizer.alpha=interval(0.8, 1.02)\"], sampler: tpe, trials: 4}\n");
  expect_one_sentence(sweep("beyond"), {"1 of 2 points cannot run, and nothing was begun", "1.02"});
  EXPECT_FALSE(fs::exists(work_ / "results/sweeps/beyond/search.jsonl"));
}

TEST_F(SearchCommandTest, FailedTrialsAreLastAndSaidAtTheEnd) {
  write_experiment("aborting",
                   "  seeds: [100]\n"
                   "  search: {params: [\"optimizer.does=nothing,abort\", \"model.width=8,16\"], sampler: random, "
                   "trials: 4}\n");
  const Result result = sweep("aborting", {"optimizer=unruly"});
  expect_one_sentence(result, {"2 trials failed; the records in results/sweeps/aborting say why, and --retry-failed"});
  EXPECT_THAT(table_of(result), HasSubstr("failed  optimizer.does=abort"));
  EXPECT_EQ(table_of(sweep("aborting", {"optimizer=unruly"})), table_of(result));
  const std::string again = sweep("aborting", {"optimizer=unruly", "--retry-failed"}).out;
  const std::regex begun("(^|\n)begun ");
  EXPECT_EQ(std::distance(std::sregex_iterator(again.begin(), again.end(), begun), std::sregex_iterator()), 2);
}

TEST_F(SearchCommandTest, ANumberOfAHookIsAMetric) {
  const fs::path hook = work_ / "steps.sh";
  write_plainly(hook, "#!/bin/sh\nsed 's/.*\"step\": *\\([0-9]*\\).*/{\"steps\": \\1}/'\n");
  fs::permissions(hook, fs::perms::owner_all);
  write_experiment("hooked",
                   "  seeds: [100]\n"
                   "  search: {params: [\"train.steps=20,40,30\"], sampler: sobol, trials: 3, metric: hook.steps, "
                   "goal: higher, confirm: 2}\n");
  const Result result = good(sweep("hooked", {"eval.hook=[" + hook.string() + "]"}));
  EXPECT_THAT(table_of(result),
              testing::MatchesRegex("trial +steps +hook.steps +settings\n.* 40 .*\n.* 30 .*\n.* 20 (.|\n)*"));
  EXPECT_THAT(result.out, HasSubstr("the best settings are the experiment's own"));
  const Result report = good(eggroll({"report", "results/sweeps/hooked"}));
  EXPECT_THAT(read_file(work_ / "results/sweeps/hooked/report/findings.md"),
              HasSubstr("then those with the highest hook.steps"));
}

}  // namespace
}  // namespace eggroll::test
