// The server's knowledge of a results folder: the figures of its runs, recent changes, damage, and files that are no
// records.
#include "serve/watch.h"

#include <sys/stat.h>

#include "record/seal.h"
#include "serve/results.h"
#include "serve/summary.h"
#include "support/patience.h"

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using WatchTest = ResultsTest;

TEST_F(WatchTest, SummariesHaveTheFiguresOfRecordsAndMetrics) {
  add_grid();
  write_sweep_file({{"question", "Which?"}, {"seeds", {0, 1}}, {"points", 7}});
  Watch watch(results_);
  // There are no results before all folders are read.
  EXPECT_EQ(watch.runs("").at("reading"), ordered_json::parse(R"({"read": 0, "of": null})"));
  watch.look();
  const ordered_json reply = watch.runs("");
  EXPECT_EQ(reply.at("reading"), nullptr);
  EXPECT_EQ(reply.at("all"), true);
  EXPECT_EQ(reply.at("unread"), 0);
  EXPECT_EQ(reply.at("sweeps"),
            ordered_json::parse(R"([{"name": "grid", "folder": "sweeps/grid", "points": 7, "question": "Which?"}])"));
  EXPECT_THAT(folders_in(reply), ElementsAre("sweeps/grid/points/2048-0", "sweeps/grid/points/2048-1",
                                             "sweeps/grid/points/512-0", "sweeps/grid/points/512-1"));
  const ordered_json run = run_in(reply, "sweeps/grid/points/2048-1");
  EXPECT_EQ(run.at("status"), "completed");
  EXPECT_EQ(run.at("sweep"), "grid");
  EXPECT_EQ(run.at("seed"), 1);
  EXPECT_EQ(run.at("axes"), ordered_json::parse(R"({"train.population": "2048"})"));
  EXPECT_DOUBLE_EQ(run.at("bits"), 3.25);
  EXPECT_FALSE(run.contains("bits_so_far"));
  EXPECT_EQ(run.at("steps"), 100);
  EXPECT_EQ(run.at("planned_steps"), 100);
  EXPECT_DOUBLE_EQ(run.at("tokens_per_second"), 2048 * kSyntheticTokens / 0.01);
  EXPECT_DOUBLE_EQ(run.at("baselines").at("unigram"), 5.0);
  EXPECT_DOUBLE_EQ(run.at("baselines").at("entropy rate"), 0.5);
}

TEST_F(WatchTest, RunsOutsideASweepHaveTheirOverridesAsAxes) {
  SyntheticRun run;
  run.sweep = "";
  run.axes = {{"model.width", 32}};
  write_synthetic_run(results_ / "runs/plain-1", run);
  Watch watch(results_);
  watch.look();
  const ordered_json seen = run_in(watch.runs(""), "runs/plain-1");
  EXPECT_EQ(seen.at("sweep"), nullptr);
  EXPECT_EQ(seen.at("axes"), ordered_json::parse(R"({"model.width": "32"})"));
}

// JSON and addresses hold no broken UTF-8, so the folder's name is given as text that leads to it.
TEST_F(WatchTest, AFolderWhoseNameIsNoTextIsFoundByTheNameThatIsTold) {
  write_synthetic_run(results_ / "runs" / "a\xff\033", {});
  Watch watch(results_);
  watch.look();
  const std::string told = watch.runs("").at("runs").at(0).at("folder");
  EXPECT_EQ(told, "runs/a\\xff\\x1b");
  EXPECT_TRUE(watch.run(told));
  EXPECT_TRUE(watch.curves(told));
  EXPECT_TRUE(watch.run("runs/a\xff\033"));
  EXPECT_FALSE(watch.run("runs/a"));
}

