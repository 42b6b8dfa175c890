#include "record/metric_table.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "record/run_metrics.h"
#include "record/scratch.h"
#include "record/sealed_lines.h"
#include "report/synthetic.h"

namespace eggroll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::NanSensitiveDoubleEq;
using ::testing::Pair;

class MetricTableTest : public ScratchTest {
 protected:
  MetricTable table_of(const std::string& text, Numbers numbers = Numbers::kOwn) {
    write_plainly(path_, sealed_lines(text));
    return read_metric_table(path_, numbers);
  }

  const std::filesystem::path path_ = folder_ / "metrics.jsonl";
};

TEST_F(MetricTableTest, ColumnsHaveOneValueForEachLine) {
  const MetricTable table = table_of(
      "{\"step\":0,\"bits\":4.5}\n"
      "{\"step\":1,\"rate\":0.25,\"note\":\"text\",\"none\":null}\n"
      "{\"rate\":-1,\"bits\":1e3,\"step\":2,\"flag\":true}\n");
  EXPECT_THAT(table.problems, IsEmpty());
  EXPECT_EQ(table.lines, 3U);
  ASSERT_EQ(table.columns.size(), 4U);
  EXPECT_THAT(*table.find("step"), ElementsAre(0, 1, 2));
  EXPECT_THAT(*table.find("bits"),
              ElementsAre(NanSensitiveDoubleEq(4.5), NanSensitiveDoubleEq(NAN), NanSensitiveDoubleEq(1000)));
  EXPECT_THAT(*table.find("rate"),
              ElementsAre(NanSensitiveDoubleEq(NAN), NanSensitiveDoubleEq(0.25), NanSensitiveDoubleEq(-1)));
  EXPECT_THAT(*table.find("flag"),
              ElementsAre(NanSensitiveDoubleEq(NAN), NanSensitiveDoubleEq(NAN), NanSensitiveDoubleEq(1)));
  EXPECT_EQ(table.find("note"), nullptr);
  EXPECT_EQ(table.find("none"), nullptr);
}

TEST_F(MetricTableTest, AHooksNumbersAreThoseOfTheNewestEvaluationThatHasSome) {
  const std::string lines =
      "{\"step\":0,\"hook\":{\"a\":1,\"b\":2}}\n{\"step\":1}\n{\"step\":2,\"hook\":{\"a\":3,\"c\":-0.5}}\n"
      "{\"step\":3,\"hook\":{}}\n{\"step\":4}\n";
  write_plainly(path_, sealed_lines(lines));
  std::vector<std::string> problems;
  const RunMetrics metrics = read_run_metrics(path_, problems);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_THAT(metrics.hook, ElementsAre(Pair("a", 3.0), Pair("c", -0.5)));
  EXPECT_EQ(metrics.hook_number("hook.c"), -0.5);
  EXPECT_EQ(metrics.hook_number("hook.b"), std::nullopt);
  EXPECT_EQ(metrics.hook_number("c"), std::nullopt);
  EXPECT_EQ(table_of("{\"step\":0,\"hook\":{\"a\":1}}\n").columns[1].key, "hook.a");
}

TEST_F(MetricTableTest, NestedNumbersHaveDottedKeysWhereAsked) {
  const std::string line =
      "{\"step\":1,\"monitor\":{\"values\":{\"a.b\":{\"mean\":0.5}},\"heads\":{\"h\":[{\"x\":1},{\"x\":2}]}},\"z\":3}"
      "\n";
  const MetricTable flat = table_of(line);
  EXPECT_EQ(flat.columns.size(), 2U);
  EXPECT_EQ(flat.newest_monitor + "\n", sealed_lines(line));
  const MetricTable nested = table_of(line, Numbers::kNested);
  EXPECT_EQ(nested.columns.size(), 5U);
  EXPECT_THAT(*nested.find("monitor.values.a.b.mean"), ElementsAre(0.5));
  EXPECT_THAT(*nested.find("monitor.heads.h.0.x"), ElementsAre(1));
  EXPECT_THAT(*nested.find("monitor.heads.h.1.x"), ElementsAre(2));
  EXPECT_THAT(*nested.find("z"), ElementsAre(3));
}

TEST_F(MetricTableTest, LooksAreTheLinesOfTheMonitorAlone) {
  const MetricTable table = table_of(
      "{\"step\":0,\"monitor\":{\"values\":{\"a\":{\"mean\":0.5}}}}\n"
      "{\"step\":1,\"rate\":0.25}\n"
      "{\"step\":2,\"monitor\":null}\n"
      "{\"step\":3,\"monitor\":{\"values\":{\"a\":{\"mean\":-1}}}}\n",
      Numbers::kMonitorLines);
  EXPECT_THAT(table.problems, IsEmpty());
  EXPECT_EQ(table.lines, 2U);
  EXPECT_THAT(*table.find("step"), ElementsAre(0, 3));
  EXPECT_THAT(*table.find("monitor.values.a.mean"), ElementsAre(0.5, -1));
}

