#include "report/collection.h"

#include <gmock/gmock.h>

#include "record/run_lock.h"
#include "record/scratch.h"
#include "record/seal.h"
#include "report/synthetic.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CollectionTest : public ScratchTest {
 protected:
  static std::vector<std::string> names_of(const Collection& collection) {
    std::vector<std::string> names;
    for (const CollectedRun& run : collection.runs) names.push_back(run.name);
    return names;
  }
};

TEST_F(CollectionTest, FindsRunsAtAnyDepthAndRecordsThatStandAlone) {
  write_synthetic_run(folder_ / "runs" / "b", {});
  write_synthetic_run(folder_ / "sweeps" / "s" / "points" / "0001", {});
  write_synthetic_run(folder_ / "runs" / "a" / "checkpoints" / "copy", {});  // passed by
  write_record(folder_ / "published.json", synthetic_record({}));
  write_plainly(folder_ / "runs" / "b" / "point.json", "{}");
  write_plainly(folder_ / "benchmarks.json", "{\"benchmarks\": [1]}");
  fs::create_directories(folder_ / "sweeps" / "s" / "points" / "0002");  // never ran
  write_plainly(
      folder_ / "sweeps" / "s" / "sweep.json",
      sealed(nlohmann::ordered_json::parse(
                 R"({"name": "s", "question": "Why?", "claims": [], "axes": {"a": ["1", "2"]}, "points": 2})"))
          .dump());

  const Collection collection = collect({folder_});
  EXPECT_THAT(collection.problems, IsEmpty());
  EXPECT_THAT(names_of(collection), ElementsAre("published", "runs/b", "sweeps/s/points/0001"));
  EXPECT_EQ(collection.other_files, 1U);
  EXPECT_FALSE(collection.runs[0].metrics_file);
  EXPECT_EQ(collection.runs[0].metrics.lines, 0U);
  EXPECT_EQ(collection.runs[1].metrics.lines, 101U);
  ASSERT_EQ(collection.sweeps.size(), 1U);
  EXPECT_EQ(collection.sweeps[0].name, "s");
  EXPECT_EQ(*collection.sweeps[0].question, "Why?");
  EXPECT_EQ(collection.sweeps[0].points, 2U);
  EXPECT_EQ(collection.sweeps[0].axes.at("a").size(), 2U);
}

TEST_F(CollectionTest, ARunInSeveralGivenFoldersIsReadOnce) {
  write_synthetic_run(folder_ / "x" / "a", {});
  write_synthetic_run(folder_ / "y" / "b", {});
  EXPECT_THAT(
      names_of(collect({folder_ / "x", folder_ / "y", folder_ / "x" / "a", folder_ / "y" / "b" / "record.json"})),
      ElementsAre("x/a", "y/b"));
  EXPECT_THAT(names_of(collect({fs::path(folder_ / "x" / "a/")})), ElementsAre("a"));
  EXPECT_THAT(names_of(collect({folder_ / "x" / "a" / "record.json"})), ElementsAre("a"));
}

TEST_F(CollectionTest, WhatIsDamagedIsNamedAndTheRestIsRead) {
  write_synthetic_run(folder_ / "a", {});
  write_synthetic_run(folder_ / "b", {});
  write_plainly(folder_ / "b" / "record.json", read_file(folder_ / "b" / "record.json").substr(0, 1000));
  write_synthetic_run(folder_ / "c", {});
  fs::remove(folder_ / "c" / "metrics.jsonl");
  write_synthetic_run(folder_ / "d", {});
  fs::remove(folder_ / "d" / "record.json");
  write_synthetic_run(folder_ / "e", {});
  const std::string metrics = read_file(folder_ / "e" / "metrics.jsonl");
  write_plainly(folder_ / "e" / "metrics.jsonl", metrics.substr(0, metrics.size() - 5));
  write_plainly(folder_ / "f.json", "{");
  write_plainly(folder_ / "s", "");
  write_synthetic_run(folder_ / "g", {});
  write_plainly(folder_ / "g" / "record.json", "{\"schema\": 2}");
  write_plainly(folder_ / "sweep.json", "{\"name\": 3}");

  const Collection collection = collect({folder_});
  EXPECT_THAT(names_of(collection), ElementsAre("a", "c", "e"));
  EXPECT_EQ(collection.runs[2].metrics.lines, 100U);
  EXPECT_EQ(collection.other_files, 0U);
  ASSERT_EQ(collection.problems.size(), 8U);
  EXPECT_THAT(collection.problems,
              testing::UnorderedElementsAre(
                  HasSubstr("d holds metrics but no record.json"), HasSubstr("sweep.json is damaged"),
                  HasSubstr("b/record.json is not complete JSON"), HasSubstr("c/metrics.jsonl is missing"),
                  HasSubstr("e/metrics.jsonl ends within line 101"), HasSubstr("e/metrics.jsonl has 100 whole lines"),
                  HasSubstr("f.json is not complete JSON"), HasSubstr("g/record.json is damaged")));
}

// What lies below results need not be eggroll's.
TEST_F(CollectionTest, OddNeighboursAreNoRuns) {
  write_synthetic_run(folder_ / "a", {});
  for (const char* text : {"", "[]", "3", "model: x"}) {
    const fs::path odd = folder_ / "odd" / std::to_string(std::string(text).size());
    fs::create_directories(odd);
    write_plainly(odd / "config.yaml", text);
    write_plainly(odd / "lock", "");
  }
  write_plainly(folder_ / "data.json", "");
  fs::resize_file(folder_ / "data.json", uintmax_t{1} << 40);
  const Collection collection = collect({folder_});
  EXPECT_THAT(names_of(collection), ElementsAre("a"));
  EXPECT_THAT(collection.unrecorded, IsEmpty());
  EXPECT_THAT(collection.problems, ElementsAre(HasSubstr("data.json has 1099511627776 bytes, and such a file of "
                                                         "eggroll has at most 67108864")));
}