TEST_F(WatchTest, OnlyWhatChangedIsToldAgain) {
  add_grid();
  const std::string running = add_running();
  Watch watch(results_);
  watch.look();
  const ordered_json first = watch.runs("");
  watch.look();
  const ordered_json same = watch.runs(first.at("version").get<std::string>());
  EXPECT_EQ(same.at("version"), first.at("version"));
  EXPECT_EQ(same.at("all"), false);
  EXPECT_THAT(same.at("runs"), IsEmpty());

  const ordered_json before = run_in(first, running);
  EXPECT_EQ(before.at("steps"), 20);
  append_evaluation(running, 30, 2.5);
  // The watch reads a run's metrics in at most a tenth of the time, so this look may be too early.
  ordered_json grown;
  ASSERT_TRUE(wait_patiently([&] {
    watch.look();
    grown = watch.runs(first.at("version").get<std::string>());
    return !grown.at("runs").empty();
  }));
  EXPECT_THAT(folders_in(grown), ElementsAre(running));
  const ordered_json after = run_in(grown, running);
  EXPECT_EQ(after.at("steps"), 30);
  EXPECT_EQ(after.at("bits"), 2.5);
  EXPECT_EQ(after.at("bits_so_far"), true);
  EXPECT_NE(after.at("curve"), before.at("curve"));

  fs::remove_all(results_ / running);
  watch.look();
  const ordered_json gone = watch.runs(grown.at("version").get<std::string>());
  EXPECT_THAT(gone.at("removed"), ElementsAre(running));
  EXPECT_THAT(gone.at("runs"), IsEmpty());
  EXPECT_EQ(watch.run(running), std::nullopt);
}

TEST_F(WatchTest, ARunThatWasKilledIsInterruptedThoughNoFileChanges) {
  const std::string folder = add_running();
  append_evaluation(folder, 30, 2.5);
  Watch watch(results_);
  watch.look();
  const ordered_json before = watch.runs("");
  EXPECT_EQ(run_in(before, folder).at("status"), "running");
  kill_running();
  watch.look();
  const ordered_json after = watch.runs(before.at("version").get<std::string>());
  const ordered_json killed = run_in(after, folder);
  EXPECT_EQ(killed.at("status"), "interrupted");
  EXPECT_THAT(killed.at("why").get<std::string>(), HasSubstr("its process died"));
  EXPECT_EQ(killed.at("steps"), 30) << "of the metrics, which are newer than the record";
  watch.look();
  EXPECT_EQ(watch.runs("").at("version"), after.at("version")) << "it is told once";
  // Somebody resumes it.
  const RunLock lock(results_ / folder);
  watch.look();
  EXPECT_EQ(run_in(watch.runs(""), folder).at("status"), "running");
}

TEST_F(WatchTest, RepliesOfAnotherProcessAreToldAllAgain) {
  add_grid();
  Watch watch(results_);
  watch.look();
  for (const char* since : {"deadbeef.3", "3", "nonsense", "deadbeef."}) {
    const ordered_json reply = watch.runs(since);
    EXPECT_EQ(reply.at("all"), true) << since;
    EXPECT_EQ(reply.at("runs").size(), 4U) << since;
  }
}

TEST_F(WatchTest, CurvesHaveEveryEvaluationAndTheTrainingBits) {
  const std::string running = add_running();
  Watch watch(results_);
  watch.look();
  const ordered_json curves = *watch.curves(running);
  EXPECT_EQ(curves.at("held_out").at("step"), ordered_json({0, 10, 20}));
  EXPECT_EQ(curves.at("held_out").at("bits").at(0), 8.0);
  EXPECT_EQ(curves.at("held_out").at("bits").at(2), 4.0);
  EXPECT_EQ(curves.at("train").at("step").size(), 20U);
  EXPECT_EQ(curves.at("train").at("tokens").at(19), 20 * 2048 * kSyntheticTokens);
  EXPECT_DOUBLE_EQ(curves.at("train").at("seconds").at(19), 0.2);
}