TEST_F(MetricTableTest, DamagedLinesAreLeftOutAndSaidSo) {
  const MetricTable table =
      table_of("{\"step\":0}\n{\"step\":\n[1]\n\n{\"steps\":3}\n{\"step\":-1,\"x\":1}\n{\"step\":6}\n{\"step\":7");
  EXPECT_THAT(*table.find("step"), ElementsAre(0, 6));
  EXPECT_EQ(table.half_line,
            path_.string() + " ends within line 8, as a crash or a writer at work leaves it; that line was left out");
  EXPECT_THAT(table.problems, ElementsAre("5 of the 8 lines of " + path_.string() +
                                          " are damaged, the first is line 2; they were left out"));
}

TEST_F(MetricTableTest, TheSchemaIsNoNumberOfTheLine) {
  const MetricTable table = table_of("{\"schema\":1,\"step\":0,\"bits\":4.5}\n{\"step\":1}\n");
  EXPECT_THAT(table.problems, IsEmpty());
  EXPECT_EQ(table.lines, 2U);
  EXPECT_EQ(table.find("schema"), nullptr);
}

TEST_F(MetricTableTest, AnotherSchemaIsAProblem) {
  for (const std::string schema : {"2", "1.5", "\"1\"", "{\"major\":1}"}) {
    const MetricTable table = table_of("{\"schema\":" + schema + ",\"step\":0}\n{\"step\":1}\n");
    EXPECT_EQ(table.lines, 0U);
    EXPECT_THAT(table.problems,
                ElementsAre(path_.string() + " has a schema that this eggroll does not read, expected 1 or none; use "
                                             "the eggroll that wrote it"))
        << schema;
  }
}

TEST_F(MetricTableTest, AFileThatCannotBeReadIsAProblem) {
  const MetricTable table = read_metric_table(folder_ / "absent.jsonl", Numbers::kOwn);
  EXPECT_EQ(table.lines, 0U);
  ASSERT_EQ(table.problems.size(), 1U);
  EXPECT_THAT(table.problems[0], HasSubstr("absent.jsonl: No such file or directory"));
}

TEST_F(MetricTableTest, SummaryHasTheNumbersOfTheLines) {
  SyntheticRun run;
  run.steps = 1000;
  run.population = 64;
  run.step_seconds = 0.25;
  run.monitor_every = 400;
  write_plainly(path_, synthetic_metrics(run));
  std::vector<std::string> problems;
  const RunMetrics metrics = read_run_metrics(path_, problems);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(metrics.lines, 1001U);
  EXPECT_EQ(metrics.last_step, 1000U);

  ASSERT_EQ(metrics.held_out.size(), 101U);
  EXPECT_EQ(metrics.held_out.front().step, 0U);
  EXPECT_EQ(metrics.held_out.front().bits, 8.0);
  EXPECT_EQ(metrics.held_out.back().step, 1000U);
  EXPECT_EQ(metrics.held_out.back().bits, 4.0);
  EXPECT_EQ(metrics.held_out.back().member_tokens, 1000.0 * 64 * 32);
  EXPECT_DOUBLE_EQ(metrics.held_out.back().seconds, 250.0);

  ASSERT_EQ(metrics.training.size(), kMostTrainingPoints);
  EXPECT_EQ(metrics.training.front().step, 5U);  // five lines each
  EXPECT_EQ(metrics.training.back().step, 1000U);
  double sum = 0;
  for (int step = 996; step <= 1000; ++step) sum += 4.125 + 4.0 * (1000.0 / step - 1.0) / 999.0;
  EXPECT_NEAR(metrics.training.back().bits, sum / 5, 1e-12);

  EXPECT_EQ(metrics.update_rate->start, 1.0);
  EXPECT_EQ(metrics.update_rate->end, 0.1);
  EXPECT_NEAR(metrics.update_rate->middle, 0.1 + 0.9 * (1000.0 / 500 - 1.0) / 999.0, 1e-12);
  double late = 0;
  for (int step = 751; step <= 1000; ++step) late += 0.1 + 0.9 * (1000.0 / step - 1.0) / 999.0;
  EXPECT_NEAR(metrics.update_rate->late, late / 250, 1e-12);
  EXPECT_NEAR(*metrics.late_mean("changed"), late / 250, 1e-12);
  EXPECT_FALSE(metrics.late_mean("absent"));
  EXPECT_EQ(metrics.threshold->start, 0.0);
  EXPECT_EQ(metrics.threshold->end, 2.0);

  EXPECT_EQ(metrics.step_seconds->median, 0.25);
  EXPECT_EQ(metrics.steps_total_seconds, 250.0);
  EXPECT_DOUBLE_EQ(*metrics.forward_share, 0.75);
  EXPECT_DOUBLE_EQ(*metrics.tokens_per_second, 64 * 32 / 0.25);
  EXPECT_EQ(*metrics.most_pairs_without_fitness, 1.0);

  EXPECT_EQ(metrics.monitor->step, 800U);
  EXPECT_EQ(metrics.monitor->most_saturated_value->name, "head");
  EXPECT_EQ(metrics.monitor->most_saturated_value->share, 0.4);
  EXPECT_EQ(metrics.monitor->most_saturated_tensor->name, "embedding");
  EXPECT_EQ(*metrics.monitor->vote_deviations, 30.0);
  EXPECT_EQ(metrics.monitor->verdicts.size(), 1U);
}

