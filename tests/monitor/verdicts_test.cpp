// Each verdict at its threshold and just below it, on reports made by hand.
#include "monitor/verdicts.h"

#include <gmock/gmock.h>

#include "program/op_info.h"
#include "program/raw_program.h"

namespace eggroll::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr double kBit = 1e-9;

// A healthy report of the tiny program: x, n = norm(x), f = linear(n), g = gate(f, h), m = mix(f, h, g), a = m + x, h,
// logits = linear(a).
class VerdictsTest : public testing::Test {
 protected:
  VerdictsTest() {
    for (const egg_op& op : program_.ops()) {
      if (op.out < 0) continue;
      report_.values.emplace_back();
      report_.values.back().name = program_.values()[static_cast<size_t>(op.out)].name;
      report_.values.back().op = signature_of(op.code).name;
      report_.values.back().value = op.out;
    }
    for (const egg_param& param : program_.params()) {
      report_.tensors.emplace_back();
      report_.tensors.back().name = param.name;
      report_.tensors.back().moved_since_start = 0.5;
      report_.tensors.back().votes = VoteSignal{1.1, 3.0};
    }
    report_.step = kStepsToMove;
    report_.vote_steps = kVoteSteps;
    report_.vote_deviations = kChance;
  }

  template <class Reports>
  static auto& named(Reports& reports, const std::string& name) {
    return *std::find_if(reports.begin(), reports.end(), [&](const auto& seen) { return seen.name == name; });
  }
  void saturate(const std::string& value, double share) { named(report_.values, value).spread.saturated = share; }
  void still(const std::string& value, double share) { named(report_.values, value).constant = share; }
  TensorReport& tensor(const std::string& name) { return named(report_.tensors, name); }
  std::vector<std::string> verdicts() const { return verdicts_of(program_, report_); }

  RawProgram raw_;
  Program program_{raw_.view()};
  MonitorReport report_;
};

TEST_F(VerdictsTest, OfAHealthyModelThereAreNone) { EXPECT_THAT(verdicts(), IsEmpty()); }

TEST_F(VerdictsTest, SaturatedValues) {
  saturate("f", kSaturated - kBit);
  EXPECT_THAT(verdicts(), IsEmpty());
  saturate("f", 0.61);
  EXPECT_THAT(verdicts(), ElementsAre(StartsWith("f: 61 % of values at ±127; ")));
}

// Elementwise ops pass saturation on; norms and products scale anew.
TEST_F(VerdictsTest, SaturationIsNamedWhereItBegins) {
  for (const char* name : {"x", "n", "f", "g", "m", "a", "h", "logits"}) saturate(name, 0.9);
  EXPECT_THAT(verdicts(), ElementsAre(StartsWith("x: 90 %"), StartsWith("n: 90 %"), StartsWith("f: 90 %")));
  saturate("f", 0.0);
  saturate("g", 0.0);
  EXPECT_THAT(verdicts(), ElementsAre(StartsWith("x: "), StartsWith("n: "), StartsWith("m: ")));
}

TEST_F(VerdictsTest, LogitsOfASureModelAreAtTheirEnds) {
  saturate("logits", 1.0);
  EXPECT_THAT(verdicts(), IsEmpty());
  still("logits", 1.0);
  EXPECT_THAT(verdicts(),
              ElementsAre(StartsWith("logits: dead, because 100 % of channels are the same for every token; ")));
}

TEST_F(VerdictsTest, DeadValuesAreNamedWhereTheyBegin) {
  still("f", kDead - kBit);
  EXPECT_THAT(verdicts(), IsEmpty());
  still("f", kDead);
  EXPECT_THAT(verdicts(), ElementsAre(StartsWith("f: dead, because 95 % of channels")));
  for (const char* name : {"g", "m", "h"}) still(name, 1.0);
  EXPECT_THAT(verdicts(), ElementsAre(StartsWith("f: dead, ")));
  for (const char* name : {"x", "n", "a", "logits"}) still(name, 1.0);
  EXPECT_THAT(verdicts(), ElementsAre(StartsWith("x: dead, ")));
}

TEST_F(VerdictsTest, WhatIsSaturatedIsNotCalledDead) {
  saturate("f", 1.0);
  still("f", 1.0);
  EXPECT_THAT(verdicts(), ElementsAre(StartsWith("f: 100 % of values at ±127")));
}

TEST_F(VerdictsTest, HeadsThatAttendOneToken) {
  report_.heads = {{"layer0.mixed", 0, {0.1, kOneToken}}, {"layer0.mixed", 1, {0.1, kOneToken - kBit}}};
  EXPECT_THAT(verdicts(),
              ElementsAre(StartsWith("layer0.mixed head 0: attends to one token, with 95 % of the weight; ")));
}