TEST_F(WatchTest, ARunsPageHasRecordMonitorSamplesLogAndConfiguration) {
  SyntheticRun run;
  run.status = RunStatus::kFailed;
  run.monitor_every = 50;
  const std::string folder = add_point("0", run);
  write_plainly(results_ / folder / "samples.txt", "caf\xc3\xa9 \xff");
  write_plainly(results_ / folder / "log.txt", std::string(100'000, 'a') + "\nthe last line\n");
  write_plainly(results_ / folder / "config.yaml", sealed_text("seed: 0\n"));
  Watch watch(results_);
  watch.look();
  const ordered_json page = *watch.run(folder);
  EXPECT_EQ(page.at("summary").at("why"), "the process died");
  EXPECT_EQ(page.at("record").at("failure").at("detail"), "SIGSEGV");
  EXPECT_EQ(page.at("monitor").at("step"), 100);
  EXPECT_EQ(page.at("monitor").at("monitor").at("verdicts").at(0), "head: 40 % of values at \u00b1127");
  EXPECT_EQ(page.at("samples"), "caf\xc3\xa9 \xff");
  EXPECT_EQ(page.at("log"), "the last line\n");
  EXPECT_EQ(page.at("config"), sealed_text("seed: 0\n"));
}

TEST_F(WatchTest, TheMonitorsNumbersAreToldOverTimeAndThinnedWhereTheyAreMany) {
  const auto series = [](const ordered_json& monitor) {
    std::map<std::string, ordered_json> columns;
    for (const ordered_json& column : monitor.at("series")) columns[column.at(0)] = column.at(1);
    return columns;
  };
  SyntheticRun run;
  run.monitor_every = 25;
  const std::string few = add_point("few", run);
  run.monitor_every = 1;
  run.steps = 2 * kMostLooks + 1;
  const std::string many = add_point("many", run);
  Watch watch(results_);
  watch.look();
  const ordered_json monitor = watch.run(few)->at("monitor");
  EXPECT_EQ(monitor.at("steps"), ordered_json({25, 50, 75, 100}));
  EXPECT_EQ(monitor.at("every"), 1);
  const auto columns = series(monitor);
  EXPECT_EQ(columns.size(), 2U * 6 + 2 + 6 + 2);  // less "op", which is no number; two figures of the monitor's own
  EXPECT_EQ(columns.at("values.head.saturated"), ordered_json({0.4, 0.4, 0.4, 0.4}));
  EXPECT_EQ(columns.at("heads.mixed.0.largest").size(), 4U);
  EXPECT_EQ(columns.at("tensors.embedding.moved").at(3), 0.1);

  const ordered_json thinned = watch.run(many)->at("monitor");
  EXPECT_EQ(thinned.at("every"), 3);
  EXPECT_EQ(thinned.at("steps").size(), 134U);
  EXPECT_EQ(thinned.at("steps").at(0), 2);
  EXPECT_EQ(thinned.at("steps").back(), run.steps);
  for (const auto& [key, values] : series(thinned)) EXPECT_EQ(values.size(), 134U) << key;
}

TEST_F(WatchTest, TheBestOfARunningRunIsThatOfItsMetricsWhereTheRecordIsOlder) {
  SyntheticRun run;
  run.status = RunStatus::kRunning;
  const std::string folder = add_point("0", run);
  RunRecord record = synthetic_record(run);
  record.newest = record.best = Evaluation{50, 4.5, 1000, "token"};
  write_record(results_ / folder / "record.json", record);
  Watch watch(results_);
  watch.look();
  EXPECT_EQ(run_in(watch.runs(""), folder).at("bits"), 4.0);
  EXPECT_EQ(run_in(watch.runs(""), folder).at("best"), 4.0);
}

TEST_F(WatchTest, DataOfAFileHaveItsHash) {
  SyntheticRun run;
  RunRecord record = synthetic_record(run);
  const auto data_in = [&](const std::string& folder) {
    fs::create_directories(results_ / folder);
    write_record(results_ / folder / "record.json", record);
    Watch watch(results_);
    watch.look();
    return run_in(watch.runs(""), folder).at("data");
  };
  EXPECT_EQ(data_in("generated"), "count, bits per token");  // from a seed: the hash differs between seeds
  record.config["dataset"] = {{"name", "text"}, {"path", "a.txt"}};
  EXPECT_EQ(data_in("file"), "count a.txt, sha256 222222222222, bits per token");
}

TEST_F(WatchTest, JsonThatNestsDeepIsNamedAndTheRestShown) {
  add_grid();
  const std::string folder = add_point("deep", {});
  Watch watch(results_);
  watch.look();
  write_plainly(results_ / folder / "record.json", deep_json());
  write_plainly(results_ / "sweeps/grid/sweep.json", deep_json());
  write_plainly(results_ / "other.json", deep_json());
  watch.look();
  const ordered_json reply = watch.runs("");
  EXPECT_EQ(reply.at("runs").size(), 5U);
  EXPECT_EQ(run_in(reply, folder).at("status"), "unreadable");
  EXPECT_THAT(run_in(reply, folder).at("why").get<std::string>(), HasSubstr("record.json has more than 100 levels"));
  EXPECT_EQ(reply.at("problems").size(), 2U);
  EXPECT_EQ(watch.run(folder)->at("record"), nullptr);
}

TEST_F(WatchTest, LinksAreNotFollowedAndFifosNotWaitedFor) {
  add_grid();
  const std::string linked = add_point("linked", {});
  const std::string waiting = add_point("waiting", {});
  write_plainly(folder_ / "secret", "secret");
  for (const char* name : {"samples.txt", "log.txt", "config.yaml"}) {
    fs::remove(results_ / linked / name);
    fs::create_symlink(folder_ / "secret", results_ / linked / name);
    fs::remove(results_ / waiting / name);
    ASSERT_EQ(::mkfifo((results_ / waiting / name).c_str(), 0600), 0);
  }
  fs::remove(results_ / waiting / "metrics.jsonl");
  ASSERT_EQ(::mkfifo((results_ / waiting / "metrics.jsonl").c_str(), 0600), 0);
  fs::create_symlink("circle", results_ / "circle");
  Watch watch(results_);
  watch.look();
  for (const std::string& folder : {linked, waiting}) {
    const ordered_json run = *watch.run(folder);
    for (const char* text : {"samples", "log", "config"}) EXPECT_EQ(run.at(text), nullptr) << folder << text;
    EXPECT_THAT(run.dump(), Not(HasSubstr("secret")));
  }
  const ordered_json reply = watch.runs("");
  EXPECT_EQ(reply.at("runs").size(), 6U);
  ASSERT_EQ(reply.at("problems").size(), 1U);
  EXPECT_THAT(reply.at("problems")[0].get<std::string>(), HasSubstr("results/circle is a link that leads nowhere"));
}

TEST_F(WatchTest, PublishedRecordsAreRunsWithoutAFolder) {
  write_record(results_ / "published.json", synthetic_record({}));
  write_plainly(results_ / "benchmarks.json", R"({"context": {}})");
  Watch watch(results_);
  watch.look();
  const ordered_json reply = watch.runs("");
  EXPECT_THAT(folders_in(reply), ElementsAre("published.json"));
  EXPECT_EQ(reply.at("runs").at(0).at("has_curve"), false);
  EXPECT_EQ(reply.at("other_files"), 1);
  EXPECT_THAT(reply.at("problems"), IsEmpty());
  EXPECT_EQ(watch.run("published.json")->at("record").at("name"), "grid");
  // The file becomes a record and counts as a run from now on.
  write_record(results_ / "benchmarks.json", synthetic_record({}));
  watch.look();
  EXPECT_THAT(folders_in(watch.runs("")), ElementsAre("benchmarks.json", "published.json"));
}

// Half a line of a writer at work is not a problem.
TEST_F(WatchTest, DamageOfARunThatGoesOnIsSaid) {
  const std::string folder = add_running();
  const std::string text = read_file(results_ / folder / "metrics.jsonl");
  const auto problems_of = [&](const std::string& metrics) {
    write_plainly(results_ / folder / "metrics.jsonl", metrics);
    Watch watch(results_);
    watch.look();
    return run_in(watch.runs(""), folder).at("problems").dump();
  };
  EXPECT_EQ(problems_of(text + "{\"step\":"), "[]");
  EXPECT_THAT(problems_of("{\n" + text), HasSubstr("1 of the 22 lines"));
  EXPECT_THAT(problems_of(text + "{\"step\":21}\n"), HasSubstr("1 of the 22 lines"));
  EXPECT_THAT(problems_of(text.substr(0, text.rfind('\n', text.size() - 2) + 1)), HasSubstr("lines are missing"));
}

TEST_F(WatchTest, AConfigurationThatHasChangedSaysSo) {
  const std::string folder = add_point("0", {});
  const std::string text = sealed_text("seed: 0\n");
  const auto shown = [&](const std::string& config) {
    write_plainly(results_ / folder / "config.yaml", config);
    Watch watch(results_);
    watch.look();
    return watch.run(folder)->at("config").get<std::string>();
  };
  EXPECT_EQ(shown(text), text);
  for (const std::string& unsealed : {std::string("seed: 0\n"), std::string(text.size() - 3, '\0') + " 0\n"}) {
    EXPECT_EQ(shown(unsealed), "# No checksum: this file was changed, or damaged, since it was written.\n" + unsealed);
  }
  // Only the beginning of a long one is read.
  const std::string long_text = sealed_text("# " + std::string(100'000, 'a') + "\n");
  EXPECT_THAT(shown(long_text), testing::StartsWith("# sha256"));
  EXPECT_THAT(shown(long_text.substr(80)), testing::StartsWith("# No checksum"));
  for (const std::string& changed : {text + "more: 1\n", text.substr(0, 8), std::string()}) {
    EXPECT_THAT(shown(changed), HasSubstr("/config.yaml has changed since it was written; restore it"));
  }
}

TEST_F(WatchTest, WhatIsDamagedIsSaid) {
  const std::string whole = add_point("0", {});
  const std::string cut = add_point("1", {});
  write_plainly(results_ / cut / "record.json", R"({"schema": 2, "name)");
  write_plainly(results_ / "broken.json", "{");
  std::ofstream(results_ / whole / "metrics.jsonl", std::ios::app) << "not json\n";
  Watch watch(results_);
  watch.look();
  const ordered_json reply = watch.runs("");
  EXPECT_EQ(run_in(reply, cut).at("status"), "unreadable");
  EXPECT_THAT(run_in(reply, cut).at("why").get<std::string>(), HasSubstr("record.json"));
  EXPECT_THAT(run_in(reply, whole).at("problems").at(0).get<std::string>(), HasSubstr("damaged"));
  ASSERT_EQ(reply.at("problems").size(), 1U);
  EXPECT_THAT(reply.at("problems").at(0).get<std::string>(), HasSubstr("broken.json"));
  // The mended file counts as a run again.
  write_record(results_ / cut / "record.json", synthetic_record({}));
  watch.look();
  EXPECT_EQ(run_in(watch.runs(""), cut).at("status"), "completed");
}

TEST_F(WatchTest, AFolderThatIsARunItselfIsShown) {
  write_synthetic_run(results_, {});
  Watch watch(results_ / "");
  watch.look();
  EXPECT_THAT(folders_in(watch.runs("")), ElementsAre("."));
  EXPECT_NE(watch.run("."), std::nullopt);
}

TEST_F(WatchTest, NoFolderIsRefused) {
  EXPECT_THAT(message_of([&] { Watch(results_ / "none"); }), HasSubstr("is no folder"));
}

}  // namespace
}  // namespace eggroll::test
