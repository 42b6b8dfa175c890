// Programs that read tables, on a GPU against the reference: losses, weights, states and logits over some steps. Most
// run as fused ops.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "eggroll/noise.h"
#include "learner.h"
#include "noise/initial_weights.h"
#include "session.h"

namespace eggroll::cuda {
namespace {

// A tile of the small population is alone on its multiprocessor; two tiles of the large one share one.
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

const TablesCase kCases[] = {
    {"embedding", true, {"model.width=64"}},
    {"unmasked", true, {"model.width=64", kTables, "votes.masked=false"}},
    {"masked", true, {"model.width=64", kTables}},
    {"joint", true, {"model.width=64", kTables, "perturb.tables=joint"}},
    {"narrow", true, {"model.width=32", kSixTables, "model.mlp_ratio=1"}},
    {"narrow_joint", true, {"model.width=32", kSixTables, "model.mlp_ratio=0", "perturb.tables=joint"}},
    {"wide", true, {"model.width=128", kSixTables, "model.layers=2"}},
    {"wide_joint", true, {"model.width=192", kSixTables, "perturb.tables=joint", "model.mlp_ratio=1"}},
    {"logits", true, {"model.width=64", kTables, kLogitTables}},
    {"logits_joint", true, {"model.width=128", kTables, kLogitTables, "perturb.tables=joint", "model.vocab=300"}},
    {"six_logits", true, {"model.width=64", kTables, kSixLogitTables}},
    {"six_logits_joint", true, {"model.width=32", kSixTables, kSixLogitTables, "perturb.tables=joint"}},
    {"nine_logits", false, {"model.width=64", kTables, kNineLogitTables}},
    {"tied", true, {"model.width=64", kTables, "model.tied_head=true"}},
    {"noise_table", true, {"model.width=64", kTables, "noise=table", "noise.table_log2=16"}},
    {"groups", true, {"model.width=64", kTables, kGroups}},
    {"groups_joint", true, {"model.width=128", kTables, kGroups, "perturb.tables=joint"}},
    {"floor", true, {"model.width=64", kTables, kLogitTables, "model.rounding=floor"}},
    {"ranks", true, {"model.width=64", kTables, kLogitTables, "noise.rank=3"}},
    {"ranks_joint", true, {"model.width=64", kTables, "noise.rank=3", "perturb.tables=joint"}},
    {"ranks_unmasked", true, {"model.width=64", kTables, kLogitTables, "noise.rank=2", "votes.masked=false"}},
    {"ranks_wide", true, {"model.width=256", kGroups, kTables, "noise.rank=2", "model.rounding=floor"}},
    // The keys of more than one block.
    {"ranks_keys", true, {"model.width=128", kSixTables, kSixLogitTables, "noise.rank=8", "model.layers=2"}},
    {"ranks_odd", true, {"model.width=192", "noise.rank=4", "model.mlp_ratio=1", "model.tied_head=true"}},
    {"ranks_vocabulary", true, {"model.width=64", kLogitTables, "model.vocab=3600", "noise.rank=4"}},
    {"ranks_many", true, {"model.width=64", kTables, kLogitTables, "noise.rank=4"}, kLargePopulation},
    {"ranks_many_wide", true, {"model.width=192", kTables, "noise.rank=3", "model.layers=2"}, kLargePopulation},
    {"ranks_beyond", false, {"model.width=64", kTables, "noise.rank=9"}},
    {"by_ops", false, {"model.width=48", kSixTables, kLogitTables, "model.gate_clip=twice"}},
    {"newcomer",
     true,
     {"model=gru_tables", "perturb.tables=joint", "noise.distribution=rademacher",
      "model.context_tables=[{tokens: 2, rows: 512}, {tokens: 3, rows: 1024}]",
      "model.logit_tables=[{tokens: 1}, {tokens: 2, rows: 512}, {tokens: 3, rows: 1024}]"}},
    // More logits than find room on the chip: the last block of 64 is not full.
    {"vocabulary", true, {"model.width=64", "model.vocab=3600"}},
    {"vocabulary_joint", true, {"model.width=32", kTables, kLogitTables, "perturb.tables=joint", "model.vocab=4096"}},
    {"vocabulary_rows", true, {"model.width=128", kLogitTables, "model.vocab=3620", "model.mlp_ratio=0"}},
    {"many_words", true, {"model.width=32", "model.vocab=1700", "model.mlp_ratio=0"}, kLargePopulation},
    {"many", true, {"model.width=32", kTables, kLogitTables}, kLargePopulation},
    {"many_joint",
     true,
     {"model.width=128", kSixTables, "perturb.tables=joint", "model.mlp_ratio=1"},
     kLargePopulation},
    {"slots", true, {"model.width=64", kTables, "optimizer=es_adamw", "fitness=sign"}},
};

class TablesTest : public testing::TestWithParam<TablesCase> {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "there is no GPU here";
  }
};

constexpr uint32_t kStreamMembers = 8;

Learner learner_for(const TablesCase& test) {
  std::vector<std::string> overrides = {"model=gru",
                                        "optimizer=sign_es",
                                        "perturb.tables=rows",
                                        "noise.distribution=gaussian",
                                        "train.members_per_stream=8",
                                        "train.population=" + std::to_string(test.population)};
  overrides.insert(overrides.end(), test.overrides.begin(), test.overrides.end());
  return learner_of(overrides);
}

// The tokens of some streams. One row in eight of each index is none.
struct Tokens {
  Tokens(const egg_program& program, uint64_t seed, uint32_t the_streams, uint32_t the_tokens)
      : streams(the_streams), tokens(the_tokens) {
    test::Draws draws(seed);
    const auto vocab = static_cast<uint32_t>(program.vocab);
    for (uint32_t i = 0; i < streams * tokens; ++i) {
      inputs.push_back(draws.below(draws.below(2) == 0 ? 4 : vocab));
      targets.push_back(draws.below(6) == 0 ? EGG_NO_TARGET : draws.below(vocab));
      resets.push_back(draws.below(7) == 0 ? 1 : 0);
      for (uint32_t k = 0; k < program.index_count; ++k) {
        const auto limit = static_cast<uint32_t>(program.indices[k].rows);
        rows.push_back(draws.below(8) == 0 ? EGG_NO_ROW : draws.below(draws.below(2) == 0 ? 3 : limit));
      }
    }
  }
  egg_batch view() const { return {streams, tokens, inputs.data(), targets.data(), resets.data(), rows.data()}; }

