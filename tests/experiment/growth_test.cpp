// A sweep's folder keeps its points when its grid, its files, its plugins or its place change.
#include "experiment/sweep_command.h"
#include "record/seal.h"

namespace eggroll::test {
namespace {

class SweepGrowthTest : public SweepCommandTest {
 protected:
  static std::string grid(const std::string& widths, int seeds) {
    return "  question: How wide?\n  seeds: " + std::to_string(seeds) + "\n  product: [\"model.width=" + widths +
           "\"]\n";
  }
};

TEST_F(SweepGrowthTest, AValueMoreRunsTheNewPointsAlone) {
  write_experiment("grows", grid("16,32", 2));
  ASSERT_EQ(sweep("grows").exit_code, 0);
  const auto before = finished_records("grows");
  EXPECT_EQ(before.size(), 4U);

  write_experiment("grows", grid("8,16,32", 2));
  const Result planned = list_points("grows");
  EXPECT_THAT(planned.out, HasSubstr("6 points in results/sweeps/grows: 4 done, 2 left"));
  const Result grown = good(sweep("grows"));
  EXPECT_THAT(grown.out, HasSubstr("begun    0004-width=8,seed=0-"));
  EXPECT_THAT(grown.out, HasSubstr("begun    0005-width=8,seed=1-"));
  EXPECT_THAT(grown.out, Not(HasSubstr("begun    0003-")));
  const auto after = finished_records("grows");
  EXPECT_EQ(after.size(), 6U);
  for (const auto& [folder, bytes] : before) EXPECT_EQ(after.at(folder), bytes);

  write_experiment("grows", grid("8", 1));
  const auto narrowed = nlohmann::json::parse(list_points("grows", {"--json"}).out);
  EXPECT_EQ(narrowed.at("left_behind"), 5);
  EXPECT_EQ(narrowed.at("points")[0].at("index"), 4);
  EXPECT_EQ(narrowed.at("points")[0].at("axes").at("model.width"), "8");
  EXPECT_THAT(list_points("grows").out,
              HasSubstr("1 points in results/sweeps/grows; 5 in the folder are no longer in the grid"));
}

// A mean over points of two arithmetics would be of neither.
TEST_F(SweepGrowthTest, PointsThatOtherArithmeticMadeAreNotDone) {
  write_experiment("grows", grid("16,32", 1));
  ASSERT_EQ(sweep("grows").exit_code, 0);
  const fs::path file = point("grows", "0001-") / "record.json";
  const std::string whole = read_file(file);
  const auto change = [&](const std::function<void(nlohmann::ordered_json&)>& body) {
    nlohmann::ordered_json record = nlohmann::ordered_json::parse(whole);
    body(record);
    write_plainly(file, sealed(record).dump(2) + "\n");
  };
  write_experiment("grows", grid("8,16,32", 1));
  change([](nlohmann::ordered_json& record) { record["program_hash"] = "another"; });
  const std::string changed = read_file(file);
  for (const Result& result : {sweep("grows"), list_points("grows")}) {
    expect_one_sentence(result, {"the run in results/sweeps/grows/points/0001-",
                                 "has ended, and was made with another "
                                 "model program (its hash is another, today's ",
                                 "remove that folder"});
  }
  EXPECT_EQ(read_file(file), changed);
  EXPECT_EQ(finished_records("grows").size(), 2U);

  // A report reads records of any op set.
  change([](nlohmann::ordered_json& record) { record["environment"]["spec_hash"] = "0123456789abcdef"; });
  for (const Result& result : {sweep("grows"), list_points("grows")}) {
    expect_one_sentence(result, {"has ended, and was made with another op set or noise (its hash is 0123456789abcdef"});
  }
  good(eggroll({"report", "results/sweeps/grows"}));

  change([](nlohmann::ordered_json& record) {
    for (nlohmann::ordered_json& plugin : record["plugins"]) plugin["sha256"] = "another";
  });
  EXPECT_THAT(good(sweep("grows")).out, HasSubstr("other builds of gru, sign_es made points that are done"));
  EXPECT_EQ(finished_records("grows").size(), 3U);
}

// The whole project moves, and its data move to a third place, while a point is not done.
TEST_F(SweepGrowthTest, PointsGoOnWhereFoldersAndDataHaveMoved) {
  write_plainly(work_ / "text", april_text());
  write_own("moves",
            "defaults:\n"
            "  - plain\n"
            "  - override backend: reference\n"
            "  - _self_\n"
            "name: moves\n"
            "train: {steps: 400, population: 16, members_per_stream: 8, tokens: 8}\n"
            "eval: {every: 100, tokens: 512}\n"
            "checkpoint: {every: 100}\n"
            "backend: {threads: 1}\n"
            "sweep:\n" +
                grid("8,16", 1));
  {
    Process runner(work_, with_own({"sweep", "experiment=moves", "dataset.path=text"}));
    ASSERT_TRUE(
        runner.wait_until([&] { return fs::exists(points("moves")) && lines_in(point("moves", "0001-")) > 110; }));
    runner.signal(SIGKILL);
    runner.wait();
  }
  const auto before = finished_records("moves");
  EXPECT_EQ(before.size(), 1U);

  const fs::path project = folder_ / "project";
  fs::rename(work_, project);
  fs::rename(project / "text", folder_ / "renamed");
  const Result moved =
      good(Process(project, with_own({"sweep", "experiment=moves", "dataset.path=../renamed"})).wait());
  EXPECT_THAT(moved.out, HasSubstr("2 of 2 points done, 0 failed, 0 left"));
  EXPECT_THAT(moved.out, Not(HasSubstr("begun    0000-")));
  fs::rename(project, work_);
  const auto after = finished_records("moves");
  EXPECT_EQ(after.size(), 2U);
  for (const auto& [folder, bytes] : before) EXPECT_EQ(after.at(folder), bytes);
  EXPECT_EQ(record_in(point("moves", "0001-")).at("resumes"), 1);
  EXPECT_EQ(steps_in(point("moves", "0001-")), each_step_once(400));
}

std::string claim(const std::string& says, const std::string& expect) {
  return "  claims:\n    - says: " + says +
         "\n      compare: {axis: model.width, value: 16, with: 32}\n      expect: " + expect + "\n";
}

// A claim that was stated after the runs gets no verdict, and the first claim stays, in the terminal and on the page.
TEST_F(SweepGrowthTest, AClaimThatIsRewordedAfterItsRunsIsExploratory) {
  write_experiment("claims", grid("16,32", 2) + claim("before the fact", "lower"));
  ASSERT_EQ(sweep("claims").exit_code, 0);
  write_experiment("claims", grid("16,32", 2) + claim("after the fact", "higher"));
  EXPECT_THAT(good(sweep("claims")).out, HasSubstr("4 of 4 points done, 0 failed, 0 left"));
  const std::string late = "Exploratory, stated after 4 of 4 runs had ended: after the fact. ";
  const auto answers = [&] { return eggroll({"report", "results/sweeps/claims"}).out; };
  const std::string first = answers();
  EXPECT_THAT(first, HasSubstr(late));
  EXPECT_THAT(first, HasSubstr("before the fact. "));
  EXPECT_THAT(first, HasSubstr("The experiment no longer states this claim."));
  EXPECT_LT(first.find("before the fact"), first.find(late));
  for (const char* name : {"findings.md", "findings.html"}) {
    EXPECT_THAT(read_file(work_ / "results/sweeps/claims/report" / name), HasSubstr(late)) << name;
  }
  // The published records alone give the same answers.
  fs::remove(work_ / "results/sweeps/claims/claims.jsonl");
  EXPECT_THAT(answers(), HasSubstr(late));
}

// Records are enough for a report: without the metrics it is the same, to the byte.
TEST_F(SweepGrowthTest, AReportNeedsNothingButRecords) {
  write_experiment("reported", grid("16,32", 2), "monitor: {every: 10}\n");
  ASSERT_EQ(sweep("reported").exit_code, 0);
  const auto report = [&] {
    EXPECT_EQ(eggroll({"report", "results/sweeps/reported"}).exit_code, 0);
    std::string all;
    for (const char* name : {"findings.md", "findings.html", "runs.csv", "curves.csv"}) {
      all += read_file(work_ / "results/sweeps/reported/report" / name);
    }
    return all;
  };
  const std::string with_both = report();
  std::map<fs::path, std::string> whole;
  for (const auto& entry : fs::directory_iterator(points("reported"))) {
    const fs::path file = entry.path() / "record.json";
    whole[file] = read_file(file);
    nlohmann::ordered_json record = nlohmann::ordered_json::parse(whole[file]);
    EXPECT_TRUE(record.contains("summary"));
    record.erase("summary");
    write_plainly(file, sealed(record).dump());
  }
  EXPECT_EQ(whole.size(), 4U);
  EXPECT_EQ(report(), with_both);  // from the metrics
  for (const auto& [file, text] : whole) {
    write_plainly(file, text);
    fs::remove(file.parent_path() / "metrics.jsonl");
  }
  EXPECT_EQ(report(), with_both);  // from the summaries
}

TEST_F(SweepGrowthTest, TheRecordTellsThePlaceAndHowToRunItAlone) {
  write_experiment("grows", grid("16,32", 1));
  ASSERT_EQ(sweep("grows").exit_code, 0);
  const nlohmann::json record = record_in(point("grows", "0001-"));
  EXPECT_EQ(record.at("sweep").at("name"), "grows");
  EXPECT_EQ(record.at("sweep").at("point"), 1);
  EXPECT_EQ(record.at("sweep").at("question"), "How wide?");
  EXPECT_EQ(record.at("sweep").at("axes"), nlohmann::json({{"model.width", "32"}}));
  EXPECT_EQ(record.at("overrides"), nlohmann::json({"experiment=grows", "~sweep", "model.width=32", "seed=0"}));
  Arguments alone = {"run"};
  for (const std::string text : record.at("overrides")) alone.push_back(text);
  EXPECT_THAT(good(own(alone)).out, HasSubstr(record.at("weights_sha256").get<std::string>()));
}

TEST_F(SweepGrowthTest, PointsThatAreTheSameRunAreRunOnce) {
  write_experiment("grows", "  union: [{product: [\"model.width=16,32\"]}, {points: [[model.width=16]]}]\n");
  EXPECT_THAT(list_points("grows").out, HasSubstr("2 points in results/sweeps/grows; 1 more repeat one of these runs"));
}

TEST_F(SweepGrowthTest, WhatRunsIsFrozenAtTheLaunch) {
  const fs::path plugins = folder_ / "plugins";
  fs::create_directory(plugins);
  fs::copy_file(EGGROLL_UNRULY "/unruly.eggplugin", plugins / "unruly.eggplugin");
  const std::string path = "plugins.path=['" + plugins.string() + "']";
  write_experiment("grows", grid("16,32", 6));
  ASSERT_EQ(sweep("grows", {"results.sweeps=undisturbed", path, "optimizer=unruly"}).exit_code, 0);
  Process runner(work_, with_own({"sweep", "experiment=grows", path, "optimizer=unruly"}));
  ASSERT_TRUE(runner.wait_until([&] { return fs::exists(points("grows")) && !finished_records("grows").empty(); }));
  // A changed grid, changed values, a removed option and a broken plugin do not affect the points of this launch.
  write_experiment("grows", grid("8", 1), "optimizer: {alpha: 0.5}\n");
  fs::remove(folder_ / "configs" / "optimizer" / "unruly.yaml");
  write_plainly(plugins / "unruly.eggplugin", "This is a text.\n");
  EXPECT_THAT(good(runner.wait()).out, HasSubstr("12 of 12 points done"));
  EXPECT_EQ(weights("grows"), weights("grows", "undisturbed"));
}

TEST_F(SweepGrowthTest, RunShowAndSweepKnowEachOthersExperiments) {
  write_experiment("grows", grid("16,32", 1));
  const Result run = own({"run", "experiment=grows"});
  expect_one_sentence(run, {"experiments/grows.yaml", "the experiment is a sweep; run it with eggroll sweep"});
  const Result show = own({"show", "experiment=grows"});
  expect_one_sentence(show, {"experiments/grows.yaml", "the experiment is a sweep; show one point with ~sweep"});
  const Result no_sweep = eggroll({"sweep", "experiment=count"});
  expect_one_sentence(no_sweep, {"the configuration has no sweep"});
}

TEST_F(SweepGrowthTest, SlotsPinPoints) {
  write_experiment("grows", grid("16", 1));
  EXPECT_THAT(good(sweep("grows", {"--workers", "cores=0 gpu=3"})).out, HasSubstr(", cores=0 gpu=3\n"));
  expect_one_sentence(sweep("grows", {"--workers", "core=0"}), {"the worker 'core=0' has the word"});
}

}  // namespace
}  // namespace eggroll::test
