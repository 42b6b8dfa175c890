// What a report says of the best configuration on the test split.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "record/scratch.h"
#include "record/seal.h"
#include "report/findings.h"
#include "report/synthetic.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Two widths with three seeds, of which 32 is the better one.
class TestSplitTest : public ScratchTest {
 protected:
  TestSplitTest() {
    for (const int width : {16, 32}) {
      for (uint64_t seed = 0; seed < 3; ++seed) write_run(width, seed, "/data/test.txt");
    }
  }

  fs::path run(int width, uint64_t seed) const { return results_ / fmt::format("{}-{}", width, seed); }

  void write_run(int width, uint64_t seed, const ordered_json& test_path) const {
    SyntheticRun synthetic;
    synthetic.seed = seed;
    synthetic.final_bits = width == 32 ? 4.0 : 4.5;
    synthetic.axes = {{"model.width", std::to_string(width)}};
    write_synthetic_run(run(width, seed), synthetic);
    RunRecord record = synthetic_record(synthetic);
    record.config["dataset"]["test_path"] = test_path;
    write_record(run(width, seed) / "record.json", record);
  }
  static ordered_json evaluation(double bits) {
    return {{"schema", 1},
            {"weights", "weights"},
            {"weights_sha256", std::string(64, '3')},
            {"split", "test"},
            {"data", {{"sha256", std::string(64, '4')}}},
            {"bits_per_unit", bits},
            {"evaluated_utc", "2026-01-02T04:00:00Z"}};
  }
  void write_evaluation(uint64_t seed, const ordered_json& evaluation, const std::string& name = "a.json") const {
    fs::create_directories(run(32, seed) / "evaluations");
    write_plainly(run(32, seed) / "evaluations" / name, sealed(evaluation).dump());
  }
  void measure_all() const {
    for (uint64_t seed = 0; seed < 3; ++seed)
      write_evaluation(seed, evaluation(3.0 + 0.25 * static_cast<double>(seed)));
  }

  // The section of the report, from its heading to the next.
  std::string section() {
    const fs::path out = folder_ / "out";
    problems_ = write_findings(collect({results_}), "widths", out).problems;
    const std::string text = read_file(out / "findings.md");
    const size_t begin = text.find("### Test split\n");
    if (begin == std::string::npos) return "";
    return text.substr(begin, text.find("\n## ", begin) - begin);
  }

  const fs::path results_ = folder_ / "results";
  std::vector<std::string> problems_;
};

TEST_F(TestSplitTest, TheBestConfigurationHasItsMean) {
  measure_all();
  EXPECT_THAT(
      section(),
      HasSubstr("On the test split, in bits per token, the best configuration (width=32) comes to 3.250 (95 % "));
  EXPECT_THAT(section(), HasSubstr("interval 2.629 to 3.871, 3 seeds), with the weights"));
  EXPECT_THAT(section(), HasSubstr("that its runs ended with; nothing was chosen by this figure."));
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(TestSplitTest, WhatIsNotMeasuredHasItsCommand) {
  EXPECT_THAT(section(), HasSubstr("is not yet measured for 3 of the 3 runs of the best configuration (width=32)"));
  EXPECT_THAT(section(), HasSubstr("eggroll eval " + run(32, 1).string() + " --test\n"));
  measure_all();
  fs::remove(run(32, 1) / "evaluations" / "a.json");
  EXPECT_THAT(section(), HasSubstr("is not yet measured for 1 of the 3 runs of the best configuration (width=32)"));
  EXPECT_THAT(section(), Not(HasSubstr(run(32, 0).string())));
}

TEST_F(TestSplitTest, OtherEvaluationsDoNotCount) {
  measure_all();
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, ordered_json>>{{"split", "other"},
                                                         {"split", "held_out"},
                                                         {"split", 3},
                                                         {"weights", "average"},
                                                         {"weights_sha256", std::string(64, '5')}}) {
    ordered_json other = evaluation(9.0);
    other[key] = value;
    other["evaluated_utc"] = "2026-01-02T05:00:00Z";
    write_evaluation(0, other, "b.json");
    EXPECT_THAT(section(), HasSubstr("comes to 3.250 (")) << key;
  }
  ordered_json before = evaluation(9.0);
  before.erase("split");
  write_evaluation(0, before, "b.json");
  EXPECT_THAT(section(), HasSubstr("comes to 3.250 ("));
  EXPECT_THAT(problems_, IsEmpty());
  // Where there are several of the test split, the newest counts.
  ordered_json older = evaluation(9.0);
  older["evaluated_utc"] = "2026-01-02T03:00:00Z";
  write_evaluation(0, older, "b.json");
  EXPECT_THAT(section(), HasSubstr("comes to 3.250 ("));
}