  uint32_t streams;
  uint32_t tokens;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> targets;
  std::vector<uint8_t> resets;
  std::vector<uint32_t> rows;
};

std::vector<int8_t> fitness_of(uint32_t population, uint64_t seed, bool small) {
  test::Draws draws(seed);
  std::vector<int8_t> fitness(population / 2);
  for (int8_t& f : fitness) f = small ? static_cast<int8_t>(static_cast<int>(draws.below(3)) - 1) : draws.weight();
  std::fill_n(fitness.begin(), kStreamMembers / 2, int8_t{0});  // all members of one stream have no fitness
  return fitness;
}

// Everything that a session holds and returns.
struct Seen {
  std::vector<std::vector<int8_t>> weights;
  std::vector<int8_t> states;
  std::vector<std::vector<int64_t>> numbers;  // losses, and counts of changed weights
  std::vector<int8_t> logits;
};

template <class AnySession>
Seen run(AnySession& session, const Learner& learner, const egg_session_spec& spec) {
  const egg_program& program = *spec.program;
  const uint32_t population = spec.population;
  Seen seen;
  for (uint32_t i = 0; i < program.param_count; ++i) {
    const std::vector<int8_t> weights = initial_weights(program.params[i], i, 7);
    session.set_weights(i, weights.data());
    seen.weights.push_back(weights);
  }
  uint64_t step = 3;
  for (const uint32_t tokens : {1U, 3U, 20U}) {
    const Tokens read(program, step, population / kStreamMembers, tokens);
    std::vector<int64_t>& losses = seen.numbers.emplace_back(population);
    session.evaluate({sizeof(egg_evaluate), kStreamMembers, step, 0, population, read.view(), losses.data()});
    const std::vector<int8_t> fitness = fitness_of(population, step, tokens == 3);
    const std::vector<float> stds = learner.vote_stds(fitness);
    const std::vector<float> scalars = learner.scalars(step, {});
    std::vector<int64_t>& changed = seen.numbers.emplace_back(program.param_count);
    // The last update votes with pairs whose noise is no longer in memory.
    session.update({sizeof(egg_update), population / 2, step + (tokens == 20 ? 1 : 0), fitness.data(), scalars.data(),
                    stds.data(), changed.data(), nullptr, read.view(), kStreamMembers, 0});
    ++step;
  }
  for (uint32_t i = 0; i < program.param_count; ++i) session.get_weights(i, seen.weights[i].data());
  seen.states.resize(population * size_t{learner.program->state_bytes()});
  session.get_states(0, population, seen.states.data());
  constexpr uint32_t kStreams = 70;
  const Tokens read(program, 99, kStreams, 5);
  std::vector<int8_t> states(kStreams * size_t{learner.program->state_bytes()});
  seen.logits.resize(kStreams * static_cast<size_t>(program.vocab));
  session.infer({sizeof(egg_infer), 0, read.view(), states.data(), seen.numbers.emplace_back(kStreams).data(),
                 seen.logits.data()});
  seen.states.insert(seen.states.end(), states.begin(), states.end());
  return seen;
}

TEST_P(TablesTest, AreReadAndVotedOnAsTheReferenceDoes) {
  const Learner learner = learner_for(GetParam());
  const egg_session_spec spec = learner.session_spec();
  EXPECT_EQ(plan_replicas(spec, {0}).front().plan.fused.has_value(), GetParam().fused);
  BackendSession reference = learner.open_session();
  const Seen expected = run(reference, learner, spec);
  for (const std::vector<int>& devices : {std::vector<int>{0}, std::vector<int>{0, 0, 0}}) {
    CudaSession session(spec, devices, 1);
    const Seen seen = run(session, learner, spec);
    EXPECT_EQ(seen.numbers, expected.numbers);
    EXPECT_EQ(seen.states, expected.states);
    EXPECT_EQ(seen.logits, expected.logits);
    for (size_t i = 0; i < seen.weights.size(); ++i) {
      EXPECT_EQ(seen.weights[i], expected.weights[i]) << spec.program->params[i].name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, TablesTest, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace eggroll::cuda
