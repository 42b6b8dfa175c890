#include "train/step_record.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace eggroll {
namespace {

using nlohmann::ordered_json;

Evaluation evaluation(double bits) { return {7, bits, 31, "token", 120}; }

StepRecord whole_record() {
  StepRecord record;
  record.step = 7;
  record.member_tokens = 896;
  record.unique_tokens = 224;
  record.numbers = StepNumbers{4.5, 0.25, 0.5, 3, {{"learning_rate", 0.1F}, {"a", 2.0F}}, 0.5, 0.125, 0.0625, 1.0};
  record.held_out = evaluation(4.25);
  record.final = evaluation(4.125);
  record.average_held_out = evaluation(4.0);
  record.average_final = evaluation(3.875);
  record.monitor.emplace();
  record.monitor->step = 7;
  record.monitor->verdicts = {"h is stuck"};
  record.hook = HookNumbers{{"score", 0.5}, {"a", -1.0}};
  return record;
}

// The readers of metrics.jsonl know these keys.
TEST(StepRecordTest, ALineHasAllOfIt) {
  ordered_json line = to_json(whole_record());
  EXPECT_EQ(line.at("monitor").at("verdicts"), ordered_json({"h is stuck"}));
  EXPECT_EQ(line.at("hook").dump(), "{\"score\":0.5,\"a\":-1.0}");
  line.erase("monitor");
  line.erase("hook");
  EXPECT_EQ(line.dump(),
            "{\"step\":7,\"member_tokens\":896,\"unique_tokens\":224,\"train_bits_per_unit\":4.5,\"changed\":0.25,"
            "\"changed_of_voted\":0.5,"
            "\"pairs_without_fitness\":3,\"scalars\":{\"learning_rate\":0.10000000149011612,\"a\":2.0},"
            "\"forward_seconds\":0.5,\"gather_seconds\":0.125,\"update_seconds\":0.0625,\"step_seconds\":1.0,"
            "\"held_out_bits_per_unit\":4.25,\"held_out_tokens\":31,\"held_out_bytes\":120,"
            "\"average_held_out_bits_per_unit\":4.0,\"average_held_out_tokens\":31,\"average_held_out_bytes\":120,"
            "\"final_bits_per_unit\":4.125,\"final_tokens\":31,\"final_bytes\":120,"
            "\"average_final_bits_per_unit\":3.875,\"average_final_tokens\":31,\"average_final_bytes\":120}");
}

TEST(StepRecordTest, TheUntrainedModelsLineHasItsEvaluationAlone) {
  StepRecord record;
  record.held_out = Evaluation{0, 8.0, 31, "byte"};
  EXPECT_EQ(to_json(record).dump(),
            "{\"step\":0,\"member_tokens\":0,\"unique_tokens\":0,\"held_out_bits_per_unit\":8.0,"
            "\"held_out_tokens\":31}");
}

TEST(StepRecordTest, AResumedRunReadsTokensEvaluationsAndVerdicts) {
  StepRecord expected = whole_record();
  const StepRecord read = step_record_from_json(to_json(expected), "token");
  EXPECT_FALSE(read.numbers.has_value());
  expected.numbers.reset();
  EXPECT_EQ(to_json(read), to_json(expected));
  EXPECT_EQ(read.held_out->unit, "token");
  EXPECT_EQ(read.monitor->step, 7U);
}

TEST(StepRecordTest, ALineThatLacksTokensIsRefused) {
  EXPECT_THROW(step_record_from_json({{"step", 7}}, "byte"), nlohmann::json::exception);
}

}  // namespace
}  // namespace eggroll
