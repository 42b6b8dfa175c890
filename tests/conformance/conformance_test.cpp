// The suite itself: it covers every op and finds planted faults. That every backend passes it is the test
// plugin.backend.NAME.check of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "built_backends.h"
#include "conformance/cases.h"
#include "program/op_info.h"

namespace eggroll::test {
namespace {

TEST(Conformance, EveryOpAndRuleOpHasCases) {
  std::set<int32_t> ops;
  for (const OpCase& test : op_cases()) ops.insert(test.code);
  EXPECT_EQ(ops.size(), size_t{EGG_OP_COUNT});
  std::set<int32_t> rules;
  for (const RuleCase& test : rule_cases()) rules.insert(test.code);
  EXPECT_EQ(rules.size(), size_t{EGG_RULE_COUNT});
}

TEST(Conformance, CaseNamesAreDistinct) {
  std::set<std::string> names;
  for (const OpCase& test : op_cases()) EXPECT_TRUE(names.insert(test.name).second) << test.name;
  for (const RuleCase& test : rule_cases()) EXPECT_TRUE(names.insert(test.name).second) << test.name;
}

// Every op has a case for every shape of a population.
TEST(Conformance, EveryOpMeetsEveryShape) {
  for (int code = 0; code < EGG_OP_COUNT; ++code) {
    std::set<uint32_t> populations;
    for (const OpCase& test : op_cases()) {
      if (test.code == code) populations.insert(test.scenario.population);
    }
    EXPECT_EQ(populations.size(), shape_count()) << signature_of(code).name;
  }
}

// Votes reach the largest sum that an int32 holds, and go beyond it.
TEST(Conformance, VotesReachTheLimits) {
  for (const int32_t code : {EGG_RULE_VOTE_I32, EGG_RULE_VOTE_F32}) {
    uint32_t most_pairs = 0;
    for (const RuleCase& test : rule_cases()) {
      if (test.code == code && (test.scenario.votes == Votes::kAligned || test.scenario.votes == Votes::kOpposed)) {
        most_pairs = std::max(most_pairs, test.scenario.population / 2);
      }
    }
    const int64_t largest = int64_t{127} * 16 * 16 * most_pairs;
    const int64_t limit = std::numeric_limits<int32_t>::max();
    EXPECT_EQ(largest > limit, code == EGG_RULE_VOTE_F32) << largest;
    EXPECT_GT(largest + 127 * 16 * 16, limit);
  }
}

struct Fault {
  const char* name;
  const char* found;  // part of one failure's text
};

// The default printer would put the addresses of both texts into the test's listed name.
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class PlantedFault : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFault, IsFound) {
  const Registry registry({PluginFolder{FAULTY_DIR, "the test"}});
  const BackendInstance reference(built_plugins().choose(EGG_KIND_BACKEND, "reference"), kNoSettings);
  const BackendInstance faulty(registry.choose(EGG_KIND_BACKEND, GetParam().name), kNoSettings);
  size_t found = 0;
  const std::vector<Check> checks = check_backend(faulty, &reference, RandomCases{1, 8});
  EXPECT_EQ(checks.size(), size_t{EGG_OP_COUNT} + size_t{EGG_RULE_COUNT} + 7);
  for (const Check& check : checks) {
    for (const std::string& failure : check.failures) {
      found += failure.find(GetParam().found) != std::string::npos ? size_t{1} : size_t{0};
    }
  }
  EXPECT_GT(found, 0U);
}

INSTANTIATE_TEST_SUITE_P(All, PlantedFault,
                         testing::Values(Fault{"faulty_loss", "losses of action 0"},
                                         Fault{"faulty_guard", "wrote outside the buffer"},
                                         Fault{"faulty_state", "states of inference"},
                                         Fault{"faulty_weight", "weights of"}, Fault{"faulty_slot", "slot 'vote'"},
                                         Fault{"faulty_chosen", "which was not chosen"},
                                         Fault{"faulty_site", "sums of step 0"},
                                         Fault{"faulty_part", "three sessions that share sites give another"}),
                         [](const auto& fault) { return std::string(fault.param.name); });

// A check in which no case ran proves nothing.
TEST(Conformance, NoCaseIsNoPass) {
  EXPECT_FALSE((Check{"empty", 0, {}}.passed()));
  EXPECT_TRUE((Check{"one", 1, {}}.passed()));
  EXPECT_FALSE((Check{"failed", 1, {"why"}}.passed()));
}

}  // namespace
}  // namespace eggroll::test