// A scalar may be called like a number of the line's own.
TEST_F(MetricTableTest, ScalarsAreFoundByTheirNames) {
  std::string text;
  for (int step = 0; step <= 8; ++step) {
    text +=
        sealed_line({{"step", step}, {"changed", 0.5}, {"scalars", {{"threshold", 2 * step}, {"changed", 7}}}}) + "\n";
  }
  write_plainly(path_, text);
  std::vector<std::string> problems;
  const RunMetrics metrics = read_run_metrics(path_, problems);
  EXPECT_TRUE(problems.empty());
  ASSERT_TRUE(metrics.threshold.has_value());
  EXPECT_EQ(metrics.threshold->end, 16.0);
  EXPECT_EQ(metrics.late_mean_of_scalar("threshold"), 15.0);
  EXPECT_EQ(metrics.late_mean("changed"), 0.5);
  EXPECT_EQ(metrics.update_rate->late, 0.5);
}

TEST_F(MetricTableTest, ALineWhoseChecksumIsNotItsOwnIsLeftOut) {
  std::string changed = sealed_line({{"step", 1}, {"changed", 0.5}});
  changed[changed.find("0.5") + 2] = '6';
  write_plainly(path_, sealed_line({{"step", 0}, {"changed", 0.25}}) + "\n" + changed + "\n");
  const MetricTable table = read_metric_table(path_, Numbers::kOwn);
  EXPECT_EQ(table.lines, 1U);
  ASSERT_EQ(table.problems.size(), 1U);
  EXPECT_THAT(table.problems[0], HasSubstr("1 of the 2 lines of " + path_.string() + " are damaged"));
}

TEST_F(MetricTableTest, ALineThatLostItsChecksumIsLeftOut) {
  const std::string first = sealed_line({{"schema", 1}, {"step", 0}, {"loss", 4.0}}) + "\n";
  const std::string second = sealed_line({{"step", 1}, {"loss", 3.0}}) + "\n";
  for (const std::string& text :
       {first + "{\"step\":1,\"loss\":0.5}\n", second + "{\"step\":2,\"loss\":0.5}\n",
        "{\"schema\":1,\"step\":0,\"loss\":0.5}\n" + second, "{\"step\":0,\"loss\":0.5}\n" + second}) {
    SCOPED_TRACE(text);
    write_plainly(path_, text);
    const MetricTable table = read_metric_table(path_, Numbers::kOwn);
    EXPECT_EQ(table.lines, 1U);
    EXPECT_EQ(std::count(table.find("loss")->begin(), table.find("loss")->end(), 0.5), 0);
    ASSERT_EQ(table.problems.size(), 1U);
    EXPECT_THAT(table.problems[0], testing::StartsWith("1 of the 2 lines of " + path_.string() + " are damaged"));
  }
}

TEST_F(MetricTableTest, LinesThatAreMissingOrThereTwiceAreSaidSo) {
  const auto line = [](uint64_t step, double changed = 0.5) {
    return sealed_line({{"step", step}, {"changed", changed}}) + "\n";
  };
  // The last line is that of a stop.
  EXPECT_THAT(table_of(line(0) + line(1) + line(2) + line(2, 0.25)).problems, IsEmpty());
  const auto expect_problem = [&](const std::string& text, const std::vector<double>& steps, const std::string& said) {
    const MetricTable table = table_of(text);
    EXPECT_EQ(*table.find("step"), steps);
    ASSERT_EQ(table.problems.size(), 1U);
    EXPECT_THAT(table.problems[0], HasSubstr(said));
  };
  expect_problem(line(0) + line(1) + line(0) + line(1) + line(2), {0, 1, 2},
                 "line 3 of " + path_.string() + " is of step 0, expected 2");
  expect_problem(line(0) + line(0), {0}, "there twice");
  expect_problem(line(0) + line(2) + line(3), {0, 2, 3}, "is of step 2, expected 1: lines are missing");
  expect_problem(line(1), {1}, "line 1 of " + path_.string() + " is of step 1, expected 0");
}

TEST_F(MetricTableTest, AnUnknownMonitorIsSaidSoAndTheRestIsRead) {
  write_plainly(path_,
                sealed_lines("{\"step\":0,\"held_out_bits_per_unit\":8}\n{\"step\":1,\"monitor\":{\"values\":3}}\n"));
  std::vector<std::string> problems;
  const RunMetrics metrics = read_run_metrics(path_, problems);
  EXPECT_EQ(metrics.held_out.size(), 1U);
  EXPECT_FALSE(metrics.monitor);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0], HasSubstr("lacks keys that this eggroll expects"));
}

}  // namespace
}  // namespace eggroll
