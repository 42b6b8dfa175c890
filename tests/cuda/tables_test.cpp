// Compares programs that read tables on a GPU with the reference: losses, weights, states and logits over some steps.
// Most programs run as fused ops.
#include <gtest/gtest.h>

#include "against_reference.h"
#include "gpu_test.h"
#include "session.h"

namespace eggroll::cuda {
namespace {

// With the small population, each tile has its own multiprocessor. With the large one, two tiles share one.
constexpr uint32_t kSmallPopulation = 176;  // three tiles, the last of which is not full
constexpr uint32_t kLargePopulation = 8880;

struct TablesCase {
  const char* name;
  bool fused;
  std::vector<std::string> overrides;
  uint32_t population = kSmallPopulation;
};

void PrintTo(const TablesCase& test, std::ostream* out) { *out << test.name; }

const char* const kTables = "model.context_tables=[{tokens: 1}, {tokens: 2, rows: 512}, {tokens: 3, rows: 2048}]";
const char* const kSixTables =
    "model.context_tables=[{tokens: 1}, {tokens: 2, rows: 64}, {tokens: 3, rows: 64}, {tokens: 4, rows: "
    "128}, "
    "{tokens: 5, rows: 256}]";
const char* const kLogitTables = "model.logit_tables=[{tokens: 2, rows: 64}, {tokens: 3, rows: 256}]";
const char* const kSixLogitTables =
    "model.logit_tables=[{tokens: 1}, {tokens: 2, rows: 64}, {tokens: 3, rows: 64}, {tokens: 4, rows: 128}, {tokens: "
    "5, "
    "rows: 256}, {tokens: 6, rows: 128}]";
const char* const kNineLogitTables =
    "model.logit_tables=[{tokens: 1}, {tokens: 2, rows: 64}, {tokens: 3, rows: 64}, {tokens: 4, rows: 128}, {tokens: "
    "5, "
    "rows: 256}, {tokens: 6, rows: 128}, {tokens: 7, rows: 64}, {tokens: 8, rows: 64}, {tokens: 9, rows: 64}]";
const char* const kGroups =
    "perturb.groups=[{params: [embedding, \"context*\"], share: 0.5}, {params: [\"layer*\", \"norm_out*\", head], "
    "share: "
    "0.5}]";

// Two groups, each of which votes on only some tables. The first one ends within the streams of one of three replicas.
const char* const kTableGroups =
    "perturb.groups=[{params: [embedding, \"context*\"], share: 0.3}, {params: [\"logit_context*\", \"layer*\", "
    "\"norm_out*\", head], share: 0.7}]";

const TablesCase kCases[] = {
    {"embedding", true, {"model.width=64"}},
    {"unmasked", true, {"model.width=64", kTables, "votes.masked=false"}},
    {"masked", true, {"model.width=64", kTables}},
    {"narrow", true, {"model.width=32", kSixTables, "model.mlp_ratio=1"}},
    {"narrow_without_mlp", true, {"model.width=32", kSixTables, "model.mlp_ratio=0"}},
    {"wide", true, {"model.width=128", kSixTables, "model.layers=2"}},
    {"wide_odd", true, {"model.width=192", kSixTables, "model.mlp_ratio=1"}},
    {"logits", true, {"model.width=64", kTables, kLogitTables}},
    {"logits_wide", true, {"model.width=128", kTables, kLogitTables, "model.vocab=300"}},
    {"six_logits", true, {"model.width=64", kTables, kSixLogitTables}},
    {"nine_logits", false, {"model.width=64", kTables, kNineLogitTables}},
    {"tied", true, {"model.width=64", kTables, "model.tied_head=true"}},
    {"noise_table", true, {"model.width=64", kTables, "noise=table", "noise.table_log2=16"}},
    {"groups", true, {"model.width=64", kTables, kGroups}},
    {"floor", true, {"model.width=64", kTables, kLogitTables, "model.rounding=floor"}},
    {"ranks", true, {"model.width=64", kTables, kLogitTables, "noise.rank=3"}},
    {"ranks_unmasked", true, {"model.width=64", kTables, kLogitTables, "noise.rank=2", "votes.masked=false"}},
    {"ranks_wide", true, {"model.width=256", kGroups, kTables, "noise.rank=2", "model.rounding=floor"}},
    // The keys of more than one block.
    {"ranks_keys", true, {"model.width=128", kSixTables, kSixLogitTables, "noise.rank=8", "model.layers=2"}},
    {"ranks_odd", true, {"model.width=192", "noise.rank=4", "model.mlp_ratio=1", "model.tied_head=true"}},
    {"ranks_vocabulary", true, {"model.width=64", kLogitTables, "model.vocab=3600", "noise.rank=4"}},
    {"tied_vocabulary", true, {"model.width=64", kTables, "model.vocab=3600", "model.tied_head=true"}},
    {"tied_vocabulary_ranks", true, {"model.width=64", "model.vocab=3600", "model.tied_head=true", "noise.rank=2"}},
    {"tied_vocabulary_wide", true, {"model.width=128", kLogitTables, "model.vocab=3600", "model.tied_head=true"}},
    {"ranks_many", true, {"model.width=64", kTables, kLogitTables, "noise.rank=4"}, kLargePopulation},
    {"ranks_many_wide", true, {"model.width=192", kTables, "noise.rank=3", "model.layers=2"}, kLargePopulation},
    {"ranks_beyond", false, {"model.width=64", kTables, "noise.rank=9"}},
    {"by_ops", false, {"model.width=48", kSixTables, kLogitTables, "model.gate_clip=twice"}},
    {"newcomer",
     true,
     {"model=gru_tables", "noise.distribution=rademacher",
      "model.context_tables=[{tokens: 2, rows: 512}, {tokens: 3, rows: 1024}]",
      "model.logit_tables=[{tokens: 1}, {tokens: 2, rows: 512}, {tokens: 3, rows: 1024}]"}},
    // Mostly vocabularies whose last block of 64 logits is not full.
    {"vocabulary", true, {"model.width=64", "model.vocab=3600"}},
    {"vocabulary_odd", true, {"model.width=64", "model.vocab=3700"}},
    {"vocabulary_groups", true, {"model.width=128", "model.vocab=3700", "model.mlp_ratio=1"}},
    {"vocabulary_narrow", true, {"model.width=32", kTables, kLogitTables, "model.vocab=4096"}},
    {"vocabulary_rows", true, {"model.width=128", kLogitTables, "model.vocab=3620", "model.mlp_ratio=0"}},
    {"many_words", true, {"model.width=32", "model.vocab=1700", "model.mlp_ratio=0"}, kLargePopulation},
    {"many", true, {"model.width=32", kTables, kLogitTables}, kLargePopulation},
    {"many_wide", true, {"model.width=128", kSixTables, "model.mlp_ratio=1"}, kLargePopulation},
    // Rows that all streams read, and rows that only one stream reads.
    {"many_rows",
     true,
     {"model.width=32", "model.context_tables=[{tokens: 2, rows: 8192}]",
      "model.logit_tables=[{tokens: 1}, {tokens: 2, rows: 8192}]", "noise.rank=2", kTableGroups},
     kLargePopulation},
    {"slots", true, {"model.width=64", kTables, "optimizer=es_adamw", "fitness=sign"}},
};

class TablesTest : public GpuTest, public testing::WithParamInterface<TablesCase> {};

Learner learner_for(const TablesCase& test) {
  std::vector<std::string> overrides = {"model=gru", "optimizer=sign_es", "noise.distribution=gaussian",
                                        "train.members_per_stream=8",
                                        "train.population=" + std::to_string(test.population)};
  overrides.insert(overrides.end(), test.overrides.begin(), test.overrides.end());
  return learner_of(overrides);
}

TEST_P(TablesTest, AreReadAndVotedOnAsTheReferenceDoes) {
  const Learner learner = learner_for(GetParam());
  EXPECT_EQ(plan_replicas(learner.session_spec(), {0}).front().plan.fused.has_value(), GetParam().fused);
  constexpr uint32_t kWindows[] = {1, 3, 20, 20};  // the last window's tokens are on the device before its call
  expect_equal(learner, kWindows, 5);
}

INSTANTIATE_TEST_SUITE_P(Programs, TablesTest, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace eggroll::cuda
