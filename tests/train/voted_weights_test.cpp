// The weights that have votes are those whose rows the backends' own lists of voters hold.
#include "train/voted_weights.h"

#include <gtest/gtest.h>

#include "eggroll/noise_source.h"
#include "eggroll/row_voters.h"
#include "eggroll/threads.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

const std::vector<std::string> kTablesInGroups = {
    "model.context_tables=[{tokens: 2, rows: 128}]", "model.logit_tables=[{tokens: 1}, {tokens: 3, rows: 512}]",
    "train.population=64",
    "perturb.groups=[{params: [embedding, context*], share: 0.3}, {params: [logit_context*], share: 0.5}, "
    "{params: [layer*, norm_out*, head*], share: 0.2}]"};

TEST(VotedWeightsTest, OfAMaskedTableAreTheRowsWithVoters) {
  const Learner learner(small_config(kTablesInGroups), built_plugins());
  const auto indices = learner.program->indices();
  VotedWeights voted(learner);
  Draws draws(5);
  const auto draw = [&](uint32_t below) {
    return (static_cast<uint32_t>(draws.weight() + 128) * 256 + static_cast<uint32_t>(draws.weight() + 128)) % below;
  };
  Threads threads(4);
  for (const uint32_t tokens : {8U, 8U, 16384U}) {  // the last are cut into pieces
    BatchBuffer batch;
    batch.clear(64 / learner.train.members_per_stream, tokens, static_cast<uint32_t>(indices.size()));
    for (uint32_t& token : batch.inputs) token = draw(static_cast<uint32_t>(learner.program->view().vocab));
    for (size_t i = 0; i < batch.rows.size(); ++i) {
      batch.rows[i] = i % 5 == 0 ? EGG_NO_ROW : draw(static_cast<uint32_t>(indices[i % indices.size()].rows));
    }
    const std::vector<int8_t> fitness(32, int8_t{1});
    egg_update update{};
    update.fitness = fitness.data();
    update.batch = batch.view();
    update.members_per_stream = learner.train.members_per_stream;
    const egg_session_spec spec = learner.session_spec();
    uint64_t expected = 0;
    uint64_t all = 0;
    for (uint32_t i = 0; i < learner.program->params().size(); ++i) {
      const egg_param& param = learner.program->params()[i];
      all += weight_count(param);
      RowVoters rows;
      if (learner.voters[i].masked != 0) rows.find(spec, i, update);
      expected += learner.voters[i].masked != 0 ? rows.size() * static_cast<uint64_t>(param.cols) : weight_count(param);
    }
    EXPECT_EQ(voted.count(batch), expected);
    EXPECT_EQ(voted.count(batch, &threads), expected);
    EXPECT_LT(expected, all);
    EXPECT_EQ(voted.perturbed(), all);
  }
}

TEST(VotedWeightsTest, WithoutMasksAreAll) {
  const Learner learner(small_config({"votes.masked=false"}), built_plugins());
  VotedWeights voted(learner);
  EXPECT_EQ(voted.count(BatchBuffer{}), voted.perturbed());
}

// At threshold 0 nearly every weight that has votes moves, and of a large table few have some.
TEST_F(TrainerTest, TheShareThatMovesIsOfTheWeightsWithVotes) {
  const std::filesystem::path folder = fresh("run");
  run_in(folder, small_config(kTablesInGroups));
  const auto lines = read_metrics(RunFolder{folder}.metrics());
  const auto of = [&](const char* key) { return lines.at(1).at(key).get<double>(); };
  EXPECT_LT(of("changed"), 0.5);
  EXPECT_GT(of("changed_of_voted"), 0.7);
  EXPECT_LE(of("changed_of_voted"), 1.0);
}

}  // namespace
}  // namespace eggroll::test
