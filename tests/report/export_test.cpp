// Comparisons, and exports read back by the formats' own rules.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "record/scratch.h"
#include "report/compare.h"
#include "report/synthetic.h"
#include "report/tensorboard.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ExportTest : public ScratchTest {
 protected:
  static std::vector<std::string> lines_of(const fs::path& file) {
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  std::vector<std::string> compared(const char* a, const char* b) const {
    return eggroll::lines_of(compare(collect({folder_ / a}), collect({folder_ / b})));
  }
};

TEST_F(ExportTest, CsvHasEveryNumberOfEveryLine) {
  SyntheticRun run;
  run.steps = 3;
  run.monitor_every = 2;
  write_synthetic_run(folder_ / "r" / "a,b", run);
  run.steps = 2;
  run.monitor_every = 0;
  write_synthetic_run(folder_ / "r" / "c", run);
  const ExportSummary summary = export_csv(collect({folder_ / "r"}), folder_ / "all.csv");
  EXPECT_EQ(summary.runs, 2U);
  EXPECT_EQ(summary.lines, 4U + 3U);
  const std::vector<std::string> lines = lines_of(folder_ / "all.csv");
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_THAT(lines[0],
              testing::StartsWith(
                  "run,step,member_tokens,unique_tokens,held_out_bits_per_unit,held_out_tokens,train_bits_per_unit,"));
  EXPECT_THAT(lines[0], HasSubstr(",monitor.values.head.saturated,"));
  EXPECT_THAT(lines[0], HasSubstr(",monitor.heads.mixed.0.entropy_bits,"));
  // What differs between the runs, on each line.
  EXPECT_THAT(lines[0], testing::EndsWith(",config.train.steps"));
  EXPECT_THAT(lines[1], testing::EndsWith(",3"));
  EXPECT_THAT(lines[7], testing::EndsWith(",2"));
  const auto columns = std::count(lines[0].begin(), lines[0].end(), ',');
  EXPECT_THAT(lines[1], testing::StartsWith("\"a,b\",0,0,0,8,1000,,"));
  EXPECT_THAT(lines[7], testing::StartsWith("c,2,32768,16384,4,1000,4.125,0.1,"));
  for (size_t i = 5; i < 8; ++i) EXPECT_EQ(std::count(lines[i].begin(), lines[i].end(), ','), columns);
}

TEST_F(ExportTest, EventFilesAreReadByAnIndependentReader) {
  SyntheticRun run;
  run.steps = 20;
  run.monitor_every = 10;
  write_synthetic_run(folder_ / "r" / "deep" / "a", run);
  const ExportSummary summary = export_tensorboard(collect({folder_ / "r"}), folder_ / "tb");
  EXPECT_EQ(summary.lines, 21U);
  const fs::path file =
      folder_ / "tb" / "deep" / "a" / "events.out.tfevents.1767323045.eggroll";  // 2026-01-02T03:04:05Z
  ASSERT_TRUE(fs::exists(file));
  const std::string command = fmt::format("python3 '{}/tests/report/read_events.py' '{}' > '{}'", EGGROLL_SOURCE_DIR,
                                          file.string(), (folder_ / "read").string());
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  const std::vector<std::string> events = lines_of(folder_ / "read");
  const std::vector<std::string> lines = lines_of(folder_ / "r" / "deep" / "a" / "metrics.jsonl");
  ASSERT_EQ(events.size(), 22U);
  EXPECT_EQ(nlohmann::json::parse(events[0]),
            nlohmann::json({{"time", 1767323045.0}, {"step", 0}, {"version", "brain.Event:2"}}));
  for (size_t i = 0; i < lines.size(); ++i) {
    const nlohmann::json event = nlohmann::json::parse(events[i + 1]);
    const nlohmann::json line = nlohmann::json::parse(lines[i]);
    EXPECT_EQ(event.at("step"), line.at("step"));
    EXPECT_NEAR(event.at("time").get<double>(), 1767323045.0 + 0.01 * static_cast<double>(i), 1e-6);
    size_t numbers = 0;
    for (const auto& [key, value] : line.items()) {
      if (!value.is_number() || key == "step") continue;
      ++numbers;
      EXPECT_EQ(event.at("scalars").at(key).get<float>(), value.get<float>()) << key;
    }
    const size_t scalars = line.value("scalars", nlohmann::json::object()).size();
    EXPECT_EQ(event.at("scalars").size(), numbers + scalars + (line.contains("monitor") ? 22 : 0)) << events[i + 1];
  }
  EXPECT_EQ(nlohmann::json::parse(events[11]).at("scalars").at("monitor/values/head/saturated").get<float>(), 0.4F);
}

