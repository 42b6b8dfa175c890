// The input is an optimizer's rule as it crosses the seam.
#include <memory>
#include <optional>

#include "fuzz/input.h"
#include "fuzz/outcome.h"
#include "fuzz/seam_bytes.h"
#include "program/average.h"

using namespace eggroll;
using namespace eggroll::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const SeamRule input(text_of(data, size));
  std::optional<Rule> rule;
  if (!accepts([&] { rule.emplace(input.rule); })) return 0;
  must_accept("a copy", [&] { require(Rule(rule->view()).text() == rule->text(), "another rule"); });
  require(rule_types(rule->view()).size() == input.nodes.size(), "nodes without a type");
  std::unique_ptr<Rule> averaged;
  if (accepts([&] { averaged = rule_with_average(rule->view(), "the fuzzer"); })) {
    require(averaged->slots().size() == rule->slots().size() + 1, "other slots");
  }
  const egg_noise noise{0, EGG_NOISE_COUNTER, EGG_NOISE_GAUSSIAN, 64, 4, 0, 0};
  for (const uint32_t pairs : {1U, 1U << 31}) accepts([&] { require_votes_fit(rule->view(), noise, pairs); });
  return 0;
}