TEST_F(VerdictsTest, SaturatedWeights) {
  tensor("gain").spread.saturated = kSaturated - kBit;
  EXPECT_THAT(verdicts(), IsEmpty());
  tensor("gain").spread.saturated = 1.0;
  EXPECT_THAT(verdicts(), ElementsAre(StartsWith("gain: 100 % of weights at ±127; ")));
}

TEST_F(VerdictsTest, TensorsThatNeverMove) {
  tensor("w").moved_since_start = 0.0;
  report_.step = kStepsToMove - 1;
  EXPECT_THAT(verdicts(), IsEmpty());
  report_.step = kStepsToMove;
  EXPECT_THAT(verdicts(), ElementsAre(StartsWith("w: never moves, because all weights are those of 20 steps ago; ")));
  tensor("head").perturbed = false;
  tensor("head").moved_since_start = 0.0;
  report_.step = 1;
  EXPECT_THAT(verdicts(), ElementsAre("head: never moves, because the model keeps it frozen"));
}

TEST_F(VerdictsTest, TensorsWithoutVotes) {
  tensor("w").votes.reset();
  tensor("w").moved_since_start = 0.0;
  EXPECT_THAT(verdicts(), ElementsAre(AllOf(StartsWith("w: no votes, because for 64 steps both members of every pair "),
                                            HasSubstr("perturbs it have"), HasSubstr("perturb more (lower "))));
  tensor("head").votes.reset();
  tensor("gain").votes.reset();
  EXPECT_THAT(verdicts(),
              ElementsAre(AllOf(HasSubstr(" and 2 more tensors: no votes, "), HasSubstr("perturbs them "))));
  report_.vote_steps = kStepsToMove - 1;
  EXPECT_THAT(verdicts(), IsEmpty());
}

TEST_F(VerdictsTest, VotesThatAreNoise) {
  report_.vote_deviations = kChance - kBit;
  EXPECT_THAT(verdicts(),
              ElementsAre(StartsWith("votes are mostly noise: over 64 steps they are spread no further than by ")));
  report_.vote_steps = kVoteSteps - 1;  // too few steps to tell
  EXPECT_THAT(verdicts(), IsEmpty());
}

TEST_F(VerdictsTest, TheCureOfNoiseIsWhatTheRunTells) {
  report_.vote_deviations = 0.0;
  const auto says = [&](const std::string& cure) {
    EXPECT_THAT(verdicts(), ElementsAre(HasSubstr("than by chance; " + cure)));
  };
  const std::string both =
      "use more members, or try noise.sigma_shift and the other shifts of noise one lower and one ";
  says(both);
  report_.cost_of_noise = kFree;
  says(both);
  report_.cost_of_noise = -kFree;
  says(both);
  report_.cost_of_noise = kFree - kBit;
  says("the perturbed members lose about as much as the model: use more members, or perturb more (lower ");
  report_.cost_of_noise = kCostly - kBit;
  says(both);
  report_.cost_of_noise = kCostly;
  says("the perturbed members lose 1.0 bits more than the model: perturb less (raise ");
  report_.pairs_without_fitness = kManyWithout - kBit;
  says("the perturbed members lose 1.0 bits more than the model: perturb less (raise ");
  report_.pairs_without_fitness = kManyWithout;
  says("25 % of the pairs had no fitness, for both members had the same loss: perturb more (lower ");
}

// What follows from it is not said, and what may be its cause is.
TEST_F(VerdictsTest, VotesThatAreNone) {
  report_.vote_deviations.reset();
  for (TensorReport& tensor : report_.tensors) {
    tensor.votes.reset();
    tensor.moved_since_start = 0.0;
  }
  report_.pairs_without_fitness = 1.0;
  still("n", 1.0);
  const auto none = AllOf(StartsWith("there are no votes: for 64 steps both members of every pair"),
                          HasSubstr("perturb more (lower "));
  EXPECT_THAT(verdicts(), ElementsAre(none));
  saturate("f", 0.9);
  EXPECT_THAT(verdicts(), ElementsAre(none, StartsWith("f: 90 % of values at ±127; ")));
  report_.vote_deviations = 0.0;  // some pair had a fitness
  const auto few = StartsWith("there are next to no votes: for 64 steps both members of 90.0 % of the pairs have had ");
  report_.pairs_without_fitness = kNearlyAllWithout;
  saturate("f", 0.0);
  EXPECT_THAT(verdicts(), ElementsAre(few));
  report_.pairs_without_fitness = kNearlyAllWithout - kBit;
  EXPECT_THAT(verdicts(), AllOf(SizeIs(3), Contains(StartsWith("n: dead, "))));
  report_.vote_deviations.reset();
  // Nothing is perturbed, so the absence of votes is right.
  saturate("f", 0.0);
  still("n", 0.0);
  for (TensorReport& tensor : report_.tensors) tensor.perturbed = false;
  EXPECT_EQ(verdicts().size(), report_.tensors.size());
}

}  // namespace
}  // namespace eggroll::test