TEST_F(ExportTest, AHooksNumbersAreExported) {
  SyntheticRun run;
  run.steps = 10;
  run.score = 2.5;
  write_synthetic_run(folder_ / "r" / "a", run);
  const Collection collection = collect({folder_ / "r"});
  export_csv(collection, folder_ / "all.csv");
  const std::vector<std::string> lines = lines_of(folder_ / "all.csv");
  EXPECT_THAT(lines.front(), testing::EndsWith(",hook.score"));
  EXPECT_THAT(lines.back(), testing::EndsWith(",2.5"));
  export_tensorboard(collection, folder_ / "tb");
  const std::string command = fmt::format("python3 '{}/tests/report/read_events.py' '{}'/* > '{}'", EGGROLL_SOURCE_DIR,
                                          (folder_ / "tb" / "a").string(), (folder_ / "read").string());
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  EXPECT_EQ(nlohmann::json::parse(lines_of(folder_ / "read").back()).at("scalars").at("hook/score"), 2.5);
}

TEST_F(ExportTest, RunsWithoutMetricsCannotBeExported) {
  write_record(folder_ / "alone.json", synthetic_record({}));
  const Collection collection = collect({folder_});
  const char* sentence = "no run has metrics to export, expected a metrics.jsonl beside a record.json";
  EXPECT_EQ(message_of([&] { export_csv(collection, folder_ / "x.csv"); }), sentence);
  EXPECT_EQ(message_of([&] { export_tensorboard(collection, folder_ / "tb"); }), sentence);
  EXPECT_FALSE(fs::exists(folder_ / "x.csv"));
}

TEST_F(ExportTest, TwoRunsAreComparedLineByLine) {
  SyntheticRun run;
  run.sweep = "";
  run.axes = {{"model.width", "32"}};
  write_synthetic_run(folder_ / "a", run);
  run.axes = {{"model.width", "64"}, {"noise.extra", "1"}};
  run.final_bits = 3.5;
  run.seed = 1;
  write_synthetic_run(folder_ / "b", run);
  const std::vector<std::string> lines = compared("a", "b");
  EXPECT_THAT(lines, ElementsAre("config dataset.seed: 0 in A, 1 in B", "config model.width: 32 in A, 64 in B",
                                 "config noise.extra: absent in A, 1 in B", "seed: 0 in A, 1 in B",
                                 "final bits: 4 in A, 3.5 in B", "member tokens/s: 1.64 M in A, 1.64 M in B (equal)",
                                 HasSubstr("update rate: "), "wall time: 1.25 s in A, 1.25 s in B (equal)",
                                 "steps done: 100 in A, 100 in B (equal)", "memory: 512 KiB in A, 512 KiB in B (equal)",
                                 "weights: equal, to the bit, in 1 of 1 pair"));
  EXPECT_EQ(compared("a", "a")[0], "configuration, plugins, machine and data are the same");
}

TEST_F(ExportTest, AveragesAreComparedWhereBothHaveOne) {
  SyntheticRun run;
  run.average_bits = 3.75;
  write_synthetic_run(folder_ / "a", run);
  run.average_bits = 3.5;
  write_synthetic_run(folder_ / "b", run);
  run.average_bits.reset();
  write_synthetic_run(folder_ / "c", run);
  EXPECT_THAT(compared("a", "b"), Contains("final bits of the average: 3.75 in A, 3.5 in B"));
  EXPECT_THAT(compared("a", "c"), Not(Contains(HasSubstr("of the average"))));
}

TEST_F(ExportTest, NumbersOfHooksAreComparedWhereBothHaveThem) {
  SyntheticRun run;
  run.score = 2.5;
  write_synthetic_run(folder_ / "a", run);
  run.score = 2.0;
  write_synthetic_run(folder_ / "b", run);
  run.score.reset();
  write_synthetic_run(folder_ / "c", run);
  EXPECT_THAT(compared("a", "b"), Contains("hook.score: 2.5 in A, 2 in B"));
  EXPECT_THAT(compared("a", "c"), Not(Contains(HasSubstr("hook"))));
}

