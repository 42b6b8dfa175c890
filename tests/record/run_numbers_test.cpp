#include "record/run_numbers.h"

#include <gtest/gtest.h>

#include <set>

namespace eggroll {
namespace {

RunRecord ended() {
  RunRecord record;
  record.status = RunStatus::kCompleted;
  record.final = Evaluation{40, 3.5, 1000, "byte"};
  record.memory_bytes = 2048;
  return record;
}

TEST(RunNumbers, NoTwoHaveTheSameKeyOrColumn) {
  std::set<std::string> keys;
  std::set<std::string> columns;
  for (const RunNumber& number : run_numbers()) {
    EXPECT_TRUE(keys.insert(number.key).second) << number.key;
    EXPECT_TRUE(columns.insert(*number.column == '\0' ? number.key : number.column).second) << number.key;
  }
}

TEST(RunNumbers, WhatOlderRecordsLackComesWithANumberOfTheList) {
  for (const RunNumber& number : run_numbers()) {
    if (*number.with == '\0') continue;
    EXPECT_STREQ(run_number(number.with).key, number.with);
  }
}

TEST(RunNumbers, AMetricIsTheKeyOfANumber) {
  const RunRecord record = ended();
  EXPECT_EQ(metric_of(record, {}, "bits"), 3.5);
  EXPECT_EQ(metric_of(record, {}, "memory_bytes"), 2048.0);
  EXPECT_EQ(metric_of(record, {}, "average_bits"), std::nullopt);
  RunMetrics metrics;
  metrics.hook = {{"score", 0.5}};
  metrics.late = {{"scalars.threshold", 2.0}, {"changed", 0.25}};
  EXPECT_EQ(metric_of(record, metrics, "hook.score"), 0.5);
  EXPECT_EQ(metric_of(record, metrics, "threshold"), 2.0);
  EXPECT_EQ(metric_of(record, metrics, "changed"), 0.25);
  EXPECT_EQ(metric_of(record, metrics, "nothing"), std::nullopt);
}

TEST(RunNumbers, ARunThatDidNotEndHasNoMetric) {
  RunRecord record = ended();
  for (const RunStatus status : {RunStatus::kRunning, RunStatus::kInterrupted, RunStatus::kFailed}) {
    record.status = status;
    EXPECT_EQ(metric_of(record, {}, "memory_bytes"), std::nullopt);
  }
}

TEST(RunNumbers, AreWrittenByTheirUnit) {
  EXPECT_EQ(text_of(NumberUnit::kBits, 3.48712), "3.487");
  EXPECT_EQ(text_of(NumberUnit::kCount, 1234567.0), "1234567");
  EXPECT_EQ(text_of(NumberUnit::kPerSecond, 4.61e12), "4.61 T");
  EXPECT_EQ(text_of(NumberUnit::kShare, 0.123), "12.3 %");
  EXPECT_EQ(text_of(NumberUnit::kSeconds, 2.314), "2.31 s");
  EXPECT_EQ(text_of(NumberUnit::kBytes, 2048.0), "2 KiB");
  EXPECT_EQ(text_of(NumberUnit::kBytes, 1.5 * 1024 * 1024), "1.5 MiB");
  EXPECT_EQ(json_of(NumberUnit::kCount, 40.0).dump(), "40");
  EXPECT_EQ(json_of(NumberUnit::kSeconds, 40.0).dump(), "40.0");
  EXPECT_TRUE(json_of(NumberUnit::kCount, std::nullopt).is_null());
}

}  // namespace
}  // namespace eggroll
