// The settings `perturb.groups` and `votes.masked`, from the configuration to the weights.
#include <gmock/gmock.h>

#include "train/small_run.h"

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kTables = {"model.context_tables=[{tokens: 2, rows: 64}, {tokens: 3, rows: 256}]",
                                          "model.logit_tables=[{tokens: 2, rows: 32}]"};
const std::string kSplit =
    "perturb.groups=[{params: [embedding, \"context*\", \"logit_context*\"], share: 0.5}, "
    "{params: [\"layer*\", norm_out.gain, head], share: 0.5}]";

ConfigNode with_tables(const std::vector<std::string>& more = {}) { return small_config(joined(kTables, more)); }

std::string refusal(const std::string& groups) {
  return message_of([&] { Learner(with_tables({"perturb.groups=" + groups}), built_plugins()); });
}

TEST(Voting, TablesAreMaskedAndNothingElse) {
  const Learner learner(with_tables(), built_plugins());
  for (size_t i = 0; i < learner.voters.size(); ++i) {
    const std::string name = learner.program->params()[i].name;
    const bool table = name == "embedding" || name.find("context") != std::string::npos;
    EXPECT_EQ(learner.voters[i].masked, table ? 1 : 0) << name;
    EXPECT_EQ(learner.voters[i].first_pair, 0U);
    EXPECT_EQ(learner.voters[i].pairs, 8U);
  }
  EXPECT_FALSE(Learner(with_tables({"votes.masked=false"}), built_plugins()).has_masks());
  // A tied head reads all rows.
  EXPECT_FALSE(Learner(small_config({"model.tied_head=true"}), built_plugins()).has_masks());
}

TEST(Voting, GroupsShareOutTheStreams) {
  const Learner learner(with_tables({kSplit, "train.population=40"}), built_plugins());  // ten streams
  EXPECT_THAT(learner.group_streams, ElementsAre(5, 5));
  EXPECT_THAT(learner.group_pairs(), ElementsAre(10, 10));
  for (size_t i = 0; i < learner.voters.size(); ++i) {
    EXPECT_EQ(learner.voters[i].first_pair, learner.voters[i].masked != 0 ? 0U : 10U);
    EXPECT_EQ(learner.voters[i].pairs, 10U);
  }
}

// A model's list of groups stays valid if the model is built without some of its parts.
TEST(Voting, AGroupWithoutParametersLeavesItsShareToTheOthers) {
  const Learner learner(
      with_tables({"perturb.groups=[{params: [\"adapter*\"], share: 0.5}, {params: [embedding, \"*context*\"], share: "
                   "0.3}, {params: [\"layer*\", \"norm*\", \"head*\", \"tail*\"], share: 0.2}]",
                   "train.population=40"}),
      built_plugins());  // ten streams
  EXPECT_THAT(learner.group_streams, ElementsAre(6, 4));
  for (size_t i = 0; i < learner.voters.size(); ++i) {
    EXPECT_EQ(learner.voters[i].first_pair, learner.voters[i].masked != 0 ? 0U : 12U);
    EXPECT_EQ(learner.voters[i].pairs, learner.voters[i].masked != 0 ? 12U : 8U);
  }
}

TEST(Voting, WrongGroupsAreRefused) {
  EXPECT_THAT(refusal("[{params: [\"*\"], share: 0.5}]"), HasSubstr("add up to 0.5, expected 1"));
  EXPECT_THAT(refusal("[{params: [head], share: 1.0}]"), HasSubstr("parameter 'embedding' is in no group"));
  EXPECT_THAT(refusal("[{params: [\"*\"], share: 0.5}, {params: [head], share: 0.5}]"),
              HasSubstr("expected one; name it once"));
  EXPECT_THAT(refusal("[{params: [\"*\", tail], share: 1.0}]"), HasSubstr("'tail' of group 0 is no parameter"));
  EXPECT_THAT(refusal("[{params: [\"*\"], share: 1.5}]"), HasSubstr("groups.0.share is 1.5"));
  EXPECT_THAT(refusal("[{share: 1.0}]"), HasSubstr("groups.0 has neither params nor sites"));
  EXPECT_THAT(refusal("[{params: [embedding, \"*context*\", \"layer*\", \"norm*\"], share: 0.999}, {params: [head], "
                      "share: 0.001}]"),
              HasSubstr("group 1 has none of the 4 streams"));
}

TEST(Voting, TheKeyOfJointTablesIsRefused) {
  const auto says_why = HasSubstr("perturb.tables is no key any more, because sites took the place of joint tables");
  EXPECT_THAT(message_of([] { small_config({"perturb.tables=rows"}); }), says_why);
  EXPECT_THAT(message_of([] { Learner(small_config({"+perturb.tables=joint"}), built_plugins()); }), says_why);
}

// A group's fitness is as it would be without the others.
TEST(Voting, GroupsAreComparedWithinThemselves) {
  const std::vector<int64_t> small = {0, 10, 30, 0, 0, 50};
  const std::vector<int64_t> large = {0, 4000, 9000, 0};
  std::vector<int64_t> both = small;
  both.insert(both.end(), large.begin(), large.end());
  for (const std::string& form : fitness_form_names()) {
    std::vector<int8_t> expected = fitness_within(form, {3}).of(small);
    for (const int8_t f : fitness_within(form, {2}).of(large)) expected.push_back(f);
    EXPECT_EQ(fitness_within(form, {3, 2}).of(both), expected) << form;
  }
}

using MaskedRunTest = SmallRunTest;

// A row that no member has read stays as it is; a row that a member has read has moved.
TEST_F(MaskedRunTest, RowsThatNobodyReadKeepTheirWeights) {
  const ConfigNode config = with_tables({"train.steps=3", "checkpoint.every=3", "optimizer.schedule.kind=constant"});
  eggroll::Setup setup(config, built_plugins());
  std::vector<bool> read(256);
  BatchBuffer batch;
  for (uint64_t step = 0; step < 3; ++step) {
    setup.streams.fill(step, batch);
    for (size_t i = 1; i < batch.rows.size(); i += setup.learner.program->indices().size()) {
      if (batch.rows[i] != EGG_NO_ROW) read[batch.rows[i]] = true;
    }
  }
  const std::filesystem::path folder = fresh("run");
  run_in(folder, config);
  const Checkpoint checkpoint = load_checkpoint(*latest_checkpoint(folder));
  const auto& table = *std::find_if(checkpoint.weights.begin(), checkpoint.weights.end(),
                                    [](const WeightTensor& w) { return w.name == "context1.w"; });
  size_t moved = 0;
  for (size_t row = 0; row < 256; ++row) {
    const auto begin = table.data.begin() + static_cast<ptrdiff_t>(row * 8);
    const bool is_zero = std::all_of(begin, begin + 8, [](int8_t w) { return w == 0; });
    EXPECT_TRUE(is_zero || read[row]) << row;
    moved += is_zero ? 0 : 1;
  }
  EXPECT_GT(moved, 10U);
}

TEST_F(MaskedRunTest, GoesOnHoweverItEnds) {
  const std::vector<std::vector<std::string>> settings = {
      {"votes.masked=true"},
      {kSplit},
      {kSplit, "votes.masked=false"},
      {kSplit, "train.tokens=1", "noise.rank=2"},
      {"dataset.vocab=256", "model.context_tables=[{words: 1, rows: 64}]",
       "model.logit_tables=[{words: 2, rows: 64}]"}};
  for (const std::vector<std::string>& each : settings) {
    SCOPED_TRACE(each.front());
    expect_goes_on(joined(kTables, each));
  }
}

}  // namespace
}  // namespace eggroll::test