TEST_F(ExportTest, SweepsAreComparedByPairsOfRuns) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    for (const char* rank : {"1", "4"}) {
      SyntheticRun run;
      run.seed = seed;
      run.axes = {{"noise.rank", rank}};
      const std::string name = rank + std::to_string(seed);
      write_synthetic_run(folder_ / "a" / name, run);
      run.axes["model.width"] = "128";
      run.final_bits = 3.9 - 0.1 * static_cast<double>(seed);
      if (name != "42") write_synthetic_run(folder_ / "b" / name, run);
    }
  }
  const std::vector<std::string> lines = compared("a", "b");
  EXPECT_THAT(lines, Contains("config model.width: 64 in A, 128 in B"));
  EXPECT_THAT(lines, Contains("6 runs in A, 5 runs in B, 5 pairs with the same seed and the same values of the "
                              "settings that vary within A or B"));
  // The seeds' differences -0.1, -0.2 (each of two pairs) and -0.3, by SciPy 1.10.1.
  EXPECT_THAT(lines, Contains("final bits: mean 4 in A, 3.8 in B; B minus A -0.2000 (95 % interval "
                              "-0.4484 to 0.0484, 3 seeds of 5 pairs)"));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("noise.rank"))));
}

// As a user names them, who gives each run a name and a place of its own.
TEST_F(ExportTest, RunsWithNamesOfTheirOwnArePairs) {
  for (const char* side : {"a", "b"}) {
    for (uint64_t seed = 0; seed < 3; ++seed) {
      SyntheticRun run;
      run.sweep = "";
      run.seed = seed;
      const std::string name = side + std::to_string(seed);
      run.axes = {{"results.dir", name}, {"plugins.path", name}, {"dataset.test_path", name}, {"model.width", side}};
      RunRecord record = synthetic_record(run);
      record.config["name"] = name;
      fs::create_directories(folder_ / side / name);
      write_record(folder_ / side / name / "record.json", record);
    }
  }
  const std::vector<std::string> lines = compared("a", "b");
  EXPECT_EQ(lines[0], "config model.width: a in A, b in B");
  EXPECT_EQ(lines[1],
            "3 runs in A, 3 runs in B, 3 pairs with the same seed and the same values of the settings that vary "
            "within A or B");
  EXPECT_THAT(lines, Not(Contains(HasSubstr("repeat"))));
}

TEST_F(ExportTest, CopiesOfARunMakeOnePair) {
  for (uint64_t seed = 0; seed < 2; ++seed) {
    for (const char* copy : {"first", "second"}) {
      SyntheticRun run;
      run.seed = seed;
      run.final_bits = copy == std::string("first") ? 4.0 : 3.0;
      run.started = copy == std::string("first") ? "2026-01-02T03:04:05Z" : "2026-01-03T03:04:05Z";
      write_synthetic_run(folder_ / "a" / (copy + std::to_string(seed)), run);
      run.final_bits = 2.0;
      if (copy == std::string("first")) write_synthetic_run(folder_ / "b" / std::to_string(seed), run);
    }
  }
  const RunComparison comparison = compare(collect({folder_ / "a"}), collect({folder_ / "b"}));
  EXPECT_EQ(comparison.pairs, 2U);
  EXPECT_EQ(json_of(comparison).at("copies"), 2);
  const std::vector<std::string> lines = eggroll::lines_of(comparison);
  EXPECT_THAT(lines, Contains("2 runs repeat the configuration and the seed of another run, and do not count again; in "
                              "2 cases such runs differ in steps or bits, and the one counts that ended and went "
                              "furthest, of equals the one that began last"));
  EXPECT_EQ(comparison.numbers.at(0).a.mean, 3.0);
  EXPECT_EQ(comparison.numbers.at(0).difference.n, 2U);
}

// A setting that one side alone has makes no copies.
TEST_F(ExportTest, RunsThatDifferInASettingOfOneSideAreNoCopies) {
  SyntheticRun run;
  write_synthetic_run(folder_ / "b" / "only", run);
  for (const char* extra : {"1", "2"}) {
    run.axes = {{"noise.extra", extra}};
    write_synthetic_run(folder_ / "a" / extra, run);
  }
  EXPECT_EQ(compare(collect({folder_ / "a"}), collect({folder_ / "b"})).copies, 0U);
}

TEST_F(ExportTest, ASideWithoutRunsIsRefused) {
  write_synthetic_run(folder_ / "a", {});
  fs::create_directories(folder_ / "b");
  EXPECT_EQ(message_of([&] { compare(collect({folder_ / "a"}), collect({folder_ / "b"})); }),
            "B has no record of a run to compare, expected at least one");
}

}  // namespace
}  // namespace eggroll
