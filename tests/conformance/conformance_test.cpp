// The suite itself: it covers every op, passes the reference backend, and finds planted faults.
#include <gtest/gtest.h>

#include <set>

#include "conformance/cases.h"
#include "conformance/check_plugin.h"
#include "program/op_info.h"
#include "support/host.h"

namespace eggroll::test {
namespace {

const egg_settings kNone{sizeof(egg_settings), 0, nullptr};

TEST(Conformance, EveryOpAndRuleOpHasCases) {
  std::set<int32_t> ops;
  for (const OpCase& test : op_cases()) ops.insert(test.op);
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

TEST(Conformance, TheReferenceBackendGivesTheGoldenResults) {
  const BackendInstance reference(built_plugins().choose(EGG_KIND_BACKEND, "reference"), kNone);
  const std::vector<Check> checks = check_backend(reference, nullptr);
  EXPECT_EQ(checks.size(), size_t{EGG_OP_COUNT} + size_t{EGG_RULE_COUNT});
  for (const Check& check : checks) {
    EXPECT_TRUE(check.passed()) << check.what << ": " << (check.failures.empty() ? "no case ran" : check.failures[0]);
  }
}

struct Fault {
  const char* name;
  const char* found;  // part of some failure
};

// Otherwise a test's listed name would hold the addresses of the two.
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class PlantedFault : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFault, IsFound) {
  const Registry registry({PluginFolder{FAULTY_DIR, "the test"}});
  const BackendInstance reference(built_plugins().choose(EGG_KIND_BACKEND, "reference"), kNone);
  const BackendInstance faulty(registry.choose(EGG_KIND_BACKEND, GetParam().name), kNone);
  size_t found = 0;
  for (const Check& check : check_backend(faulty, &reference)) {
    for (const std::string& failure : check.failures) {
      found += failure.find(GetParam().found) != std::string::npos ? size_t{1} : size_t{0};
    }
  }
  EXPECT_GT(found, 0U);
}

INSTANTIATE_TEST_SUITE_P(All, PlantedFault,
                         testing::Values(Fault{"faulty_loss", "losses of step 7"},
                                         Fault{"faulty_guard", "wrote outside the buffer"},
                                         Fault{"faulty_state", "states of inference"},
                                         Fault{"faulty_weight", "weights of"}, Fault{"faulty_slot", "votes of"}),
                         [](const auto& fault) { return std::string(fault.param.name); });

// A check in which nothing ran has proved nothing.
TEST(Conformance, NoCaseIsNoPass) {
  EXPECT_FALSE((Check{"empty", 0, {}}.passed()));
  EXPECT_TRUE((Check{"one", 1, {}}.passed()));
  EXPECT_FALSE((Check{"failed", 1, {"why"}}.passed()));
}

}  // namespace
}  // namespace eggroll::test
