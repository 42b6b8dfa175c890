// Compares transformers whose tiles hold tokens on a GPU with the reference: losses, weights and logits over some
// steps, with windows that fill their spans and windows that do not.
#include <gtest/gtest.h>

#include "against_reference.h"
#include "gpu_test.h"
#include "session.h"

namespace eggroll::cuda {
namespace {

struct WindowsCase {
  const char* name;
  Rows rows;  // of its tiles
  uint32_t context;
  std::vector<std::string> overrides;
  uint32_t population = 176;
};

void PrintTo(const WindowsCase& test, std::ostream* out) { *out << test.name; }

const char* const kWindowTables = "model.context_tables=[{tokens: 1}, {tokens: 2, rows: 512}]";
const char* const kWindowLogitTables = "model.logit_tables=[{tokens: 2, rows: 64}, {tokens: 3, rows: 256}]";

const WindowsCase kWindowCases[] = {
    {"span", Rows::kSpan, 32, {"model.width=64", "model.head_width=32", "model.layers=2"}},
    {"shortest", Rows::kSpan, 16, {"model.width=64", "model.head_width=16"}},
    {"too_short", Rows::kMembers, 15, {"model.width=64", "model.head_width=16"}},
    {"two_spans", Rows::kSpan, 40, {"model.width=64", "model.head_width=64"}},
    {"many_spans", Rows::kSpan, 130, {"model.width=64", "model.head_width=32"}},
    {"padded", Rows::kSpan, 33, {"model.width=48", "model.head_width=16", "model.mlp_ratio=3"}},
    {"two_blocks", Rows::kSpan, 70, {"model.width=128", "model.head_width=32"}},
    {"three_blocks", Rows::kSpan, 32, {"model.width=192", "model.head_width=64", "model.layers=2"}},
    {"four_blocks", Rows::kSpan, 20, {"model.width=256", "model.head_width=16"}},
    {"sigmoid", Rows::kSpan, 40, {"model.width=64", "model.head_width=32", "model.attention.kind=sigmoid"}},
    {"floor", Rows::kSpan, 40, {"model.width=128", "model.head_width=64", "model.rounding=floor"}},
    {"untied", Rows::kSpan, 24, {"model.width=64", "model.head_width=32", "model.tied_head=false"}},
    {"tables", Rows::kSpan, 32, {"model.width=64", "model.head_width=32", kWindowTables, kWindowLogitTables}},
    // The chip has no room for the logits.
    {"vocabulary", Rows::kSpan, 20, {"model.width=64", "model.head_width=32", "model.vocab=3600"}},
    {"vocabulary_of_steps", Rows::kSpan, 70, {"model.width=64", "model.head_width=32", "model.vocab=3600"}},
    {"slots", Rows::kSpan, 32, {"model.width=64", "model.head_width=32", "optimizer=es_adamw"}},
    {"many", Rows::kSpan, 33, {"model.width=64", "model.head_width=32"}, 1600},
    {"two_tokens", Rows::kWindows, 2, {"model.width=64", "model.head_width=32"}},
    {"three_tokens", Rows::kWindows, 3, {"model.width=128", "model.head_width=16", kWindowTables}},
    {"four_tokens", Rows::kWindows, 4, {"model.width=32", "model.head_width=16", kWindowTables, kWindowLogitTables}},
    {"five_tokens", Rows::kWindows, 5, {"model.width=64", "model.head_width=64", "model.rounding=floor"}},
    {"eight_tokens", Rows::kWindows, 8, {"model.width=128", "model.head_width=32", "model.attention.kind=sigmoid"}},
    {"many_short", Rows::kWindows, 7, {"model.width=48", "model.head_width=16", "optimizer=es_adamw"}, 9200},
    {"short_vocabulary",
     Rows::kWindows,
     4,
     {"model.width=64", "model.head_width=32", "model.vocab=3600", "model.tied_head=false"}},
    {"nine_tokens", Rows::kMembers, 9, {"model.width=64", "model.head_width=32"}},
    {"short_but_wide", Rows::kMembers, 4, {"model.width=192", "model.head_width=64"}},
    {"ranks", Rows::kMembers, 32, {"model.width=64", "model.head_width=32", "noise.rank=2"}},
    {"wide_head", Rows::kMembers, 32, {"model.width=128", "model.head_width=128"}},
    {"large_weights",
     Rows::kMembers,
     32,
     {"model.width=64", "model.head_width=32", "model.attention.softmax.scale=15"}},
};

class WindowsTest : public GpuTest, public testing::WithParamInterface<WindowsCase> {};

TEST_P(WindowsTest, AreReadAsTheReferenceDoes) {
  const WindowsCase& test = GetParam();
  std::vector<std::string> overrides = {"model=int8nativeformer",
                                        "optimizer=sign_es",
                                        "noise.distribution=gaussian",
                                        "train.members_per_stream=8",
                                        "train.tokens=" + std::to_string(test.context),
                                        "train.population=" + std::to_string(test.population)};
  overrides.insert(overrides.end(), test.overrides.begin(), test.overrides.end());
  const Learner learner = learner_of(overrides);
  const std::optional<FusedPlan> fused = plan_replicas(learner.session_spec(), {0}).front().plan.fused;
  EXPECT_EQ(fused ? fused->shape.rows : Rows::kMembers, test.rows);
  const uint32_t windows[] = {1, test.context - 1, test.context};
  expect_equal(learner, windows, std::max(1U, test.context * 3 / 4));
}

INSTANTIATE_TEST_SUITE_P(Programs, WindowsTest, testing::ValuesIn(kWindowCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace eggroll::cuda