TEST_F(TestSplitTest, DamagedEvaluationsAreNamedAndLeftOut) {
  measure_all();
  const fs::path file = run(32, 0) / "evaluations" / "a.json";
  const std::string whole = read_file(file);
  std::string flipped = whole;
  flipped[flipped.find("3.0")] = '1';
  ordered_json no_bits = evaluation(3.0);
  no_bits.erase("bits_per_unit");
  ordered_json words = evaluation(3.0);
  words["bits_per_unit"] = "<b>few</b>";
  ordered_json unsealed = evaluation(3.0);
  for (const std::string& bytes : {flipped, whole.substr(0, 40), deep_json(), std::string(), std::string("[1]"),
                                   sealed(no_bits).dump(), sealed(words).dump(), unsealed.dump()}) {
    write_plainly(file, bytes);
    const std::string text = section();
    EXPECT_THAT(text, HasSubstr("is not yet measured for 1 of the 3 runs")) << bytes.substr(0, 100);
    ASSERT_EQ(problems_.size(), 1U) << bytes.substr(0, 100);
    EXPECT_THAT(problems_.front(), HasSubstr(file.string()));
    EXPECT_THAT(problems_.front(), HasSubstr("measure again with eggroll eval"));
  }
  // A link may lead anywhere.
  fs::remove(file);
  write_plainly(folder_ / "elsewhere.json", whole);
  fs::create_symlink(folder_ / "elsewhere.json", file);
  EXPECT_THAT(section(), HasSubstr("is not yet measured for 1 of the 3 runs"));
  EXPECT_EQ(problems_.size(), 1U);
  fs::rename(run(32, 0) / "evaluations", folder_ / "evaluations");
  fs::create_directory_symlink(folder_ / "evaluations", run(32, 0) / "evaluations");
  EXPECT_THAT(section(), HasSubstr("is not yet measured for 1 of the 3 runs"));
}

TEST_F(TestSplitTest, FiguresOfSeveralTextsHaveNoMean) {
  measure_all();
  ordered_json other = evaluation(3.0);
  other["data"]["sha256"] = std::string(64, '6');
  write_evaluation(2, other);
  EXPECT_THAT(section(), HasSubstr("were measured on 2 different test texts, so that they have no mean"));
  EXPECT_THAT(section(), HasSubstr("eggroll eval " + run(32, 0).string() + " --test\n"));
}

TEST_F(TestSplitTest, ItNeitherPartsStudiesNorConfigurations) {
  measure_all();
  write_run(32, 1, nullptr);
  write_run(16, 1, "/data/another.txt");
  const std::string text = section();
  EXPECT_THAT(text, HasSubstr("1 of the 3 runs of the best configuration (width=32) have no test split"));
  const std::string page = read_file(folder_ / "out" / "findings.md");
  EXPECT_THAT(page, Not(HasSubstr("test.txt")));
  EXPECT_THAT(page, HasSubstr("6 runs in 1 study."));
}

TEST_F(TestSplitTest, RecordsThatStandAloneSaySo) {
  measure_all();
  for (uint64_t seed = 0; seed < 3; ++seed) {
    fs::rename(run(32, seed) / "record.json", run(32, seed).string() + ".json");
    fs::remove_all(run(32, seed));
  }
  EXPECT_THAT(section(),
              HasSubstr("is not known of 3 of the 3 runs of the best configuration (width=32): their records "
                        "stand alone"));
}

TEST_F(TestSplitTest, RunsWithoutOneSayNothing) {
  for (const int width : {16, 32}) {
    for (uint64_t seed = 0; seed < 3; ++seed) write_run(width, seed, nullptr);
  }
  EXPECT_EQ(section(), "");
}

}  // namespace
}  // namespace eggroll