TEST_F(CollectionTest, ARunBeforeItsFirstLineIsUnrecorded) {
  write_synthetic_run(folder_ / "a", {});
  fs::remove(folder_ / "a" / "record.json");
  write_plainly(folder_ / "a" / "config.yaml", "{}");
  write_plainly(folder_ / "a" / "lock", "pid 7 on host elsewhere, crc fe65893b\n");
  EXPECT_EQ(collect({folder_}).problems.size(), 1U);
  EXPECT_THAT(find_records({folder_}).runs, ElementsAre(folder_ / "a"));
  for (const char* text : {"", "{\"step\":"}) {
    write_plainly(folder_ / "a" / "metrics.jsonl", text);
    const Collection collection = collect({folder_});
    EXPECT_THAT(collection.problems, IsEmpty());
    ASSERT_EQ(collection.unrecorded.size(), 1U);
    EXPECT_EQ(collection.unrecorded[0].name, "a");
  }
}

TEST_F(CollectionTest, WhatIsBeingRemovedIsPassedBy) {
  write_synthetic_run(folder_ / ".tmp-rm-a", {});
  EXPECT_THAT(names_of(collect({folder_})), IsEmpty());
}

// The file is cut at the end of a line, so only its record shows that lines are missing.
TEST_F(CollectionTest, MetricsThatLackLinesOfTheirRecordAreNamed) {
  const auto cut = [&](const fs::path& folder) {
    std::string text = read_file(folder / "metrics.jsonl");
    for (int lines = 0; lines < 3; ++lines) text.resize(text.rfind('\n', text.size() - 2) + 1);
    write_plainly(folder / "metrics.jsonl", text);
  };
  SyntheticRun run;
  run.status = RunStatus::kRunning;
  write_synthetic_run(folder_ / "running", run);
  write_synthetic_run(folder_ / "summarized", {});
  RunRecord record = synthetic_record({});
  record.summary = summarize_metrics(folder_ / "summarized" / "metrics.jsonl");
  write_record(folder_ / "summarized" / "record.json", record);
  EXPECT_THAT(collect({folder_}, MetricsFiles::kAll).problems, IsEmpty());
  cut(folder_ / "running");
  cut(folder_ / "summarized");
  const std::string said = "/metrics.jsonl has 98 whole lines, the last of step 97, but its record knows of step 100";
  EXPECT_THAT(collect({folder_}).problems, ElementsAre(HasSubstr("running" + said)));
  const Collection all = collect({folder_}, MetricsFiles::kAll);
  EXPECT_THAT(all.problems, ElementsAre(HasSubstr("running" + said), HasSubstr("summarized" + said)));
  EXPECT_EQ(all.runs[1].metrics.lines, 101U);  // from the summary
}

TEST_F(CollectionTest, ARunThatWasKilledIsInterrupted) {
  SyntheticRun run;
  run.status = RunStatus::kRunning;
  write_synthetic_run(folder_ / "at_work", run);
  write_synthetic_run(folder_ / "killed", run);
  write_record(folder_ / "published.json", synthetic_record(run));
  const RunLock lock(folder_ / "at_work");
  { const RunLock freed(folder_ / "killed"); }
  const Collection collection = collect({folder_});
  ASSERT_EQ(collection.runs.size(), 3U);
  EXPECT_EQ(collection.runs[0].record.status, RunStatus::kRunning);
  EXPECT_FALSE(collection.runs[0].was_killed);
  EXPECT_EQ(collection.runs[1].record.status, RunStatus::kInterrupted);
  EXPECT_TRUE(collection.runs[1].was_killed);
  EXPECT_EQ(collection.runs[2].record.status, RunStatus::kRunning) << "nobody knows better";
}

TEST_F(CollectionTest, ASweepThatHasChangedIsNamed) {
  nlohmann::ordered_json sweep = sealed({{"name", "s"},
                                         {"claims", nlohmann::ordered_json::array()},
                                         {"axes", nlohmann::ordered_json::object()},
                                         {"points", 4}});
  write_plainly(folder_ / "sweep.json", sweep.dump());
  EXPECT_EQ(collect({folder_}).sweeps.size(), 1U);
  const auto expect_problem = [&](const std::string& problem) {
    write_plainly(folder_ / "sweep.json", sweep.dump());
    const Collection collection = collect({folder_});
    EXPECT_THAT(collection.sweeps, IsEmpty());
    EXPECT_THAT(collection.problems, ElementsAre(HasSubstr("sweep.json is damaged: " + problem)));
  };
  sweep["points"] = 5;
  expect_problem("its sha256 is not that of its contents; run `eggroll sweep` again");
  sweep.erase("sha256");
  expect_problem("it lacks its sha256; run `eggroll sweep` again");
}

TEST_F(CollectionTest, APathThatDoesNotExistIsRefused) {
  EXPECT_EQ(message_of([&] { collect({folder_ / "none"}); }),
            (folder_ / "none").string() + " does not exist, expected a run's folder, a record or a folder of them");
}

TEST_F(CollectionTest, PublishedRecordsOfThisRepositoryAreRead) {
  const Collection collection = collect({fs::path(EGGROLL_SOURCE_DIR) / "results" / "0.1"});
  EXPECT_THAT(collection.problems, IsEmpty());
  EXPECT_GE(collection.runs.size(), 22U);
  EXPECT_GE(collection.other_files, 5U);  // the benchmarks
}

}  // namespace
}  // namespace eggroll
